//! What piles up outside memory: files in /dev/shm, descriptors, processes.

use super::{Case, Rule, count};
use crate::finding::Finding;
use crate::run::decide::shared_growth;
use crate::run::track::Track;
use crate::verdict::Subject;

pub(super) const RULES: &[Rule] = &[devshm, descriptors, processes];

/// Files in /dev/shm that no process maps.
fn devshm(case: &Case) -> Option<Finding> {
    let track = &case.series.devshm;
    let leak = Leak::of(case, Subject::DevShm, track).or_else(|| own_files(case))?;
    let mapped = shared_growth(case.series, leak.onset, case.now);
    (mapped < 0.5 * leak.grown).then(|| Finding::DevshmGrowth {
        growth: case.growth(leak.grown, leak.onset),
        owner: case.file_owner,
    })
}

/// Files of the run are reported as soon as the run is judged by them.
fn own_files(case: &Case) -> Option<Leak> {
    if case.decision.decisive != Subject::DevShm {
        return None;
    }
    let track = &case.series.devshm;
    let onset = track.began_at()?;
    Some(Leak {
        onset,
        grown: track.growth_since(onset, case.now),
    })
}

/// Open descriptors that pile up.
fn descriptors(case: &Case) -> Option<Finding> {
    let track = &case.series.descriptors;
    let leak = Leak::of(case, Subject::Descriptors, track)?;
    let growth = |track: &Track| track.growth_since(leak.onset, case.now);
    let roles = case.series.roles.all();
    let most = roles.max_by(|a, b| growth(&a.descriptors).total_cmp(&growth(&b.descriptors)))?;
    Some(Finding::DescriptorGrowth {
        more: count(leak.grown),
        now: count(track.newest()),
        role: most.role,
        since: case.position(leak.onset),
    })
}

/// Processes that pile up.
fn processes(case: &Case) -> Option<Finding> {
    let track = &case.series.process_count;
    let leak = Leak::of(case, Subject::Processes, track)?;
    let most = case.series.roles.all().max_by_key(|role| role.processes)?;
    Some(Finding::ProcessGrowth {
        more: count(leak.grown),
        now: count(track.newest()),
        role: most.role,
        of_role: most.processes,
        since: case.position(leak.onset),
    })
}

/// A series that leaks on its own.
struct Leak {
    onset: f64,
    grown: f64,
}

impl Leak {
    fn of(case: &Case, subject: Subject, track: &Track) -> Option<Leak> {
        let judgement = case.judgements.of_subject(subject)?;
        if !judgement.verdict.is_alarm() {
            return None;
        }
        let onset = judgement.onset_x.map_or(case.onset, |onset| onset.0);
        let grown = track.growth_since(onset, case.now);
        Some(Leak { onset, grown })
    }
}
