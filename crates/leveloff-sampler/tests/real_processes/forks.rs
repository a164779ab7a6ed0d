//! Pages that forks share without the process that forked them.

use crate::memory::{independent_sum, settled, within};
use crate::python_child::{HandClock, PythonChild, sampler_of};
use leveloff_model::units::Bytes;
use leveloff_sampler::sampler::Sampler;

const MIB: u64 = 1 << 20;

/// A parent with two forks that each have two of their own, and copy some of what they share with them.
const FORKS_OF_FORKS: &str = r#"
kept = touched(40)
def forked(count, body):
    reader, writer = os.pipe()
    for _ in range(count):
        if os.fork() == 0:
            body(); os.write(writer, b"."); pause()
    for _ in range(count): os.read(reader, 1)
def rank():
    global data
    data = touched(120)
    forked(2, lambda: touched(4))
    data[:30 * MIB:4096] = bytes(30 * 256)
say("alone"); wait()
forked(2, rank)
say("forked"); wait()
"#;

/// Six workers; their parent copies a half of what it shares with them and frees a quarter.
const COPYING_PARENT: &str = r#"
first, second = touched(120), touched(40)
reader, writer = os.pipe()
workers = []
for _ in range(6):
    pid = os.fork()
    if pid == 0:
        os.write(writer, b"."); pause()
    workers.append(pid); os.read(reader, 1)
first[:80 * MIB:4096] = bytes(80 * 256)
second.close()
say("copied"); wait()
for count in (2, 3, 1):
    for _ in range(count):
        pid = workers.pop()
        os.kill(pid, 9); os.waitpid(pid, 0)
    say("fewer"); wait()
"#;

fn pids(sampler: &Sampler) -> Vec<leveloff_model::process::Pid> {
    sampler.infos().map(|info| info.key.pid).collect()
}

#[track_caller]
fn assert_near(total: Bytes, truth: u64, percent: f64) {
    assert!(
        within(total.0, truth, percent),
        "{total} against {}",
        Bytes(truth)
    );
}

#[test]
fn pages_that_only_forks_hold_count_with_them() {
    let mut python = PythonChild::start(COPYING_PARENT);
    python.read_line();
    let clock = HandClock::new();
    let mut sampler = sampler_of(python.pid(), &clock);
    let sample = settled(&mut sampler, &clock);
    assert_eq!((sample.tree().processes, sample.tree().unread), (7, 0));
    assert_near(sample.tree().total, independent_sum(pids(&sampler)), 1.0);
    let worker = sample.processes[1].memory().0;
    assert!(
        (20 * MIB..26 * MIB).contains(&worker),
        "a sixth of 120 MiB and what it has of its own: {}",
        Bytes(worker)
    );
}

#[test]
fn pages_that_only_forks_hold_stay_until_the_last_of_them_exits() {
    let mut python = PythonChild::start(COPYING_PARENT);
    python.read_line();
    let clock = HandClock::new();
    let mut sampler = sampler_of(python.pid(), &clock);
    let parent = settled(&mut sampler, &clock).processes[0].memory();
    for left in [4, 1, 0] {
        python.resume();
        python.read_line();
        clock.pass(0.1);
        // In the very next sample, before anything is read again.
        let fewer = sampler.tick().unwrap().sample;
        assert_eq!(fewer.processes.len(), left + 1);
        assert_near(fewer.tree().total, independent_sum(pids(&sampler)), 2.0);
        assert_near(fewer.processes[0].memory(), parent.0, 1.0);
    }
}

#[test]
fn forks_of_forks_are_counted_once() {
    let mut python = PythonChild::start(FORKS_OF_FORKS);
    python.read_line();
    python.resume();
    python.read_line();
    let clock = HandClock::new();
    let mut sampler = sampler_of(python.pid(), &clock);
    let sample = settled(&mut sampler, &clock);
    assert_eq!((sample.tree().processes, sample.tree().unread), (7, 0));
    assert_near(sample.tree().total, independent_sum(pids(&sampler)), 1.0);
    let root = sample.processes[0].memory().0;
    assert!(
        root < 60 * MIB,
        "what its forks share with their own forks is not the root's: {}",
        Bytes(root)
    );
}

#[test]
fn fresh_forks_of_forks_count_with_what_they_added() {
    let mut python = PythonChild::start(FORKS_OF_FORKS);
    python.read_line();
    let clock = HandClock::new();
    let mut sampler = sampler_of(python.pid(), &clock);
    settled(&mut sampler, &clock);
    python.resume();
    python.read_line();
    clock.pass(1.0);
    let forked = sampler.tick().unwrap().sample;
    assert_eq!((forked.tree().processes, forked.tree().unread), (7, 6));
    assert_near(forked.tree().total, independent_sum(pids(&sampler)), 15.0);
}
