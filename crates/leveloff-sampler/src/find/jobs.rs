//! Groups processes into jobs: the ranks of a job, and the tree below it with its orphans.

use std::collections::{BTreeMap, HashSet};

use leveloff_model::process::{Pid, Role};

use super::machine::Machine;
use crate::facts::Environment;
use crate::roles::{self, is_driver, is_leveloff, is_wrapper, named_parent};

/// A job in terms of the machine's processes.
pub(super) struct Job {
    pub(super) name: Option<String>,
    pub(super) root: Pid,
    pub(super) members: Vec<usize>,
    /// The process that the user named.
    pub(super) named: Option<Pid>,
}

/// Every job that has a trainer.
pub(super) fn all(machine: &Machine) -> Vec<Job> {
    let assignments = roles::assign(&machine.processes, None);
    let found: Vec<Role> = assignments.iter().map(|one| one.role).collect();
    let trainers = (0..found.len()).filter(|&index| found[index] == Role::Trainer);
    let groups = trainers
        .map(|index| Group::around(machine, index, &found))
        .collect();
    merged(groups)
        .into_iter()
        .map(|group| group.into_job(machine))
        .collect()
}

/// The job that a process is in; all jobs below it; else the tree below it, whatever that is.
pub(super) fn around(machine: &Machine, named: usize) -> Vec<Job> {
    let pid = machine.processes[named].pid();
    let (mut within, others): (Vec<Job>, Vec<Job>) = all(machine)
        .into_iter()
        .partition(|job| job.members.contains(&named));
    if within.is_empty() {
        let is_below = |job: &Job| {
            machine
                .links
                .index(job.root)
                .is_some_and(|root| machine.links.ancestors(root).any(|above| above == named))
        };
        within = others.into_iter().filter(is_below).collect();
        // One job below a process that the user named is that process's job.
        if within.len() < 2 {
            within = vec![tree_of(machine, named)];
        }
    }
    for job in &mut within {
        job.named = Some(pid);
    }
    within
}

/// The jobs that matching processes are in; for those in none, the tree below the topmost.
pub(super) fn matching(machine: &Machine, matches: &[usize]) -> Vec<Job> {
    let (mut jobs, _): (Vec<Job>, Vec<Job>) = all(machine)
        .into_iter()
        .partition(|job| matches.iter().any(|found| job.members.contains(found)));
    for &matched in matches {
        let is_topmost = !machine
            .links
            .ancestors(matched)
            .any(|above| matches.contains(&above));
        if is_topmost && !jobs.iter().any(|job| job.members.contains(&matched)) {
            let tree = tree_of(machine, matched);
            // A wrapper above a job that matched by itself is that job, with its wrapper.
            jobs.retain(|job| {
                !job.members
                    .iter()
                    .any(|member| tree.members.contains(member))
            });
            jobs.push(tree);
        }
    }
    jobs
}

fn tree_of(machine: &Machine, root: usize) -> Job {
    Group {
        names: Vec::new(),
        roots: vec![root],
    }
    .into_job(machine)
}

/// Trainers that belong together, by the roots of their trees.
struct Group {
    names: Vec<String>,
    roots: Vec<usize>,
}

impl Group {
    fn around(machine: &Machine, trainer: usize, found: &[Role]) -> Group {
        let first = driver_of(machine, trainer).unwrap_or(trainer);
        let environment = machine.processes[trainer].environment.as_ref();
        Group {
            names: environment.and_then(Environment::job).into_iter().collect(),
            roots: vec![root_of(machine, first, found)],
        }
    }

    fn into_job(self, machine: &Machine) -> Job {
        let (mut members, mut seen) = (Vec::new(), HashSet::new());
        for &root in &self.roots {
            machine.add_tree(root, &mut members, &mut seen);
        }
        add_orphans(machine, &mut members, &mut seen);
        add_ray_sessions(machine, &mut members, &mut seen);
        Job {
            name: self.names.into_iter().next(),
            root: machine.processes[self.roots[0]].pid(),
            members,
            named: None,
        }
    }
}

