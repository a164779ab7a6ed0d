//! What is run next, and when it is enough: the control run until it is certain that it leaks, each change until its growth
//! can be told from the control's, and what helps once more, beside another control run.

use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use leveloff_classifier::observation::XUnit;
use leveloff_classifier::trial::{
    ArmResult, ArmState, ArmSummary, Effect, RunOver, Stretch, TrialOutcome, TrialSummary,
};
use leveloff_classifier::units::X;
use leveloff_classifier::verdict::{LevelGrade, Rate, RunVerdict, Verdict};
use leveloff_report::run_report::RunReport;
use leveloff_report::trial::TrialReport;
use leveloff_supervise::termination_signals::TerminationSignals;
use leveloff_text::rate::change_with_interval;
use leveloff_text::trial::effect_words;
use leveloff_text::verdict::Headline;

use super::arms::{self, Arm};
use super::directory::TrialDirectory;
use super::job_facts::JobFacts;
use super::run_process::{EndedRun, Ending, Look, RunPlan};
use crate::args::TryArgs;
use crate::notice::notice;

/// A trial that is going on.
pub(super) struct Schedule<'a> {
    args: &'a TryArgs,
    directory: &'a TrialDirectory,
    stops: &'a TerminationSignals,
    started: Instant,
    arms: Vec<TriedArm>,
    /// Whether findings ordered the changes already.
    is_ordered: bool,
    control: Vec<EndedRun>,
    /// What is known of the control run once it leaks.
    axis: Option<Axis>,
    notes: Vec<String>,
    is_interrupted: bool,
}

/// One change with its runs.
struct TriedArm {
    arm: Arm,
    runs: Vec<EndedRun>,
    /// Why it is not measured.
    state: Option<ArmState>,
}

/// Where runs are compared.
#[derive(Debug, Clone, Copy)]
struct Axis {
    unit: XUnit,
    /// Growth before is that of the warmup.
    onset: X,
    /// How far the control run went.
    end: X,
    /// How long that took.
    took: Duration,
}

/// A run with a change is looked at when it has come this far, as shares of the control run.
const LOOKS: [f64; 4] = [0.3, 0.5, 0.75, 1.0];

/// The compared stretch is the newer part of the common one.
const NEWER_PART: f64 = 0.5;

/// A run that takes so many times as long as the control run is ended.
const TOO_SLOW: f64 = 4.0;

/// And this, because compilers and loaders may need longer at the start.
const TIME_TO_START: Duration = Duration::from_secs(60);

