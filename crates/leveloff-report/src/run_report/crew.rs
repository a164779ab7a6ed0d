//! Who ran.

use std::collections::{BTreeMap, HashMap, HashSet};

use leveloff_classifier::observation::{Observation, ProcessShare};
use leveloff_model::process::{Pid, ProcessIndex, ProcessInfo, Rank, Role};
use leveloff_model::units::{Bytes, Seconds};

/// Processes that a report lists at most; a compiler that ran for a second is no news.
const MOST_LISTED: usize = 64;

/// Processes that are followed at most; then the smaller half of those that ended is let go.
const MOST_FOLLOWED: usize = 1024;

/// Workers leave a little before the run ends: whoever was there within this last part of it, a
/// twentieth, was there to the end.
const ENDING_PART: u64 = 20;

/// One process of the run.
#[derive(Debug, Clone, PartialEq)]
pub struct Member {
    /// Its number within the run.
    pub index: ProcessIndex,
    /// Its number on the machine.
    pub pid: Pid,
    /// The part it plays.
    pub role: Role,
    /// Why it has this role, where that is known.
    pub why: Option<String>,
    /// The trainer it is or belongs to.
    pub rank: Option<Rank>,
    /// How deep below the first process it stands.
    pub depth: usize,
    /// Its command line, or its name where that is all there is. Secrets are masked.
    pub command: Option<Vec<String>>,
    /// Memory when it was first seen.
    pub first: Bytes,
    /// Memory when it was last seen.
    pub newest: Bytes,
    /// The most it ever had.
    pub peak: Bytes,
    /// RSS when it was last seen.
    pub rss: Bytes,
    /// When it was first and last seen.
    pub seen: Option<(Seconds, Seconds)>,
    /// Whether it was there up to the end of the run.
    pub is_there: bool,
}

/// The processes so far.
#[derive(Debug, Clone, Default)]
pub struct Crew {
    followed: HashMap<ProcessIndex, Followed>,
    observations: u64,
    let_go: u64,
}

#[derive(Debug, Clone)]
struct Followed {
    share: ProcessShare,
    first: Bytes,
    peak: Bytes,
    seen: Option<(Seconds, Seconds)>,
    /// The observation that it was last part of.
    last: u64,
}

impl Crew {
    /// Takes the next observation.
    pub fn observe(&mut self, observation: &Observation) {
        self.observations += 1;
        // One that has given its memory back is on its way out, and tells nothing of how it was.
        let holds = |share: &&ProcessShare| share.memory + share.rss > Bytes::ZERO;
        for share in observation.processes.iter().filter(holds) {
            let followed = self
                .followed
                .entry(share.index)
                .or_insert_with(|| Followed::new(share, observation.t));
            followed.update(share, observation.t);
            followed.last = self.observations;
        }
        if self.followed.len() > MOST_FOLLOWED {
            self.let_some_go();
        }
    }

    /// Parents before their children, biggest first among brothers; and how many are not listed.
    pub fn listed(self, names: &HashMap<ProcessIndex, ProcessInfo>) -> (Vec<Member>, u64) {
        let until_end = self.observations - self.observations / ENDING_PART;
        let mut members: Vec<Member> = self
            .followed
            .into_values()
            .map(|followed| followed.member(names, until_end))
            .collect();
        members.sort_by_key(|member| (std::cmp::Reverse(member.peak), member.index));
        let left_out = members.len().saturating_sub(MOST_LISTED) as u64;
        members.truncate(MOST_LISTED);
        (in_tree_order(members, names), left_out + self.let_go)
    }

    fn let_some_go(&mut self) {
        let now = self.observations;
        let mut ended: Vec<(Bytes, ProcessIndex)> = self
            .followed
            .iter()
            .filter(|(_, followed)| followed.last < now)
            .map(|(index, followed)| (followed.peak, *index))
            .collect();
        ended.sort_unstable();
        ended.truncate(ended.len().div_ceil(2));
        self.let_go += ended.len() as u64;
        for (_, index) in ended {
            self.followed.remove(&index);
        }
    }
}

impl Followed {
    fn new(share: &ProcessShare, t: Option<Seconds>) -> Followed {
        Followed {
            share: share.clone(),
            first: share.memory,
            peak: share.memory,
            seen: t.map(|t| (t, t)),
            last: 0,
        }
    }

    fn update(&mut self, share: &ProcessShare, t: Option<Seconds>) {
        self.share.clone_from(share);
        self.peak = self.peak.max(share.memory);
        if let (Some((_, last)), Some(t)) = (&mut self.seen, t) {
            *last = t;
        }
    }

