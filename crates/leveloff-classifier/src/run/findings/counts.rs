//! What piles up outside memory: files in /dev/shm, descriptors, processes.

use super::{Case, Rule, count};
use crate::finding::Finding;
use crate::run::decide::shared_growth;
use crate::run::own_files::are_memfds;
use crate::run::track::Track;
use crate::verdict::Subject;

pub(super) const RULES: &[Rule] = &[shared_files, descriptors, processes];

/// Files in /dev/shm, or memfds, that no process maps.
fn shared_files(case: &Case) -> Option<Finding> {
    let track = &case.series.devshm;
    let leak = Leak::of(case, Subject::DevShm, track).or_else(|| own_files(case))?;
    let mapped = shared_growth(case.series, leak.onset, case.now);
    if mapped >= 0.5 * leak.grown {
        return None;
    }
    Some(match are_memfds(case.series, leak.onset, case.now) {
        true => Finding::MemfdGrowth(case.growth(leak.grown, leak.onset)),
        false => Finding::DevshmGrowth {
            growth: case.growth(leak.grown, leak.onset),
            owner: case.file_owner,
        },
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
    let leak = Leak::of(case, Subject::Processes, track).or_else(|| newcomers(case))?;
    let most = case.series.roles.all().max_by_key(|role| role.processes)?;
    Some(Finding::ProcessGrowth {
        more: count(leak.grown),
        now: count(track.newest()),
        role: most.role,
        of_role: most.processes,
        since: case.position(leak.onset),
    })
}

/// The growth is the memory of so many processes that started meanwhile, at least.
const FEWEST_NEWCOMERS: usize = 4;

/// Which hold at least this share of it.
const NEWCOMERS_HOLD: f64 = 0.6;

/// And which started over at least this share of the time: a pool of workers that starts at once does not pile up.
const NEWCOMERS_OVER: f64 = 0.5;

/// Memory grows because processes start and stay. A few are enough to show that, long before their count is a curve.
fn newcomers(case: &Case) -> Option<Leak> {
    let growth = case.memory_growth()?;
    let more = case.series.process_count.growth_since(case.onset, case.now);
    let (mut starts, mut held) = (Vec::new(), 0.0);
    for process in case.series.processes.living() {
        if let Some(start) = process
            .memory
            .began_at()
            .filter(|start| *start > case.onset)
        {
            starts.push(start);
            held += process.memory.newest();
        }
    }
    let first = starts.iter().copied().fold(f64::INFINITY, f64::min);
    let last = starts.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let piles_up = starts.len() >= FEWEST_NEWCOMERS
        && more >= FEWEST_NEWCOMERS as f64
        && last - first >= NEWCOMERS_OVER * (case.now - case.onset)
        && held >= NEWCOMERS_HOLD * growth;
    piles_up.then_some(Leak {
        onset: case.onset,
        grown: more,
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
