//! `leveloff demo`: watches the reference trainer, and compares the verdict with the correct one.

mod demo_files;
mod demo_output;
mod ground_truth;
mod live_table;
mod pattern_list;
mod trainer;
mod trainer_process;

use std::os::fd::BorrowedFd;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use leveloff_classifier::run_analysis::RunAccount;
use leveloff_classifier::verdict::RunVerdict;
use leveloff_model::process::printable;
use leveloff_model::recording::Target;
use leveloff_report::verdict::text::block;
use leveloff_sampler::processes::Scope;
use leveloff_sampler::sampler::SamplerError;
use leveloff_supervise::termination_signals::{TerminationSignals, WaitResult};
use leveloff_text::page::Page;

use super::judge::{Case, JudgeOptions};
use crate::args::DemoArgs;
use crate::exit_code::Exit;
use crate::metrics::MetricsChoice;
use crate::session::{Session, SessionBuilder, VoiceOptions, WatchOptions};
use crate::stdout::{self, paint, put};
use crate::summary::Summary;
use demo_files::DemoFiles;
use demo_output::{DemoOutput, dashboard_styles, open_dashboard};
use live_table::LiveTable;
use pattern_list::Pattern;
use trainer::Trainer;
use trainer_process::{Ended, TrainerProcess};

/// How long a demo takes, so that the whole command stays within a minute.
const WATCHED: Duration = Duration::from_secs(50);

/// One sample for every step or two of a slow training.
const INTERVAL: Duration = Duration::from_millis(250);

/// A fast training takes twenty to fifty steps in a second.
const FAST_INTERVAL: Duration = Duration::from_millis(50);

/// In percent of one core. What workers share is read on a budget, for `run` a twentieth of this: in
/// the hours of a real run that is plenty, in the minute of a demo it would be a handful of readings.
const PSS_BUDGET: f64 = 10.0;

/// The pattern that is suggested next: the opposite of the default.
const LEAK: &str = "native-leak";

/// Runs the demo to its end, or lists the patterns.
pub(crate) fn run(args: &DemoArgs) -> Result<Exit> {
    let trainer = Trainer::find(args.trainer.as_deref())?;
    let patterns = trainer.patterns(args.steps)?;
    if args.list {
        stdout::print(patterns.list().as_bytes())?;
        return Ok(Exit::Success);
    }
    let pattern = patterns.pattern(&args.pattern)?;
    let files = DemoFiles::create(args.output.as_deref(), &pattern.name)?;
    let finished = watch(args, &trainer, pattern, &files)?;
    report(args, pattern, &files, &finished)
}

/// A training that has ended.
struct Finished {
    summary: Summary,
    account: Option<RunAccount>,
    ended: Ended,
    /// Whether it ended before it had shown its pattern.
    is_short: bool,
}

fn watch(
    args: &DemoArgs,
    trainer: &Trainer,
    pattern: &Pattern,
    files: &DemoFiles,
) -> Result<Finished> {
    let steps = args.steps.unwrap_or(pattern.steps);
    let pace = (!args.fast).then(|| steps as f64 / WATCHED.as_secs_f64());
    let command = trainer.command(&pattern.name, steps, pace, files);
    let options = watch_options(args);
    let words: Vec<String> = std::iter::once(command.get_program())
        .chain(command.get_args())
        .map(|word| printable(word.as_encoded_bytes()))
        .collect();
    let target = Target::Command(words.clone());
    let builder = SessionBuilder::new(&target, &words, &options)
        .recording_to(Some(files.recording()))?
        .without_status_line();
    // Listens before anything runs that would have to be stopped.
    let stop = TerminationSignals::listen()?;
    let training = TrainerProcess::start(command).inspect_err(|_| builder.discard())?;
    let scope = Scope::Descendants(training.key().into_iter().collect());
    let session = builder.start(options.sampler(scope))?;
    let output = match dashboard_styles(args.plain, &args.appearance.choice())? {
        Some(styles) => {
            let screen =
                open_dashboard(styles, pattern, files.recording(), options.stated.clone())?;
            DemoOutput::Screen(screen)
        }
        None => {
            let _ = put(&opening(pattern, steps, pace, &training));
            DemoOutput::Lines(LiveTable::new(paint(), steps))
        }
    };
    let ((summary, account), ended) = watch_training(session, training, &stop, output)?;
    Ok(Finished {
        summary,
        account,
        ended,
        is_short: ended.was_stopped || steps < pattern.steps,
    })
}

