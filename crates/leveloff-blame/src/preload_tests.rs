//! The parts of the library that need no process around them.

use crate::arithmetic::{ln, one_minus_exp_of_minus};

#[test]
fn the_logarithm_is_that_of_the_standard_library() {
    for n in 1..2000 {
        let x = f64::from(n) / 2000.0;
        assert!(
            (ln(x) - x.ln()).abs() < 1e-11 * x.ln().abs().max(1.0),
            "{x}"
        );
    }
    for exponent in -50..50 {
        let x = 1.37_f64 * 2_f64.powi(exponent);
        assert!((ln(x) - x.ln()).abs() < 1e-10, "{x}");
    }
}

#[test]
fn the_probability_is_that_of_the_standard_library() {
    for x in [1e-9, 1e-4, 0.01, 0.5, 1.0, 2.0, 10.0, 39.0, 41.0, 1e6] {
        let expected = -(-x_of(x)).exp_m1();
        assert!(
            (one_minus_exp_of_minus(x) / expected - 1.0).abs() < 1e-9,
            "{x}"
        );
    }
}

/// Keeps the argument of `exp_m1` a variable.
fn x_of(x: f64) -> f64 {
    x
}
