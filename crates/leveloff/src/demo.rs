//! `leveloff demo`: the reference trainer under watch, and whether what is said of it is true.

mod audience;
mod catalogue;
mod live_table;
mod patient;
mod place;
mod trainer;
mod truth;

use std::os::fd::BorrowedFd;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use leveloff_classifier::verdict::RunVerdict;
use leveloff_model::process::{Pid, printable};
use leveloff_model::recording::Target;
use leveloff_report::verdict::text::block;
use leveloff_sampler::processes::Scope;
use leveloff_sampler::sampler::{SamplerError, SamplerOptions};
use leveloff_supervise::stop_requests::{StopRequests, Woken};
use leveloff_text::page::Page;

use crate::cli::{DemoArgs, JudgeArgs, MetricsArgs, WatchArgs};
use crate::judge::case::Case;
use crate::recorder::Recorder;
use crate::screen::{paint, put};
use crate::session::{Plan, Session};
use crate::summary::Summary;
use audience::{Audience, open, shows};
use catalogue::Entry;
use live_table::LiveTable;
use patient::{Ended, Patient};
use place::DemoPlace;
use trainer::Trainer;

/// How long a demo takes that somebody watches: within a minute, the start included.
const WATCHED: Duration = Duration::from_secs(50);

/// So slow a training has a sample at every step or two.
const INTERVAL: Duration = Duration::from_millis(250);

/// One that goes as fast as it can has some twenty to fifty steps in a second.
const FAST_INTERVAL: Duration = Duration::from_millis(50);

/// In percent of one core. What workers share is read on a budget, for `run` a twentieth of this: in
/// the hours of a real run that is plenty, in the minute of a demo it would be a handful of readings.
const PSS_BUDGET: f64 = 10.0;

/// What to look at next: the opposite of the story.
const LEAK: &str = "native-leak";

/// The truth was not met.
const NOT_MET: u8 = 1;

/// Runs the demo to its end, or lists what there is to see.
pub fn run(args: &DemoArgs) -> Result<ExitCode> {
    let trainer = Trainer::find(args.trainer.as_deref())?;
    let catalogue = trainer.catalogue(args.steps)?;
    if args.list {
        // A reader that has seen enough, such as `head`, is no error.
        let _ = put(&catalogue.list());
        return Ok(ExitCode::SUCCESS);
    }
    let entry = catalogue.entry(&args.pattern)?;
    let place = DemoPlace::create(args.output.as_deref(), &entry.name)?;
    let seen = watch(args, &trainer, entry, &place)?;
    tell(args, entry, &place, &seen)
}

/// What is left when the training has ended.
struct Seen {
    summary: Summary,
    ended: Ended,
    /// Whether it was meant to show its pattern, or ended before.
    is_short: bool,
}

fn watch(args: &DemoArgs, trainer: &Trainer, entry: &Entry, place: &DemoPlace) -> Result<Seen> {
    let steps = args.steps.unwrap_or(entry.steps);
    let pace = (!args.fast).then(|| steps as f64 / WATCHED.as_secs_f64());
    let command = trainer.command(&entry.name, steps, pace, place);
    let watch = watch_args(args);
    let words: Vec<String> = std::iter::once(command.get_program())
        .chain(command.get_args())
        .map(|word| printable(word.as_encoded_bytes()))
        .collect();
    let plan = Plan {
        target: Target::Command(words.clone()),
        command: &words,
        output: Some(place.recording().to_owned()),
        watch: &watch,
    };
    let recorder = plan.create_recording()?;
    let recording = recorder.path().to_owned();
    // Asked for before anything runs that would have to be stopped.
    let stop = StopRequests::listen()?;
    let patient = Patient::start(command).inspect_err(|_| Recorder::discard(&recording))?;
    let stated = args.facts.stated();
    let session = Session::start(recorder, options(&watch, &patient))
        .inspect_err(|_| Recorder::discard(&recording))?
        .without_status_line()
        .judged_by(&stated);
    let audience = match shows(args)? {
        Some(look) => Audience::Screen(open(look, entry, &recording, stated)?),
        None => {
            let _ = put(&opening(entry, steps, pace, &patient));
            Audience::Lines(LiveTable::new(paint(), steps))
        }
    };
    let (summary, ended) = attend(session, patient, &stop, audience)?;
    Ok(Seen {
        summary,
        ended,
        is_short: ended.was_asked || steps < entry.steps,
    })
}

