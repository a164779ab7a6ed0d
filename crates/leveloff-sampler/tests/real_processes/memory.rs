//! What a tree holds, against an independent sum over the kernel's own files.

use std::os::unix::fs::PermissionsExt;

use crate::python_child::{HandClock, PythonChild, sampler_of, sampler_on};
use leveloff_model::process::Pid;
use leveloff_model::sample::{Event, Sample, Subject};
use leveloff_model::units::Bytes;
use leveloff_sampler::proc_root::{ProcRoot, key_of};
use leveloff_sampler::processes::Scope;
use leveloff_sampler::sampler::Sampler;

const MIB: u64 = 1 << 20;

/// Ticks until every reading that is worth it has been taken.
pub fn settled(sampler: &mut Sampler, clock: &HandClock) -> Sample {
    for _ in 0..3 {
        sampler.tick().unwrap();
        sampler.wait_for_details();
        clock.pass(1.0);
    }
    sampler.tick().unwrap().sample
}

/// Σ(Pss_Anon + Pss_Shmem + SwapPss − LazyFree), read and parsed without our code.
pub fn independent_sum(pids: impl IntoIterator<Item = Pid>) -> u64 {
    pids.into_iter()
        .map(|pid| {
            let text = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap();
            let kib = |key: &str| -> u64 {
                let line = text.lines().find(|line| line.starts_with(key)).unwrap();
                line.split_whitespace().nth(1).unwrap().parse().unwrap()
            };
            (kib("Pss_Anon:") + kib("Pss_Shmem:") + kib("SwapPss:") - kib("LazyFree:")) * 1024
        })
        .sum()
}

pub fn within(a: u64, b: u64, percent: f64) -> bool {
    a.abs_diff(b) as f64 <= b as f64 * percent / 100.0
}

#[test]
fn twenty_forks_that_share_200_mb_are_counted_once() {
    let mut python = PythonChild::start(
        r#"
shared = touched(200)
reader, writer = os.pipe()
for _ in range(20):
    if os.fork() == 0:
        own = touched(5)
        os.write(writer, b"."); pause()
for _ in range(20): os.read(reader, 1)
say("ready"); wait()
"#,
    );
    python.read_line();
    let clock = HandClock::new();
    let mut sampler = sampler_of(python.pid(), &clock);
    let sample = settled(&mut sampler, &clock);
    let tree = sample.tree();
    let truth = independent_sum(sampler.infos().map(|info| info.key.pid));
    assert_eq!((tree.processes, tree.unread), (21, 0));
    assert!(
        within(tree.total.0, truth, 1.0),
        "{} against {}",
        tree.total,
        Bytes(truth)
    );
    assert!(
        (300 * MIB..360 * MIB).contains(&tree.total.0),
        "{}",
        tree.total
    );
    assert!(
        tree.rss.0 > 4000 * MIB,
        "a sum of RSS counts it 21 times: {}",
        tree.rss
    );
}

#[test]
fn growth_between_readings_is_carried_and_copies_are_noticed() {
    let mut python = PythonChild::start(
        r#"
shared = touched(100)
child = os.fork()
if child == 0: pause()
say("ready"); wait()
grown = touched(50)
say("grown"); wait()
shared[::4096] = bytes(100 * 256)
say("copied"); wait()
os.kill(child, 9)
"#,
    );
    python.read_line();
    let clock = HandClock::new();
    let mut sampler = sampler_of(python.pid(), &clock);
    let before = settled(&mut sampler, &clock);
    python.resume();
    python.read_line();
    clock.pass(0.1);
    let grown = sampler.tick().unwrap().sample;
    let growth = grown.tree().total.0 - before.tree().total.0;
    assert!(
        within(growth, 50 * MIB, 2.0),
        "carried without a new reading: {}",
        Bytes(growth)
    );
    let read_at = |sample: &Sample| sample.processes[0].pss.unwrap().at;
    assert_eq!(read_at(&grown), read_at(&before));

    // Writing to shared pages moves no counter but the faults: RSS says nothing happened.
    python.resume();
    python.read_line();
    let rss_before = grown.tree().rss;
    let copied = settled(&mut sampler, &clock);
    assert!(within(copied.tree().rss.0, rss_before.0, 1.0));
    let growth = copied.tree().total.0 - grown.tree().total.0;
    assert!(
        within(growth, 100 * MIB, 2.0),
        "copies are memory: {}",
        Bytes(growth)
    );
    python.resume();
}