    fn member(self, names: &HashMap<ProcessIndex, ProcessInfo>, until_end: u64) -> Member {
        let info = names.get(&self.share.index);
        Member {
            index: self.share.index,
            pid: self.share.pid,
            role: self.share.role,
            why: info.map(|info| info.why.clone()),
            rank: self.share.rank,
            depth: 0,
            command: info.map(shown_command),
            first: self.first,
            newest: self.share.memory,
            peak: self.peak,
            rss: self.share.rss,
            seen: self.seen,
            is_there: self.last >= until_end,
        }
    }
}

fn shown_command(info: &ProcessInfo) -> Vec<String> {
    if info.command.is_empty() {
        vec![info.comm.clone()]
    } else {
        info.command.clone()
    }
}

/// Children below their parents, as far as the parents are listed. Where parents are not known,
/// everybody stands alone.
fn in_tree_order(members: Vec<Member>, names: &HashMap<ProcessIndex, ProcessInfo>) -> Vec<Member> {
    let by_pid: HashMap<Pid, ProcessIndex> = members.iter().map(|m| (m.pid, m.index)).collect();
    let parent_of = |member: &Member| {
        let parent = names.get(&member.index)?.parent;
        by_pid
            .get(&parent)
            .copied()
            .filter(|of| *of != member.index)
    };
    let mut children: BTreeMap<Option<ProcessIndex>, Vec<Member>> = BTreeMap::new();
    for member in members {
        children.entry(parent_of(&member)).or_default().push(member);
    }
    let mut ordered = Vec::new();
    let mut told = HashSet::new();
    tell_children(None, 0, &mut children, &mut ordered, &mut told);
    // A circle of reused pids has no beginning: whoever is left stands alone.
    ordered.extend(children.into_values().flatten());
    ordered
}

fn tell_children(
    of: Option<ProcessIndex>,
    depth: usize,
    children: &mut BTreeMap<Option<ProcessIndex>, Vec<Member>>,
    ordered: &mut Vec<Member>,
    told: &mut HashSet<ProcessIndex>,
) {
    for mut member in children.remove(&of).unwrap_or_default() {
        let index = member.index;
        member.depth = depth;
        ordered.push(member);
        if told.insert(index) {
            tell_children(Some(index), depth + 1, children, ordered, told);
        }
    }
}

#[cfg(test)]
mod tests {
    use leveloff_model::process::{ProcessKey, StartTicks};

    use super::*;

    fn share(index: u32, memory: u64) -> ProcessShare {
        ProcessShare {
            index: ProcessIndex(index),
            pid: Pid(100 + index as i32),
            role: Role::Other,
            rank: None,
            memory: Bytes(memory),
            shared: Bytes::ZERO,
            swapped: Bytes::ZERO,
            rss: Bytes(2 * memory),
            private: None,
            gpu: None,
            cpu: None,
            fds: None,
            is_read: true,
        }
    }

    fn info(index: u32, parent: i32) -> (ProcessIndex, ProcessInfo) {
        let info = ProcessInfo {
            index: ProcessIndex(index),
            key: ProcessKey {
                pid: Pid(100 + index as i32),
                start: StartTicks(1),
            },
            parent: Pid(parent),
            role: Role::Other,
            unknown_role: None,
            rank: None,
            comm: format!("p{index}"),
            command: Vec::new(),
            why: String::new(),
        };
        (ProcessIndex(index), info)
    }

    fn told(names: &HashMap<ProcessIndex, ProcessInfo>) -> Vec<(u32, usize)> {
        let mut crew = Crew::default();
        crew.observe(&Observation {
            processes: vec![share(0, 5), share(1, 7), share(2, 9), share(3, 1)],
            ..Observation::default()
        });
        let (members, left_out) = crew.listed(names);
        assert_eq!(left_out, 0);
        members.iter().map(|m| (m.index.0, m.depth)).collect()
    }

    #[test]
    fn children_stand_below_their_parents_and_the_biggest_comes_first() {
        let names = [info(0, 1), info(1, 100), info(2, 100), info(3, 101)];
        let told = told(&names.into());
        assert_eq!(told, [(0, 0), (2, 1), (1, 1), (3, 2)]);
    }

    #[test]
    fn nobody_is_lost_without_parents_or_in_a_circle() {
        assert_eq!(told(&HashMap::new()).len(), 4);
        let circle = [info(0, 101), info(1, 100), info(2, 102), info(3, 1)];
        assert_eq!(told(&circle.into()).len(), 4);
    }

    #[test]
    fn thousands_of_short_lives_are_counted_and_the_biggest_stay() {
        let mut crew = Crew::default();
        for index in 0..5000 {
            let big = if index == 17 {
                1 << 40
            } else {
                1 + u64::from(index)
            };
            crew.observe(&Observation {
                processes: vec![share(index, big)],
                ..Observation::default()
            });
        }
        assert!(crew.followed.len() <= MOST_FOLLOWED);
        let (members, left_out) = crew.listed(&HashMap::new());
        assert_eq!(members.len() as u64 + left_out, 5000);
        assert!(members.iter().any(|member| member.index.0 == 17));
    }
}
