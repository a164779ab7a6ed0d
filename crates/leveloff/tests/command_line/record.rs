//! `leveloff record` on a process that is already running.

use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::Child;

use rustix::process::Signal;

use crate::recording::{Recording, wait_for_samples};
use crate::sheet::Sheet;
use crate::stage::{Ended, Stage, is_verdict, send, wait_until};
use crate::watched_process::WatchedProcess;

const MIB: u64 = 1 << 20;

/// Records `process` into `run.jsonl`, often, until it is stopped.
fn start(stage: &Stage, process: &WatchedProcess, more: &[&str]) -> (Child, PathBuf) {
    let pid = process.pid().to_string();
    let common = ["record", "--pid", &pid, "-o", "run.jsonl", "-i", "20ms"];
    let recorder = stage.leveloff(common.iter().chain(more)).spawn().unwrap();
    (recorder, stage.path("run.jsonl"))
}

fn marker(what: &str) -> String {
    format!("{what}-of-{}", std::process::id())
}

#[test]
fn a_child_that_allocates_is_recorded_until_it_ends() {
    let (stage, mut process) = (Stage::new(), WatchedProcess::new());
    let pid = process.pid();
    let (recorder, path) = start(&stage, &process, &["--level-by", "90", "--limit", "3GiB"]);
    wait_for_samples(&path, 2);
    process.grow(64);
    wait_for_samples(&path, 3);
    process.end(0);
    let ended = Ended::of(recorder).well();

    let recording = Recording::load(&path);
    let header = recording.header();
    assert_eq!(header["format"], "leveloff-recording");
    assert_eq!(header["version"], 1);
    assert_eq!(header["pid"], pid);
    assert_eq!(header["interval_s"], 0.02);
    assert_eq!(header["level_by"], 90);
    assert_eq!(header["limit"], "3221225472B");
    assert!(recording.has_process(pid));
    assert_eq!(recording.end(), ("target-gone".to_owned(), None));

    let memory = Sheet::of(&stage, &path, "tree").numbers("memory_bytes");
    let grown = memory.iter().max().unwrap() - memory[0];
    assert!((64 * MIB..70 * MIB).contains(&grown), "{grown}: {memory:?}");

    let said = ended.said();
    assert_eq!(said.len(), 9, "{ended:?}");
    assert!(said[0].starts_with(&format!("watching {pid}")), "{said:?}");
    assert!(
        said[1].starts_with("guard: stops the run at 3.0 GiB"),
        "{said:?}"
    );
    assert!(is_verdict(said[2]), "{said:?}");
    assert!(said[4].starts_with("the run ended after "), "{said:?}");
    let has = |words: &str| said.iter().any(|line| line.contains(words));
    assert!(has("peak") && has("growth "), "{said:?}");
    // A step by which memory must be level cannot be applied to a run without steps.
    assert!(has("--level-by"), "{said:?}");
    assert!(said[8].contains("leveloff judge run.jsonl"), "{said:?}");
}

#[test]
fn a_duration_ends_the_recording_and_not_the_run() {
    let (stage, mut process) = (Stage::new(), WatchedProcess::new());
    let (recorder, path) = start(&stage, &process, &["--duration", "200ms"]);
    let ended = Ended::of(recorder).well();
    process.is_unharmed();
    let recording = Recording::load(&path);
    assert_eq!(recording.end(), ("duration".to_owned(), None));
    assert!(recording.samples() >= 1);
    assert!(ended.stderr.contains("time is over after"));
    assert!(ended.stderr.contains("; the run goes on"));
}

#[test]
fn a_duration_beyond_all_clocks_is_no_limit() {
    let (stage, process) = (Stage::new(), WatchedProcess::new());
    let (recorder, path) = start(&stage, &process, &["--duration", "200000000000000d"]);
    wait_for_samples(&path, 1);
    process.end(0);
    Ended::of(recorder).well();
    assert_eq!(Recording::load(&path).end().0, "target-gone");
}

#[test]
fn a_signal_ends_the_recording_and_not_the_run() {
    let mut process = WatchedProcess::new();
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let stage = Stage::new();
        let (recorder, path) = start(&stage, &process, &[]);
        wait_for_samples(&path, 1);
        send(&recorder, signal);
        let ended = Ended::of(recorder).well();
        process.is_unharmed();
        assert_eq!(
            Recording::load(&path).end(),
            ("stopped".to_owned(), None),
            "{signal:?}"
        );
        let said = ended.said();
        assert_eq!(said.len(), 7, "{ended:?}");
        assert!(is_verdict(said[1]), "{said:?}");
        assert!(said[2].starts_with("stopped after"), "{said:?}");
        assert!(said[2].ends_with("; the run goes on"), "{said:?}");
    }
}

#[test]
fn a_process_that_ends_at_once_leaves_a_whole_recording_or_none() {
    for _ in 0..10 {
        let (stage, process) = (Stage::new(), WatchedProcess::new());
        let (recorder, path) = start(&stage, &process, &[]);
        process.end(1);
        let ended = Ended::of(recorder).never_panicked();
        match ended.status.code() {
            Some(0) => assert_eq!(Recording::load(&path).end().0, "target-gone"),
            Some(2) => {
                assert!(ended.stderr.contains("leveloff find"), "{ended:?}");
                assert!(!path.exists(), "{ended:?}");
            }
            _ => panic!("{ended:?}"),
        }
    }
}

