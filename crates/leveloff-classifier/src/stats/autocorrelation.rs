//! How much one value predicts the next.

/// The highest autocorrelation that is believed: beyond it no length of a series would be enough.
const HIGHEST: f64 = 0.98;

/// Lag-one autocorrelation of residuals around zero, 0 for fewer than four.
pub fn lag_one(residuals: &[f64]) -> f64 {
    if residuals.len() < 4 {
        return 0.0;
    }
    let power: f64 = residuals.iter().map(|r| r * r).sum();
    let shared: f64 = residuals.windows(2).map(|pair| pair[0] * pair[1]).sum();
    if power > 0.0 { shared / power } else { 0.0 }
}

/// By how much positive autocorrelation of this size inflates the variance of a mean: a series of m
/// points is worth m divided by this (Bayley and Hammersley, 1946). The estimate from m residuals
/// is too low by about (1 + 3ρ)/m (Kendall, 1954), which is added back first.
pub fn variance_inflation(autocorrelation: f64, points: usize) -> f64 {
    let bias = (1.0 + 3.0 * autocorrelation) / points.max(1) as f64;
    inflation(autocorrelation + bias)
}

/// The same for the highest autocorrelation that is likely, for statements that must hold at every
/// look. Residuals of a line hide more of it than those of a mean: measured, about (2 + 5ρ)/m. To
/// that the upper end of its sampling error is added, √((1 − ρ²)/m) wide (Bartlett, 1946).
pub fn cautious_inflation(autocorrelation: f64, points: usize) -> f64 {
    /// Three in ten are higher: more caution costs more missed leaks than it saves wrong rates.
    const UPPER: f64 = 0.5;
    let n = points.max(1) as f64;
    let bias = (2.0 + 5.0 * autocorrelation) / n;
    let error = ((1.0 - autocorrelation * autocorrelation).max(0.0) / n).sqrt();
    inflation(autocorrelation + bias + UPPER * error)
}

fn inflation(rho: f64) -> f64 {
    let rho = rho.clamp(0.0, HIGHEST);
    (1.0 + rho) / (1.0 - rho)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alternating_residuals_inflate_nothing() {
        let residuals: Vec<f64> = (0..100)
            .map(|i| if i % 2 == 0 { 1.0 } else { -1.0 })
            .collect();
        assert!(lag_one(&residuals) < -0.9);
        assert_eq!(variance_inflation(lag_one(&residuals), 100), 1.0);
    }

    #[test]
    fn a_drift_inflates_a_lot() {
        let residuals: Vec<f64> = (0..100).map(|i| f64::from(i) - 49.5).collect();
        assert!(variance_inflation(lag_one(&residuals), 100) > 20.0);
    }
}
