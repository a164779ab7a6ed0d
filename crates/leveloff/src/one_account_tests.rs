//! One run, one account: every output shows the same numbers for the same thing.
//!
//! Each case is a recording, the fixtures' or a made-up one. The verdict, the memory at the end, the peak, the growth
//! by role and by process and the sample count are read back from each output and held against the account.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use leveloff_classifier::run_analysis::{RunAccount, RunAnalysis};
use leveloff_dashboard::run::RunState;
use leveloff_model::process::{Pid, ProcessIndex, ProcessInfo, ProcessKey, Role, StartTicks};
use leveloff_model::progress::{Mark, MarkKind, Progress, RESTART};
use leveloff_model::recording::{
    End, EndReason, Header, RecordingReader, RecordingWriter, StatedFacts, Target,
};
use leveloff_model::sample::{
    Event, MachineReading, OwnCost, ProcessReading, PssReading, Sample, Tick,
};
use leveloff_model::units::{ByteDelta, Bytes, Seconds, Step};
use leveloff_prometheus::metrics::{Identity, Metrics, MetricsOptions};
use leveloff_report::run;
use leveloff_text::number::thousands;
use serde_json::Value;

use crate::csv_export::{self, ExportScope};
use crate::outputs::Existing;
use crate::run_reader::RunReader;
use crate::summary::Summary;

const MIB: u64 = 1 << 20;

/// A process of a made-up run: its number, its role and its memory in MiB.
type Process = (u32, Role, u64);

/// Ticks of a made-up run, one each second.
#[derive(Default)]
struct Ticks {
    ticks: Vec<Tick>,
    seen: Vec<u32>,
}

impl Ticks {
    fn push(&mut self, step: Option<u64>, processes: &[Process]) -> &mut Tick {
        self.push_read(step, processes, true)
    }

    /// `is_read`: whether PSS was read of the processes; before, a forked one seems to hold nothing.
    fn push_read(&mut self, step: Option<u64>, processes: &[Process], is_read: bool) -> &mut Tick {
        let t = Seconds(self.ticks.len() as f64);
        let mut events = Vec::new();
        for &(n, role, _) in processes {
            if !self.seen.contains(&n) {
                self.seen.push(n);
                events.push(Event::Appeared(info(n, role)));
            }
        }
        let gone = |n: &&u32| !processes.iter().any(|process| process.0 == **n);
        let exited: Vec<u32> = self.seen.iter().filter(gone).copied().collect();
        events.extend(exited.iter().map(|&n| Event::Exited(ProcessIndex(n))));
        self.seen.retain(|n| !exited.contains(n));
        self.ticks.push(Tick {
            events,
            sample: Sample {
                t,
                progress: Progress {
                    step: step.map(Step),
                    ..Progress::default()
                },
                processes: processes.iter().map(|it| reading(it, t, is_read)).collect(),
                mappings: None,
                machine: MachineReading::default(),
                cgroup: None,
                ceiling: None,
                cost: OwnCost::default(),
            },
        });
        self.ticks.last_mut().expect("one was pushed")
    }
}

fn info(n: u32, role: Role) -> ProcessInfo {
    ProcessInfo {
        index: ProcessIndex(n),
        key: ProcessKey {
            pid: Pid(1000 + n as i32),
            start: StartTicks(u64::from(n)),
        },
        parent: Pid(1),
        role,
        unknown_role: None,
        rank: None,
        comm: format!("p{n}"),
        command: vec![format!("process-{n}")],
        why: String::new(),
    }
}

fn reading(&(n, _, mib): &Process, t: Seconds, is_read: bool) -> ProcessReading {
    let memory = Bytes(mib * MIB);
    let unread = ProcessReading {
        anon: memory,
        inherited: if is_read { Bytes::ZERO } else { memory },
        ..ProcessReading::unread(ProcessIndex(n))
    };
    let pss = PssReading {
        at: t,
        pss: memory,
        anon: memory,
        file: Bytes::ZERO,
        shmem: Bytes::ZERO,
        private: memory,
        swap: Bytes::ZERO,
        lazy_free: Bytes::ZERO,
        hugetlb: Bytes(0),
        base: unread.fast(),
    };
    ProcessReading {
        pss: is_read.then_some(pss),
        ..unread
    }
}

