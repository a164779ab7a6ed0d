//! `leveloff demo`: the trainer is found, shown while it trains, and compared with its truth. The
//! trainer here is a small stand-in whose memory and marks are real; the reference trainer itself is
//! a package of its own, with tests of its own.

use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use rustix::process::Signal;

use crate::recording::Recording;
use crate::stage::{Ended, LEVELOFF, Stage, ended, python, read_until, send};
use crate::terminal::Terminal;

/// Trains with the options of the reference trainer. Each step waits until the recording, whose path is in
/// RECORDING, has one more sample: so the verdict does not depend on who else uses the machine.
const STAND_IN: &str = r#"
import argparse, json, os, signal, sys, time
parser = argparse.ArgumentParser()
parser.add_argument("--list-patterns", action="store_true")
parser.add_argument("--format")
parser.add_argument("--pattern")
parser.add_argument("--steps", type=int)
parser.add_argument("--pace", type=float)
parser.add_argument("--checkpoint-dir")
parser.add_argument("--quiet", action="store_true")
args = parser.parse_args()
if args.list_patterns:
    def entry(name, verdict, since, rate, **more):
        truth = {"verdict": verdict, "since": since, "bytes_per_step": rate, "findings": [], "seen_in": "trainer"}
        return {"name": name, "summary": f"is called {name}", "says": "", "steps": 100, "truth": {**truth, **more}}
    print(json.dumps([
        entry("story", "level", 30, 0),
        entry("native-leak", "leak", 1, 1 << 20, role="trainer", kind="anon"),
        entry("falsehood", "leak", 1, 1 << 20, role="trainer", kind="anon"),
        entry("endless", "leak", 1, 1 << 20), entry("broken", "level", 30, 0)]))
    sys.exit()
if args.pattern == "broken":
    sys.exit("the stand-in is broken")
directory = f"/tmp/leveloff-{os.getuid()}"
os.makedirs(directory, 0o700, exist_ok=True)
path = f"{directory}/{os.getpid()}.jsonl"
marks = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o600)
os.makedirs(args.checkpoint_dir)
stopped = []
signal.signal(signal.SIGTERM, lambda *_: stopped.append(True))
def samples():
    with open(os.environ["RECORDING"]) as file:
        return sum(line.startswith('{"s":') for line in file)
held, seen = [], 0
for step in range(1, args.steps + 1):
    if args.pattern == "native-leak" or step <= 30:
        held.append(b"x" * (1 << 20))
    os.write(marks, (json.dumps({"t": time.time(), "step": step, "phase": "train"}) + "\n").encode())
    while (args.pattern == "endless" or samples() <= seen) and not stopped:
        time.sleep(0.002)
    if stopped: break
    seen = samples()
os.remove(path)
"#;

/// The stand-in in a directory of the stage's.
fn stand_in(stage: &Stage) -> String {
    let program = format!("#!{}\n{STAND_IN}", python());
    let directory = stage.path("bin");
    std::fs::create_dir(&directory).unwrap();
    let path = stage.file("bin/leveloff-trainer", program);
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
    path.to_str().unwrap().to_owned()
}

/// The demo with the stand-in, recorded to `run.jsonl`, sampled often.
fn demo(stage: &Stage, arguments: &[&str]) -> Command {
    let common = ["demo", "--fast", "-i", "20ms", "-o", "run.jsonl"];
    let mut command = stage.leveloff(common.iter().chain(arguments));
    command.env("LEVELOFF_TRAINER", stand_in(stage));
    command.env("RECORDING", stage.path("run.jsonl"));
    command.env("TMPDIR", stage.directory());
    command
}

/// The rows of the table, without its head.
fn rows(ended: &Ended) -> Vec<&str> {
    let lines = ended.stdout.lines();
    let lines = lines.skip_while(|line| !line.ends_with("verdict so far"));
    lines.skip(1).take_while(|line| !line.is_empty()).collect()
}

/// Nothing that a demo made for itself is left.
#[track_caller]
fn left_only_its_recording(stage: &Stage) {
    let names = std::fs::read_dir(stage.directory()).unwrap();
    let mut names: Vec<_> = names.map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["bin", "run.jsonl"]);
}

#[test]
fn without_a_trainer_the_command_that_builds_it_is_printed() {
    let stage = Stage::new();
    // Beside the copy there is none, however this workspace was built.
    let mut command = Command::new(stage.public_leveloff());
    command.arg("demo").env("PATH", stage.directory());
    command.stderr(std::process::Stdio::piped());
    let build = "cargo build --release -p leveloff-trainer";
    ended(&mut command).refused(&[
        "the reference trainer was found neither",
        "--trainer",
        build,
    ]);
}

