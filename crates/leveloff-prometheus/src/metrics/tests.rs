//! Both formats, read back by a parser of their own.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hyper::{Method, Request, StatusCode};
use leveloff_classifier::run_analysis::RunAnalysis;
use leveloff_classifier::verdict::{Grade, Verdict};
use leveloff_model::process::{
    Pid, ProcessIndex, ProcessInfo, ProcessKey, ProcessState, Rank, Role, StartTicks,
};
use leveloff_model::progress::Progress;
use leveloff_model::sample::{
    Ceiling, CeilingKind, Event, MachineReading, OwnCost, ProcessReading, Sample, Tick,
};
use leveloff_model::training_counters::{TrainingCounter, TrainingCounters};
use leveloff_model::units::{Bytes, CpuMillis, Seconds, Step};

use super::exposition::{classic, openmetrics};
use super::families::families;
use super::identity::Identity;
use super::latest::Latest;
use super::response::respond;
use super::snapshot::{Growth, Snapshot, VerdictNumbers};

/// A number's name and labels, sorted, as `name{a="b"}`, with its labels unescaped.
type Series = BTreeMap<String, f64>;

/// Reads either format, line by line; panics on what is in neither.
fn parsed(text: &str) -> Series {
    let mut series = Series::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let (name, rest) = line.split_once('{').unwrap_or_else(|| panic!("{line}"));
        let (labels, value) = labels(rest);
        let labels: Vec<String> = labels
            .into_iter()
            .map(|(k, v)| format!("{k}={v}"))
            .collect();
        let series_name = format!("{name} {}", labels.join(" "));
        let twice = series.insert(series_name, value.trim().parse().unwrap());
        assert_eq!(twice, None, "{line} is exported twice");
    }
    series
}

/// The labels up to the closing brace, and what follows it.
fn labels(mut rest: &str) -> (BTreeMap<String, String>, &str) {
    let mut labels = BTreeMap::new();
    loop {
        let (name, quoted) = rest.split_once("=\"").unwrap();
        let mut value = String::new();
        let mut signs = quoted.char_indices();
        let end = loop {
            match signs.next().unwrap() {
                (at, '"') => break at,
                (_, '\\') => value.push(match signs.next().unwrap().1 {
                    'n' => '\n',
                    sign => sign,
                }),
                (_, sign) => value.push(sign),
            }
        };
        labels.insert(name.to_owned(), value);
        rest = &quoted[end + 1..];
        match rest.strip_prefix(',') {
            Some(more) => rest = more,
            None => return (labels, rest.strip_prefix('}').unwrap()),
        }
    }
}

fn identity(job: &str) -> Arc<Identity> {
    Arc::new(Identity {
        job: job.to_owned(),
        ..Identity::default()
    })
}

/// A number within the run, a role and a rank.
type Process = (u32, Role, Option<u32>);

fn appeared(&(n, role, rank): &Process) -> Event {
    Event::Appeared(ProcessInfo {
        index: ProcessIndex(n),
        key: ProcessKey {
            pid: Pid(100 + n as i32),
            start: StartTicks(1),
        },
        parent: Pid(1),
        role,
        unknown_role: None,
        rank: rank.map(Rank),
        comm: String::new(),
        command: Vec::new(),
        why: String::new(),
    })
}

/// The snapshot of a machine with these processes. A run that is judged has the verdict `verdict`.
fn snapshot(
    job: &str,
    processes: &[Process],
    sample: Sample,
    verdict: Option<VerdictNumbers>,
) -> Snapshot {
    let tick = Tick {
        events: processes.iter().map(appeared).collect(),
        sample,
    };
    let mut machine = RunAnalysis::of_machine();
    machine.take(&tick);
    Snapshot {
        verdict,
        ..Snapshot::of(&identity(job), &tick.sample, machine.account().as_ref())
    }
}

fn reading(n: u32, anon: u64, shmem: u64) -> ProcessReading {
    ProcessReading {
        anon: Bytes(anon),
        shmem: Bytes(shmem),
        file: Bytes(7),
        ..ProcessReading::unread(ProcessIndex(n))
    }
}

/// A sample of which nothing is known beside its processes.
fn sample(processes: Vec<ProcessReading>) -> Sample {
    Sample {
        t: Seconds(1.0),
        progress: Progress::default(),
        processes,
        mappings: None,
        machine: MachineReading::default(),
        cgroup: None,
        ceiling: None,
        cost: OwnCost {
            cpu: CpuMillis(1500),
            rss: Bytes(10),
            tick_us: 0,
        },
    }
}

fn leaking() -> VerdictNumbers {
    VerdictNumbers {
        verdict: Verdict::Leak(Grade::Early),
        growth: Some(Growth {
            per_step: Some(1.5),
            per_second: None,
        }),
        ceiling: Some(Bytes(4096)),
        to_ceiling: Some(Seconds(90.0)),
    }
}

