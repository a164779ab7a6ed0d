//! `leveloff run` without a terminal: the command has to behave as without us.

#![allow(clippy::unwrap_used)] // Helpers of tests count as tests.

use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, Stdio};

use rustix::process::Signal;

const LEVELOFF: &str = env!("CARGO_BIN_EXE_leveloff");

/// Recordings have their default names here, and stay; so they stay where builds do.
const RECORDINGS: &str = env!("CARGO_TARGET_TMPDIR");

fn run(command: &[&str]) -> Command {
    let mut run = Command::new(LEVELOFF);
    run.args(["run", "--"]).args(command);
    run.env("LEVELOFF_HISTORY", "0");
    run.current_dir(RECORDINGS).stdin(Stdio::null());
    run
}

fn python(program: &str) -> Command {
    run(&["python3", "-uc", program])
}

fn piped(command: &mut Command) -> Child {
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn send(child: &Child, signal: Signal) {
    rustix::process::kill_process(rustix::process::Pid::from_child(child), signal).unwrap();
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into()
}

/// What the command wrote. The summary that comes last is ours.
fn written_by_command(stderr: &[u8]) -> &[u8] {
    let ours = b"leveloff: ";
    let begin = stderr.windows(ours.len()).position(|part| part == ours);
    &stderr[..begin.unwrap_or(stderr.len())]
}

/// Reads one line, byte by byte, so that nothing behind it is lost.
fn line(from: &mut impl Read) -> String {
    let mut line = Vec::new();
    let mut byte = [0];
    while from.read(&mut byte).unwrap() == 1 && byte != *b"\n" {
        line.push(byte[0]);
    }
    text(&line)
}

fn wait_for_state(pid: u32, state: char) {
    let is_there = || {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        stat.rsplit(") ").next().unwrap().starts_with(state)
    };
    while !is_there() {
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
}

#[test]
fn exit_codes_pass_through() {
    for code in [0, 1, 2, 42, 127, 255] {
        let status = run(&["sh", "-c", &format!("exit {code}")])
            .status()
            .unwrap();
        assert_eq!(status.code(), Some(code));
    }
}

#[test]
fn death_by_signal_passes_through() {
    for signal in ["HUP", "INT", "KILL", "TERM", "SEGV", "USR1"] {
        let expected = Command::new("sh")
            .args(["-c", &format!("kill -{signal} $$")])
            .status()
            .unwrap();
        let status = run(&["sh", "-c", &format!("kill -{signal} $$")])
            .status()
            .unwrap();
        assert_eq!(status.signal(), expected.signal(), "{signal}");
        assert!(status.signal().is_some());
    }
}

#[test]
fn all_bytes_pass_in_both_directions_and_the_streams_stay_apart() {
    let input: Vec<u8> = (0..2_000_003_u32).map(|i| (i % 251 * 7) as u8).collect();
    let mut child = piped(&mut python(
        "import sys
data = sys.stdin.buffer.read()
sys.stdout.buffer.write(data)
sys.stdout.buffer.flush()
sys.stderr.buffer.write(bytes(range(256)) + data[::-1] + b'\\n')",
    ));
    let mut stdin = child.stdin.take().unwrap();
    let to_send = input.clone();
    let sender = std::thread::spawn(move || stdin.write_all(&to_send).unwrap());
    let output = child.wait_with_output().unwrap();
    sender.join().unwrap();
    assert!(output.status.success());
    assert!(output.stdout == input, "{} bytes", output.stdout.len());
    // Our own message behind an unfinished line would begin another one.
    let reversed = (0..=255).chain(input.iter().rev().copied()).chain(*b"\n");
    let reversed: Vec<u8> = reversed.collect();
    let stderr = written_by_command(&output.stderr);
    assert!(stderr == reversed, "{} bytes", stderr.len());
}

#[test]
fn one_pipe_for_both_keeps_the_order() {
    let (reader, writer) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).unwrap();
    let mut child = python(
        "import os
for i in range(3000): os.write(1 + i % 2, b'%d\\n' % i)",
    )
    .stdout(Stdio::from(writer.try_clone().unwrap()))
    .stderr(Stdio::from(writer))
    .spawn()
    .unwrap();
    let mut seen = Vec::new();
    std::fs::File::from(reader).read_to_end(&mut seen).unwrap();
    assert!(child.wait().unwrap().success());
    let expected: String = (0..3000).map(|i| format!("{i}\n")).collect();
    assert_eq!(text(written_by_command(&seen)), expected);
}

#[test]
fn a_reader_that_goes_away_ends_the_command_with_sigpipe() {
    let mut child = run(&["yes"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    assert_eq!(line(&mut stdout), "y");
    drop(stdout);
    assert_eq!(child.wait().unwrap().signal(), Some(Signal::PIPE.as_raw()));
}

#[test]
fn a_lost_reader_is_seen_before_anything_is_written() {
    let mut child = piped(&mut python(
        "import select
lost = select.poll()
lost.register(1, 0)
print('ready')
lost.poll()",
    ));
    assert_eq!(line(child.stdout.as_mut().unwrap()), "ready");
    drop(child.stdout.take());
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_socket_is_written_to_without_changing_it() {
    let (mut ours, theirs) = std::os::unix::net::UnixStream::pair().unwrap();
    let kept = OwnedFd::from(theirs.try_clone().unwrap());
    let mut child = python("import os; os.write(1, b'z' * 3_000_000)")
        .stdout(Stdio::from(OwnedFd::from(theirs)))
        .spawn()
        .unwrap();
    let mut seen = vec![0; 3_000_000];
    ours.read_exact(&mut seen).unwrap();
    assert!(seen.iter().all(|&byte| byte == b'z'));
    assert!(child.wait().unwrap().success());
    let flags = rustix::fs::fcntl_getfl(&kept).unwrap();
    assert!(!flags.contains(rustix::fs::OFlags::NONBLOCK));
}

#[test]
fn an_unread_stream_does_not_stop_the_other() {
    let mut child = piped(&mut python(
        "import os, threading
def flood():
    try:
        while True: os.write(1, b'x' * 65536)
    except OSError: pass
threading.Thread(target=flood, daemon=True).start()
for i in range(1000): os.write(2, b'%d ' % i + b'y' * 1000 + b'\\n')
os._exit(5)",
    ));
    let mut errors = Vec::new();
    let mut stderr = child.stderr.take().unwrap();
    stderr.read_to_end(&mut errors).unwrap();
    assert_eq!(text(written_by_command(&errors)).lines().count(), 1000);
    // Stdout has never been read; its last bytes are waited for only so long.
    assert_eq!(child.wait().unwrap().code(), Some(5));
}

#[test]
fn closing_a_stream_is_seen_at_the_other_end() {
    let mut child = piped(&mut python(
        "import os, sys, time
os.close(0); os.close(1)
print('closed', file=sys.stderr)
time.sleep(60)",
    ));
    let mut stdout = String::new();
    assert_eq!(line(child.stderr.as_mut().unwrap()), "closed");
    child
        .stdout
        .take()
        .unwrap()
        .read_to_string(&mut stdout)
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let error = stdin.write_all(b"unread").unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::BrokenPipe);
    send(&child, Signal::TERM);
    assert_eq!(child.wait().unwrap().signal(), Some(Signal::TERM.as_raw()));
}

#[test]
fn descriptors_and_signals_are_those_that_it_would_have_without_us() {
    let look = "import os, stat
for fd in sorted(map(int, os.listdir('/proc/self/fd'))):
    try: print(fd, oct(os.fstat(fd).st_mode), end=' ')
    except OSError: pass
print(*[l.strip() for l in open('/proc/self/status') if l.startswith(('SigBlk', 'SigIgn'))])
print(os.getcwd(), sorted(os.environ.items()))";
    let prepare = "import os, signal, sys
for s in map(int, sys.argv[1].split()): signal.signal(s, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR2])
for fd in (7, 200): os.dup2(0, fd)
os.environ.pop('_', None)
os.execvp(sys.argv[2], sys.argv[2:])";
    // Once with the ordinary dispositions, once with hang-ups, broken pipes and child's ends
    // ignored. Python itself ignores 13 and 25, so it is sh that restores nothing and looks.
    for ignored in ["", "1 13 17"] {
        let seen = |through: &[&str]| {
            let output = Command::new("python3")
                .args(["-c", prepare, ignored])
                .args(through)
                .args(["python3", "-c", look])
                .current_dir(RECORDINGS)
                .stdin(Stdio::null())
                .output()
                .unwrap();
            assert!(output.status.success(), "{}", text(&output.stderr));
            text(&output.stdout)
        };
        let without = seen(&["env"]);
        assert!(without.contains(" 200 "), "{without}");
        assert_eq!(seen(&[LEVELOFF, "run", "--"]), without);
    }
    let masks = |through: &[&str]| {
        let output = Command::new("python3")
            .args(["-c", prepare, "1 17"])
            .args(through)
            .args(["grep", "Sig[IB]", "/proc/self/status"])
            .current_dir(RECORDINGS)
            .output()
            .unwrap();
        text(&output.stdout)
    };
    assert_eq!(masks(&[LEVELOFF, "run", "--"]), masks(&["env"]));
}

#[test]
fn files_are_inherited_as_they_are() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("out.log");
    let file = std::fs::File::create(&path).unwrap();
    let look = "import os; print(os.readlink('/proc/self/fd/1'))";
    let status = python(look)
        .stdout(Stdio::from(file))
        .stderr(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success());
    let seen = std::fs::read_to_string(&path).unwrap();
    assert_eq!(seen.trim(), path.canonicalize().unwrap().to_str().unwrap());
}

#[test]
fn signals_to_the_front_reach_the_command_once() {
    for (signal, name) in [
        (Signal::TERM, "SIGTERM"),
        (Signal::INT, "SIGINT"),
        (Signal::HUP, "SIGHUP"),
        (Signal::USR1, "SIGUSR1"),
    ] {
        let mut child = piped(&mut python(
            "import signal, sys
for s in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1):
    signal.signal(s, lambda number, _: print(signal.Signals(number).name))
print('ready')
sys.stdin.read()
sys.exit(3)",
        ));
        assert_eq!(line(child.stdout.as_mut().unwrap()), "ready");
        send(&child, signal);
        assert_eq!(line(child.stdout.as_mut().unwrap()), name);
        drop(child.stdin.take());
        let rest = child.wait_with_output().unwrap();
        assert_eq!(
            (text(&rest.stdout), rest.status.code()),
            (String::new(), Some(3))
        );
    }
}

