//! Who and what grew, as shares that add up to one.

use leveloff_model::process::{Pid, Role};

use super::book::Book;
use super::roles::RoleTrack;
use crate::units::Amount;
use crate::verdict::{Blame, Kind};

/// A share smaller than this is put with the others: it explains nothing.
const WORTH_NAMING: f64 = 0.03;
/// One process stands for its role's growth when it has at least this share of it.
const STANDS_FOR_ITS_ROLE: f64 = 0.85;

/// The growth of every role and kind between two x.
pub(super) fn blame(book: &Book, from: f64, to: f64) -> Vec<Blame> {
    let mut parts: Vec<Blame> = book
        .roles
        .all()
        .flat_map(|role| {
            role.kinds().map(|(kind, track)| Blame {
                role: Some(role.role),
                pid: None,
                kind,
                share: 0.0,
                growth: Amount(track.growth_from_nothing(from, to)),
            })
        })
        .filter(|part| part.growth.0 != 0.0)
        .collect();
    fold_small_ones(&mut parts);
    share_out(&mut parts);
    for part in &mut parts {
        part.pid = part
            .role
            .and_then(|role| guilty_process(book, role, from, to));
    }
    parts
}

/// Growth that is in nobody's memory, with whoever it was traced to.
pub(super) fn outside(role: Option<Role>, growth: f64) -> Vec<Blame> {
    alone(role, Kind::DevShm, growth)
}

/// Descriptors that pile up while memory does not: those of the role that gained most.
pub(super) fn descriptors(book: &Book, from: f64, to: f64) -> Vec<Blame> {
    let gained = |role: &RoleTrack| role.descriptors.growth_since(from, to);
    let roles = book.roles.all();
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

fn guilty_process(book: &Book, role: Role, from: f64, to: f64) -> Option<Pid> {
    let grown = book.roles.get(role)?.memory.growth_from_nothing(from, to);
    let of_role = book.processes.living().filter(|track| track.role == role);
    let (pid, most) = of_role
        .map(|track| (track.pid, track.memory.growth_from_nothing(from, to)))
        .max_by(|a, b| a.1.total_cmp(&b.1))?;
    // More than the whole role's growth is a process that took a dead one's place.
    let stands_for_it =
        grown > 0.0 && (STANDS_FOR_ITS_ROLE..=2.0 - STANDS_FOR_ITS_ROLE).contains(&(most / grown));
    stands_for_it.then_some(pid)
}
