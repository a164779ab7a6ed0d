//! The verdict on a whole run.
//!
//! Read in this order: `series` (every series over one axis), `judgements` (which of them are judged),
//! `decide` (what they say together), then `blame`, `clock`, `ceiling` and `findings`.

mod blame;
mod ceiling;
mod clock;
mod clock_points;
mod copied_pages;
mod counted_moments;
mod counter_tracks;
mod decide;
mod earlier_looks;
mod earlier_runs;
mod epoch;
mod events;
mod findings;
mod finishing;
mod generations;
mod held_references;
mod own_clock;
mod own_files;
mod pace;
mod processes;
mod reserved_mapping;
mod roles;
mod run_age;
mod run_series;
mod series_judgements;
mod suspected_bugs;
mod track;

use std::collections::BTreeMap;
use std::sync::Arc;

use leveloff_model::process::Role;
use leveloff_model::recording::StatedFacts;
use leveloff_model::units::{Bytes, Seconds, Step};

use self::ceiling::{Growth, NearestLimit};
use self::clock::GrowthSpan;
use self::decide::{Decision, is_growing};
use self::earlier_looks::{EarlierLooks, Look};
use self::findings::Case;
use self::finishing::FinishInput;
use self::own_clock::OwnClock;
use self::pace::Pace;
use self::reserved_mapping::ReservedMapping;
use self::run_series::RunSeries;
use self::series_judgements::{JudgeInput, SeriesJudgements};
use self::suspected_bugs::BugEvidence;
use crate::finding::FileOwner;
use crate::judge::Facts;
use crate::observation::{Observation, XUnit};
use crate::share_history::ShareHistory;
use crate::teardown::{LastWholeSample, PendingStep};
use crate::units::{Amount, X};
use crate::verdict::{Blame, Judgement, Risk, RunVerdict, Subject, WhyUnknown, WillFinish};

/// Follows a run, observation by observation, in bounded memory; gives a verdict at any time.
///
/// ```
/// use leveloff_classifier::observation::{Observation, XUnit};
/// use leveloff_classifier::run::RunJudge;
/// use leveloff_classifier::verdict::Verdict;
/// use leveloff_model::recording::StatedFacts;
/// use leveloff_model::units::{Bytes, Limit, Step};
///
/// let stated = StatedFacts {
///     limit: Some(Limit::Size(Bytes(32_000_000_000))),
///     ..StatedFacts::default()
/// };
/// let mut judge = RunJudge::new(XUnit::Step, &stated);
/// for step in 1..=80 {
///     let memory = Bytes(4_000_000_000 + 165_000_000 * step);
///     judge.observe(&Observation::at_step(Step(step), memory));
/// }
/// // 80 steps are too few for a verdict, and enough to say when the limit is reached.
/// let run = judge.verdict();
/// assert_eq!(run.verdict, Verdict::WarmingUp);
/// assert_eq!(run.risk.unwrap().at_x.0.round(), 170.0);
/// ```
#[derive(Debug, Clone)]
pub struct RunJudge {
    unit: XUnit,
    stated: StatedFacts,
    by_count: RunSeries,
    /// Dropped once the run's own count is long enough to judge by.
    by_time: Option<Box<RunSeries>>,
    pace: Pace,
    limit: NearestLimit,
    devshm_clock: OwnClock,
    planned: Option<f64>,
    pending: PendingStep,
    end: LastWholeSample,
    is_over: bool,
    is_repro: bool,
    shares: ShareHistory,
    looks: EarlierLooks,
    reserved: ReservedMapping,
    /// The most that the run ever held. A judgement looks at one value for each step; a machine must
    /// also have room for what lies between.
    peak: Bytes,
    /// Versions of the packages that a trainer uses.
    packages: Option<Arc<BTreeMap<String, String>>>,
}

/// Memory that falls below this share of the value before was given back.
const GIVEN_BACK: f64 = 0.98;

impl RunJudge {
    /// A judge of a run whose [`Observation::count`] counts `unit`, with what the user stated.
    pub fn new(unit: XUnit, stated: &StatedFacts) -> RunJudge {
        RunJudge {
            unit,
            stated: stated.clone(),
            by_count: RunSeries::new(),
            by_time: Some(Box::new(RunSeries::new())),
            pace: Pace::default(),
            limit: NearestLimit::new(stated.limit),
            devshm_clock: OwnClock::default(),
            planned: None,
            pending: PendingStep::default(),
            end: LastWholeSample::default(),
            is_over: false,
            is_repro: false,
            shares: ShareHistory::default(),
            looks: EarlierLooks::default(),
            reserved: ReservedMapping::default(),
            peak: Bytes::ZERO,
            packages: None,
        }
    }

