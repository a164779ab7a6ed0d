//! The reader of the output of leveloff is gone.

use std::process::Stdio;

use rustix::process::Signal;

use crate::recording::{Recording, wait_for_samples};
use crate::stage::{Stage, ended, send};
use crate::terminal::Terminal;
use crate::watched_process::WatchedProcess;

/// A closed window: the terminal under the status line is no more.
#[test]
fn a_recorder_whose_terminal_closes_ends_its_recording() {
    let (stage, mut process) = (Stage::new(), WatchedProcess::new());
    let pid = process.pid().to_string();
    let path = stage.path("run.jsonl");
    let output = path.to_str().unwrap();
    let mut terminal = Terminal::new(80, 24);
    let leveloff = crate::stage::LEVELOFF;
    let command = [
        leveloff, "record", "--pid", &pid, "-o", output, "-i", "20ms",
    ];
    let mut recorder = terminal.start(&command);
    terminal.wait_for("memory ");
    drop(terminal);
    let status = recorder.wait().unwrap();
    assert_eq!(status.code(), Some(0), "{status:?}");
    assert_eq!(Recording::load(&path).end(), ("stopped".to_owned(), None));
    process.is_unharmed();
}

#[test]
fn an_unread_stderr_does_not_end_the_recording() {
    let (stage, process) = (Stage::new(), WatchedProcess::new());
    let pid = process.pid().to_string();
    let arguments = ["record", "--pid", &pid, "-o", "run.jsonl", "-i", "20ms"];
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = stage.leveloff(arguments);
    let mut recorder = command.stderr(Stdio::from(writer)).spawn().unwrap();
    let path = stage.path("run.jsonl");
    wait_for_samples(&path, 2);
    send(&recorder, Signal::TERM);
    assert_eq!(recorder.wait().unwrap().code(), Some(0));
    assert_eq!(Recording::load(&path).end().0, "stopped");
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut refused = stage.leveloff(["record", "--pid", "999999999"]);
    let refused = ended(refused.stderr(Stdio::from(writer)));
    assert_eq!(refused.status.code(), Some(2));
}