impl<'a> Schedule<'a> {
    pub(super) fn new(
        args: &'a TryArgs,
        directory: &'a TrialDirectory,
        stops: &'a TerminationSignals,
        arms: Vec<Arm>,
        is_ordered: bool,
    ) -> Schedule<'a> {
        let tried = |arm| TriedArm {
            arm,
            runs: Vec::new(),
            state: None,
        };
        Schedule {
            args,
            directory,
            stops,
            started: Instant::now(),
            arms: arms.into_iter().map(tried).collect(),
            is_ordered,
            control: Vec::new(),
            axis: None,
            notes: Vec::new(),
            is_interrupted: false,
        }
    }

    /// Runs all of it, and reports.
    pub(super) fn run(mut self, command: String) -> Result<TrialReport> {
        self.first_control()?;
        if self.axis.is_some() && !self.is_interrupted {
            self.leave_out()?;
            self.every_change()?;
            self.repeats()?;
        }
        Ok(self.report(command))
    }

    fn first_control(&mut self) -> Result<()> {
        let steps = self.args.steps.map(|steps| steps as f64);
        let ended = self.run_once(&Arm::control(), 1, |report, _| {
            match is_control_decided(&report.verdict, steps) {
                true => Look::Enough,
                false => Look::GoOn,
            }
        })?;
        let ended = ended.expect("the control run needs no time to be left");
        let Some(report) = &ended.report else {
            bail!(
                "the control run could not be recorded: {}; its output is in {}",
                ending_words(ended.ending),
                self.directory.log(&Arm::control(), 1).display()
            );
        };
        if let Ending::Exited(1..) | Ending::Signalled(_) = ended.ending {
            bail!(
                "the control run failed: {}; its output is in {}",
                ending_words(ended.ending),
                self.directory.log(&Arm::control(), 1).display()
            );
        }
        if ended.ending == Ending::Limit {
            self.notes.push(
                "the control run was ended at --limit; a higher one lets it go further".to_owned(),
            );
        }
        notice(&format!(
            "control: {}",
            Headline::of(&report.verdict).whole()
        ));
        self.axis = axis_of(report);
        self.control.push(ended);
        Ok(())
    }

    /// Orders the changes by what the control run showed, and leaves out what cannot matter.
    fn leave_out(&mut self) -> Result<()> {
        let is_auto = matches!(self.args.arms.as_slice(), [only] if only == "auto");
        let report = self.control.first().and_then(|run| run.report.as_ref());
        if let Some(report) = report.filter(|_| !self.is_ordered) {
            let order = arms::chosen(self.args, &report.verdict.findings)?;
            let place = |tried: &TriedArm| order.iter().position(|arm| arm.name == tried.arm.name);
            self.arms.sort_by_key(place);
        }
        let facts = JobFacts::read(&self.directory.facts());
        for tried in &mut self.arms {
            let why = tried.arm.is_set_already().or_else(|| {
                let why = tried.arm.is_without_object(&facts).filter(|_| is_auto);
                why.map(str::to_owned)
            });
            tried.state = why.map(ArmState::NotApplicable);
        }
        Ok(())
    }

    fn every_change(&mut self) -> Result<()> {
        for place in 0..self.arms.len() {
            if self.arms[place].state.is_none() {
                self.run_change(place, 1)?;
            }
            if self.has_effect(place, Effect::Stops) {
                // What stops the growth is what the user waits for.
                self.repeats()?;
                self.say_if_found(place);
            }
            let is_found = self.args.first && self.summary().outcome() == TrialOutcome::Stopped;
            if self.is_over() || is_found {
                break;
            }
        }
        Ok(())
    }

    fn has_effect(&self, place: usize, effect: Effect) -> bool {
        let result = self.result(&self.arms[place]);
        result.is_some_and(|result| result.effect == effect)
    }

    fn say_if_found(&self, place: usize) {
        let name = &self.arms[place].arm.name;
        let summary = self.summary();
        if summary
            .with(Effect::Stops)
            .any(|(arm, _)| &arm.name == name)
        {
            let spent = self.started.elapsed().as_secs();
            notice(&format!("{name}: growth stops, confirmed after {spent} s"));
        }
    }

    /// What helps, and what is undecided, is run again beside other control runs.
    fn repeats(&mut self) -> Result<()> {
        for number in 2..=self.args.repeats {
            let again: Vec<usize> = (0..self.arms.len())
                .filter(|place| self.is_promising(*place))
                .filter(|place| self.arms[*place].runs.len() < number as usize)
                .collect();
            if again.is_empty() || self.is_over() {
                return Ok(());
            }
            if self.control.len() < number as usize {
                self.control_again(number)?;
            }
            for place in again {
                if !self.is_over() {
                    self.run_change(place, number)?;
                }
            }
        }
        Ok(())
    }

    fn is_promising(&self, place: usize) -> bool {
        let result = self.result(&self.arms[place]);
        result.is_some_and(|result| result.effect != Effect::None)
    }

    fn control_again(&mut self, number: u32) -> Result<()> {
        let Some(axis) = self.axis else { return Ok(()) };
        let ended = self.run_once(&Arm::control(), number, |report, spent| {
            if reached(report, axis.unit) >= axis.end.0 {
                Look::Enough
            } else {
                axis.patience(spent)
            }
        })?;
        self.control
            .extend(ended.filter(|run| run.report.is_some()));
        Ok(())
    }

    fn run_change(&mut self, place: usize, number: u32) -> Result<()> {
        let Some(axis) = self.axis else { return Ok(()) };
        let arm = self.arms[place].arm.clone();
        let comparisons = self.comparisons();
        let controls: Vec<&RunReport> = reports(&self.control).collect();
        let earlier: Vec<&RunReport> = reports(&self.arms[place].runs).collect();
        let mut looked = 0;
        let look = |report: &RunReport, spent: Duration| {
            let x = reached(report, axis.unit);
            let due = LOOKS
                .iter()
                .filter(|share| x >= *share * axis.end.0)
                .count();
            if due == LOOKS.len() {
                return Look::Enough;
            }
            if due == looked {
                return axis.patience(spent);
            }
            looked = due;
            let arms: Vec<&RunReport> = earlier.iter().copied().chain([report]).collect();
            let result = axis.compared(&controls, &arms, comparisons);
            match result.is_some_and(|it| it.effect != Effect::Undecided) {
                true => Look::Enough,
                false => Look::GoOn,
            }
        };
        let Some(ended) = run_once(
            self.args,
            self.directory,
            self.stops,
            self.started,
            &arm,
            number,
            look,
        )?
        else {
            return Ok(());
        };
        self.is_interrupted |= ended.ending == Ending::Interrupted;
        self.take(place, ended);
        Ok(())
    }

    fn take(&mut self, place: usize, ended: EndedRun) {
        let failure = match ended.ending {
            Ending::Exited(0) | Ending::Enough | Ending::Interrupted | Ending::Limit => None,
            other => Some(ending_words(other)),
        };
        let log = ended.recording.with_extension("log");
        let has_report = ended.report.is_some();
        let tried = &mut self.arms[place];
        tried.runs.push(ended);
        let result = self.result(&self.arms[place]);
        let tried = &mut self.arms[place];
        if let Some(failure) = failure {
            let failure = format!("{failure}; its output is in {}", log.display());
            tried.state = Some(ArmState::Failed(failure));
        } else if result.is_none() && !self.is_interrupted {
            let why = match has_report {
                true => "it ended before it could be compared with the control run",
                false => "nothing was recorded",
            };
            tried.state = Some(ArmState::Failed(format!(
                "{why}; its output is in {}",
                log.display()
            )));
        }
        self.say(place, result);
    }

    fn say(&self, place: usize, result: Option<ArmResult>) {
        let (tried, unit) = (
            &self.arms[place],
            self.axis.map_or(XUnit::Step, |axis| axis.unit),
        );
        let name = &tried.arm.name;
        match (&tried.state, result) {
            (Some(ArmState::Failed(why)), _) => notice(&format!("{name}: not measured: {why}")),
            (_, Some(result)) => {
                let Rate { value, low, high } = result.growth;
                let growth = change_with_interval(value.0, low.0, high.0);
                let (effect, unit) = (effect_words(result.effect), unit.name());
                notice(&format!("{name}: {effect}, {growth} per {unit}"));
            }
            _ => {}
        }
    }

    /// Runs the job, or takes the run that an earlier trial in the directory made. `None` when the time is over.
    fn run_once(
        &mut self,
        arm: &Arm,
        number: u32,
        look: impl FnMut(&RunReport, Duration) -> Look,
    ) -> Result<Option<EndedRun>> {
        let ended = run_once(
            self.args,
            self.directory,
            self.stops,
            self.started,
            arm,
            number,
            look,
        )?;
        let is_interrupted = |run: &EndedRun| run.ending == Ending::Interrupted;
        self.is_interrupted |= ended.as_ref().is_some_and(is_interrupted);
        Ok(ended)
    }

    fn is_over(&self) -> bool {
        self.is_interrupted || self.started.elapsed() >= self.args.max_time
    }

    /// How often the trial asks whether a change helps.
    fn comparisons(&self) -> u32 {
        let arms = self
            .arms
            .iter()
            .filter(|tried| tried.state.is_none())
            .count();
        let looks = LOOKS.len() * arms.max(1);
        u32::try_from(looks)
            .unwrap_or(u32::MAX)
            .saturating_mul(self.args.repeats)
    }

    fn result(&self, tried: &TriedArm) -> Option<ArmResult> {
        if matches!(tried.state, Some(ArmState::Failed(_))) {
            return None;
        }
        let controls: Vec<&RunReport> = reports(&self.control).collect();
        let arms: Vec<&RunReport> = reports(&tried.runs).collect();
        self.axis?.compared(&controls, &arms, self.comparisons())
    }

    fn summary(&self) -> TrialSummary {
        let control = self.control.first().and_then(|run| run.report.as_ref());
        let unit = control.map_or(XUnit::Step, |report| report.verdict.x_unit);
        let controls: Vec<&RunReport> = reports(&self.control).collect();
        let stretch = self.axis.map(|axis| axis.common(&controls));
        let over = |stretch: Stretch| {
            let over = controls.iter();
            over.filter_map(|report| RunOver::of(&report.curves, unit, stretch))
                .collect()
        };
        TrialSummary {
            unit,
            control: control.map(|report| report.verdict.clone()),
            control_runs: stretch.map_or_else(Vec::new, over),
            stretch,
            arms: self
                .arms
                .iter()
                .map(|tried| self.arm_summary(tried))
                .collect(),
            repeats: self.args.repeats,
        }
    }

    fn arm_summary(&self, tried: &TriedArm) -> ArmSummary {
        let measured = || {
            let result = self.result(tried)?;
            let runs = u32::try_from(tried.runs.len()).unwrap_or(u32::MAX);
            Some(ArmState::Measured { result, runs })
        };
        ArmSummary {
            name: tried.arm.name.clone(),
            built_in: tried.arm.built_in,
            by_hand: tried.arm.by_hand.clone(),
            state: tried
                .state
                .clone()
                .or_else(measured)
                .unwrap_or(ArmState::NotRun),
        }
    }

    fn report(mut self, command: String) -> TrialReport {
        if self.is_interrupted {
            self.notes
                .push("the trial was interrupted; --resume continues it".to_owned());
        } else if self.axis.is_some() && self.started.elapsed() >= self.args.max_time {
            self.notes
                .push("the trial ended at --max-time; --resume continues it".to_owned());
        }
        let names = |runs: &[EndedRun]| -> Vec<String> {
            let runs = runs.iter();
            runs.map(|run| run.recording.display().to_string())
                .collect()
        };
        TrialReport {
            command,
            directory: self.directory.path().display().to_string(),
            summary: self.summary(),
            control_recordings: names(&self.control),
            arm_recordings: self.arms.iter().map(|tried| names(&tried.runs)).collect(),
            notes: self.notes,
        }
    }
}

