//! The processes of a run as a tree.

use std::collections::{BTreeMap, HashMap, HashSet};

use leveloff_classifier::run_analysis::ProcessAccount;
use leveloff_model::process::{Pid, ProcessIndex};

/// Processes that a report lists at most; a compiler that ran for a second is not worth a line.
const MOST_LISTED: usize = 64;

/// One process and its place in the tree.
#[derive(Debug, Clone, PartialEq)]
pub struct ListedProcess {
    /// How deep below the first process it is.
    pub depth: usize,
    /// What is known of it.
    pub account: ProcessAccount,
}

impl ListedProcess {
    /// Its command line, or its name where that is all there is. Credentials are masked.
    pub fn command(&self) -> Option<&[String]> {
        self.account.info.as_ref().map(|info| &info.command[..])
    }

    /// Its role; of a role that only a later leveloff knows, the name that it wrote.
    pub fn role_name(&self) -> &str {
        let info = self.account.info.as_ref();
        info.map_or(self.account.role.name(), |info| info.role_name())
    }

    /// Why it has its role, where that is known.
    pub fn role_reason(&self) -> Option<&str> {
        self.account.info.as_ref().map(|info| &info.why[..])
    }
}

/// Parents before their children, the largest first among siblings; and how many are not listed. The
/// accounts come largest first.
pub(super) fn listed(processes: Vec<ProcessAccount>) -> (Vec<ListedProcess>, u64) {
    let left_out = processes.len().saturating_sub(MOST_LISTED) as u64;
    let listed = processes.into_iter().take(MOST_LISTED);
    let listed = listed.map(|mut account| {
        if let Some(info) = &mut account.info
            && info.command.is_empty()
        {
            info.command = vec![info.comm.clone()];
        }
        ListedProcess { depth: 0, account }
    });
    (in_tree_order(listed.collect()), left_out)
}

/// Children below their parents, as far as the parents are listed. Where parents are not known, every
/// process is on the top level.
fn in_tree_order(processes: Vec<ListedProcess>) -> Vec<ListedProcess> {
    let index = |process: &ListedProcess| process.account.index;
    let by_pid: HashMap<Pid, ProcessIndex> = processes
        .iter()
        .map(|process| (process.account.pid, index(process)))
        .collect();
    let parent_of = |process: &ListedProcess| {
        let parent = process.account.info.as_ref()?.parent;
        let parent = by_pid.get(&parent).copied();
        parent.filter(|parent| *parent != index(process))
    };
    let mut children: BTreeMap<Option<ProcessIndex>, Vec<ListedProcess>> = BTreeMap::new();
    for process in processes {
        children
            .entry(parent_of(&process))
            .or_default()
            .push(process);
    }
    let mut ordered = Vec::new();
    let mut visited = HashSet::new();
    append_children(None, 0, &mut children, &mut ordered, &mut visited);
    // A circle of reused pids has no root: what is left goes on the top level.
    ordered.extend(children.into_values().flatten());
    ordered
}

fn append_children(
    of: Option<ProcessIndex>,
    depth: usize,
    children: &mut BTreeMap<Option<ProcessIndex>, Vec<ListedProcess>>,
    ordered: &mut Vec<ListedProcess>,
    visited: &mut HashSet<ProcessIndex>,
) {
    for process in children.remove(&of).unwrap_or_default() {
        let index = process.account.index;
        ordered.push(ListedProcess { depth, ..process });
        if visited.insert(index) {
            append_children(Some(index), depth + 1, children, ordered, visited);
        }
    }
}

#[cfg(test)]
mod tests {
    use leveloff_classifier::observation::{Observation, ProcessShare};
    use leveloff_classifier::run_analysis::RunAnalysis;
    use leveloff_model::process::{ProcessInfo, ProcessKey, Role, StartTicks};
    use leveloff_model::sample::Event;
    use leveloff_model::units::Bytes;

    use super::*;

    fn share(index: u32, memory: u64) -> ProcessShare {
        ProcessShare {
            memory: Bytes(memory),
            rss: Bytes(2 * memory),
            ..ProcessShare::unread(ProcessIndex(index), Pid(100 + index as i32), Role::Other)
        }
    }

    fn info(index: u32, parent: i32) -> Event {
        Event::Appeared(ProcessInfo {
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
        })
    }

    fn order(infos: &[Event]) -> Vec<(u32, usize)> {
        let mut run = RunAnalysis::default();
        run.learn(infos);
        run.observe(&Observation {
            processes: vec![share(0, 5), share(1, 7), share(2, 9), share(3, 1)],
            ..Observation::default()
        });
        let (processes, left_out) = listed(run.account().unwrap().processes);
        assert_eq!(left_out, 0);
        let place = |process: &ListedProcess| (process.account.index.0, process.depth);
        processes.iter().map(place).collect()
    }

    #[test]
    fn children_are_below_their_parents_and_the_largest_comes_first() {
        let order = order(&[info(0, 1), info(1, 100), info(2, 100), info(3, 101)]);
        assert_eq!(order, [(0, 0), (2, 1), (1, 1), (3, 2)]);
    }

    #[test]
    fn no_process_is_lost_without_parents_or_in_a_circle() {
        assert_eq!(order(&[]).len(), 4);
        let circle = [info(0, 101), info(1, 100), info(2, 102), info(3, 1)];
        assert_eq!(order(&circle).len(), 4);
    }
}
