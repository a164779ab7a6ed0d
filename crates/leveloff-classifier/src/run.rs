//! The verdict on a whole run.

use leveloff_model::recording::StatedFacts;

use crate::curve::Curve;
use crate::judge::{Facts, Quantity, judge};
use crate::observation::{Observation, XUnit};
use crate::verdict::{RunVerdict, Subject};

/// Follows a run, observation by observation, in bounded memory; can be asked at any time.
#[derive(Debug, Clone)]
pub struct RunJudge {
    unit: XUnit,
    memory: Curve,
    points: u64,
    facts: Facts,
}

impl RunJudge {
    /// A judge of a run whose [`Observation::count`] counts `unit`, with what the user stated.
    pub fn new(unit: XUnit, stated: &StatedFacts) -> RunJudge {
        RunJudge {
            unit,
            memory: Curve::default(),
            points: 0,
            facts: Facts {
                level_by: stated.level_by.map(|s| s.0 as f64),
                planned: stated.planned_steps.map(|s| s.0 as f64),
                epoch: stated.epoch_steps.map(|s| s.0 as f64),
                limit: None,
            },
        }
    }

    /// Takes the next observation.
    pub fn observe(&mut self, observation: &Observation) {
        self.points += 1;
        if let Some(x) = observation.count {
            self.memory.push(x, observation.memory.0 as f64);
        }
    }

    /// What can be said now.
    pub fn verdict(&self) -> RunVerdict {
        let memory = judge(&self.memory, self.unit, Quantity::Memory, &self.facts);
        RunVerdict {
            verdict: memory.verdict,
            shape: memory.shape,
            x_unit: self.unit,
            pace: None,
            decisive: Subject::Memory,
            judgement: memory.clone(),
            memory,
            risk: None,
            blame: Vec::new(),
            clock: None,
            findings: Vec::new(),
            subjects: Vec::new(),
            points: self.points,
            duration: None,
        }
    }
}