/// A trainer with a worker, of one rank.
fn one_rank(verdict: Option<VerdictNumbers>) -> Snapshot {
    let processes = [
        (0, Role::Launcher, None),
        (1, Role::Trainer, Some(3)),
        (2, Role::DataloaderWorker, Some(3)),
    ];
    let mut sample = sample(vec![
        reading(0, 10, 0),
        reading(1, 500, 40),
        reading(2, 100, 0),
    ]);
    sample.progress.step = Some(Step(80));
    sample.progress.counters = TrainingCounters::default().with(TrainingCounter::Tensors, 6529);
    sample.machine.pressure_some = Some(12.5);
    snapshot("tune", &processes, sample, verdict)
}

#[test]
fn both_formats_say_the_same() {
    let families = families(&one_rank(Some(leaking())));
    let (new, old) = (openmetrics(families.clone()), classic(&families));
    assert_eq!(parsed(&new), parsed(&old));
    assert!(new.ends_with("\n# EOF\n"), "{new}");
    assert!(!old.contains("# EOF") && !old.contains("# UNIT"), "{old}");
    for (line, of_new) in [
        ("# TYPE leveloff_verdict stateset\n", true),
        ("# TYPE leveloff_verdict gauge\n", false),
        ("# TYPE leveloff_own_cpu_seconds counter\n", true),
        ("# TYPE leveloff_own_cpu_seconds_total counter\n", false),
        ("# TYPE leveloff info\n", true),
        ("# TYPE leveloff_info gauge\n", false),
        (
            "# UNIT leveloff_growth_bytes_per_step bytes_per_step\n",
            true,
        ),
    ] {
        assert_eq!(new.contains(line), of_new, "{line} in {new}");
        assert_eq!(
            old.contains(line),
            !of_new && !line.contains("UNIT"),
            "{line} in {old}"
        );
    }
}

#[test]
fn roles_and_kinds_add_up_and_carry_the_rank() {
    let series = parsed(&classic(&families(&one_rank(None))));
    let expected = [
        ("leveloff_memory_bytes job=tune rank=3 role=launcher", 10.0),
        ("leveloff_memory_bytes job=tune rank=3 role=trainer", 540.0),
        (
            "leveloff_memory_bytes job=tune rank=3 role=dataloader-worker",
            100.0,
        ),
        (
            "leveloff_memory_kind_bytes job=tune kind=anonymous rank=3",
            610.0,
        ),
        (
            "leveloff_memory_kind_bytes job=tune kind=shared rank=3",
            40.0,
        ),
        ("leveloff_memory_kind_bytes job=tune kind=swap rank=3", 0.0),
        ("leveloff_rss_sum_bytes job=tune rank=3 role=trainer", 547.0),
        ("leveloff_processes job=tune rank=3 role=trainer", 1.0),
        ("leveloff_step job=tune rank=3", 80.0),
        ("leveloff_tensors job=tune rank=3", 6529.0),
        ("leveloff_pressure_some_ratio job=tune rank=3", 0.125),
        ("leveloff_own_cpu_seconds_total job=tune rank=3", 1.5),
        ("leveloff_own_memory_bytes job=tune rank=3", 10.0),
    ];
    for (name, value) in expected {
        assert_eq!(series.get(name), Some(&value), "{name} in {series:#?}");
    }
}

#[test]
fn what_is_not_known_is_absent_and_not_zero() {
    let series = parsed(&classic(&families(&one_rank(None))));
    for absent in [
        "verdict", "growth", "ceiling", "planned", "full", "gpu", "cuda", "malloc",
    ] {
        let found = series.keys().find(|name| name.contains(absent));
        assert_eq!(found, None);
    }
    let before = families(&Snapshot::nothing_yet(&identity("tune")));
    let names: Vec<String> = parsed(&classic(&before)).into_keys().collect();
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(names, [format!("leveloff_info job=tune version={version}")]);
}

#[test]
fn the_verdict_is_one_state_of_all_that_there_are() {
    let series = parsed(&openmetrics(families(&one_rank(Some(leaking())))));
    let states: Vec<(&str, f64)> = ["warming_up", "level", "leak", "undecided"]
        .map(|state| {
            (
                state,
                series[&format!("leveloff_verdict job=tune leveloff_verdict={state} rank=3")],
            )
        })
        .to_vec();
    let expected = [
        ("warming_up", 0.0),
        ("level", 0.0),
        ("leak", 1.0),
        ("undecided", 0.0),
    ];
    assert_eq!(states, expected);
    assert_eq!(
        series["leveloff_growth_bytes_per_step job=tune rank=3"],
        1.5
    );
    assert!(!series.contains_key("leveloff_growth_bytes_per_second job=tune rank=3"));
    assert_eq!(series["leveloff_seconds_to_ceiling job=tune rank=3"], 90.0);
    assert_eq!(series["leveloff_ceiling_bytes job=tune rank=3"], 4096.0);
}

