//! Does memory grow at evaluations, checkpoints and epochs, or between them?

use leveloff_model::progress::{MarkKind, Phase};

use crate::observation::Observation;
use crate::run_curves::RunEventKind;
use crate::verdict::ClockTick;

/// Growth across each kind of event, in bounded memory.
#[derive(Debug, Clone)]
pub(super) struct Events {
    tallies: [Tally; 3],
    recent: Recent,
    epoch: Option<f64>,
}

/// What the events of one kind did since some x.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Account {
    /// The kind.
    pub(super) tick: ClockTick,
    /// How many there were.
    pub(super) count: u64,
    /// Growth across all of them.
    pub(super) growth: f64,
    /// How much it differs from one to the next, relative to its mean.
    pub(super) variation: f64,
    /// Usual distance in x.
    pub(super) every: Option<f64>,
}

#[derive(Debug, Clone)]
struct Tally {
    tick: ClockTick,
    state: State,
    past: Vec<Bucket>,
}

#[derive(Debug, Clone, Copy)]
enum State {
    Quiet,
    Going { before: f64 },
    Settling { before: f64, left: u32 },
}

/// Several events, or one.
#[derive(Debug, Clone, Copy)]
struct Bucket {
    first_x: f64,
    last_x: f64,
    count: u64,
    growth: f64,
    squares: f64,
}

/// What an observation says of one kind of event.
#[derive(Debug, Clone, Copy)]
struct Signal {
    began: bool,
    goes_on: bool,
}

/// The last three amounts, whose median is not moved by one spike.
#[derive(Debug, Clone, Copy, Default)]
struct Recent([Option<f64>; 3]);

impl Default for Events {
    fn default() -> Events {
        let kinds = [
            ClockTick::Evaluation,
            ClockTick::Checkpoint,
            ClockTick::Epoch,
        ];
        Events {
            tallies: kinds.map(Tally::new),
            recent: Recent::default(),
            epoch: None,
        }
    }
}

impl Events {
    /// Takes the next observation at `x`.
    pub(super) fn observe(&mut self, x: f64, observation: &Observation) {
        let memory = observation.memory.0 as f64;
        let before = self.recent.median().unwrap_or(memory);
        self.recent.push(memory);
        let after = self.recent.median().unwrap_or(memory);
        let epoch_began = self.epoch_began(observation);
        for tally in &mut self.tallies {
            let signal = match tally.tick {
                ClockTick::Evaluation => phase_signal(observation, |phase| *phase == Phase::Eval),
                ClockTick::Checkpoint => checkpoint_signal(observation),
                _ => Signal {
                    began: epoch_began,
                    goes_on: false,
                },
            };
            tally.observe(x, signal, before, after);
        }
    }

    /// What each kind that ever happened did since `onset`.
    pub(super) fn accounts(&self, onset: f64) -> impl Iterator<Item = Account> {
        self.tallies
            .iter()
            .filter_map(move |tally| tally.account(onset))
    }

    fn epoch_began(&mut self, observation: &Observation) -> bool {
        let marked = observation
            .marks
            .iter()
            .any(|mark| matches!(mark, MarkKind::Epoch(_)));
        let whole = observation.epoch.map(f64::floor);
        let counted = whole.is_some() && self.epoch.is_some() && whole > self.epoch;
        self.epoch = whole.or(self.epoch);
        marked || counted
    }
}

impl Tally {
    /// Single events that are remembered before neighbours are put together.
    const REMEMBERED: usize = 128;
    /// Observations after an event that its growth is read from: buffers are given back late.
    const SETTLES_IN: u32 = 3;

    fn new(tick: ClockTick) -> Tally {
        Tally {
            tick,
            state: State::Quiet,
            past: Vec::new(),
        }
    }

    fn observe(&mut self, x: f64, signal: Signal, before: f64, after: f64) {
        if signal.began {
            // The last event has had no time to settle: the present memory is what it left.
            if let State::Settling { before: start, .. } = self.state {
                self.remember(x, before - start);
            }
            self.state = State::Going { before };
        }
        self.state = match self.state {
            State::Going { before } if !signal.goes_on => State::Settling {
                before,
                left: Tally::SETTLES_IN,
            },
            State::Settling { before, left: 0 } => {
                self.remember(x, after - before);
                State::Quiet
            }
            State::Settling { before, left } => State::Settling {
                before,
                left: left - 1,
            },
            state => state,
        };
    }

    fn remember(&mut self, x: f64, growth: f64) {
        if self.past.len() == Tally::REMEMBERED {
            self.past = self
                .past
                .chunks(2)
                .map(|pair| pair.iter().copied().reduce(Bucket::with).unwrap_or(pair[0]))
                .collect();
        }
        self.past.push(Bucket {
            first_x: x,
            last_x: x,
            count: 1,
            growth,
            squares: growth * growth,
        });
    }

    fn account(&self, onset: f64) -> Option<Account> {
        let since = self.past.iter().filter(|bucket| bucket.last_x >= onset);
        let all = since.copied().reduce(Bucket::with)?;
        let count = all.count as f64;
        let mean = all.growth / count;
        let variance = (all.squares / count - mean * mean).max(0.0);
        Some(Account {
            tick: self.tick,
            count: all.count,
            growth: all.growth,
            variation: variance.sqrt() / mean.abs().max(f64::MIN_POSITIVE),
            every: (all.count > 1).then(|| (all.last_x - all.first_x) / (count - 1.0)),
        })
    }
}

impl Bucket {
    fn with(self, next: Bucket) -> Bucket {
        Bucket {
            first_x: self.first_x,
            last_x: next.last_x,
            count: self.count + next.count,
            growth: self.growth + next.growth,
            squares: self.squares + next.squares,
        }
    }
}

impl Recent {
    fn push(&mut self, amount: f64) {
        self.0.rotate_left(1);
        self.0[2] = Some(amount);
    }

    fn median(&self) -> Option<f64> {
        match self.0 {
            [Some(a), Some(b), Some(c)] => Some(a.min(b).max(a.max(b).min(c))),
            [_, Some(b), Some(c)] => Some(b.max(c)),
            [_, _, newest] => newest,
        }
    }
}

/// A phase that began since the last observation may be over by now.
fn phase_signal(observation: &Observation, is_it: impl Fn(&Phase) -> bool) -> Signal {
    Signal {
        began: observation
            .marks
            .iter()
            .any(|mark| matches!(mark, MarkKind::Phase(phase) if is_it(phase))),
        goes_on: observation.phase.as_ref().is_some_and(is_it),
    }
}

fn checkpoint_signal(observation: &Observation) -> Signal {
    let phase = phase_signal(observation, |phase| *phase == Phase::Checkpoint);
    let saved = observation
        .marks
        .iter()
        .any(|mark| RunEventKind::of(mark) == Some(RunEventKind::Checkpoint));
    Signal {
        began: saved,
        goes_on: phase.goes_on,
    }
}
