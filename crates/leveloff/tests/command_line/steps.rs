//! Where steps are read from, what is said when there are none, and what a horizon means then.

use std::fs::File;
use std::process::{Child, Command, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::Value;

use crate::recording::{Recording, wait_for_samples};
use crate::stage::{Stage, ended, wait_until};

const EVENTS: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../fixtures/tensorboard/events.out.tfevents.torch"
);

/// Prints a line for each of `$1` rounds, some milliseconds apart; `$n` in `$2` is the round.
const PRINTS: &str =
    r#"n=0; while [ $n -lt $1 ]; do n=$((n+1)); eval "echo \"$2\""; sleep 0.01; done"#;

/// A shell that prints lines and ends.
fn prints(rounds: u32, line: &str) -> [String; 6] {
    let rounds = rounds.to_string();
    ["sh", "-c", PRINTS, "sh", &rounds, line].map(str::to_owned)
}

/// Runs a command that prints lines under `leveloff run` with these options; returns the notices of leveloff.
fn run(stage: &Stage, options: &[&str], command: &[String]) -> Vec<String> {
    let mut arguments = vec!["run", "-o", "run.jsonl", "-i", "20ms"];
    arguments.extend(options);
    arguments.push("--");
    arguments.extend(command.iter().map(String::as_str));
    let done = stage.ask(&arguments).well();
    done.said().into_iter().map(str::to_owned).collect()
}

fn judged(stage: &Stage, arguments: &[&str]) -> Value {
    let arguments = [&["judge", "--format", "json"], arguments].concat();
    let done = stage.ask(&arguments).never_panicked();
    serde_json::from_str(&done.stdout).unwrap_or_else(|_| panic!("{done:?}"))
}

/// The newest value of a field of the sample lines.
fn newest(recording: &Recording, field: &str) -> Option<Value> {
    let samples = recording.of("s");
    samples.iter().rev().find_map(|row| row.get(field).cloned())
}

fn cures(text: &str) -> bool {
    ["--step-regex '", "--log FILE", "leveloff.step(n)"]
        .iter()
        .all(|cure| text.contains(cure))
}

#[test]
fn the_source_of_the_steps_is_said_and_recorded() {
    let stage = Stage::new();
    let said = run(&stage, &[], &prints(40, "iter $n: loss 2.5"));
    let reached = "step 40 · steps: output 'iter'";
    assert!(said.iter().any(|line| line.contains(reached)), "{said:?}");
    let recording = Recording::load(&stage.path("run.jsonl"));
    let source = newest(&recording, "step_source").unwrap();
    assert_eq!(source["kind"], "output");
    assert_eq!(source["counter"], "iter");
    let row = judged(&stage, &["run.jsonl"]);
    assert_eq!(row["step_source"]["kind"], "output");
    assert_eq!(row["step_source"]["counter"], "iter");
    assert_eq!(row["step_unit"], "steps");
    let text = stage.ask(&["judge", "run.jsonl"]).never_panicked().stdout;
    assert!(text.contains("output 'iter'"), "{text}");
}

#[test]
fn what_is_counted_instead_of_steps_is_named() {
    let stage = Stage::new();
    let line = "Train Epoch: 1 [$((n * 64))/60000 ($((n / 10))%)] Loss: 2.5";
    let said = run(&stage, &[], &prints(40, line));
    let reached = "training sample 2,560";
    assert!(said.iter().any(|line| line.contains(reached)), "{said:?}");
    let recording = Recording::load(&stage.path("run.jsonl"));
    assert_eq!(newest(&recording, "step"), Some(2560.into()));
    assert_eq!(newest(&recording, "unit"), Some("samples".into()));
    assert_eq!(judged(&stage, &["run.jsonl"])["step_unit"], "samples");
}

#[test]
fn lines_without_steps_are_answered_once_with_three_cures() {
    let stage = Stage::new();
    let said = run(&stage, &[], &prints(120, "heart $n beats"));
    let missing: Vec<&String> = said
        .iter()
        .filter(|line| line.contains("no steps were read"))
        .collect();
    assert_eq!(missing.len(), 1, "{said:?}");
    assert!(missing[0].contains("'heart 5"), "{said:?}");
    assert!(missing[0].contains(r"heart\s*(?P<step>\d+)"), "{said:?}");
    assert!(cures(missing[0]), "{said:?}");
    let notes = judged(&stage, &["run.jsonl"])["notes"].to_string();
    assert!(notes.contains("'heart ") && cures(&notes), "{notes}");
    // The suggested pattern reads that line.
    let options = [
        "--step-regex",
        r"heart\s*(?P<step>\d+)",
        "-o",
        "again.jsonl",
    ];
    let command = prints(7, "heart $n beats");
    let arguments: Vec<&str> = ["run"]
        .iter()
        .chain(&options)
        .copied()
        .chain(["--"])
        .chain(command.iter().map(String::as_str))
        .collect();
    stage.ask(&arguments).well();
    let recording = Recording::load(&stage.path("again.jsonl"));
    assert_eq!(newest(&recording, "step"), Some(7.into()));
    let source = newest(&recording, "step_source").unwrap();
    assert_eq!(source["pattern"], r"heart\s*(?P<step>\d+)");
}

