//! `leveloff run`: starts a command, watches its process tree, records it, and ends as it ends.

mod run_screen;
mod trial_end;
mod watched_command;

use std::ffi::OsString;
use std::path::Path;

use anyhow::{Result, bail};
use leveloff_model::process::printable;
use leveloff_model::recording::Target;
use leveloff_model::sample::{Ceiling, CeilingKind};
use leveloff_model::units::Bytes;
use leveloff_sampler::proc_root::{ProcRoot, key_of};
use leveloff_sampler::processes::Scope;
use leveloff_sampler::progress::{LogFollower, ProgressError};
use leveloff_sampler::sampler::{MemoryUsage, SamplerOptions};
use leveloff_sampler::system::Ceilings;
use leveloff_sampler::system::container::is_contained;
use leveloff_supervise::guard::Guard;
use leveloff_supervise::isolate::Isolation;
use leveloff_supervise::launch::{self, Launch, Outcome, OutputStream, Served};
use leveloff_supervise::oom::OomWatch;
use leveloff_supervise::restart::Restarts;

use super::guard_options::guard_options;
use crate::args::RunArgs;
use crate::blame::Blame;
use crate::exit_code::Exit;
use crate::notice::{note_output, notice, say};
use crate::screen_thread;
use crate::session::{Session, SessionBuilder, WatchOptions, own_pid};
use run_screen::RunScreen;
use trial_end::TrialEnd;
use watched_command::WatchedCommand;

/// How a run ended.
enum RunEnd {
    /// As the command ended.
    Command(Outcome),
    StoppedByGuard,
}

/// Runs the command to its end, and ends this process in the same way: by the same code or the same signal.
pub(crate) fn run_and_end_alike(args: &RunArgs) -> Result<Exit> {
    match run(args)? {
        RunEnd::Command(outcome) => launch::pass_on(outcome),
        RunEnd::StoppedByGuard => Ok(Exit::StoppedByGuard),
    }
}

/// A failure of the watch is reported, and the command goes on.
fn run(args: &RunArgs) -> Result<RunEnd> {
    let command: Vec<String> = args
        .command
        .iter()
        .map(|word| printable(word.as_encoded_bytes()))
        .collect();
    let mut options = args.sampling.options();
    if !(args.checked || args.trial.is_some() || args.dashboard) {
        options.voice = args.voice.options();
    }
    if let Some(log) = &options.log {
        check_log(log)?;
    }
    let styles = match args.dashboard {
        true => Some(screen_thread::appearance(
            &args.appearance.choice(),
            "leveloff run -- CMD",
        )?),
        false => None,
    };
    let isolation = args
        .isolate
        .map(|limit| Isolation::prepare(limit, say))
        .transpose()?;
    let isolation = isolation.as_ref();
    let guard = guard(args, &options, isolation)?;
    let trial = args.trial.as_deref().map(TrialEnd::open).transpose()?;
    let restarts = restarts(args, guard.is_some())?;
    let blame = args.blame.map(Blame::prepare).transpose()?;
    let variables = blame.as_ref().map_or_else(Vec::new, Blame::variables);
    let started = started(args, restarts.as_ref(), isolation)?;
    let target = Target::Command(command.clone());
    let memory = options.recall(&target, &command);
    let builder = SessionBuilder::new(&target, &command, &options)
        .remembering(memory)
        .with_metrics()?
        .with_voice()?
        .recording_to(args.output.as_deref())?
        .without_status_line();
    let recording = builder.recording().unwrap_or(Path::new("")).to_owned();
    let screen = styles
        .map(|styles| RunScreen::prepare(styles, &recording))
        .transpose()
        .inspect_err(|_| builder.discard())?;
    let mut oom = OomWatch::begin();
    if let Some((isolation, group)) = isolation.and_then(|it| Some((it, it.cgroup()?))) {
        oom.set_job_cgroup(group, isolation.limit());
    }
    let limit = isolation.and_then(Isolation::child_limit);
    let launched = match &screen {
        Some(screen) => screen.launch(&started, &variables, limit),
        None => launch::launch(&started, &variables, limit),
    };
    let mut launch = launched.inspect_err(|_| builder.discard())?;
    if let Some(isolation) = isolation {
        notice(&isolation.describe());
    }
    oom.add_command(launch.child());
    let mut watched = WatchedCommand::start(
        builder.with_oom_watch(oom).with_blame(blame),
        sampler_options(&options, &launch),
    );
    // The process that starts the run again must outlive a stop.
    let spared = restarts.is_some().then(|| launch.child());
    watched.guard = guard.map(|guard| guard.excluding(spared));
    watched.restarts = restarts;
    watched.trial = trial;
    watched.screen =
        screen.and_then(|screen| screen.open(&command, &recording, &options.stated, &mut launch));
    let outcome = serve(&mut launch, &mut watched)?;
    watched.finish_stop()?;
    let was_stopped = watched.was_stopped_by_guard();
    watched.finish(&command, outcome, args.checked || args.trial.is_some());
    Ok(match was_stopped {
        true => RunEnd::StoppedByGuard,
        false => RunEnd::Command(outcome),
    })
}

