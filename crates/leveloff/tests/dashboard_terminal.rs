//! The dashboard on a real terminal: what the keys do, and that the terminal is left as it was found,
//! whatever happens.

#![allow(clippy::unwrap_used)] // Helpers of tests count as tests.

#[path = "dashboard_support/story.rs"]
mod story;
#[path = "launch_support/terminal.rs"]
mod terminal;

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Child;

use leveloff_model::recording::RecordingWriter;
use rustix::process::Signal;
use terminal::{LEVELOFF, Terminal, quoted};

/// What a terminal gets when the screen is left: no mouse, a cursor, its own text.
const CLEAN: [&str; 3] = ["\x1b[?1000l", "\x1b[?25h", "\x1b[?1049l"];

/// A dashboard on a terminal of 100 × 30.
struct Session {
    terminal: Terminal,
    modes: String,
    child: Child,
    directory: tempfile::TempDir,
}

/// A directory with the story of 200 steps in it.
fn stage() -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let recording = directory.path().join("story.jsonl");
    story::write(&recording, 200);
    (directory, recording)
}

impl Session {
    fn start(directory: tempfile::TempDir, arguments: &[&str]) -> Session {
        let mut terminal = Terminal::new(100, 30);
        let modes = terminal.modes();
        let mut command = vec!["env", "TERM=xterm-256color", "LC_ALL=C.UTF-8", LEVELOFF];
        command.extend(arguments);
        let child = terminal.start(&command);
        terminal.wait_for("\x1b[?1049h");
        Session {
            terminal,
            modes,
            child,
            directory,
        }
    }

    /// A paused replay of the story at its end.
    fn replay() -> Session {
        let (directory, recording) = stage();
        let mut session = Session::start(directory, &["replay", recording.to_str().unwrap()]);
        session.terminal.keys("G");
        session.terminal.wait_for("LEVEL");
        session
    }

    fn signal(&self, signal: Signal) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, signal).unwrap();
    }

    /// The screen was left and the terminal is as it was; then came these words, and the end.
    #[track_caller]
    fn ends(mut self, words: &[&str]) {
        for sequence in CLEAN {
            self.terminal.wait_for(sequence);
        }
        for word in words {
            self.terminal.wait_for(word);
        }
        assert_eq!(self.child.wait().unwrap().code(), Some(0));
        assert_eq!(self.terminal.modes(), self.modes);
    }
}

#[test]
fn q_leaves_a_clean_terminal_the_verdict_and_where_the_recording_is() {
    let session = Session::replay();
    session.terminal.keys("q");
    session.ends(&["leveloff: LEVEL since step", "story.jsonl"]);
}

#[test]
fn ctrl_c_leaves_as_q_does() {
    let session = Session::replay();
    session.terminal.keys("\x03");
    session.ends(&["leveloff: LEVEL since step"]);
}

#[test]
fn signals_that_ask_to_stop_leave_a_clean_terminal() {
    for signal in [Signal::TERM, Signal::HUP, Signal::INT, Signal::QUIT] {
        let session = Session::replay();
        session.signal(signal);
        session.ends(&["leveloff: LEVEL since step"]);
    }
}

#[test]
fn a_terminal_that_is_gone_ends_it() {
    let mut session = Session::replay();
    drop(session.terminal);
    // Whatever its code is, it must not go on.
    session.child.wait().unwrap();
}

#[test]
fn keys_and_sizes_are_followed() {
    let mut session = Session::replay();
    session.terminal.keys("p");
    session.terminal.keys("g40\r");
    session.terminal.wait_for("PAUSED");
    session.terminal.wait_for("WARMING UP");
    session.terminal.keys("?");
    session.terminal.wait_for("PAGES");
    session.terminal.keys("\x1b");
    session.terminal.wait_for("trainer");
    session.terminal.resize(40, 10);
    session.terminal.wait_for("60×16");
    session.terminal.resize(120, 40);
    session.terminal.wait_for("trainer");
    // Words that are drawn over others come in pieces, where they have letters in common.
    session.terminal.keys("e");
    let table = session.directory.path().join("story.csv");
    while !std::fs::read_to_string(&table).is_ok_and(|text| text.lines().count() == 201) {
        std::thread::yield_now();
    }
    session.terminal.keys("r");
    let page = session.directory.path().join("story.html");
    while !std::fs::read_to_string(&page).is_ok_and(|text| text.ends_with("</html>\n")) {
        std::thread::yield_now();
    }
    session.terminal.keys("q");
    session.ends(&["WARMING UP", "as of 40"]);
}

