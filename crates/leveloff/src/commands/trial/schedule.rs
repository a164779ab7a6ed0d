//! Runs a trial: starts what is worth most ([`next_run`]), looks at what is going on, and ends it as soon as it is decided.

use std::time::{Duration, Instant};

use anyhow::Result;
use leveloff_classifier::trial::{ArmResult, ArmState, BuiltInArm, Effect};
use leveloff_report::trial::TrialReport;
use leveloff_supervise::termination_signals::{TerminationSignals, WaitResult};
use leveloff_text::trial::{GoingRun, TrialProgress, progress_words, result_words, so_far};
use leveloff_text::verdict::Headline;

use super::active_task::{ActiveTask, Known};
use super::arm::Arm;
use super::arms::{self, ALL, AUTO};
use super::directory::TrialDirectory;
use super::interpreter::Interpreter;
use super::job_facts::JobFacts;
use super::next_run::{ArmProgress, Progress, Task, next_run};
use super::run_process::{EndedRun, Ending, RunPlan};
use super::trial_runs::TrialRuns;
use super::venvs::{MadeVenv, VenvStore};
use crate::args::TryArgs;
use crate::notice::notice;
use crate::status_line::StatusLine;

/// A trial that is going on.
pub(super) struct Schedule<'a> {
    args: &'a TryArgs,
    directory: &'a TrialDirectory,
    stops: &'a TerminationSignals,
    /// Moved on while a venv is made, which is no time of the trial.
    started: Instant,
    runs: TrialRuns,
    active: Vec<ActiveTask>,
    /// Control runs that were started.
    control: u32,
    /// Whether findings ordered the changes already.
    is_ordered: bool,
    notes: Vec<String>,
    is_interrupted: bool,
    status: StatusLine,
    /// What the status line says of the runs that have ended.
    so_far: String,
}

/// How often the status line is drawn.
const TURN: Duration = Duration::from_secs(1);

