//! Lasting jumps.

use super::prepared_curve::PreparedCurve;
use crate::stats::median;

/// Jumps up that stayed.
#[derive(Debug, Clone, PartialEq)]
pub struct Stairs {
    /// Where they are.
    pub at: Vec<f64>,
    /// Their sizes.
    pub sizes: Vec<f64>,
    /// The usual distance between them.
    pub gap: f64,
    /// How uneven the distances are: their standard deviation in units of their mean.
    pub unevenness: f64,
    /// Whether they make up most of the growth.
    pub explain_growth: bool,
    /// Whether the newest is so old that they seem to have ended.
    pub over: bool,
}

/// A jump is larger than this many standard deviations of the noise.
const JUMP_SIGMAS: f64 = 4.0;

/// And than this share of what is material.
const JUMP_OF_MATERIAL: f64 = 0.25;

impl Stairs {
    /// The jumps of a curve.
    pub fn of(prepared: &PreparedCurve<'_>) -> Stairs {
        let stretches: Vec<_> = prepared
            .segments
            .ranges()
            .map(|range| (prepared.line(range.clone()), range))
            .collect();
        let smallest =
            (JUMP_SIGMAS * prepared.noise.sigma).max(JUMP_OF_MATERIAL * prepared.material);
        let (mut at, mut sizes, mut ups, mut downs) = (Vec::new(), Vec::new(), 0.0, 0.0);
        for pair in stretches.windows(2) {
            let ((left, older), (right, newer)) = (&pair[0], &pair[1]);
            let x = 0.5 * (prepared.x[older.end - 1] + prepared.x[newer.start]);
            let jump = right.at(x) - left.at(x);
            if jump > smallest {
                at.push(x);
                sizes.push(jump);
                ups += jump;
            } else if -jump > smallest {
                downs -= jump;
            }
        }
        let gaps: Vec<f64> = at.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let gap = median(&mut gaps.clone());
        let mean = gaps.iter().sum::<f64>() / gaps.len().max(1) as f64;
        let spread = gaps.iter().map(|g| (g - mean).powi(2)).sum::<f64>();
        let unevenness = (spread / gaps.len().max(1) as f64).sqrt() / mean.max(f64::MIN_POSITIVE);
        let few = prepared.len().min(3);
        let net = median(&mut prepared.y[prepared.len() - few..].to_vec())
            - median(&mut prepared.y[..few].to_vec());
        let newest = at.last().copied().unwrap_or(prepared.begin());
        Stairs {
            explain_growth: net > prepared.material && ups - downs > 0.5 * net,
            over: prepared.end() - newest > 2.5 * gap,
            at,
            sizes,
            gap,
            unevenness,
        }
    }

    /// Whether it stood still before, again and again, and went up after all: then standing still
    /// now is no plateau until it lasts longer than it did then.
    pub fn may_go_on(&self) -> bool {
        self.at.len() >= 3 && self.explain_growth && !self.over
    }

    /// Whether they come again and again, regularly enough that more are to be expected.
    pub fn go_on(&self) -> bool {
        let regular = match self.at.len() {
            0..=2 => return false,
            3 => 0.2,
            4 | 5 => 0.35,
            _ => 0.7,
        };
        self.explain_growth && !self.over && self.unevenness < regular
    }
}