#[test]
fn without_a_verdict_the_ceiling_is_what_is_left_of_it() {
    let mut sample = sample(vec![reading(0, 100, 0)]);
    sample.ceiling = Some(Ceiling {
        kind: CeilingKind::Host,
        limit: Bytes(1000),
        used: Bytes(400),
    });
    let snapshot = snapshot("system", &[(0, Role::Other, None)], sample, None);
    let series = parsed(&classic(&families(&snapshot)));
    assert_eq!(series["leveloff_ceiling_bytes job=system"], 700.0);
}

#[test]
fn of_several_ranks_each_has_its_own_rows_and_the_run_has_none() {
    let processes = [
        (0, Role::Launcher, None),
        (1, Role::Trainer, Some(0)),
        (2, Role::Trainer, Some(1)),
    ];
    let readings = vec![reading(0, 10, 0), reading(1, 500, 0), reading(2, 700, 0)];
    let snapshot = snapshot("tune", &processes, sample(readings), Some(leaking()));
    let series = parsed(&classic(&families(&snapshot)));
    for (name, value) in [
        ("leveloff_memory_bytes job=tune role=launcher", 10.0),
        ("leveloff_memory_bytes job=tune rank=0 role=trainer", 500.0),
        ("leveloff_memory_bytes job=tune rank=1 role=trainer", 700.0),
        ("leveloff_verdict job=tune leveloff_verdict=leak", 1.0),
    ] {
        assert_eq!(series.get(name), Some(&value), "{name} in {series:#?}");
    }
}

#[test]
fn a_zombie_holds_nothing_and_is_not_counted() {
    let mut zombie = reading(1, 0, 0);
    zombie.state = ProcessState::Zombie;
    zombie.file = Bytes::ZERO;
    let processes = [(0, Role::Trainer, None), (1, Role::Trainer, None)];
    let sample = sample(vec![reading(0, 10, 0), zombie]);
    let snapshot = snapshot("tune", &processes, sample, None);
    let series = parsed(&classic(&families(&snapshot)));
    assert_eq!(series["leveloff_processes job=tune role=trainer"], 1.0);
}

#[test]
fn whatever_stands_in_a_label_comes_back_as_it_was() {
    let hostile = "a\"} 9\n# TYPE leveloff_verdict gauge\n\\n\\ größe {,=";
    let snapshot = Snapshot {
        identity: identity(hostile),
        ..one_rank(Some(leaking()))
    };
    let families = families(&snapshot);
    let (new, old) = (openmetrics(families.clone()), classic(&families));
    assert_eq!(parsed(&new), parsed(&old));
    assert_eq!(
        new.matches("\n# TYPE leveloff_verdict stateset\n").count(),
        1
    );
    let name = format!("leveloff_step job={hostile} rank=3");
    assert_eq!(parsed(&old)[&name], 80.0);
}

fn request(method: Method, path: &str, accept: Option<&str>) -> (StatusCode, String, String) {
    let latest = Latest::new(one_rank(None));
    let mut head = Request::builder().method(method).uri(path);
    if let Some(accept) = accept {
        head = head.header("accept", accept);
    }
    let answer = respond(&head.body(()).unwrap(), &latest);
    let kind = answer.headers()["content-type"]
        .to_str()
        .unwrap()
        .to_owned();
    (answer.status(), kind, answer.into_body())
}

#[test]
fn openmetrics_is_served_on_request_and_the_classic_format_otherwise() {
    let prometheus =
        "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5,*/*;q=0.1";
    let (status, kind, text) = request(Method::GET, "/metrics", Some(prometheus));
    assert_eq!(status, StatusCode::OK);
    assert!(
        kind.starts_with("application/openmetrics-text; version=1.0.0"),
        "{kind}"
    );
    assert!(text.ends_with("# EOF\n"));
    for accept in [None, Some("*/*"), Some("text/plain")] {
        let (_, kind, text) = request(Method::GET, "/metrics?x=1", accept);
        assert!(kind.starts_with("text/plain; version=0.0.4"), "{kind}");
        assert!(!text.contains("# EOF"));
    }
}

#[test]
fn other_requests_are_shown_the_way() {
    let expected = [
        (Method::GET, "/", StatusCode::OK),
        (Method::HEAD, "/", StatusCode::OK),
        (Method::GET, "/metrics/", StatusCode::NOT_FOUND),
        (Method::POST, "/metrics", StatusCode::METHOD_NOT_ALLOWED),
    ];
    for (method, path, expected) in expected {
        let (status, _, text) = request(method, path, None);
        assert_eq!(status, expected, "{path}");
        assert!(text.contains("/metrics"), "{text}");
    }
}

#[test]
fn a_waiter_gets_only_newer_snapshots_and_the_end() {
    let latest = Arc::new(Latest::new(one_rank(None)));
    latest.publish(one_rank(Some(leaking())));
    let (number, page) = latest.next(0, Instant::now()).unwrap();
    assert_eq!(number, 1);
    assert!(page.classic().contains("leveloff_verdict"));
    let waiting = Arc::clone(&latest);
    let far = Instant::now() + Duration::from_secs(3600);
    let waiter = std::thread::spawn(move || waiting.next(1, far).is_none());
    latest.close();
    assert!(waiter.join().unwrap());
}
