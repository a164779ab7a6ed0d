//! "13 GB + 8 GB = 21 GB just for compilation": what was there in truth.

use leveloff_classifier::finding::Finding;
use leveloff_classifier::observation::{Observation, ProcessShare, XUnit};
use leveloff_classifier::run::RunJudge;
use leveloff_classifier::verdict::{RunVerdict, Verdict};
use leveloff_model::process::{Pid, ProcessIndex, Role};
use leveloff_model::recording::StatedFacts;
use leveloff_model::units::Seconds;

use crate::run::{MB, bytes};

/// Measured: a forked compile worker shows 400 MB of RSS, nearly all of it shared with the others.
const WORKER_RSS: f64 = 400.0;
const WORKER_MEMORY: f64 = 25.0;
const WORKERS: u32 = 20;

#[test]
fn workers_are_not_the_sum_of_their_rss() {
    let said = two_minutes();
    let overcount = Finding::WorkerOvercount {
        role: Role::CompileWorker,
        processes: 20,
        rss: bytes(20.0 * WORKER_RSS),
        memory: bytes(20.0 * WORKER_MEMORY),
    };
    assert!(said.findings.contains(&overcount), "{:?}", said.findings);
    assert_eq!(
        said.memory.extremes.unwrap().first.0,
        (13_200.0 + 500.0) * MB
    );
}

#[test]
fn the_growth_is_the_trainer_s() {
    let said = two_minutes();
    assert_eq!(said.verdict, Verdict::WarmingUp);
    let guilty: Vec<_> = said.blame.iter().map(|blame| blame.role).collect();
    assert_eq!(guilty, [Some(Role::Trainer)]);
    let rate = said.memory.rate.unwrap();
    assert!((rate.value.0 / (20.6 * MB) - 1.0).abs() < 0.01, "{rate:?}");
    assert_eq!(said.x_unit, XUnit::Second);
}

/// A reading every ten seconds, of a run that does not report its steps.
fn two_minutes() -> RunVerdict {
    let mut judge = RunJudge::new(XUnit::Step, &StatedFacts::default());
    for reading in 0..=12 {
        judge.observe(&moment(f64::from(reading)));
    }
    judge.verdict()
}

fn moment(reading: f64) -> Observation {
    let trainer = process(0, Role::Trainer, 13_200.0 + 206.0 * reading, None);
    let workers =
        (1..=WORKERS).map(|n| process(n, Role::CompileWorker, WORKER_MEMORY, Some(WORKER_RSS)));
    let processes: Vec<ProcessShare> = [trainer].into_iter().chain(workers).collect();
    Observation {
        t: Some(Seconds(10.0 * reading)),
        memory: processes.iter().map(|process| process.memory).sum(),
        rss_sum: Some(processes.iter().map(|process| process.rss).sum()),
        processes,
        ..Observation::default()
    }
}

fn process(number: u32, role: Role, megabytes: f64, rss: Option<f64>) -> ProcessShare {
    ProcessShare {
        rss: bytes(rss.unwrap_or(megabytes)),
        ..ProcessShare::with_memory(
            ProcessIndex(number),
            Pid(138_715 + number as i32),
            role,
            bytes(megabytes),
        )
    }
}
