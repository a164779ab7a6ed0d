//! `leveloff run` on a terminal: keys, sizes and job control have to work as without us.

#![allow(clippy::unwrap_used)] // Helpers of tests count as tests.

#[path = "launch_support/terminal.rs"]
mod terminal;

use std::os::unix::process::ExitStatusExt;

use rustix::process::Signal;
use terminal::{LEVELOFF, Terminal, quoted, run_python};

/// Prints what a program finds out about its terminal.
const LOOK: &str = "import os; print([os.isatty(i) for i in range(3)], os.get_terminal_size())";

fn python(program: &str) -> Vec<&str> {
    vec![LEVELOFF, "run", "--", "python3", "-uc", program]
}

#[test]
fn the_command_sees_a_terminal_of_the_right_size() {
    let mut terminal = Terminal::new(101, 31);
    let mut front = terminal.start(&python(LOOK));
    terminal.wait_for("[True, True, True] os.terminal_size(columns=101, lines=31)\r\n");
    assert!(front.wait().unwrap().success());
}

#[test]
fn a_terminal_without_a_size_becomes_80_by_24() {
    let mut terminal = Terminal::new(0, 0);
    let mut front = terminal.start(&python(LOOK));
    terminal.wait_for("columns=80, lines=24");
    assert!(front.wait().unwrap().success());
}

#[test]
fn resizes_follow() {
    let mut terminal = Terminal::new(80, 24);
    let mut front = terminal.start(&python(
        "import os, signal
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGWINCH])
print('ready')
signal.sigwait([signal.SIGWINCH])
print(os.get_terminal_size())",
    ));
    terminal.wait_for("ready");
    terminal.resize(133, 44);
    terminal.wait_for("columns=133, lines=44");
    assert!(front.wait().unwrap().success());
}

#[test]
fn keys_reach_the_command_and_are_echoed_once() {
    let mut terminal = Terminal::new(80, 24);
    let before = terminal.modes();
    let mut front = terminal.start(&python("print('got', input('name? '))"));
    terminal.wait_for("name? ");
    terminal.keys("wörld\r");
    assert_eq!(terminal.wait_for("got wörld\r\n"), "wörld\r\ngot wörld\r\n");
    assert!(front.wait().unwrap().success());
    assert_eq!(terminal.modes(), before);
}

#[test]
fn the_end_of_input_is_passed_on() {
    let mut terminal = Terminal::new(80, 24);
    let mut front = terminal.start(&[LEVELOFF, "run", "--", "cat"]);
    terminal.keys("once\r");
    terminal.wait_for("once\r\nonce\r\n");
    terminal.keys("\x04");
    assert!(front.wait().unwrap().success());
}

#[test]
fn ctrl_c_interrupts_the_command_and_we_die_of_it_as_well() {
    let mut terminal = Terminal::new(80, 24);
    let mut front = terminal.start(&python("import time; print('ready'); time.sleep(60)"));
    terminal.wait_for("ready");
    terminal.keys("\x03");
    terminal.wait_for("KeyboardInterrupt");
    assert_eq!(front.wait().unwrap().signal(), Some(Signal::INT.as_raw()));
}

#[test]
fn ctrl_c_reaches_every_process_of_the_shell_job() {
    let mut terminal = Terminal::new(80, 24);
    let wrapper = format!(
        "import os, signal, sys
signal.signal(signal.SIGINT, lambda *_: os.write(1, b'wrapper too'))
pid = os.posix_spawn({LEVELOFF:?}, ['leveloff', 'run', '--'] + sys.argv[1:], os.environ)
_, status = os.waitpid(pid, 0)
print(' and died of', os.WTERMSIG(status))"
    );
    let program = "import time; print('ready'); time.sleep(60)";
    let mut front = terminal.start(&["python3", "-uc", &wrapper, "python3", "-uc", program]);
    terminal.wait_for("ready");
    terminal.keys("\x03");
    terminal.wait_for("wrapper too");
    terminal.wait_for("and died of 2\r\n");
    assert!(front.wait().unwrap().success());
}