/// The root of a trainer's job: launchers, other trainers, and wrappers of one command belong to it. An
/// interactive shell, a terminal and a service manager do not.
fn root_of(machine: &Machine, trainer: usize, found: &[Role]) -> usize {
    let belongs = |&above: &usize| {
        let facts = &machine.processes[above];
        let wraps_others = is_wrapper(facts) && machine.living_children(above).count() != 1;
        // Process 1 adopts all orphans, so its tree is not a job.
        facts.pid() != Pid(1)
            && !is_leveloff(facts)
            && (found[above] == Role::Trainer || found[above] == Role::Launcher && !wraps_others)
    };
    let above = machine.links.ancestors(trainer).take_while(belongs);
    above.last().unwrap_or(trainer)
}

/// The program that started a worker of Ray. The worker is a child of the raylet.
fn driver_of(machine: &Machine, worker: usize) -> Option<usize> {
    let facts = &machine.processes[worker];
    let mut others = 0..machine.processes.len();
    others.find(|&other| {
        let other = &machine.processes[other];
        is_driver(other) && other.ray_session == facts.ray_session && other.uid == facts.uid
    })
}

/// Joins groups that share a root or a name.
fn merged(groups: Vec<Group>) -> Vec<Group> {
    let mut joined: Vec<Group> = Vec::new();
    let (mut by_root, mut by_name) = (BTreeMap::new(), BTreeMap::new());
    for group in groups {
        let known = group
            .roots
            .iter()
            .find_map(|root| by_root.get(root).copied());
        let known = known.or_else(|| {
            group
                .names
                .iter()
                .find_map(|name| by_name.get(name).copied())
        });
        let at = known.unwrap_or_else(|| {
            joined.push(Group {
                names: Vec::new(),
                roots: Vec::new(),
            });
            joined.len() - 1
        });
        for root in group.roots {
            by_root.insert(root, at);
            if !joined[at].roots.contains(&root) {
                joined[at].roots.push(root);
            }
        }
        for name in group.names {
            by_name.insert(name.clone(), at);
            if !joined[at].names.contains(&name) {
                joined[at].names.push(name);
            }
        }
    }
    joined
}

/// Adds members whose parent exited: compile workers that name their trainer, forks of a member, and
/// processes in a member's process group.
fn add_orphans(machine: &Machine, members: &mut Vec<usize>, seen: &mut HashSet<usize>) {
    let own_pids: HashSet<Pid> = members
        .iter()
        .map(|&at| machine.processes[at].own_pid)
        .collect();
    let pids: HashSet<Pid> = members
        .iter()
        .map(|&at| machine.processes[at].pid())
        .collect();
    let stacks: HashSet<u64> = members
        .iter()
        .filter_map(|&at| machine.processes[at].stack_start)
        .collect();
    for index in 0..machine.processes.len() {
        let facts = &machine.processes[index];
        let belongs = named_parent(facts).is_some_and(|pid| own_pids.contains(&pid))
            || facts
                .stack_start
                .is_some_and(|stack| stacks.contains(&stack))
            || pids.contains(&facts.group);
        if belongs && machine.is_orphan(index) && !seen.contains(&index) {
            machine.add_tree(index, members, seen);
        }
    }
}

/// Adds the servers and workers of the Ray sessions that members take part in, of the same user.
fn add_ray_sessions(machine: &Machine, members: &mut Vec<usize>, seen: &mut HashSet<usize>) {
    let session = |at: usize| {
        let facts = &machine.processes[at];
        Some((facts.ray_session.clone()?, facts.uid))
    };
    let sessions: HashSet<_> = members.iter().filter_map(|&at| session(at)).collect();
    for index in 0..machine.processes.len() {
        let belongs = session(index).is_some_and(|session| sessions.contains(&session));
        if belongs && !is_driver(&machine.processes[index]) {
            machine.add_tree(index, members, seen);
        }
    }
}