    /// Takes the next observation. It counts when the run has gone on from there.
    ///
    /// A run that was started again is another one: memory fell because its processes ended.
    pub fn observe(&mut self, observation: &Observation) {
        if observation.is_restart() {
            let is_repro = self.is_repro;
            *self = RunJudge::new(self.unit, &self.stated);
            self.is_repro = is_repro;
        }
        if self
            .newest()
            .is_some_and(|newest| observation.begins_new_clock(newest))
        {
            self.forget_counts();
            self.unit = XUnit::Step;
        }
        self.unit = observation.count_unit.map_or(self.unit, XUnit::from);
        self.peak = self.peak.max(observation.memory);
        if observation.packages.is_some() {
            self.packages.clone_from(&observation.packages);
        }
        self.end.observe(observation);
        self.shares.observe(observation);
        let mut pending = std::mem::take(&mut self.pending);
        pending.push(observation, |finished| self.take(finished));
        self.pending = pending;
    }

    /// Another counter took over. What came before is not judged on its axis, as what comes before a first
    /// step; who held how much at which time stays known.
    fn forget_counts(&mut self) {
        let mut pending = std::mem::take(&mut self.pending);
        pending.drain(|mut waiting| {
            waiting.count = None;
            self.take(&waiting);
        });
        self.by_count = RunSeries::new();
        self.pace = Pace::default();
        self.devshm_clock = OwnClock::default();
        self.planned = None;
        self.looks = EarlierLooks::default();
        self.shares.forget_counts();
    }

    /// The series is from a loop that was written to reproduce a leak, which warms up within a few calls.
    pub fn assume_repro(&mut self) {
        self.is_repro = true;
    }

    /// The run has ended: its memory is that of the last whole sample. A series that is complete is judged to its
    /// newest point, unless memory was given back there.
    pub fn end(&mut self) {
        self.is_over = true;
        let (series, _) = self.axis();
        let kept = GIVEN_BACK * series.memory.newest();
        let is_complete =
            |newest: &Observation| newest.processes.is_empty() && newest.memory.0 as f64 >= kept;
        if self.newest().is_some_and(is_complete) {
            let mut pending = std::mem::take(&mut self.pending);
            pending.finish(|finished| self.take(finished));
            self.pending = pending;
        }
    }

    /// The observation that stands for the run now: the newest; the last whole one of a run that has ended.
    pub(crate) fn observation(&self) -> Option<&Observation> {
        match self.is_over {
            true => self.end.get().or(self.newest()),
            false => self.newest(),
        }
    }

    /// Whether the newest observation is the last whole one: no worker has left and no memory was given back.
    pub(crate) fn is_whole(&self) -> bool {
        self.end.is_newest()
    }

    /// Who held how much at earlier moments.
    pub(crate) fn shares(&self) -> &ShareHistory {
        &self.shares
    }

    fn take(&mut self, observation: &Observation) {
        self.limit.observe(observation);
        self.reserved.observe(observation);
        // A count without a plan withdraws it: a bar of one epoch came back for the next one.
        if observation.count.is_some() {
            self.planned = observation.planned;
        }
        self.follow_devshm(observation);
        if let Some(count) = observation.count.filter(|count| count.is_finite()) {
            self.by_count.observe(count, observation);
            if let Some(t) = observation.t {
                self.pace.push(count, t);
            }
            if self.by_count.makes_axis() {
                self.by_time = None;
            }
        }
        if let (Some(series), Some(t)) = (&mut self.by_time, observation.t)
            && t.0.is_finite()
        {
            series.observe(t.0, observation);
        }
        if self.looks.is_due() {
            let look = self.look();
            self.looks.push(look);
        }
    }

    /// The run as it is now, to be judged later if it has to be.
    fn look(&self) -> Look {
        let (series, unit) = self.axis();
        Look {
            facts: self.facts(series, unit),
            series: series.clone(),
            unit,
            devshm_is_ours: own_files::owner(series, &self.devshm_clock) != FileOwner::Unknown,
            decision: Default::default(),
        }
    }