fn opening(entry: &Entry, steps: u64, pace: Option<f64>, patient: &Patient) -> String {
    let how_long = match pace {
        Some(pace) => format!("about {:.0} s", steps as f64 / pace),
        None => "as fast as it can".to_owned(),
    };
    let mut page = Page::new();
    page.line(format!("demo {}", entry.name));
    page.row("does", &entry.summary);
    page.row(
        "training",
        &format!(
            "pid {} · {steps} steps, {how_long} · Ctrl-C ends it early",
            patient.pid()
        ),
    );
    format!("{}\n{}", page.into_text(), LiveTable::head())
}

fn watch_args(args: &DemoArgs) -> WatchArgs {
    let usual = if args.fast { FAST_INTERVAL } else { INTERVAL };
    WatchArgs {
        interval: args.interval.unwrap_or(usual),
        pss_budget: PSS_BUDGET,
        log: None,
        facts: args.facts.clone(),
        metrics: MetricsArgs::default(),
    }
}

fn options(watch: &WatchArgs, patient: &Patient) -> SamplerOptions {
    SamplerOptions {
        scope: Scope::Descendants(patient.key().into_iter().collect()),
        interval: watch.interval,
        pss_budget_percent: watch.pss_budget,
        limit: watch.facts.limit,
        log: None,
        has_output: false,
        adopter: None,
        ours: vec![Pid(rustix::process::getpid().as_raw_pid())],
    }
}

/// Samples and shows until the training has ended by itself, or because somebody asked for it or left.
fn attend(
    mut session: Session,
    mut patient: Patient,
    stop: &StopRequests,
    mut audience: Audience,
) -> Result<(Summary, Ended)> {
    loop {
        let handles: Vec<BorrowedFd> = std::iter::once(patient.handle())
            .chain(audience.left())
            .collect();
        let woken = stop.wait_for(&handles, session.next_turn_at())?;
        match woken {
            Woken::Stop => {
                patient.stop();
                continue;
            }
            // Whoever leaves has seen enough; without a screen the rest is short.
            Woken::Other(1) => {
                patient.ask_to_stop();
                audience = Audience::Nobody;
                continue;
            }
            Woken::Other(_) | Woken::Deadline => {}
        }
        // Also after its end: the last steps, and who went, are part of the run.
        if !show(&mut session, &mut audience)? {
            patient.ask_to_stop();
        }
        if woken == Woken::Other(0) {
            let ended = patient.ended()?;
            session.end_recording(ended.reason());
            audience.see_end();
            return Ok((session.end(ended.reason()), ended));
        }
    }
}

/// Takes a tick and shows it; whether anybody can still see that.
fn show(session: &mut Session, audience: &mut Audience) -> Result<bool> {
    let tick = match session.tick() {
        Ok(tick) => tick,
        // It was over before the first sample; its end is told like any other.
        Err(SamplerError::Gone(_)) => return Ok(true),
        Err(error) => return Err(error.into()),
    };
    Ok(audience.see(&tick, session))
}

/// Tells the verdict as `judge` does, from the recording, so that anybody can ask again; then what
/// was true.
fn tell(args: &DemoArgs, entry: &Entry, place: &DemoPlace, seen: &Seen) -> Result<ExitCode> {
    if let Some(trouble) = seen.ended.trouble() {
        bail!("{trouble}; its own words, if it had any, are above");
    }
    let asked = JudgeArgs {
        facts: args.facts.clone(),
        ..JudgeArgs::default()
    };
    let outcome = Case::of(place.recording())
        .judge(&asked)
        .with_context(|| format!("cannot judge {}", place.recording().display()))?;
    let misses = truth::misses(&entry.truth, &outcome.verdict);
    let block = block(&outcome.judged(&entry.name), paint());
    let _ = put(&format!(
        "\n{block}\n{}",
        ending(entry, place, seen, &outcome.verdict)
    ));
    Ok(ExitCode::from(if misses.is_empty() { 0 } else { NOT_MET }))
}

fn ending(entry: &Entry, place: &DemoPlace, seen: &Seen, verdict: &RunVerdict) -> String {
    let mut page = Page::new();
    page.row("truth", &entry.truth.words());
    page.row("met", &truth::met(&entry.truth, verdict, seen.is_short));
    page.gap();
    page.row("cost", seen.summary.cost_line().trim_start_matches("cost "));
    page.row("recording", &place.recording().display().to_string());
    let other = if entry.name == LEAK { "" } else { LEAK };
    page.row("next", format!("leveloff demo {other}").trim_end());
    page.row("", "leveloff demo --list");
    page.row("", "leveloff run -- python train.py");
    page.into_text()
}
