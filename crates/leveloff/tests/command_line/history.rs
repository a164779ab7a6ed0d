//! What leveloff remembers of earlier runs, through the binary: what it is used for, and that nothing about the file can
//! harm a run.

use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::stage::{Ended, NOBODY, Stage, cannot_run_here, ended};

/// A job with a history of its own.
struct Job {
    stage: Stage,
}

impl Job {
    fn new() -> Job {
        let stage = Stage::new();
        stage.file("train.sh", "echo training; sleep 0.3\n");
        Job { stage }
    }

    fn leveloff(&self, arguments: &[&str]) -> Command {
        let mut command = self.stage.leveloff(arguments);
        command.env_remove("LEVELOFF_HISTORY");
        command.env("XDG_STATE_HOME", self.stage.path("state"));
        command
    }

    fn ask(&self, arguments: &[&str]) -> Ended {
        ended(&mut self.leveloff(arguments)).never_panicked()
    }

    fn run(&self, more: &[&str], recording: &str) -> Ended {
        let command = ["--", "sh", "train.sh"];
        let options = ["run", "-i", "50ms", "-o", recording];
        self.ask(&[&options, more, &command].concat()).well()
    }

    /// The header of a recording.
    fn header(&self, recording: &str) -> Value {
        let text = std::fs::read_to_string(self.stage.path(recording)).unwrap();
        let line = text.lines().next().unwrap();
        serde_json::from_str::<Value>(line).unwrap()["header"].take()
    }

    fn listed(&self, more: &[&str]) -> Value {
        let answer = self.ask(&[&["history", "--format", "json"], more].concat());
        serde_json::from_str(&answer.well().stdout).unwrap()
    }

    fn directory(&self) -> PathBuf {
        self.stage.path("state/leveloff")
    }

    fn file(&self) -> PathBuf {
        self.directory().join("history.json")
    }

    /// Writes a history in which runs of this job were level by these steps.
    fn remember(&self, steps: &[f64]) {
        let key = self.listed(&["--", "sh", "train.sh"])["jobs"][0]["key"].clone();
        let runs = steps.iter().map(|step| {
            json!({"ended_unix": 1.7e9, "verdict": "level", "unit": "steps", "level_after": step, "length": 400.0})
        });
        let job = json!({"key": key, "name": "sh train.sh", "runs": runs.collect::<Vec<_>>()});
        let history = json!({"format": "leveloff-history", "version": 1, "jobs": [job]});
        std::fs::create_dir_all(self.directory()).unwrap();
        set_mode(&self.directory(), 0o700);
        std::fs::write(self.file(), history.to_string()).unwrap();
        set_mode(&self.file(), 0o600);
    }

    /// A run ends as without a history, which is left as it is and reported in one line.
    #[track_caller]
    fn is_unharmed(&self, why: &str) {
        let before = std::fs::read(self.file()).ok();
        let ended = self.run(&[], "unharmed.jsonl");
        assert_eq!(ended.stdout, "training\n");
        let reported: Vec<&str> = ended
            .said()
            .into_iter()
            .filter(|line| line.contains("history"))
            .collect();
        assert_eq!(reported.len(), 1, "{ended:?}");
        assert!(reported[0].contains(why), "{why}: {reported:?}");
        assert!(self.header("unharmed.jsonl")["earlier_runs"].is_null());
        assert_eq!(std::fs::read(self.file()).ok(), before);
    }
}

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_run_is_remembered_for_its_user_alone_and_without_its_arguments() {
    let job = Job::new();
    let secret = ["--", "sh", "train.sh", "--password", "hunter2", "topic-x"];
    let options = ["run", "-i", "50ms", "-o", "run.jsonl"];
    job.ask(&[&options[..], &secret].concat()).well();
    let text = std::fs::read_to_string(job.file()).unwrap();
    assert!(text.contains("sh train.sh"), "{text}");
    for argument in ["password", "hunter2", "topic-x"] {
        assert!(!text.contains(argument), "{text}");
    }
    let mode = |path: &Path| path.metadata().unwrap().mode() & 0o777;
    assert_eq!(mode(&job.file()), 0o600);
    assert_eq!(mode(&job.directory()), 0o700);
}

