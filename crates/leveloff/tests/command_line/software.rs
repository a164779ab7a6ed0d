//! What a recording knows of the software under watch, and what it must never know.

use crate::recording::Recording;
use crate::stage::{Ended, Stage, send, wait_until};
use crate::watched_process::WatchedProcess;
use rustix::process::Signal;

/// No other text of a recording has this in it by chance.
const SECRET: &str = "hush-4d1f0c6be8";

#[test]
fn what_changes_memory_is_recorded_and_secrets_are_not() {
    let stage = Stage::new();
    let variables = [
        ("MALLOC_ARENA_MAX", "2"),
        ("SECRET_TOKEN", SECRET),
        ("MALLOC_ARENA_MAX_TOKEN", SECRET),
    ];
    let mut process = WatchedProcess::with_variables("watched", &variables);
    let pid = process.pid().to_string();
    let arguments = ["record", "--pid", &pid, "-o", "run.jsonl", "-i", "20ms"];
    let recorder = stage.leveloff(arguments).spawn().unwrap();
    let path = stage.path("run.jsonl");
    let is_recorded = || !Recording::so_far(&path).of("software").is_empty();
    wait_until("its software", is_recorded);
    send(&recorder, Signal::INT);
    Ended::of(recorder).well();
    process.is_unharmed();

    let recording = Recording::load(&path);
    let software = recording.of("software");
    assert_eq!(software.len(), 1, "{software:?}");
    assert_eq!(software[0]["n"], 0);
    assert_eq!(software[0]["variables"]["MALLOC_ARENA_MAX"], "2");
    let python = software[0]["python"].as_str().unwrap();
    assert!(python.starts_with("3."), "{python}");
    // It maps no framework, so what else is installed is not looked for.
    assert!(software[0]["packages"].is_null());

    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains("MALLOC_ARENA_MAX"));
    assert!(!text.contains(SECRET) && !text.contains("SECRET_TOKEN"));
}
