//! A trainer that ignores requests or signals, for tests of a guard's later stages.

use std::fs;

use rustix::process::Signal;

use crate::trainer::Home;

#[test]
fn it_claims_to_obey_requests_and_ignores_them() {
    let home = Home::new();
    let mut running = home.start("--steps 1000000 --ignore-requests");
    running.wait_for_step(1);
    let request = home.path(&format!("marks/{}.stop", running.pid()));
    fs::write(&request, "").expect("written");
    running.wait_for_step(6);
    assert!(request.exists(), "it is not removed");
    assert_eq!(home.marks_so_far(running.pid())[1]["obeys_stop"], true);
    running.send(Signal::TERM);
    assert_eq!(running.end().0.code(), Some(0));
}

#[test]
fn its_workers_ignore_signals_too() {
    let home = Home::new();
    let mut running =
        home.start("--steps 1000000 --ignore-signals --pattern native-leak --workers 3");
    running.wait_for_step(1);
    let workers = children_of(running.pid());
    assert_eq!(workers.len(), 3);
    for &pid in workers.iter().chain([&running.pid()]) {
        assert!(
            ignores(pid, Signal::TERM) && ignores(pid, Signal::INT),
            "{pid}"
        );
    }
    running.send(Signal::TERM);
    running.send(Signal::INT);
    running.send(Signal::INT);
    running.wait_for_step(6);
    let request = home.path(&format!("marks/{}.stop", running.pid()));
    fs::write(&request, "").expect("written");
    assert_eq!(running.end().0.code(), Some(0));
}

#[test]
fn a_compile_pool_ignores_signals_with_its_trainer() {
    let home = Home::new();
    let mut running =
        home.start("--steps 1000000 --ignore-signals --pattern compile-workers --workers 2");
    running.wait_for_step(1);
    let pool = children_of(running.pid());
    let workers = children_of(pool[0]);
    assert_eq!((pool.len(), workers.len()), (1, 2));
    for pid in pool.into_iter().chain(workers) {
        assert!(ignores(pid, Signal::TERM), "{pid}");
    }
}

#[test]
fn without_the_option_workers_do_not_ignore_signals() {
    let home = Home::new();
    let mut running = home.start("--steps 1000000 --pattern native-leak --workers 20");
    running.wait_for_step(1);
    let workers = children_of(running.pid());
    assert_eq!(workers.len(), 20);
    assert!(workers.iter().all(|&pid| !ignores(pid, Signal::TERM)));
}

fn children_of(pid: u32) -> Vec<u32> {
    let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"));
    let children = children.expect("readable");
    let pids = children.split_whitespace().map(str::parse);
    pids.collect::<Result<_, _>>().expect("pids")
}

fn ignores(pid: u32, signal: Signal) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("readable");
    let line = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let set = u64::from_str_radix(line.expect("there").trim(), 16).expect("a number");
    set & (1 << (signal.as_raw() - 1)) != 0
}