#[test]
fn ctrl_z_gives_the_terminal_back_and_fg_draws_again() {
    let (_directory, recording) = stage();
    let mut terminal = Terminal::new(100, 30);
    let mut shell = terminal.start_shell();
    let modes = terminal.modes();
    let path = quoted(recording.to_str().unwrap());
    terminal.keys(&format!(
        "TERM=xterm LC_ALL=C.UTF-8 {LEVELOFF} replay {path}\r"
    ));
    terminal.wait_for("\x1b[?1049h");
    terminal.keys("G");
    terminal.wait_for("LEVEL");
    for keys in ["\x1a", "kill"] {
        if keys == "kill" {
            // A stop signal of another process has the same effect.
            signal_group_member(&recording, Signal::TSTP);
        } else {
            terminal.keys(keys);
        }
        for sequence in CLEAN {
            terminal.wait_for(sequence);
        }
        terminal.wait_for("ready> ");
        terminal.wait_for_modes(&modes);
        terminal.keys("fg\r");
        terminal.wait_for("\x1b[?1049h");
        terminal.wait_for("LEVEL");
    }
    terminal.keys("\x1a");
    terminal.wait_for("ready> ");
    // In the background there is no screen; a signal still ends it.
    terminal.keys("kill %1; kill -CONT %1\r");
    terminal.wait_for("leveloff: LEVEL since");
    terminal.keys("\rexit\rexit\r");
    assert!(shell.wait().is_ok());
}

/// Signals the process that has this file on its command line.
fn signal_group_member(file: &Path, signal: Signal) {
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let command = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let words: Vec<&[u8]> = command.split(|&byte| byte == 0).collect();
        if words.first() == Some(&LEVELOFF.as_bytes())
            && words.contains(&file.as_os_str().as_encoded_bytes())
        {
            let pid = entry.file_name().to_str().unwrap().parse().unwrap();
            let pid = rustix::process::Pid::from_raw(pid).unwrap();
            rustix::process::kill_process(pid, signal).unwrap();
        }
    }
}

/// Not a test: what `a_panic_…` starts on a terminal of its own.
#[test]
#[ignore = "is started by another test"]
fn the_one_that_panics() {
    let screen = leveloff_dashboard::terminal::Screen::enter().unwrap();
    if std::env::var_os("IN_ANOTHER_THREAD").is_some() {
        let other = std::thread::spawn(|| panic!("elsewhere"));
        assert!(other.join().is_err());
        drop(screen);
        println!("went on");
    } else {
        panic!("on purpose");
    }
}

fn start_the_one_that_panics(terminal: &Terminal, environment: &str) -> Child {
    let own = std::env::current_exe().unwrap();
    terminal.start(&[
        "env",
        environment,
        own.to_str().unwrap(),
        "--ignored",
        "--exact",
        "the_one_that_panics",
        "--nocapture",
    ])
}

#[test]
fn a_panic_is_reported_on_a_clean_terminal() {
    let mut terminal = Terminal::new(80, 24);
    let modes = terminal.modes();
    let mut child = start_the_one_that_panics(&terminal, "A=B");
    terminal.wait_for("\x1b[?1049h");
    terminal.wait_for("\x1b[?1049l");
    terminal.wait_for("on purpose");
    assert!(!child.wait().unwrap().success());
    assert_eq!(terminal.modes(), modes);
}

#[test]
fn a_panic_of_another_thread_waits_until_the_screen_is_left() {
    let mut terminal = Terminal::new(80, 24);
    let mut child = start_the_one_that_panics(&terminal, "IN_ANOTHER_THREAD=1");
    terminal.wait_for("\x1b[?1049h");
    let shown = terminal.wait_for("\x1b[?1049l");
    assert!(!shown.contains("elsewhere"), "{shown}");
    terminal.wait_for("elsewhere");
    terminal.wait_for("went on");
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_recording_is_followed_while_it_grows_and_a_torn_line_waits() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("growing.jsonl");
    let mut whole = Vec::new();
    let mut writer = RecordingWriter::new(&mut whole, &story::header()).unwrap();
    for step in 0..150 {
        writer.write_tick(&story::tick(step)).unwrap();
    }
    drop(writer);
    let lines: Vec<&[u8]> = whole.split_inclusive(|&byte| byte == b'\n').collect();
    let mut file = File::create(&path).unwrap();
    let (begin, rest) = lines.split_at(40);
    let (torn, rest) = rest.split_first().unwrap();
    file.write_all(&begin.concat()).unwrap();
    file.write_all(&torn[..torn.len() / 2]).unwrap();
    let mut session = Session::start(directory, &["watch", path.to_str().unwrap()]);
    session.terminal.wait_for("step 37");
    file.write_all(&torn[torn.len() / 2..]).unwrap();
    session.terminal.wait_for("8");
    file.write_all(&rest.concat()).unwrap();
    session.terminal.wait_for("LEVEL");
    file.write_all(b"{\"end\":{\"t\":149.0,\"reason\":\"exited\",\"code\":0}}\n")
        .unwrap();
    session.terminal.wait_for("ENDED");
    session.terminal.keys("q");
    session.ends(&["leveloff: LEVEL since step", "growing.jsonl"]);
}

/// Prints a step whenever it is allowed to.
const STEPS: &str = "import sys
for step in range(1, 4):
    print('step', step, flush=True)
open(sys.argv[1], 'w').close()
import time
while True: time.sleep(1)";