#[test]
fn two_recorders_of_one_process_do_not_disturb_each_other() {
    let (stage, process) = (Stage::new(), WatchedProcess::new());
    let pid = process.pid().to_string();
    // Both choose a name in the same minute, and at the same time.
    let arguments = ["record", "--pid", &pid, "-i", "20ms"];
    let recorders = [(); 4].map(|()| stage.leveloff(arguments).spawn().unwrap());
    wait_until("a recording from each", || {
        let recordings = stage.recordings();
        let begun = |path: &&PathBuf| Recording::so_far(path).samples() > 0;
        recordings.iter().filter(begun).count() == recorders.len()
    });
    process.end(0);
    for recorder in recorders {
        Ended::of(recorder).well();
    }
    for path in stage.recordings() {
        let recording = Recording::load(&path);
        assert_eq!(recording.end().0, "target-gone");
        assert!(recording.has_process(pid.parse().unwrap()));
    }
}

#[test]
fn a_file_that_is_there_is_never_touched() {
    let (stage, process) = (Stage::new(), WatchedProcess::new());
    let pid = process.pid().to_string();
    stage.file("old.jsonl", "precious");
    symlink("old.jsonl", stage.path("link.jsonl")).unwrap();
    symlink("nowhere.jsonl", stage.path("dangling.jsonl")).unwrap();
    std::fs::create_dir(stage.path("directory.jsonl")).unwrap();
    for name in ["old", "link", "dangling", "directory"] {
        let name = format!("{name}.jsonl");
        let recorded = stage.ask(&["record", "--pid", &pid, "-o", &name]);
        recorded.refused(&[&name, "exists and is not overwritten", "-o"]);
        let run = stage.ask(&["run", "-o", &name, "--", "touch", "started"]);
        run.refused(&[&name, "exists and is not overwritten", "-o"]);
    }
    assert_eq!(std::fs::read(stage.path("old.jsonl")).unwrap(), b"precious");
    assert!(!stage.path("nowhere.jsonl").exists());
    assert!(!stage.path("started").exists());
}

#[test]
fn a_place_that_is_not_there_is_named() {
    let (stage, process) = (Stage::new(), WatchedProcess::new());
    let pid = process.pid().to_string();
    let ended = stage.ask(&["record", "--pid", &pid, "-o", "no/such/run.jsonl"]);
    ended.refused(&["cannot create", "no/such/run.jsonl", "-o", "No such file"]);
}

#[test]
fn the_default_name_is_always_a_new_one() {
    let (stage, process) = (Stage::new(), WatchedProcess::named("src/train.py"));
    let pid = process.pid().to_string();
    let arguments = ["record", "--pid", &pid, "--duration", "30ms"];
    stage.ask(&arguments).well();
    let first = stage.recordings();
    let content = std::fs::read(&first[0]).unwrap();
    stage.ask(&arguments).well();
    stage.ask(&arguments).well();
    assert_eq!(stage.recordings().len(), 3);
    assert_eq!(std::fs::read(&first[0]).unwrap(), content);
    let name = first[0].file_name().unwrap().to_str().unwrap().to_owned();
    let parts: Vec<&str> = name.split('-').collect();
    assert_eq!((parts[0], parts[3]), ("leveloff", "train.jsonl"), "{name}");
    assert!(parts[1].len() == 8 && parts[2].len() == 4, "{name}");
}

#[test]
fn a_run_is_found_by_its_command_line() {
    let (stage, name) = (Stage::new(), marker("matched"));
    let process = WatchedProcess::named(&name);
    let arguments = ["--match", &name, "--duration", "30ms", "-o", "run.jsonl"];
    let ended = stage.leveloff(["record"].iter().chain(&arguments));
    let ended = crate::stage::ended(&mut { ended }).well();
    let recording = Recording::load(&stage.path("run.jsonl"));
    assert_eq!(recording.header()["pid"], process.pid());
    let picked = format!("picked {}: ", process.pid());
    assert!(ended.said()[0].starts_with(&picked), "{ended:?}");
}

#[test]
fn several_runs_are_listed_to_choose_from() {
    let (stage, name) = (Stage::new(), marker("several"));
    let patients = [WatchedProcess::named(&name), WatchedProcess::named(&name)];
    let ended = stage.ask(&["record", "--match", &name]);
    let ended = ended.refused(&["there are 2 runs", "choose one with --pid"]);
    for process in &patients {
        let line = format!("--pid {} ", process.pid());
        assert!(ended.stderr.contains(&line), "{ended:?}");
    }
    assert!(stage.recordings().is_empty());
}

#[test]
fn the_whole_machine_is_recorded_and_its_growers_are_named() {
    let (stage, mut process) = (Stage::new(), WatchedProcess::new());
    let arguments = ["record", "--system", "-o", "all.jsonl", "-i", "100ms"];
    let recorder = stage.leveloff(arguments).spawn().unwrap();
    let path = stage.path("all.jsonl");
    wait_for_samples(&path, 2);
    // Growth while a process is measured for the first time cannot be distinguished from the error of
    // the earlier estimate; that is one step at most.
    for _ in 0..3 {
        process.grow(100);
        wait_for_samples(&path, 2);
    }
    send(&recorder, Signal::INT);
    let ended = Ended::of(recorder).well();
    let recording = Recording::load(&path);
    assert!(recording.header().get("pid").is_none());
    assert!(recording.header().get("command").is_none());
    for pid in [1, std::process::id(), process.pid()] {
        assert!(recording.has_process(pid), "{pid}");
    }
    let pid = process.pid().to_string();
    let grower = |line: &&str| line.split_whitespace().any(|word| word == pid);
    let line = ended.said().into_iter().find(grower);
    let line = line.unwrap_or_else(|| panic!("{pid} is not in {ended:?}"));
    let grown = line.trim_start().strip_prefix('+').unwrap();
    let grown: f64 = grown.split(" MiB").next().unwrap().parse().unwrap();
    assert!((190.0..320.0).contains(&grown), "{line}");
}
