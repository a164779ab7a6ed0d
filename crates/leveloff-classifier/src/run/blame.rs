//! Who and what grew, as shares that add up to one.

use std::collections::BTreeMap;

use leveloff_model::process::Role;

use super::own_files;
use super::roles::RoleTrack;
use super::run_series::RunSeries;
use crate::observation::{Observation, ProcessShare};
use crate::share_history::{self, Snapshot};
use crate::units::Amount;
use crate::verdict::{Blame, Kind};

/// A share smaller than this is put with the others: it explains nothing.
const WORTH_NAMING: f64 = 0.03;
/// One process stands for its role's growth when it has at least this share of it.
const STANDS_FOR_ITS_ROLE: f64 = 0.85;

/// The roles and kinds that grew since the base. What shrank has no part in the growth.
///
/// Processes that exited may have taken more with them than the others have grown by. Then it is shared among those that live,
/// and counts for each role as far as it maps more: pages of an exited relative are not growth.
pub(super) fn blame(base: &Snapshot, now: &Observation) -> Vec<Blame> {
    let blamed = shares(base, now, grown(base, now));
    if !blamed.is_empty() {
        return blamed;
    }
    let living = base.without_exited(now);
    let mut parts = grown(&living, now);
    let mapped = share_history::rss_growth(&living, now);
    for part in parts.iter_mut().filter(|it| it.kind == Kind::Anonymous) {
        let mapped = part.role.and_then(|role| mapped.get(&role)).copied();
        part.growth.0 = part.growth.0.min(mapped.unwrap_or(0.0).max(0.0));
    }
    shares(&living, now, parts)
}

fn grown(base: &Snapshot, now: &Observation) -> Vec<Blame> {
    share_history::parts(base, now)
        .into_iter()
        .map(|part| Blame {
            role: Some(part.role),
            pid: None,
            rank: None,
            worker: None,
            kind: part.kind,
            share: 0.0,
            growth: Amount(part.now - part.base),
        })
        .collect()
}

fn shares(base: &Snapshot, now: &Observation, mut blamed: Vec<Blame>) -> Vec<Blame> {
    if blamed.iter().map(|part| part.growth.0).sum::<f64>() <= 0.0 {
        return Vec::new();
    }
    cancel_moved_pages(&mut blamed, &share_history::rss_growth(base, now));
    blamed.retain(|part| part.growth.0 > 0.0);
    fold_small_ones(&mut blamed);
    share_out(&mut blamed);
    for part in &mut blamed {
        if let Some(process) = part.role.and_then(|role| guilty_process(base, now, role)) {
            part.pid = Some(process.pid);
            part.rank = process.rank;
            part.worker = worker_number(process, now);
        }
    }
    blamed
}

/// Pages that a process gave up and a relative still holds are not growth of that relative: its share rises while it
/// maps no more than before.
fn cancel_moved_pages(parts: &mut [Blame], rss_growth: &BTreeMap<Role, f64>) {
    let beyond_rss = |part: &Blame| {
        let mapped = part.role.and_then(|role| rss_growth.get(&role)).copied();
        match part.kind {
            Kind::Anonymous => (part.growth.0 - mapped.unwrap_or(0.0).max(0.0)).max(0.0),
            _ => 0.0,
        }
    };
    let shrank = |part: &&Blame| part.kind == Kind::Anonymous && part.growth.0 < 0.0;
    let given_up: f64 = parts.iter().filter(shrank).map(|part| -part.growth.0).sum();
    let received: f64 = parts.iter().map(beyond_rss).sum();
    if received <= 0.0 {
        return;
    }
    let moved = given_up.min(received) / received;
    for part in parts {
        part.growth.0 -= moved * beyond_rss(part);
    }
}

/// Which worker of its data loader a process is. torch starts them in the order of their numbers.
fn worker_number(process: &ProcessShare, now: &Observation) -> Option<u32> {
    if process.role != Role::DataloaderWorker {
        return None;
    }
    let is_sibling = |other: &&ProcessShare| {
        (other.role, other.rank) == (process.role, process.rank) && other.index < process.index
    };
    u32::try_from(now.processes.iter().filter(is_sibling).count()).ok()
}

