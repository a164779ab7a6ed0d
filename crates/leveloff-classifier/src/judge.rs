//! The verdict on one curve.

use crate::curve::Curve;
use crate::observation::XUnit;
use crate::verdict::{Because, Judgement, Shape, Verdict};

/// What is known beside the curve itself, in its own units.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Facts {
    /// It must have levelled off by this x.
    pub level_by: Option<f64>,
    /// The run is going to end at this x.
    pub planned: Option<f64>,
    /// The length of an epoch.
    pub epoch: Option<f64>,
    /// The value at which it meets a ceiling.
    pub limit: Option<f64>,
}

/// What a curve is about: decides how long healthy growth of it lasts and what is worth a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// Memory of processes, in bytes.
    Memory,
    /// Shared memory or files in /dev/shm, in bytes: queues fill within a few steps.
    SharedMemory,
    /// Something counted: descriptors, processes, tensors.
    Count,
}

/// Judges a curve.
pub fn judge(curve: &Curve, unit: XUnit, quantity: Quantity, facts: &Facts) -> Judgement {
    let _ = (unit, quantity, facts);
    Judgement {
        verdict: Verdict::Undecided,
        shape: Shape::Flat,
        rate: None,
        onset_x: None,
        onset_level: None,
        level: None,
        level_since_x: None,
        decided_at_x: None,
        decide_by: None,
        because: Because::TooFewPoints { missing: 1 },
        healthy_share: None,
        noise: 0.0,
        autocorrelation: 0.0,
        period: None,
        material: 0.0,
        span: None,
        extremes: None,
        points: curve.points(),
    }
}
