//! What a sample of a process tree costs with the `sysinfo` crate: its processes refreshed with
//! nothing but their memory, and the tree gathered by parents.
//!
//! `sysinfo_cost PID SAMPLES [INTERVAL_MS]` prints one line of JSON like `tick_cost`.

use std::time::Duration;

use leveloff_sampler::clock::thread_cpu;
use sysinfo::{Pid, ProcessRefreshKind, ProcessesToUpdate, System};

fn main() {
    let numbers: Vec<u64> = std::env::args()
        .skip(1)
        .map_while(|text| text.parse().ok())
        .collect();
    let (pid, samples, interval_ms) = match numbers[..] {
        [pid, samples] => (pid, samples, 0),
        [pid, samples, interval_ms] => (pid, samples, interval_ms),
        _ => {
            eprintln!("usage: sysinfo_cost PID SAMPLES [INTERVAL_MS]");
            std::process::exit(2)
        }
    };
    let root = Pid::from(usize::try_from(pid).expect("a pid"));
    let mut system = System::new().expect("a readable machine");
    let processes = sample(&mut system, root);
    let mut costs: Vec<f64> = (0..samples)
        .map(|_| {
            std::thread::sleep(Duration::from_millis(interval_ms));
            let before = thread_cpu();
            sample(&mut system, root);
            thread_cpu().saturating_sub(before).as_nanos() as f64 / 1000.0
        })
        .collect();
    let mean = costs.iter().sum::<f64>() / costs.len() as f64;
    costs.sort_by(f64::total_cmp);
    println!(
        "{{\"processes\":{processes},\"tick_us\":{:.2},\"mean_us\":{mean:.2}}}",
        costs[costs.len() / 2]
    );
}

/// Refreshes all processes (sysinfo cannot look for new children only) and sums up the tree.
fn sample(system: &mut System, root: Pid) -> usize {
    let memory_only = ProcessRefreshKind::nothing().with_memory();
    system.refresh_processes_specifics(ProcessesToUpdate::All, true, memory_only);
    let mut tree = vec![root];
    let mut memory = 0;
    let mut next = 0;
    while let Some(&member) = tree.get(next) {
        next += 1;
        memory += system.process(member).map_or(0, sysinfo::Process::memory);
        let children = system.processes().values();
        tree.extend(
            children
                .filter(|process| process.parent() == Some(member))
                .map(sysinfo::Process::pid),
        );
    }
    std::hint::black_box(memory);
    tree.len()
}
