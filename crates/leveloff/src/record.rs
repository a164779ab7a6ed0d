//! `leveloff record`: watch a run that is there already, without a screen.

use std::io;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use leveloff_model::process::{Pid, ProcessKey, printable};
use leveloff_model::recording::{EndReason, StatedFacts, Target};
use leveloff_sampler::find::{self, FindOptions, Run};
use leveloff_sampler::proc_root::ProcRoot;
use leveloff_sampler::progress::LogFollower;
use leveloff_sampler::sampler::SamplerOptions;
use leveloff_sampler::tree::{Scope, key_of};

use crate::cli::RecordArgs;
use crate::find::{nothing_found, pattern};
use crate::notice::notice;
use crate::recorder::Recorder;
use crate::session::{Plan, Session};
use crate::stop_requests::StopRequests;

/// How many growers are named after a watch over the whole machine.
const TOP_GROWERS: usize = 10;

/// Records until the run ends, the time is over, or a signal asks to stop.
pub fn run(args: &RecordArgs) -> Result<ExitCode> {
    let subject = Subject::choose(args)?;
    let plan = Plan {
        target: subject.target.clone(),
        command: &subject.command,
        output: args.output.clone(),
        watch: &args.watch,
    };
    if let Some(log) = &args.watch.log {
        LogFollower::open(log)?;
    }
    let recorder = plan.create_recording()?;
    notice(&format!(
        "{} · recording {}",
        subject.picked,
        recorder.path().display()
    ));
    let options = SamplerOptions {
        scope: subject.scope,
        interval: args.watch.interval,
        pss_budget_percent: args.watch.pss_budget,
        limit: args.watch.facts.limit,
        log: args.watch.log.clone(),
        has_output: false,
        adopter: None,
        ours: vec![Pid(rustix::process::getpid().as_raw_pid())],
    };
    let stop = StopRequests::listen()?;
    let stated = (!args.system).then(|| args.watch.facts.stated());
    let mut session = begin(recorder, options, stated.as_ref())?;
    // A time beyond all clocks is no limit.
    let until = args
        .duration
        .and_then(|duration| Instant::now().checked_add(duration));
    let (reason, ended) = watch(&mut session, &stop, until)?;
    session.finish(reason, ended, if args.system { TOP_GROWERS } else { 0 });
    Ok(ExitCode::SUCCESS)
}

/// Takes the first sample. If that is not possible, there is no recording.
fn begin(
    recorder: Recorder,
    options: SamplerOptions,
    stated: Option<&StatedFacts>,
) -> Result<Session> {
    let path = recorder.path().to_owned();
    let first_tick = |mut session: Session| {
        session.tick()?;
        Ok(session)
    };
    let judged = |session: Session| match stated {
        Some(stated) => session.judged_by(stated),
        None => session,
    };
    Session::start(recorder, options)
        .map(judged)
        .and_then(first_tick)
        .inspect_err(|_| Recorder::discard(&path))
}

fn watch(
    session: &mut Session,
    stop: &StopRequests,
    until: Option<Instant>,
) -> Result<(EndReason, &'static str)> {
    loop {
        if session.is_over() {
            return Ok((EndReason::TargetGone, "the run ended"));
        }
        let next = session.next_tick_at();
        if let Some(until) = until.filter(|&until| until <= next) {
            return Ok(if stop.wait_until(until)? {
                (EndReason::Stopped, "stopped; the run goes on")
            } else {
                (EndReason::Duration, "time is over; the run goes on")
            });
        }
        if stop.wait_until(next)? {
            return Ok((EndReason::Stopped, "stopped; the run goes on"));
        }
        session.tick()?;
    }
}

/// What is going to be recorded.
struct Subject {
    scope: Scope,
    target: Target,
    command: Vec<String>,
    picked: String,
}

impl Subject {
    fn choose(args: &RecordArgs) -> Result<Subject> {
        let proc_root = ProcRoot::live();
        if args.system {
            return Ok(Subject {
                scope: Scope::Everyone,
                target: Target::System,
                command: vec!["system".to_owned()],
                picked: "watching every process".to_owned(),
            });
        }
        if let Some(pid) = args.pid {
            return Subject::of_pid(&proc_root, Pid(pid));
        }
        let options = FindOptions {
            pattern: pattern(args.pattern.as_deref())?,
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
            [run] => Ok(Subject::of_run(run)),
            runs => bail!("{}", several(runs)),
        }
    }

    /// Exactly this process and what comes from it: a number is a plain wish.
    fn of_pid(proc_root: &ProcRoot, pid: Pid) -> Result<Subject> {
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
        Ok(Subject {
            scope: Scope::Descendants(vec![key]),
            target: Target::Attached(pid),
            command: command_of(proc_root, pid),
            picked: format!("watching {pid} and what comes from it"),
        })
    }

    fn of_run(run: &Run) -> Subject {
        Subject {
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

fn several(runs: &[Run]) -> String {
    let mut text = format!("there are {} runs; choose one with --pid:", runs.len());
    for run in runs {
        let command: String = command(run).join(" ").chars().take(100).collect();
        text.push_str(&format!("\n  --pid {}  {command}", run.root));
    }
    text
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
