//! However a pattern ends, nothing of it is left: no file, no process, no descriptor, no memory.

use std::fs;
use std::os::fd::OwnedFd;

use leveloff_trainer::patterns;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use crate::driven::Driven;
use crate::machine::{comm, descriptors, memory, tree, turn};

/// Processes that are to end get this long; they take a few milliseconds.
const PATIENCE: Timespec = Timespec {
    tv_sec: 20,
    tv_nsec: 0,
};

#[test]
fn a_dropped_pattern_leaves_nothing() {
    let _turn = turn();
    for entry in patterns::ALL {
        let name = entry.name;
        let often = ["evaluate_every=10", "checkpoint_every=10"];
        let mut driven = Driven::start(name, 60, &often);
        let open = descriptors(driven.pid());
        let start = memory(driven.pid());
        driven.order("begin");
        driven.steps(45);
        driven.order("drop");
        assert_eq!(tree(driven.pid()), [driven.pid()], "{name}");
        assert_eq!(descriptors(driven.pid()), open, "{name}");
        assert!(files_of(driven.pid()).is_empty(), "{name}");
        driven.order("trim");
        let left = memory(driven.pid()) - start;
        assert!(left < 2e6, "{name}: {left} bytes");
    }
}

#[test]
fn workers_end_with_a_trainer_that_is_killed() {
    for (name, settings, count) in [
        ("compile-workers", &[][..], 21),
        ("dataloader-workers", &[], 4),
        ("one-leaking-worker", &[], 4),
        ("native-leak", &["workers=20"], 20),
        ("worker-process-leak", &["evaluate_every=10"], 6),
    ] {
        let mut driven = Driven::begun(name, 60, settings);
        driven.steps(30);
        let workers = tree(driven.pid())[1..].to_vec();
        assert_eq!(workers.len(), count, "{name}");
        let handles: Vec<OwnedFd> = workers.iter().map(|&pid| handle(pid)).collect();
        driven.kill();
        for (handle, pid) in handles.iter().zip(workers) {
            let mut ended = [PollFd::new(handle, PollFlags::IN)];
            let count = poll(&mut ended, Some(&PATIENCE)).unwrap();
            assert_eq!(count, 1, "{name}: {pid} outlives its trainer");
        }
    }
}

#[test]
fn loader_workers_that_never_end_are_named_like_torch_s() {
    let mut driven = Driven::begun("worker-process-leak", 60, &["evaluate_every=10"]);
    driven.steps(10);
    let workers = tree(driven.pid())[1..].to_vec();
    assert_eq!(workers.len(), 2);
    assert!(workers.iter().all(|&pid| comm(pid) == "pt_data_worker"));
}

#[test]
fn what_a_killed_trainer_left_in_shared_memory_the_next_one_removes() {
    let _turn = turn();
    let mut killed = Driven::begun("shm-leak", 60, &["rate=64KiB"]);
    killed.steps(3);
    let pid = killed.pid();
    killed.kill();
    assert_eq!(files_of(pid).len(), 3);
    let mut alive = Driven::begun("shm-leak", 60, &["rate=64KiB"]);
    alive.steps(2);
    assert!(files_of(pid).is_empty());
    assert_eq!(files_of(alive.pid()).len(), 2);
    alive.order("drop");
}

#[test]
fn a_process_that_is_no_worker_says_so() {
    let output = std::process::Command::new(crate::driven::program())
        .env("LEVELOFF_TRAINER_WORKER", "nonsense")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.contains("LEVELOFF_TRAINER_WORKER"), "{error}");
    assert!(error.contains("unset it"), "{error}");
}

fn handle(pid: u32) -> OwnedFd {
    let pid = Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
    pidfd_open(pid, PidfdFlags::empty()).unwrap()
}

fn files_of(pid: u32) -> Vec<String> {
    let prefix = format!("leveloff-trainer-{pid}-");
    let names = fs::read_dir("/dev/shm").unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.starts_with(&prefix)).collect()
}