/// A level run that frees 200 MiB in its last step and then exits.
fn frees_memory_before_it_ends() -> Ticks {
    let mut run = Ticks::default();
    for step in 0..200 {
        run.push(Some(step), &[(0, Role::Trainer, 227)]);
    }
    for left in [107, 27] {
        run.push(Some(199), &[(0, Role::Trainer, left)]);
    }
    run.push(Some(199), &[]);
    run
}

/// One of two workers leaks; both exit before the trainer does.
fn workers_leave_first() -> Ticks {
    let mut run = Ticks::default();
    let worker = Role::DataloaderWorker;
    for step in 0..600 {
        run.push(
            Some(step),
            &[
                (0, Role::Trainer, 300),
                (1, worker, 20 + step),
                (2, worker, 20),
            ],
        );
    }
    for step in 600..603 {
        run.push(Some(step), &[(0, Role::Trainer, 310)]);
    }
    run.push(Some(602), &[]);
    run
}

/// A leak that the guard stops: the trainer saves, gives memory back and exits.
fn guard_stop() -> Ticks {
    let mut run = Ticks::default();
    for step in 0..500 {
        run.push(Some(step), &[(0, Role::Trainer, 200 + 2 * step)]);
    }
    let tick = run.push(Some(500), &[(0, Role::Trainer, 1200)]);
    mark(tick, "guard_stop");
    mark(tick, "save");
    run.push(Some(500), &[(0, Role::Trainer, 300)]);
    run.push(Some(500), &[]);
    run
}

/// A leak that is started again, and leaks again.
fn restart() -> Ticks {
    let mut run = Ticks::default();
    for step in 0..300 {
        run.push(Some(step), &[(0, Role::Trainer, 200 + 2 * step)]);
    }
    let tick = run.push(Some(0), &[(1, Role::Trainer, 200)]);
    mark(tick, RESTART);
    for step in 1..250 {
        run.push(Some(step), &[(1, Role::Trainer, 200 + step)]);
    }
    run.push(Some(249), &[]);
    run
}

fn no_steps() -> Ticks {
    let mut run = Ticks::default();
    for t in 0..400 {
        run.push(None, &[(0, Role::Trainer, 400 + t), (1, Role::Helper, 10)]);
    }
    run.push(None, &[(0, Role::Trainer, 90), (1, Role::Helper, 10)]);
    run.push(None, &[]);
    run
}

/// Three idle processes of 300 MiB each, of which PSS is read in the third sample only.
fn idle_machine() -> Ticks {
    let mut run = Ticks::default();
    let idle: Vec<Process> = (0..3).map(|n| (n, Role::Other, 300)).collect();
    for t in 0..20 {
        run.push_read(None, &idle, t >= 2);
    }
    run
}

fn mark(tick: &mut Tick, name: &str) {
    tick.events.push(Event::Mark(Mark {
        t: tick.sample.t,
        process: None,
        step: tick.sample.progress.step,
        kind: MarkKind::Event(name.to_owned()),
        path: None,
        facts: BTreeMap::new(),
    }));
}

/// Writes a recording and returns where it is.
fn record(run: &Ticks, target: Target, directory: &Path, name: &str) -> PathBuf {
    let header = Header {
        tool: "0.0.0".to_owned(),
        started_unix: 1.7e9,
        host: None,
        kernel: None,
        target,
        interval: Seconds(1.0),
        pss_budget_percent: 0.5,
        stated: StatedFacts::default(),
    };
    let path = directory.join(format!("{name}.jsonl"));
    let file = std::fs::File::create(&path).unwrap();
    let mut writer = RecordingWriter::new(file, &header).unwrap();
    for tick in &run.ticks {
        writer.write_tick(tick).unwrap();
    }
    let end = End {
        t: Seconds(run.ticks.len() as f64),
        reason: EndReason::TargetGone,
    };
    writer.finish(&end).unwrap();
    path
}

