//! `leveloff fleet`, on servers that answer well, badly, and not at all.

mod prometheus;

use std::io::Write;

use serde_json::Value;

use crate::stage::{Ended, LEVELOFF, Stage, ended, wait_until};
use crate::terminal::Terminal;
use prometheus::{Prometheus, Series, answer, error, now, reply, success};

const MIB: f64 = 1048576.0;

/// leveloff fleet against a server, from a clean environment.
fn fleet(stage: &Stage, address: &str, arguments: &[&str]) -> Ended {
    let mut command = stage.leveloff([&["fleet", "--prometheus", address], arguments].concat());
    for name in [
        "LEVELOFF_PROMETHEUS_TOKEN",
        "LEVELOFF_PROMETHEUS_USER",
        "LEVELOFF_LIMIT",
    ] {
        command.env_remove(name);
    }
    ended(&mut command).never_panicked()
}

fn noise(time: f64) -> f64 {
    f64::from((time as u32).wrapping_mul(2_654_435_761) >> 16) * 300.0
}

/// Memory that grows by so much an hour.
fn growing(an_hour: f64) -> Box<dyn Fn(f64) -> Option<f64> + Send + Sync> {
    let begun = now() - 6.0 * 3600.0;
    Box::new(move |time| Some(8e9 + an_hour * (time - begun).max(0.0) / 3600.0 + noise(time)))
}

fn memory(labels: &'static [(&'static str, &'static str)], an_hour: f64) -> Series {
    Series {
        metric: "leveloff_memory_bytes",
        labels,
        value: growing(an_hour),
    }
}

/// Four ranks of a job, the last but one of which leaks in its loader workers.
fn ranks() -> Vec<Series> {
    const RANKS: [&[(&str, &str)]; 4] = [
        &[
            ("job", "lm"),
            ("rank", "0"),
            ("role", "trainer"),
            ("instance", "n0"),
        ],
        &[
            ("job", "lm"),
            ("rank", "1"),
            ("role", "trainer"),
            ("instance", "n1"),
        ],
        &[
            ("job", "lm"),
            ("rank", "2"),
            ("role", "trainer"),
            ("instance", "n2"),
        ],
        &[
            ("job", "lm"),
            ("rank", "3"),
            ("role", "trainer"),
            ("instance", "n3"),
        ],
    ];
    let mut all: Vec<Series> = RANKS
        .into_iter()
        .map(|labels| memory(labels, 0.0))
        .collect();
    all.push(memory(
        &[
            ("job", "lm"),
            ("rank", "2"),
            ("role", "dataloader-worker"),
            ("instance", "n2"),
        ],
        900.0 * MIB,
    ));
    all.push(Series {
        metric: "leveloff_ceiling_bytes",
        labels: &[("job", "lm"), ("rank", "2"), ("instance", "n2")],
        value: Box::new(|_| Some(32e9)),
    });
    all
}

