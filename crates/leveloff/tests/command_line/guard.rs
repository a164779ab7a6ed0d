//! `leveloff guard`, and `run --limit`: who is stopped, when, how, and what is said about it.

use std::io::Write;
use std::process::{Child, Command, Stdio};

use rustix::process::Signal;

use crate::stage::{Ended, Stage, cannot_run_here, is_root, python, read_until, send, wait_until};
use crate::watched_process::WatchedProcess;

/// Grows by 4 MiB each 20 ms until it is stopped; `reaction` says how it stops.
const GROWING: &str = "import os, signal, sys, time
held = []
def grow(): held.append(b'x' * (4 << 20)); time.sleep(0.02)
";

/// A program that grows.
fn growing(reaction: &str) -> String {
    format!("{GROWING}{reaction}")
}

/// `leveloff run` of a Python program, with a limit.
fn run(stage: &Stage, flags: &[&str], program: &str) -> Ended {
    let start = ["run", "-o", "r.jsonl", "--limit", "150MiB"];
    let command = ["--", python(), "-c", program];
    let arguments: Vec<&str> = start.iter().chain(flags).chain(&command).copied().collect();
    stage.ask(&arguments).never_panicked()
}

fn start(program: &str) -> Child {
    let mut command = Command::new(python());
    command
        .args(["-c", program])
        .stdin(Stdio::null())
        .stdout(Stdio::piped());
    command.spawn().unwrap()
}

#[track_caller]
fn says(ended: &Ended, words: &str) {
    assert!(
        ended.stderr.contains(words),
        "{words:?} is not in {}",
        ended.stderr
    );
}

#[test]
fn a_run_is_stopped_at_its_limit_by_the_signal_that_it_knows() {
    let stage = Stage::new();
    let program = growing(
        "def save(*_): print('saved', flush=True); sys.exit(0)
signal.signal(signal.SIGTERM, save)
while True: grow()",
    );
    let ended = run(
        &stage,
        &[
            "--warn-at",
            "100MiB",
            "--on-warn",
            "echo \"$LEVELOFF_HOOK_EVENT\" > event",
        ],
        &program,
    );
    assert_eq!(ended.status.code(), Some(75), "{ended:?}");
    assert_eq!(ended.stdout, "saved\n");
    says(&ended, "guard: stops the run at 150 MiB");
    says(&ended, "warning: memory of the run is");
    says(&ended, "sending SIGTERM");
    says(&ended, "the guard stopped the run: memory of the run is");
    says(&ended, "recording r.jsonl");
    let recording = std::fs::read_to_string(stage.path("r.jsonl")).unwrap();
    for event in ["guard_warning", "guard_stop", "guard_signal"] {
        assert!(
            recording.contains(&format!("\"event\":\"{event}\"")),
            "{event}"
        );
    }
    assert_eq!(
        std::fs::read_to_string(stage.path("event")).unwrap(),
        "warn\n"
    );
}

#[test]
fn a_training_that_obeys_requests_gets_one_and_no_process_a_signal() {
    let stage = Stage::new();
    let marks = stage.path("marks");
    std::fs::create_dir(&marks).unwrap();
    let program = growing(
        "import json
signal.signal(signal.SIGTERM, lambda *_: os._exit(9))
place = os.environ['LEVELOFF_MARKS'] + '/%d' % os.getpid()
file = open(place + '.jsonl', 'a', buffering=1)
def mark(**facts): print(json.dumps(facts), file=file)
step = 0
while not os.path.exists(place + '.stop'):
    grow(); step += 1
    mark(step=step, phase='train', obeys_stop=True)
print(open(place + '.stop').read())
mark(step=step, event='stopping')
mark(step=step, event='checkpoint', path='out/checkpoint-%d' % step)
mark(step=step, event='stopped')
os.remove(place + '.stop')",
    );
    let mut leveloff = stage.leveloff([
        "run",
        "-o",
        "r.jsonl",
        "--limit",
        "150MiB",
        "--",
        python(),
        "-c",
        &program,
    ]);
    let ended = Ended::of(leveloff.env("LEVELOFF_MARKS", &marks).spawn().unwrap());
    assert_eq!(ended.status.code(), Some(75), "{ended:?}");
    assert!(ended.stdout.contains("\"reason\""), "{ended:?}");
    says(&ended, "asked the training to save and stop");
    says(&ended, ": out/checkpoint-");
    assert!(!ended.stderr.contains("SIGTERM"), "{ended:?}");
}

