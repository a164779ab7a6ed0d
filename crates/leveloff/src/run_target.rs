//! Which run is going to be watched: named by the user, or found.

use std::io;

use anyhow::{Context, Result, bail};
use leveloff_model::process::{Pid, ProcessKey, printable};
use leveloff_model::recording::Target;
use leveloff_sampler::find::{self, FindOptions, Run};
use leveloff_sampler::proc_root::{ProcRoot, key_of};
use leveloff_sampler::processes::Scope;
use leveloff_sampler::sampler::SamplerOptions;

use crate::cli::WatchArgs;
use crate::find::{nothing_found, pattern};

/// What is going to be watched.
#[derive(Debug)]
pub struct RunTarget {
    /// Which processes.
    pub scope: Scope,
    /// For the recording.
    pub target: Target,
    /// The command line, for names.
    pub command: Vec<String>,
    /// What was picked, and why.
    pub picked: String,
}

/// What the user said about it.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// The run of this process.
    pub pid: Option<i32>,
    /// The run whose command line matches this.
    pub pattern: Option<&'a str>,
    /// Every process.
    pub system: bool,
}

impl RunTarget {
    /// Finds it. If there are several, `among` says which, counted from zero.
    pub fn choose(
        asked: &Asked<'_>,
        among: impl FnOnce(&[Run]) -> Result<usize>,
    ) -> Result<RunTarget> {
        let proc_root = ProcRoot::live();
        if asked.system {
            return Ok(RunTarget {
                scope: Scope::Everyone,
                target: Target::System,
                command: vec!["system".to_owned()],
                picked: "watching every process".to_owned(),
            });
        }
        if let Some(pid) = asked.pid {
            return RunTarget::of_pid(&proc_root, Pid(pid));
        }
        let options = FindOptions {
            pattern: pattern(asked.pattern)?,
            ..FindOptions::default()
        };
        let found = find::find(&proc_root, &options).context("cannot look through /proc")?;
        match found.runs.as_slice() {
            // It was written to stand alone; here our name is put in front, and the end of a line
            // behind it.
            [] => bail!(
                "{}",
                nothing_found(&found)
                    .trim_start_matches("leveloff: ")
                    .trim_end()
            ),
            [run] => Ok(RunTarget::of_run(run)),
            runs => Ok(RunTarget::of_run(&runs[among(runs)?])),
        }
    }

    /// Exactly this process and what comes from it: a number is a plain wish.
    fn of_pid(proc_root: &ProcRoot, pid: Pid) -> Result<RunTarget> {
        let key = key_of(proc_root, pid).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound if is_there(pid) => anyhow::anyhow!(
                "process {pid} is hidden: /proc shows only one's own here (hidepid); run leveloff \
                 as its owner or as root"
            ),
            io::ErrorKind::NotFound => anyhow::anyhow!(
                "there is no process {pid}; `leveloff find` lists what is there to watch"
            ),
            _ => anyhow::anyhow!(
                "cannot look at process {pid}: {error}; run leveloff as its owner or as root"
            ),
        })?;
        Ok(RunTarget {
            scope: Scope::Descendants(vec![key]),
            target: Target::Attached(pid),
            command: command_of(proc_root, pid),
            picked: format!("watching {pid} and what comes from it"),
        })
    }

    /// How to sample it.
    pub fn options(&self, watch: &WatchArgs) -> SamplerOptions {
        SamplerOptions {
            scope: self.scope.clone(),
            interval: watch.interval,
            pss_budget_percent: watch.pss_budget,
            limit: watch.facts.limit,
            log: watch.log.clone(),
            has_output: false,
            adopter: None,
            ours: vec![Pid(rustix::process::getpid().as_raw_pid())],
        }
    }

    fn of_run(run: &Run) -> RunTarget {
        RunTarget {
            scope: Scope::Descendants(roots(run)),
            target: Target::Attached(run.root),
            command: command(run),
            picked: format!("picked {}: {}", run.root, run.why),
        }
    }
}

/// Whether a process has this number, even if /proc does not say so.
fn is_there(pid: Pid) -> bool {
    let answer = rustix::process::Pid::from_raw(pid.0).map(rustix::process::test_kill_process);
    matches!(answer, Some(Ok(()) | Err(rustix::io::Errno::PERM)))
}

/// That there are several, and how to say which.
pub fn several(runs: &[Run]) -> String {
    let mut text = format!("there are {} runs; choose one with --pid:", runs.len());
    for run in runs {
        text.push_str(&format!("\n  --pid {}  {}", run.root, shown(run)));
    }
    text
}

/// The command of a run, as it is shown in a list.
pub fn shown(run: &Run) -> String {
    command(run).join(" ").chars().take(100).collect()
}

/// Members whose parent is none: one, or the ranks of a job without a common launcher.
fn roots(run: &Run) -> Vec<ProcessKey> {
    let is_member = |pid: Pid| run.members.iter().any(|member| member.facts.key.pid == pid);
    run.members
        .iter()
        .filter(|member| !is_member(member.facts.parent))
        .map(|member| member.facts.key)
        .collect()
}

fn command(run: &Run) -> Vec<String> {
    let root = run
        .members
        .iter()
        .find(|member| member.facts.key.pid == run.root);
    root.map_or_else(Vec::new, |root| {
        root.facts
            .command
            .iter()
            .map(|word| printable(word))
            .collect()
    })
}

fn command_of(proc_root: &ProcRoot, pid: Pid) -> Vec<String> {
    let raw = std::fs::read(proc_root.process(pid).join("cmdline")).unwrap_or_default();
    raw.split(|&b| b == 0)
        .filter(|argument| !argument.is_empty())
        .map(printable)
        .collect()
}