fn objects(ended: &Ended) -> Vec<Value> {
    let lines = ended.stdout.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn the_rank_that_leaks_is_first_and_named() {
    let (stage, server) = (Stage::new(), Prometheus::of(ranks()));
    let text = fleet(&stage, &server.address, &["-o", "fleet.html"]);
    assert_eq!(text.status.code(), Some(1), "{text:?}");
    let first = text.stdout.lines().nth(1).unwrap();
    for word in ["lm rank 2", "LEAK", "per hour", "dataloader-worker"] {
        assert!(first.contains(word), "{word}: {first}");
    }
    assert!(text.stdout.contains("of 4 ranks, 3 are level"), "{text:?}");
    assert!(text.stdout.contains("4 runs: 1 leak, 3 level"), "{text:?}");
    let page = std::fs::read_to_string(stage.path("fleet.html")).unwrap();
    assert!(
        page.contains("lm rank 2") && page.contains("LEAK"),
        "{page}"
    );
    let json = fleet(
        &stage,
        &server.address,
        &["--format", "json", "--job", "lm"],
    );
    let worst = &objects(&json)[0];
    assert_eq!(
        (&worst["input"], &worst["labels"]["instance"]),
        (&"lm rank 2".into(), &"n2".into())
    );
    assert_eq!(worst["blame"][0]["role"], "dataloader-worker");
    assert_eq!(worst["findings"][0]["name"], "outlier-rank");
    let left = worst["limit_in_s"].as_f64().unwrap();
    assert!((10_000.0..100_000.0).contains(&left), "{left}");
}

#[test]
fn a_job_that_prometheus_renamed_is_found_by_its_name() {
    let stage = Stage::new();
    let labels: &[(&str, &str)] = &[
        ("job", "node"),
        ("exported_job", "lm"),
        ("rank", "7"),
        ("role", "trainer"),
    ];
    let server = Prometheus::of(vec![memory(labels, 0.0)]);
    let json = fleet(
        &stage,
        &server.address,
        &["--format", "json", "--job", "lm"],
    )
    .well();
    assert_eq!(objects(&json)[0]["input"], "lm rank 7");
}

#[test]
fn steps_are_the_axis_where_they_are_exported() {
    let (stage, mut series) = (Stage::new(), ranks());
    let begun = now() - 6.0 * 3600.0;
    series.push(Series {
        metric: "leveloff_step",
        labels: &[("job", "lm"), ("rank", "2"), ("instance", "n2")],
        value: Box::new(move |time| Some(((time - begun) / 5.0).floor().max(0.0))),
    });
    let server = Prometheus::of(series);
    let json = fleet(&stage, &server.address, &["--format", "json"]);
    let worst = &objects(&json)[0];
    assert_eq!(
        (&worst["x_unit"], &worst["verdict"]),
        (&"step".into(), &"leak".into())
    );
    let rate = worst["rate_bytes"].as_f64().unwrap() / (900.0 * MIB * 5.0 / 3600.0);
    assert!((0.9..1.1).contains(&rate), "{rate}");
}

/// One recorder beside several ranks exports the step and the ceiling once, for all of them.
#[test]
fn ranks_of_one_recorder_share_its_step_and_its_ceiling() {
    const RANKS: [&[(&str, &str)]; 2] = [
        &[
            ("job", "lm"),
            ("rank", "0"),
            ("role", "trainer"),
            ("instance", "n"),
        ],
        &[
            ("job", "lm"),
            ("rank", "1"),
            ("role", "trainer"),
            ("instance", "n"),
        ],
    ];
    const RUN: &[(&str, &str)] = &[("job", "lm"), ("instance", "n")];
    let begun = now() - 6.0 * 3600.0;
    let mut series = vec![memory(RANKS[0], 0.0), memory(RANKS[1], 900.0 * MIB)];
    let of_run = |metric, value| Series {
        metric,
        labels: RUN,
        value,
    };
    series.push(of_run(
        "leveloff_step",
        Box::new(move |time| Some(((time - begun) / 5.0).floor().max(0.0))),
    ));
    series.push(of_run("leveloff_ceiling_bytes", Box::new(|_| Some(32e9))));
    let server = Prometheus::answering(move |request, _| {
        let is_total = request
            .form
            .get("query")
            .is_some_and(|query| query.starts_with("sum by"));
        let total = move |time: f64| Some(16e9 + 900.0 * MIB * (time - begun) / 3600.0);
        let total = Series {
            metric: "leveloff_memory_bytes",
            labels: RUN,
            value: Box::new(total),
        };
        if is_total {
            answer(request, &[total])
        } else {
            answer(request, &series)
        }
    });
    let json = fleet(&Stage::new(), &server.address, &["--format", "json"]);
    let worst = &objects(&json)[0];
    assert_eq!(
        (&worst["input"], &worst["x_unit"]),
        (&"lm rank 1".into(), &"step".into())
    );
    // Of 32 GB, both had 16 and one has grown by 5.7 since: 10.3 are left, for 10.9 hours.
    let hours = worst["limit_in_s"].as_f64().unwrap() / 3600.0;
    assert!((9.0..13.0).contains(&hours), "{hours}");
}

/// What a query gives is judged as `judge` judges the same values in a file.
#[test]
fn the_verdict_is_that_of_judge() {
    let stage = Stage::new();
    let begun = ((now() - 6.0 * 3600.0) / 15.0).floor() * 15.0;
    type Shape = fn(f64) -> f64;
    let shapes: [(&'static [(&str, &str)], Shape); 4] = [
        (&[("pod", "leak")], |t| 8e9 + t * 3e5),
        (&[("pod", "level")], |_| 8e9),
        (&[("pod", "warm")], |t| {
            4e9 + 4e9 * (1.0 - (-t / 900.0).exp())
        }),
        (&[("pod", "late")], |t| 8e9 + (t - 15_000.0).max(0.0) * 8e5),
    ];
    let series = shapes.iter().map(|(labels, shape)| {
        let shape = *shape;
        Series {
            metric: "container_memory_working_set_bytes",
            labels,
            value: Box::new(move |time| {
                Some((shape((time - begun).max(0.0)) + noise(time)).round())
            }),
        }
    });
    let server = Prometheus::of(series.collect());
    let query = [
        "--query",
        "container_memory_working_set_bytes",
        "--by",
        "pod",
        "--format",
        "json",
    ];
    let said = fleet(&stage, &server.address, &query);
    let range = server
        .requests()
        .into_iter()
        .find(|request| request.path.ends_with("query_range"))
        .unwrap();
    let start: f64 = range.form["start"].parse().unwrap();
    for (labels, shape) in shapes {
        let pod = labels[0].1;
        let row = |place: u32| {
            let time = start + 15.0 * f64::from(place);
            let value = (shape((time - begun).max(0.0)) + noise(time)).round();
            format!("{},{value}\n", 15 * place)
        };
        let table: String = (0..=1440).map(row).collect();
        stage.file(&format!("{pod}.csv"), format!("t_s,rss_bytes\n{table}"));
        let judged = stage.ask(&["judge", "--format", "json", &format!("{pod}.csv")]);
        let judged: Value = serde_json::from_str(&judged.stdout).unwrap();
        let of_fleet = objects(&said)
            .into_iter()
            .find(|object| object["input"] == pod)
            .unwrap();
        for field in [
            "verdict",
            "grade",
            "shape",
            "points",
            "rate_bytes",
            "level_bytes",
            "onset_x",
        ] {
            assert_eq!(of_fleet[field], judged[field], "{field} of {pod}");
        }
    }
}

#[test]
fn a_week_is_fetched_in_parts() {
    let stage = Stage::new();
    let server = Prometheus::of(ranks());
    let json = fleet(
        &stage,
        &server.address,
        &["--format", "json", "--since", "7d"],
    );
    assert_eq!(json.status.code(), Some(1), "{json:?}");
    assert_eq!(objects(&json)[0]["input"], "lm rank 2");
    let ranges = server
        .requests()
        .into_iter()
        .filter(|request| request.path.ends_with("query_range"));
    assert_eq!(
        ranges.count(),
        3 * 5,
        "memory, steps and ceilings in five parts each"
    );
}

#[test]
fn gaps_and_values_that_are_none_are_left_out() {
    let stage = Stage::new();
    let server = Prometheus::of(vec![Series {
        metric: "m",
        labels: &[("pod", "a")],
        value: Box::new(|time| match (time / 15.0) as u64 % 40 {
            0..10 => None,
            10 => Some(f64::NAN),
            _ => Some(8e9 + noise(time)),
        }),
    }]);
    let json = fleet(
        &stage,
        &server.address,
        &["--query", "m", "--by", "pod", "--format", "json"],
    )
    .well();
    let object = &objects(&json)[0];
    assert_eq!(object["verdict"], "level");
    assert!(object["points"].as_u64().unwrap() < 1100, "{object}");
    assert!(
        object["notes"][0].as_str().unwrap().contains("NaN"),
        "{object}"
    );
    assert!(
        object["first_bytes"].as_f64().unwrap() > 7e9,
        "a gap is no zero"
    );
}

#[test]
fn a_query_that_is_ambiguous_says_how_to_ask() {
    let stage = Stage::new();
    let two: [&[(&str, &str)]; 2] = [
        &[("pod", "a"), ("container", "x")],
        &[("pod", "a"), ("container", "y")],
    ];
    let series = two.map(|labels| Series {
        metric: "m",
        labels,
        value: growing(0.0),
    });
    let server = Prometheus::of(series.into());
    let refused = fleet(&stage, &server.address, &["--query", "m", "--by", "pod"]);
    refused.refused(&["pod a", "sum by (pod) (m)"]);
}

#[test]
fn an_empty_result_lists_what_the_server_has() {
    let (stage, server) = (Stage::new(), Prometheus::of(ranks()));
    fleet(&stage, &server.address, &["--job", "ml"]).refused(&["ml", "jobs: lm", "the last 6 h"]);
    fleet(
        &stage,
        &server.address,
        &["--query", "no_such", "--by", "pod"],
    )
    .refused(&["no_such", "leveloff_memory_bytes"]);
    let empty = Prometheus::of(Vec::new());
    fleet(&stage, &empty.address, &[]).refused(&["leveloff record --metrics", "--query"]);
}

#[test]
fn a_server_that_is_down_or_recovers() {
    let stage = Stage::new();
    fleet(&stage, "http://127.0.0.1:9", &[]).refused(&["http://127.0.0.1:9 cannot be reached"]);
    let series = ranks();
    let server = Prometheus::answering(move |request, before| match before {
        0 | 2 => error("503 Service Unavailable", "starting"),
        1 => Vec::new(),
        _ => answer(request, &series),
    });
    let well = fleet(&stage, &server.address, &[]);
    assert_eq!(well.status.code(), Some(1), "{well:?}");
    let broken = Prometheus::answering(|_, _| error("500 Internal Server Error", "disk is full"));
    fleet(&stage, &broken.address, &[]).refused(&["500", "disk is full"]);
    assert_eq!(broken.requests().len(), 4);
}

#[test]
fn a_server_that_is_slow_is_not_waited_for_for_ever() {
    let stage = Stage::new();
    let slow = Prometheus::answering(|_, _| {
        std::thread::park();
        Vec::new()
    });
    fleet(&stage, &slow.address, &["--timeout", "300ms"])
        .refused(&["did not answer within", "--timeout"]);
}

#[test]
fn an_answer_that_is_cut_off_gives_partial_results() {
    let stage = Stage::new();
    let series = ranks();
    let server = Prometheus::answering(move |request, _| {
        let whole = answer(request, &series);
        match request
            .form
            .get("query")
            .is_some_and(|query| query.contains("leveloff_memory"))
        {
            true => whole[..whole.len() * 3 / 5].to_vec(),
            false => whole,
        }
    });
    let json = fleet(&stage, &server.address, &["--format", "json"])
        .refused(&["partial results", "cut off"]);
    let objects = objects(&json);
    assert!(objects.len() > 1 && objects.len() < 5, "{objects:?}");
    assert_eq!(objects[0]["verdict"], "level");
    let error = objects.last().unwrap()["error"].as_str().unwrap();
    assert!(error.contains("cut off"), "{error}");
    let text = fleet(&stage, &server.address, &[]);
    assert!(
        text.stdout.contains("some could not be fetched"),
        "{text:?}"
    );
}

#[test]
fn a_parcel_that_fails_is_named_and_the_others_are_judged() {
    let stage = Stage::new();
    let mut series = ranks();
    series.push(memory(
        &[("job", "other"), ("rank", "0"), ("role", "trainer")],
        0.0,
    ));
    let server = Prometheus::answering(move |request, _| {
        match request
            .form
            .get("query")
            .is_some_and(|query| query.contains("\"other\""))
        {
            true => error("503 Service Unavailable", "overloaded"),
            false => answer(request, &series),
        }
    });
    let text = fleet(&stage, &server.address, &[])
        .refused(&["partial results: without other rank 0", "overloaded"]);
    assert!(text.stdout.contains("lm rank 2"), "{text:?}");
}

#[test]
fn what_the_server_warns_of_makes_it_partial() {
    let stage = Stage::new();
    let series = ranks();
    let server = Prometheus::answering(move |request, _| {
        let whole = String::from_utf8(answer(request, &series)).unwrap();
        let body = whole.split_once("\r\n\r\n").unwrap().1;
        let body = format!(
            "{},\"warnings\":[\"store n7 is gone\"]}}",
            body.strip_suffix('}').unwrap()
        );
        reply("200 OK", "application/json", now(), &body)
    });
    fleet(&stage, &server.address, &[]).refused(&["partial results", "store n7 is gone"]);
}

#[test]
fn a_401_explains_how_to_authenticate_and_secrets_stay_secret() {
    let (stage, series) = (Stage::new(), ranks());
    let server = Prometheus::answering(move |request, _| match request.authorization.as_deref() {
        Some("Bearer hunter2" | "Basic bWU6aHVudGVyMg==") => answer(request, &series),
        _ => reply("401 Unauthorized", "text/html", now(), "<html>no</html>"),
    });
    fleet(&stage, &server.address, &[]).refused(&[
        "401",
        "--bearer-file",
        "LEVELOFF_PROMETHEUS_TOKEN",
    ]);
    assert_eq!(server.requests().len(), 1, "asking again does not help");
    let (token, user) = (
        stage.file("token", "hunter2\n"),
        stage.file("user", "me:hunter2\n"),
    );
    for (flag, file) in [("--bearer-file", token), ("--user-file", user)] {
        let text = fleet(&stage, &server.address, &[flag, file.to_str().unwrap()]);
        assert_eq!(text.status.code(), Some(1), "{text:?}");
        assert!(!format!("{text:?}").contains("hunter2"));
    }
    let mut command = stage.leveloff(["fleet", "--prometheus", &server.address]);
    let text = ended(command.env("LEVELOFF_PROMETHEUS_TOKEN", "hunter2"));
    assert_eq!(text.status.code(), Some(1), "{text:?}");
    let url = server.address.replace("http://", "http://me:hunter2@");
    let refused = fleet(&stage, &url, &[]).refused(&["--user-file"]);
    assert!(
        !refused.stderr.replace(&url, "").contains("hunter2"),
        "{refused:?}"
    );
}

#[test]
fn credentials_do_not_follow_a_redirect() {
    let stage = Stage::new();
    let elsewhere = Prometheus::of(ranks());
    let to = elsewhere.address.clone();
    let server = Prometheus::answering(move |_, _| {
        format!(
            "HTTP/1.1 302 Found\r\nLocation: {to}/login?secret=hunter2\r\nContent-Length: 0\r\n\r\n"
        )
        .into_bytes()
    });
    let refused = fleet(&stage, &server.address, &[]).refused(&["redirects to", "/login"]);
    assert!(!refused.stderr.contains("hunter2"), "{refused:?}");
    assert!(elsewhere.requests().is_empty());
}

#[test]
fn a_bad_query_is_answered_in_the_servers_words() {
    let stage = Stage::new();
    for status in ["400 Bad Request", "422 Unprocessable Entity"] {
        let server = Prometheus::answering(move |request, _| {
            match request.form.get("query").map(|query| &**query) {
                Some("vector(1)") => success(r#"{"resultType":"vector","result":[]}"#),
                _ => error(status, "unexpected end of input \\u001b[31m inside braces"),
            }
        });
        let refused = fleet(&stage, &server.address, &["--query", "m{", "--by", "pod"]);
        let refused = refused.refused(&["refuses the query", "unexpected end of input"]);
        assert!(!refused.stderr.contains('\x1b'), "{refused:?}");
    }
}

#[test]
fn other_servers_are_distinguished_from_prometheus() {
    let stage = Stage::new();
    let page = "<!doctype html><html><head><title>Sign in</title></head></html>";
    let pages: [(&str, &str, &[&str]); 4] = [
        ("200 OK", page, &["web page", "Sign in"]),
        (
            "200 OK",
            "{\"status\":\"ok\"}",
            &["does not answer as Prometheus does"],
        ),
        ("200 OK", "hello", &["does not answer as Prometheus does"]),
        ("404 Not Found", page, &["404"]),
    ];
    for (status, body, words) in pages {
        let server = Prometheus::answering(move |_, _| reply(status, "text/html", now(), body));
        fleet(&stage, &server.address, &[]).refused(words);
    }
}

#[test]
fn too_much_is_refused_before_it_is_fetched() {
    let stage = Stage::new();
    let server = Prometheus::answering(|request, _| {
        let query = request.form.get("query").map_or("", |query| &**query);
        assert!(!request.path.ends_with("query_range"), "nothing is fetched");
        match query.starts_with("count(") {
            true => {
                success(r#"{"resultType":"vector","result":[{"metric":{},"value":[1,"100000"]}]}"#)
            }
            false => success(r#"{"resultType":"vector","result":[]}"#),
        }
    });
    let refused = fleet(&stage, &server.address, &["--query", "m", "--by", "pod"]);
    refused.refused(&["100,000 series", "--query", "--step", "--since"]);
    let many = Prometheus::answering(|request, _| match request.path.ends_with("series") {
        true => {
            let row =
                |rank: u32| format!("{{\"job\":\"lm\",\"rank\":\"{rank}\",\"role\":\"trainer\"}}");
            let rows: Vec<String> = (0..100_000).map(row).collect();
            success(&format!("[{}]", rows.join(",")))
        }
        false => success(r#"{"resultType":"vector","result":[]}"#),
    });
    fleet(&stage, &many.address, &[]).refused(&["ranks or more", "--job", "lm"]);
}

#[test]
fn a_clock_that_differs_is_said_and_the_servers_is_used() {
    let (stage, series) = (Stage::new(), ranks());
    let server = Prometheus::answering(move |request, _| {
        let whole = String::from_utf8(answer(request, &series)).unwrap();
        let body = whole.split_once("\r\n\r\n").unwrap().1;
        reply("200 OK", "application/json", now() + 600.0, body)
    });
    let text = fleet(&stage, &server.address, &[]);
    assert!(text.stderr.contains("the server's clock is"), "{text:?}");
    assert!(text.stderr.contains("ahead of ours"), "{text:?}");
    let range = server
        .requests()
        .into_iter()
        .find(|request| request.path.ends_with("query_range"))
        .unwrap();
    assert!(range.form["end"].parse::<f64>().unwrap() > now() + 500.0);
}

#[test]
fn it_is_shown_live_and_left_with_a_key() {
    let server = Prometheus::of(ranks());
    let mut terminal = Terminal::new(120, 30);
    let command = [
        "env",
        "TERM=xterm-256color",
        "LC_ALL=C.UTF-8",
        LEVELOFF,
        "fleet",
        "--watch",
        "--prometheus",
    ];
    let mut child = terminal.start(&[&command[..], &[&server.address]].concat());
    terminal.wait_for("LEAK");
    let looks = || {
        server
            .requests()
            .iter()
            .filter(|request| request.path.ends_with("series"))
            .count()
    };
    let before = looks();
    terminal.keys("r");
    wait_until("another look", || looks() > before);
    terminal.keys("q");
    assert_eq!(child.wait().unwrap().code(), Some(1));
    terminal.wait_for("\x1b[?1049l");
}

#[test]
fn without_a_terminal_nothing_is_shown_live() {
    let (stage, server) = (Stage::new(), Prometheus::of(ranks()));
    fleet(&stage, &server.address, &["--watch"]).refused(&["needs a terminal", "leveloff fleet"]);
}

#[test]
fn mistakes_are_reported_before_any_request() {
    let stage = Stage::new();
    let closed_port = "http://127.0.0.1:9";
    fleet(&stage, closed_port, &["--query", "m"]).refused(&["--by"]);
    fleet(&stage, closed_port, &["--by", "pod"]).refused(&["--query"]);
    fleet(&stage, closed_port, &["--since", "1s"]).refused(&["6h is usual"]);
    fleet(&stage, closed_port, &["-o", "fleet.png"]).refused(&[".html"]);
    fleet(&stage, closed_port, &["--ca-file", "no.pem"]).refused(&["no.pem"]);
    fleet(&stage, "ftp://x", &[]).refused(&["not http or https"]);
    let mut file = std::fs::File::create(stage.path("empty.pem")).unwrap();
    file.write_all(b"nothing\n").unwrap();
    fleet(&stage, closed_port, &["--ca-file", "empty.pem"]).refused(&["PEM"]);
}
