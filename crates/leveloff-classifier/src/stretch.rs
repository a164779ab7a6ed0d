//! A part of a run, cut into pieces of equal length: what runs are compared by, and how fast they go.

use crate::observation::XUnit;
use crate::run_curves::{CurveSpan, RunCurves, Series};
use crate::stats::median;
use crate::units::X;

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

/// A stretch is cut into so many parts of equal length.
const BLOCKS: usize = 8;

/// In fewer of them nothing can be said of the noise.
const FEWEST_BLOCKS: usize = 6;

/// The pieces of a stretch of a run.
#[derive(Debug)]
pub(crate) struct Blocks([Block; BLOCKS]);

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
    pub(crate) fn logarithm(self) -> Estimate {
        Estimate {
            value: self.value.ln(),
            error: self.error / self.value,
        }
    }
}

impl Blocks {
    pub(crate) fn of(curves: &RunCurves, unit: XUnit, stretch: Stretch) -> Blocks {
        let mut blocks: [Block; BLOCKS] = Default::default();
        for span in curves.spans() {
            let place = span.place(unit).map(|place| 0.5 * (place.low + place.high));
            if let Some(place) = place
                && let Some(block) = stretch.block(place)
            {
                blocks[block].push(place, span);
            }
        }
        Blocks(blocks)
    }

    /// The median place and memory of each piece; `None` if too few have a sample.
    pub(crate) fn medians(&mut self) -> Option<Vec<(f64, f64)>> {
        let medians: Vec<(f64, f64)> = self.0.iter_mut().filter_map(Block::medians).collect();
        (medians.len() >= FEWEST_BLOCKS).then_some(medians)
    }

    /// Seconds for each unit of x, from piece to piece: the mean of the whole, with the spread of the pieces as its error.
    pub(crate) fn pace(&self) -> Option<Estimate> {
        let ends: Vec<(f64, f64)> = self.0.iter().filter_map(|block| block.furthest).collect();
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
}

/// The samples in one part of a stretch.
#[derive(Debug, Default)]
struct Block {
    places: Vec<f64>,
    memory: Vec<f64>,
    /// The furthest place, and when it was first seen: a run may stay at its last step for long, to save or to shut down.
    furthest: Option<(f64, f64)>,
}

impl Block {
    fn push(&mut self, place: f64, span: &CurveSpan) {
        if let Some(memory) = span.value(Series::Memory) {
            self.places.push(place);
            self.memory.push(0.5 * (memory.low + memory.high));
        }
        if let Some(t) = span.t {
            let now = (place, 0.5 * (t.low + t.high));
            if self.furthest.is_none_or(|(before, _)| before < place) {
                self.furthest = Some(now);
            }
        }
    }

    fn medians(&mut self) -> Option<(f64, f64)> {
        (!self.memory.is_empty()).then(|| (median(&mut self.places), median(&mut self.memory)))
    }
}
