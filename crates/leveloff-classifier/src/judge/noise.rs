//! The noise of a curve, apart from its course.

use crate::stats::{mad, median, quantile};

/// The noise of a curve, seen as a first-order autoregressive process.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Noise {
    /// Its standard deviation.
    pub sigma: f64,
    /// Its autocorrelation from one point of the view to the next.
    pub rho: f64,
    /// No stretch is believed to be quieter than this.
    pub floor: f64,
}

/// Noise below this share of the level is not believed: memory is counted in pages, and logs round.
const FLOOR_SHARE: f64 = 1e-4;

/// A series that is rounded to steps of q has at least the rounding's own noise, q/√12.
const ROUNDING: f64 = 0.3;

/// In a shorter series, a single bend is in too many of the differences at lag four.
const ENOUGH_FOR_RHO: usize = 40;

/// In one that mostly stands still, the few differences that are left are those of the bend: it is in
/// eight of them, which must be less than one in ten.
const ENOUGH_IF_MOSTLY_STILL: usize = 120;

/// The highest autocorrelation that second differences can separate from a trend.
const HIGHEST_RHO: f64 = 0.97;

impl Noise {
    /// From second differences at lags one and four, which a trend does not touch and which jumps
    /// touch in few places only (a robust scale ignores those). For noise with autocorrelation ρ
    /// their variance at lag h is σ²(6 − 8ρʰ + 2ρ²ʰ): the two lags give both unknowns.
    pub fn of(y: &[f64]) -> Noise {
        let level = median(&mut y.to_vec()).abs();
        let rounding = ROUNDING * smallest_step(y);
        let few = 1.0 + 10.0 / y.len().max(1) as f64;
        let floor = (FLOOR_SHARE * level * few).max(rounding);
        let jumps = Jumps::of(y);
        let near = second_differences(y, 1, &jumps).map_or(0.0, |near| near.size);
        let white = (near / 6.0_f64.sqrt()).max(floor);
        let is_enough = |far: &Scale| match far.mostly_still {
            true => y.len() >= ENOUGH_IF_MOSTLY_STILL,
            false => y.len() >= ENOUGH_FOR_RHO,
        };
        let Some(far) = second_differences(y, 4, &jumps).filter(is_enough) else {
            return Noise {
                sigma: white,
                rho: 0.0,
                floor,
            };
        };
        let far = far.size;
        let ratio = if far > 0.0 { (near / far).powi(2) } else { 1.0 };
        let rho = autocorrelation_for(ratio);
        let sigma = (near / variance_factor(rho, 1).sqrt()).max(floor);
        Noise { sigma, rho, floor }
    }

    /// Points of the view that are worth one independent one.
    pub fn inflation(&self) -> f64 {
        (1.0 + self.rho) / (1.0 - self.rho)
    }
}

/// The smallest step of a series that often stands still, which is what it was rounded to. A series
/// that hardly ever repeats a value is not rounded by much.
fn smallest_step(y: &[f64]) -> f64 {
    let steps: Vec<f64> = y.windows(2).map(|pair| (pair[1] - pair[0]).abs()).collect();
    let still = steps.iter().filter(|&&step| step == 0.0).count();
    if 5 * still < steps.len() {
        return 0.0;
    }
    let moves = steps.into_iter().filter(|&step| step > 0.0);
    let smallest = moves.fold(f64::INFINITY, f64::min);
    if smallest.is_finite() { smallest } else { 0.0 }
}

/// Running counts of steps that are jumps, so that a stretch is known to hold none.
struct Jumps(Vec<u32>);

/// A step of more than this many usual ones is a jump.
const JUMP_STEPS: f64 = 8.0;

impl Jumps {
    fn of(y: &[f64]) -> Jumps {
        let steps: Vec<f64> = y.windows(2).map(|pair| (pair[1] - pair[0]).abs()).collect();
        let mut usual = median(&mut steps.clone());
        if usual == 0.0 {
            // A rounded series mostly stands still: the small steps that it does make count.
            let mut moves: Vec<f64> = steps.iter().copied().filter(|&step| step > 0.0).collect();
            usual = quantile(&mut moves, 0.25);
        }
        let mut counts = vec![0];
        for step in steps {
            let jump = usual > 0.0 && step > JUMP_STEPS * usual;
            counts.push(counts[counts.len() - 1] + u32::from(jump));
        }
        Jumps(counts)
    }

    fn between(&self, first: usize, last: usize) -> bool {
        self.0[last] > self.0[first]
    }
}

/// Fewer differences do not show their scale.
const FEWEST_DIFFERENCES: usize = 8;

/// How large differences are.
struct Scale {
    size: f64,
    /// More than half of them are nothing.
    mostly_still: bool,
}

/// A robust scale of y[i−h] − 2y[i] + y[i+h] where no jump is in between. Rounding makes many of
/// them zero; then the median alone would see no noise where there is some.
fn second_differences(y: &[f64], lag: usize, jumps: &Jumps) -> Option<Scale> {
    let mut differences: Vec<f64> = (lag..y.len().saturating_sub(lag))
        .filter(|&i| !jumps.between(i - lag, i + lag))
        .map(|i| y[i - lag] - 2.0 * y[i] + y[i + lag])
        .collect();
    if differences.len() < FEWEST_DIFFERENCES.min(y.len().saturating_sub(2)).max(1) {
        return None;
    }
    let scale = mad(&mut differences, 0.0);
    if scale > 0.0 {
        return Some(Scale {
            size: scale,
            mostly_still: false,
        });
    }
    /// Φ⁻¹(0.95): nine in ten absolute values of a normal sample are below so many σ.
    const NINE_IN_TEN: f64 = 1.644_853_626_951_5;
    Some(Scale {
        size: quantile(&mut differences, 0.9) / NINE_IN_TEN,
        mostly_still: true,
    })
}

fn variance_factor(rho: f64, lag: i32) -> f64 {
    let power = rho.powi(lag);
    6.0 - 8.0 * power + 2.0 * power * power
}

fn autocorrelation_for(ratio: f64) -> f64 {
    let at = |rho: f64| variance_factor(rho, 1) / variance_factor(rho, 4);
    let (mut low, mut high) = (0.0, HIGHEST_RHO);
    if ratio >= at(low) {
        return low;
    }
    if ratio <= at(high) {
        return high;
    }
    for _ in 0..40 {
        let middle = 0.5 * (low + high);
        if at(middle) > ratio {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}
