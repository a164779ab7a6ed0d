//! `leveloff run`: what is recorded of a command that leveloff started.

use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, Stdio};

use crate::recording::{Recording, wait_for_samples};
use crate::stage::{Ended, Stage, cannot_run_here, ended, is_root, is_verdict, python, wait_until};

/// Prints a line for each line of input, on the stream that its argument names.
const ECHO: &str = "import sys
stream = sys.stderr if sys.argv[1] == 'stderr' else sys.stdout
for line in sys.stdin:
    stream.write(line.rstrip('\\n').replace('CR', '\\r') + sys.argv[2].replace('LF', '\\n'))
    stream.flush()";

/// The grandchild says its number when the process between is gone.
const DOUBLE_FORK: &str = "import os, sys
middle = os.fork()
if middle == 0:
    middle = os.getpid()
    if os.fork() == 0:
        while os.getppid() == middle: pass
        os.setsid()
        print(os.getpid(), flush=True)
        sys.stdin.read()
    os._exit(0)
os.waitpid(middle, 0)
sys.stdin.read()";

/// Runs a Python program into `run.jsonl`, sampling often.
fn start(stage: &Stage, program: &str, more: &[&str], stdout: Stdio) -> (Child, PathBuf) {
    let common = ["run", "-o", "run.jsonl", "-i", "20ms", "--", python(), "-c"];
    let mut command = stage.leveloff(common.iter().chain(&[program]).chain(more));
    let child = command.stdin(Stdio::piped()).stdout(stdout).spawn();
    (child.unwrap(), stage.path("run.jsonl"))
}

fn run(stage: &Stage, program: &str) -> (Ended, Recording) {
    let (child, path) = start(stage, program, &[], Stdio::piped());
    (Ended::of(child), Recording::load(&path))
}

/// The line about the end of the command: the first, or the one after the verdict if there is one.
fn end_line(ended: &Ended) -> &str {
    let said = ended.said();
    let place = usize::from(is_verdict(said[0]));
    said[place]
}

#[track_caller]
fn wait_for_step(path: &std::path::Path, step: u64) {
    wait_until(&format!("step {step}"), || {
        Recording::so_far(path).step() == Some(step)
    });
}

#[test]
fn the_exit_code_ends_the_recording() {
    for code in [0, 7] {
        let stage = Stage::new();
        let (ended, recording) = run(&stage, &format!("import sys; sys.exit({code})"));
        assert_eq!(ended.status.code(), Some(code));
        assert_eq!(recording.end(), ("exited".to_owned(), Some(code.into())));
        assert_eq!(recording.header()["command"][0], python());
        let words = format!("{} ended with code {code} after ", python());
        assert!(end_line(&ended).starts_with(&words), "{ended:?}");
    }
}

#[test]
fn death_by_signal_ends_the_recording() {
    let stage = Stage::new();
    let (ended, recording) = run(&stage, "import os; os.kill(os.getpid(), 9)");
    assert_eq!(ended.status.signal(), Some(9));
    assert_eq!(recording.end(), ("signalled".to_owned(), Some(9)));
    assert!(
        end_line(&ended).contains("was ended by signal 9"),
        "{ended:?}"
    );
}

#[test]
fn steps_are_read_from_lines_on_stdout() {
    let stage = Stage::new();
    let (mut child, path) = start(&stage, ECHO, &["stdout", "LF"], Stdio::piped());
    let mut orders = child.stdin.take().unwrap();
    for step in [10, 20, 30] {
        writeln!(orders, "step {step}: loss 0.5").unwrap();
        wait_for_step(&path, step);
    }
    drop(orders);
    let ended = Ended::of(child).well();
    assert_eq!(ended.stdout.lines().count(), 3);
    assert!(ended.stderr.contains(" · step 30"), "{ended:?}");
    let recording = Recording::load(&path);
    let is_from_output = |s: &&serde_json::Value| s["source"] == "output";
    assert!(recording.of("s").into_iter().any(|s| is_from_output(&s)));
}

#[test]
fn steps_are_read_from_a_bar_on_stderr() {
    let stage = Stage::new();
    let (mut child, path) = start(&stage, ECHO, &["stderr", ""], Stdio::piped());
    let mut orders = child.stdin.take().unwrap();
    for step in [3, 6, 9] {
        let bar = "█".repeat(step as usize);
        let counts = format!("{step}/10 [00:0{step}<00:01, 1.00it/s]");
        writeln!(orders, "CR {step}0%|{bar:<10}| {counts}").unwrap();
        wait_for_step(&path, step);
    }
    drop(orders);
    Ended::of(child).well();
    let recording = Recording::load(&path);
    let samples = recording.of("s");
    assert!(samples.iter().any(|s| s["planned_steps"] == 10));
}

#[test]
fn output_that_goes_to_a_file_is_read_there() {
    let stage = Stage::new();
    let log = std::fs::File::create(stage.path("train.log")).unwrap();
    let (mut child, path) = start(&stage, ECHO, &["stdout", "LF"], Stdio::from(log));
    let mut orders = child.stdin.take().unwrap();
    for step in [10, 20, 30] {
        writeln!(orders, "step {step}: loss 0.5").unwrap();
        wait_for_step(&path, step);
    }
    drop(orders);
    Ended::of(child).well();
    let log = std::fs::read_to_string(stage.path("train.log")).unwrap();
    assert_eq!(log.lines().count(), 3);
}

