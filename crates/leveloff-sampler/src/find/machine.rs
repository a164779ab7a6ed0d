//! All processes of the machine that may be read, and how many may not.

use std::collections::{HashMap, HashSet};
use std::io;

use leveloff_model::process::Pid;
use regex::bytes::Regex;

use crate::facts::{self, Depth, ProcessFacts};
use crate::proc_root::ProcRoot;
use crate::roles::is_leveloff;

pub(super) struct Machine {
    pub(super) processes: Vec<ProcessFacts>,
    pub(super) looked_at: usize,
    pub(super) hidden: usize,
    pub(super) unlisted: bool,
    by_pid: HashMap<Pid, usize>,
    children: Vec<Vec<usize>>,
    forbidden: HashSet<Pid>,
    /// leveloff and its ancestors, whose command lines hold what the user typed.
    own: HashSet<Pid>,
}

impl Machine {
    pub(super) fn look(proc_root: &ProcRoot) -> io::Result<Machine> {
        let (mut processes, mut forbidden) = (Vec::new(), HashSet::new());
        for pid in proc_root.pids()? {
            match facts::read(proc_root, pid, Depth::Full) {
                Ok(facts) => processes.push(facts),
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                    forbidden.insert(pid);
                }
                // It exited since it was listed.
                Err(_) => {}
            }
        }
        processes.sort_by_key(|facts| (facts.key.start, facts.pid()));
        let closed = |facts: &&ProcessFacts| facts.memory.is_some() && facts.libraries.is_none();
        let hidden = forbidden.len() + processes.iter().filter(closed).count();
        let mut machine = Machine {
            looked_at: processes.len() + forbidden.len(),
            hidden,
            unlisted: lists_only_own(proc_root),
            by_pid: HashMap::new(),
            children: vec![Vec::new(); processes.len()],
            forbidden,
            own: HashSet::new(),
            processes,
        };
        machine.connect();
        machine.own = machine.line_of(own_pid(proc_root));
        Ok(machine)
    }

    pub(super) fn index(&self, pid: Pid) -> Option<usize> {
        self.by_pid.get(&pid).copied()
    }

    /// Whether it exists and nothing of it may be read.
    pub(super) fn is_hidden(&self, pid: Pid) -> bool {
        self.forbidden.contains(&pid)
    }

    pub(super) fn parent(&self, index: usize) -> Option<usize> {
        self.index(self.processes[index].parent)
            .filter(|&parent| parent != index)
    }

    /// Its ancestors, nearest first; at most as many as there are processes, in case of a damaged tree.
    pub(super) fn ancestors(&self, index: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(self.parent(index), |&above| self.parent(above))
            .take(self.processes.len())
    }

    /// Its children that still live.
    pub(super) fn living_children(&self, index: usize) -> impl Iterator<Item = usize> {
        let lives = |&child: &usize| !self.processes[child].state.is_gone();
        self.children[index].iter().copied().filter(lives)
    }

    /// Adds `index` and all its descendants to `members`, parents before children, except leveloff.
    pub(super) fn add_tree(
        &self,
        index: usize,
        members: &mut Vec<usize>,
        seen: &mut HashSet<usize>,
    ) {
        if is_leveloff(&self.processes[index]) || !seen.insert(index) {
            return;
        }
        members.push(index);
        let mut next = members.len() - 1;
        while let Some(&at) = members.get(next) {
            next += 1;
            for &child in &self.children[at] {
                if !is_leveloff(&self.processes[child]) && seen.insert(child) {
                    members.push(child);
                }
            }
        }
    }

    /// Processes whose command line matches, except leveloff and its ancestors.
    pub(super) fn matches(&self, pattern: &Regex) -> Vec<usize> {
        (0..self.processes.len())
            .filter(|&index| {
                let facts = &self.processes[index];
                !facts.command.is_empty()
                    && !is_leveloff(facts)
                    && !self.own.contains(&facts.pid())
                    && pattern.is_match(&facts.command_line())
            })
            .collect()
    }

    /// Whether its parent exited and init or systemd adopted it.
    pub(super) fn is_orphan(&self, index: usize) -> bool {
        match self.parent(index) {
            None => true,
            Some(parent) => {
                let parent = &self.processes[parent];
                parent.pid() == Pid(1) || parent.comm == b"systemd"
            }
        }
    }

    fn connect(&mut self) {
        for (index, facts) in self.processes.iter().enumerate() {
            self.by_pid.insert(facts.pid(), index);
        }
        for index in 0..self.processes.len() {
            if let Some(parent) = self.parent(index) {
                self.children[parent].push(index);
            }
        }
    }

    fn line_of(&self, pid: Option<Pid>) -> HashSet<Pid> {
        let Some(index) = pid.and_then(|pid| self.index(pid)) else {
            return HashSet::new();
        };
        std::iter::once(index)
            .chain(self.ancestors(index))
            .map(|index| self.processes[index].pid())
            .collect()
    }
}

/// The pid of leveloff in this /proc; a saved tree has none.
fn own_pid(proc_root: &ProcRoot) -> Option<Pid> {
    let link = std::fs::read_link(proc_root.path().join("self")).ok()?;
    link.to_str()?.parse().ok().map(Pid)
}

/// Whether /proc is mounted with hidepid, so that it does not list processes of other users.
fn lists_only_own(proc_root: &ProcRoot) -> bool {
    let mounts = std::fs::read_to_string(proc_root.path().join("self/mounts")).unwrap_or_default();
    mounts.lines().any(|line| {
        let mut fields = line.split(' ').skip(1);
        let (place, kind, options) = (
            fields.next(),
            fields.next(),
            fields.next().unwrap_or_default(),
        );
        let hides = |option: &str| {
            matches!(
                option,
                "hidepid=2" | "hidepid=invisible" | "hidepid=4" | "hidepid=ptraceable"
            )
        };
        place == Some("/proc") && kind == Some("proc") && options.split(',').any(hides)
    })
}