#[test]
fn one_that_ignores_everything_is_killed_with_all_its_children() {
    let stage = Stage::new();
    let program = growing(
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)
children = []
for _ in range(4):
    pid = os.fork()
    if pid == 0:
        while True: time.sleep(60)
    children.append(pid)
print(os.getpid(), *children, flush=True)
while True: grow()",
    );
    let ended = run(&stage, &["--grace", "300ms"], &program);
    assert_eq!(ended.status.code(), Some(75), "{ended:?}");
    says(&ended, "sending SIGTERM to every process of the run");
    says(
        &ended,
        "sending SIGKILL to every process of the run that is left",
    );
    for pid in ended.stdout.split_whitespace() {
        // The process that adopts orphans may need a moment to reap them.
        let process = std::path::Path::new("/proc").join(pid);
        wait_until("the end of all of them", || !process.exists());
    }
}

#[test]
fn a_run_below_its_limit_is_left_alone_and_ends_with_its_own_code() {
    let stage = Stage::new();
    let ended = run(
        &stage,
        &[],
        "import time; time.sleep(0.5); raise SystemExit(4)",
    );
    assert_eq!(ended.status.code(), Some(4), "{ended:?}");
    assert!(!ended.stderr.contains("stopped the run"), "{ended:?}");
}

#[test]
fn a_spike_does_not_end_a_run() {
    let stage = Stage::new();
    let program = "import time
held = b'x' * (60 << 20); time.sleep(1)
spike = b'x' * (150 << 20); time.sleep(0.5); del spike
time.sleep(1); print('went on')";
    let ended = run(&stage, &[], program).well();
    assert_eq!(ended.stdout, "went on\n");
}

#[test]
fn a_jump_that_lasts_does() {
    let stage = Stage::new();
    let program = "import time
held = b'x' * (60 << 20); time.sleep(1)
jump = b'x' * (150 << 20); time.sleep(60)";
    let ended = run(&stage, &["--dwell", "500ms"], program);
    assert_eq!(ended.status.code(), Some(75), "{ended:?}");
}

#[test]
fn a_run_that_is_there_already_is_guarded_also_after_its_guard_was_killed() {
    let stage = Stage::new();
    let mut process = WatchedProcess::new();
    process.grow(40);
    let pid = process.pid().to_string();
    let arguments = [
        "guard", "--pid", &pid, "--limit", "300MiB", "--dwell", "200ms",
    ];
    let mut first = stage.leveloff(arguments).spawn().unwrap();
    read_until(
        first.stderr.as_mut().unwrap(),
        "guard: stops the run at 300 MiB",
    );
    send(&first, Signal::KILL);
    first.wait().unwrap();
    process.is_unharmed();
    let mut second = stage.leveloff(arguments).spawn().unwrap();
    read_until(
        second.stderr.as_mut().unwrap(),
        "guard: stops the run at 300 MiB",
    );
    process.grow(300);
    let ended = Ended::of(second);
    assert_eq!(ended.status.code(), Some(75), "{ended:?}");
    says(&ended, "the guard stopped the run");
}

#[test]
fn a_guard_that_is_interrupted_says_that_the_run_is_unguarded() {
    let stage = Stage::new();
    let mut process = WatchedProcess::new();
    let pid = process.pid().to_string();
    let mut guard = stage
        .leveloff(["guard", "--pid", &pid, "--limit", "1GiB"])
        .spawn()
        .unwrap();
    read_until(guard.stderr.as_mut().unwrap(), "guard: stops");
    send(&guard, Signal::INT);
    let ended = Ended::of(guard).well();
    says(&ended, "no longer guarded");
    process.is_unharmed();
}