    /// The verdict now.
    pub fn verdict(&self) -> RunVerdict {
        let (series, unit) = self.axis();
        let facts = self.facts(series, unit);
        let mut judgements = SeriesJudgements::of(&JudgeInput {
            series,
            unit,
            facts,
        });
        let file_owner = own_files::owner(series, &self.devshm_clock);
        let devshm_is_ours = file_owner != FileOwner::Unknown;
        let newest = decide::decide(series, &judgements, unit, devshm_is_ours);
        let earlier = self.looks.that_holds(newest.judgement.verdict, unit);
        if let Some(earlier) = earlier {
            judgements.show_memory(&earlier.memory);
        }
        let decision = earlier.cloned().unwrap_or(newest);
        let decision = own_files::not_level(decision, series, &judgements, file_owner);
        let (onset, now) = self.window(&decision.judgement, series, unit);
        let span = GrowthSpan {
            onset,
            now,
            growth: series.memory.growth_since(onset, now),
        };
        let clock = is_growing(&decision.memory)
            .then(|| clock::clock(&series.events, &decision.memory, span))
            .flatten();
        let findings = findings::findings(&Case {
            series,
            judgements: &judgements,
            decision: &decision,
            clock: clock.as_ref(),
            file_owner,
            unit,
            onset,
            now,
        });
        let blame = self.blame(series, &decision, devshm_is_ours, onset, now);
        let roles: Vec<Role> = series.roles.all().map(|track| track.role).collect();
        let evidence = BugEvidence {
            verdict: decision.judgement.verdict,
            findings: &findings,
            blame: &blame,
            roles: &roles,
        };
        RunVerdict {
            known_bugs: suspected_bugs::suspected(evidence, self.packages.as_deref()),
            verdict: decision.judgement.verdict,
            shape: decision.judgement.shape,
            x_unit: unit,
            pace: self.pace.seconds().filter(|_| unit != XUnit::Second),
            decisive: decision.decisive,
            limit: self.limit.amount(),
            risk: self.risk(series, unit, &decision),
            will_finish: self.will_finish(series, unit, &facts, &decision),
            horizon: facts.level_by,
            horizon_source: earlier_runs::horizon_source(&self.stated, &facts, unit),
            history: earlier_runs::check(&self.stated, &facts, &decision.memory, unit),
            blame,
            clock,
            findings,
            points: series.points + self.pending.count(),
            span: self.span(series, unit),
            duration: self.duration(series),
            judgement: decision.judgement,
            memory: self.with_peak_and_end(decision.memory),
            subjects: judgements.into_all(),
        }
    }

    /// From where the growth began to where its shares are taken: the newest judged x at which the
    /// run was whole. Workers may exit some steps before the run ends, and leave their pages to the
    /// trainer.
    fn window(&self, judgement: &Judgement, series: &RunSeries, unit: XUnit) -> (f64, f64) {
        let here = X(series.x);
        let (first, X(last)) = judgement.span.unwrap_or((here, here));
        let X(onset) = judgement.onset_x.unwrap_or(first);
        let whole = self.end.get().and_then(|whole| whole.x(unit));
        (onset, last.min(whole.unwrap_or(last)).max(onset))
    }

    fn newest(&self) -> Option<&Observation> {
        self.pending.newest()
    }

    /// The judge sees one value for each step; what lies between counts for the peak, and the end of a run
    /// is its last whole sample.
    fn with_peak_and_end(&self, mut memory: Judgement) -> Judgement {
        if let Some(extremes) = &mut memory.extremes {
            extremes.peak = Amount(extremes.peak.0.max(self.peak.0 as f64));
            if let Some(last) = self.observation() {
                extremes.last = Amount(last.memory.0 as f64);
            }
        }
        memory
    }

    /// From the first to the newest x, which is not judged yet.
    fn span(&self, series: &RunSeries, unit: XUnit) -> Option<(X, X)> {
        let newest = self.observation().and_then(|newest| newest.x(unit));
        let first = series.memory.began_at().or(newest)?;
        Some((X(first), X(newest.unwrap_or(series.x).max(first))))
    }

    fn duration(&self, series: &RunSeries) -> Option<Seconds> {
        let (first, last) = series.times()?;
        let newest = self.newest().and_then(|newest| newest.t);
        Some(newest.unwrap_or(last) - first)
    }

    /// The run's own count, once it is long enough, or when it was known from the beginning.
    fn axis(&self) -> (&RunSeries, XUnit) {
        match &self.by_time {
            Some(series) if series.points > self.by_count.points || self.by_count.is_coarse() => {
                (series, XUnit::Second)
            }
            _ => (&self.by_count, self.unit),
        }
    }

    fn facts(&self, series: &RunSeries, unit: XUnit) -> Facts {
        let limit = self.limit.amount().map(Amount::from);
        // What is stated in steps cannot be laid on another axis.
        let steps = |step: Option<Step>| {
            let step = step.map(|step| X(step.0 as f64));
            step.filter(|_| unit != XUnit::Second && unit != XUnit::Epoch)
        };
        let counts = unit != XUnit::Second;
        let (said, planned) = (series.epochs.said(), self.planned);
        let learned = || series.epochs.learned();
        let before = series.before_first(unit);
        Facts {
            before: before.map(X),
            is_repro: self.is_repro,
            is_over: self.is_over,
            is_no_cache: false,
            reserved: self.reserved.reserved(),
            pace: match unit {
                XUnit::Second => Some(1.0),
                _ => self.pace.seconds().map(|pace| pace.0),
            },
            level_by: self.horizon(series, unit),
            planned: steps(self.stated.planned_steps).or(planned.filter(|_| counts).map(X)),
            epoch: steps(self.stated.epoch_steps)
                .or_else(|| said.filter(|_| counts).or_else(learned).map(X)),
            limit,
        }
    }

