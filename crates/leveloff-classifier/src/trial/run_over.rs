//! One run of a trial over a stretch: its growth, its pace and its level.

use crate::observation::XUnit;
use crate::run_curves::{CurveSpan, RunCurves, Series};
use crate::stats::median;
use crate::units::{Amount, X};

/// The part of a run that is compared.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stretch {
    /// Its first x.
    pub from: X,
    /// Its last x.
    pub to: X,
}

/// A number with its standard error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The number.
    pub value: f64,
    /// Its standard error.
    pub error: f64,
}

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

/// A stretch is cut into so many parts of equal length.
const BLOCKS: usize = 8;

/// In fewer of them nothing can be said of the noise.
const FEWEST_BLOCKS: usize = 6;

/// Memory is given out in pages.
const PAGE: f64 = 4096.0;

impl Stretch {
    /// How much x it spans.
    pub fn length(self) -> f64 {
        (self.to.0 - self.from.0).max(f64::MIN_POSITIVE)
    }

    /// The part of the stretch that a place belongs to.
    fn block(self, place: f64) -> Option<usize> {
        let share = (place - self.from.0) / self.length();
        let block = (share * BLOCKS as f64).floor();
        (0.0..=1.0)
            .contains(&share)
            .then_some((block as usize).min(BLOCKS - 1))
    }
}

impl Estimate {
    /// Of the logarithm, to the first order.
    pub(super) fn logarithm(self) -> Estimate {
        Estimate {
            value: self.value.ln(),
            error: self.error / self.value,
        }
    }
}

impl RunOver {
    /// Measures a run over a stretch. `None` if it has too few samples there.
    pub fn of(curves: &RunCurves, unit: XUnit, stretch: Stretch) -> Option<RunOver> {
        let mut blocks: [Block; BLOCKS] = Default::default();
        for span in curves.spans() {
            let place = span.place(unit).map(|place| 0.5 * (place.low + place.high));
            if let Some(place) = place
                && let Some(block) = stretch.block(place)
            {
                blocks[block].push(place, span);
            }
        }
        let medians: Vec<(f64, f64)> = blocks.iter_mut().filter_map(Block::medians).collect();
        if medians.len() < FEWEST_BLOCKS {
            return None;
        }
        let (_, level) = *medians.last()?;
        Some(RunOver {
            stretch,
            growth: slope(&medians),
            pace: match unit {
                XUnit::Second => None,
                _ => pace(&blocks),
            },
            level: Amount(level),
        })
    }
}

/// The samples in one part of a stretch.
#[derive(Debug, Default)]
struct Block {
    places: Vec<f64>,
    memory: Vec<f64>,
    /// The first and the last sample with a time: x and seconds.
    timed: Option<[(f64, f64); 2]>,
}

impl Block {
    fn push(&mut self, place: f64, span: &CurveSpan) {
        if let Some(memory) = span.value(Series::Memory) {
            self.places.push(place);
            self.memory.push(0.5 * (memory.low + memory.high));
        }
        if let Some(t) = span.t {
            let now = (place, 0.5 * (t.low + t.high));
            let [first, _] = self.timed.unwrap_or([now, now]);
            self.timed = Some([first, now]);
        }
    }

    fn medians(&mut self) -> Option<(f64, f64)> {
        (!self.memory.is_empty()).then(|| (median(&mut self.places), median(&mut self.memory)))
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

/// Time over progress from part to part: the mean of the whole, with the spread of the parts as its error.
fn pace(blocks: &[Block]) -> Option<Estimate> {
    let ends: Vec<(f64, f64)> = blocks.iter().filter_map(|it| Some(it.timed?[1])).collect();
    let paces = ends.windows(2).map(|pair| {
        let [(x, t), (next_x, next_t)] = [pair[0], pair[1]];
        (next_t - t) / (next_x - x)
    });
    let paces: Vec<f64> = paces.filter(|pace| pace.is_finite()).collect();
    if paces.len() + 1 < FEWEST_BLOCKS {
        return None;
    }
    let (first, last) = (ends[0], ends[ends.len() - 1]);
    let value = (last.1 - first.1) / (last.0 - first.0);
    let n = paces.len() as f64;
    let squares: f64 = paces.iter().map(|pace| (pace - value).powi(2)).sum();
    (value > 0.0).then(|| Estimate {
        value,
        error: (squares / (n - 1.0) / n).sqrt(),
    })
}
