//! `leveloff run`: start a command, watch its tree, record it, and end as it ends.

mod stage;
mod watching;

use std::ffi::OsString;
use std::path::Path;

use anyhow::{Result, bail};
use leveloff_model::process::{Pid, printable};
use leveloff_model::recording::Target;
use leveloff_model::sample::{Ceiling, CeilingKind};
use leveloff_model::units::Bytes;
use leveloff_sampler::proc_root::{ProcRoot, key_of};
use leveloff_sampler::processes::Scope;
use leveloff_sampler::progress::{LogFollower, ProgressError};
use leveloff_sampler::sampler::{MemoryUsage, SamplerOptions};
use leveloff_sampler::system::Ceilings;
use leveloff_sampler::system::container::is_contained;
use leveloff_supervise::guard::{Guard, STOPPED};
use leveloff_supervise::isolate::Isolation;
use leveloff_supervise::launch::{self, Launch, Outcome, OutputStream, Served};
use leveloff_supervise::oom::OomWatch;
use leveloff_supervise::restart::Restarts;

use crate::cli::RunArgs;
use crate::guard::options as guard_options;
use crate::metrics;
use crate::notice::{notice, say};
use crate::recorder::Recorder;
use crate::session::{Plan, Session};
use crate::show;
use stage::Stage;
use watching::Watching;

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunEnd {
    /// As the command ended.
    Command(Outcome),
    /// The guard stopped it.
    Guarded,
}

/// Runs the command to its end. Whatever goes wrong with watching it is said, and the command goes
/// on.
pub fn run(args: &RunArgs) -> Result<RunEnd> {
    let command: Vec<String> = args
        .command
        .iter()
        .map(|word| printable(word.as_encoded_bytes()))
        .collect();
    let plan = Plan {
        target: Target::Command(command.clone()),
        command: &command,
        output: args.output.clone(),
        watch: &args.watch,
    };
    if let Some(log) = &args.watch.log {
        check_log(log)?;
    }
    let look = match args.shows {
        true => Some(show::look(&args.look, "leveloff run -- CMD")?),
        false => None,
    };
    let isolation = args
        .isolate
        .map(|limit| Isolation::prepare(limit, say))
        .transpose()?;
    let isolation = isolation.as_ref();
    let guard = guard(args, isolation)?;
    let restarts = restarts(args, guard.is_some())?;
    let started = started(args, restarts.as_ref(), isolation)?;
    let metrics = metrics::open(&plan)?;
    let recorder = plan.create_recording()?;
    let recording = recorder.path().to_owned();
    let stage = look
        .map(|look| Stage::prepare(look, &recording))
        .transpose();
    // If nothing ran, there is nothing in the file that was made for it.
    let stage = stage.inspect_err(|_| Recorder::discard(&recording))?;
    let mut oom = OomWatch::begin();
    if let Some((isolation, group)) = isolation.and_then(|it| Some((it, it.group()?))) {
        oom.isolated_in(group, isolation.limit());
    }
    let entrance = isolation.and_then(Isolation::entrance);
    let launched = match &stage {
        Some(stage) => stage.launch(&started, entrance),
        None => launch::launch(&started, entrance),
    };
    let mut launch = launched.inspect_err(|_| Recorder::discard(&recording))?;
    if let Some(isolation) = isolation {
        notice(&isolation.words());
    }
    oom.expect(launch.child());
    let stated = args.watch.facts.stated();
    let mut watching = Watching::start(recorder, options(args, &launch), &stated, oom, metrics);
    // Who starts the run again must outlive it.
    let spared = restarts.is_some().then(|| launch.child());
    watching.guard = guard.map(|guard| guard.sparing(spared));
    watching.restarts = restarts;
    watching.show = stage.and_then(|stage| stage.open(&command, &recording, &stated, &mut launch));
    let outcome = serve(&mut launch, &mut watching)?;
    watching.see_stop_through()?;
    let was_stopped = watching.was_stopped_by_guard();
    watching.finish(&command, outcome, args.checked);
    Ok(match was_stopped {
        true => RunEnd::Guarded,
        false => RunEnd::Command(outcome),
    })
}

/// Ends this process as the run ended.
pub fn pass_on(end: RunEnd) -> ! {
    match end {
        RunEnd::Command(outcome) => launch::pass_on(outcome),
        RunEnd::Guarded => std::process::exit(STOPPED.into()),
    }
}

