//! The normal and the log-normal distribution.

use std::f64::consts::{FRAC_1_SQRT_2, PI};

/// P(Z ≤ z) for a standard normal Z.
pub fn normal_cdf(z: f64) -> f64 {
    0.5 * erfc(-z * FRAC_1_SQRT_2)
}

/// The z with P(Z ≤ z) = p; infinite at 0 and 1. By bisection on [`normal_cdf`], which is exact
/// enough and needs no table.
pub fn normal_quantile(p: f64) -> f64 {
    if p <= 0.0 {
        return f64::NEG_INFINITY;
    }
    if p >= 1.0 {
        return f64::INFINITY;
    }
    let (mut low, mut high) = (-40.0, 40.0);
    for _ in 0..80 {
        let middle = 0.5 * (low + high);
        if middle == low || middle == high {
            // Nothing lies between neighbours: no further round moves either of them.
            break;
        }
        if normal_cdf(middle) < p {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

/// P(W > w) for a log-normal W with this median and this standard deviation of its logarithm.
pub fn lognormal_survival(w: f64, median: f64, sigma: f64) -> f64 {
    if w <= 0.0 {
        return 1.0;
    }
    normal_cdf(-(w / median).ln() / sigma)
}

/// The w with P(W > w) = p.
pub fn lognormal_survival_inverse(p: f64, median: f64, sigma: f64) -> f64 {
    median * (-sigma * normal_quantile(p)).exp()
}

/// The complementary error function, to about 1e-15: its series (Abramowitz and Stegun 7.1.6) near
/// zero, its continued fraction (7.1.14) further out.
fn erfc(x: f64) -> f64 {
    if x < 0.0 {
        return 2.0 - erfc(-x);
    }
    if x < 2.5 {
        let (mut term, mut sum, mut n) = (x, x, 0.0);
        while term.abs() > 1e-17 * sum.abs() {
            n += 1.0;
            term *= 2.0 * x * x / (2.0 * n + 1.0);
            sum += term;
        }
        return 1.0 - 2.0 / PI.sqrt() * (-x * x).exp() * sum;
    }
    let mut fraction = x;
    for n in (1..=60).rev() {
        fraction = x + 0.5 * f64::from(n) / fraction;
    }
    (-x * x).exp() / (PI.sqrt() * fraction)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantile_undoes_the_distribution() {
        for p in [1e-9, 0.01, 0.3, 0.5, 0.975, 0.999_999] {
            assert!(
                (normal_cdf(normal_quantile(p)) / p - 1.0).abs() < 1e-9,
                "{p}"
            );
        }
    }

    #[test]
    fn half_of_all_outlive_the_median() {
        assert!((lognormal_survival(40.0, 40.0, 1.0) - 0.5).abs() < 1e-12);
        assert!((lognormal_survival_inverse(0.0117, 40.0, 1.0) - 386.0).abs() < 1.0);
    }
}