#[test]
fn workers_that_end_leave_behind_what_they_shared() {
    let mut python = PythonChild::start(
        r#"
shared = touched(120)
workers = []
reader, writer = os.pipe()
for _ in range(3):
    pid = os.fork()
    if pid == 0:
        own = touched(4); os.write(writer, b"."); pause()
    workers.append(pid); os.read(reader, 1)
say("ready"); wait()
for pid in workers: os.kill(pid, 9); os.waitpid(pid, 0)
say("alone"); wait()
"#,
    );
    python.read_line();
    let clock = HandClock::new();
    let mut sampler = sampler_of(python.pid(), &clock);
    let together = settled(&mut sampler, &clock);
    let parents = together.processes[0].memory();
    assert!(
        parents.0 > 120 * MIB,
        "shared pages count with it: {parents}"
    );
    for worker in &together.processes[1..] {
        assert!(worker.memory().0 < 8 * MIB, "{}", worker.memory());
    }
    python.resume();
    python.read_line();
    clock.pass(1.0);
    // In the very next sample, before anything is read again.
    let alone = sampler.tick().unwrap().sample;
    let truth = independent_sum([python.pid()]);
    assert_eq!(alone.processes.len(), 1);
    assert!(
        within(alone.processes[0].memory().0, parents.0, 1.0),
        "nothing moves to it when its workers exit: {parents}, then {}",
        alone.processes[0].memory()
    );
    assert!(
        within(alone.tree().total.0, truth, 3.0),
        "{} against {}",
        alone.tree().total,
        Bytes(truth)
    );
}

/// Pages of a library that only one process uses are private as well, and are no copies of anything.
#[test]
fn pages_of_files_are_no_copies_of_shared_memory() {
    let mut python = PythonChild::start(
        r#"
import mmap, tempfile
shared = touched(120)
reader, writer = os.pipe()
for _ in range(3):
    if os.fork() == 0:
        file = tempfile.TemporaryFile()
        file.write(bytes(64 * MIB)); file.flush(); os.fsync(file.fileno())
        pages = mmap.mmap(file.fileno(), 64 * MIB, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ)
        seen = sum(pages[at] for at in range(0, 64 * MIB, 4096))
        os.write(writer, b"."); pause()
for _ in range(3): os.read(reader, 1)
say("forked"); wait()
"#,
    );
    python.read_line();
    let clock = HandClock::new();
    let mut sampler = sampler_of(python.pid(), &clock);
    let sample = settled(&mut sampler, &clock);
    let parent = sample.processes[0].memory();
    assert!(
        parent.0 > 120 * MIB,
        "shared pages count with the parent: {parent}"
    );
    for worker in &sample.processes[1..] {
        assert!(worker.memory().0 < 8 * MIB, "{}", worker.memory());
    }
}

#[test]
fn what_fresh_forks_have_copied_is_known_before_they_are_read() {
    let mut python = PythonChild::start(
        r#"
shared = touched(120)
say("ready"); wait()
reader, writer = os.pipe()
for _ in range(3):
    if os.fork() == 0:
        shared[:40 * MIB:4096] = bytes(40 * 256)
        os.write(writer, b"."); pause()
for _ in range(3): os.read(reader, 1)
say("forked"); wait()
"#,
    );
    python.read_line();
    let clock = HandClock::new();
    let mut sampler = sampler_of(python.pid(), &clock);
    let before = settled(&mut sampler, &clock);
    python.resume();
    python.read_line();
    clock.pass(1.0);
    let forked = sampler.tick().unwrap().sample;
    let tree = forked.tree();
    assert_eq!((tree.processes, tree.unread), (4, 3));
    assert!(
        tree.total.0 > before.tree().total.0 + 90 * MIB,
        "the copies count at once: {}",
        tree.total
    );
    let truth = independent_sum(sampler.infos().map(|info| info.key.pid));
    assert!(
        within(tree.total.0, truth, 15.0),
        "{} against {}",
        tree.total,
        Bytes(truth)
    );
    let read = settled(&mut sampler, &clock).tree();
    assert_eq!(read.unread, 0);
    assert!(within(read.total.0, truth, 2.0), "{}", read.total);
}