#[test]
fn a_recording_of_a_training_without_steps_says_so_too() {
    let stage = Stage::new();
    let out = File::create(stage.path("out.txt")).unwrap();
    let training = Training::start(&stage, "heart $n beats", out.into());
    let said = stage.path("said.txt");
    let pid = training.pid();
    let arguments = ["record", "--pid", &pid, "-o", "run.jsonl", "-i", "100ms"];
    let mut recorder = stage
        .leveloff(arguments)
        .stderr(File::create(&said).unwrap())
        .spawn()
        .unwrap();
    let text = || std::fs::read_to_string(&said).unwrap();
    wait_until("a notice", || text().contains("no steps were read"));
    recorder.kill().unwrap();
    recorder.wait().unwrap();
    let text = text();
    assert!(text.contains("'heart ") && cures(&text), "{text}");
}

#[test]
fn a_change_of_clock_is_said_and_recorded() {
    let stage = Stage::new();
    let script = "for n in 1 2 3; do echo \"Epoch $n: loss 2.5\"; sleep 0.1; done;
        for n in 11 12 13 14 15 16 17 18 19; do echo \"epoch 4 iter $n: loss 2.5\"; sleep 0.1; done";
    let said = run(&stage, &[], &["sh", "-c", script].map(str::to_owned));
    let change = "steps are counted by 'iter' from here on";
    let changes = said.iter().filter(|line| line.contains(change));
    assert_eq!(changes.count(), 1, "{said:?}");
    let recording = Recording::load(&stage.path("run.jsonl"));
    assert_eq!(newest(&recording, "step"), Some(19.into()));
    let marks = recording.of("mark");
    let named = marks.iter().any(|mark| mark["clock"] == "iter");
    assert!(named, "{marks:?}");
}

#[test]
fn counts_beside_the_step_are_kept() {
    let stage = Stage::new();
    let line = "step $n: loss 2.5, samples $((n * 8)), tokens $((n * 512))";
    run(&stage, &[], &prints(40, line));
    let recording = Recording::load(&stage.path("run.jsonl"));
    assert_eq!(newest(&recording, "step"), Some(40.into()));
    assert_eq!(newest(&recording, "samples"), Some(320.into()));
    assert_eq!(newest(&recording, "tokens"), Some(20_480.into()));
}

#[test]
fn a_pattern_reads_lines_of_any_format() {
    let stage = Stage::new();
    let line = "<$((n % 3))> load 0.$n tick:$((n * 2)) of 80";
    let pattern = r"tick:(?P<step>\d+) of (?P<total>\d+)";
    let said = run(&stage, &["--step-regex", pattern], &prints(40, line));
    let reached = "step 80 · steps: output by --step-regex";
    assert!(said.iter().any(|line| line.contains(reached)), "{said:?}");
    let recording = Recording::load(&stage.path("run.jsonl"));
    assert_eq!(newest(&recording, "planned_steps"), Some(80.into()));
}

#[test]
fn a_bad_pattern_is_refused_and_shows_where() {
    let stage = Stage::new();
    let bad = ["--step-regex", r"step (?P<step>\d+"];
    stage.file("x.log", "step 1 RAM: 5 GB\nstep 2 RAM: 6 GB\n");
    let run = [&["run"], &bad[..], &["--", "true"]].concat();
    let judge = [&["judge", "x.log"], &bad[..]].concat();
    let check = [&["check", "x.log"], &bad[..]].concat();
    let record = [&["record", "--pid", "1"], &bad[..]].concat();
    for arguments in [run, judge, check, record] {
        stage.ask(&arguments).refused(&["unclosed group", "^"]);
    }
    let unknown = ["judge", "x.log", "--step-regex", r"(?P<stpe>\d+)"];
    stage.ask(&unknown).refused(&["'stpe'", "samples"]);
    stage.file("leveloff.toml", "step_regex = '(?P<step>'\n");
    let words = ["step_regex = '(?P<step>' in leveloff.toml, line 1", "^"];
    stage.ask(&["judge", "x.log"]).refused(&words);
    stage.file("leveloff.toml", "step_regex = 'step (?P<step>\\d+)'\n");
    let row = judged(&stage, &["x.log"]);
    assert_eq!(row["step_source"]["pattern"], r"step (?P<step>\d+)");
}