#[test]
fn descriptors_on_a_terminal_are_those_of_any_program() {
    let look =
        "import os; print([fd for fd in range(100) if os.path.exists(f'/proc/self/fd/{fd}')])";
    let mut with = Terminal::new(80, 24);
    let mut without = Terminal::new(80, 24);
    let mut front = with.start(&python(look));
    let mut plain = without.start(&["python3", "-uc", look]);
    assert_eq!(with.wait_for("]"), without.wait_for("]"));
    assert!(front.wait().unwrap().success() && plain.wait().unwrap().success());
}

#[test]
fn ctrl_z_stops_the_job_and_fg_continues_it() {
    let mut terminal = Terminal::new(80, 24);
    let mut shell = terminal.start_shell();
    let program = "print('one', input()); print('two', input())";
    terminal.keys(&format!("{}\r", run_python(program)));
    terminal.wait_for("\r\n");
    terminal.keys("a\r");
    terminal.wait_for("one a");
    terminal.keys("\x1a");
    terminal.wait_for("ready> ");
    terminal.keys("jobs\r");
    terminal.wait_for("Stopped");
    terminal.wait_for("ready> ");
    terminal.keys("fg\r");
    terminal.wait_for("run --");
    terminal.wait_for("\r\n");
    terminal.keys("b\r");
    terminal.wait_for("two b");
    terminal.wait_for("ready> ");
    terminal.keys("exit\r");
    assert!(shell.wait().is_ok());
}

#[test]
fn bg_lets_a_stopped_job_go_on() {
    let mut terminal = Terminal::new(80, 24);
    let mut shell = terminal.start_shell();
    let program = "import time
print('begun')
for _ in range(100): time.sleep(0.02)
print('do' + 'ne')";
    terminal.keys(&format!("{}\r", run_python(&program.replace('\n', "\r"))));
    terminal.wait_for("begun\r\n");
    terminal.keys("\x1a");
    terminal.wait_for("ready> ");
    terminal.keys("bg\r");
    terminal.wait_for("done\r\n");
    terminal.keys("exit\r");
    assert!(shell.wait().is_ok());
}

#[test]
fn a_job_that_starts_in_the_background_runs_and_stops_only_when_it_reads() {
    let mut terminal = Terminal::new(80, 24);
    let mut shell = terminal.start_shell();
    terminal.keys(&format!(
        "{} &\r",
        run_python("print('be' + 'gun'); print('got', input())")
    ));
    terminal.wait_for("begun\r\n");
    terminal.keys("wait %1; jobs\r");
    terminal.wait_for("Stopped");
    terminal.wait_for("ready> ");
    terminal.keys("fg\r");
    terminal.wait_for("run --");
    terminal.wait_for("\r\n");
    terminal.keys("it\r");
    terminal.wait_for("got it\r\n");
    terminal.wait_for("ready> ");
    terminal.keys("exit\r");
    assert!(shell.wait().is_ok());
}

#[test]
fn a_shell_runs_jobs_of_its_own_inside() {
    let mut terminal = Terminal::new(80, 24);
    let mut front = terminal.start(&[
        LEVELOFF,
        "run",
        "--",
        "env",
        "-u",
        "ENV",
        "PS1=inner> ",
        "sh",
        "-i",
    ]);
    terminal.wait_for("inner> ");
    // The shell gives the terminal away when the job runs; before, the key would be its own.
    let job = quoted("import time; print('be' + 'gun'); time.sleep(60)");
    terminal.keys(&format!("python3 -uc {job}\r"));
    terminal.wait_for("begun");
    terminal.keys("\x1a");
    terminal.wait_for("inner> ");
    terminal.keys("jobs; kill %1; exit 6\r");
    terminal.wait_for("Stopped");
    // A shell may warn once that it has stopped jobs.
    terminal.keys("exit 6\r");
    assert_eq!(front.wait().unwrap().code(), Some(6));
}

