//! The memory of each role and, within it, of each kind.

use leveloff_model::process::Role;

use super::track::Track;
use crate::observation::ProcessShare;

/// A role's series: they begin when the first process of the role is seen.
#[derive(Debug, Clone, Default)]
pub(super) struct RoleTracks {
    roles: [Option<Box<RoleTrack>>; Role::ALL.len()],
}

/// One role's series.
#[derive(Debug, Clone)]
pub(super) struct RoleTrack {
    /// The part its processes play.
    pub(super) role: Role,
    /// All its memory.
    pub(super) memory: Track,
    /// Anonymous memory.
    pub(super) anonymous: Track,
    /// The same where the share of each of its processes was read, without what is estimated since.
    pub(super) anonymous_read: Track,
    /// Shared memory.
    pub(super) shared: Track,
    /// Swapped out.
    pub(super) swapped: Track,
    /// A sum of RSS, which copy-on-write growth does not move.
    pub(super) rss: Track,
    /// Open descriptors of its processes, where all could be counted.
    pub(super) descriptors: Track,
    /// Its living processes now.
    pub(super) processes: usize,
    /// It as it was last complete.
    pub(super) complete: Complete,
}

/// A role when it last had most of its processes: at the end of a run they go one by one, and what
/// is said of them should not go with them.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Complete {
    /// Its processes.
    pub(super) processes: usize,
    /// The most it ever had.
    most: usize,
    /// Their RSS, summed up.
    pub(super) rss: f64,
    /// Their memory.
    pub(super) memory: f64,
}

#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    processes: usize,
    /// Those that hold anything: one that is leaving does not.
    holding: usize,
    memory: f64,
    anonymous: f64,
    estimated: f64,
    shared: f64,
    swapped: f64,
    rss: f64,
    descriptors: f64,
    uncounted: usize,
    unread: usize,
}

impl RoleTracks {
    /// Takes the processes of the next observation. A role whose processes are gone holds nothing,
    /// which is a point of its series too.
    pub(super) fn observe(&mut self, x: f64, processes: &[ProcessShare]) {
        let mut sums = [Sums::default(); Role::ALL.len()];
        for process in processes {
            sums[place(process.role)].add(process);
        }
        for role in Role::ALL {
            let sums = sums[place(role)];
            let track = &mut self.roles[place(role)];
            if sums.processes > 0 || track.is_some() {
                track
                    .get_or_insert_with(|| Box::new(RoleTrack::new(role)))
                    .push(x, &sums);
            }
        }
    }

    /// Every role that was ever seen.
    pub(super) fn all(&self) -> impl Iterator<Item = &RoleTrack> {
        self.roles.iter().flatten().map(|track| &**track)
    }

    /// A role's series, if it was ever seen.
    pub(super) fn get(&self, role: Role) -> Option<&RoleTrack> {
        self.roles[place(role)].as_deref()
    }
}

impl RoleTrack {
    fn new(role: Role) -> RoleTrack {
        RoleTrack {
            role,
            memory: Track::default(),
            anonymous: Track::default(),
            anonymous_read: Track::default(),
            shared: Track::default(),
            swapped: Track::default(),
            rss: Track::default(),
            descriptors: Track::default(),
            processes: 0,
            complete: Complete::default(),
        }
    }

    fn push(&mut self, x: f64, sums: &Sums) {
        self.processes = sums.processes;
        self.complete.observe(sums);
        self.memory.push(x, sums.memory);
        self.anonymous.push(x, sums.anonymous);
        self.rss.push(x, sums.rss);
        // Most roles never share or swap: a series begins when there is something.
        for (track, amount) in [
            (&mut self.shared, sums.shared),
            (&mut self.swapped, sums.swapped),
        ] {
            if amount > 0.0 || track.points() > 0 {
                track.push(x, amount);
            }
        }
        if sums.unread == 0 {
            self.anonymous_read.push(x, sums.anonymous - sums.estimated);
        }
        if sums.uncounted == 0 {
            self.descriptors.push(x, sums.descriptors);
        }
    }
}

impl Complete {
    fn observe(&mut self, sums: &Sums) {
        self.most = self.most.max(sums.holding);
        if 2 * sums.holding > self.most {
            self.processes = sums.holding;
            self.rss = sums.rss;
            self.memory = sums.memory;
        }
    }
}

impl Sums {
    fn add(&mut self, process: &ProcessShare) {
        self.processes += 1;
        self.holding += usize::from(process.rss.0 > 0);
        self.memory += process.memory.0 as f64;
        self.anonymous += process.anonymous().0 as f64;
        self.estimated += process.estimated.min(process.anonymous()).0 as f64;
        self.shared += process.shared.0 as f64;
        self.swapped += process.swapped.0 as f64;
        self.rss += process.rss.0 as f64;
        self.unread += usize::from(!process.is_read);
        match process.fds {
            Some(fds) => self.descriptors += f64::from(fds),
            // A zombie has no descriptors left to count.
            None if process.rss.0 == 0 => {}
            None => self.uncounted += 1,
        }
    }
}

fn place(role: Role) -> usize {
    role as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_role_has_its_place() {
        for (index, role) in Role::ALL.into_iter().enumerate() {
            assert_eq!(place(role), index);
        }
    }
}
