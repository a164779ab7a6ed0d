//! `leveloff run`: start a command, watch its tree, record it, and end as it ends.

mod stage;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use leveloff_dashboard::event::SourceNews;
use leveloff_model::process::{Pid, printable};
use leveloff_model::recording::{EndReason, StatedFacts, Target};
use leveloff_model::sample::Tick;
use leveloff_sampler::container::is_contained;
use leveloff_sampler::proc_root::ProcRoot;
use leveloff_sampler::progress::{LogFollower, ProgressError};
use leveloff_sampler::sampler::{SamplerError, SamplerOptions, Standing};
use leveloff_sampler::surroundings::Ceilings;
use leveloff_sampler::tree::{Scope, key_of};

use crate::cli::RunArgs;
use crate::guard::{Guard, STOPPED, Terms};
use crate::launch::{self, Launch, Outcome, OutputStream, Served};
use crate::notice::notice;
use crate::recorder::Recorder;
use crate::session::{Plan, Session};
use crate::show::{self, Show};
use stage::Stage;

/// Without anything to sample, the command is still served: keys, sizes, signals.
const SERVE_WITHOUT_SAMPLING: Duration = Duration::from_secs(60);

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
    let guard = guard(args)?;
    let recorder = plan.create_recording()?;
    let recording = recorder.path().to_owned();
    let stage = look
        .map(|look| Stage::prepare(look, &recording))
        .transpose();
    // If nothing ran, there is nothing in the file that was made for it.
    let stage = stage.inspect_err(|_| Recorder::discard(&recording))?;
    let launched = match &stage {
        Some(stage) => stage.launch(&args.command),
        None => launch::launch(&args.command),
    };
    let mut launch = launched.inspect_err(|_| Recorder::discard(&recording))?;
    let stated = args.watch.facts.stated();
    let mut watching = Watching::start(recorder, options(args, &launch), &stated);
    watching.guard = guard;
    watching.show = stage.and_then(|stage| stage.open(&command, &recording, &stated, &mut launch));
    let outcome = serve(&mut launch, &mut watching)?;
    watching.see_stop_through();
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
fn guard(args: &RunArgs) -> Result<Option<Guard>> {
    let terms = Terms::of(args.watch.facts.limit, &args.guard)?.filter(|_| !args.checked);
    let Some(terms) = terms else { return Ok(None) };
    let own = Pid(rustix::process::getpid().as_raw_pid());
    let proc_root = ProcRoot::live();
    let standing = Standing {
        ceilings: Ceilings::of(&proc_root, own),
        ..Standing::default()
    };
    terms.check(&standing, is_contained(&proc_root, own))?;
    Guard::new(terms, args.watch.interval).map(Some)
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

/// The watch over the command, as long as it can be kept up, and the screen, as long as it is shown.
struct Watching {
    /// `None` when it could not be kept up.
    session: Option<Box<Session>>,
    show: Option<Show>,
    /// Until there is a first sample.
    guard: Option<Guard>,
}

impl Watching {
    fn start(recorder: Recorder, options: SamplerOptions, stated: &StatedFacts) -> Watching {
        let session = match Session::start(recorder, options) {
            Ok(session) => Some(Box::new(session.without_status_line().judged_by(stated))),
            Err(error) => {
                notice(&format!(
                    "cannot watch the command, which goes on: {error:#}"
                ));
                None
            }
        };
        Watching {
            session,
            show: None,
            guard: None,
        }
    }

    fn next_turn_at(&self) -> Instant {
        match &self.session {
            Some(session) => session.next_turn_at(),
            None => Instant::now() + SERVE_WITHOUT_SAMPLING,
        }
    }

    fn feed(&mut self, stream: OutputStream, bytes: &[u8]) {
        if let Some(session) = &mut self.session
            && !bytes.is_empty()
        {
            session.sampler().feed_output(stream, bytes);
        }
    }

    /// Does what is due.
    fn turn(&mut self) {
        self.step(|session| session.turn());
    }

    /// A step that fails, or even panics, ends the watch and not the command.
    fn step<T: Into<Option<Tick>>>(
        &mut self,
        step: impl FnOnce(&mut Session) -> Result<T, SamplerError>,
    ) {
        let Some(session) = &mut self.session else {
            return;
        };
        match catch_unwind(AssertUnwindSafe(|| step(session).map(Into::into))) {
            Ok(Ok(None)) => {}
            Ok(Ok(Some(tick))) => {
                self.post_guard();
                if let Some(show) = &mut self.show {
                    show.offer(&tick);
                }
            }
            // It was over before the first sample; its end is told like any other.
            Ok(Err(SamplerError::Gone(_))) => {}
            Ok(Err(error)) => self.give_up(&error.to_string()),
            Err(_) => self.give_up("leveloff has a bug, please report the lines above"),
        }
    }

    /// After the first sample. The command runs by now, and goes on also if it cannot be guarded.
    fn post_guard(&mut self) {
        if let (Some(session), Some(guard)) = (&mut self.session, self.guard.take())
            && let Err(error) = session.guard_by(guard)
        {
            notice(&format!("NOT GUARDED, the command goes on: {error:#}"));
        }
    }

    /// The command has ended, and some of its tree may not have: what a guard has begun, it finishes.
    fn see_stop_through(&mut self) {
        while self
            .session
            .as_ref()
            .is_some_and(|session| session.is_stopping())
        {
            let wait = self
                .next_turn_at()
                .saturating_duration_since(Instant::now());
            std::thread::sleep(wait);
            self.turn();
        }
    }

    fn was_stopped_by_guard(&self) -> bool {
        self.session
            .as_ref()
            .is_some_and(|session| session.was_stopped_by_guard())
    }

    fn give_up(&mut self, why: &str) {
        notice(&format!(
            "no longer watching the command, which goes on: {why}"
        ));
        self.session = None;
    }

    /// Whether the screen was left since this was asked last.
    fn is_screen_left(&mut self) -> Result<bool> {
        let is_left = match &self.show {
            Some(show) => show.is_left_by(Instant::now())?,
            None => false,
        };
        if is_left {
            self.show = None;
        }
        Ok(is_left)
    }

    fn finish(self, command: &[String], outcome: Outcome, is_checked: bool) {
        let name = command.first().map_or("the command", String::as_str);
        let (reason, ended) = match outcome {
            Outcome::Code(code) => (
                EndReason::Exited(code),
                format!("{name} ended with code {code}"),
            ),
            Outcome::Signal(signal) => (
                EndReason::Signalled(signal),
                format!("{name} was ended by signal {signal}"),
            ),
        };
        let mut session = self.session;
        if let Some(session) = &mut session {
            session.end_recording(reason);
        }
        if let Some(show) = self.show {
            show.tell(SourceNews::Ended(ended.clone()));
            show.wait();
        }
        match session {
            Some(session) if is_checked => session.finish_quietly(reason),
            Some(session) => session.finish(reason, &ended, 0),
            None => {}
        }
    }
}
