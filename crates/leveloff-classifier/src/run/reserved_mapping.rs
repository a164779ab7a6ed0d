//! Does growth fill a mapping that was reserved at once?
//!
//! A leak through an allocator that reserves large arenas looks the same, so little is excused: one mapping in a run, that
//! explains nearly all growth of the run's memory at three readings and between the last two, until it is full.

use std::collections::VecDeque;

use leveloff_model::units::Seconds;

use crate::judge::Reserved;
use crate::observation::{FillingReading, Observation};
use crate::units::Amount;

/// The readings of the mapping that is filled most.
#[derive(Debug, Clone, Default)]
pub(super) struct ReservedMapping {
    readings: VecDeque<Reading>,
    number: Option<u32>,
    /// The first mapping that growth was excused for. There is no second one: an allocator that reserves one arena after the
    /// other would never be full.
    excused: Option<u32>,
    /// What the run held when the mapping was read as full.
    memory_when_full: Option<f64>,
    memory: f64,
}

/// What was read, in bytes.
#[derive(Debug, Clone, Copy)]
struct Reading {
    at: Seconds,
    size: f64,
    used: f64,
    memory: f64,
}

/// So many readings are kept: the first one, and the newest.
const KEPT: usize = 8;

/// Fewer readings show no course.
const FEWEST_READINGS: usize = 3;

/// The mapping explains growth if it got this share of it.
const EXPLAINS: f64 = 0.8;

/// It is full when less than this share of it is left: the ends of a buffer may never be used.
const FULL: f64 = 0.01;

/// Until growth is seen to have stopped where the mapping is full, it is excused for this share of its size more.
const OVERSHOOT: f64 = 0.05;

impl ReservedMapping {
    /// Takes the next observation.
    pub(super) fn observe(&mut self, observation: &Observation) {
        self.memory = observation.memory.0 as f64;
        match observation.filling {
            Some(reading) => self.read(reading),
            None => {
                self.readings.clear();
                self.number = None;
            }
        }
        if self.explains_growth() && self.excused.is_none() {
            self.excused = self.number;
        }
    }

    /// The mapping that is being filled, if it explains the growth.
    pub(super) fn reserved(&self) -> Option<Reserved> {
        let is_first = self.number.is_some() && self.excused == self.number;
        let newest = self.readings.back()?;
        (is_first && self.explains_growth()).then(|| Reserved {
            size: Amount(newest.size),
            left: Amount(self.left(newest)),
        })
    }

    fn read(&mut self, reading: FillingReading) {
        if self.number != Some(reading.mapping.number) {
            self.readings.clear();
            self.memory_when_full = None;
            self.number = Some(reading.mapping.number);
        }
        if self
            .readings
            .back()
            .is_some_and(|newest| newest.at == reading.at)
        {
            return;
        }
        if self.readings.len() == KEPT {
            // The first one shows the whole course.
            self.readings.remove(1);
        }
        let newest = Reading {
            at: reading.at,
            size: reading.mapping.size.0 as f64,
            used: reading.mapping.used.0 as f64,
            memory: self.memory,
        };
        if newest.size - newest.used <= FULL * newest.size {
            self.memory_when_full.get_or_insert(self.memory);
        }
        self.readings.push_back(newest);
    }

    fn explains_growth(&self) -> bool {
        let count = self.readings.len();
        let (Some(first), Some(newest)) = (self.readings.front(), self.readings.back()) else {
            return false;
        };
        if count < FEWEST_READINGS || !explains(first, newest) {
            return false;
        }
        let overshoot = OVERSHOOT * newest.size;
        match self.memory_when_full {
            Some(full) => self.memory - full <= overshoot,
            None => {
                explains(&self.readings[count - 2], newest)
                    && self.since(newest) <= newest.used - first.used
                    && self.since(newest) <= newest.size - newest.used + overshoot
            }
        }
    }

    /// What the run grew since the reading.
    fn since(&self, newest: &Reading) -> f64 {
        (self.memory - newest.memory).max(0.0)
    }

    /// What is left if all growth since the reading went into the mapping: it is never taken to be emptier than it may be.
    fn left(&self, newest: &Reading) -> f64 {
        (newest.size - newest.used - self.since(newest)).max(0.0)
    }
}

fn explains(before: &Reading, now: &Reading) -> bool {
    let (filled, grown) = (now.used - before.used, now.memory - before.memory);
    filled > 0.0 && filled >= EXPLAINS * grown
}

