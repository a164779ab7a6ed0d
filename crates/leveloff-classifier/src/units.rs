//! Quantities of a curve. What x and y count differs from run to run and from series to series, so the type says
//! which axis a number belongs to, and the verdict says what that axis counts.
//!
//! ```
//! use leveloff_classifier::units::{Amount, AmountPerX, X};
//!
//! let grown = AmountPerX(2.0 * 1024.0 * 1024.0) * X(300.0);
//! assert_eq!(grown.bytes().to_string(), "600 MiB");
//! assert_eq!(Amount(1e9) / AmountPerX(1e6), X(1000.0));
//! ```

use std::ops::{Add, Div, Mul, Sub};

use leveloff_model::units::{ByteDelta, Bytes};
use serde::Serialize;

use crate::observation::XUnit;

/// A position on a run's x axis, or a length of it. [`RunVerdict::x_unit`](crate::verdict::RunVerdict::x_unit)
/// says what it counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, PartialOrd, Serialize)]
#[serde(transparent)]
pub struct X(pub f64);

/// An amount of what a series measures: bytes, or a number of descriptors, processes or tensors. The
/// [`Subject`](crate::verdict::Subject) of the series says which.
#[derive(Debug, Clone, Copy, Default, PartialEq, PartialOrd, Serialize)]
#[serde(transparent)]
pub struct Amount(pub f64);

/// Growth: an amount for each unit of x.
#[derive(Debug, Clone, Copy, Default, PartialEq, PartialOrd, Serialize)]
#[serde(transparent)]
pub struct AmountPerX(pub f64);

/// A position on the x axis, with what the axis counts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Position {
    /// How far along.
    pub x: X,
    /// What x counts.
    pub unit: XUnit,
}

impl X {
    /// The smaller of two.
    pub fn min(self, other: X) -> X {
        X(self.0.min(other.0))
    }

    /// The larger of two.
    pub fn max(self, other: X) -> X {
        X(self.0.max(other.0))
    }
}

impl Amount {
    /// The larger of two.
    pub fn max(self, other: Amount) -> Amount {
        Amount(self.0.max(other.0))
    }

    /// As memory, never below zero. Only for a series of bytes.
    pub fn bytes(self) -> Bytes {
        Bytes(self.0.max(0.0).round() as u64)
    }

    /// As a change of memory. Only for a series of bytes.
    pub fn byte_delta(self) -> ByteDelta {
        ByteDelta(self.0.round() as i64)
    }
}

impl From<Bytes> for Amount {
    fn from(bytes: Bytes) -> Amount {
        Amount(bytes.0 as f64)
    }
}

impl Add for X {
    type Output = X;
    fn add(self, other: X) -> X {
        X(self.0 + other.0)
    }
}

impl Sub for X {
    type Output = X;
    fn sub(self, other: X) -> X {
        X(self.0 - other.0)
    }
}

impl Sub for Amount {
    type Output = Amount;
    fn sub(self, other: Amount) -> Amount {
        Amount(self.0 - other.0)
    }
}

impl Add for AmountPerX {
    type Output = AmountPerX;
    fn add(self, other: AmountPerX) -> AmountPerX {
        AmountPerX(self.0 + other.0)
    }
}

impl Mul<X> for AmountPerX {
    type Output = Amount;
    fn mul(self, x: X) -> Amount {
        Amount(self.0 * x.0)
    }
}

impl Div<X> for Amount {
    type Output = AmountPerX;
    fn div(self, length: X) -> AmountPerX {
        AmountPerX(self.0 / length.0)
    }
}

impl Div<AmountPerX> for Amount {
    type Output = X;
    fn div(self, rate: AmountPerX) -> X {
        X(self.0 / rate.0)
    }
}
