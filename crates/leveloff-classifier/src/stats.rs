//! The estimators that a verdict is made of. Each names its source, and is held to the value of an
//! independent program by `tests/reference_values.rs`.

mod autocorrelation;
mod distributions;
mod moments;
mod robust;

pub use autocorrelation::{cautious_inflation, lag_one, variance_inflation};
pub use distributions::{
    lognormal_survival, lognormal_survival_inverse, normal_cdf, normal_quantile, student_cdf,
    student_quantile,
};
pub use moments::{Curvature, LineFit, Moments};
pub use robust::{mad, median, quantile};