fn run_once(
    args: &TryArgs,
    directory: &TrialDirectory,
    stops: &TerminationSignals,
    started: Instant,
    arm: &Arm,
    number: u32,
    look: impl FnMut(&RunReport, Duration) -> Look,
) -> Result<Option<EndedRun>> {
    let plan = RunPlan {
        args,
        directory,
        arm,
        number,
    };
    if let Some(earlier) = plan.earlier().filter(|_| args.resume) {
        return Ok(Some(earlier));
    }
    let is_control = arm.name == "control" && number == 1;
    if !is_control && started.elapsed() >= args.max_time {
        return Ok(None);
    }
    notice(&match number {
        1 => format!("{}: running", arm.name),
        _ => format!("{}: running once more", arm.name),
    });
    plan.run(stops, look).map(Some)
}

impl Axis {
    /// A run that takes far longer than the control run hangs, or is too slow to wait for.
    fn patience(&self, spent: Duration) -> Look {
        match spent > self.took.mul_f64(TOO_SLOW) + TIME_TO_START {
            true => Look::TooSlow,
            false => Look::GoOn,
        }
    }

    /// The stretch that all of these runs have, without their warmup.
    fn common(&self, runs: &[&RunReport]) -> Stretch {
        let ends = runs.iter().map(|report| reached(report, self.unit));
        let to = ends.fold(self.end.0, f64::min);
        let from = (NEWER_PART * to).max(self.onset.0.min(0.8 * to));
        Stretch {
            from: X(from),
            to: X(to),
        }
    }