#[test]
fn a_trainer_that_was_named_and_is_none_is_refused() {
    let stage = Stage::new();
    stage.file("notes.txt", "");
    for name in ["nowhere", "notes.txt", "."] {
        let ended = stage.ask(&["demo", "--trainer", name]);
        ended.refused(&["there is no program", name, "LEVELOFF_TRAINER"]);
    }
    // One that is something else altogether.
    let ended = stage.ask(&["demo", "--trainer", "/bin/echo"]);
    ended.refused(&[
        "/bin/echo",
        "lists patterns in a format",
        "from the same sources",
    ]);
    let ended = stage.ask(&["demo", "--trainer", "/bin/false"]);
    ended.refused(&["/bin/false could not list its patterns"]);
}

#[test]
fn the_trainer_is_found_beside_leveloff_and_then_on_path() {
    let stage = Stage::new();
    let trainer = stand_in(&stage);
    let beside = stage.path("bin/leveloff");
    std::fs::copy(LEVELOFF, &beside).unwrap();
    for (program, path) in [
        (beside, stage.directory().to_owned()),
        (stage.public_leveloff(), stage.path("bin")),
    ] {
        let mut command = Command::new(program);
        command.args(["demo", "--list"]).env("PATH", path);
        command.stdout(std::process::Stdio::piped());
        let list = ended(command.env_remove("LEVELOFF_TRAINER")).well().stdout;
        assert!(list.contains("\nnative-leak\n"), "{trainer}: {list}");
        assert!(list.contains("truth      level since step 30\n"), "{list}");
    }
}

#[test]
fn an_unknown_pattern_is_answered_with_the_known_ones() {
    let stage = Stage::new();
    let ended = ended(&mut demo(&stage, &["stroy"]));
    let known = "\n  native-leak  is called native-leak\n";
    ended.refused(&["there is no pattern 'stroy'", known]);
    assert!(stage.recordings().is_empty());
}

#[test]
fn a_level_run_is_shown_and_its_truth_is_met() {
    let stage = Stage::new();
    let ended = ended(&mut demo(&stage, &[])).well();
    let text = &ended.stdout;
    assert!(
        text.starts_with("demo story\n  does       is called story\n"),
        "{text}"
    );
    assert!(text.contains("  training   pid "), "{text}");
    assert!(rows(&ended).len() >= 2, "{text}");
    assert!(
        text.lines().all(|line| line.chars().count() <= 80),
        "{text}"
    );
    assert!(!text.contains('\x1b'), "{text}");
    for words in [
        "\nstory   LEVEL ",
        "\n  truth      level since step 30\n",
        "\n  met        yes, since step ",
        "\n  recording  run.jsonl\n",
        "\n  next       leveloff demo native-leak\n",
        "\n             leveloff run -- python train.py\n",
    ] {
        assert!(text.contains(words), "{words:?} is not in {text}");
    }
    left_only_its_recording(&stage);
    let recording = Recording::load(&stage.path("run.jsonl"));
    assert_eq!(recording.end(), ("exited".to_owned(), Some(0)));
    assert_eq!(recording.step(), Some(100));
}

/// The final verdict is the one that `judge` prints for the recording.
#[test]
fn a_leak_is_reported_as_by_judge() {
    let stage = Stage::new();
    let arguments = ["native-leak", "--level-by", "30"];
    let ended = ended(&mut demo(&stage, &arguments)).well();
    let text = &ended.stdout;
    assert!(text.contains("\nnative-leak   LEAK ("), "{text}");
    let truth = "\n  truth      leak from the start, 1.00 MiB per step, trainer anon\n";
    assert!(text.contains(truth), "{text}");
    assert!(text.contains("\n  next       leveloff demo\n"), "{text}");
    let judged = stage.ask(&["judge", "run.jsonl"]);
    assert_eq!(judged.status.code(), Some(1), "{judged:?}");
    let (_, evidence) = judged.stdout.split_once("\n\n").unwrap();
    assert!(text.contains(evidence), "{text}\n{}", judged.stdout);
}