#[test]
fn what_earlier_runs_say_is_in_the_recording() {
    let job = Job::new();
    job.remember(&[86.0, 92.0]);
    job.run(&[], "run.jsonl");
    let earlier = &job.header("run.jsonl")["earlier_runs"];
    let expected = json!({"unit": "steps", "runs": 2, "level_from": 86.0, "level_to": 92.0});
    assert_eq!(*earlier, expected);
    job.run(&["--level-by", "50"], "stated.jsonl");
    assert!(job.header("stated.jsonl")["earlier_runs"].is_null());
    job.run(&["--no-history"], "without.jsonl");
    assert!(job.header("without.jsonl")["earlier_runs"].is_null());
    // Runs of which nothing is certain do not count, and those without a history are not remembered.
    let listed = job.listed(&[]);
    assert_eq!(listed["jobs"][0]["runs"].as_array().unwrap().len(), 4);
    assert_eq!(listed["jobs"][0]["horizon"]["level_to"], 92.0);
}

#[test]
fn variable_and_file_turn_it_off() {
    let job = Job::new();
    job.remember(&[86.0, 92.0]);
    let has_history = |command: &mut Command, recording: &str| {
        ended(command).well();
        !job.header(recording)["earlier_runs"].is_null()
    };
    let run = |recording: &str| {
        job.leveloff(&["run", "-i", "50ms", "-o", recording, "--", "sh", "train.sh"])
    };
    assert!(has_history(&mut run("a.jsonl"), "a.jsonl"));
    assert!(!has_history(
        run("b.jsonl").env("LEVELOFF_HISTORY", "0"),
        "b.jsonl"
    ));
    job.stage.file("leveloff.toml", "history = false\n");
    assert!(!has_history(&mut run("c.jsonl"), "c.jsonl"));
    assert!(has_history(
        run("d.jsonl").env("LEVELOFF_HISTORY", "1"),
        "d.jsonl"
    ));
    let stated = |recording: &str| {
        job.leveloff(&[
            "run",
            "--no-history",
            "-i",
            "50ms",
            "-o",
            recording,
            "--",
            "sh",
            "train.sh",
        ])
    };
    assert!(!has_history(
        stated("e.jsonl").env("LEVELOFF_HISTORY", "1"),
        "e.jsonl"
    ));
}

#[test]
fn a_check_uses_it_only_on_request() {
    let job = Job::new();
    job.remember(&[86.0, 92.0]);
    let check = |more: &[&str], recording: &str| {
        let options = ["check", "--undecided=pass", "-o", recording];
        job.ask(&[&options, more, &["--", "sh", "train.sh"]].concat());
        job.header(recording)["earlier_runs"]["runs"].as_u64()
    };
    assert_eq!(check(&[], "plain.jsonl"), None);
    assert_eq!(check(&["--history"], "asked.jsonl"), Some(2));
    job.stage.file("leveloff.toml", "[check]\nhistory = true\n");
    assert_eq!(check(&[], "configured.jsonl"), Some(2));
}

/// A recording of a leak of 800 steps, made by a run that knew how earlier ones ended.
fn contradiction(stage: &Stage) {
    let fixture = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../fixtures/recordings/inside.jsonl"
    );
    let text = std::fs::read_to_string(fixture).unwrap();
    let (header, rest) = text.split_once('\n').unwrap();
    let mut header: Value = serde_json::from_str(header).unwrap();
    header["header"]["earlier_runs"] =
        json!({"unit": "steps", "runs": 4, "level_from": 86.0, "level_to": 92.0});
    stage.file("leak.jsonl", format!("{header}\n{rest}"));
}

#[test]
fn a_run_that_contradicts_its_history_says_that_first() {
    let stage = Stage::new();
    contradiction(&stage);
    let text = stage.ask(&["judge", "leak.jsonl"]).stdout;
    let first = text.lines().next().unwrap();
    assert!(first.contains("unlike 4 earlier runs"), "{text}");
    assert!(
        text.contains("level by step 86–92 in 4 earlier runs; this one"),
        "{text}"
    );
    let row = stage
        .ask(&["judge", "--format", "json", "leak.jsonl"])
        .stdout;
    let row: Value = serde_json::from_str(&row).unwrap();
    assert_eq!(row["horizon_source"], "history");
    assert_eq!(row["horizon_x"], 92.0);
    assert_eq!(row["earlier_runs"]["is_contradicted"], true);
    let stated = [
        "judge",
        "--format",
        "json",
        "--level-by",
        "90",
        "leak.jsonl",
    ];
    let row: Value = serde_json::from_str(&stage.ask(&stated).stdout).unwrap();
    assert_eq!(row["horizon_source"], "stated");
    assert!(row["earlier_runs"].is_null());
}

