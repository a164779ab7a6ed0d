//! What `leveloff run` says while the run goes on.

use crate::stage::{Ended, Stage, python};

/// Keeps 2 MiB at each of its 20 steps a second, for so many seconds as its argument says, with a bar on stderr that never ends
/// its line, and steps on stdout.
const LEAKS: &str = "import sys, time
kept, step, end = [], 0, time.monotonic() + float(sys.argv[1])
while time.monotonic() < end:
    step += 1
    kept.append(bytearray(2 << 20))
    print(f'step {step}: loss 2.5', flush=True)
    print(f'\\r{step}/9999', end='', file=sys.stderr, flush=True)
    time.sleep(0.05)
print('done')";

fn run(stage: &Stage, options: &[&str]) -> Ended {
    let command = ["--", python(), "-c", LEAKS, "14"];
    let common = [
        "run",
        "-o",
        "run.jsonl",
        "-i",
        "200ms",
        "--planned-steps",
        "100000",
    ];
    let arguments = [&common[..], options, &command].concat();
    let mut leveloff = stage.leveloff(arguments);
    // As a fact: growth meets it, and nothing is stopped there.
    crate::stage::ended(leveloff.env("LEVELOFF_LIMIT", "4GiB"))
}

#[test]
fn a_run_that_will_be_killed_is_said_so_while_it_goes_on_and_no_bar_is_cut() {
    let stage = Stage::new();
    let ended = run(&stage, &["--every", "5s", "--voice-file", "voice.txt"]);
    let voice = std::fs::read_to_string(stage.path("voice.txt")).unwrap();
    assert_eq!(ended.status.code(), Some(0), "{voice}");
    let killed = voice
        .lines()
        .filter(|line| line.contains("will be killed at step"))
        .count();
    assert_eq!(killed, 1, "{voice}");
    let numbers = voice.lines().filter(|line| line.contains(" since "));
    assert!(numbers.count() >= 2, "{voice}");
    let steps = ended
        .stdout
        .lines()
        .filter(|line| line.starts_with("step "));
    assert_eq!(
        steps.count() + 1,
        ended.stdout.lines().count(),
        "{}",
        ended.stdout
    );
    assert!(!ended.stderr.contains("will be killed at step 1 "));
}

#[test]
fn on_a_stderr_with_a_bar_a_line_of_its_own_is_said() {
    let stage = Stage::new();
    let ended = run(&stage, &[]);
    let line = ended
        .stderr
        .lines()
        .find(|line| line.contains("will be killed at step"));
    let line = line.unwrap_or_else(|| panic!("{}", ended.stderr));
    assert!(line.starts_with("leveloff: step "), "{line}");
    let bars: String = ended
        .stderr
        .split('\n')
        .filter(|line| !line.starts_with("leveloff: "))
        .collect();
    let drawn: Vec<&str> = bars.split('\r').filter(|bar| !bar.is_empty()).collect();
    assert!(drawn.iter().all(|bar| bar.ends_with("/9999")), "{drawn:?}");
}

#[test]
fn a_quiet_run_says_nothing_before_its_end() {
    let stage = Stage::new();
    let ended = run(&stage, &["--voice", "quiet"]);
    let said = ended.said();
    assert!(
        said.iter().all(|line| !line.starts_with("step ")),
        "{said:?}"
    );
}

#[test]
fn words_that_are_none_are_refused_with_those_that_are() {
    let stage = Stage::new();
    let ended = stage.ask(&["run", "--voice", "loud", "--", "true"]);
    assert_eq!(ended.status.code(), Some(2));
    let expected = "write quiet, changes, or 'every 10s'";
    assert!(ended.stderr.contains(expected), "{}", ended.stderr);
    let ended = stage.ask(&["run", "--voice-file", "/nowhere/x", "--", "true"]);
    assert_eq!(ended.status.code(), Some(2));
    assert!(ended.stderr.contains("--voice-file"), "{}", ended.stderr);
}

#[test]
fn a_command_needs_no_dashes_in_front() {
    let stage = Stage::new();
    let ended = stage.ask(&["run", "-o", "run.jsonl", python(), "-c", "print('--voice')"]);
    assert_eq!(ended.status.code(), Some(0), "{}", ended.stderr);
    assert_eq!(ended.stdout, "--voice\n");
}
