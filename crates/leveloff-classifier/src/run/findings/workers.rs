//! What worker processes do, and what their RSS only seems to show.

use leveloff_model::process::Role;
use leveloff_model::units::Bytes;

use super::{Case, Rule};
use crate::finding::Finding;
use crate::run::copied_pages::copied;
use crate::run::processes::ProcessTrack;
use crate::run::roles::Complete;

pub(super) const RULES: &[Rule] = &[copy_on_write, one_of_many];

/// A role is over-counted when RSS shows more than so many times its memory …
const OVERCOUNT_TIMES: f64 = 2.0;
/// … and at least this much more than there is: less does not mislead.
const OVERCOUNT_AT_LEAST: f64 = (1_u64 << 30) as f64;
/// One of several processes stands out when it has at least this share of the role's growth.
const STANDS_OUT: f64 = 0.7;

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