/// Between the last sample and the end a run may still take steps.
#[test]
fn the_last_words_of_a_command_are_recorded() {
    let stage = Stage::new();
    let program = "for step in range(1, 51): print('step', step, flush=True)";
    let arguments = ["run", "-o", "run.jsonl", "-i", "1h", "--", python(), "-c"];
    let ended = ended(&mut stage.leveloff(arguments.iter().chain(&[program]))).well();
    let recording = Recording::load(&stage.path("run.jsonl"));
    assert_eq!(recording.step(), Some(50));
    assert!(end_line(&ended).contains("step 50"), "{ended:?}");
}

#[test]
fn a_command_that_cannot_be_started_leaves_nothing_behind() {
    let stage = Stage::new();
    stage.file("not-executable", "#!/bin/sh\n");
    for (command, words) in [
        ("no-such-command-anywhere", "check the spelling"),
        ("./not-executable", "chmod +x"),
    ] {
        for output in [&[][..], &["-o", "run.jsonl"]] {
            let arguments = [&["run"], output, &["--", command]].concat();
            stage
                .ask(&arguments)
                .refused(&["cannot start", command, words]);
        }
    }
    assert!(stage.recordings().is_empty());
}

#[test]
fn orphans_of_a_double_fork_are_recorded() {
    let stage = Stage::new();
    let (mut child, path) = start(&stage, DOUBLE_FORK, &[], Stdio::piped());
    let mut stdout = child.stdout.take().unwrap();
    let orphan = crate::stage::read_until(&mut stdout, "");
    let orphan: u32 = orphan.trim().parse().unwrap();
    wait_until("the orphan in the recording", || {
        Recording::so_far(&path).has_process(orphan)
    });
    wait_for_samples(&path, 1);
    drop(child.stdin.take());
    Ended::of(child).well();
    let recording = Recording::load(&path);
    let processes = recording.of("process");
    let n = &processes.iter().find(|p| p["pid"] == orphan).unwrap()["n"];
    let samples = recording.of("s");
    let readings = samples.iter().filter_map(|s| s["p"].as_array()).flatten();
    assert!(readings.filter(|reading| reading["n"] == *n).count() >= 1);
}

#[test]
fn the_summary_leads_with_the_verdict_and_has_six_lines() {
    for (program, steps) in [
        ("import sys; sys.stdin.read()", ""),
        (
            "import sys; print('step 5', flush=True); sys.stdin.read()",
            " · step 5 · steps: output 'step'",
        ),
    ] {
        let stage = Stage::new();
        let (mut child, path) = start(&stage, program, &[], Stdio::piped());
        match steps {
            "" => wait_for_samples(&path, 2),
            _ => wait_for_step(&path, 5),
        }
        drop(child.stdin.take());
        let ended = Ended::of(child).well();
        let said = ended.said();
        assert_eq!(said.len(), 6, "{ended:?}");
        assert_eq!(ended.stderr.lines().count(), 6, "{ended:?}");
        assert!(is_verdict(said[0]), "{said:?}");
        assert!(said[1].starts_with(&format!("{} ended with code 0 after ", python())));
        assert!(said[1].ends_with(steps), "{said:?}");
        for (line, word) in said.iter().skip(2).zip(["memory ", "growth ", "cost "]) {
            assert!(line.starts_with(word), "{said:?}");
        }
        assert_eq!(
            said[5],
            "recording run.jsonl · leveloff judge run.jsonl tells more"
        );
    }
}

#[test]
fn a_command_that_ends_at_once_is_reported_like_any_other() {
    for _ in 0..10 {
        let stage = Stage::new();
        let ended = stage.ask(&["run", "-o", "run.jsonl", "--", "true"]).well();
        let recording = Recording::load(&stage.path("run.jsonl"));
        assert_eq!(recording.end(), ("exited".to_owned(), Some(0)));
        let said = ended.said();
        assert!(
            end_line(&ended).starts_with("true ended with code 0"),
            "{ended:?}"
        );
        assert!([2, 5, 6].contains(&said.len()), "{ended:?}");
        assert!(said.last().unwrap().starts_with("recording run.jsonl"));
    }
}

#[test]
fn a_directory_that_cannot_be_written_to_is_reported_before_the_run() {
    if !is_root() {
        return cannot_run_here("only root can start leveloff as another user");
    }
    let stage = Stage::new();
    let outside = Stage::new();
    outside.set_mode(0o777);
    let mark = outside.path("started");
    let arguments = ["run", "--", "touch", mark.to_str().unwrap()];
    ended(&mut stage.leveloff_as_nobody(&arguments)).refused(&[
        "cannot create the recording leveloff-",
        "Permission denied",
        "-o",
    ]);
    assert!(!mark.exists());
    // With a place of its own the same command runs.
    let place = outside.path("run.jsonl");
    let elsewhere = ["run", "-o", place.to_str().unwrap(), "--", "touch"];
    let elsewhere = [&elsewhere[..], &[mark.to_str().unwrap()]].concat();
    ended(&mut stage.leveloff_as_nobody(&elsewhere)).well();
    assert!(mark.exists());
}