/// Three hours of memory without steps: flat, or a steady climb after a start of a minute.
fn times(stage: &Stage, name: &str, mib: impl Fn(f64) -> f64) {
    let row = |n: u32| {
        let t = f64::from(n) * 10.0;
        let noise = f64::from(n * 7919 % 13) / 20.0;
        format!("{t},{:.2}\n", mib(t) + noise)
    };
    let rows: String = (0..1080).map(row).collect();
    stage.file(name, format!("time_s,rss_mib\n{rows}"));
}

#[test]
fn a_horizon_in_steps_is_answered_where_there_are_none() {
    let stage = Stage::new();
    times(&stage, "flat.csv", |_| 900.0);
    let answer = "no steps were read, so --level-by 90 cannot be applied: state a time, such as --level-by 2m";
    let row = judged(&stage, &["flat.csv", "--level-by", "90"]);
    assert_eq!(row["notes"], serde_json::json!([answer]));
    let text = stage.ask(&["judge", "flat.csv", "--level-by", "90"]).well();
    let text = text.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains(answer), "{text}");
    let held = stage.ask(&["check", "flat.csv", "--level-by", "90"]);
    assert_eq!(held.status.code(), Some(3), "{held:?}");
    let shown = held.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(shown.contains(answer), "{held:?}");
    // Nothing was stated: nothing is open.
    stage.ask(&["check", "flat.csv"]).well();
    let timed = stage.ask(&["check", "flat.csv", "--level-by", "10m"]);
    timed.well();
}

#[test]
fn a_time_is_a_horizon() {
    let stage = Stage::new();
    let late = |t: f64| 900.0 + 0.1 * t.min(6000.0);
    times(&stage, "late.csv", late);
    stage.ask(&["check", "late.csv", "--level-by", "2h"]).well();
    let held = stage.ask(&["check", "late.csv", "--level-by", "20m"]);
    assert_eq!(held.status.code(), Some(1), "{held:?}");
    for wrong in ["soon", "0m", "-2m", "2 fortnights"] {
        let option = format!("--level-by={wrong}");
        stage
            .ask(&["judge", "late.csv", &option])
            .refused(&["such as 90"]);
    }
    // It is recorded and read back.
    run(&stage, &["--level-by", "2m"], &prints(3, "hello"));
    let recording = Recording::load(&stage.path("run.jsonl"));
    assert_eq!(recording.header()["level_by_s"], 120.0);
}

/// A training that leveloff did not start.
struct Training {
    child: Child,
    reader: Option<Child>,
}

impl Training {
    /// Prints steps into `stdout`, in the stage's directory.
    fn start(stage: &Stage, line: &str, stdout: Stdio) -> Training {
        let child = Command::new("sh")
            .args(["-c", PRINTS, "sh", "3000", line])
            .current_dir(stage.directory())
            .env("LEVELOFF_MARKS", stage.directory())
            .stdin(Stdio::null())
            .stdout(stdout)
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        Training {
            child,
            reader: None,
        }
    }

    /// The same, into `tee`.
    fn into_tee(stage: &Stage, line: &str, log: &str) -> Training {
        let mut training = Training::start(stage, line, Stdio::piped());
        let tee = Command::new("tee")
            .arg(log)
            .current_dir(stage.directory())
            .stdin(training.child.stdout.take().unwrap())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        training.reader = Some(tee);
        training
    }

    fn pid(&self) -> String {
        self.child.id().to_string()
    }

    /// Records it until there is a step; returns where that came from.
    fn source(&self, stage: &Stage) -> Value {
        let pid = self.pid();
        let arguments = ["record", "--pid", &pid, "-o", "run.jsonl", "-i", "100ms"];
        let mut recorder = stage.leveloff(arguments).spawn().unwrap();
        let path = stage.path("run.jsonl");
        wait_for_samples(&path, 1);
        wait_until("a step", || {
            newest(&Recording::so_far(&path), "step").is_some()
        });
        recorder.kill().unwrap();
        recorder.wait().unwrap();
        newest(&Recording::so_far(&path), "step_source").unwrap()
    }
}

impl Drop for Training {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if let Some(reader) = &mut self.reader {
            let _ = reader.wait();
        }
    }
}

fn file_name(source: &Value) -> &str {
    let path = source["file"].as_str().unwrap();
    path.rsplit('/').next().unwrap()
}

const STEP: &str = "step $n: loss 2.5";

