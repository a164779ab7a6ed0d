//! What polling the sources of progress costs when nothing is new:
//! `cargo bench -p leveloff-sampler --bench progress`.

use divan::Bencher;
use leveloff_model::process::{Pid, ProcessIndex};
use leveloff_model::units::Seconds;
use leveloff_sampler::proc_root::ProcRoot;
use leveloff_sampler::progress::{ProgressOptions, ProgressTracker};

fn main() {
    divan::main();
}

/// A poll at 10 Hz of a log and marks in which nothing is new, look-ups each second included.
#[divan::bench]
fn idle_poll(bencher: Bencher<'_, '_>) {
    let log = tempfile::NamedTempFile::new().expect("a temporary file");
    std::fs::write(log.path(), "step 1: loss 2\n").expect("its content");
    let options = ProgressOptions {
        log: Some(log.path().to_owned()),
        ..ProgressOptions::default()
    };
    let mut tracker = ProgressTracker::new(options).expect("a tracker");
    let us = Pid(std::process::id() as i32);
    tracker.watch_process(&ProcRoot::live(), ProcessIndex(0), us, None);
    let mut t = 0.0;
    bencher.bench_local(|| {
        t += 0.1;
        tracker.poll(Seconds(t), std::time::SystemTime::now())
    });
}
