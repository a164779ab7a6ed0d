//! Finds the training runs of this machine: reads every process, decides which ones train, and adds the
//! processes that belong to each.

mod jobs;
mod machine;
mod memory;

use std::io;

use leveloff_model::process::{Pid, Role, printable};
use leveloff_model::units::Bytes;
use regex::bytes::Regex;

use crate::facts::ProcessFacts;
use crate::proc_root::ProcRoot;
use crate::roles::{self, Assignment};
use jobs::Job;
use machine::Machine;

pub use memory::MemberMemory;

/// What to find. Without a pattern and a pid: all training runs.
#[derive(Debug, Clone, Default)]
pub struct FindOptions {
    /// Processes whose command line matches, whatever they map.
    pub pattern: Option<Regex>,
    /// The run that this process belongs to, or is.
    pub pid: Option<Pid>,
    /// Also read the PSS of large processes, which stops them for a moment.
    pub exact: bool,
}

/// The runs that were found, and how much of the machine was visible.
#[derive(Debug, Clone)]
pub struct Found {
    /// The runs, largest first.
    pub runs: Vec<Run>,
    /// What was searched for, in words.
    pub looked_for: Vec<String>,
    /// How many processes were read.
    pub looked_at: usize,
    /// How many of them belong to other users and could not be read in full.
    pub hidden: usize,
    /// /proc is mounted such that it does not list processes of other users.
    pub unlisted: bool,
}

/// One job: its trainers and all processes that belong to them.
#[derive(Debug, Clone)]
pub struct Run {
    /// What its ranks share: a rendezvous, a Slurm job; `None` when unknown.
    pub job: Option<String>,
    /// The topmost process: a launcher if there is one, else the trainer.
    pub root: Pid,
    /// Its processes, parents before children.
    pub members: Vec<Member>,
    /// Why it was picked.
    pub why: String,
}

/// One process of a run.
#[derive(Debug, Clone)]
pub struct Member {
    /// What is visible of it.
    pub facts: ProcessFacts,
    /// Its role.
    pub assignment: Assignment,
    /// The trainer it is, or belongs to.
    pub trainer: Option<Pid>,
    /// Its memory.
    pub memory: MemberMemory,
}

/// Finds training runs. Fails when the process in `options` does not exist or is hidden.
pub fn find(proc_root: &ProcRoot, options: &FindOptions) -> io::Result<Found> {
    let machine = Machine::read(proc_root)?;
    let jobs = match (options.pid, &options.pattern) {
        (Some(pid), _) => jobs::around(&machine, index_of(&machine, pid)?),
        (None, Some(pattern)) => jobs::matching(&machine, &machine.matches(pattern)),
        (None, None) => jobs::all(&machine),
    };
    let mut runs: Vec<Run> = jobs
        .into_iter()
        .map(|job| gather(proc_root, &machine, job, options.exact))
        .collect();
    runs.sort_by_key(|run| std::cmp::Reverse(run.rss()));
    Ok(Found {
        runs,
        looked_for: looked_for(options),
        looked_at: machine.looked_at,
        hidden: machine.hidden,
        unlisted: machine.unlisted,
    })
}

impl Run {
    /// Sum of RSS, which counts a shared page once for each process.
    pub fn rss(&self) -> Bytes {
        self.members
            .iter()
            .filter_map(|member| member.memory.rss)
            .sum()
    }

    /// Its trainers, lowest rank first.
    pub fn trainers(&self) -> Vec<&Member> {
        let mut trainers: Vec<&Member> = self
            .members
            .iter()
            .filter(|member| member.assignment.role == Role::Trainer)
            .collect();
        trainers.sort_by_key(|member| {
            (
                member.assignment.rank,
                member.facts.key.start,
                member.facts.pid(),
            )
        });
        trainers
    }
}

fn index_of(machine: &Machine, pid: Pid) -> io::Result<usize> {
    if let Some(index) = machine.links.index(pid) {
        return Ok(index);
    }
    let (kind, text) = if machine.is_hidden(pid) {
        let next = "run leveloff as the same user, or with sudo";
        (
            io::ErrorKind::PermissionDenied,
            format!("process {pid} belongs to another user and is hidden; {next}"),
        )
    } else {
        let next = "`leveloff find` lists training runs";
        (
            io::ErrorKind::NotFound,
            format!("there is no process {pid}; {next}"),
        )
    };
    Err(io::Error::new(kind, text))
}

fn gather(proc_root: &ProcRoot, machine: &Machine, job: Job, exact: bool) -> Run {
    let facts: Vec<ProcessFacts> = job
        .members
        .iter()
        .map(|&index| machine.processes[index].clone())
        .collect();
    let assignments = roles::assign(&facts, Some(job.root));
    let trainers = roles::trainers_of(&facts, &assignments);
    let members: Vec<Member> = facts
        .into_iter()
        .zip(assignments)
        .zip(trainers)
        .map(|((facts, assignment), trainer)| Member {
            memory: memory::read(proc_root, &facts, exact),
            facts,
            assignment,
            trainer,
        })
        .collect();
    let mut run = Run {
        job: job.name,
        root: job.root,
        members,
        why: String::new(),
    };
    run.why = reason(&run, job.named);
    run
}

/// Why this run was picked: the evidence of its first trainer, what its ranks share, and the role of the
/// process that the user named.
fn reason(run: &Run, named: Option<Pid>) -> String {
    let trainers = run.trainers();
    let Some(first) = trainers.first() else {
        return "nothing in it trains".to_owned();
    };
    let mut why = first.assignment.reason.to_string();
    if trainers.len() > 1 {
        let shared = run
            .job
            .clone()
            .unwrap_or_else(|| format!("process {} above them", run.root));
        why += &format!("; {} trainers of one job ({shared})", trainers.len());
    }
    let mut members = run.members.iter();
    if let Some(named) = members.find(|member| Some(member.facts.pid()) == named)
        && named.assignment.role != Role::Trainer
    {
        why += &format!("; {} is its {}", named.facts.pid(), named.assignment.role);
    }
    why
}

fn looked_for(options: &FindOptions) -> Vec<String> {
    match (options.pid, &options.pattern) {
        (Some(pid), _) => vec![format!("process {pid}")],
        (None, Some(pattern)) => {
            vec![format!(
                "command lines that match {}",
                printable(pattern.as_str().as_bytes())
            )]
        }
        (None, None) => vec![
            "processes that map torch, JAX or TensorFlow".to_owned(),
            "programs with candle in them".to_owned(),
            "processes that compute on a GPU (nvidia-uvm, kfd, render node)".to_owned(),
        ],
    }
}

#[cfg(test)]
mod tests;
