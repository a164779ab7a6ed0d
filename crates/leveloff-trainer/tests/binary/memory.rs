//! Without a pattern, memory stands still.

use rustix::process::Signal;

use crate::trainer::Home;

/// What it may move by.
const FLAT_KIB: u64 = 1024;

#[test]
fn a_healthy_training_is_flat() {
    let home = Home::new();
    let arguments = "--steps 1000000 --checkpoint-every 40 --checkpoint-dir CKPT --seed 3";
    let mut running = home.start(arguments);
    running.wait_for_step(100);
    let before = private_kib(running.pid());
    running.wait_for_step(350);
    let after = private_kib(running.pid());
    running.send(Signal::TERM);
    running.end();
    assert!(before > FLAT_KIB, "{before} KiB cannot be all of it");
    assert!(before.abs_diff(after) < FLAT_KIB, "{before} to {after} KiB");
}

/// Through smaps_rollup: anonymous pages, shared ones by their share.
fn private_kib(pid: u32) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).expect("readable");
    let line = text.lines().find_map(|line| line.strip_prefix("Pss_Anon:"));
    let number = line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse().ok());
    number.expect("a number")
}
