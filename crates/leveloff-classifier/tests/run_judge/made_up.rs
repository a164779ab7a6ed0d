//! Runs made up for tests: what the total, the roles and the counts do is said in one closure.

use leveloff_classifier::finding::Finding;
use leveloff_classifier::observation::{Observation, ProcessShare, XUnit};
use leveloff_classifier::run::RunJudge;
use leveloff_classifier::verdict::RunVerdict;
use leveloff_model::process::{Pid, ProcessIndex, Role};
use leveloff_model::recording::StatedFacts;
use leveloff_model::units::{Bytes, Seconds};

/// One MiB as a number to reckon with.
pub const MIB: f64 = 1_048_576.0;

/// A process with `mib` of anonymous memory.
pub fn process(number: u32, role: Role, mib: f64) -> ProcessShare {
    ProcessShare {
        fds: Some(10),
        ..ProcessShare::with_memory(
            ProcessIndex(number),
            Pid(1000 + number as i32),
            role,
            Bytes((mib * MIB) as u64),
        )
    }
}

/// The moment of a step, a second each, with these processes.
pub fn moment(step: u32, processes: Vec<ProcessShare>) -> Observation {
    Observation {
        count: Some(f64::from(step)),
        t: Some(Seconds(f64::from(step))),
        memory: processes.iter().map(|process| process.memory).sum(),
        processes,
        ..Observation::default()
    }
}

/// A trainer alone.
pub fn trainer(step: u32, mib: f64) -> Observation {
    moment(step, vec![process(0, Role::Trainer, mib)])
}

/// A wobble of a few tenths around zero, the same in every run.
pub fn wobble(step: u32) -> f64 {
    let mixed = step.wrapping_mul(2_654_435_761).rotate_left(13) ^ step.wrapping_mul(40_503);
    f64::from(mixed % 1000) / 1000.0 - 0.5
}

/// Judges a run with nothing stated.
pub fn judged(run: impl IntoIterator<Item = Observation>) -> RunVerdict {
    judged_with(&StatedFacts::default(), run)
}

/// Judges a run with what was stated.
pub fn judged_with(stated: &StatedFacts, run: impl IntoIterator<Item = Observation>) -> RunVerdict {
    let mut judge = RunJudge::new(XUnit::Step, stated);
    for observation in run {
        judge.observe(&observation);
    }
    judge.verdict()
}

/// Where a leak was said first, looking after every observation.
pub fn first_leak(run: impl IntoIterator<Item = Observation>) -> Option<f64> {
    let mut judge = RunJudge::new(XUnit::Step, &StatedFacts::default());
    run.into_iter().find_map(|observation| {
        judge.observe(&observation);
        let leaks = judge.verdict().verdict.is_alarm();
        leaks.then_some(observation.count.unwrap_or(-1.0))
    })
}

/// The finding of this name, if the verdict has it.
pub fn finding<'a>(verdict: &'a RunVerdict, name: &str) -> Option<&'a Finding> {
    assert!(Finding::NAMES.contains(&name), "{name}");
    let mut findings = verdict.findings.iter();
    findings.find(|finding| finding.name() == name)
}
