//! Evaluations, checkpoints and epochs of a run: how many there were, and what memory was between them.

use leveloff_model::progress::{MarkKind, Phase};

use super::clock_points::{ClockPoint, History};
use super::counted_moments::{CountedMoments, EventCounts};
use crate::observation::Observation;
use crate::run_curves::RunEventKind;
use crate::verdict::ClockTick;

/// Events of each kind, in bounded memory.
#[derive(Debug, Clone)]
pub(super) struct Events {
    kinds: [EventTimes; 3],
    epoch: Option<f64>,
    history: History,
    counted: CountedMoments,
}

/// When the events of one kind came.
#[derive(Debug, Clone)]
pub(super) struct EventTimes {
    /// The kind.
    pub(super) tick: ClockTick,
    goes_on: bool,
    count: u64,
    past: Vec<Bucket>,
}

/// Several events, or one.
#[derive(Debug, Clone, Copy)]
struct Bucket {
    first_x: f64,
    last_x: f64,
    count: u64,
}

/// Events of one kind since some x.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Since {
    /// How many.
    pub(super) count: u64,
    /// Usual distance in x.
    pub(super) every: Option<f64>,
}

/// What an observation says of one kind of event.
#[derive(Debug, Clone, Copy)]
struct Signal {
    /// How many began since the last observation.
    began: u64,
    goes_on: bool,
}

/// The kinds of events that may be the clock of growth.
pub(super) const EVENT_KINDS: [ClockTick; 3] = [
    ClockTick::Evaluation,
    ClockTick::Checkpoint,
    ClockTick::Epoch,
];

impl Default for Events {
    fn default() -> Events {
        Events {
            kinds: EVENT_KINDS.map(EventTimes::new),
            epoch: None,
            history: History::default(),
            counted: CountedMoments::default(),
        }
    }
}

impl Events {
    /// Takes the next observation at `x`.
    pub(super) fn observe(&mut self, x: f64, observation: &Observation) {
        let (before, went_on) = (self.counts(), self.goes_on());
        let epochs_begun = self.epochs_begun(observation);
        for kind in &mut self.kinds {
            let signal = match kind.tick {
                ClockTick::Evaluation => phase_signal(observation, |phase| *phase == Phase::Eval),
                ClockTick::Checkpoint => checkpoint_signal(observation, kind.goes_on),
                _ => Signal {
                    began: epochs_begun,
                    goes_on: false,
                },
            };
            kind.observe(x, signal);
        }
        let events = EventCounts {
            before,
            after: self.counts(),
            went_on,
            goes_on: self.goes_on(),
        };
        self.counted.observe(x, observation, &events);
        // What an event holds while it goes on is not what stays after it.
        if !events.goes_on {
            self.history
                .push(ClockPoint::of(x, observation, events.after));
        }
    }

    fn counts(&self) -> [f64; 3] {
        self.kinds.each_ref().map(|kind| kind.count as f64)
    }

    fn goes_on(&self) -> bool {
        self.kinds.iter().any(|kind| kind.goes_on)
    }

    /// What malloc had in use at the marks and between them, where the training counts it.
    pub(super) fn counted(&self) -> &History {
        self.counted.history()
    }

    /// Memory between the events.
    pub(super) fn history(&self) -> &History {
        &self.history
    }

    /// Events of a kind since `onset`; `None` if there were none.
    pub(super) fn since(&self, tick: ClockTick, onset: f64) -> Option<Since> {
        self.kinds
            .iter()
            .find(|kind| kind.tick == tick)
            .and_then(|kind| kind.since(onset))
    }

    /// A mark and the count of epochs may come with different samples; they report one event.
    fn epochs_begun(&mut self, observation: &Observation) -> u64 {
        let marked = observation.marks.iter().filter_map(|mark| match mark {
            MarkKind::Epoch(epoch) => Some(*epoch as f64),
            _ => None,
        });
        let newest = marked.chain(observation.epoch.map(f64::floor)).last();
        let begun = newest.zip(self.epoch).map_or(0.0, |(now, then)| now - then);
        self.epoch = newest.or(self.epoch);
        begun.max(0.0) as u64
    }
}

impl EventTimes {
    /// Single events that are remembered before neighbours are put together.
    const REMEMBERED: usize = 128;

    fn new(tick: ClockTick) -> EventTimes {
        EventTimes {
            tick,
            goes_on: false,
            count: 0,
            past: Vec::new(),
        }
    }

    fn observe(&mut self, x: f64, signal: Signal) {
        if signal.began > 0 {
            self.remember(x, signal.began);
        }
        self.goes_on = signal.goes_on;
    }

    fn remember(&mut self, x: f64, count: u64) {
        if self.past.len() == EventTimes::REMEMBERED {
            self.past = self
                .past
                .chunks(2)
                .map(|pair| pair.iter().copied().reduce(Bucket::with).unwrap_or(pair[0]))
                .collect();
        }
        self.count = self.count.saturating_add(count);
        self.past.push(Bucket {
            first_x: x,
            last_x: x,
            count,
        });
    }

    fn since(&self, onset: f64) -> Option<Since> {
        let since = self.past.iter().filter(|bucket| bucket.last_x >= onset);
        let all = since.copied().reduce(Bucket::with)?;
        let gaps = (all.count - 1) as f64;
        Some(Since {
            count: all.count,
            every: (all.count > 1).then(|| (all.last_x - all.first_x) / gaps),
        })
    }
}

impl Bucket {
    fn with(self, next: Bucket) -> Bucket {
        Bucket {
            first_x: self.first_x,
            last_x: next.last_x,
            count: self.count.saturating_add(next.count),
        }
    }
}

/// A phase that began since the last observation may be over by now.
fn phase_signal(observation: &Observation, is_it: impl Fn(&Phase) -> bool) -> Signal {
    let began = |mark: &&MarkKind| matches!(mark, MarkKind::Phase(phase) if is_it(phase));
    Signal {
        began: observation.marks.iter().filter(began).count() as u64,
        goes_on: observation.phase.as_ref().is_some_and(&is_it),
    }
}

/// A save may be reported as a phase, as an event, or as both: then the event ends the phase.
fn checkpoint_signal(observation: &Observation, went_on: bool) -> Signal {
    let phase = phase_signal(observation, |phase| *phase == Phase::Checkpoint);
    let is_saved = |mark: &&MarkKind| {
        matches!(mark, MarkKind::Event(_))
            && RunEventKind::of(mark) == Some(RunEventKind::Checkpoint)
    };
    let saved = observation.marks.iter().filter(is_saved).count() as u64;
    Signal {
        began: phase.began.max(saved.saturating_sub(u64::from(went_on))),
        goes_on: phase.goes_on,
    }
}