    fn compared(
        &self,
        control: &[&RunReport],
        arm: &[&RunReport],
        comparisons: u32,
    ) -> Option<ArmResult> {
        let all: Vec<&RunReport> = control.iter().chain(arm).copied().collect();
        let stretch = self.common(&all);
        let over = |runs: &[&RunReport]| -> Option<Vec<RunOver>> {
            let over = runs.iter();
            over.map(|report| RunOver::of(&report.curves, self.unit, stretch))
                .collect()
        };
        ArmResult::of(&over(control)?, &over(arm)?, comparisons)
    }
}

/// What a leaking control run gives the others to be compared with.
fn axis_of(report: &RunReport) -> Option<Axis> {
    let verdict = &report.verdict;
    if !matches!(verdict.verdict, Verdict::Leak(_)) {
        return None;
    }
    let unit = verdict.x_unit;
    let times = report.curves.spans().filter_map(|span| span.t);
    let took = times.map(|t| t.high).fold(0.0, f64::max);
    Some(Axis {
        unit,
        onset: verdict.memory.onset_x.unwrap_or(X(0.0)),
        end: X(reached(report, unit)),
        took: Duration::from_secs_f64(took),
    })
}

/// How far a run came.
fn reached(report: &RunReport, unit: XUnit) -> f64 {
    let places = report.curves.spans().filter_map(|span| span.place(unit));
    places.map(|place| place.high).fold(0.0, f64::max)
}

/// The control run has shown enough: a leak, a level, or the steps that the user wants.
fn is_control_decided(verdict: &RunVerdict, steps: Option<f64>) -> bool {
    if let Some(steps) = steps {
        let last = verdict.span.map_or(0.0, |(_, last)| last.0);
        return last >= steps;
    }
    verdict.verdict.is_alarm() || verdict.verdict == Verdict::Level(LevelGrade::Confirmed)
}

fn reports(runs: &[EndedRun]) -> impl Iterator<Item = &RunReport> {
    runs.iter().filter_map(|run| run.report.as_ref())
}

fn ending_words(ending: Ending) -> String {
    match ending {
        Ending::Exited(code) => format!("the command ended with code {code}"),
        Ending::Signalled(signal) => format!("the command was ended by signal {signal}"),
        Ending::TooSlow => {
            "it made too little progress beside the control run, and was ended".to_owned()
        }
        Ending::Limit => "the guard ended it at the limit".to_owned(),
        Ending::Enough | Ending::Interrupted => "it was ended".to_owned(),
    }
}