#[test]
fn a_signal_to_the_own_group_is_not_doubled() {
    let mut run = python(
        "import os, signal, sys
count = 0
def counted(*_):
    global count
    count += 1
signal.signal(signal.SIGUSR1, counted)
signal.signal(signal.SIGUSR2, lambda *_: (print(count), os._exit(0)))
os.killpg(0, signal.SIGUSR1)
print('sent')
while True: signal.pause()",
    );
    let mut child = piped(run.process_group(0));
    assert_eq!(line(child.stdout.as_mut().unwrap()), "sent");
    // Passed on behind the first, if that is passed on at all.
    send(&child, Signal::USR2);
    assert_eq!(line(child.stdout.as_mut().unwrap()), "1");
    assert!(child.wait().unwrap().success());
}

#[test]
fn continuing_a_stopped_command_continues_leveloff() {
    let mut child = piped(&mut python(
        "import os, signal, sys
print(os.getpid())
os.kill(os.getpid(), signal.SIGSTOP)
print('on')
sys.exit(sys.stdin.readline() != 'go\\n')",
    ));
    let command: i32 = line(child.stdout.as_mut().unwrap()).parse().unwrap();
    wait_for_state(child.id(), 'T');
    let command = rustix::process::Pid::from_raw(command).unwrap();
    rustix::process::kill_process(command, Signal::CONT).unwrap();
    assert_eq!(line(child.stdout.as_mut().unwrap()), "on");
    child.stdin.take().unwrap().write_all(b"go\n").unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn the_exit_code_survives_even_the_relay() {
    let status = python("import os; os.kill(os.getppid(), 9); os._exit(8)")
        .stdout(Stdio::piped())
        .status()
        .unwrap();
    assert_eq!(status.code(), Some(8));
}

#[test]
fn a_hang_up_that_nohup_ignores_stays_ignored() {
    let mut run = Command::new("nohup");
    run.args([LEVELOFF, "run", "--", "python3", "-uc"]);
    run.current_dir(RECORDINGS);
    run.arg("import sys; print('ready'); print(sys.stdin.readline().strip())");
    let mut child = piped(&mut run);
    assert_eq!(line(child.stdout.as_mut().unwrap()), "ready");
    send(&child, Signal::HUP);
    child.stdin.take().unwrap().write_all(b"alive\n").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(text(&output.stdout), "alive\n");
    assert!(output.status.success());
}

#[test]
fn orphans_of_the_tree_come_to_the_front() {
    let mut child = piped(&mut python(
        "import os, sys, time
if os.fork() == 0:
    middle = os.getpid()
    if os.fork() == 0:
        while os.getppid() == middle: time.sleep(0.001)
        print(os.getppid()); os._exit(0)
    os._exit(0)
os.wait()
sys.stdin.read()",
    ));
    let parent = line(child.stdout.as_mut().unwrap());
    assert_eq!(parent, child.id().to_string());
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
}

#[test]
fn what_outlives_the_command_keeps_its_output_and_is_not_waited_for() {
    let (gate, mut open_gate) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)
        .map(|(reader, writer)| (reader, std::fs::File::from(writer)))
        .unwrap();
    let mut child = python(
        "import os, sys
if os.fork() == 0:
    sys.stdin.readline(); print('late'); os._exit(0)
print('early'); os._exit(4)",
    )
    .stdin(Stdio::from(gate))
    .stdout(Stdio::piped())
    .spawn()
    .unwrap();
    let mut stdout = child.stdout.take().unwrap();
    assert_eq!(line(&mut stdout), "early");
    assert_eq!(child.wait().unwrap().code(), Some(4));
    open_gate.write_all(b"\n").unwrap();
    let mut rest = String::new();
    stdout.read_to_string(&mut rest).unwrap();
    assert_eq!(rest, "late\n");
}

