//! What worker processes do, and what their RSS only seems to show.

use leveloff_model::process::Role;
use leveloff_model::units::Bytes;

use super::{Case, Rule};
use crate::finding::Finding;
use crate::run::copied_pages::copied;
use crate::run::processes::ProcessTrack;
use crate::run::roles::Complete;

pub(super) const RULES: &[Rule] = &[copy_on_write, one_of_many, exited];

/// A role is over-counted when RSS shows more than so many times its memory …
const OVERCOUNT_TIMES: f64 = 2.0;
/// … and at least this much more than there is: less does not mislead.
const OVERCOUNT_AT_LEAST: f64 = (1_u64 << 30) as f64;
/// One of several processes stands out when it has at least this share of the role's growth.
const STANDS_OUT: f64 = 0.7;

/// What a process had grown by when it exited is material if it is this share of what the run holds now.
const NOTABLE_OF_RUN: f64 = 0.1;
/// A process grew until it exited if it grew by this share in each third of its life: one that loads something at its start
/// did not.
const IN_EACH_THIRD: f64 = 0.2;
/// A shorter life shows no course.
const LEAST_POINTS: u64 = 12;

/// Forked loader workers write to pages that they shared with the trainer.
fn copy_on_write(case: &Case) -> Option<Finding> {
    let copied = copied(case.series, case.now, case.material())?;
    let workers = case.series.roles.get(Role::DataloaderWorker)?;
    Some(Finding::CopyOnWrite {
        workers: workers.processes,
        copied: case.growth(copied.amount, copied.since),
    })
}

/// One of several processes of a role grows, the others do not.
fn one_of_many(case: &Case) -> Option<Finding> {
    let growth = case.memory_growth()?;
    let grown = |track: &ProcessTrack| track.memory.growth_since(case.onset, case.now);
    let (most, role) = case
        .series
        .processes
        .living()
        .filter_map(|track| Some((track, case.series.roles.get(track.role)?)))
        .filter(|(_, role)| role.processes > 1)
        .max_by(|a, b| grown(a.0).total_cmp(&grown(b.0)))?;
    let own = grown(most);
    let all = role.memory.growth_since(case.onset, case.now);
    let stands_out = own >= case.material() && own >= STANDS_OUT * all && own >= 0.3 * growth;
    stands_out.then(|| Finding::OneProcess {
        pid: most.pid,
        role: role.role,
        of_role: role.processes,
        growth: case.growth(own, case.onset),
    })
}

/// A process grew until it exited.
fn exited(case: &Case) -> Option<Finding> {
    let notable = case
        .material()
        .max(NOTABLE_OF_RUN * case.series.memory.newest());
    let exited = case.series.processes.exited();
    let grown: Vec<(&ProcessTrack, f64)> = exited
        .filter_map(|track| Some((track, grown_until_exit(track)?)))
        .filter(|(_, growth)| *growth >= notable)
        .collect();
    let (most, growth) = grown.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    Some(Finding::ExitedGrowth {
        pid: most.pid,
        role: most.role,
        growth: case.growth(*growth, most.memory.began_at()?),
        exited: case.position(most.memory.newest_x()?),
        others: grown.len() - 1,
    })
}

/// How much a process had grown at its end, if it grew all its life. What it gave back in its last moments counts as held.
fn grown_until_exit(track: &ProcessTrack) -> Option<f64> {
    let memory = &track.memory;
    let (first, last) = (memory.began_at()?, memory.newest_x()?);
    let growth = memory.highest() - memory.first();
    let at = |third: f64| memory.value_at(first + third / 3.0 * (last - first));
    let places = [memory.first(), at(1.0)?, at(2.0)?, memory.highest()];
    let grows = |pair: &[f64]| pair[1] - pair[0] >= IN_EACH_THIRD * growth;
    let always = growth > 0.0 && places.windows(2).all(grows);
    (memory.points() >= LEAST_POINTS && always).then_some(growth)
}

/// A role whose RSS counts shared pages many times over.
pub(super) fn overcounted(case: &Case, role: Role) -> Option<Finding> {
    let Complete {
        processes,
        rss,
        memory,
        ..
    } = case.series.roles.get(role)?.complete;
    let misleads =
        processes > 1 && rss > OVERCOUNT_TIMES * memory && rss - memory > OVERCOUNT_AT_LEAST;
    misleads.then_some(Finding::WorkerOvercount {
        role,
        processes,
        rss: Bytes(rss as u64),
        memory: Bytes(memory as u64),
    })
}