    /// Where memory has to be level, on the axis that is judged.
    fn horizon(&self, series: &RunSeries, unit: XUnit) -> Option<X> {
        if !self.stated.has_horizon() {
            return earlier_runs::horizon(&self.stated, series.memory.began_at(), unit);
        }
        let (step, time) = (self.stated.level_by, self.stated.level_by_time);
        let step = step.map(|step| X(step.0 as f64));
        match unit {
            XUnit::Second => time.map(|time| X(series.memory.began_at().unwrap_or(0.0) + time.0)),
            // What is stated in steps cannot be laid on another axis.
            XUnit::Epoch => None,
            _ => step.or_else(|| self.count_after(time?)),
        }
    }

    /// The count that the run had reached, or will have reached, so long after its first sample.
    fn count_after(&self, time: Seconds) -> Option<X> {
        let first = self.shares.began()?;
        let newest = self.newest()?;
        let left = first.0 + time.0 - newest.t?.0;
        if left > 0.0 {
            return Some(X(newest.count? + left / self.pace.seconds()?.0));
        }
        let then = self.shares.at(first.0 + time.0, XUnit::Second)?;
        Some(X(then.moment.count.unwrap_or(0.0)))
    }

    fn follow_devshm(&mut self, observation: &Observation) {
        let (Some(devshm), Some(t)) = (observation.shared_files(), observation.t) else {
            return;
        };
        match observation.count {
            Some(count) => self.devshm_clock.observe(count, t.0, devshm.0 as f64),
            None if self.by_count.points == 0 => self.devshm_clock.loading(t.0, devshm.0 as f64),
            None => {}
        }
    }

    fn risk(&self, series: &RunSeries, unit: XUnit, decision: &Decision) -> Option<Risk> {
        let outside = decision.decisive == Subject::DevShm;
        let growing = if outside {
            &decision.judgement
        } else {
            &decision.memory
        };
        if !is_growing(growing) {
            return None;
        }
        // Files in /dev/shm use the same ceiling up, from where the run's memory is now.
        let level = growing.level.filter(|_| !outside);
        self.limit.risk(&Growth {
            rate: growing.rate?,
            level: level.unwrap_or(Amount(series.memory.newest())),
            now: growing.span?.1,
            unit,
            pace: self.pace.seconds(),
        })
    }

    fn will_finish(
        &self,
        series: &RunSeries,
        unit: XUnit,
        facts: &Facts,
        decision: &Decision,
    ) -> WillFinish {
        let newest = self.observation();
        let at = newest.and_then(|newest| newest.x(unit));
        let Some(planned) = facts.planned else {
            return WillFinish::Unknown(WhyUnknown::NoPlan);
        };
        let Some(limit) = self.limit.amount() else {
            return WillFinish::Unknown(WhyUnknown::NoLimit);
        };
        let (Some(newest), Some(x), Some(began)) = (newest, at, series.memory.began_at()) else {
            return WillFinish::Unknown(WhyUnknown::Open);
        };
        let prospect = FinishInput {
            memory: &self.with_peak_and_end(decision.memory.clone()),
            newest: (x, newest.memory.0 as f64),
            first: (began, series.memory.first()),
            planned,
            limit,
            pace: self.pace.seconds(),
        };
        prospect.will_finish()
    }

    fn blame(
        &self,
        series: &RunSeries,
        decision: &Decision,
        devshm_is_ours: bool,
        onset: f64,
        now: f64,
    ) -> Vec<Blame> {
        let in_memory = decision.is_growth_of_memory()
            && series.memory.growth_since(onset, now) >= decision.memory.material.0;
        match decision.decisive {
            Subject::DevShm => {
                let trainer = series.roles.get(Role::Trainer).map(|trainer| trainer.role);
                blame::outside(series, trainer.filter(|_| devshm_is_ours), onset, now)
            }
            Subject::Descriptors if !in_memory => blame::descriptors(series, onset, now),
            _ if is_growing(&decision.judgement) => self.blame_memory(onset),
            _ => Vec::new(),
        }
    }

    /// Shares of the growth from the onset to the last whole sample.
    fn blame_memory(&self, onset: f64) -> Vec<Blame> {
        let (_, unit) = self.axis();
        let base = self.shares.at(onset, unit);
        let blamed = base.zip(self.end.get());
        blamed.map_or_else(Vec::new, |(base, now)| blame::blame(&base, now))
    }
}
