//! All processes of the machine that may be read, and how many may not.

use std::collections::HashSet;
use std::io;

use leveloff_model::process::Pid;
use regex::bytes::Regex;

use crate::facts::{self, ProcessFacts, ProcessLinks};
use crate::proc_root::ProcRoot;
use crate::roles::is_leveloff;

pub(super) struct Machine {
    pub(super) processes: Vec<ProcessFacts>,
    pub(super) looked_at: usize,
    pub(super) hidden: usize,
    pub(super) unlisted: bool,
    pub(super) links: ProcessLinks,
    forbidden: HashSet<Pid>,
    /// leveloff and its ancestors, whose command lines hold what the user typed.
    own: HashSet<usize>,
}

impl Machine {
    pub(super) fn read(proc_root: &ProcRoot) -> io::Result<Machine> {
        let (mut processes, mut forbidden) = (Vec::new(), HashSet::new());
        for pid in proc_root.pids()? {
            match facts::read(proc_root, pid) {
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
        let links = ProcessLinks::of(&processes);
        let own = own_pid(proc_root).and_then(|pid| links.index(pid));
        let own = own
            .into_iter()
            .chain(own.into_iter().flat_map(|own| links.ancestors(own)));
        Ok(Machine {
            looked_at: processes.len() + forbidden.len(),
            hidden,
            unlisted: lists_only_own(proc_root),
            forbidden,
            own: own.collect(),
            links,
            processes,
        })
    }

    /// Whether it exists and nothing of it may be read.
    pub(super) fn is_hidden(&self, pid: Pid) -> bool {
        self.forbidden.contains(&pid)
    }

    /// Its children that still live.
    pub(super) fn living_children(&self, index: usize) -> impl Iterator<Item = usize> {
        let lives = |&child: &usize| !self.processes[child].state.is_gone();
        self.links.children(index).iter().copied().filter(lives)
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
            for &child in self.links.children(at) {
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
                    && !self.own.contains(&index)
                    && pattern.is_match(&facts.command_line())
            })
            .collect()
    }

    /// Whether its parent exited and init or systemd adopted it.
    pub(super) fn is_orphan(&self, index: usize) -> bool {
        match self.links.parent(index) {
            None => true,
            Some(parent) => {
                let parent = &self.processes[parent];
                parent.pid() == Pid(1) || parent.comm == b"systemd"
            }
        }
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
