//! Location and scale that a few wild values cannot move.

/// Turns a median absolute deviation into the standard deviation of a normal sample: 1/Φ⁻¹(3/4).
const MAD_TO_SIGMA: f64 = 1.482_602_218_505_602;

/// The median; 0 of nothing. Reorders `values`.
pub fn median(values: &mut [f64]) -> f64 {
    quantile(values, 0.5)
}

/// The `q`-quantile with linear interpolation (type 7 of Hyndman and Fan, 1996, which numpy uses); 0
/// of nothing. Reorders `values`.
pub fn quantile(values: &mut [f64], q: f64) -> f64 {
    if values.is_empty() {
        return 0.0;
    }
    let position = q.clamp(0.0, 1.0) * (values.len() - 1) as f64;
    let below = position as usize;
    let (_, &mut low, above) = values.select_nth_unstable_by(below, f64::total_cmp);
    let fraction = position - below as f64;
    if fraction == 0.0 {
        return low;
    }
    let high = above.iter().copied().fold(f64::INFINITY, f64::min);
    low + (high - low) * fraction
}

/// The median absolute deviation from `centre`, scaled to the standard deviation of a normal sample
/// (Hampel, 1974). Overwrites `values`.
pub fn mad(values: &mut [f64], centre: f64) -> f64 {
    for value in &mut *values {
        *value = (*value - centre).abs();
    }
    MAD_TO_SIGMA * median(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wild_value_moves_neither() {
        assert_eq!(median(&mut [3.0, 1.0, 1e9, 2.0, 4.0]), 3.0);
        assert!(mad(&mut [3.0, 1.0, 1e9, 2.0, 4.0], 3.0) < 1.5);
    }

    #[test]
    fn nothing_has_no_spread() {
        assert_eq!(median(&mut []), 0.0);
        assert_eq!(mad(&mut [], 0.0), 0.0);
    }

    #[test]
    fn quantiles_interpolate() {
        assert_eq!(quantile(&mut [4.0, 1.0, 3.0, 2.0], 0.5), 2.5);
        assert_eq!(quantile(&mut [4.0, 1.0, 3.0, 2.0], 1.0), 4.0);
    }
}