#[test]
fn pss_is_not_read_while_workers_are_replaced() {
    let mut python = PythonChild::start(
        r#"
shared = touched(120)
def forked():
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        own = touched(4); os.write(writer, b"."); pause()
    os.read(reader, 1)
    return pid
old = forked()
say("ready"); wait()
os.kill(old, 9); os.waitpid(old, 0)
say("between"); wait()
new = forked()
say("new"); wait()
"#,
    );
    python.read_line();
    let clock = HandClock::new();
    let mut sampler = sampler_of(python.pid(), &clock);
    let before = settled(&mut sampler, &clock);
    let read_at = |sample: &Sample| sample.processes[0].pss.unwrap().at;
    python.resume();
    python.read_line();
    for _ in 0..3 {
        clock.pass(0.1);
        sampler.tick().unwrap();
        sampler.wait_for_details();
    }
    // Had it been read here, the next fork would have been in half of what was read.
    clock.pass(0.1);
    let between = sampler.tick().unwrap().sample;
    assert_eq!(read_at(&between), read_at(&before));
    python.resume();
    python.read_line();
    let after = settled(&mut sampler, &clock);
    assert!(read_at(&after).0 > read_at(&before).0);
    let truth = independent_sum(sampler.infos().map(|info| info.key.pid));
    assert!(
        within(after.tree().total.0, truth, 3.0),
        "{} against {}",
        after.tree().total,
        Bytes(truth)
    );
}

#[test]
fn shared_memory_and_descriptors_are_counted() {
    let mut python = PythonChild::start(
        r#"
wait()
fd = os.memfd_create("batch")
os.ftruncate(fd, 30 * MIB)
batch = mmap.mmap(fd, 30 * MIB)
batch[::4096] = bytes(30 * 256)
say("mapped"); wait()
"#,
    );
    let clock = HandClock::new();
    // Interpreter start-up is over when it waits; the first look is a handshake away.
    python.resume();
    python.read_line();
    let mut sampler = sampler_of(python.pid(), &clock);
    let sample = settled(&mut sampler, &clock);
    let reading = &sample.processes[0];
    assert!(within(reading.shmem.0, 30 * MIB, 1.0), "{}", reading.shmem);
    assert!(within(reading.pss.unwrap().shmem.0, 30 * MIB, 1.0));
    let fds = std::fs::read_dir(format!("/proc/{}/fd", python.pid()))
        .unwrap()
        .count();
    assert_eq!(reading.fds, Some(u32::try_from(fds).unwrap()));
    let kinds = sample
        .mappings
        .expect("the mappings of the biggest process are read")
        .kinds;
    assert!(within(kinds.memfd.0, 30 * MIB, 1.0), "{}", kinds.memfd);
    assert!(kinds.heap.0 > 0 && kinds.file.0 > 0 && kinds.stacks.0 > 0);
    assert!(sample.cost.rss.0 > 0 && sample.machine.available.is_some());
}

/// A /proc of files, as an older kernel or a stricter machine would show it.
fn saved_copy(pid: Pid, names: &[&str]) -> (tempfile::TempDir, ProcRoot) {
    let directory = tempfile::tempdir().unwrap();
    let target = directory.path().join(pid.to_string());
    std::fs::create_dir(&target).unwrap();
    for name in names {
        let text = std::fs::read(format!("/proc/{pid}/{name}")).unwrap();
        std::fs::write(target.join(name), text).unwrap();
    }
    let root = ProcRoot::at(directory.path());
    (directory, root)
}