/// Growth of files that no process maps, with the role that it was traced to.
pub(super) fn outside(series: &RunSeries, role: Option<Role>, from: f64, to: f64) -> Vec<Blame> {
    let kind = match own_files::are_memfds(series, from, to) {
        true => Kind::Memfd,
        false => Kind::DevShm,
    };
    alone(role, kind, series.devshm.growth_since(from, to))
}

/// Descriptors that pile up while memory does not: those of the role that gained most.
pub(super) fn descriptors(series: &RunSeries, from: f64, to: f64) -> Vec<Blame> {
    let gained = |role: &RoleTrack| role.descriptors.growth_since(from, to);
    let roles = series.roles.all();
    let most = roles.max_by(|a, b| gained(a).total_cmp(&gained(b)));
    most.map_or_else(Vec::new, |role| {
        alone(Some(role.role), Kind::Descriptors, gained(role))
    })
}

fn alone(role: Option<Role>, kind: Kind, growth: f64) -> Vec<Blame> {
    vec![Blame {
        role,
        pid: None,
        rank: None,
        worker: None,
        kind,
        share: 1.0,
        growth: Amount(growth),
    }]
}

/// A small part goes to the same role's biggest part, else to the biggest of all, so that nothing
/// is lost from the sum.
fn fold_small_ones(parts: &mut Vec<Blame>) {
    parts.sort_by(|a, b| b.growth.0.total_cmp(&a.growth.0));
    let least = WORTH_NAMING * parts.iter().map(|part| part.growth.0).sum::<f64>();
    while parts.len() > 1 && parts.last().is_some_and(|part| part.growth.0 < least) {
        if let Some(small) = parts.pop() {
            let same_role = parts.iter().position(|part| part.role == small.role);
            parts[same_role.unwrap_or(0)].growth.0 += small.growth.0;
        }
    }
}

/// Thousandths, so that what is printed adds up too: the biggest takes what rounding leaves.
fn share_out(parts: &mut [Blame]) {
    let total: f64 = parts.iter().map(|part| part.growth.0).sum();
    parts.sort_by(|a, b| b.growth.0.total_cmp(&a.growth.0));
    let mut left = 1000.0;
    for part in parts.iter_mut().skip(1) {
        let thousandths = (part.growth.0 / total * 1000.0).floor();
        part.share = thousandths / 1000.0;
        left -= thousandths;
    }
    if let Some(biggest) = parts.first_mut() {
        biggest.share = left / 1000.0;
    }
}

fn guilty_process<'a>(
    base: &Snapshot,
    now: &'a Observation,
    role: Role,
) -> Option<&'a ProcessShare> {
    let growth = |process: &ProcessShare| process.memory.0 as f64 - base.held_by(process.index);
    let of_role = || now.processes.iter().filter(|process| process.role == role);
    let parts = share_history::parts(base, now);
    let of_parts = parts.iter().filter(|part| part.role == role);
    let grown: f64 = of_parts.map(|part| part.now - part.base).sum();
    let (process, most) = of_role()
        .map(|process| (process, growth(process)))
        .max_by(|a, b| a.1.total_cmp(&b.1))?;
    // More than the whole role's growth is a process that replaced one that exited.
    let stands_for_it =
        grown > 0.0 && (STANDS_FOR_ITS_ROLE..=2.0 - STANDS_FOR_ITS_ROLE).contains(&(most / grown));
    stands_for_it.then_some(process)
}

#[cfg(test)]
mod tests {
    use leveloff_model::process::{Pid, ProcessIndex, Rank};
    use leveloff_model::units::{Bytes, Seconds};
    use proptest::prelude::*;

    use super::*;
    use crate::share_history::ShareHistory;

    const ROLES: [Role; 4] = [
        Role::Trainer,
        Role::DataloaderWorker,
        Role::CompileWorker,
        Role::Helper,
    ];

    /// A process: its number, its role, what it holds of each kind and its RSS.
    type Made = (u32, usize, u64, u64, u64, u64);