#[cfg(test)]
mod tests {
    use leveloff_model::recording::StatedFacts;
    use leveloff_model::sample::FillingMapping;
    use leveloff_model::units::{Bytes, Step};

    use super::*;
    use crate::observation::XUnit;
    use crate::run::RunJudge;
    use crate::verdict::Verdict;

    const MIB: u64 = 1 << 20;

    /// `memory`, and what is used of the mapping `number` of 600 MiB, each a second later.
    fn left(readings: &[(u64, Option<(u32, u64)>)]) -> Option<u64> {
        let mut mapping = ReservedMapping::default();
        for (second, (memory, used)) in readings.iter().enumerate() {
            let filling = used.map(|(number, used)| FillingReading {
                at: Seconds(second as f64),
                mapping: FillingMapping {
                    number,
                    size: Bytes(600 * MIB),
                    used: Bytes(used * MIB),
                },
            });
            mapping.observe(&Observation {
                memory: Bytes(memory * MIB),
                filling,
                ..Observation::default()
            });
        }
        mapping
            .reserved()
            .map(|reserved| reserved.left.0 as u64 / MIB)
    }

    #[test]
    fn three_readings_that_explain_the_growth_excuse_it() {
        let two = [(100, Some((1, 10))), (200, Some((1, 108)))];
        assert_eq!(left(&two), None);
        let third = (300, Some((1, 205)));
        assert_eq!(left(&[two[0], two[1], third]), Some(395));
    }

    #[test]
    fn growth_beside_it_is_not_excused() {
        let beside = [
            (100, Some((1, 10))),
            (200, Some((1, 60))),
            (300, Some((1, 110))),
        ];
        assert_eq!(left(&beside), None);
        let later = [
            (100, Some((1, 10))),
            (200, Some((1, 110))),
            (300, Some((1, 210))),
            (400, Some((1, 260))),
        ];
        assert_eq!(left(&later), None);
    }

    #[test]
    fn a_full_one_excuses_little_more_and_there_is_no_second() {
        let filled = [
            (100, Some((1, 10))),
            (400, Some((1, 310))),
            (600, Some((1, 500))),
            (700, Some((1, 599))),
        ];
        assert_eq!(left(&filled[..3]), Some(100));
        assert_eq!(left(&filled), Some(1));
        let mut full = filled.to_vec();
        full.push((735, Some((1, 600))));
        assert_eq!(left(&full), None);
        let next = [
            (800, Some((2, 10))),
            (900, Some((2, 110))),
            (1000, Some((2, 210))),
        ];
        let both: Vec<_> = full.into_iter().chain(next).collect();
        assert_eq!(left(&both), None);
    }

    /// A run of 1 MiB per step that fills a mapping of 600 MiB, or only seems to, and leaks after step 600 if `leaks`.
    fn verdicts(is_reserved: bool, leaks: bool) -> Vec<Verdict> {
        let mut judge = RunJudge::new(XUnit::Step, &StatedFacts::default());
        let mut verdicts = Vec::new();
        let mut filling = None;
        for step in 1..=1200u64 {
            let used = step.min(600);
            if is_reserved && step % 40 == 0 {
                filling = Some(FillingReading {
                    at: Seconds(step as f64),
                    mapping: FillingMapping {
                        number: 1,
                        size: Bytes(600 * MIB),
                        used: Bytes(used * MIB),
                    },
                });
            }
            let grown = if leaks { step } else { used };
            judge.observe(&Observation {
                t: Some(Seconds(step as f64)),
                filling,
                ..Observation::at_step(Step(step), Bytes((300 + grown) * MIB))
            });
            verdicts.push(judge.verdict().verdict);
        }
        verdicts
    }

    #[test]
    fn a_run_that_fills_a_buffer_is_level_in_the_end_and_never_a_leak() {
        let is_leak = |verdict: &Verdict| matches!(verdict, Verdict::Leak(_));
        let filled = verdicts(true, false);
        assert_eq!(filled.iter().position(is_leak), None);
        assert!(filled[1199].is_level());
        assert!(verdicts(false, false).iter().any(is_leak));
    }

    #[test]
    fn a_leak_behind_the_buffer_is_a_leak_and_never_level() {
        let leaking = verdicts(true, true);
        assert!(leaking[1199].is_alarm());
        // Before, it has hardly grown by what is material.
        let level = leaking[60..].iter().position(|verdict| verdict.is_level());
        assert_eq!(level, None);
    }
}
