//! `leveloff run --isolate`: a leak ends the job and nothing else, whichever way is to be had here. No
//! job in here may have more than 200 MB.

use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::process::Signal;

use crate::recording::{Recording, wait_for_samples};
use crate::stage::{
    Ended, NOBODY, Stage, cannot_run_here, ended, is_root, python, send, wait_until,
};

/// Takes a mebibyte at a time, and has an end, should nothing stop it.
pub const LEAK: &str = "import sys
held = []
try:
    for mib in range(180):
        held.append(bytearray(b'x' * (1 << 20)))
    print('not stopped', flush=True)
except MemoryError:
    print('refused at', len(held), flush=True)
    sys.exit(3)";

const WAITS: &str = "import sys; print('ready', flush=True); sys.stdin.read()";

fn isolated(stage: &Stage, size: &str, more: &[&str], program: &str) -> Command {
    let start = ["run", "--isolate", size, "-o", "run.jsonl", "-i", "20ms"];
    let end = ["--", python(), "-c", program];
    stage.leveloff(start.iter().chain(more).chain(&end))
}

/// The line about the isolation.
#[track_caller]
fn isolation(ended: &Ended) -> &str {
    let said = ended.said();
    let line = said.iter().find(|line| line.starts_with("isolated"));
    line.unwrap_or_else(|| panic!("{ended:?}"))
}

/// Whether control groups can be had; said, if not.
fn has_group(ended: &Ended) -> bool {
    let line = isolation(ended);
    let is_group = line.starts_with("isolated in ");
    if !is_group {
        cannot_run_here(line);
    }
    is_group
}

/// The control group that this process is in, version 1 or 2.
pub fn own_group() -> Option<PathBuf> {
    let text = std::fs::read_to_string("/proc/self/cgroup").unwrap();
    let path = |line: &str| line.splitn(3, ':').nth(2).unwrap().to_owned();
    let v1 = text.lines().find(|line| line.contains(":memory:"));
    let (root, line) = match v1 {
        Some(line) => ("/sys/fs/cgroup/memory", line),
        None => (
            "/sys/fs/cgroup",
            text.lines().find(|line| line.starts_with("0::"))?,
        ),
    };
    let group = PathBuf::from(format!("{root}{}", path(line)));
    group.is_dir().then_some(group)
}

/// The groups that leveloff made in ours or beside it, for this process.
fn groups_of(pid: u32) -> Vec<PathBuf> {
    let own = own_group().unwrap();
    let prefix = format!("leveloff-{pid}-");
    own.ancestors()
        .filter_map(|directory| std::fs::read_dir(directory).ok())
        .flatten()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            path.file_name()
                .unwrap()
                .to_string_lossy()
                .starts_with(&prefix)
        })
        .collect()
}

#[test]
fn a_leak_is_ended_by_the_kernel_and_said_to_be() {
    let stage = Stage::new();
    let child = isolated(&stage, "100MiB", &[], LEAK).spawn().unwrap();
    let pid = child.id();
    let ended = Ended::of(child).never_panicked();
    if !has_group(&ended) {
        return;
    }
    assert_eq!(ended.status.signal(), Some(9), "{ended:?}");
    assert!(isolation(&ended).contains("at 100 MiB"), "{ended:?}");
    let said = ended.said();
    let killer = said
        .iter()
        .find(|line| line.starts_with("the kernel's OOM killer ended"))
        .unwrap_or_else(|| panic!("{ended:?}"));
    assert!(
        killer.contains("--isolate (100 MiB) was reached"),
        "{killer}"
    );
    assert!(
        killer.contains("next time: leveloff run --limit"),
        "{killer}"
    );
    if is_root() && std::fs::File::open("/dev/kmsg").is_ok() {
        assert!(killer.contains("ended process "), "{killer}");
    } else {
        cannot_run_here("the kernel's log, which names the process, is not readable");
    }
    let recording = Recording::load(&stage.path("run.jsonl"));
    assert_eq!(recording.end(), ("signalled".to_owned(), Some(9)));
    assert_eq!(
        groups_of(pid),
        Vec::<PathBuf>::new(),
        "the group is removed"
    );
}

/// A shell makes 137 of it, and nothing is left of the reason.
#[test]
fn an_oom_kill_of_a_worker_is_reported_beside_the_exit_code() {
    let stage = Stage::new();
    let program = format!(
        "import subprocess, sys\nsys.exit(128 - subprocess.run([sys.executable, '-c', {LEAK:?}]).returncode)"
    );
    let ended = ended(&mut isolated(&stage, "100MiB", &[], &program));
    if has_group(&ended) {
        let notice = "the kernel's OOM killer ended";
        assert!(ended.stderr.contains(notice), "{ended:?}");
        // In version 2 the job ends as one.
        let ends = (ended.status.code(), ended.status.signal());
        assert!(matches!(ends, (Some(137), _) | (_, Some(9))), "{ended:?}");
    }
}

#[test]
fn a_job_that_fits_is_not_disturbed() {
    let stage = Stage::new();
    let ended = ended(&mut isolated(&stage, "190MB", &[], "print('fine')")).well();
    assert_eq!(ended.stdout, "fine\n");
    assert!(!ended.stderr.contains("OOM killer"), "{ended:?}");
    let line = isolation(&ended);
    assert!(line.contains("181 MiB"), "{line}");
}

#[test]
fn without_a_size_it_is_less_than_there_is() {
    let stage = Stage::new();
    let arguments = ["run", "--isolate", "-o", "run.jsonl", "--", "true"];
    let ended = stage.ask(&arguments).well();
    assert!(isolation(&ended).contains("iB"), "{ended:?}");
}