    fn observation(t: f64, made: &[Made]) -> Observation {
        let mut processes: Vec<ProcessShare> = Vec::new();
        for &(index, role, anonymous, shared, swapped, rss) in made {
            if processes.iter().any(|one| one.index.0 == index) {
                continue;
            }
            processes.push(ProcessShare {
                memory: Bytes(anonymous + shared + swapped),
                shared: Bytes(shared),
                swapped: Bytes(swapped),
                rss: Bytes(rss),
                is_read: true,
                ..ProcessShare::unread(ProcessIndex(index), Pid(index as i32 + 1), ROLES[role])
            });
        }
        Observation {
            t: Some(Seconds(t)),
            memory: processes.iter().map(|process| process.memory).sum(),
            processes,
            ..Observation::default()
        }
    }

    fn blamed(before: &Observation, now: &Observation) -> Vec<Blame> {
        let mut history = ShareHistory::default();
        history.observe(before);
        blame(&history.first().unwrap(), now)
    }

    fn made() -> impl Strategy<Value = Vec<Made>> {
        let amount = || 0u64..1 << 40;
        let one = (0u32..12, 0usize..4, amount(), amount(), amount(), amount());
        proptest::collection::vec(one, 0..12)
    }

    proptest! {
        #[test]
        fn shares_are_in_range_and_add_up(before in made(), now in made()) {
            let blamed = blamed(&observation(0.0, &before), &observation(9.0, &now));
            for part in &blamed {
                prop_assert!((0.0..=1.0).contains(&part.share), "{part:?}");
                prop_assert!(part.growth.0 > 0.0, "{part:?}");
            }
            let sum: f64 = blamed.iter().map(|part| part.share).sum();
            prop_assert!(blamed.is_empty() || (sum - 1.0).abs() < 1e-9, "{sum}");
        }
    }

    #[test]
    fn pages_that_a_worker_leaves_behind_are_not_growth_of_the_trainer() {
        const MIB: u64 = 1 << 20;
        let before = observation(
            0.0,
            &[
                (0, 0, 200 * MIB, 0, 0, 500 * MIB),
                (1, 1, 150 * MIB, 0, 0, 300 * MIB),
                (2, 3, 10 * MIB, 0, 0, 10 * MIB),
            ],
        );
        // The worker has exited, its pages are the trainer's alone now, and the helper leaks.
        let now = observation(
            9.0,
            &[
                (0, 0, 340 * MIB, 0, 0, 500 * MIB),
                (2, 3, 60 * MIB, 0, 0, 60 * MIB),
            ],
        );
        let blamed = blamed(&before, &now);
        assert_eq!(blamed.len(), 1, "{blamed:?}");
        assert_eq!((blamed[0].role, blamed[0].share), (Some(Role::Helper), 1.0));
    }

    #[test]
    fn a_leak_is_blamed_on_its_process_though_larger_ones_have_exited() {
        const MIB: u64 = 1 << 20;
        let before = observation(
            0.0,
            &[
                (0, 0, 200 * MIB, 0, 0, 500 * MIB),
                (1, 2, 300 * MIB, 0, 0, 300 * MIB),
                (2, 3, 10 * MIB, 0, 0, 10 * MIB),
            ],
        );
        // The trainer leaks 60 MiB, and 20 MiB that it shared with the compile worker are its alone now.
        let now = observation(
            9.0,
            &[
                (0, 0, 280 * MIB, 0, 0, 560 * MIB),
                (2, 3, 10 * MIB, 0, 0, 10 * MIB),
            ],
        );
        let blamed = blamed(&before, &now);
        assert_eq!(blamed.len(), 1, "{blamed:?}");
        assert_eq!(
            (blamed[0].role, blamed[0].share),
            (Some(Role::Trainer), 1.0)
        );
        assert_eq!(blamed[0].growth.0, (60 * MIB) as f64);
    }

    #[test]
    fn a_worker_is_named_with_its_rank_and_number() {
        let workers = |leak: u64| -> Observation {
            let made: Vec<Made> = (0..4)
                .map(|n| (n, 1, if n == 2 { 100 + leak } else { 100 }, 0, 0, 1000))
                .collect();
            let mut observation = observation(leak as f64, &made);
            for process in &mut observation.processes {
                process.rank = Some(Rank(3));
                process.rss = process.memory;
            }
            observation
        };
        let blamed = blamed(&workers(0), &workers(500));
        assert_eq!((blamed[0].rank, blamed[0].worker), (Some(Rank(3)), Some(2)));
    }
}
