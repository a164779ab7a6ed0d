//! Least squares on any stretch of a series in constant time, from running sums.

use super::autocorrelation::cautious_inflation;
use super::{lag_one, variance_inflation};

/// Running sums over a series, so that a line through any stretch of it costs the same.
#[derive(Debug, Clone)]
pub struct Moments {
    sums: Vec<[f64; 5]>,
    /// 1/n: dividing by it thousands of times would take most of the time.
    inverse: Vec<f64>,
}

/// A straight line through a stretch of a series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LineFit {
    /// Growth per unit of x.
    pub slope: f64,
    /// Its standard error; widened for autocorrelated residuals by [`LineFit::over`].
    pub slope_error: f64,
    /// Mean of x.
    pub mean_x: f64,
    /// Mean of y.
    pub mean_y: f64,
    /// Standard deviation of the residuals.
    pub residual: f64,
    /// Points that it goes through.
    pub points: usize,
    /// Autocorrelation of the residuals.
    pub autocorrelation: f64,
}

/// How a stretch bends: a parabola through it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Curvature {
    /// Slope of the newer half divided by that of the older.
    pub slowing: f64,
    /// The lowest value of it that the data allow, at two standard errors.
    pub slowing_low: f64,
    /// The highest.
    pub slowing_high: f64,
}

impl Moments {
    /// Sums over the series; x and y should be scaled to about one, so that no digits are lost.
    pub fn new(x: &[f64], y: &[f64]) -> Moments {
        let mut sums = Vec::with_capacity(x.len() + 1);
        let mut sum = [0.0; 5];
        sums.push(sum);
        for (&x, &y) in x.iter().zip(y) {
            for (total, term) in sum.iter_mut().zip([x, y, x * x, x * y, y * y]) {
                *total += term;
            }
            sums.push(sum);
        }
        let inverse = (0..sums.len()).map(|n| 1.0 / n as f64).collect();
        Moments { sums, inverse }
    }

    /// Sum of squared residuals of the line through points `from..to`.
    pub fn line_cost(&self, from: usize, to: usize) -> f64 {
        let inverse = self.inverse[to - from];
        let [x, y, xx, xy, yy] = self.between(from, to);
        let (sxx, sxy) = (xx - x * x * inverse, xy - x * y * inverse);
        let syy = yy - y * y * inverse;
        let explained = if sxx > 0.0 { sxy * sxy / sxx } else { 0.0 };
        (syy - explained).max(0.0)
    }

    /// Slope of the line through points `from..to`.
    pub fn slope(&self, from: usize, to: usize) -> f64 {
        let n = (to - from) as f64;
        let [x, y, xx, xy, _] = self.between(from, to);
        let sxx = xx - x * x / n;
        if sxx > 0.0 {
            (xy - x * y / n) / sxx
        } else {
            0.0
        }
    }

    /// Mean of y over points `from..to`.
    pub fn mean_y(&self, from: usize, to: usize) -> f64 {
        self.between(from, to)[1] / (to - from).max(1) as f64
    }

    fn between(&self, from: usize, to: usize) -> [f64; 5] {
        std::array::from_fn(|i| self.sums[to][i] - self.sums[from][i])
    }
}

impl LineFit {
    /// Ordinary least squares through all points. The standard error assumes nothing of the noise
    /// but that its autocorrelation falls off like that of a first-order process: it is widened by
    /// [`variance_inflation`]. `least_residual` keeps a short lucky stretch from looking exact.
    pub fn over(x: &[f64], y: &[f64], least_residual: f64) -> LineFit {
        let n = x.len() as f64;
        let mean_x = x.iter().sum::<f64>() / n;
        let mean_y = y.iter().sum::<f64>() / n;
        let (mut sxx, mut sxy) = (0.0, 0.0);
        for (&x, &y) in x.iter().zip(y) {
            sxx += (x - mean_x) * (x - mean_x);
            sxy += (x - mean_x) * (y - mean_y);
        }
        let slope = if sxx > 0.0 { sxy / sxx } else { 0.0 };
        let residuals: Vec<f64> = x
            .iter()
            .zip(y)
            .map(|(&x, &y)| y - mean_y - slope * (x - mean_x))
            .collect();
        let power: f64 = residuals.iter().map(|r| r * r).sum();
        let residual = (power / (n - 2.0).max(1.0)).sqrt().max(least_residual);
        let autocorrelation = lag_one(&residuals);
        let inflation = variance_inflation(autocorrelation, x.len());
        LineFit {
            slope,
            slope_error: if sxx > 0.0 {
                residual * (inflation / sxx).sqrt()
            } else {
                f64::INFINITY
            },
            mean_x,
            mean_y,
            residual,
            points: x.len(),
            autocorrelation,
        }
    }

    /// The line's value at `x`.
    pub fn at(&self, x: f64) -> f64 {
        self.mean_y + self.slope * (x - self.mean_x)
    }

    /// Half the width of the slope's interval, safe to look at after every point: the bound of a
    /// normal mixture (Robbins, 1970; Howard and others, 2021), √(2 ln(1/α) + ln(1 + nₑ)) standard
    /// errors. Both the standard error and the autocorrelation are estimates from few residuals, so
    /// the autocorrelation is taken at the upper end of what it may be, and the bound is stretched
    /// as Student's t is wider than the normal.
    pub fn slope_reach(&self, alpha: f64) -> f64 {
        let cautious = cautious_inflation(self.autocorrelation, self.points);
        let worth = self.points as f64 / cautious;
        let z = (2.0 * (1.0 / alpha).ln() + (1.0 + worth).ln()).sqrt();
        let widened = (cautious / variance_inflation(self.autocorrelation, self.points)).sqrt();
        as_student(z, (worth - 2.0).max(FEWEST_FREEDOM)) * widened * self.slope_error
    }

