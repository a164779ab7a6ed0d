//! A run that is going on, and whether it has shown enough.

use std::time::{Duration, Instant};

use leveloff_classifier::observation::XUnit;
use leveloff_classifier::trial::Effect;
use leveloff_classifier::units::X;
use leveloff_classifier::verdict::{LevelGrade, Verdict};
use leveloff_report::run_report::RunReport;

use super::axis::{Axis, LOOKS};
use super::next_run::Task;
use super::run_process::{ActiveRun, Ending};
use super::trial_runs::TrialRuns;
use crate::args::TryArgs;

/// A run that is going on.
#[derive(Debug)]
pub(super) struct ActiveTask {
    pub task: Task,
    pub run: ActiveRun,
    /// How often it was compared with the control run.
    looked: usize,
    /// How far it is, as a share of the control run.
    pub share: Option<f64>,
    has_warned: bool,
    /// Where the control run was first known to leak, and could be measured.
    leaked_at: Option<X>,
}

/// What a run is looked at with.
#[derive(Debug, Clone, Copy)]
pub(super) struct Known<'a> {
    pub runs: &'a TrialRuns,
    pub args: &'a TryArgs,
    /// Whether the time of the trial is over.
    pub is_over: bool,
}

/// A control run that has counted no step by then may never do so.
const STEPS_ARE_LATE: Duration = Duration::from_secs(60);

/// A control run goes at most so many times as far as where it was known to leak, because each change takes as long.
const LONGEST_CONTROL: f64 = 4.0;

const NO_STEPS: &str = "control: no step is counted yet; if the output has steps, --step-regex names them. Without steps, memory \
                        is judged over time, which takes half an hour";

impl ActiveTask {
    pub(super) fn new(task: Task, run: ActiveRun) -> ActiveTask {
        ActiveTask {
            task,
            run,
            looked: 0,
            share: None,
            has_warned: false,
            leaked_at: None,
        }
    }

    /// Looks at the run if it is time to, and ends it if it has shown enough. What the user has to know.
    pub(super) fn look(&mut self, known: &Known) -> Option<&'static str> {
        if self.run.next_look().is_none_or(|at| at > Instant::now()) {
            return None;
        }
        let report = self.run.look();
        let ending = match self.task {
            Task::Control(1) => self.first_control(report.as_ref(), known),
            Task::Control(_) | Task::Change { .. } => self.beside_control(report.as_ref(), known),
        };
        if let Some(ending) = ending {
            self.run.end(ending);
        }
        self.warning(report.as_ref())
    }

    /// Whether the first control run has shown enough.
    fn first_control(&mut self, report: Option<&RunReport>, known: &Known) -> Option<Ending> {
        if report.is_some_and(|report| self.is_control_decided(report, known)) {
            return Some(Ending::Enough);
        }
        known.is_over.then_some(Ending::OutOfTime)
    }

    /// The control run has shown enough: a leak, a level, or the steps that the user wants.
    fn is_control_decided(&mut self, report: &RunReport, known: &Known) -> bool {
        let verdict = &report.verdict;
        if let Some(steps) = known.args.steps {
            let last = verdict.span.map_or(0.0, |(_, last)| last.0);
            return last >= steps as f64;
        }
        let Some(axis) = Axis::of(report) else {
            // Over time alone, a job that still loads is level.
            let is_level = verdict.verdict == Verdict::Level(LevelGrade::Confirmed);
            return verdict.verdict.is_alarm() || (is_level && verdict.x_unit != XUnit::Second);
        };
        if !verdict.verdict.is_alarm() || !axis.is_measurable(report) {
            return false;
        }
        let leaked_at = *self.leaked_at.get_or_insert(axis.end());
        axis.end().0 >= LONGEST_CONTROL * leaked_at.0
            || axis.is_telling(report, known.runs.comparisons())
    }

    /// Whether another run has shown enough: a control run when it has come as far as the first, a run with a change also if
    /// its growth is known before.
    fn beside_control(&mut self, report: Option<&RunReport>, known: &Known) -> Option<Ending> {
        let axis = known.runs.axis?;
        let is_too_slow = axis.is_too_slow(self.run.spent(), known.args.patience);
        let too_slow = is_too_slow.then_some(Ending::TooSlow);
        let Some(report) = report else {
            return too_slow;
        };
        match self.is_decided(&axis, report, known) {
            true => Some(Ending::Enough),
            false => too_slow,
        }
    }

    fn is_decided(&mut self, axis: &Axis, report: &RunReport, known: &Known) -> bool {
        self.share = Some(axis.share(report));
        let due = axis.looks_due(report);
        if due == LOOKS.len() {
            return true;
        }
        let is_new = std::mem::replace(&mut self.looked, due) != due;
        let Task::Change { place, .. } = self.task else {
            return false;
        };
        let result = is_new.then(|| known.runs.result_with(place, Some(report)));
        let result = result.flatten();
        result.is_some_and(|result| result.effect != Effect::Undecided)
    }

    /// That a control run counts no steps, once.
    fn warning(&mut self, report: Option<&RunReport>) -> Option<&'static str> {
        let is_late = self.task == Task::Control(1) && self.run.spent() > STEPS_ARE_LATE;
        let progress = report.and_then(|report| report.progress.as_ref());
        let has_steps = progress.is_some_and(|progress| progress.step.is_some());
        if !is_late || has_steps || self.has_warned {
            return None;
        }
        self.has_warned = true;
        Some(NO_STEPS)
    }
}