fn run_watch(directory: &tempfile::TempDir) -> (Vec<String>, PathBuf) {
    let ready = directory.path().join("ready");
    let recording = directory.path().join("run.jsonl");
    let arguments = [
        "run",
        "--watch",
        "-i",
        "50ms",
        "-o",
        recording.to_str().unwrap(),
        "--",
        "python3",
        "-c",
        STEPS,
        ready.to_str().unwrap(),
    ];
    (arguments.map(str::to_owned).into(), ready)
}

fn start_run_watch() -> Session {
    let directory = tempfile::tempdir().unwrap();
    let (arguments, ready) = run_watch(&directory);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let mut session = Session::start(directory, &arguments);
    session.terminal.wait_for("run.log");
    while !ready.exists() {
        std::thread::sleep(std::time::Duration::from_millis(3));
    }
    session
}

#[test]
fn the_command_of_run_watch_prints_to_a_log_and_is_stopped_on_request() {
    let mut session = start_run_watch();
    let log = session.directory.path().join("run.log");
    assert_eq!(
        std::fs::read_to_string(log).unwrap(),
        "step 1\nstep 2\nstep 3\n"
    );
    session.terminal.keys("q");
    session.terminal.wait_for("still runs");
    session.terminal.keys("s");
    session.terminal.wait_for("\x1b[?1049l");
    session.terminal.wait_for("sent SIGTERM to python3");
    session.terminal.wait_for("ended by signal 15");
    let status = session.child.wait().unwrap();
    assert_eq!(
        std::os::unix::process::ExitStatusExt::signal(&status),
        Some(15)
    );
    assert_eq!(session.terminal.modes(), session.modes);
    let recording = session.directory.path().join("run.jsonl");
    let text = std::fs::read_to_string(recording).unwrap();
    assert!(text.contains("\"reason\":\"signalled\""), "{text}");
}

#[test]
fn leaving_run_watch_leaves_the_command_running_and_recorded() {
    let mut session = start_run_watch();
    session.terminal.keys("q");
    session.terminal.wait_for("still runs");
    session.terminal.keys("l");
    session.terminal.wait_for("\x1b[?1049l");
    session.terminal.wait_for("goes on and is recorded");
    let recording = session.directory.path().join("run.jsonl");
    let samples = || std::fs::read_to_string(&recording).unwrap().lines().count();
    let before = samples();
    while samples() < before + 5 {
        assert!(session.child.try_wait().unwrap().is_none(), "it ended");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    session.signal(Signal::TERM);
    session.terminal.wait_for("ended by signal 15");
    session.child.wait().unwrap();
}

#[test]
fn a_command_that_ends_stays_on_the_screen_and_its_code_is_ours() {
    let directory = tempfile::tempdir().unwrap();
    let recording = directory.path().join("run.jsonl");
    let mut session = Session::start(
        directory,
        &[
            "run",
            "--watch",
            "-i",
            "50ms",
            "-o",
            recording.to_str().unwrap(),
            "--",
            "sh",
            "-c",
            "echo done; exit 7",
        ],
    );
    session.terminal.wait_for("ENDED");
    session.terminal.keys("q");
    session.terminal.wait_for("\x1b[?1049l");
    session.terminal.wait_for("ended with code 7");
    assert_eq!(session.child.wait().unwrap().code(), Some(7));
}

#[test]
fn a_run_is_watched_live_and_its_end_is_seen() {
    let directory = tempfile::tempdir().unwrap();
    let mut target = std::process::Command::new("sleep")
        .arg("600")
        .spawn()
        .unwrap();
    let pid = target.id().to_string();
    let recording = directory.path().join("live.jsonl");
    let path = recording.to_str().unwrap().to_owned();
    let mut session = Session::start(directory, &["watch", &pid, "-i", "50ms", "-o", &path]);
    session.terminal.wait_for("sleep 600");
    session.terminal.keys("e");
    session.terminal.wait_for("rows in");
    target.kill().unwrap();
    target.wait().unwrap();
    session.terminal.wait_for("ENDED");
    let text = std::fs::read_to_string(&recording).unwrap();
    assert!(text.contains("\"reason\":\"target-gone\""), "{text}");
    session.terminal.keys("q");
    session.ends(&["the run ended", "live.jsonl"]);
}

#[test]
fn what_is_watched_can_be_exported_without_a_recording() {
    let pid = std::process::id().to_string();
    let directory = tempfile::tempdir().unwrap();
    let session = Session::start(directory, &["watch", &pid, "-i", "50ms"]);
    session.terminal.keys("e");
    // What is said of it may be drawn over other words, in pieces; the file is whole or not there.
    let table = loop {
        if let Some(table) = table_about(&pid) {
            break table;
        }
        std::thread::yield_now();
    };
    std::fs::remove_file(table).unwrap();
    session.terminal.keys("q");
    session.ends(&["left", "the run goes on"]);
}

/// A table with this process in it, where the terminal's programs run. Nothing else writes tables there.
fn table_about(pid: &str) -> Option<PathBuf> {
    let files = std::fs::read_dir(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let mut tables = files
        .map(|file| file.unwrap().path())
        .filter(|file| file.extension().is_some_and(|ending| ending == "csv"));
    tables.find(|table| std::fs::read_to_string(table).is_ok_and(|text| text.contains(pid)))
}
