//! `leveloff blame --pid`: samples a Python program that runs already, for a time, and puts everything back.

use std::io::{self, BufRead, IsTerminal, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow, bail};
use leveloff_blame::attach::{AttachPlan, Request};
use leveloff_model::process::Pid;
use leveloff_model::recording::EndReason;
use leveloff_sampler::progress::LogFollower;
use leveloff_supervise::termination_signals::TerminationSignals;

use crate::args::{AttachArgs, BlameArgs};
use crate::blame::{Blame, BlameExtent};
use crate::exit_code::Exit;
use crate::metrics::MetricsChoice;
use crate::notice::notice;
use crate::run_target::{RunTarget, TargetChoice};
use crate::session::{Session, SessionBuilder, VoiceOptions, WatchOptions};

/// Time between two samples, and CPU time for reading shared memory in percent of a core: the defaults of `record`.
const INTERVAL: Duration = Duration::from_secs(1);
const PSS_BUDGET_PERCENT: f64 = 0.5;
/// How long the program's main thread may stay outside of Python before the user is informed, and before leveloff gives up.
const PATIENCE: Duration = Duration::from_secs(5);
const LONGEST_WAIT: Duration = Duration::from_secs(120);
/// An answer is looked for this often.
const PACE: Duration = Duration::from_millis(50);

pub(super) fn run(pid: i32, args: &BlameArgs) -> Result<Exit> {
    let plan = AttachPlan::of(Pid(pid))?;
    let options = options(args);
    let target = RunTarget::choose_only(&TargetChoice::Pid(pid))?;
    if let Some(log) = &options.log {
        LogFollower::open(log)?;
    }
    let blame = Blame::prepare(BlameExtent::Lines)?;
    let place = blame.directory().to_owned();
    if !is_wanted(&plan, pid, &args.attach, &place)? {
        notice("nothing was done");
        return Ok(Exit::Error);
    }
    let builder = SessionBuilder::new(&target.target, &target.command, &options)
        .with_blame(Some(blame))
        .recording_or_scratch(args.attach.recording.as_deref())?;
    let stop = TerminationSignals::listen()?;
    let attached = attach(&plan, &place, &stop);
    if let Err(error) = attached {
        builder.discard();
        return Err(error);
    }
    notice(&format!(
        "process {pid} is sampled; Ctrl-C puts everything back and prints the lines"
    ));
    let started = builder.start_sampled(target.sampler(&options));
    let watched = started.and_then(|(mut session, _)| {
        let until = args.attach.duration;
        let until = until.and_then(|duration| Instant::now().checked_add(duration));
        let end = session.watch(&stop, until)?;
        Ok((session, end))
    });
    let detached = detach(&plan, &place, &stop);
    let (session, (reason, ended)) = watched?;
    finish(session, reason, ended, args)?;
    detached.map(|()| Exit::Success)
}

/// Prints the lines while the recording is there: it may have no name, and ends with the session.
fn finish(mut session: Session, reason: EndReason, ended: &str, args: &BlameArgs) -> Result<()> {
    session.end_recording(reason);
    let printed = match session.source() {
        Some(source) => super::print(args, source).map(drop),
        None => Err(anyhow!(
            "there was no room for a recording; name a file with --recording"
        )),
    };
    session.finish(reason, ended, 0);
    printed
}

fn options(args: &BlameArgs) -> WatchOptions {
    WatchOptions {
        interval: INTERVAL,
        pss_budget_percent: PSS_BUDGET_PERCENT,
        log: args.attach.log.clone(),
        step_regex: None,
        stated: args.facts.stated(),
        // What is seen is a part of a run, so it is neither compared with earlier runs nor remembered.
        uses_history: false,
        metrics: MetricsChoice::default(),
        voice: VoiceOptions::quiet(),
    }
}

/// Says what will be done, and asks.
fn is_wanted(plan: &AttachPlan, pid: i32, args: &AttachArgs, place: &Path) -> Result<bool> {
    let (major, minor) = plan.version();
    notice(&format!(
        "process {pid} is Python {major}.{minor}. leveloff will:\n  \
         - have {} ask it to execute a script (sys.remote_exec), which imports ctypes\n  \
         - load {} into it, about 50 KiB, which stays loaded and silent afterwards\n  \
         - redirect malloc, free, mmap and their relatives in every library that is loaded, and in those that are loaded \
         later, and wrap Python's allocator; some microseconds for each 512 KiB that are allocated\n  \
         - put all of that back at the end\n\
         If leveloff is killed by SIGKILL, the program stays sampled until it ends.",
        plan.interpreter().display(),
        place.join("libleveloff_blame.so").display(),
    ));
    if args.yes {
        return Ok(true);
    }
    if !io::stdin().is_terminal() {
        bail!("pass --yes: there is no terminal to ask on");
    }
    eprint!("Do it? [y/N] ");
    io::stderr().flush()?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    Ok(["y", "yes"].contains(&answer.trim().to_lowercase().as_str()))
}

fn attach(plan: &AttachPlan, place: &Path, stop: &TerminationSignals) -> Result<()> {
    let request = plan.attach(place)?;
    let outcome = wait(plan, &request, stop)?;
    match outcome {
        Outcome::Answered(answer) => Ok(answer?),
        Outcome::Ended => bail!("the program ended"),
        Outcome::Unanswered => {
            let left = request.withdraw();
            bail!(
                "the program did not get to it: its main thread does not return to Python. Nothing was changed; {} stays, \
                 with an empty script, until the program has looked at it",
                left.display()
            )
        }
    }
}

/// Puts everything back, unless the program is gone.
fn detach(plan: &AttachPlan, place: &Path, stop: &TerminationSignals) -> Result<()> {
    if !plan.is_alive() {
        return Ok(());
    }
    let request = plan.detach(place)?;
    match wait(plan, &request, stop)? {
        Outcome::Answered(answer) => Ok(answer?),
        Outcome::Ended => Ok(()),
        Outcome::Unanswered => {
            let left = request.withdraw();
            bail!(
                "the library is still in the program, whose main thread does not return to Python; it goes silent by itself. {} \
                 stays, with an empty script",
                left.display()
            )
        }
    }
}

enum Outcome {
    Answered(Result<(), leveloff_blame::attach::AttachError>),
    Ended,
    Unanswered,
}

/// Waits until the program has done what it was asked for, has ended, or the user gives up.
fn wait(plan: &AttachPlan, request: &Request, stop: &TerminationSignals) -> Result<Outcome> {
    let began = Instant::now();
    let mut is_told = false;
    loop {
        if let Some(answer) = request.answer() {
            return Ok(Outcome::Answered(answer));
        }
        if !plan.is_alive() {
            return Ok(Outcome::Ended);
        }
        let waited = began.elapsed();
        if waited > LONGEST_WAIT || stop.wait_until(Instant::now() + PACE)? {
            return Ok(Outcome::Unanswered);
        }
        if waited > PATIENCE && !is_told {
            is_told = true;
            notice("waiting until the program's main thread returns to Python; Ctrl-C gives up");
        }
    }
}