#[test]
fn a_command_that_is_not_found_is_reported_as_without_isolation() {
    let stage = Stage::new();
    stage.file("not-executable", "#!/bin/sh\n");
    for command in ["no-such-command-anywhere", "./not-executable"] {
        let plain = stage.ask(&["run", "--", command]);
        let isolated = stage.ask(&["run", "--isolate", "100MiB", "--", command]);
        assert_eq!(isolated.status.code(), Some(2));
        assert_eq!(isolated.stderr, plain.stderr);
    }
    assert!(stage.recordings().is_empty());
}

#[test]
fn sizes_that_make_no_sense_are_refused_before_anything_starts() {
    let stage = Stage::new();
    for (size, words) in [
        ("28", &["no unit", "28GiB"][..]),
        ("0%", &["0%"]),
        ("101%", &["101%"]),
        ("100%", &["would protect nothing", "--isolate 90%"]),
        (
            "900TiB",
            &["would protect nothing", "no size for what is free"],
        ),
        ("1MiB", &["too little", "16 MiB"]),
        ("lots", &["not a size"]),
    ] {
        let arguments = ["run", "--isolate", size, "--", "touch", "started"];
        stage.ask(&arguments).refused(words);
    }
    assert!(stage.recordings().is_empty() && !stage.path("started").exists());
}

#[test]
fn without_permission_for_a_group_each_process_gets_a_limit() {
    if !is_root() {
        // Then the other tests have seen it.
        return cannot_run_here("only root can become the user nobody");
    }
    let stage = Stage::new();
    stage.set_mode(0o777);
    let leak = ["--", "python3", "-c", LEAK];
    let start = [
        "run",
        "--isolate",
        "100MiB",
        "-o",
        "run.jsonl",
        "-i",
        "20ms",
    ];
    let arguments: Vec<&str> = start.iter().chain(&leak).copied().collect();
    let mut command = stage.leveloff_as_nobody(&arguments);
    stage.set_mode(0o777);
    let ended = ended(&mut command);
    assert_eq!(ended.status.code(), Some(3), "{ended:?}");
    assert!(ended.stdout.starts_with("refused at "), "{ended:?}");
    let line = isolation(&ended);
    assert!(line.starts_with("isolated only by RLIMIT_DATA"), "{line}");
    assert!(
        line.contains("each process") && line.contains("100 MiB"),
        "{line}"
    );
    assert!(!ended.stderr.contains("OOM killer"), "{ended:?}");
}

#[test]
fn a_limit_that_was_there_before_is_not_loosened() {
    if !is_root() {
        return cannot_run_here("only root can become the user nobody");
    }
    let stage = Stage::new();
    let leveloff = stage.public_leveloff();
    stage.set_mode(0o777);
    // In KiB: 90 MiB, and at most 95.
    let limited = "ulimit -S -d 92160 && ulimit -H -d 97280 && exec \"$@\"";
    let limits = "import resource; print(resource.getrlimit(resource.RLIMIT_DATA))";
    let mut command = Command::new("sh");
    command.args(["-c", limited, "sh"]).arg(leveloff);
    command.args(["run", "--isolate", "150MiB", "-o", "run.jsonl", "--"]);
    command.args(["python3", "-c", limits]);
    command.current_dir(stage.directory()).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let ended = ended(command.gid(NOBODY).uid(NOBODY)).well();
    assert_eq!(ended.stdout, "(94371840, 99614720)\n", "{ended:?}");
}

#[test]
fn a_killed_leveloff_leaves_the_job_alone_and_the_next_one_tidies_up() {
    let stage = Stage::new();
    let mut child = isolated(&stage, "150MiB", &[], WAITS)
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    crate::stage::read_until(child.stdout.as_mut().unwrap(), "ready");
    wait_for_samples(&stage.path("run.jsonl"), 2);
    let groups = groups_of(child.id());
    let Some(group) = groups.first() else {
        drop(child.stdin.take());
        has_group(&Ended::of(child));
        return;
    };
    let inside = || std::fs::read_to_string(group.join("cgroup.procs")).unwrap();
    let job = inside();
    assert_eq!(
        job.lines().count(),
        1,
        "the command, and no process of leveloff"
    );
    send(&child, Signal::KILL);
    let orders = child.stdin.take();
    assert_eq!(child.wait().unwrap().signal(), Some(9));
    assert_eq!(inside(), job, "it goes on");
    drop(orders);
    wait_until("the end of the job", || inside().is_empty());
    assert!(group.exists());
    stage
        .ask(&["run", "--isolate", "150MiB", "-o", "2.jsonl", "--", "true"])
        .well();
    assert!(!Path::new(group).exists(), "the next one removed it");
}

#[test]
fn a_job_that_leaves_a_process_behind_keeps_its_group() {
    let stage = Stage::new();
    let program = "import subprocess, sys
rest = subprocess.Popen(['sleep', '600'], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                        stderr=subprocess.DEVNULL, start_new_session=True)
print(rest.pid)";
    let child = isolated(&stage, "150MiB", &[], program).spawn().unwrap();
    let pid = child.id();
    let ended = Ended::of(child).well();
    let rest: i32 = ended.stdout.trim().parse().unwrap();
    let groups = groups_of(pid);
    let rest = rustix::process::Pid::from_raw(rest).unwrap();
    rustix::process::kill_process(rest, Signal::KILL).unwrap();
    if !has_group(&ended) {
        return;
    }
    assert!(
        ended
            .stderr
            .contains("processes of the job are still in it"),
        "{ended:?}"
    );
    let group = groups.first().unwrap();
    wait_until("an empty group", || std::fs::remove_dir(group).is_ok());
}