#[test]
fn steps_of_a_run_that_goes_on_are_found() {
    let stage = Stage::new();
    let log = File::create(stage.path("out.txt")).unwrap();
    let source = Training::start(&stage, STEP, log.into()).source(&stage);
    assert_eq!(
        (&source["kind"], file_name(&source)),
        (&"log".into(), "out.txt")
    );
    assert_eq!(source["counter"], "step");

    let stage = Stage::new();
    let source = Training::into_tee(&stage, STEP, "teed").source(&stage);
    assert_eq!(
        (&source["kind"], file_name(&source)),
        (&"log".into(), "teed")
    );

    let stage = Stage::new();
    let training = Training::start(&stage, STEP, Stdio::null());
    let runs = stage.path("runs/today");
    std::fs::create_dir_all(&runs).unwrap();
    // The name says when the file was created; an older one than the process would be another run's.
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let name = format!("events.out.tfevents.{}.host", now.as_secs());
    std::fs::copy(EVENTS, runs.join(name)).unwrap();
    let source = training.source(&stage);
    assert_eq!(source["kind"], "tensorboard");
    assert_eq!(source["counter"], "train/loss");
}

#[test]
fn the_doctor_knows_where_the_steps_of_a_process_are() {
    let stage = Stage::new();
    let training = Training::into_tee(&stage, STEP, "train.log");
    let log = stage.path("train.log");
    wait_until("output", || {
        std::fs::metadata(&log).is_ok_and(|it| it.len() > 200)
    });
    let ask = |pid: &str| {
        let done = stage
            .ask(&["doctor", "--pid", pid, "--format", "json"])
            .well();
        let checks: Vec<Value> = serde_json::from_str(&done.stdout).unwrap();
        let is_it = |check: &Value| check["name"] == "steps";
        checks.into_iter().find(is_it).unwrap()
    };
    let check = ask(&training.pid());
    assert_eq!(check["state"], "ok");
    let text = check["text"].as_str().unwrap();
    assert!(text.contains("log train.log 'step'"), "{text}");
    drop(training);
    let silent = Training::start(&stage, "", Stdio::null());
    std::fs::remove_file(log).unwrap();
    let check = ask(&silent.pid());
    assert_eq!(check["state"], "missing");
    assert!(cures(check["next"].as_str().unwrap()), "{check}");
    stage
        .ask(&["doctor", "--pid", "0"])
        .refused(&["above zero"]);
}

/// The live reader and the reader of log files are the same.
#[test]
fn run_and_judge_see_the_same_steps_in_the_same_bytes() {
    let lines = |line: &dyn Fn(u32) -> String| (1..=60).map(line).collect::<String>();
    let logs = [
        lines(&|n| format!("iter {}: loss 2.{n}, RSS 12{:02} MB\n", n * 10, n % 7)),
        lines(&|n| {
            format!(
                "Epoch: [{}][{}/20] Loss 2.5 RSS: 1.{n} GB\n",
                n / 20,
                n % 20
            )
        }),
        lines(&|n| {
            format!(
                " 5%|▌ | {n}/600 [00:01<00:40, 7.2it/s, mem={}M]\r\n",
                900 + n
            )
        }),
        lines(&|n| {
            format!(
                "Train Epoch: 1 [{}/60000 ({n}%)] host RAM {} MB\n",
                n * 640,
                900 + n
            )
        }),
    ];
    for log in logs {
        let stage = Stage::new();
        stage.file("train.log", &log);
        // A command that ends before the first sample has no steps.
        let command = ["sh", "-c", "cat train.log; sleep 0.5"].map(str::to_owned);
        run(&stage, &[], &command);
        let recording = Recording::load(&stage.path("run.jsonl"));
        let source = newest(&recording, "step_source").unwrap();
        let row = judged(&stage, &["train.log"]);
        assert_eq!(
            newest(&recording, "step"),
            Some(row["last_x"].clone()),
            "{log}"
        );
        assert_eq!(source["counter"], row["step_source"]["counter"], "{log}");
        let unit = newest(&recording, "unit").unwrap_or("steps".into());
        assert_eq!(unit, row["step_unit"], "{log}");
    }
    let stage = Stage::new();
    stage.file("x.log", "beat 3 | 5 GB\nbeat 6 | 6 GB\nbeat 9 | 7 GB\n");
    let pattern = ["--step-regex", r"beat (?P<step>\d+)", "--y-unit", "GB"];
    let done = ended(
        &mut stage.leveloff(
            ["judge", "--format", "json", "x.log"]
                .iter()
                .chain(&pattern),
        ),
    );
    assert_eq!(
        done.status.code(),
        Some(2),
        "an amount without a name: {done:?}"
    );
    stage.file(
        "x.log",
        "beat 3 | RSS 5 GB\nbeat 6 | RSS 6 GB\nbeat 9 | RSS 7 GB\n",
    );
    let row = judged(&stage, &[&["x.log"], &pattern[..2]].concat());
    assert_eq!((&row["first_x"], &row["last_x"]), (&3.into(), &9.into()));
}
