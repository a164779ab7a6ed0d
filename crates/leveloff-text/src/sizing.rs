//! How much memory a run needs: what a team writes into its job's request.

use leveloff_classifier::run_curves::{RunCurves, Series};
use leveloff_classifier::units::X;
use leveloff_classifier::verdict::{Judgement, RunVerdict};
use leveloff_model::training_counters::TrainingCounter;
use leveloff_model::units::Bytes;

use crate::verdict::bytes;

/// Samples miss peaks that lie between them, and the next run's data are others: a rule of thumb.
const NEEDED: f64 = 1.1;

/// Room for another evaluation set, a longer batch and the page cache: a rule of thumb as well.
const COMFORTABLE: f64 = 1.5;

/// The numbers that a machine is chosen by.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sizing {
    /// When the run began to count: the model is loaded.
    pub baseline: f64,
    /// Where it levelled off: at which x.
    pub warmup_end_x: Option<X>,
    /// Where it settled.
    pub level: f64,
    /// The highest of any sample.
    pub peak: f64,
    /// The least that it should be given.
    pub needed: f64,
    /// Enough room that memory needs no attention.
    pub comfortable: f64,
}

impl Sizing {
    /// Of a run's own memory, if it levelled off. For what grows without end no amount is enough.
    pub fn of_run(verdict: &RunVerdict) -> Option<Sizing> {
        let is_level = verdict.verdict.is_level();
        Sizing::of_memory(&verdict.memory).filter(|_| is_level)
    }

    /// Of a curve that levelled off.
    pub fn of_memory(memory: &Judgement) -> Option<Sizing> {
        let (extremes, level) = memory.extremes.zip(memory.level)?;
        let sizing = Sizing::new(extremes.first.0, level.0, extremes.peak.0);
        Some(Sizing {
            warmup_end_x: memory.level_since_x,
            ..sizing
        })
    }

    /// Of GPU memory, from the driver, or else from the training.
    pub fn of_gpu(curves: &RunCurves) -> Option<Sizing> {
        [Series::Gpu, Series::Counter(TrainingCounter::CudaReserved)]
            .into_iter()
            .find_map(|series| {
                let peak = curves.peak(series).filter(|peak| peak.0 > 0.0)?;
                let level = curves.settled(series)?;
                Some(Sizing::new(curves.baseline(series)?.0, level.0, peak.0))
            })
    }

    /// `baseline 5.4 GiB · level 17.4 GiB · peak 17.7 GiB → 20 GiB needed, 32 GiB comfortable`
    pub fn line(&self) -> String {
        format!(
            "baseline {} · level {} · peak {} → {} needed, {} comfortable",
            bytes(self.baseline),
            bytes(self.level),
            bytes(self.peak),
            whole(self.needed),
            whole(self.comfortable)
        )
    }

    fn new(baseline: f64, level: f64, peak: f64) -> Sizing {
        let needed = rounded_up(peak * NEEDED);
        Sizing {
            baseline,
            warmup_end_x: None,
            level,
            peak,
            needed,
            comfortable: machine_size(needed.max(peak * COMFORTABLE)),
        }
    }
}

/// `20 GiB`, for sizes that are whole.
pub fn whole(amount: f64) -> String {
    Bytes(amount as u64).to_string().replace(".0 ", " ")
}

/// Up to the next whole GiB; below 4 GiB to the next 64 MiB, below 256 MiB to the next 1 MiB.
fn rounded_up(amount: f64) -> f64 {
    let grain = if amount < GIB / 4.0 {
        GIB / 1024.0
    } else if amount < 4.0 * GIB {
        GIB / 16.0
    } else {
        GIB
    };
    (amount / grain).ceil() * grain
}

/// Memory comes in powers of two, and half-way between them.
fn machine_size(amount: f64) -> f64 {
    let power = amount.max(SMALLEST).log2().ceil().exp2();
    if power * 0.75 >= amount.max(SMALLEST) {
        power * 0.75
    } else {
        power
    }
}

/// No machine is sold with less; keeps the logarithm finite.
const SMALLEST: f64 = GIB / 1024.0;

const GIB: f64 = 1073741824.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_ones_that_can_be_bought() {
        assert_eq!(whole(rounded_up(17.7 * GIB * NEEDED)), "20 GiB");
        assert_eq!(whole(machine_size(17.7 * GIB * COMFORTABLE)), "32 GiB");
        assert_eq!(whole(machine_size(40.0 * GIB)), "48 GiB");
        assert_eq!(whole(rounded_up(0.3 * GIB * NEEDED)), "384 MiB");
        assert_eq!(whole(machine_size(0.3 * GIB * COMFORTABLE)), "512 MiB");
        assert_eq!(whole(machine_size(0.0)), "1 MiB");
        assert_eq!(whole(rounded_up(1.7 * GIB / 1024.0 * NEEDED)), "2 MiB");
    }
}