#[test]
fn a_command_that_cannot_be_started_is_named_with_the_next_step() {
    let missing = run(&["no-such-command"]).output().unwrap();
    assert_eq!(missing.status.code(), Some(2));
    let message = text(&missing.stderr);
    assert!(
        message.contains("no-such-command") && message.contains("spelling"),
        "{message}"
    );
    let closed = run(&["/etc/passwd"]).output().unwrap();
    assert_eq!(closed.status.code(), Some(2));
    let message = text(&closed.stderr);
    assert!(
        message.contains("/etc/passwd") && message.contains("chmod +x"),
        "{message}"
    );
}

#[test]
fn the_relay_bears_another_name() {
    let output = python(
        "import os
relay = os.getppid()
print(open(f'/proc/{relay}/comm').read(), open(f'/proc/{relay}/cmdline').read())",
    )
    .output()
    .unwrap();
    let seen = text(&output.stdout);
    assert!(seen.starts_with("output-relay\n"), "{seen}");
    assert!(
        !seen.contains("leveloff") && !seen.contains("python"),
        "{seen}"
    );
}

/// As in a container that was entered from outside: the session's and the group's leaders are
/// processes that have no number here.
#[test]
fn leaders_in_another_pid_namespace_are_no_obstacle() {
    let inside = |command: &str| {
        let mut unshare = Command::new("unshare");
        unshare.args(["--pid", "--fork", "--mount-proc", "sh", "-c", command]);
        unshare.current_dir(RECORDINGS).stdin(Stdio::null());
        unshare
    };
    if !inside("true")
        .output()
        .is_ok_and(|output| output.status.success())
    {
        eprintln!("not tested: this user may not make a pid namespace");
        return;
    }
    let script = format!(
        "cut -d ' ' -f 5,6 /proc/self/stat; {LEVELOFF} run -- python3 -c 'exit(7)'; echo $?"
    );
    let output = inside(&script).output().unwrap();
    assert_eq!(text(&output.stdout), "0 0\n7\n", "{}", text(&output.stderr));
}