/// The guard, if there is a limit. A limit that cannot be kept here is refused before anything is started. `check` has
/// limits of its own, and needs the run as a whole.
fn guard(
    args: &RunArgs,
    watch: &WatchOptions,
    isolation: Option<&Isolation>,
) -> Result<Option<Guard>> {
    let options = guard_options(watch.stated.limit, &args.guard)?.filter(|_| !args.checked);
    let Some(options) = options else {
        return Ok(None);
    };
    let own = own_pid();
    let proc_root = ProcRoot::live();
    let mut ceilings = Ceilings::of(&proc_root, own);
    if let Some(isolation) = isolation {
        ceilings.cgroup = Some(Ceiling {
            kind: CeilingKind::Cgroup,
            limit: isolation.limit(),
            used: Bytes::ZERO,
        });
    }
    let memory = MemoryUsage {
        ceilings,
        ..MemoryUsage::default()
    };
    options.check(&memory, is_contained(&proc_root, own))?;
    Guard::new(options, watch.interval, say).map(Some)
}

/// The restarts, if a command for them is given.
fn restarts(args: &RunArgs, is_guarded: bool) -> Result<Option<Restarts>> {
    match &args.restart.resume_cmd {
        None => Ok(None),
        Some(_) if !is_guarded => bail!(
            "--resume-cmd starts a run again after the guard stopped it, and there is no guard; pass --limit \
             28GiB, --limit 90% or --stop-before 5m"
        ),
        Some(command) => Restarts::new(command, args.restart.max_restarts).map(Some),
    }
}

/// The command line that is started for the user's command.
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

/// A log that cannot be followed is refused before anything is started.
fn check_log(log: &Path) -> Result<()> {
    match LogFollower::open(log) {
        Ok(_) => Ok(()),
        Err(ProgressError::Missing { path }) => bail!(
            "the log {0} does not exist; if the command will write it, create it first: touch \
             {0}",
            path.display()
        ),
        Err(error) => Err(error.into()),
    }
}

fn sampler_options(options: &WatchOptions, launch: &Launch) -> SamplerOptions {
    let front = own_pid();
    // The command may have ended already; an empty scope then finds no process.
    let root = key_of(&ProcRoot::live(), launch.child()).ok();
    let log = options.log.clone();
    SamplerOptions {
        log: log.or_else(|| launch.output_files().into_iter().next()),
        has_output: true,
        adopter: Some(front),
        own_processes: vec![front, launch.relay()],
        ..options.sampler(Scope::Descendants(root.into_iter().collect()))
    }
}

fn serve(launch: &mut Launch, watched: &mut WatchedCommand) -> Result<Outcome> {
    loop {
        let served = launch.serve_until(watched.next_turn_at())?;
        let mut more = pass_output(launch, watched);
        if watched.is_screen_left()? {
            launch.join_jobs();
        }
        watched.restart_if_due();
        match served {
            Served::Deadline => watched.turn(),
            Served::Output | Served::Resumed => {}
            Served::Exited(outcome) => {
                while more {
                    more = pass_output(launch, watched);
                }
                // Steps since the last sample, and processes that exited, are part of the run.
                watched.step(Session::tick);
                return Ok(outcome);
            }
        }
    }
}

/// Passes the output of the command to the sampler. False if there was none.
fn pass_output(launch: &mut Launch, watched: &mut WatchedCommand) -> bool {
    let mut output = Vec::new();
    let mut any = false;
    for stream in [OutputStream::Stdout, OutputStream::Stderr] {
        output.clear();
        any |= launch.take_output(stream, &mut output) > 0;
        watched.feed(stream, &output);
        if shares_line_with_notices(stream) {
            note_output(&output);
        }
    }
    any
}

/// Whether this stream of the command goes where notices are printed.
fn shares_line_with_notices(stream: OutputStream) -> bool {
    use rustix::fs::fstat;
    let same = |a: rustix::io::Result<rustix::fs::Stat>,
                b: rustix::io::Result<rustix::fs::Stat>| {
        matches!((a, b), (Ok(a), Ok(b)) if (a.st_dev, a.st_ino) == (b.st_dev, b.st_ino))
    };
    match stream {
        OutputStream::Stderr => true,
        OutputStream::Stdout => same(
            fstat(rustix::stdio::stdout()),
            fstat(rustix::stdio::stderr()),
        ),
    }
}
