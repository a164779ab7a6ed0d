//! What leveloff reports after a kill by the kernel's OOM killer, in a small control group with a limit
//! that leveloff did not set. No process in here may have more than 200 MB.

use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::isolate::{LEAK, own_group};
use crate::recording::wait_for_samples;
use crate::stage::{
    Ended, LEVELOFF, NOBODY, Stage, cannot_run_here, ended, is_root, python, read_until,
};

const LIMIT: u64 = 150 << 20;

/// A control group inside of our own, with a limit; removed in the end.
struct LimitedGroup(PathBuf);

impl LimitedGroup {
    /// `None`, and said, where we may not make one.
    fn make(name: &str) -> Option<LimitedGroup> {
        let own = own_group().filter(|own| own.join("memory.limit_in_bytes").exists());
        let made = own.and_then(|own| {
            let path = own.join(format!("test-{name}-{}", std::process::id()));
            std::fs::create_dir(&path).ok()?;
            let group = LimitedGroup(path);
            std::fs::write(group.0.join("memory.limit_in_bytes"), LIMIT.to_string()).ok()?;
            Some(group)
        });
        if made.is_none() {
            cannot_run_here("no control group of version 1 may be made");
        }
        made
    }

    /// A command that starts in it, as this user.
    fn command(&self, stage: &Stage, user: u32, command: &[&str]) -> Command {
        let enter = "import os, sys
with open(sys.argv[1] + '/cgroup.procs', 'w') as procs: procs.write('0')
user = int(sys.argv[2])
os.setgid(user), os.setuid(user)
os.execvp(sys.argv[3], sys.argv[3:])";
        let mut words = Command::new(python());
        words.args(["-c", enter]).arg(&self.0);
        words.arg(user.to_string()).args(command);
        words.current_dir(stage.directory()).stdin(Stdio::null());
        words.stdout(Stdio::piped()).stderr(Stdio::piped());
        words
    }
}

impl Drop for LimitedGroup {
    fn drop(&mut self) {
        crate::stage::wait_until("an empty group", || std::fs::remove_dir(&self.0).is_ok());
    }
}

#[track_caller]
fn killer(ended: &Ended) -> &str {
    let said = ended.said();
    let line = said.iter().find(|line| line.contains("OOM killer"));
    line.unwrap_or_else(|| panic!("{ended:?}"))
}

#[track_caller]
fn has(line: &str, words: &[&str]) {
    for word in words {
        assert!(line.contains(word), "{word:?} is not in {line:?}");
    }
}

const RUN: [&str; 6] = ["run", "-o", "run.jsonl", "-i", "20ms", "--"];

#[test]
fn the_process_and_the_limit_of_its_group_are_named() {
    let stage = Stage::new();
    let Some(group) = LimitedGroup::make("named") else {
        return;
    };
    if std::fs::File::open("/dev/kmsg").is_err() {
        return cannot_run_here("the kernel's log is not readable");
    }
    let leak = [python(), "-c", LEAK];
    let words: Vec<&str> = [LEVELOFF]
        .iter()
        .chain(&RUN)
        .chain(&leak)
        .copied()
        .collect();
    let ended = ended(&mut group.command(&stage, 0, &words)).never_panicked();
    assert_eq!(ended.status.signal(), Some(9), "{ended:?}");
    let expected = "its control group's limit of 150 MiB was reached";
    has(
        killer(&ended),
        &["killer ended process ", "(python", expected],
    );
    assert!(ended.stderr.contains("was ended by signal 9"), "{ended:?}");
}

/// Without access to the kernel's log, the kill counter of the group is the evidence.
#[test]
fn without_the_log_the_count_of_the_group_decides() {
    if !is_root() {
        return cannot_run_here("only root can become the user nobody");
    }
    let stage = Stage::new();
    let Some(group) = LimitedGroup::make("counted") else {
        return;
    };
    let leveloff = stage.public_leveloff();
    stage.set_mode(0o777);
    let start = [leveloff.to_str().unwrap()];
    let leak = ["python3", "-c", LEAK];
    let words: Vec<&str> = start.iter().chain(&RUN).chain(&leak).copied().collect();
    let ended = ended(&mut group.command(&stage, NOBODY, &words)).never_panicked();
    assert_eq!(ended.status.signal(), Some(9), "{ended:?}");
    let line = killer(&ended);
    if line.contains("ended process ") {
        return cannot_run_here("every user may read the kernel's log");
    }
    has(
        line,
        &["killer ended a process of this run", "limited to 150 MiB"],
    );
}

#[test]
fn the_end_of_a_recorded_run_is_explained_as_well() {
    let stage = Stage::new();
    let Some(group) = LimitedGroup::make("recorded") else {
        return;
    };
    let program = format!("import sys; print('ready', flush=True); sys.stdin.readline()\n{LEAK}");
    let mut job = group.command(&stage, 0, &[python(), "-c", &program]);
    let mut job = job.stdin(Stdio::piped()).spawn().unwrap();
    read_until(job.stdout.as_mut().unwrap(), "ready");
    let pid = job.id().to_string();
    let record = ["record", "--pid", &pid, "-o", "run.jsonl", "-i", "20ms"];
    let recorder = stage.leveloff(record).spawn().unwrap();
    wait_for_samples(&stage.path("run.jsonl"), 2);
    job.stdin.as_mut().unwrap().write_all(b"go\n").unwrap();
    assert_eq!(job.wait().unwrap().signal(), Some(9));
    let ended = Ended::of(recorder).well();
    has(killer(&ended), &["ended ", "150 MiB", "next time: "]);
}

#[test]
fn an_ordinary_end_by_signal_9_is_not_blamed_on_the_kernel() {
    let stage = Stage::new();
    let suicide = [python(), "-c", "import os; os.kill(os.getpid(), 9)"];
    let ended = ended(&mut stage.leveloff(RUN.iter().chain(&suicide)));
    assert_eq!(ended.status.signal(), Some(9), "{ended:?}");
    // Without the log, a kill of another test would make it likely.
    let is_clear = std::fs::File::open("/dev/kmsg").is_ok();
    let named = if is_clear {
        "OOM killer"
    } else {
        "killer ended"
    };
    assert!(!ended.stderr.contains(named), "{ended:?}");
}
