//! One run of a trial over a stretch: its growth, its pace and its level.

use crate::observation::XUnit;
use crate::run_curves::RunCurves;
use crate::stretch::{Blocks, Estimate, Stretch};
use crate::units::Amount;

/// One run over a stretch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RunOver {
    /// The stretch.
    pub stretch: Stretch,
    /// Growth of memory, in bytes for each unit of x.
    pub growth: Estimate,
    /// Seconds for each unit of x; `None` where x is time, or time is not known.
    pub pace: Option<Estimate>,
    /// Memory in the last part of the stretch.
    pub level: Amount,
}

/// Memory is given out in pages.
const PAGE: f64 = 4096.0;

impl RunOver {
    /// Measures a run over a stretch. `None` if it has too few samples there.
    pub fn of(curves: &RunCurves, unit: XUnit, stretch: Stretch) -> Option<RunOver> {
        let mut blocks = Blocks::of(curves, unit, stretch);
        let medians = blocks.medians()?;
        let (_, level) = *medians.last()?;
        Some(RunOver {
            stretch,
            growth: slope(&medians),
            pace: match unit {
                XUnit::Second => None,
                _ => blocks.pace(),
            },
            level: Amount(level),
        })
    }
}

/// A line by least squares. What lies beside it is the error.
fn slope(points: &[(f64, f64)]) -> Estimate {
    let n = points.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / n;
    let (mean_x, mean_y) = (mean(|it| it.0), mean(|it| it.1));
    let sum = |of: &dyn Fn(f64, f64) -> f64| -> f64 {
        points.iter().map(|(x, y)| of(x - mean_x, y - mean_y)).sum()
    };
    let (xx, xy) = (sum(&|x, _| x * x), sum(&|x, y| x * y));
    let slope = xy / xx;
    let residuals = sum(&|x, y| (y - slope * x).powi(2));
    let variance = (residuals / (n - 2.0)).max(PAGE * PAGE);
    Estimate {
        value: slope,
        error: (variance / xx).sqrt(),
    }
}
