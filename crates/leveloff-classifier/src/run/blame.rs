//! Who and what grew, as shares that add up to one.

use leveloff_model::process::{Pid, Role};

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

/// The growth of every role and kind since the base.
pub(super) fn blame(base: &Snapshot, now: &Observation) -> Vec<Blame> {
    let mut blamed: Vec<Blame> = share_history::parts(base, now)
        .into_iter()
        .map(|part| Blame {
            role: Some(part.role),
            pid: None,
            kind: part.kind,
            share: 0.0,
            growth: Amount(part.now - part.base),
        })
        .filter(|part| part.growth.0 != 0.0)
        .collect();
    fold_small_ones(&mut blamed);
    share_out(&mut blamed);
    for part in &mut blamed {
        part.pid = part.role.and_then(|role| guilty_process(base, now, role));
    }
    blamed
}

/// Growth of files that no process maps, with the role that it was traced to.
pub(super) fn outside(role: Option<Role>, growth: f64) -> Vec<Blame> {
    alone(role, Kind::DevShm, growth)
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
        kind,
        share: 1.0,
        growth: Amount(growth),
    }]
}

/// A small part goes to the same role's biggest part, else to the biggest of all, so that nothing
/// is lost from the sum.
fn fold_small_ones(parts: &mut Vec<Blame>) {
    parts.sort_by(|a, b| b.growth.0.abs().total_cmp(&a.growth.0.abs()));
    let net: f64 = parts.iter().map(|part| part.growth.0).sum();
    let least = WORTH_NAMING * net.abs();
    while parts.len() > 1 && parts.last().is_some_and(|part| part.growth.0.abs() < least) {
        if let Some(small) = parts.pop() {
            let same_role = parts.iter().position(|part| part.role == small.role);
            parts[same_role.unwrap_or(0)].growth.0 += small.growth.0;
        }
    }
}

/// Thousandths, so that what is printed adds up too: the biggest takes what rounding leaves.
fn share_out(parts: &mut Vec<Blame>) {
    let net: f64 = parts.iter().map(|part| part.growth.0).sum();
    if net <= 0.0 {
        parts.clear();
        return;
    }
    parts.sort_by(|a, b| b.growth.0.total_cmp(&a.growth.0));
    let mut left = 1000.0;
    for part in parts.iter_mut().skip(1) {
        let thousandths = (part.growth.0 / net * 1000.0).round();
        part.share = thousandths / 1000.0;
        left -= thousandths;
    }
    if let Some(biggest) = parts.first_mut() {
        biggest.share = left / 1000.0;
    }
}

fn guilty_process(base: &Snapshot, now: &Observation, role: Role) -> Option<Pid> {
    let growth = |process: &ProcessShare| process.memory.0 as f64 - base.held_by(process.index);
    let of_role = || now.processes.iter().filter(|process| process.role == role);
    let parts = share_history::parts(base, now);
    let of_parts = parts.iter().filter(|part| part.role == role);
    let grown: f64 = of_parts.map(|part| part.now - part.base).sum();
    let (pid, most) = of_role()
        .map(|process| (process.pid, growth(process)))
        .max_by(|a, b| a.1.total_cmp(&b.1))?;
    // More than the whole role's growth is a process that replaced one that exited.
    let stands_for_it =
        grown > 0.0 && (STANDS_FOR_ITS_ROLE..=2.0 - STANDS_FOR_ITS_ROLE).contains(&(most / grown));
    stands_for_it.then_some(pid)
}
