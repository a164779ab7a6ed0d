//! Who belongs to a run: real processes that come, go, lose their parents and change their names.

use std::collections::BTreeSet;

use crate::python_child::{HandClock, PythonChild, sampler_of};
use leveloff_model::process::{Pid, ProcessInfo};
use leveloff_model::sample::{Event, Tick};
use leveloff_sampler::proc_root::ProcRoot;
use leveloff_sampler::processes::handle::{ProcessHandle, ReadError, SCRATCH_SIZE};

fn appeared(tick: &Tick) -> Vec<&ProcessInfo> {
    tick.events
        .iter()
        .filter_map(|event| match event {
            Event::Appeared(info) => Some(info),
            _ => None,
        })
        .collect()
}

fn pids<'a>(infos: impl IntoIterator<Item = &'a ProcessInfo>) -> BTreeSet<i32> {
    infos.into_iter().map(|info| info.key.pid.0).collect()
}

fn number(word: &str) -> i32 {
    word.parse().unwrap()
}

#[test]
fn new_children_are_found_and_exits_are_reported() {
    let mut python = PythonChild::start(
        r#"
say("alone"); wait()
child = os.fork()
if child == 0: pause()
say(child); wait()
os.kill(child, 9); os.waitpid(child, 0)
say("done"); wait()
"#,
    );
    let clock = HandClock::new();
    assert_eq!(python.read_line(), "alone");
    let mut sampler = sampler_of(python.pid(), &clock);
    assert_eq!(
        pids(appeared(&sampler.tick().unwrap())),
        BTreeSet::from([python.pid().0])
    );
    python.resume();
    let child = number(&python.read_line());
    clock.pass(1.0);
    let tick = sampler.tick().unwrap();
    assert_eq!(pids(appeared(&tick)), BTreeSet::from([child]));
    assert_eq!(tick.sample.processes.len(), 2);
    python.resume();
    python.read_line();
    clock.pass(1.0);
    let tick = sampler.tick().unwrap();
    assert!(
        tick.events
            .iter()
            .any(|event| matches!(event, Event::Exited(index) if index.0 == 1))
    );
    assert_eq!(tick.sample.processes.len(), 1);
}

#[test]
fn a_member_whose_parent_exits_stays_a_member() {
    let mut python = PythonChild::start(
        r#"
reader, writer = os.pipe()
middle = os.fork()
if middle == 0:
    inner = os.fork()
    if inner == 0: pause()
    os.write(writer, b"%d\n" % inner)
    pause()
inner = os.read(reader, 20).decode().strip()
say(inner); wait()
os.kill(middle, 9); os.waitpid(middle, 0)
say("orphaned"); wait()
os.kill(int(inner), 9)
"#,
    );
    let inner = number(&python.read_line());
    let clock = HandClock::new();
    let mut sampler = sampler_of(python.pid(), &clock);
    assert_eq!(sampler.tick().unwrap().sample.processes.len(), 3);
    python.resume();
    python.read_line();
    for _ in 0..10 {
        clock.pass(1.0);
        sampler.tick().unwrap();
    }
    let orphan = sampler
        .infos()
        .find(|info| info.key.pid == Pid(inner))
        .expect("still watched");
    assert_ne!(orphan.parent, python.pid());
    python.resume();
}

#[test]
fn a_double_fork_between_two_ticks_is_found_by_its_group() {
    finds_a_double_fork("os.setpgid(0, 0)", "os.execvp('sleep', ['sleep', '20'])");
}

#[test]
fn a_daemon_that_detached_between_two_ticks_is_found_by_its_stack() {
    finds_a_double_fork("pass", "os.setsid(); pause()");
}

/// A process whose parent exits before the first tick.
fn finds_a_double_fork(root_begins: &str, orphan_does: &str) {
    let mut python = PythonChild::start(&format!(
        r#"
{root_begins}
say("alone"); wait()
reader, writer = os.pipe()
middle = os.fork()
if middle == 0:
    inner = os.fork()
    if inner == 0:
        os.write(writer, b"%d\n" % os.getpid())
        {orphan_does}
    os._exit(0)
os.waitpid(middle, 0)
inner = os.read(reader, 20).decode().strip()
say(inner); wait()
os.kill(int(inner), 9)
"#
    ));
    python.read_line();
    let clock = HandClock::new();
    let mut sampler = sampler_of(python.pid(), &clock);
    sampler.tick().unwrap();
    python.resume();
    let inner = number(&python.read_line());
    clock.pass(1.0);
    let tick = sampler.tick().unwrap();
    assert_eq!(pids(appeared(&tick)), BTreeSet::from([inner]));
    python.resume();
}

#[test]
fn a_rank_in_its_own_session_belongs_to_its_launcher() {
    let mut python = PythonChild::start(
        r#"
reader, writer = os.pipe()
rank = os.fork()
if rank == 0:
    os.setsid()
    worker = os.fork()
    if worker == 0:
        os.setsid(); os.write(writer, b"."); pause()
    pause()
os.read(reader, 1)
say(rank); wait()
"#,
    );
    python.read_line();
    let clock = HandClock::new();
    let mut sampler = sampler_of(python.pid(), &clock);
    assert_eq!(sampler.tick().unwrap().sample.processes.len(), 3);
}

#[test]
fn an_unrelated_process_in_the_same_group_is_not_taken_for_an_orphan() {
    // Two jobs of one script, in one group, both children of the script.
    let mut script = PythonChild::start(
        r#"
reader, writer = os.pipe()
def job():
    pid = os.fork()
    if pid == 0:
        os.write(writer, b"."); pause()
    os.read(reader, 1)
    return pid
ours = job()
say(ours); wait()
say(job()); wait()
"#,
    );
    let ours = Pid(number(&script.read_line()));
    let clock = HandClock::new();
    let mut sampler = sampler_of(ours, &clock);
    sampler.tick().unwrap();
    script.resume();
    script.read_line();
    clock.pass(1.0);
    let tick = sampler.tick().unwrap();
    assert_eq!(tick.sample.processes.len(), 1, "{:?}", tick.events);
}