/// A recording as the live commands would have seen it.
struct Live {
    account: RunAccount,
    dashboard: RunState,
    summary: Summary,
    metrics: BTreeMap<String, u64>,
}

fn replay(path: &Path, directory: &Path) -> Live {
    let file = std::io::BufReader::new(std::fs::File::open(path).unwrap());
    let mut reader = RecordingReader::new(file).unwrap();
    let header = reader.header().clone();
    let mut run = RunAnalysis::of_target(&header.target, &header.stated);
    let mut dashboard = match header.target {
        Target::System => RunState::of_machine(&header.stated),
        _ => RunState::new(&header.stated),
    };
    let mut summary = Summary::default();
    let mut ticks = Vec::new();
    while let Some(tick) = reader.next_tick().unwrap() {
        run.take(&tick);
        summary.take(&tick);
        dashboard.take(tick.clone());
        ticks.push(tick);
    }
    run.end();
    dashboard.end();
    dashboard.settle();
    let account = run.account().unwrap();
    let metrics = published(&ticks, &header.target, account.now.t, directory);
    Live {
        account,
        dashboard,
        summary,
        metrics,
    }
}

/// Memory by role as the metrics show it at the last whole sample; they end with the run.
fn published(
    ticks: &[Tick],
    target: &Target,
    until: Option<Seconds>,
    directory: &Path,
) -> BTreeMap<String, u64> {
    let path = directory.join("leveloff.prom");
    let options = MetricsOptions {
        address: None,
        file: Some(path.clone()),
    };
    let mut metrics = Metrics::open(&options, Identity::default(), |_| ())
        .unwrap()
        .begin();
    let mut run = RunAnalysis::of_target(target, &StatedFacts::default());
    let part_of_run = |tick: &&Tick| until.is_none_or(|until| tick.sample.t <= until);
    let mut last = None;
    for tick in ticks.iter().filter(part_of_run) {
        run.take(tick);
        last = Some(tick);
    }
    metrics.take(last.unwrap(), &run);
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let roles = memory_by_role(&text);
        if !roles.is_empty() {
            return roles;
        }
        assert!(Instant::now() < deadline, "no metrics in {text}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn memory_by_role(text: &str) -> BTreeMap<String, u64> {
    let mut roles = BTreeMap::new();
    let lines = text
        .lines()
        .filter(|line| line.starts_with("leveloff_memory_bytes{"));
    for line in lines {
        let (_, role) = line.split_once("role=\"").unwrap();
        let (role, rest) = role.split_once('"').unwrap();
        let value: f64 = rest.rsplit(' ').next().unwrap().parse().unwrap();
        *roles.entry(role.to_owned()).or_default() += value as u64;
    }
    roles
}

/// Memory by role in the last sample of the role CSV.
fn last_of_csv(path: &Path, directory: &Path, name: &str) -> BTreeMap<String, u64> {
    let output = directory.join(format!("{name}.csv"));
    csv_export::to_file(path, ExportScope::Role, &output, Existing::Keep).unwrap();
    let mut reader = csv::Reader::from_path(&output).unwrap();
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let last = rows.last().unwrap()[0].to_owned();
    let mut roles: BTreeMap<String, u64> = BTreeMap::new();
    for row in rows.iter().filter(|row| row[0] == last) {
        // The table has a role of a later leveloff by its name; the account has it among the others.
        let known = Role::ALL.into_iter().find(|role| row[2] == *role.name());
        let role = known.unwrap_or(Role::Other).name().to_owned();
        *roles.entry(role).or_default() += row[4].parse::<u64>().unwrap();
    }
    roles
}

/// The account's memory by role.
fn by_role(account: &RunAccount) -> BTreeMap<String, u64> {
    let mut roles: BTreeMap<String, u64> = BTreeMap::new();
    for group in account.groups.iter().filter(|group| group.processes > 0) {
        *roles.entry(group.role.name().to_owned()).or_default() += group.memory.now.0;
    }
    roles
}

fn data_of_page(html: &str) -> Value {
    let (_, data) = html
        .split_once("<script type=\"application/json\" id=\"data\">")
        .unwrap();
    let (data, _) = data.split_once("</script>").unwrap();
    serde_json::from_str(data).unwrap()
}

fn amount(value: &Value) -> Bytes {
    Bytes(
        value
            .as_f64()
            .unwrap_or_else(|| panic!("{value} is no amount"))
            .round() as u64,
    )
}

/// What the live commands say of a recording.
fn check_live(path: &Path, directory: &Path, name: &str) -> Live {
    let live = replay(path, directory);
    let account = &live.account;
    assert_eq!(live.dashboard.account(), Some(account), "{name}: dashboard");
    assert_eq!(live.metrics, by_role(account), "{name}: metrics");
    assert_eq!(
        last_of_csv(path, directory, name),
        by_role(account),
        "{name}: CSV"
    );
    let lines = live.summary.lines("it ended", Some(account)).join("\n");
    let memory = &account.memory;
    for words in [
        format!("memory {} at", memory.base),
        format!("→ {} at", memory.now),
        format!("peak {} at", memory.peak),
        format!("{} samples", account.samples),
    ] {
        assert!(lines.contains(&words), "{name}: no '{words}' in\n{lines}");
    }
    for group in account.groups.iter().filter(|group| group.processes > 0) {
        let words = format!("{} to {}", group.memory.growth(), group.memory.now);
        assert!(lines.contains(&words), "{name}: no '{words}' in\n{lines}");
    }
    live
}

/// What files say of a recording, beside what the live commands say of it.
fn check_run(path: &Path, directory: &Path, name: &str) {
    let live = check_live(path, directory, name);
    let account = &live.account;
    let verdict = account.verdict.as_ref().unwrap();
    let report = RunReader::default().read(path).unwrap();
    let judged: Value =
        serde_json::from_str(&leveloff_report::verdict::json::object(&report.judged())).unwrap();
    let document: Value = serde_json::from_str(&run::json::document(&report)).unwrap();
    for row in [&judged, &document] {
        assert_eq!(row["verdict"], verdict.verdict.name(), "{name}");
        assert_eq!(row["points"], account.samples, "{name}: samples");
        assert_eq!(
            amount(&row["peak_bytes"]),
            account.memory.peak,
            "{name}: peak"
        );
        assert_eq!(
            amount(&row["last_bytes"]),
            account.memory.now,
            "{name}: end"
        );
    }
    assert_eq!(amount(&document["end_bytes"]), account.memory.now, "{name}");
    check_parts(&document, account, name);
    let html = run::html::page(&report);
    let data = data_of_page(&html);
    assert_eq!(data["runs"][0]["samples"], account.samples, "{name}: page");
    let markdown = run::markdown::document(&report);
    let points = format!("{} point", thousands(account.samples));
    assert!(markdown.contains(&points), "{name}: {markdown}");
    for group in account.groups.iter().filter(|group| group.processes > 0) {
        let growth = group.memory.growth().to_string();
        assert!(html.contains(&growth), "{name}: no {growth} on the page");
    }
}

fn check_parts(document: &Value, account: &RunAccount, name: &str) {
    let parts = document["parts"].as_array().unwrap();
    let part = |series: &str| parts.iter().find(|part| part["series"] == series).unwrap();
    let growth = |value: &Value| ByteDelta(value.as_f64().unwrap().round() as i64);
    assert_eq!(
        growth(&part("memory")["growth"]),
        account.memory.growth(),
        "{name}"
    );
    for group in &account.groups {
        let row = part(group.role.name());
        assert_eq!(
            amount(&row["end"]),
            group.memory.now,
            "{name}: {}",
            group.role
        );
        assert_eq!(
            growth(&row["growth"]),
            group.memory.growth(),
            "{name}: {}",
            group.role
        );
        assert_eq!(
            amount(&row["peak"]),
            group.memory.peak,
            "{name}: {}",
            group.role
        );
    }
    let members = document["members"].as_array().unwrap();
    for process in &account.processes {
        let row = members
            .iter()
            .find(|row| row["pid"] == process.pid.0)
            .unwrap();
        assert_eq!(growth(&row["growth_bytes"]), process.growth(), "{name}");
        assert_eq!(amount(&row["newest_bytes"]), process.memory.now, "{name}");
        assert_eq!(row["is_there"], process.is_alive, "{name}");
    }
}

#[test]
fn every_output_shows_the_same_numbers_of_a_recording() {
    let directory = tempfile::tempdir().unwrap();
    let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/recordings");
    let mut checked = 0;
    for entry in std::fs::read_dir(fixtures).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "jsonl") {
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            check_run(&path, directory.path(), &name);
            checked += 1;
        }
    }
    assert!(checked >= 3, "{checked} fixtures");
    let made_up: [(&str, Ticks); 5] = [
        ("frees", frees_memory_before_it_ends()),
        ("workers", workers_leave_first()),
        ("guard", guard_stop()),
        ("restart", restart()),
        ("no_steps", no_steps()),
    ];
    for (name, run) in made_up {
        let target = Target::Command(vec!["train.py".to_owned()]);
        let path = record(&run, target, directory.path(), name);
        check_run(&path, directory.path(), name);
    }
}