#[test]
fn every_output_says_what_earlier_runs_were() {
    let stage = Stage::new();
    contradiction(&stage);
    let words = "level by step 86–92 in 4 earlier runs";
    for report in ["leak.html", "leak.md"] {
        stage.ask(&["report", "leak.jsonl", "-o", report]).well();
        let text = std::fs::read_to_string(stage.path(report)).unwrap();
        assert!(
            text.contains(words) && text.contains("unlike 4 earlier runs"),
            "{report}"
        );
    }
    // Step 90 is the horizon of a check, whatever the recording knows.
    let plain = stage.ask(&["check", "leak.jsonl"]).stdout;
    assert!(!plain.contains("earlier"), "{plain}");
    let asked = stage.ask(&["check", "--history", "leak.jsonl"]).stdout;
    assert!(asked.contains("unlike 4 earlier runs"), "{asked}");
}

#[test]
fn jobs_are_listed_explained_and_forgotten() {
    let job = Job::new();
    let nothing = job.ask(&["history"]).well().stdout;
    assert!(nothing.contains("no runs are remembered yet"), "{nothing}");
    job.remember(&[86.0, 88.0, 92.0]);
    let text = job.ask(&["history"]).well().stdout;
    assert!(text.contains("sh train.sh"), "{text}");
    assert!(
        text.contains("3 runs, the last on 2023-11-14: 3 level"),
        "{text}"
    );
    assert!(
        text.contains("level by step 86–92 in 3 earlier runs"),
        "{text}"
    );
    job.ask(&["history", "--forget", "abc"])
        .refused(&["4 digits"]);
    job.ask(&["history", "--forget", "zzzz"])
        .refused(&["no job zzzz"]);
    let key = job.listed(&[])["jobs"][0]["key"].as_str().unwrap()[..6].to_owned();
    job.ask(&["history", "--forget", &key]).well();
    assert!(job.listed(&[])["jobs"].as_array().unwrap().is_empty());
    job.remember(&[86.0]);
    job.ask(&["history", "--forget", "all"]).well();
    assert!(!job.file().exists());
}

#[test]
fn a_poisoned_or_truncated_history_changes_nothing() {
    let job = Job::new();
    job.remember(&[86.0, 92.0]);
    let whole = std::fs::read_to_string(job.file()).unwrap();
    for (content, why) in [
        (whole[..whole.len() / 2].to_owned(), "cut off"),
        (whole.replace("86.0", "-86.0"), "did not write"),
        (whole.replace("86.0", "1e308"), "did not write"),
        (whole.replace("sh train.sh", "\\u001b]0;x"), "did not write"),
        ("[".repeat(100_000), "not valid"),
        (" ".repeat((1 << 20) + 1), "larger than 1 MB"),
        (whole.replace("\"version\":1", "\"version\":9"), "newer"),
    ] {
        std::fs::write(job.file(), content).unwrap();
        job.is_unharmed(why);
        std::fs::remove_file(job.stage.path("unharmed.jsonl")).unwrap();
    }
    job.ask(&["history"]).refused(&["newer"]);
    job.ask(&["history", "--forget", "all"]).well();
    assert!(!job.file().exists());
}

#[test]
fn a_link_changes_nothing() {
    let job = Job::new();
    job.remember(&[86.0, 92.0]);
    let elsewhere = job.stage.path("elsewhere.json");
    std::fs::rename(job.file(), &elsewhere).unwrap();
    symlink(&elsewhere, job.file()).unwrap();
    job.is_unharmed("symbolic link");
}

#[test]
fn what_others_may_write_changes_nothing() {
    let job = Job::new();
    job.remember(&[86.0, 92.0]);
    set_mode(&job.file(), 0o606);
    job.is_unharmed("writable for other users");
}

#[test]
fn the_history_of_another_user_changes_nothing() {
    let job = Job::new();
    job.remember(&[86.0, 92.0]);
    if chown(job.file(), Some(NOBODY), None).is_err() {
        return cannot_run_here("only root can give a file away");
    }
    job.is_unharmed("belongs to another user");
}

#[test]
fn a_place_that_cannot_be_written_changes_nothing() {
    let job = Job::new();
    job.stage.file("state", "not a directory");
    job.is_unharmed("not used");
}