impl<'a> Schedule<'a> {
    pub(super) fn new(
        args: &'a TryArgs,
        directory: &'a TrialDirectory,
        stops: &'a TerminationSignals,
        arms: Vec<Arm>,
        is_ordered: bool,
    ) -> Schedule<'a> {
        Schedule {
            args,
            directory,
            stops,
            started: Instant::now(),
            runs: TrialRuns::new(arms, args.repeats, args.jobs.get() > 1),
            active: Vec::new(),
            control: 0,
            is_ordered,
            notes: Vec::new(),
            is_interrupted: false,
            status: StatusLine::new(),
            so_far: String::new(),
        }
    }

    /// Runs all of it, and reports.
    pub(super) fn run(mut self, command: String) -> Result<TrialReport> {
        let driven = self.drive();
        self.status.clear();
        if driven.is_err() {
            self.end_all(Ending::Interrupted);
            for active in std::mem::take(&mut self.active) {
                active.run.finish()?;
            }
        }
        driven?;
        self.runs.close_bisections();
        self.note_what_ended_it();
        let directory = self.directory.path();
        Ok(self.runs.into_report(command, directory, self.notes))
    }

    fn drive(&mut self) -> Result<()> {
        loop {
            while let Some(task) = self.next() {
                self.begin(task)?;
            }
            if self.active.is_empty() {
                return Ok(());
            }
            self.wait()?;
        }
    }

    fn next(&self) -> Option<Task> {
        let is_first = self.control == 0;
        if self.active.len() >= self.args.jobs.get() || self.is_interrupted {
            return None;
        }
        if !is_first && self.is_over() {
            return None;
        }
        let arms: Vec<ArmProgress> = (0..self.runs.arms.len())
            .map(|place| self.runs.progress(place))
            .collect();
        let active: Vec<Task> = self.active.iter().map(|active| active.task).collect();
        next_run(&Progress {
            control: self.control,
            has_axis: self.runs.axis.is_some(),
            arms: &arms,
            active: &active,
            repeats: self.args.repeats,
            first: self.args.first,
        })
    }

    fn begin(&mut self, task: Task) -> Result<()> {
        if let Task::Control(number) = task {
            self.control = number;
        }
        let arm = self.arm(task);
        let plan = self.plan(&arm, task);
        if let Some(earlier) = plan.earlier().filter(|_| self.args.resume) {
            return self.take(task, earlier);
        }
        if let Task::Change { place, .. } = task
            && !self.prepare_version(place)?
        {
            return Ok(());
        }
        self.say(&match task {
            Task::Control(1) | Task::Change { number: 1, .. } => format!("{}: running", arm.name),
            _ => format!("{}: running once more", arm.name),
        });
        let run = self.plan(&arm, task).start()?;
        self.active.push(ActiveTask::new(task, run));
        Ok(())
    }

    fn arm(&self, task: Task) -> Arm {
        match task {
            Task::Control(_) => Arm::control(),
            Task::Change { place, .. } => self.runs.arms[place].arm.clone(),
        }
    }

    fn plan<'b>(&'b self, arm: &'b Arm, task: Task) -> RunPlan<'b> {
        let (Task::Control(number) | Task::Change { number, .. }) = task;
        RunPlan {
            args: self.args,
            directory: self.directory,
            arm,
            number,
        }
    }

    /// Makes the venv of a version. Whether it can be run.
    fn prepare_version(&mut self, place: usize) -> Result<bool> {
        let Some(version) = self.runs.arms[place].arm.version.clone() else {
            return Ok(true);
        };
        let begun = Instant::now();
        self.status.clear();
        let interpreter = Interpreter::describe(&self.args.command[0], &version.package)?;
        let made = VenvStore::of_user()?.make(&version, &interpreter, self.stops)?;
        self.started += begun.elapsed();
        match made {
            MadeVenv::Ready => return Ok(true),
            MadeVenv::Interrupted => self.interrupt(),
            MadeVenv::Failed(why) => {
                self.say(&format!("{}: not measured: {why}", version.requirement()));
                self.runs.arms[place].state = Some(ArmState::Failed(why));
            }
        }
        Ok(false)
    }

    /// Until a run ends, is to be looked at, or the user ends the trial.
    fn wait(&mut self) -> Result<()> {
        self.draw();
        let looks = self.active.iter().filter_map(|it| it.run.next_look());
        let deadline = looks.fold(Instant::now() + TURN, Instant::min);
        let handles: Vec<_> = self.active.iter().map(|it| it.run.handle()).collect();
        match self.stops.wait_for(&handles, deadline)? {
            WaitResult::Other(place) => {
                let ended = self.active.remove(place);
                let finished = ended.run.finish()?;
                self.note_ending(ended.task, &finished)?;
                self.take(ended.task, finished)
            }
            WaitResult::Signal => {
                self.interrupt();
                Ok(())
            }
            WaitResult::Deadline => {
                self.look();
                Ok(())
            }
        }
    }

    fn is_auto(&self) -> bool {
        matches!(self.args.arms.as_slice(), [only] if only == AUTO)
    }

    fn look(&mut self) {
        let is_over = self.is_over();
        if self.runs.control.is_empty() {
            // How many changes there are to compare says how far the control run has to go.
            let facts = JobFacts::read(&self.directory.facts());
            self.runs.leave_out(&facts, self.is_auto());
        }
        let warnings = self.active.iter_mut().filter_map(|active| {
            let known = Known {
                runs: &self.runs,
                args: self.args,
                is_over,
            };
            active.look(&known)
        });
        for warning in warnings.collect::<Vec<_>>() {
            self.say(warning);
        }
    }

    fn interrupt(&mut self) {
        self.is_interrupted = true;
        self.end_all(Ending::Interrupted);
    }

    fn end_all(&mut self, why: Ending) {
        for active in &mut self.active {
            active.run.end(why);
        }
    }

    fn note_ending(&self, task: Task, ended: &EndedRun) -> Result<()> {
        let (Task::Control(number) | Task::Change { number, .. }) = task;
        match ended.ending.words() {
            Some(words) => self.directory.note_ending(&self.arm(task), number, &words),
            None => Ok(()),
        }
    }

    fn take(&mut self, task: Task, ended: EndedRun) -> Result<()> {
        self.is_interrupted |= ended.ending == Ending::Interrupted;
        match task {
            Task::Control(1) => self.take_first_control(ended)?,
            Task::Control(number) => self.notes.extend(self.runs.take_control(number, ended)),
            Task::Change { place, .. } => {
                let result = self.runs.take(place, ended);
                self.say_result(place, result);
            }
        }
        self.so_far = so_far(&self.runs.summary());
        Ok(())
    }

    fn take_first_control(&mut self, ended: EndedRun) -> Result<()> {
        let notes = self.runs.take_first_control(ended)?;
        self.notes.extend(notes);
        let control = self.runs.controls().next();
        let headline = control.map(|control| Headline::of(&control.verdict).whole());
        if let Some(headline) = headline {
            self.say(&format!("control: {headline}"));
        }
        self.order_and_leave_out();
        Ok(())
    }

    /// Orders the changes by what the control run showed, and leaves out what cannot matter.
    fn order_and_leave_out(&mut self) {
        let names = self.args.arms.as_slice();
        let is_auto = self.is_auto();
        let is_open = is_auto || matches!(names, [only] if only == ALL);
        if is_open && !self.is_ordered {
            let order = BuiltInArm::ordered_by(self.runs.findings());
            self.runs
                .arms
                .sort_by_key(|tried| arms::place_of(&tried.arm, &order));
        }
        let facts = JobFacts::read(&self.directory.facts());
        self.runs.leave_out(&facts, is_auto);
    }

    fn say_result(&mut self, place: usize, result: Option<ArmResult>) {
        let tried = &self.runs.arms[place];
        let name = tried.arm.name.clone();
        let unit = self.runs.axis.map(|axis| axis.unit);
        match (&tried.state, result, unit) {
            (Some(ArmState::Failed(why)), _, _) => {
                self.say(&format!("{name}: not measured: {why}"));
            }
            (None, None, _) if tried.left_out.is_some() => {
                let why = tried.left_out.clone().unwrap_or_default();
                self.say(&format!("{name}: a further run is left out: {why}"));
            }
            (_, Some(result), Some(unit)) => {
                self.say(&format!("{name}: {}", result_words(&result, unit)));
                let summary = self.runs.summary();
                let is_found = |name: &str| {
                    let mut stops = summary.with(Effect::Stops);
                    stops.any(|(arm, _)| arm.name == name)
                };
                if is_found(&name) {
                    let spent = self.started.elapsed().as_secs();
                    self.say(&format!("{name}: growth stops, confirmed after {spent} s"));
                }
            }
            _ => {}
        }
    }

    fn say(&mut self, text: &str) {
        self.status.clear();
        notice(text);
    }

    /// What is done is counted only when it is drawn: each count compares whole runs.
    fn draw(&mut self) {
        if !self.status.is_due() {
            return;
        }
        let going: Vec<GoingRun> = self
            .active
            .iter()
            .map(|active| GoingRun {
                name: self.arm(active.task).name,
                share: active.share,
            })
            .collect();
        let done = (0..self.runs.arms.len()).filter(|place| self.is_done(*place));
        let progress = TrialProgress {
            going,
            done: done.count(),
            changes: self.runs.arms.len(),
            spent: self.started.elapsed(),
            so_far: &self.so_far,
        };
        self.status.show(|| progress_words(&progress));
    }

    fn is_done(&self, place: usize) -> bool {
        let progress = self.runs.progress(place);
        progress.is_closed || progress.effect.is_some_and(|it| it != Effect::Undecided)
    }

    fn is_over(&self) -> bool {
        self.started.elapsed() >= self.args.max_time
    }

    fn note_what_ended_it(&mut self) {
        if self.runs.is_crowded {
            let note = "runs went on side by side, so their speeds are not compared";
            self.notes.push(note.to_owned());
        }
        let note = if self.is_interrupted {
            "the trial was interrupted; --resume continues it"
        } else if self.runs.axis.is_some() && self.is_over() {
            "the trial ended at --max-time; --resume continues it"
        } else {
            return;
        };
        self.notes.push(note.to_owned());
    }
}