#[test]
fn a_limit_that_cannot_be_kept_is_refused_before_anything_is_started() {
    let stage = Stage::new();
    let refused = |flags: &[&str], words: &[&str]| {
        let command = ["--", "touch", "started"];
        let arguments: Vec<&str> = ["run"]
            .iter()
            .chain(flags)
            .chain(&command)
            .copied()
            .collect();
        stage.ask(&arguments).refused(words);
        assert!(!stage.path("started").exists(), "{flags:?}");
        assert_eq!(
            stage.recordings(),
            Vec::<std::path::PathBuf>::new(),
            "{flags:?}"
        );
    };
    refused(
        &["--limit", "900TiB"],
        &["is not below", "kill the run first", "90%"],
    );
    refused(&["--limit", "28"], &["--limit", "28GiB"]);
    refused(&["--limit", "0.001%"], &["already reached"]);
    refused(
        &["--limit", "1GiB", "--signal", "SIGFOO"],
        &["SIGFOO", "SIGTERM"],
    );
    refused(
        &["--limit", "1GiB", "--warn-at", "2GiB"],
        &["--warn-at is not below --limit"],
    );
    refused(
        &["--limit", "1GiB", "--grace", "soon"],
        &["--grace", "such as"],
    );
    refused(
        &["--on-stop", "true"],
        &["--on-stop is of no use", "--limit"],
    );
    refused(&["--resume-cmd", "true"], &["there is no guard", "--limit"]);
    refused(
        &["--limit", "1GiB", "--bundle", "/proc/none"],
        &["--bundle"],
    );
    stage.ask(&["guard"]).refused(&["nothing to guard against"]);
    stage
        .ask(&["guard", "--system", "--limit", "1GiB"])
        .refused(&["one run"]);
}

#[test]
fn a_limit_below_what_a_run_holds_is_refused_and_the_run_goes_on() {
    let stage = Stage::new();
    let mut process = WatchedProcess::new();
    process.grow(100);
    let pid = process.pid().to_string();
    let ended = stage.ask(&["guard", "--pid", &pid, "--limit", "50MiB"]);
    ended.refused(&["already reached", "state a higher one"]);
    process.is_unharmed();
}

#[test]
fn missing_permission_to_stop_a_run_is_reported_at_once() {
    if !is_root() {
        cannot_run_here("only root can start a process of another user");
        return;
    }
    let stage = Stage::new();
    let mut process = WatchedProcess::new();
    let pid = process.pid().to_string();
    let mut guard = stage.leveloff_as_nobody(&["guard", "--pid", &pid, "--limit", "1GiB"]);
    let ended = Ended::of(guard.spawn().unwrap());
    ended.refused(&["belongs to another user", "or as root"]);
    process.is_unharmed();
}

