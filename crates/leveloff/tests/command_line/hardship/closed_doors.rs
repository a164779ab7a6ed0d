//! Other users' processes, and a /proc that hides them.

use std::process::Command;

use rustix::process::Signal;

use crate::recording::Recording;
use crate::stage::{Ended, NOBODY, Stage, cannot_run_here, is_root, send, wait_until};
use crate::watched_process::WatchedProcess;

#[test]
fn what_may_not_be_read_is_a_gap() {
    if !is_root() {
        return cannot_run_here("only root can start leveloff as another user");
    }
    let (stage, mut process) = (Stage::new(), WatchedProcess::new());
    let pid = process.pid().to_string();
    let arguments = ["record", "--pid", &pid, "-o", "run.jsonl", "-i", "20ms"];
    let mut command = stage.leveloff_as_nobody(&arguments);
    stage.set_mode(0o777);
    let recorder = command.spawn().unwrap();
    let path = stage.path("run.jsonl");
    let gap = |subject: &str| {
        let recording = Recording::so_far(&path);
        let gaps = recording.of("gap");
        let gap = gaps.into_iter().find(|gap| gap["of"] == subject);
        gap.map(|gap| gap["text"].as_str().unwrap().to_owned())
    };
    let subjects = ["pss", "software"];
    wait_until("gaps", || {
        subjects.iter().all(|subject| gap(subject).is_some())
    });
    send(&recorder, Signal::INT);
    let ended = Ended::of(recorder).well();
    process.is_unharmed();
    for subject in subjects {
        let gap = gap(subject).unwrap();
        assert!(gap.contains(&pid) && gap.contains("denied"), "{gap}");
        assert!(gap.contains("as the same user or as root"), "{gap}");
    }
    assert!(Recording::load(&path).of("software").is_empty());
    assert!(ended.stderr.contains("not all was measured"), "{ended:?}");
    // What may be read is recorded: RSS, and a share estimated from it.
    let sheet = crate::sheet::Sheet::of(&stage, &path, "process");
    assert!(sheet.numbers("rss_bytes").iter().all(|&rss| rss > 0));
    assert!(sheet.column("pss_bytes").iter().all(|pss| pss.is_empty()));
}

/// Mounts /proc again so that it hides others' processes, and becomes the user nobody.
const BEHIND_HIDEPID: &str = "mount -t proc -o hidepid=$1 proc /proc || exit 99
shift
exec setpriv --reuid $1 --regid $1 --clear-groups \"$2\" \"${@:3}\"";

/// leveloff as the user nobody, where /proc hides other users' processes.
fn hidden(stage: &Stage, level: &str, arguments: &[&str]) -> Option<Ended> {
    let nobody = NOBODY.to_string();
    let output = Command::new("unshare")
        .args(["-m", "bash", "-c", BEHIND_HIDEPID, "bash", level, &nobody])
        .arg(stage.public_leveloff())
        .args(arguments)
        .current_dir(stage.directory())
        .output();
    let cannot = || cannot_run_here("hiding processes takes root, unshare, bash and setpriv");
    match output {
        Ok(output) if ![99, 126, 127].contains(&output.status.code().unwrap_or(127)) => {
            Some(Ended {
                status: output.status,
                stdout: String::from_utf8_lossy(&output.stdout).into(),
                stderr: String::from_utf8_lossy(&output.stderr).into(),
            })
        }
        _ => {
            cannot();
            None
        }
    }
}

#[test]
fn a_hidden_process_is_refused_with_the_reason() {
    let process = WatchedProcess::new();
    let pid = process.pid().to_string();
    for level in ["1", "2"] {
        let stage = Stage::new();
        stage.public_leveloff();
        stage.set_mode(0o777);
        let recording = ["record", "--pid", &pid, "-o", "run.jsonl"];
        let Some(ended) = hidden(&stage, level, &recording) else {
            return;
        };
        ended.refused(&[&format!("process {pid}"), "as its owner or as root"]);
        let gone = ["record", "--pid", "999999999", "-o", "run.jsonl"];
        let ended = hidden(&stage, level, &gone).unwrap();
        ended.refused(&["there is no process 999999999"]);
        let found = hidden(&stage, level, &["record", "-o", "run.jsonl"]).unwrap();
        found.refused(&["no training run found", "not seen", "sudo"]);
        assert!(!stage.path("run.jsonl").exists());
    }
}

#[test]
fn ones_own_processes_are_watched_all_the_same() {
    for level in ["1", "2"] {
        let stage = Stage::new();
        stage.public_leveloff();
        stage.set_mode(0o777);
        let arguments = ["run", "-o", "run.jsonl", "--", "sh", "-c", "exit 3"];
        let Some(ended) = hidden(&stage, level, &arguments) else {
            return;
        };
        assert_eq!(ended.status.code(), Some(3), "{ended:?}");
        let recording = Recording::load(&stage.path("run.jsonl"));
        assert_eq!(recording.end(), ("exited".to_owned(), Some(3)));
        let system = [
            "record",
            "--system",
            "--duration",
            "100ms",
            "-o",
            "all.jsonl",
        ];
        hidden(&stage, level, &system).unwrap().well();
    }
}
