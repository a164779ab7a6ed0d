//! Measures what a tick costs on an existing tree, and the floor below it: one read of
//! `statm` for each process on a descriptor that is kept open, nothing parsed.
//!
//! `tick_cost PID TICKS [INTERVAL_MS|cold] [WARMUP_TICKS]` prints one line of JSON; CPU times in
//! microseconds a tick, the median over the ticks that come after the warmup. The mean beside it has what comes only now and then: the
//! machine's memory, a look through all of /proc, second looks at who is who.
//!
//! Ticks one right after the other find the kernel's structures of 21 processes in the core's
//! caches, and those of 1,000 not. With `cold` the caches are filled with something else before
//! each measurement, as a training does between two ticks.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::time::Duration;

use leveloff_model::process::Pid;
use leveloff_sampler::clock::thread_cpu;
use leveloff_sampler::proc_root::{ProcRoot, key_of};
use leveloff_sampler::processes::Scope;
use leveloff_sampler::sampler::{Sampler, SamplerOptions};

/// More than the caches of the machines that this is run on hold.
const CACHES: usize = 64 << 20;

/// What happens between two ticks.
enum Pace {
    Every(Duration),
    Cold(Vec<u8>),
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut number = |what: &str| -> u64 {
        arguments
            .next()
            .and_then(|text| text.parse().ok())
            .unwrap_or_else(|| {
                eprintln!("usage: tick_cost PID TICKS [INTERVAL_MS|cold] ({what} is missing)");
                std::process::exit(2)
            })
    };
    let pid = Pid(i32::try_from(number("PID")).expect("a pid"));
    let ticks = number("TICKS");
    let pace = match arguments.next().as_deref() {
        Some("cold") => Pace::Cold(vec![1; CACHES]),
        Some(text) => Pace::Every(Duration::from_millis(text.parse().expect("milliseconds"))),
        None => Pace::Every(Duration::ZERO),
    };
    let warmup: u64 = arguments
        .next()
        .map_or(0, |text| text.parse().expect("a number of ticks"));

    let root = key_of(&ProcRoot::live(), pid).expect("the process exists");
    let mut sampler = Sampler::new(SamplerOptions {
        scope: Scope::Descendants(vec![root]),
        interval: Duration::from_secs(1),
        // The slow readings run on a thread of their own and have a budget of their own; this is
        // about the tick.
        pss_budget_percent: 0.0,
        limit: None,
        log: None,
        step_regex: None,
        has_output: false,
        adopter: None,
        own_processes: Vec::new(),
    })
    .expect("a sampler");
    // The first ticks examine the processes; they are part of attaching, not of watching.
    for _ in 0..3 {
        sampler.tick().expect("a tick");
    }
    std::thread::sleep(Duration::from_millis(2100));
    sampler.tick().expect("a tick");
    for _ in 0..warmup {
        pace.wait();
        pace.wait();
        sampler.tick().expect("a tick");
    }
    let pids: Vec<Pid> = sampler.infos().map(|info| info.key.pid).collect();

    let mut tick_costs = Vec::new();
    let mut floor_costs = Vec::new();
    let files: Vec<File> = pids
        .iter()
        .filter_map(|pid| File::open(format!("/proc/{pid}/statm")).ok())
        .collect();
    let mut buffer = [0; 256];
    for _ in 0..ticks {
        pace.wait();
        tick_costs.push(cost(|| {
            sampler.tick().expect("a tick");
        }));
        // The floor must find the caches as the tick found them.
        pace.wait();
        floor_costs.push(cost(|| {
            for file in &files {
                file.read_at(&mut buffer, 0).expect("statm");
            }
        }));
    }
    println!(
        "{{\"processes\":{},\"tick_us\":{:.2},\"mean_us\":{:.2},\"floor_us\":{:.2}}}",
        pids.len(),
        median(&mut tick_costs),
        tick_costs.iter().sum::<f64>() / tick_costs.len() as f64,
        median(&mut floor_costs)
    );
}

impl Pace {
    /// Waits for half an interval: a tick and the raw reads alternate.
    fn wait(&self) {
        match self {
            Pace::Every(interval) => std::thread::sleep(*interval / 2),
            Pace::Cold(_) => self.evict(),
        }
    }

    /// Reads a byte of each cache line of something large.
    fn evict(&self) {
        if let Pace::Cold(large) = self {
            let lines = large.iter().step_by(64);
            std::hint::black_box(lines.map(|&byte| u64::from(byte)).sum::<u64>());
        }
    }
}

fn cost(work: impl FnOnce()) -> f64 {
    let before = thread_cpu();
    work();
    thread_cpu().saturating_sub(before).as_nanos() as f64 / 1000.0
}

fn median(costs: &mut [f64]) -> f64 {
    costs.sort_by(f64::total_cmp);
    costs[costs.len() / 2]
}