#[test]
fn memory_that_is_freed_in_the_last_second_is_not_how_the_run_ended() {
    let directory = tempfile::tempdir().unwrap();
    let run = frees_memory_before_it_ends();
    let path = record(&run, Target::Command(vec![]), directory.path(), "frees");
    let account = replay(&path, directory.path()).account;
    assert_eq!(account.memory.now, Bytes(227 * MIB));
    assert_eq!(account.memory.growth(), ByteDelta(0));
    assert_eq!(account.verdict.unwrap().verdict.name(), "level");
}

#[test]
fn a_worker_that_leaks_and_exits_first_is_the_culprit_everywhere() {
    let directory = tempfile::tempdir().unwrap();
    let run = workers_leave_first();
    let path = record(&run, Target::Command(vec![]), directory.path(), "workers");
    let account = replay(&path, directory.path()).account;
    let blamed = account.verdict.as_ref().unwrap().blame[0];
    assert_eq!(blamed.pid, Some(Pid(1001)));
    let largest = account
        .alive()
        .max_by_key(|process| process.growth().0)
        .unwrap();
    assert_eq!(largest.pid, Pid(1001));
    assert_eq!(largest.memory.now, Bytes(619 * MIB));
}

#[test]
fn idle_processes_of_a_machine_do_not_grow() {
    let directory = tempfile::tempdir().unwrap();
    let path = record(&idle_machine(), Target::System, directory.path(), "machine");
    let live = check_live(&path, directory.path(), "machine");
    assert_eq!(live.account.memory.growth(), ByteDelta(0));
    assert!(
        live.account
            .processes
            .iter()
            .all(|it| it.growth() == ByteDelta(0))
    );
    assert_eq!(live.account.memory.now, Bytes(900 * MIB));
}

#[test]
fn a_save_is_a_checkpoint_for_the_charts_too() {
    let directory = tempfile::tempdir().unwrap();
    let path = record(
        &guard_stop(),
        Target::Command(vec![]),
        directory.path(),
        "guard",
    );
    let report = RunReader::default().read(&path).unwrap();
    let document: Value = serde_json::from_str(&run::json::document(&report)).unwrap();
    let events = document["events"].as_array().unwrap();
    assert!(
        events.iter().any(|event| event["kind"] == "checkpoint"),
        "{events:?}"
    );
}
