//! `leveloff run`: start a command, watch its tree, record it, and end as it ends.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use anyhow::Result;
use leveloff_model::process::{Pid, printable};
use leveloff_model::recording::{EndReason, Target};
use leveloff_sampler::proc_root::ProcRoot;
use leveloff_sampler::sampler::SamplerOptions;
use leveloff_sampler::tree::{Scope, key_of};

use crate::cli::RunArgs;
use crate::launch::{self, Launch, Outcome, OutputStream, Served};
use crate::notice::notice;
use crate::recorder::Recorder;
use crate::session::{Plan, Session};

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
    let recorder = plan.create_recording()?;
    let recording = recorder.path().to_owned();
    let mut launch = match launch::launch(&args.command) {
        Ok(launch) => launch,
        Err(error) => {
            // Nothing ran, so there is nothing in the file that was made for it.
            let _ = std::fs::remove_file(recording);
            return Err(error);
        }
    };
    let mut watching = Watching::start(recorder, options(args, &launch));
    let outcome = serve(&mut launch, &mut watching)?;
    watching.finish(&command, outcome);
    Ok(outcome)
}

fn options(args: &RunArgs, launch: &Launch) -> SamplerOptions {
    let front = Pid(rustix::process::getpid().as_raw_pid());
    // The command may be over already; an empty scope then finds nobody.
    let root = key_of(&ProcRoot::live(), launch.child()).ok();
    SamplerOptions {
        scope: Scope::Descendants(root.into_iter().collect()),
        interval: args.watch.interval,
        pss_budget_percent: args.watch.pss_budget,
        limit: args.watch.limit,
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
    let mut output = Vec::new();
    loop {
        let served = launch.serve_until(watching.next_tick_at())?;
        for stream in [OutputStream::Stdout, OutputStream::Stderr] {
            output.clear();
            launch.take_output(stream, &mut output);
            watching.feed(stream, &output);
        }
        match served {
            Served::Deadline => watching.tick(),
            Served::Output | Served::Resumed => {}
            Served::Exited(outcome) => return Ok(outcome),
        }
    }
}

/// The watch over the command, as long as it can be kept up.
enum Watching {
    Going(Box<Session>),
    Given,
}

impl Watching {
    fn start(recorder: Recorder, options: SamplerOptions) -> Watching {
        match Session::start(recorder, options) {
            Ok(session) => Watching::Going(Box::new(session.without_status_line())),
            Err(error) => {
                notice(&format!(
                    "cannot watch the command, which goes on: {error:#}"
                ));
                Watching::Given
            }
        }
    }

    fn next_tick_at(&self) -> Instant {
        match self {
            Watching::Going(session) => session.next_tick_at(),
            Watching::Given => Instant::now() + SERVE_WITHOUT_SAMPLING,
        }
    }

    fn feed(&mut self, stream: OutputStream, bytes: &[u8]) {
        if let Watching::Going(session) = self
            && !bytes.is_empty()
        {
            session.sampler().feed_output(stream, bytes);
        }
    }

    /// A tick that fails, or even panics, ends the watch and not the command.
    fn tick(&mut self) {
        let Watching::Going(session) = self else {
            return;
        };
        match catch_unwind(AssertUnwindSafe(|| session.tick())) {
            Ok(Ok(())) => {}
            Ok(Err(error)) => self.give_up(&format!("{error:#}")),
            Err(_) => self.give_up("leveloff has a bug, please report the lines above"),
        }
    }

    fn give_up(&mut self, why: &str) {
        notice(&format!(
            "no longer watching the command, which goes on: {why}"
        ));
        *self = Watching::Given;
    }

    fn finish(self, command: &[String], outcome: Outcome) {
        let Watching::Going(session) = self else {
            return;
        };
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
        session.finish(reason, &ended, 0);
    }
}