#[test]
fn a_bundle_holds_what_is_known() {
    let stage = Stage::new();
    let ended = run(&stage, &["--bundle", "b"], &growing("while True: grow()"));
    assert_eq!(ended.status.code(), Some(75), "{ended:?}");
    says(&ended, "wrote the bundle to b");
    let read = |name: &str| std::fs::read_to_string(stage.path("b").join(name)).unwrap();
    assert!(read("message.txt").contains("the guard stopped the run"));
    assert!(
        read("report.html").starts_with("<!DOCTYPE html>")
            || read("report.html").starts_with("<!doctype html>")
    );
    assert!(read("recording.jsonl").contains("guard_stop"));
    let facts: serde_json::Value = serde_json::from_str(&read("stop.json")).unwrap();
    assert_eq!(facts["reason"], "limit");
    assert_eq!(facts["limit_bytes"], 150 << 20);
    assert!(facts["used_bytes"].as_u64().unwrap() >= 150 << 20);
    let names: Vec<String> = std::fs::read_dir(stage.path("b"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert!(
        names.iter().any(|name| name.starts_with("mappings-")),
        "{names:?}"
    );
}

#[test]
fn a_hook_that_fails_changes_nothing() {
    let stage = Stage::new();
    let ended = run(
        &stage,
        &["--on-stop", "echo no route >&2; exit 3"],
        &growing("while True: grow()"),
    );
    assert_eq!(ended.status.code(), Some(75), "{ended:?}");
    says(&ended, "the --on-stop command exited with code 3: no route");
}

#[test]
fn a_run_that_was_stopped_is_started_again_in_the_same_recording() {
    let stage = Stage::new();
    let first = growing("print('first', flush=True)\nfor _ in range(10**6): grow()");
    let again = format!("{} -c 'print(\"second\", flush=True)'", python());
    let flags = ["--resume-cmd", again.as_str(), "--max-restarts", "1"];
    // Growth slow enough that it lived for a while: where no steps are known, time is progress.
    let first = first.replace("0.02", "0.18");
    let ended = run(&stage, &flags, &first).well();
    assert_eq!(ended.stdout, "first\nsecond\n");
    says(&ended, "restarting in 5 s (1 of 1)");
    says(&ended, "ended with code 0");
    let recording = std::fs::read_to_string(stage.path("r.jsonl")).unwrap();
    assert!(recording.contains("\"event\":\"guard_restart\""));
    assert_eq!(stage.recordings().len(), 1);
}

#[test]
fn when_leveloff_is_killed_nothing_is_started_again_and_the_command_goes_on() {
    let stage = Stage::new();
    let gate = stage.path("gate");
    let program = format!(
        "import os, time\nprint('here', flush=True)\nwhile not os.path.exists({gate:?}): time.sleep(0.01)"
    );
    let arguments = [
        "run",
        "-o",
        "r.jsonl",
        "--limit",
        "1GiB",
        "--resume-cmd",
        "touch again",
        "--",
        python(),
        "-c",
        &program,
    ];
    let mut leveloff = stage.leveloff(arguments).spawn().unwrap();
    read_until(leveloff.stdout.as_mut().unwrap(), "here");
    let child = descendant(leveloff.id(), "time.sleep");
    send(&leveloff, Signal::KILL);
    leveloff.wait().unwrap();
    assert!(std::path::Path::new("/proc").join(&child).exists());
    std::fs::File::create(&gate)
        .unwrap()
        .write_all(b"x")
        .unwrap();
    wait_until("its end", || {
        !std::path::Path::new("/proc").join(&child).exists()
    });
    assert!(!stage.path("again").exists());
}

/// The process below `ancestor` with this in its command line, which is no starter of ours.
#[track_caller]
fn descendant(ancestor: u32, words: &str) -> String {
    let mut found = None;
    wait_until("the command", || {
        let list = Command::new("ps")
            .args(["-eo", "pid=,ppid=,args="])
            .output()
            .unwrap();
        let list = String::from_utf8_lossy(&list.stdout).into_owned();
        let rows: Vec<(String, String, String)> = list
            .lines()
            .filter_map(|line| {
                let mut fields = line.split_whitespace();
                let (pid, parent) = (fields.next()?.to_owned(), fields.next()?.to_owned());
                Some((pid, parent, line.to_owned()))
            })
            .collect();
        let descends = |pid: &str| {
            let mut at = pid.to_owned();
            for _ in 0..10 {
                if at == ancestor.to_string() {
                    return true;
                }
                match rows.iter().find(|(pid, ..)| *pid == at) {
                    Some((_, parent, _)) => at = parent.clone(),
                    None => return false,
                }
            }
            false
        };
        found = rows
            .iter()
            .find(|(pid, _, line)| {
                line.contains(words)
                    && !line.contains("--start-and-ask-at")
                    && descends(pid)
                    && *pid != ancestor.to_string()
            })
            .map(|(pid, ..)| pid.clone());
        found.is_some()
    });
    found.unwrap()
}

#[test]
fn one_that_ends_by_itself_while_it_is_watched_needs_no_guard() {
    let stage = Stage::new();
    let mut child = start("import time; print('x', flush=True); time.sleep(0.7)");
    let pid = child.id().to_string();
    let ended = stage.ask(&[
        "guard",
        "--pid",
        &pid,
        "--limit",
        "1GiB",
        "--stop-before",
        "5m",
    ]);
    child.wait().unwrap();
    let ended = ended.well();
    says(&ended, "or 5 min before that is met at the judged rate");
    says(&ended, "the run ended");
}

#[test]
fn a_shell_that_goes_on_with_its_next_training_is_stopped_as_a_whole() {
    let stage = Stage::new();
    let leak = stage.file("leak.py", growing("for _ in range(10**6): grow()"));
    let leak = leak.to_str().unwrap();
    let script = format!(
        "{0} {leak}; echo after; {0} {leak}; echo after; {0} {leak}",
        python()
    );
    let arguments = [
        "run", "-o", "r.jsonl", "--limit", "150MiB", "--grace", "20s", "--", "sh", "-c", &script,
    ];
    let ended = stage.ask(&arguments).never_panicked();
    assert_eq!(ended.status.code(), Some(75), "{ended:?}");
    // Each was sent the signal by itself: all were not swept up together when the time was over.
    assert!(!ended.stderr.contains("to every process"), "{ended:?}");
    assert_eq!(ended.stdout, "after\nafter\n");
}

#[test]
fn a_shell_with_a_trap_is_no_launcher() {
    let stage = Stage::new();
    let leak = stage.file("leak.py", growing("while True: grow()"));
    let script = format!(
        "trap 'echo cleanup' TERM; {} {}; echo went on",
        python(),
        leak.display()
    );
    let wrapper = stage.file("wrap.sh", script);
    let wrapper = wrapper.to_str().unwrap();
    let arguments = [
        "run", "-o", "r.jsonl", "--limit", "150MiB", "--", "bash", wrapper,
    ];
    let ended = stage.ask(&arguments).never_panicked();
    assert_eq!(ended.status.code(), Some(75), "{ended:?}");
    assert!(ended.stdout.contains("went on"), "{ended:?}");
    assert!(!ended.stderr.contains("to every process"), "{ended:?}");
}

#[test]
fn a_restart_starts_the_training_and_not_its_wrapper() {
    let stage = Stage::new();
    let slow = growing("for _ in range(10**6): grow()").replace("0.02", "0.18");
    let leak = stage.file("leak.py", growing("for _ in range(10**6): grow()"));
    let again = format!("{} {}; true", python(), leak.display());
    let flags = [
        "--resume-cmd",
        again.as_str(),
        "--max-restarts",
        "1",
        "--grace",
        "20s",
    ];
    let ended = run(&stage, &flags, &slow);
    assert_eq!(ended.status.code(), Some(75), "{ended:?}");
    assert!(!ended.stderr.contains("to every process"), "{ended:?}");
    let recording = std::fs::read_to_string(stage.path("r.jsonl")).unwrap();
    let starter = recording
        .lines()
        .find(|line| line.contains("--start-and-ask-at"))
        .unwrap();
    assert!(!starter.contains("\"role\":\"trainer\""), "{starter}");
}

#[test]
fn a_hook_is_waited_for_and_what_it_leaves_is_not_the_runs() {
    let stage = Stage::new();
    let daemon = "setsid -f sh -c 'trap \"echo hit > hit\" TERM; sleep 3; echo done > left'; sleep 0.5; exit 4";
    let program = growing("signal.signal(signal.SIGTERM, signal.SIG_IGN)\nwhile True: grow()");
    let ended = run(&stage, &["--on-stop", daemon, "--grace", "300ms"], &program);
    assert_eq!(ended.status.code(), Some(75), "{ended:?}");
    says(&ended, "the --on-stop command exited with code 4");
    wait_until("the end of what the hook left", || {
        stage.path("left").exists()
    });
    assert!(!stage.path("hit").exists());
}

#[test]
fn a_guard_that_is_interrupted_during_a_stop_withdraws_its_request() {
    let stage = Stage::new();
    let marks = stage.path("marks");
    std::fs::create_dir(&marks).unwrap();
    let program = growing(
        "import json
place = os.environ['LEVELOFF_MARKS'] + '/%d' % os.getpid()
file = open(place + '.jsonl', 'a', buffering=1)
print(json.dumps({'step': 1, 'obeys_stop': True}), file=file)
print('here', flush=True)
for _ in range(60): grow()
time.sleep(60)",
    );
    let mut child = Command::new(python())
        .args(["-c", &program])
        .env("LEVELOFF_MARKS", &marks)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    read_until(child.stdout.as_mut().unwrap(), "here");
    let pid = child.id().to_string();
    let arguments = [
        "guard", "--pid", &pid, "--limit", "150MiB", "--dwell", "200ms",
    ];
    let mut guard = stage.leveloff(arguments).spawn().unwrap();
    read_until(
        guard.stderr.as_mut().unwrap(),
        "asked the training to save and stop",
    );
    let request = marks.join(format!("{pid}.stop"));
    assert!(request.exists());
    send(&guard, Signal::INT);
    let ended = Ended::of(guard).well();
    says(
        &ended,
        "the guard had begun to stop the run and does not finish",
    );
    assert!(!request.exists());
    child.kill().unwrap();
    child.wait().unwrap();
}
