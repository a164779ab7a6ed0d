//! The normal, the log-normal and Student's distribution.

use std::f64::consts::{FRAC_1_SQRT_2, PI};

/// P(Z ≤ z) for a standard normal Z.
pub fn normal_cdf(z: f64) -> f64 {
    0.5 * erfc(-z * FRAC_1_SQRT_2)
}

/// The z with P(Z ≤ z) = p; infinite at 0 and 1. By bisection on [`normal_cdf`], which is exact
/// enough and needs no table.
pub fn normal_quantile(p: f64) -> f64 {
    bisected(normal_cdf, p, 40.0)
}

/// P(T ≤ t) for Student's T with this many degrees of freedom, which need not be whole.
pub fn student_cdf(t: f64, freedom: f64) -> f64 {
    let tail = 0.5 * incomplete_beta(0.5 * freedom, 0.5, freedom / (freedom + t * t));
    if t < 0.0 { tail } else { 1.0 - tail }
}

/// The t with P(T ≤ t) = p; infinite at 0 and 1.
pub fn student_quantile(p: f64, freedom: f64) -> f64 {
    // With half a degree of freedom, so far out lies less than one in a million.
    bisected(|t| student_cdf(t, freedom), p, 1e13)
}

/// Where a distribution reaches `p`, within `most` on either side.
fn bisected(cdf: impl Fn(f64) -> f64, p: f64, most: f64) -> f64 {
    if p <= 0.0 {
        return f64::NEG_INFINITY;
    }
    if p >= 1.0 {
        return f64::INFINITY;
    }
    let (mut low, mut high) = (-most, most);
    for _ in 0..140 {
        let middle = 0.5 * (low + high);
        if middle == low || middle == high {
            // Nothing lies between neighbours: no further round moves either of them.
            break;
        }
        if cdf(middle) < p {
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

/// The regularised incomplete beta function I_x(a, b), by its continued fraction (DLMF 8.17.22) and
/// its symmetry, evaluated as Lentz does.
fn incomplete_beta(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 || x >= 1.0 {
        return x.clamp(0.0, 1.0);
    }
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - incomplete_beta(b, a, 1.0 - x);
    }
    let log_beta = log_gamma(a) + log_gamma(b) - log_gamma(a + b);
    let front = (a * x.ln() + b * (1.0 - x).ln() - log_beta).exp() / a;
    let away_from_zero = |value: f64| if value.abs() < 1e-300 { 1e-300 } else { value };
    let mut d = 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0));
    let (mut c, mut fraction) = (1.0, d);
    for m in 1..500 {
        let m = f64::from(m);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        for term in [even, odd] {
            d = 1.0 / away_from_zero(1.0 + term * d);
            c = away_from_zero(1.0 + term / c);
            fraction *= c * d;
        }
        if (c * d - 1.0).abs() < 1e-15 {
            break;
        }
    }
    front * fraction
}

/// ln Γ(x) for x > 0: shifted up to where Stirling's series (DLMF 5.11.1) is exact enough.
fn log_gamma(x: f64) -> f64 {
    const SERIES_FROM: f64 = 15.0;
    if x < SERIES_FROM {
        return log_gamma(x + 1.0) - x.ln();
    }
    let y = 1.0 / (x * x);
    let series = (1.0 / 12.0 - y * (1.0 / 360.0 - y * (1.0 / 1260.0 - y / 1680.0))) / x;
    (x - 0.5) * x.ln() - x + 0.5 * (2.0 * PI).ln() + series
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
