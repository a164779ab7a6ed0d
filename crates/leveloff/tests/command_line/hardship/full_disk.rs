//! The disk that the recording is on runs full. The command must not notice.

use std::path::PathBuf;
use std::process::{Child, ChildStderr, Command, Stdio};

use crate::recording::{Recording, wait_for_samples};
use crate::sheet::Sheet;
use crate::stage::{Ended, LEVELOFF, Stage, cannot_run_here, is_root, python, read_until};

/// Mounts a small disk in a mount namespace of its own, and fills it but for a little. What was recorded
/// there is kept, since the disk goes away with its last user.
const ON_A_SMALL_DISK: &str = "mkdir disk
mount -t tmpfs -o size=64k tmpfs disk || exit 99
head -c $1 /dev/zero > disk/filler 2> /dev/null
shift
\"$@\"
code=$?
ls disk
cp disk/run.jsonl kept.jsonl 2> /dev/null
exit $code";

/// Room for the header and some dozen samples.
const ALMOST_FULL: &str = "57344";

/// More than the disk holds.
const FULL: &str = "70000";

/// Waits for the end of its input, and then exits with a code of its own.
const COMMAND: &str = "import sys; sys.stdin.read(); print('all done'); sys.exit(5)";

fn can_run_here() -> bool {
    let mount = "mount -t tmpfs -o size=64k tmpfs /tmp";
    let mut trial = Command::new("unshare");
    let trial = trial.args(["-m", "sh", "-c", mount]).output();
    let can = is_root() && trial.is_ok_and(|output| output.status.success());
    if !can {
        cannot_run_here("mounting a small disk takes root and unshare");
    }
    can
}

/// `leveloff run` on the small disk.
fn start(stage: &Stage, filled: &str, command: &[&str]) -> Child {
    let leveloff = [LEVELOFF, "run", "-o", "disk/run.jsonl", "-i", "10ms", "--"];
    let mut small_disk = Command::new("unshare");
    small_disk.args(["-m", "sh", "-c", ON_A_SMALL_DISK, "sh", filled]);
    spawn(stage, small_disk.args(leveloff).args(command))
}

fn spawn(stage: &Stage, command: &mut Command) -> Child {
    command
        .current_dir(stage.directory())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// A file on the small disk, seen from outside.
fn on_disk(stage: &Stage, child: &Child, name: &str) -> PathBuf {
    let inside = stage.directory().strip_prefix("/").unwrap();
    let root = PathBuf::from(format!("/proc/{}/root", child.id()));
    root.join(inside).join("disk").join(name)
}

/// All that is said up to `text`, and then the rest.
fn end(mut child: Child, mut stderr: ChildStderr, mut said: String) -> Ended {
    drop(child.stdin.take());
    std::io::Read::read_to_string(&mut stderr, &mut said).unwrap();
    Ended {
        stderr: said,
        ..Ended::of(child)
    }
}

#[test]
fn the_recording_goes_on_when_there_is_room_again() {
    if !can_run_here() {
        return;
    }
    let stage = Stage::new();
    let mut child = start(&stage, ALMOST_FULL, &[python(), "-c", COMMAND]);
    let mut stderr = child.stderr.take().unwrap();
    let mut said = read_until(&mut stderr, "cannot write disk/run.jsonl");
    std::fs::remove_file(on_disk(&stage, &child, "filler")).unwrap();
    said += &read_until(&mut stderr, "recording again");
    wait_for_samples(&on_disk(&stage, &child, "run.jsonl"), 3);
    let ended = end(child, stderr, said).never_panicked();

    assert_eq!(ended.status.code(), Some(5), "{ended:?}");
    assert!(ended.stdout.contains("all done"));
    let times = |words: &str| ended.stderr.matches(words).count();
    assert_eq!(times("cannot write"), 1, "{ended:?}");
    assert_eq!(times("No space left"), 1, "{ended:?}");
    assert_eq!(times("the run goes on"), 1, "{ended:?}");
    assert_eq!(times("recording again"), 1, "{ended:?}");

    let kept = stage.path("kept.jsonl");
    let (recording, tears) = Recording::load_with_tears(&kept);
    assert!(tears <= 1, "{tears} torn lines");
    assert_eq!(recording.end(), ("exited".to_owned(), Some(5)));
    // The first sample behind the hole says everything again, and who is still there.
    let samples = recording.of("s");
    let again = samples.iter().find(|s| s["alive"].is_array()).unwrap();
    let at = format!("{:.3}", again["t"].as_f64().unwrap());
    let sheet = Sheet::of(&stage, &kept, "process");
    let rows = sheet
        .column("t_s")
        .into_iter()
        .zip(sheet.numbers("rss_bytes"));
    let then: Vec<u64> = rows.filter(|(t, _)| *t == at).map(|(_, rss)| rss).collect();
    assert!(matches!(then[..], [rss] if rss > 0), "{then:?}");
}

#[test]
fn a_disk_that_stays_full_does_not_stop_the_command() {
    if !can_run_here() {
        return;
    }
    let stage = Stage::new();
    let mut child = start(&stage, ALMOST_FULL, &[python(), "-c", COMMAND]);
    let mut stderr = child.stderr.take().unwrap();
    let said = read_until(&mut stderr, "cannot write disk/run.jsonl");
    let ended = end(child, stderr, said).never_panicked();
    assert_eq!(ended.status.code(), Some(5), "{ended:?}");
    assert!(ended.stdout.contains("all done"));
    assert_eq!(ended.stderr.matches("cannot write").count(), 1, "{ended:?}");
    // At the end the user learns that the recording is not whole.
    assert!(ended.stderr.contains("could not be written"), "{ended:?}");
    let sheet = Sheet::of(&stage, &stage.path("kept.jsonl"), "tree");
    assert!(!sheet.rows.is_empty());
}

/// Past `ulimit -f` the kernel ends a process that writes on, unless it ignores SIGXFSZ.
#[test]
fn a_limit_on_file_sizes_is_a_full_disk() {
    let stage = Stage::new();
    let limited = "ulimit -f 8; exec \"$@\"";
    let mut command = Command::new("sh");
    command.args(["-c", limited, "sh", LEVELOFF, "run", "-o", "run.jsonl"]);
    command.args(["-i", "10ms", "--", python(), "-c", COMMAND]);
    let mut child = spawn(&stage, &mut command);
    let mut stderr = child.stderr.take().unwrap();
    let said = read_until(&mut stderr, "cannot write run.jsonl: File too large");
    let ended = end(child, stderr, said).never_panicked();
    assert_eq!(ended.status.code(), Some(5), "{ended:?}");
    assert!(ended.stderr.contains("could not be written"), "{ended:?}");
    Sheet::of(&stage, &stage.path("run.jsonl"), "tree");
}

#[test]
fn a_disk_that_is_already_full_does_not_end_a_run() {
    if !can_run_here() {
        return;
    }
    let stage = Stage::new();
    let mut child = start(&stage, FULL, &["touch", "started"]);
    let stderr = child.stderr.take().unwrap();
    let ended = end(child, stderr, String::new());
    let ended = ended.refused(&["disk/run.jsonl", "No space left", "-o"]);
    assert_eq!(ended.stdout, "filler\n", "an empty recording stayed behind");
    assert!(!stage.path("started").exists());
}
