//! `leveloff run`: start a command, watch its tree, record it, and end as it ends.

mod stage;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use leveloff_dashboard::event::SourceNews;
use leveloff_model::process::{Pid, printable};
use leveloff_model::recording::{EndReason, StatedFacts, Target};
use leveloff_sampler::proc_root::ProcRoot;
use leveloff_sampler::progress::{LogFollower, ProgressError};
use leveloff_sampler::sampler::{SamplerError, SamplerOptions};
use leveloff_sampler::tree::{Scope, key_of};

use crate::cli::RunArgs;
use crate::isolate::Isolation;
use crate::launch::{self, Launch, Outcome, OutputStream, Served};
use crate::notice::notice;
use crate::oom::OomWatch;
use crate::recorder::Recorder;
use crate::session::{Plan, Session};
use crate::show::{self, Show};
use stage::Stage;

/// Without anything to sample, the command is still served: keys, sizes, signals.
const SERVE_WITHOUT_SAMPLING: Duration = Duration::from_secs(60);

/// Runs the command to its end. Whatever goes wrong with watching it is said, and the command goes
/// on.
pub fn run(args: &RunArgs) -> Result<Outcome> {
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
    let isolation = args.isolate.map(Isolation::prepare).transpose()?;
    let isolation = isolation.as_ref();
    let started = match isolation {
        Some(isolation) => isolation.wrap(&args.command)?,
        None => args.command.clone(),
    };
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
    let mut watching = Watching::start(recorder, options(args, &launch), &stated, oom);
    watching.show = stage.and_then(|stage| stage.open(&command, &recording, &stated, &mut launch));
    let outcome = serve(&mut launch, &mut watching)?;
    watching.finish(&command, outcome, args.checked);
    Ok(outcome)
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
        let served = launch.serve_until(watching.next_tick_at())?;
        let mut more = pass_output(launch, watching);
        if watching.is_screen_left()? {
            launch.join_jobs();
        }
        match served {
            Served::Deadline => watching.tick(),
            Served::Output | Served::Resumed => {}
            Served::Exited(outcome) => {
                while more {
                    more = pass_output(launch, watching);
                }
                // Steps since the last sample, and who went, are part of the run.
                watching.tick();
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
}

impl Watching {
    fn start(
        recorder: Recorder,
        options: SamplerOptions,
        stated: &StatedFacts,
        oom: OomWatch,
    ) -> Watching {
        let prepared = |session: Session| {
            let session = session.without_status_line().with_oom_watch(oom);
            session.judged_by(stated)
        };
        let session = match Session::start(recorder, options) {
            Ok(session) => Some(Box::new(prepared(session))),
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
        }
    }

    fn next_tick_at(&self) -> Instant {
        match &self.session {
            Some(session) => session.next_tick_at(),
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

    /// A tick that fails, or even panics, ends the watch and not the command.
    fn tick(&mut self) {
        let Some(session) = &mut self.session else {
            return;
        };
        match catch_unwind(AssertUnwindSafe(|| session.tick())) {
            Ok(Ok(tick)) => {
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
            let killed = session
                .as_mut()
                .and_then(|session| session.oom_report(reason));
            let told = match killed {
                Some(killed) => format!("{ended}, {}", killed.brief()),
                None => ended.clone(),
            };
            show.tell(SourceNews::Ended(told));
            show.wait();
        }
        match session {
            Some(session) if is_checked => session.finish_quietly(reason),
            Some(session) => session.finish(reason, &ended, 0),
            None => {}
        }
    }
}