#[test]
fn two_thousand_short_lived_children_do_no_harm() {
    let mut python = PythonChild::start(
        r#"
say("alone"); wait()
for _ in range(2000):
    child = os.fork()
    if child == 0: os._exit(0)
    os.waitpid(child, 0)
say("done"); wait()
"#,
    );
    python.read_line();
    let clock = HandClock::new();
    let mut sampler = sampler_of(python.pid(), &clock);
    sampler.tick().unwrap();
    python.resume();
    let (mut joined, mut left) = (0, 0);
    let mut take = |tick: &Tick| {
        for event in &tick.events {
            match event {
                Event::Appeared(_) => joined += 1,
                Event::Exited(_) => left += 1,
                _ => {}
            }
        }
        tick.sample.processes.len()
    };
    std::thread::scope(|scope| {
        let done = scope.spawn(|| python.read_line());
        while !done.is_finished() {
            clock.pass(0.01);
            take(&sampler.tick().unwrap());
        }
    });
    clock.pass(1.0);
    take(&sampler.tick().unwrap());
    clock.pass(1.0);
    let living = take(&sampler.tick().unwrap());
    assert_eq!(living, 1);
    assert_eq!(
        joined, left,
        "every announced process is also reported as gone"
    );
}

#[test]
fn names_and_command_lines_may_hold_any_bytes() {
    let mut python = PythonChild::start(
        r#"
inner = b"""
import ctypes, os, sys
ctypes.CDLL(None).prctl(15, b"a) S (\\n\\xff b", 0, 0, 0)
os.write(1, b"named\\n")
sys.stdin.read()
"""
child = os.fork()
if child == 0:
    os.execv(sys.executable, [b"tr\xffin\n", b"-c", inner])
say(child); wait()
"#,
    );
    let mut words = BTreeSet::from([python.read_line(), python.read_line()]);
    assert!(words.remove("named"));
    let child = number(words.first().unwrap());
    let clock = HandClock::new();
    let mut sampler = sampler_of(python.pid(), &clock);
    sampler.tick().unwrap();
    let info = sampler
        .infos()
        .find(|info| info.key.pid == Pid(child))
        .unwrap();
    assert_eq!(info.comm, "a) S (\\n\\xff b");
    assert_eq!(info.command[0], "tr\\xffin\\n");
    assert_eq!(info.parent, python.pid());
}

#[test]
fn zombies_and_stopped_processes_are_distinguished() {
    let mut python = PythonChild::start(
        r#"
zombie = os.fork()
if zombie == 0: os._exit(0)
stopped = os.fork()
if stopped == 0: pause()
os.waitid(os.P_PID, zombie, os.WEXITED | os.WNOWAIT)
os.kill(stopped, signal.SIGSTOP)
os.waitid(os.P_PID, stopped, os.WSTOPPED | os.WNOWAIT)
say("ready"); wait()
os.kill(stopped, 9)
say("ended")
"#,
    );
    python.read_line();
    let clock = HandClock::new();
    let mut sampler = sampler_of(python.pid(), &clock);
    let tick = sampler.tick().unwrap();
    let states: String = tick
        .sample
        .processes
        .iter()
        .map(|reading| reading.state.letter())
        .collect();
    assert_eq!(states, "SZT");
    let zombie = &tick.sample.processes[1];
    assert_eq!((zombie.rss().0, zombie.memory().0), (0, 0));
    assert_eq!(
        tick.sample.tree().unread,
        2,
        "a zombie has nothing to be read"
    );
    python.resume();
    // A stopped one that is left behind ends by itself never.
    assert_eq!(python.read_line(), "ended");
}

#[test]
fn descriptors_of_an_exited_process_never_read_its_successor() {
    let mut python = PythonChild::start("say('here'); wait()");
    python.read_line();
    let root = ProcRoot::live();
    let mut scratch = [0; SCRATCH_SIZE];
    let handle = ProcessHandle::open(&root, python.pid(), &mut scratch).unwrap();
    assert!(handle.statm(&mut scratch, 4096).is_ok());
    python.end();
    assert_eq!(handle.statm(&mut scratch, 4096), Err(ReadError::Exited));
    // Ask the kernel to give the number out again.
    let before = (python.pid().0 - 1).to_string();
    if std::fs::write("/proc/sys/kernel/ns_last_pid", before).is_err() {
        leveloff_testkit::cannot_run_here("reusing a pid needs root and checkpoint support");
        return;
    }
    let successor = PythonChild::start("say('me'); wait()");
    if successor.pid() != python.pid() {
        leveloff_testkit::cannot_run_here("another process took the number");
        return;
    }
    assert_eq!(handle.statm(&mut scratch, 4096), Err(ReadError::Exited));
    let new = ProcessHandle::open(&root, successor.pid(), &mut scratch).unwrap();
    assert!(new.statm(&mut scratch, 4096).is_ok());
}

#[test]
fn the_watch_is_over_when_the_root_is_gone() {
    let mut python = PythonChild::start("say('here'); wait()");
    python.read_line();
    let clock = HandClock::new();
    let mut sampler = sampler_of(python.pid(), &clock);
    sampler.tick().unwrap();
    assert!(!sampler.is_over());
    python.end();
    clock.pass(1.0);
    sampler.tick().unwrap();
    assert!(sampler.is_over());
}
