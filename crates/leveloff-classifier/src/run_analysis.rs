//! What happened in a run: the one account that every output reads.
//!
//! [`RunAnalysis`] takes ticks (live or from a recording) or observations (from any other file). It
//! owns the judge, the curves, the processes and the rule for the end of a run ([`crate::teardown`]).
//! [`RunAnalysis::account`] is all of it at one moment: summary line, dashboard, reports, metrics and
//! CSV print its numbers and add nothing up, so that two of them cannot disagree.

mod account;
mod process_table;
mod series_table;

pub use account::{
    Amounts, GroupAccount, GrowthBase, GrowthOrigin, PartAccount, ProcessAccount, RankAccount,
    RunAccount,
};
pub use series_table::SeriesAccount;

use leveloff_model::process::{ProcessIndex, ProcessInfo};
use leveloff_model::recording::{StatedFacts, Target};
use leveloff_model::sample::{Event, Tick};
use leveloff_model::training_counters::GrownTensors;

use self::process_table::ProcessTable;
use crate::allocation_history::{AllocationHistory, LineGrowth, LineWindow};
use crate::observation::{Moment, Observation, XUnit};
use crate::observer::Observer;
use crate::run::RunJudge;
use crate::run_curves::{CurveSpan, RunCurves};
use crate::share_history::{ShareHistory, Snapshot};
use crate::verdict::RunVerdict;

/// Follows a run in bounded memory; can be asked for an account at any time.
#[derive(Debug, Clone)]
pub struct RunAnalysis {
    observer: Observer,
    /// `None` for a whole machine, which is no run and has no verdict.
    judge: Option<RunJudge>,
    curves: RunCurves,
    /// Of a whole machine; the judge has that of a run.
    machine_shares: ShareHistory,
    /// Observations since the last whole one: a teardown, unless the run goes on.
    ending: Vec<Observation>,
    processes: ProcessTable,
    newest: Option<Observation>,
    peak: Option<Peak>,
    marker: Option<Snapshot>,
    observations: u64,
    is_over: bool,
    allocations: AllocationHistory,
}

/// Observations of a possible teardown that are kept back at most.
const MOST_ENDING: usize = 1024;

/// A run that was read to its end.
#[derive(Debug, Clone)]
pub struct FinishedRun {
    /// Its account at the last whole sample.
    pub account: RunAccount,
    /// Its curves up to there.
    pub curves: RunCurves,
    /// What each series held and how it grew: the whole first, then roles, kinds and counters.
    pub series: Vec<SeriesAccount>,
    /// Which tensors became more, most bytes first, where the training reports it.
    pub grown_tensors: Vec<GrownTensors>,
    /// The lines whose memory grew, most first. Empty without `--blame`.
    pub lines: Vec<LineGrowth>,
    /// Whether the run was started with `--blame`, and something was seen.
    pub is_heap_sampled: bool,
}

/// The observation with the most memory.
#[derive(Debug, Clone, Copy)]
struct Peak {
    memory: f64,
    moment: Moment,
}

impl RunAnalysis {
    /// Follows a run whose [`Observation::count`] counts `unit`, with what the user stated.
    pub fn new(unit: XUnit, stated: &StatedFacts) -> RunAnalysis {
        RunAnalysis {
            observer: Observer::new(),
            judge: Some(RunJudge::new(unit, stated)),
            ..RunAnalysis::of_machine()
        }
    }

    /// Follows what was recorded, or is to be watched.
    pub fn of_target(target: &Target, stated: &StatedFacts) -> RunAnalysis {
        match target {
            Target::System => RunAnalysis::of_machine(),
            Target::Command(_) | Target::Attached(_) => RunAnalysis::new(XUnit::Step, stated),
        }
    }

    /// Follows all processes of a machine: no run, so no verdict and no end.
    pub fn of_machine() -> RunAnalysis {
        RunAnalysis {
            observer: Observer::of_machine(),
            judge: None,
            curves: RunCurves::new(),
            machine_shares: ShareHistory::default(),
            ending: Vec::new(),
            processes: ProcessTable::default(),
            newest: None,
            peak: None,
            marker: None,
            observations: 0,
            is_over: false,
            allocations: AllocationHistory::default(),
        }
    }

    /// Whether it follows a machine and not a run.
    pub fn is_of_machine(&self) -> bool {
        self.judge.is_none()
    }

    /// Takes a tick. Returns the observation that it is; `None` where it shows no state of the run: trainers
    /// have exited, or the shares of a run that was joined are not read yet.
    pub fn take(&mut self, tick: &Tick) -> Option<&Observation> {
        self.learn(&tick.events);
        let mut observer = std::mem::take(&mut self.observer);
        let taken = observer
            .observe(tick)
            .map(|observation| self.observe(observation));
        self.observer = observer;
        taken.and(self.newest.as_ref())
    }

    /// Takes what events tell of processes, for a caller that hands over observations.
    pub fn learn(&mut self, events: &[Event]) {
        self.allocations.learn(events);
        for event in events {
            match event {
                Event::Appeared(info) | Event::Changed(info) => self.processes.learn(info),
                Event::Exited(_)
                | Event::Mark(_)
                | Event::Software(_)
                | Event::Gap(_)
                | Event::Site(_)
                | Event::Allocations(_)
                | Event::Holder(_) => {}
            }
        }
    }

