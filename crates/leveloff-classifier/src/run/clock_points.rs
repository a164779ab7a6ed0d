//! What memory was beside every counter that may be the clock of its growth: the newest moments as they came, older
//! ones further apart.

use std::collections::VecDeque;

use leveloff_model::training_counters::TrainingCounter;

use crate::observation::{CountAtMark, Observation};

/// Counters of the training beside its steps.
pub(super) const SIDE_COUNTERS: [TrainingCounter; 4] = [
    TrainingCounter::Tokens,
    TrainingCounter::Samples,
    TrainingCounter::Episodes,
    TrainingCounter::Compilations,
];

/// They are counted together, now and then. The first is what malloc has in use.
const ALLOCATOR_COUNTERS: [TrainingCounter; 3] = [
    TrainingCounter::MallocUsed,
    TrainingCounter::MallocFree,
    TrainingCounter::PythonBlocks,
];

/// A moment between events.
#[derive(Debug, Clone, Copy)]
pub(super) struct ClockPoint {
    /// Its x.
    pub(super) x: f64,
    /// Its time, where it is known.
    pub(super) t: Option<f64>,
    /// Memory.
    pub(super) memory: f64,
    /// What the training counted of its allocators, each of [`ALLOCATOR_COUNTERS`].
    allocators: [Option<f64>; 3],
    /// How often malloc had been counted, where that is known.
    malloc_counts: Option<f64>,
    /// Each of [`SIDE_COUNTERS`], where it is known.
    pub(super) side: [Option<f64>; 4],
    /// Events of each kind so far.
    pub(super) events: [f64; 3],
}

/// Moments at several distances: each level keeps every fourth moment of the level before.
///
/// Nothing is kept before the first event or counter: without one, steps have no rival.
#[derive(Debug, Clone, Default)]
pub(super) struct History {
    levels: [VecDeque<ClockPoint>; LEVELS],
    seen: u64,
}

/// The coarsest level reaches over 256 · 4⁷ moments: 48 days at one a second.
const LEVELS: usize = 8;
/// Moments of one level.
const MOMENTS: usize = 256;
/// Moments of a level for each that the next keeps.
const THINNING: u64 = 4;

impl ClockPoint {
    /// An observation, with the number of events of each kind so far.
    pub(super) fn of(x: f64, observation: &Observation, events: [f64; 3]) -> ClockPoint {
        let side = |counter| observation.counters.get(counter).map(|count| count as f64);
        ClockPoint {
            x,
            t: observation.t.map(|t| t.0),
            memory: observation.memory.0 as f64,
            allocators: ALLOCATOR_COUNTERS.map(side),
            malloc_counts: side(TrainingCounter::MallocCounts),
            side: SIDE_COUNTERS.map(side),
            events,
        }
    }

    /// A mark of this observation, where malloc was counted.
    pub(super) fn at_mark(
        x: f64,
        count: &CountAtMark,
        observation: &Observation,
        events: [f64; 3],
    ) -> ClockPoint {
        ClockPoint {
            x,
            t: Some(count.t.0),
            allocators: [Some(count.malloc_used.0 as f64), None, None],
            malloc_counts: None,
            ..ClockPoint::of(x, observation, events)
        }
    }

    /// What malloc has in use, where the training counts it.
    pub(super) fn in_use(&self) -> Option<f64> {
        self.allocators[0]
    }

    /// The same moment with another number in place of memory.
    pub(super) fn with_memory(self, memory: f64) -> ClockPoint {
        ClockPoint { memory, ..self }
    }

    /// Whether malloc was counted since `earlier`. Where counts are not numbered, numbers that are all as before are the
    /// old ones, repeated.
    pub(super) fn is_counted_since(&self, earlier: &ClockPoint) -> bool {
        match self.malloc_counts.zip(earlier.malloc_counts) {
            Some((now, then)) => now > then,
            None => self.allocators != earlier.allocators,
        }
    }

    fn has_rival_of_steps(&self) -> bool {
        self.events.iter().any(|events| *events > 0.0) || self.side.iter().any(Option::is_some)
    }
}

impl History {
    /// Takes the next moment.
    pub(super) fn push(&mut self, point: ClockPoint) {
        if self.seen == 0 && !point.has_rival_of_steps() {
            return;
        }
        let mut distance = 1;
        for level in &mut self.levels {
            if !self.seen.is_multiple_of(distance) {
                break;
            }
            if level.len() == MOMENTS {
                level.pop_front();
            }
            level.push_back(point);
            distance *= THINNING;
        }
        self.seen += 1;
    }

    /// The moments of each level from `onset` to `now`, finest first; none that is coarser than one that reaches back
    /// to the onset, as it would show less of the same.
    pub(super) fn levels(&self, onset: f64, now: f64) -> impl Iterator<Item = Vec<ClockPoint>> {
        let forgets = move |level: &&VecDeque<ClockPoint>| {
            level.len() == MOMENTS && level.front().is_some_and(|first| first.x > onset)
        };
        let too_short = self.levels.iter().take_while(forgets).count();
        self.levels.iter().take(too_short + 1).map(move |level| {
            let inside = |point: &&ClockPoint| (onset..=now).contains(&point.x);
            level.iter().filter(inside).copied().collect()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_moments_are_kept_further_apart_in_bounded_memory() {
        let mut history = History::default();
        for second in 0..100_000_u32 {
            let observation = Observation {
                memory: leveloff_model::units::Bytes(u64::from(second)),
                ..Observation::default()
            };
            history.push(ClockPoint::of(
                f64::from(second),
                &observation,
                [1.0, 0.0, 0.0],
            ));
        }
        let kept: usize = history.levels.iter().map(VecDeque::len).sum();
        assert!(kept <= LEVELS * MOMENTS);
        let spans: Vec<f64> = history
            .levels(0.0, f64::MAX)
            .map(|level| level[level.len() - 1].x - level[0].x)
            .collect();
        assert_eq!(spans[..3], [255.0, 1020.0, 4080.0]);
        assert!(spans[5] > 98_000.0, "{spans:?}");
    }

    #[test]
    fn a_run_without_events_keeps_nothing() {
        let mut history = History::default();
        history.push(ClockPoint::of(1.0, &Observation::default(), [0.0; 3]));
        assert_eq!(history.levels(0.0, 9.0).flatten().count(), 0);
    }
}