#[test]
fn a_verdict_that_changes_stands_out_without_colour() {
    let stage = Stage::new();
    let ended = ended(&mut demo(&stage, &["--steps", "200"])).well();
    let rows = rows(&ended);
    let mut said = None;
    for row in &rows {
        let words: String = row.chars().skip(28).collect();
        let large = words.chars().take(5).all(|c| c.is_uppercase() || c == ' ');
        assert_eq!(row.starts_with('▶'), large, "{rows:?}");
        let verdict = words.to_lowercase();
        let verdict = verdict.split(" since").next().unwrap().to_owned();
        assert_eq!(said.as_ref() != Some(&verdict), large, "{rows:?}");
        said = Some(verdict);
    }
    assert!(rows.last().unwrap().contains("since step "), "{rows:?}");
}

#[test]
fn a_truth_that_was_not_met_is_said_and_ends_with_1() {
    let stage = Stage::new();
    let ended = ended(&mut demo(&stage, &["falsehood"])).never_panicked();
    assert_eq!(ended.status.code(), Some(1), "{ended:?}");
    let words = "\n  met        no: the verdict was level ";
    assert!(ended.stdout.contains(words), "{ended:?}");
}

#[test]
fn ctrl_c_stops_the_trainer_and_the_verdict_is_still_printed() {
    let stage = Stage::new();
    let mut child = demo(&stage, &["endless"]).spawn().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    let shown = read_until(&mut stdout, "1/100");
    send(&child, Signal::INT);
    let rest = read_until(&mut stdout, "leveloff run --");
    let rest = rest.replace("\n             ", " ");
    let ended = Ended::of(child).never_panicked();
    assert_eq!(ended.status.code(), Some(1), "{ended:?}");
    assert!(
        rest.contains("; the training was too short to show it"),
        "{rest}"
    );
    let pid = shown.split_once("pid ").unwrap().1;
    let pid = pid.split_once(' ').unwrap().0;
    assert!(!std::path::Path::new("/proc").join(pid).exists(), "{shown}");
    left_only_its_recording(&stage);
    let recording = Recording::load(&stage.path("run.jsonl"));
    assert_eq!(recording.end(), ("exited".to_owned(), Some(0)));
}

/// A reader that has seen enough, such as `head`, wants no minute of training.
#[test]
fn without_a_reader_the_training_ends() {
    let stage = Stage::new();
    let mut child = demo(&stage, &["endless"]).spawn().unwrap();
    drop(child.stdout.take());
    let ended = Ended::of(child).never_panicked();
    assert_eq!(ended.status.code(), Some(1), "{ended:?}");
}

#[test]
fn a_trainer_that_fails_is_an_error_and_no_verdict() {
    let stage = Stage::new();
    let ended = ended(&mut demo(&stage, &["broken"]));
    let ended = ended.refused(&[
        "the stand-in is broken",
        "the reference trainer failed",
        "1",
    ]);
    assert!(!ended.stdout.contains("truth"), "{ended:?}");
}

#[test]
fn a_recording_that_exists_is_not_overwritten() {
    let stage = Stage::new();
    let mut command = demo(&stage, &[]);
    stage.file("run.jsonl", "mine");
    ended(&mut command).refused(&["run.jsonl exists and is not overwritten"]);
    let kept = std::fs::read_to_string(stage.path("run.jsonl")).unwrap();
    assert_eq!(kept, "mine");
    left_only_its_recording(&stage);
}

#[test]
fn on_a_terminal_it_is_the_dashboard_and_leaving_that_ends_it_and_tells() {
    let stage = Stage::new();
    let trainer = format!("LEVELOFF_TRAINER={}", stand_in(&stage));
    let recording = stage.path("run.jsonl").display().to_string();
    let recorded = format!("RECORDING={recording}");
    let temporary = format!("TMPDIR={}", stage.directory().display());
    let environment = ["env", "TERM=xterm", &trainer, &recorded, &temporary];
    let demo = [
        LEVELOFF, "demo", "--fast", "-i", "20ms", "-o", &recording, "endless",
    ];
    let mut terminal = Terminal::new(100, 30);
    let modes = terminal.modes();
    let mut child = terminal.start(&[&environment[..], &demo].concat());
    terminal.wait_for("\x1b[?1049h");
    terminal.wait_for("trainer");
    terminal.keys("q");
    terminal.wait_for("\x1b[?1049l");
    terminal.wait_for("truth");
    terminal.wait_for("run.jsonl");
    assert!(matches!(child.wait().unwrap().code(), Some(0 | 1)));
    assert_eq!(terminal.modes(), modes);
}
