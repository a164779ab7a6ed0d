//! What is known of the run: fed by ticks, read by drawing.
//!
//! The numbers come from one [`RunAnalysis`]; this module adds what only a screen needs: a fine curve
//! for zooming, the log of events and the newest sample.

mod log;
mod training_events;

pub use log::{EventLog, LogEntry, LogKind};
pub use training_events::TrainingEvents;

use leveloff_classifier::allocation_history::LineGrowth;
use leveloff_classifier::observation::{ProcessShare, XUnit};
use leveloff_classifier::run_analysis::{ProcessAccount, RunAccount, RunAnalysis};
use leveloff_classifier::verdict::{Judgement, RunVerdict, Subject};
use leveloff_model::process::{ProcessIndex, ProcessInfo};
use leveloff_model::progress::Progress;
use leveloff_model::recording::StatedFacts;
use leveloff_model::sample::{Sample, Tick};
use leveloff_model::units::Seconds;

use crate::history::{CurvePoint, History};

/// Everything that is known of the run.
#[derive(Debug, Clone)]
pub struct RunState {
    analysis: RunAnalysis,
    /// Whether this is a whole machine and not a run.
    pub is_machine: bool,
    account: Option<RunAccount>,
    /// The lines of the program whose memory grew, most first.
    lines: Vec<LineGrowth>,
    /// Whether something changed since the account was made.
    is_stale: bool,
    /// What the user stated.
    pub stated: StatedFacts,
    sample: Option<Sample>,
    /// The last sample of the whole run, while processes leave it and it may be ending.
    whole_sample: Option<Sample>,
    /// The curve.
    pub history: History,
    events: TrainingEvents,
    log: EventLog,
    /// Time between the two newest samples.
    pub interval: Option<Seconds>,
}

impl RunState {
    /// A run of which nothing is known but what the user stated.
    pub fn new(stated: &StatedFacts) -> RunState {
        RunState {
            analysis: RunAnalysis::new(XUnit::Step, stated),
            is_machine: false,
            account: None,
            lines: Vec::new(),
            is_stale: false,
            stated: stated.clone(),
            sample: None,
            whole_sample: None,
            history: History::default(),
            events: TrainingEvents::default(),
            log: EventLog::default(),
            interval: None,
        }
    }

    /// All processes of a machine: they are not a run, so nothing is judged.
    pub fn of_machine(stated: &StatedFacts) -> RunState {
        RunState {
            analysis: RunAnalysis::of_machine(),
            is_machine: true,
            ..RunState::new(stated)
        }
    }

    /// Takes a tick. One that shows no state of the run leaves its events only.
    pub fn take(&mut self, mut tick: Tick) {
        if self.is_machine {
            // The steps of one run say nothing about the other processes.
            tick.sample.progress = Progress::default();
        }
        let point = self.analysis.take(&tick).map(CurvePoint::of);
        self.log.take(&tick, &self.analysis);
        self.events.take(&tick);
        if let Some(point) = point {
            self.history.push(point);
            self.show(tick.sample);
            self.is_stale = true;
        }
    }

    fn show(&mut self, sample: Sample) {
        self.interval = self.sample.as_ref().map(|before| sample.t - before.t);
        let before = self.sample.replace(sample);
        self.whole_sample = match self.analysis.is_whole() {
            true => None,
            false => self.whole_sample.take().or(before),
        };
    }

    /// The run has ended: shows the last sample before processes left it.
    pub fn end(&mut self) {
        self.analysis.end();
        if let Some(whole) = self.whole_sample.take() {
            self.sample = Some(whole);
        }
        if let Some(last) = self.analysis.observation().and_then(|last| last.t) {
            self.history.cut_after(last);
        }
        self.is_stale = true;
    }

    /// Brings the account up to date, once for all ticks that came at a time.
    pub fn settle(&mut self) {
        if !std::mem::take(&mut self.is_stale) {
            return;
        }
        let account = self.analysis.account();
        let before = std::mem::replace(&mut self.account, account);
        let verdict = self.verdict();
        self.lines = verdict.map_or_else(Vec::new, |verdict| self.analysis.lines_of(verdict));
        if let (Some(verdict), Some(sample)) = (self.verdict(), &self.sample) {
            let before = before.and_then(|before| Some(before.verdict?.verdict));
            let now = verdict.verdict;
            self.log.add_verdict(before, now, sample);
        }
    }

    /// Growth counts from the newest sample from now on.
    pub fn set_marker(&mut self) {
        self.analysis.set_marker();
        self.is_stale = true;
    }

    /// The numbers of the run; `None` before the first sample.
    pub fn account(&self) -> Option<&RunAccount> {
        self.account.as_ref()
    }

    /// The verdict; `None` before the first sample, and for a whole machine.
    pub fn verdict(&self) -> Option<&RunVerdict> {
        self.account.as_ref()?.verdict.as_ref()
    }

    /// The lines of the program whose memory grew, most first; empty without `--blame`.
    pub fn lines(&self) -> &[LineGrowth] {
        &self.lines
    }

    /// The sample that the account is of.
    pub fn sample(&self) -> Option<&Sample> {
        self.sample.as_ref()
    }

    /// The account of a process that is alive.
    pub fn process(&self, index: ProcessIndex) -> Option<&ProcessAccount> {
        let mut alive = self.account()?.alive();
        alive.find(|process| process.index == index)
    }

    /// What a process that is alive holds, by kind.
    pub fn share(&self, index: ProcessIndex) -> Option<&ProcessShare> {
        let shares = &self.analysis.observation()?.processes;
        shares.iter().find(|share| share.index == index)
    }

    /// What is known of a process beside its memory.
    pub fn info(&self, index: ProcessIndex) -> Option<&ProcessInfo> {
        self.analysis.info(index)
    }

    /// The judgement of one process; only processes that grow are judged.
    pub fn judgement(&self, process: &ProcessAccount) -> Option<&Judgement> {
        let is_it =
            |subject: &Subject| matches!(subject, Subject::Process(pid, _) if *pid == process.pid);
        let mut subjects = self.verdict()?.subjects.iter();
        subjects
            .find(|(subject, _)| is_it(subject))
            .map(|(_, judgement)| judgement)
    }

    /// Evaluations, checkpoints and epochs.
    pub fn events(&self) -> &TrainingEvents {
        &self.events
    }

    /// The log of events.
    pub fn log(&self) -> &EventLog {
        &self.log
    }
}
