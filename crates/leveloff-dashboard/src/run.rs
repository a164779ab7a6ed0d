//! What is known of the run: fed by ticks, read by drawing.

mod growth;
mod log;
mod people;
mod ticks;

pub use growth::{Grown, Marker};
pub use log::{EventLog, LogEntry, LogKind};
pub use people::{People, Person, Sparkline};
pub use ticks::{EventTick, EventTicks, TickKind};

use leveloff_classifier::observation::{Observer, ProcessShare, XUnit};
use leveloff_classifier::run::RunJudge;
use leveloff_classifier::verdict::RunVerdict;
use leveloff_model::progress::Progress;
use leveloff_model::recording::StatedFacts;
use leveloff_model::sample::{Sample, Tick};
use leveloff_model::units::Seconds;

use crate::history::{History, Moment};

/// Everything that is known of the run.
#[derive(Debug, Clone)]
pub struct RunState {
    observer: Observer,
    /// `None` for a whole machine, which is no run.
    judge: Option<RunJudge>,
    verdict: Option<RunVerdict>,
    /// Whether ticks came since the verdict was asked for.
    is_stale: bool,
    stated: StatedFacts,
    sample: Option<Sample>,
    shares: Vec<ProcessShare>,
    people: People,
    history: History,
    event_ticks: EventTicks,
    log: EventLog,
    marker: Option<Marker>,
    /// Whether the user set the marker.
    marker_is_set: bool,
    interval: Option<Seconds>,
    samples: u64,
}

impl RunState {
    /// A run of which nothing is known but what the user stated.
    pub fn new(stated: &StatedFacts) -> RunState {
        RunState {
            judge: Some(RunJudge::new(XUnit::Step, stated)),
            ..RunState::of_machine(stated)
        }
    }

    /// All processes of a machine, which are no run: nothing is judged.
    pub fn of_machine(stated: &StatedFacts) -> RunState {
        RunState {
            observer: Observer::new(),
            judge: None,
            verdict: None,
            is_stale: false,
            stated: stated.clone(),
            sample: None,
            shares: Vec::new(),
            people: People::default(),
            history: History::default(),
            event_ticks: EventTicks::default(),
            log: EventLog::default(),
            marker: None,
            marker_is_set: false,
            interval: None,
            samples: 0,
        }
    }

    /// Takes a tick.
    pub fn take(&mut self, tick: Tick) {
        self.log.take(&tick, &self.people);
        self.event_ticks.take(&tick);
        self.samples += 1;
        if self.observe(&tick) {
            self.show(tick);
        } else if let Some(shown) = &mut self.sample {
            shown.t = tick.sample.t;
            shown.progress = tick.sample.progress;
        } else {
            self.people.take(&tick);
        }
    }

    /// Whether the tick is evidence of the run. In the first moments of one that was joined, nobody
    /// knows yet what its workers share. While it ends, memory falls because processes end: what it
    /// held before is then shown on, and who held it.
    fn observe(&mut self, tick: &Tick) -> bool {
        let observation = self.observer.observe(tick);
        if let Some(observation) = observation {
            self.shares.clone_from(&observation.processes);
            if let Some(judge) = &mut self.judge {
                judge.observe(observation);
                self.is_stale = true;
            }
        }
        observation.is_some() || self.judge.is_none()
    }

    fn show(&mut self, mut tick: Tick) {
        if self.is_machine() {
            // The steps of some run say nothing of the others.
            tick.sample.progress = Progress::default();
        }
        self.people.take(&tick);
        let tree = tick.sample.tree();
        self.history.push(Moment {
            t: tick.sample.t,
            step: tick.sample.progress.step.map(|step| step.0 as f64),
            memory: tree.total.0 as f64,
            rss: tree.rss.0 as f64,
        });
        let before = self.sample.replace(tick.sample);
        self.interval = self.since(before.as_ref());
        self.move_own_marker();
        if let (Some(marker), Some(now)) = (&mut self.marker, &self.sample) {
            marker.learn(&now.progress.counters);
        }
    }

    /// Asks for the verdict, once for all ticks that came at a time.
    pub fn settle(&mut self) {
        if !std::mem::take(&mut self.is_stale) {
            return;
        }
        let Some(judge) = &self.judge else { return };
        let verdict = judge.verdict();
        let before = self.verdict.replace(verdict);
        if let (Some(now), Some(sample)) = (&self.verdict, &self.sample) {
            self.log.compare(before.as_ref(), now, sample);
        }
    }

    /// Growth is told since here from now on.
    pub fn set_marker(&mut self) {
        self.mark();
        self.marker_is_set = true;
    }

    fn mark(&mut self) {
        if let Some(sample) = &self.sample {
            self.marker = Some(Marker::new(sample, &self.shares));
        }
    }

    /// Until the user sets it, the marker is at the first step: what came before is loading.
    fn move_own_marker(&mut self) {
        let step = self.sample.as_ref().and_then(|now| now.progress.step);
        let is_before_steps = self.marker.as_ref().is_none_or(|it| it.step.is_none());
        let steps_begin = step.is_some() && is_before_steps && !self.marker_is_set;
        if self.marker.is_none() || steps_begin {
            self.mark();
        }
    }

    fn since(&self, before: Option<&Sample>) -> Option<Seconds> {
        Some(self.sample.as_ref()?.t - before?.t)
    }

    /// What is said of the run; `None` before the first look, and for a whole machine.
    pub fn verdict(&self) -> Option<&RunVerdict> {
        self.verdict.as_ref()
    }

    /// What the user stated.
    pub fn stated(&self) -> &StatedFacts {
        &self.stated
    }

    /// The newest sample.
    pub fn sample(&self) -> Option<&Sample> {
        self.sample.as_ref()
    }

    /// Who holds how much, now.
    pub fn shares(&self) -> &[ProcessShare] {
        &self.shares
    }

    /// The processes, living and lately gone.
    pub fn people(&self) -> &People {
        &self.people
    }

    /// The curve.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// Evaluations, checkpoints and epochs.
    pub fn event_ticks(&self) -> &EventTicks {
        &self.event_ticks
    }

    /// What happened.
    pub fn log(&self) -> &EventLog {
        &self.log
    }

    /// Since when growth is told.
    pub fn marker(&self) -> Option<&Marker> {
        self.marker.as_ref()
    }

    /// Who and what grew since the marker; adds up to the growth of the run's memory.
    pub fn grown(&self) -> Vec<Grown> {
        self.marker
            .as_ref()
            .map_or_else(Vec::new, |marker| marker.grown(&self.shares))
    }

    /// Time between the two newest samples.
    pub fn interval(&self) -> Option<Seconds> {
        self.interval
    }

    /// Whether this is a whole machine, which is no run.
    pub fn is_machine(&self) -> bool {
        self.judge.is_none()
    }

    /// Samples taken.
    pub fn samples(&self) -> u64 {
        self.samples
    }
}