    /// Takes an observation.
    pub fn observe(&mut self, observation: &Observation) {
        self.allocations.set_moment(Moment::of(observation));
        if observation.is_restart() {
            self.begin_anew();
        }
        let newest = self.newest.as_ref();
        if newest.is_some_and(|newest| observation.begins_new_clock(newest)) {
            self.forget_counts();
        }
        match &mut self.judge {
            Some(judge) => judge.observe(observation),
            None => self.machine_shares.observe(observation),
        }
        self.processes.observe(observation, self.observations);
        self.draw(observation);
        self.observations += 1;
        let memory = observation.memory.0 as f64;
        if self.peak.is_none_or(|peak| memory > peak.memory) {
            let moment = Moment::of(observation);
            self.peak = Some(Peak { memory, moment });
        }
        match &mut self.newest {
            Some(newest) => newest.clone_from(observation),
            None => self.newest = Some(observation.clone()),
        }
        self.is_over = false;
    }

    /// Adds to the curves. What may be the end of the run waits until the run goes on.
    fn draw(&mut self, observation: &Observation) {
        if !self.is_whole() && self.ending.len() < MOST_ENDING {
            self.ending.push(observation.clone());
            return;
        }
        for part_of_run in self.ending.iter().chain([observation]) {
            self.curves.observe(part_of_run);
            self.processes.raise_peaks(part_of_run);
        }
        self.ending.clear();
    }

    /// The run has ended: from now on its account is that of the last whole sample.
    pub fn end(&mut self) {
        self.is_over = true;
        if let Some(judge) = &mut self.judge {
            judge.end();
        }
    }

    /// Growth counts from the newest observation from now on, instead of from the judged onset.
    pub fn set_marker(&mut self) {
        let newest = self.newest.as_ref();
        self.marker = newest.map(|newest| self.shares().snapshot(newest));
    }

    /// What is said of the run; `None` for a whole machine and before the first observation.
    pub fn verdict(&self) -> Option<RunVerdict> {
        self.newest.as_ref()?;
        Some(self.judge.as_ref()?.verdict())
    }

    /// The lines whose memory grew, most first. Empty without `--blame`.
    pub fn lines(&self) -> Vec<LineGrowth> {
        let verdict = self.verdict().filter(|_| !self.allocations.is_empty());
        verdict.map_or_else(Vec::new, |verdict| self.lines_of(&verdict))
    }

    /// The same, where the verdict is known.
    pub fn lines_of(&self, verdict: &RunVerdict) -> Vec<LineGrowth> {
        self.allocations.lines(verdict)
    }

    /// All that is known of the run now.
    pub fn account(&self) -> Option<RunAccount> {
        account::account(self, self.verdict())
    }

    /// The same with a verdict that was asked for already.
    pub fn account_of(&self, verdict: Option<RunVerdict>) -> Option<RunAccount> {
        account::account(self, verdict)
    }

    /// The observation that stands for the run now: the newest; the last whole one of a run that has
    /// ended.
    pub fn observation(&self) -> Option<&Observation> {
        match &self.judge {
            Some(judge) => judge.observation(),
            None => self.newest.as_ref(),
        }
    }

    /// Whether the newest observation stands for the run even if the run ends now: no process has left
    /// and no memory was given back.
    pub fn is_whole(&self) -> bool {
        self.judge.as_ref().is_none_or(RunJudge::is_whole)
    }

    /// The curves up to the last whole sample. [`RunAnalysis::spans`] has the rest.
    pub fn curves(&self) -> &RunCurves {
        &self.curves
    }

    /// The run, evenly, oldest first, up to the observation that stands for it.
    pub fn spans(&self) -> impl Iterator<Item = CurveSpan> {
        let ending = self.ending.iter().filter(|_| !self.is_over);
        self.curves
            .spans()
            .copied()
            .chain(ending.map(CurveSpan::of))
    }

    /// What the kernel and the sampler know of a process.
    pub fn info(&self, index: ProcessIndex) -> Option<&ProcessInfo> {
        self.processes.info(index)
    }

    /// All was read. `None` if there was no observation. Call [`RunAnalysis::end`] before if the run has ended.
    pub fn finish(self) -> Option<FinishedRun> {
        self.finish_with_lines_of(&LineWindow::default())
    }

    /// The same, with the lines that grew over a part of the run.
    pub fn finish_with_lines_of(mut self, window: &LineWindow) -> Option<FinishedRun> {
        let account = self.account()?;
        for part_of_run in self.ending.drain(..).filter(|_| !self.is_over) {
            self.curves.observe(&part_of_run);
        }
        let verdict = account.verdict.as_ref();
        Some(FinishedRun {
            lines: verdict.map_or_else(Vec::new, |it| self.allocations.lines_within(it, window)),
            is_heap_sampled: !self.allocations.is_empty(),
            series: series_table::series_table(&account, &self.curves),
            grown_tensors: self
                .observation()
                .map_or_else(Vec::new, |it| it.grown.clone()),
            account,
            curves: self.curves,
        })
    }

    fn shares(&self) -> &ShareHistory {
        self.judge
            .as_ref()
            .map_or(&self.machine_shares, RunJudge::shares)
    }

    /// Another counter took over: what came before has no place on its axis.
    fn forget_counts(&mut self) {
        self.curves.forget_counts();
        self.ending.iter_mut().for_each(|one| one.count = None);
        if let Some(peak) = &mut self.peak {
            peak.moment.count = None;
        }
        if let Some(marker) = &mut self.marker {
            marker.moment.count = None;
        }
    }

    /// A run that was started again is another one; its curves go on.
    fn begin_anew(&mut self) {
        self.peak = None;
        self.marker = None;
    }
}

impl Default for RunAnalysis {
    fn default() -> RunAnalysis {
        RunAnalysis::new(XUnit::Step, &StatedFacts::default())
    }
}
