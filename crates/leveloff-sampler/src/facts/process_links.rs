//! Parents and children among a list of processes.

use std::collections::HashMap;

use leveloff_model::process::Pid;

use super::ProcessFacts;

/// The links between processes, each given by its position in the list.
#[derive(Debug)]
pub(crate) struct ProcessLinks {
    by_pid: HashMap<Pid, usize>,
    parents: Vec<Option<usize>>,
    children: Vec<Vec<usize>>,
}

impl ProcessLinks {
    pub(crate) fn of(processes: &[ProcessFacts]) -> ProcessLinks {
        let pids = processes.iter().map(ProcessFacts::pid).enumerate();
        let by_pid: HashMap<Pid, usize> = pids.map(|(index, pid)| (pid, index)).collect();
        let mut parents = Vec::with_capacity(processes.len());
        let mut children = vec![Vec::new(); processes.len()];
        for (index, facts) in processes.iter().enumerate() {
            let parent = by_pid.get(&facts.parent).copied();
            let parent = parent.filter(|&parent| parent != index);
            parents.push(parent);
            if let Some(parent) = parent {
                children[parent].push(index);
            }
        }
        ProcessLinks {
            by_pid,
            parents,
            children,
        }
    }

    pub(crate) fn index(&self, pid: Pid) -> Option<usize> {
        self.by_pid.get(&pid).copied()
    }

    pub(crate) fn parent(&self, index: usize) -> Option<usize> {
        self.parents[index]
    }

    pub(crate) fn children(&self, index: usize) -> &[usize] {
        &self.children[index]
    }

    /// Its parent, that process's parent, and so on. A damaged tree may hold a ring, so the walk is no longer
    /// than there are processes.
    pub(crate) fn ancestors(&self, index: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(self.parent(index), |&above| self.parent(above))
            .take(self.parents.len())
    }
}
