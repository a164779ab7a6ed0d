//! Processes by pid, with parents and children.

use std::ops::Index;

use leveloff_model::process::Pid;

use super::python::is_fork_server;
use crate::facts::{ProcessFacts, ProcessLinks};

/// Borrowed processes, indexed by their position.
pub(super) struct Tree<'a> {
    processes: &'a [ProcessFacts],
    pub(super) links: ProcessLinks,
}

impl<'a> Tree<'a> {
    pub(super) fn new(processes: &'a [ProcessFacts]) -> Tree<'a> {
        Tree {
            processes,
            links: ProcessLinks::of(processes),
        }
    }

    /// All below it, nearest first.
    pub(super) fn descendants(&self, index: usize) -> Vec<usize> {
        let mut seen = vec![false; self.processes.len()];
        seen[index] = true;
        let mut found = vec![index];
        let mut next = 0;
        while let Some(&at) = found.get(next) {
            next += 1;
            for &child in self.links.children(at) {
                if !std::mem::replace(&mut seen[child], true) {
                    found.push(child);
                }
            }
        }
        found.remove(0);
        found
    }

    /// Every process once, none before its parent (rings aside).
    pub(super) fn parents_first(&self) -> Vec<usize> {
        let depths: Vec<usize> = self
            .indices()
            .map(|index| self.links.ancestors(index).count())
            .collect();
        let mut order: Vec<usize> = self.indices().collect();
        order.sort_by_key(|&index| depths[index]);
        order
    }

    pub(super) fn indices(&self) -> std::ops::Range<usize> {
        0..self.processes.len()
    }

    /// Whether it was forked from that process and has executed nothing since. The stack's address is random
    /// for each executed program and the same in a fork; where it is hidden, the command lines are compared.
    pub(super) fn is_copy_of(&self, index: usize, original: usize) -> bool {
        let (copy, original) = (&self[index], &self[original]);
        match (copy.stack_start, original.stack_start) {
            (Some(here), Some(there)) => here == there,
            _ => !copy.command.is_empty() && copy.command == original.command,
        }
    }

    /// The process that created it: its parent, or the owner of the fork server.
    pub(super) fn creator(&self, index: usize) -> Option<usize> {
        self.links
            .ancestors(index)
            .find(|&above| !is_fork_server(&self[above]))
    }

    /// The process with this pid in its own namespace: an ancestor, or else any process. A compile worker
    /// names its trainer by that pid.
    pub(super) fn by_own_pid(&self, index: usize, own_pid: Pid) -> Option<usize> {
        self.links
            .ancestors(index)
            .find(|&above| self[above].own_pid == own_pid)
            .or_else(|| self.indices().find(|&any| self[any].own_pid == own_pid))
    }
}

impl Index<usize> for Tree<'_> {
    type Output = ProcessFacts;

    fn index(&self, index: usize) -> &ProcessFacts {
        &self.processes[index]
    }
}