/// The guard that was asked for. A limit that cannot be kept here is said before anything is started.
/// Whoever checks a run wants to see it whole, and has limits of its own.
fn guard(args: &RunArgs, isolation: Option<&Isolation>) -> Result<Option<Guard>> {
    let options = guard_options(args.watch.facts.limit, &args.guard)?.filter(|_| !args.checked);
    let Some(options) = options else {
        return Ok(None);
    };
    let own = Pid(rustix::process::getpid().as_raw_pid());
    let proc_root = ProcRoot::live();
    let mut ceilings = Ceilings::of(&proc_root, own);
    if let Some(isolation) = isolation {
        ceilings.cgroup = Some(Ceiling {
            kind: CeilingKind::Cgroup,
            limit: isolation.limit(),
            used: Bytes::ZERO,
        });
    }
    let standing = MemoryUsage {
        ceilings,
        ..MemoryUsage::default()
    };
    options.check(&standing, is_contained(&proc_root, own))?;
    Guard::new(options, args.watch.interval, say).map(Some)
}

/// Who starts the run again, if that was asked for.
fn restarts(args: &RunArgs, is_guarded: bool) -> Result<Option<Restarts>> {
    match &args.restart.resume_cmd {
        None => Ok(None),
        Some(_) if !is_guarded => bail!(
            "--resume-cmd starts a run again after the guard stopped it, and nothing is guarded; pass --limit \
             28GiB, --limit 90% or --stop-before 5m"
        ),
        Some(command) => Restarts::new(command, args.restart.max_restarts).map(Some),
    }
}

/// What is really started for the user's command.
fn started(
    args: &RunArgs,
    restarts: Option<&Restarts>,
    isolation: Option<&Isolation>,
) -> Result<Vec<OsString>> {
    let command = match restarts {
        Some(restarts) => restarts.wrap(&args.command)?,
        None => args.command.clone(),
    };
    match isolation {
        Some(isolation) => isolation.wrap(&command),
        None => Ok(command),
    }
}

/// A log that cannot be followed is said before anything is started.
fn check_log(log: &Path) -> Result<()> {
    match LogFollower::open(log) {
        Ok(_) => Ok(()),
        Err(ProgressError::Missing { path }) => bail!(
            "the log {0} does not exist; if the command is going to write it, make it before: \
             touch {0}",
            path.display()
        ),
        Err(error) => Err(error.into()),
    }
}

fn options(args: &RunArgs, launch: &Launch) -> SamplerOptions {
    let front = Pid(rustix::process::getpid().as_raw_pid());
    // The command may be over already; an empty scope then finds nobody.
    let root = key_of(&ProcRoot::live(), launch.child()).ok();
    SamplerOptions {
        scope: Scope::Descendants(root.into_iter().collect()),
        interval: args.watch.interval,
        pss_budget_percent: args.watch.pss_budget,
        limit: args.watch.facts.limit,
        log: args
            .watch
            .log
            .clone()
            .or_else(|| launch.output_files().into_iter().next()),
        has_output: true,
        adopter: Some(front),
        ours: vec![front, launch.relay()],
    }
}

fn serve(launch: &mut Launch, watching: &mut Watching) -> Result<Outcome> {
    loop {
        let served = launch.serve_until(watching.next_turn_at())?;
        let mut more = pass_output(launch, watching);
        if watching.is_screen_left()? {
            launch.join_jobs();
        }
        watching.mind_restarts();
        match served {
            Served::Deadline => watching.turn(),
            Served::Output | Served::Resumed => {}
            Served::Exited(outcome) => {
                while more {
                    more = pass_output(launch, watching);
                }
                // Steps since the last sample, and who went, are part of the run.
                watching.step(Session::tick);
                return Ok(outcome);
            }
        }
    }
}

/// Lets the sampler see what the command printed. Says whether there was anything.
fn pass_output(launch: &mut Launch, watching: &mut Watching) -> bool {
    let mut output = Vec::new();
    let mut any = false;
    for stream in [OutputStream::Stdout, OutputStream::Stderr] {
        output.clear();
        any |= launch.take_output(stream, &mut output) > 0;
        watching.feed(stream, &output);
    }
    any
}
