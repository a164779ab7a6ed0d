//! A made-up run: its curve in megabytes, and the only way in which the tests of it ask the judge.

use leveloff_classifier::curve::Curve;
use leveloff_classifier::judge::{Facts, Quantity, judge};
use leveloff_classifier::observation::{Observation, XUnit};
use leveloff_classifier::run::RunJudge;
use leveloff_classifier::units::{Amount, X};
use leveloff_classifier::verdict::{Judgement, RunVerdict};
use leveloff_model::recording::StatedFacts;
use leveloff_model::units::{Bytes, Limit, Step};

use crate::chance::Chance;

/// A megabyte, the unit of most bug reports.
pub const MB: f64 = 1e6;

/// A curve, and what is known beside it.
#[derive(Debug, Clone)]
pub struct Run {
    pub unit: XUnit,
    pub level_by: Option<u64>,
    pub planned: Option<u64>,
    pub epoch: Option<u64>,
    /// In megabytes.
    pub limit: Option<f64>,
    /// x, and megabytes there.
    pub points: Vec<(f64, f64)>,
}

impl Run {
    /// A run of training steps.
    pub fn of(points: impl IntoIterator<Item = (f64, f64)>) -> Run {
        Run {
            unit: XUnit::Step,
            level_by: None,
            planned: None,
            epoch: None,
            limit: None,
            points: points.into_iter().collect(),
        }
    }

    /// `steps` steps, with as many megabytes at each as `curve` says.
    pub fn steps(steps: u32, curve: impl Fn(f64) -> f64) -> Run {
        Run::of((0..steps).map(|step| (f64::from(step), curve(f64::from(step)))))
    }

    /// The same with noise of so many megabytes.
    pub fn noisy(mut self, megabytes: f64) -> Run {
        let mut chance = Chance::new(20_251_020);
        for (_, y) in &mut self.points {
            *y += megabytes * chance.normal();
        }
        self
    }

    pub fn over(self, unit: XUnit) -> Run {
        Run { unit, ..self }
    }

    pub fn level_by(self, step: u64) -> Run {
        Run {
            level_by: Some(step),
            ..self
        }
    }

    pub fn planned(self, step: u64) -> Run {
        Run {
            planned: Some(step),
            ..self
        }
    }

    pub fn epoch(self, steps: u64) -> Run {
        Run {
            epoch: Some(steps),
            ..self
        }
    }

    pub fn limit(self, megabytes: f64) -> Run {
        Run {
            limit: Some(megabytes),
            ..self
        }
    }

    /// Every beginning of it, shortest first.
    pub fn prefixes(&self) -> impl Iterator<Item = Run> + '_ {
        (1..=self.points.len()).map(|points| Run {
            points: self.points[..points].to_vec(),
            ..self.clone()
        })
    }

    /// The last x.
    pub fn end(&self) -> f64 {
        self.points.last().unwrap().0
    }

    pub fn curve(&self) -> Curve {
        let mut curve = Curve::default();
        for &(x, megabytes) in &self.points {
            curve.push(x, megabytes * MB);
        }
        curve
    }

    /// What is said of the curve alone.
    pub fn judged(&self) -> Judgement {
        let facts = Facts {
            level_by: self.level_by.map(|step| X(step as f64)),
            planned: self.planned.map(|step| X(step as f64)),
            epoch: self.epoch.map(|step| X(step as f64)),
            limit: self.limit.map(|megabytes| Amount(megabytes * MB)),
            ..Facts::default()
        };
        judge(&self.curve(), self.unit, Quantity::Memory, &facts)
    }

    /// What is said of it as a run of which nothing else is known.
    pub fn judged_as_a_run(&self) -> RunVerdict {
        let stated = StatedFacts {
            level_by: self.level_by.map(Step),
            planned_steps: self.planned.map(Step),
            epoch_steps: self.epoch.map(Step),
            limit: self.limit.map(|mb| Limit::Size(bytes(mb))),
            ..StatedFacts::default()
        };
        let mut judge = RunJudge::new(self.unit, &stated);
        for &(x, megabytes) in &self.points {
            judge.observe(&Observation {
                count: Some(x),
                memory: bytes(megabytes),
                ..Observation::default()
            });
        }
        judge.verdict()
    }
}

pub fn bytes(megabytes: f64) -> Bytes {
    Bytes((megabytes * MB).round() as u64)
}
