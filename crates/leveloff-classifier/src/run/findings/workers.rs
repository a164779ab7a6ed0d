//! What worker processes do, and what they only seem to do.

use leveloff_model::process::Role;
use leveloff_model::units::Bytes;

use super::{Case, amount, finding, members};
use crate::run::copied::copied;
use crate::run::roles::Complete;
use crate::verdict::Finding;

/// A role is over-counted when RSS shows more than so many times its memory …
const OVERCOUNT_TIMES: f64 = 2.0;
/// … and at least this much that is not there: less misleads nobody.
const OVERCOUNT_AT_LEAST: f64 = (1_u64 << 30) as f64;
/// One of several processes stands out when it has at least this share of the role's growth.
const STANDS_OUT: f64 = 0.7;

/// Forked loader workers write to pages that they shared with the trainer.
pub(super) fn copy_on_write(case: &Case) -> Option<Finding> {
    let copied = copied(case.book, case.now, case.material())?;
    let workers = case.book.roles.get(Role::DataloaderWorker)?;
    let who = members(Role::DataloaderWorker, workers.processes);
    let (grown, since) = (amount(copied.amount), case.place(copied.since));
    let text = format!(
        "{who} made {grown} of shared pages their own since {since} while their RSS stood still: reference \
         counts are written into objects that the fork shared (pytorch#13246)"
    );
    let next = "hold the data set in arrays (NumPy, torch, Arrow) and not in lists or dicts of Python \
                objects; it is bounded by the size of the list times the number of workers";
    Some(finding("copy-on-write", text, next))
}

/// One of several processes of a role grows, the others do not.
pub(super) fn one_of_many(case: &Case) -> Option<Finding> {
    let growth = case.memory_growth()?;
    let (most, role) = case
        .book
        .processes
        .living()
        .filter_map(|track| Some((track, case.book.roles.get(track.role)?)))
        .filter(|(_, role)| role.processes > 1)
        .max_by(|a, b| {
            let grown = |track: &crate::run::processes::ProcessTrack| {
                track.memory.growth_since(case.onset, case.now)
            };
            grown(a.0).total_cmp(&grown(b.0))
        })?;
    let own = most.memory.growth_since(case.onset, case.now);
    let all = role.memory.growth_since(case.onset, case.now);
    let stands_out = own >= case.material() && own >= STANDS_OUT * all && own >= 0.3 * growth;
    stands_out.then(|| {
        let (pid, who) = (most.pid, members(role.role, role.processes));
        let (grown, since) = (amount(own), case.since());
        let text = format!("one of {who} grew by {grown} {since}, the others hardly: {pid}");
        let next = format!("py-spy dump --pid {pid} shows what it does; what does it hold that its siblings do not?");
        finding("one-process", text, &next)
    })
}

/// A role whose RSS counts shared pages many times over.
pub(super) fn overcounted(case: &Case, role: Role) -> Option<Finding> {
    let Complete {
        processes,
        rss,
        memory,
        ..
    } = case.book.roles.get(role)?.complete;
    let misleads =
        processes > 1 && rss > OVERCOUNT_TIMES * memory && rss - memory > OVERCOUNT_AT_LEAST;
    misleads.then(|| {
        let who = members(role, processes);
        let (rss, memory) = (Bytes(rss as u64), Bytes(memory as u64));
        let text = format!("{who}: {rss} of RSS, {memory} of memory");
        let next = "read the memory, not the sum of RSS, which counts a shared page once for each of \
                    them; turning these workers off would save the smaller number";
        finding("worker-overcount", text, next)
    })
}