fn opening(pattern: &Pattern, steps: u64, pace: Option<f64>, training: &TrainerProcess) -> String {
    let how_long = match pace {
        Some(pace) => format!("about {:.0} s", steps as f64 / pace),
        None => "as fast as it can".to_owned(),
    };
    let mut page = Page::new();
    page.line(format!("demo {}", pattern.name));
    page.row("does", &pattern.summary);
    page.row(
        "training",
        &format!(
            "pid {} · {steps} steps, {how_long} · Ctrl-C ends it early",
            training.pid()
        ),
    );
    format!("{}\n{}", page.into_text(), LiveTable::head())
}

fn watch_options(args: &DemoArgs) -> WatchOptions {
    let usual = if args.fast { FAST_INTERVAL } else { INTERVAL };
    WatchOptions {
        interval: args.interval.unwrap_or(usual),
        pss_budget_percent: PSS_BUDGET,
        log: None,
        step_regex: None,
        stated: args.facts.stated(),
        uses_history: false,
        metrics: MetricsChoice::default(),
        voice: VoiceOptions::quiet(),
    }
}

/// Samples and shows until the training ends, by itself or because the user stopped it or left.
fn watch_training(
    mut session: Session,
    mut training: TrainerProcess,
    stop: &TerminationSignals,
    mut output: DemoOutput,
) -> Result<((Summary, Option<RunAccount>), Ended)> {
    loop {
        let handles: Vec<BorrowedFd> = std::iter::once(training.handle())
            .chain(output.left())
            .collect();
        let woken = stop.wait_for(&handles, session.next_turn_at())?;
        match woken {
            WaitResult::Signal => {
                training.stop();
                continue;
            }
            // The user left the dashboard: the training is stopped.
            WaitResult::Other(1) => {
                training.ask_to_stop();
                output = DemoOutput::None;
                continue;
            }
            WaitResult::Other(_) | WaitResult::Deadline => {}
        }
        // Also after its end: the last steps, and processes that exited, are part of the run.
        if !show(&mut session, &mut output)? {
            training.ask_to_stop();
        }
        if woken == WaitResult::Other(0) {
            let ended = training.ended()?;
            session.end_recording(ended.reason());
            output.show_end();
            return Ok((session.end(ended.reason()), ended));
        }
    }
}

/// Takes a tick and shows it; false if the output is closed.
fn show(session: &mut Session, output: &mut DemoOutput) -> Result<bool> {
    let tick = match session.tick() {
        Ok(tick) => tick,
        // It ended before the first sample; its end is reported like any other.
        Err(SamplerError::Gone(_)) => return Ok(true),
        Err(error) => return Err(error.into()),
    };
    Ok(output.show(&tick, session))
}

/// Prints the verdict as `judge` does, from the recording, and then the correct one.
fn report(
    args: &DemoArgs,
    pattern: &Pattern,
    files: &DemoFiles,
    finished: &Finished,
) -> Result<Exit> {
    if let Some(trouble) = finished.ended.trouble() {
        bail!("{trouble}; its own messages, if any, are above");
    }
    let options = JudgeOptions {
        stated: args.facts.stated(),
        ..JudgeOptions::default()
    };
    let outcome = Case::of(files.recording())
        .judge(&options)
        .with_context(|| format!("cannot judge {}", files.recording().display()))?;
    let mismatches = ground_truth::mismatches(&pattern.truth, &outcome.verdict);
    let block = block(&outcome.judged(&pattern.name), paint());
    let _ = put(&format!(
        "\n{block}\n{}",
        ending(pattern, files, finished, &outcome.verdict)
    ));
    Ok(match mismatches.is_empty() {
        true => Exit::Success,
        false => Exit::Failure,
    })
}

fn ending(
    pattern: &Pattern,
    files: &DemoFiles,
    finished: &Finished,
    verdict: &RunVerdict,
) -> String {
    let mut page = Page::new();
    page.row("truth", &pattern.truth.words());
    page.row(
        "met",
        &ground_truth::met(&pattern.truth, verdict, finished.is_short),
    );
    page.gap();
    page.row(
        "cost",
        finished
            .summary
            .cost_line(finished.account.as_ref())
            .trim_start_matches("cost "),
    );
    page.row("recording", &files.recording().display().to_string());
    let other = if pattern.name == LEAK { "" } else { LEAK };
    page.row("next", format!("leveloff demo {other}").trim_end());
    page.row("", "leveloff demo --list");
    page.row("", "leveloff run -- python train.py");
    page.into_text()
}