const LONG_FORM: [&str; 6] = ["stat", "statm", "status", "cmdline", "comm", "smaps"];

#[test]
fn a_kernel_without_smaps_rollup_is_read_by_the_long_form() {
    let mut python = PythonChild::start("kept = touched(40); say('ready'); wait()");
    python.read_line();
    let (_directory, root) = saved_copy(python.pid(), &LONG_FORM);
    let clock = HandClock::new();
    let key = key_of(&root, python.pid()).unwrap();
    let mut sampler = sampler_on(root, Scope::Descendants(vec![key]), &clock);
    let total = settled(&mut sampler, &clock).tree().total;
    let truth = independent_sum([python.pid()]);
    assert!(
        within(total.0, truth, 2.0),
        "{total} against {}",
        Bytes(truth)
    );
}

#[test]
fn memory_detail_that_may_not_be_read_is_a_gap_and_an_estimate() {
    let mut python = PythonChild::start("kept = touched(40); say('ready'); wait()");
    python.read_line();
    let (directory, root) = saved_copy(python.pid(), &LONG_FORM);
    // Root may read anything, except what is no file.
    let rollup = directory
        .path()
        .join(python.pid().to_string())
        .join("smaps_rollup");
    std::fs::create_dir(&rollup).unwrap();
    std::fs::set_permissions(&rollup, std::fs::Permissions::from_mode(0o000)).unwrap();
    std::fs::remove_file(
        directory
            .path()
            .join(python.pid().to_string())
            .join("smaps"),
    )
    .unwrap();
    std::fs::create_dir(
        directory
            .path()
            .join(python.pid().to_string())
            .join("smaps"),
    )
    .unwrap();
    let clock = HandClock::new();
    let key = key_of(&root, python.pid()).unwrap();
    let mut sampler = sampler_on(root, Scope::Descendants(vec![key]), &clock);
    let mut gaps = Vec::new();
    let mut last = None;
    for _ in 0..4 {
        let tick = sampler.tick().unwrap();
        gaps.extend(tick.events.into_iter().filter_map(|event| match event {
            Event::Gap(gap) if gap.subject == Subject::Pss => Some(gap),
            _ => None,
        }));
        last = Some(tick.sample);
        sampler.wait_for_details();
        clock.pass(1.0);
    }
    let tree = last.unwrap().tree();
    assert_eq!(gaps.len(), 1, "{gaps:?}");
    assert!(gaps[0].text.contains(&python.pid().to_string()));
    assert_eq!(tree.unread, 1);
    assert!(
        tree.total.0 > 40 * MIB,
        "an estimate, not a zero: {}",
        tree.total
    );
}

#[test]
fn time_never_steps_back_and_a_suspend_is_reported() {
    let mut python = PythonChild::start("say('ready'); wait()");
    python.read_line();
    let clock = HandClock::new();
    let mut sampler = sampler_of(python.pid(), &clock);
    let clock_gaps = |events: &[Event]| -> Vec<String> {
        events
            .iter()
            .filter_map(|event| match event {
                Event::Gap(gap) if gap.subject == Subject::Clock => Some(gap.text.clone()),
                _ => None,
            })
            .collect()
    };
    let first = sampler.tick().unwrap();
    clock.pass(1.0);
    clock.step_wall_clock(-7200.0);
    let second = sampler.tick().unwrap();
    assert_eq!(second.sample.t.0 - first.sample.t.0, 1.0);
    assert!(clock_gaps(&second.events).is_empty());
    clock.sleep(300.0);
    clock.pass(1.0);
    let third = sampler.tick().unwrap();
    assert!(clock_gaps(&third.events)[0].contains("suspended for 5 min"));
    clock.pass(40.0);
    let fourth = sampler.tick().unwrap();
    assert!(clock_gaps(&fourth.events)[0].contains("no sample for 40 s"));
}