#[test]
fn in_a_pipeline_the_terminal_stays_shared() {
    let mut terminal = Terminal::new(77, 24);
    let before = terminal.modes();
    let mut shell = terminal.start_shell();
    let program = "import os, sys, time
print(os.isatty(0), os.isatty(1), os.isatty(2), file=sys.stderr)
print(os.get_terminal_size(2).columns, file=sys.stderr)
os.write(1, b'to cat ' + input().encode() + b'\\n')
time.sleep(60)";
    let line = format!("{} | cat\r", run_python(&program.replace('\n', "\r")));
    terminal.keys(&line);
    terminal.wait_for("True False True\r\n");
    terminal.wait_for("77\r\n");
    terminal.keys("typed\r");
    terminal.wait_for("to cat typed\r\n");
    terminal.keys("\x03");
    terminal.wait_for("KeyboardInterrupt");
    terminal.wait_for("ready> ");
    terminal.keys("exit\r");
    assert!(shell.wait().is_ok());
    terminal.wait_for_modes(&before);
}

#[test]
fn a_killed_front_leaves_a_sane_terminal_and_a_running_command() {
    let mut terminal = Terminal::new(80, 24);
    let before = terminal.modes();
    // The inner terminal stops translating line ends when the relay has noticed.
    let program = "import os, termios, time
relay = os.getppid()
front = int(open(f'/proc/{relay}/stat').read().split()[3])
print('ready')
os.kill(front, 9)
while termios.tcgetattr(1)[1] & termios.OPOST: time.sleep(0.001)
for i in range(1000): print('line', i)
print('do' + 'ne')";
    let line = format!("{}; cat", run_python(program));
    let mut shell = terminal.start(&["sh", "-c", &line]);
    terminal.wait_for("ready");
    // What the shell itself says about the kill lands anywhere, even within a line.
    let lines = terminal.wait_for("done").replace("Killed\r\n", "");
    for i in 0..1000 {
        assert!(
            lines.contains(&format!("\nline {i}\r\n")),
            "line {i} is missing of {lines:?}"
        );
    }
    assert!(!lines.contains("\r\r\n"));
    terminal.wait_for_modes(&before);
    // A read that cat began while the terminal was raw takes no end of file, so it gets a line.
    // The shell may report the kill between the echo and what cat prints.
    terminal.keys("still\r");
    terminal.wait_for("still\r\n");
    terminal.wait_for("still\r\n");
    terminal.keys("\x04");
    assert!(shell.wait().unwrap().success());
}

#[test]
fn a_stopped_command_goes_on_when_its_front_is_killed() {
    let mut terminal = Terminal::new(80, 24);
    let mut shell = terminal.start_shell();
    let program = "import os, signal; print('be' + 'gun'); os.kill(os.getpid(), signal.SIGSTOP); print('do' + 'ne')";
    terminal.keys(&format!("{}\r", run_python(program)));
    terminal.wait_for("begun\r\n");
    terminal.wait_for("ready> ");
    terminal.keys("kill -9 %1\r");
    // The shell's next prompt may come before the end of the line.
    terminal.wait_for("done");
    terminal.keys("exit\rexit\r");
    assert!(shell.wait().is_ok());
}

#[test]
fn what_outlives_the_command_keeps_its_terminal() {
    let mut terminal = Terminal::new(80, 24);
    let mut front = terminal.start(&python(
        "import os, time
relay = os.getppid()
front = int(open(f'/proc/{relay}/stat').read().split()[3])
if os.fork() == 0:
    while open(f'/proc/{front}/cmdline').read(): time.sleep(0.001)
    print('late', os.isatty(1))
    os._exit(0)
print('early')
os._exit(3)",
    ));
    terminal.wait_for("early\r\n");
    // Not waited for before: the pid has to stay until it is seen to have no command line.
    terminal.wait_for("late True");
    assert_eq!(front.wait().unwrap().code(), Some(3));
}

#[test]
fn a_hang_up_reaches_the_whole_job() {
    let mut terminal = Terminal::new(80, 24);
    let directory = tempfile::tempdir().unwrap();
    let log = directory.path().join("log");
    let script = format!(
        "import os, signal, time
if os.fork() == 0:
    signal.signal(signal.SIGHUP, lambda *_: (open({log:?}, 'w').write('hung up'), os._exit(0)))
    os.write(1, b'ready')
while True: time.sleep(1)"
    );
    let mut front = terminal.start(&python(&script));
    terminal.wait_for("ready");
    drop(terminal);
    assert_eq!(front.wait().unwrap().signal(), Some(Signal::HUP.as_raw()));
    while std::fs::read_to_string(&log).unwrap_or_default() != "hung up" {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}
