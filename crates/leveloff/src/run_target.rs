//! Which run is watched: named by the user, or found.

mod no_run_found;

use std::io;

use anyhow::{Context, Result, bail};
use leveloff_model::process::{Pid, ProcessKey, printable};
use leveloff_model::recording::Target;
use leveloff_sampler::find::{self, FindOptions, Run};
use leveloff_sampler::proc_root::{ProcRoot, key_of};
use leveloff_sampler::processes::Scope;
use leveloff_sampler::progress::LogFollower;
use leveloff_sampler::sampler::SamplerOptions;
use leveloff_supervise::guard::GuardOptions;
use regex::bytes::Regex;

use crate::history::JobMemory;
use crate::session::{SessionBuilder, WatchOptions};
pub(crate) use no_run_found::{hidden_processes, no_run_found};

/// What is going to be watched.
#[derive(Debug)]
pub(crate) struct RunTarget {
    pub scope: Scope,
    pub target: Target,
    /// The command line, for names.
    pub command: Vec<String>,
    /// What was picked, and why.
    pub picked: String,
}

/// How the user names the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TargetChoice {
    /// The only one that is found.
    Any,
    /// The run of this process.
    Pid(i32),
    /// The run whose command line matches this regular expression.
    Matching(String),
    /// Every process of the machine.
    System,
}

impl RunTarget {
    /// What is remembered of the job. A log that cannot be followed is refused before anything is sampled.
    pub(crate) fn recall(&self, options: &mut WatchOptions) -> Result<Option<JobMemory>> {
        if let Some(log) = &options.log {
            LogFollower::open(log)?;
        }
        Ok(options.recall(&self.target, &self.command))
    }

    /// A session on a run that is already going, with what its options ask for. A whole machine is not guarded.
    pub(crate) fn session<'a>(
        &'a self,
        options: &'a WatchOptions,
        memory: Option<JobMemory>,
        guard: Option<GuardOptions>,
    ) -> Result<SessionBuilder<'a>> {
        SessionBuilder::new(&self.target, &self.command, options)
            .remembering(memory)
            .guarded(guard.filter(|_| !self.is_system()))?
            .with_metrics()
    }

    /// Finds the run. If there are several, `among` chooses one, counted from zero.
    pub(crate) fn choose(
        choice: &TargetChoice,
        among: impl FnOnce(&[Run]) -> Result<usize>,
    ) -> Result<RunTarget> {
        match choice {
            TargetChoice::System => Ok(RunTarget {
                scope: Scope::Everyone,
                target: Target::System,
                command: vec!["system".to_owned()],
                picked: "watching every process".to_owned(),
            }),
            TargetChoice::Pid(pid) => RunTarget::of_pid(&ProcRoot::live(), Pid(*pid)),
            TargetChoice::Matching(pattern) => RunTarget::find(Some(pattern), among),
            TargetChoice::Any => RunTarget::find(None, among),
        }
    }

    /// The same, for a command that cannot ask which of several.
    pub(crate) fn choose_only(choice: &TargetChoice) -> Result<RunTarget> {
        RunTarget::choose(choice, |runs| bail!("{}", several(runs)))
    }

    pub(crate) fn is_system(&self) -> bool {
        self.target == Target::System
    }

    fn find(
        expression: Option<&str>,
        among: impl FnOnce(&[Run]) -> Result<usize>,
    ) -> Result<RunTarget> {
        let options = FindOptions {
            pattern: pattern(expression)?,
            ..FindOptions::default()
        };
        let found = find::find(&ProcRoot::live(), &options).context("cannot look through /proc")?;
        match found.runs.as_slice() {
            [] => bail!("{}", no_run_found(&found, is_root())),
            [run] => Ok(RunTarget::of_run(run)),
            runs => Ok(RunTarget::of_run(&runs[among(runs)?])),
        }
    }

    /// Exactly this process and its descendants: `--pid` is taken literally.
    fn of_pid(proc_root: &ProcRoot, pid: Pid) -> Result<RunTarget> {
        let key = key_of(proc_root, pid).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound if is_there(pid) => anyhow::anyhow!(
                "process {pid} is hidden: /proc shows only the user's own processes here (hidepid); run leveloff \
                 as its owner or as root"
            ),
            io::ErrorKind::NotFound => anyhow::anyhow!(
                "there is no process {pid}; `leveloff find` lists training runs"
            ),
            _ => anyhow::anyhow!(
                "cannot read process {pid}: {error}; run leveloff as its owner or as root"
            ),
        })?;
        Ok(RunTarget {
            scope: Scope::Descendants(vec![key]),
            target: Target::Attached(pid),
            command: command_of(proc_root, pid),
            picked: format!("watching {pid} and its descendants"),
        })
    }

    pub(crate) fn sampler(&self, options: &WatchOptions) -> SamplerOptions {
        options.sampler(self.scope.clone())
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

/// The regular expression of `--match`.
pub(crate) fn pattern(text: Option<&str>) -> Result<Option<Regex>> {
    let compile = |text| {
        Regex::new(text).with_context(|| {
            format!("--match '{text}' is not a regular expression; escape ( ) [ ] . * + ? with \\")
        })
    };
    text.map(compile).transpose()
}

pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Whether a process has this number, even if /proc does not say so.
fn is_there(pid: Pid) -> bool {
    let answer = rustix::process::Pid::from_raw(pid.0).map(rustix::process::test_kill_process);
    matches!(answer, Some(Ok(()) | Err(rustix::io::Errno::PERM)))
}

/// The message that there are several, and how to name one.
pub(crate) fn several(runs: &[Run]) -> String {
    let mut text = format!("there are {} runs; choose one with --pid:", runs.len());
    for run in runs {
        text.push_str(&format!("\n  --pid {}  {}", run.root, shown(run)));
    }
    text
}

/// The command of a run, as it is shown in a list.
pub(crate) fn shown(run: &Run) -> String {
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