    /// Half the width of the slope's 95 % interval for a single look. The noise is estimated from the same points, and of few
    /// points not well: four that happen to rise are no growth.
    pub fn slope_margin(&self) -> f64 {
        as_student(STANDARD_ERRORS, (self.points as f64 - 2.0).max(1.0)) * self.slope_error
    }
}

/// The normal quantile of a 95 % interval.
const STANDARD_ERRORS: f64 = 1.96;

/// The fewest degrees of freedom that are believed: below, the bound would say nothing at all, and
/// growth has to be older than healthy warmups anyway.
const FEWEST_FREEDOM: f64 = 4.0;

/// The quantile of Student's t that leaves out as much as `z` does of the normal, by the first terms
/// of its expansion (Fisher and Cornish, 1960).
fn as_student(z: f64, freedom: f64) -> f64 {
    let cubic = (z.powi(3) + z) / 4.0;
    let quintic = (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / 96.0;
    z + cubic / freedom + quintic / (freedom * freedom)
}

impl Curvature {
    /// A parabola through all points, by least squares on polynomials that are orthogonal over
    /// them. `None` for fewer than five points, or points that are all in one place.
    pub fn over(x: &[f64], y: &[f64], least_residual: f64) -> Option<Curvature> {
        if x.len() < 5 {
            return None;
        }
        let n = x.len() as f64;
        let middle = 0.5 * (x[0] + x[x.len() - 1]);
        let half = 0.5 * (x[x.len() - 1] - x[0]);
        if half <= 0.0 {
            return None;
        }
        let scaled = |x: f64| (x - middle) / half;
        // Orthogonal polynomials: 1, u − m, u² − p·u − q.
        let mut s = [0.0; 5];
        for &x in x {
            let u = scaled(x);
            let mut power = 1.0;
            for sum in &mut s {
                *sum += power;
                power *= u;
            }
        }
        let mean = s[1] / n;
        let s11 = s[2] - n * mean * mean;
        if s11 <= 0.0 {
            return None;
        }
        let p = (s[3] - s[2] * mean) / s11;
        let q = s[2] / n - p * mean;
        let (mut y0, mut y1, mut y2, mut s22) = (0.0, 0.0, 0.0, 0.0);
        for (&x, &y) in x.iter().zip(y) {
            let u = scaled(x);
            let second = u * u - p * u - q;
            y0 += y;
            y1 += y * (u - mean);
            y2 += y * second;
            s22 += second * second;
        }
        if s22 <= 0.0 {
            return None;
        }
        let (level, slope, bend) = (y0 / n, y1 / s11, y2 / s22);
        let residuals: Vec<f64> = x
            .iter()
            .zip(y)
            .map(|(&x, &y)| {
                let u = scaled(x);
                y - level - slope * (u - mean) - bend * (u * u - p * u - q)
            })
            .collect();
        let power: f64 = residuals.iter().map(|r| r * r).sum();
        let residual = (power / (n - 3.0)).sqrt().max(least_residual);
        let inflation = variance_inflation(lag_one(&residuals), x.len());
        let error = residual * (inflation / s22).sqrt();
        // The slope of level + slope·u + bend·(u² − p·u) over the halves of −1..1.
        let middle_slope = slope - bend * p;
        let ratio = |bend: f64| {
            let (older, newer) = (middle_slope - bend, middle_slope + bend);
            if older > 0.0 {
                newer / older
            } else {
                f64::INFINITY
            }
        };
        Some(Curvature {
            slowing: ratio(bend),
            slowing_low: ratio(bend - 2.0 * error),
            slowing_high: ratio(bend + 2.0 * error),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_found_and_is_straight() {
        let x: Vec<f64> = (0..50).map(f64::from).collect();
        let y: Vec<f64> = x.iter().map(|x| 3.0 + 2.0 * x).collect();
        let line = LineFit::over(&x, &y, 1e-6);
        assert!((line.slope - 2.0).abs() < 1e-12);
        assert!((line.at(100.0) - 203.0).abs() < 1e-9);
        let bend = Curvature::over(&x, &y, 1e-6).unwrap();
        assert!((bend.slowing - 1.0).abs() < 1e-6);
    }

    #[test]
    fn a_curve_that_slows_down_is_seen_to() {
        let x: Vec<f64> = (0..50).map(f64::from).collect();
        let y: Vec<f64> = x
            .iter()
            .map(|x| 100.0 * (1.0 - (-x / 50.0).exp()))
            .collect();
        let bend = Curvature::over(&x, &y, 1e-3).unwrap();
        assert!(bend.slowing_high < 0.8, "{bend:?}");
        assert!(bend.slowing_low > 0.4, "{bend:?}");
    }

    #[test]
    fn sums_over_a_stretch_agree_with_the_stretch_alone() {
        let x: Vec<f64> = (0..30).map(|i| f64::from(i) / 30.0).collect();
        let y: Vec<f64> = x.iter().map(|x| (7.0 * x).sin()).collect();
        let moments = Moments::new(&x, &y);
        let line = LineFit::over(&x[5..20], &y[5..20], 0.0);
        assert!((moments.slope(5, 20) - line.slope).abs() < 1e-9);
        let cost = line.residual.powi(2) * 13.0;
        assert!((moments.line_cost(5, 20) - cost).abs() < 1e-9);
    }
}
