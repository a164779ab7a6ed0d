//! How much memory a run that levelled off needs.

use leveloff_classifier::verdict::Judgement;
use leveloff_model::units::Bytes;

use super::bytes;

/// Samples miss peaks that lie between them, and the next run's data are others: a rule of thumb.
const NEEDED: f64 = 1.1;

/// Room for another evaluation set, a longer batch and the page cache: a rule of thumb as well.
const COMFORTABLE: f64 = 1.5;

/// `baseline 5.4 GiB · level 17.4 GiB · peak 17.7 GiB → 20 GiB needed, 32 GiB comfortable`
pub fn sizing(memory: &Judgement) -> Option<String> {
    let (extremes, level) = memory.extremes.zip(memory.level)?;
    let needed = rounded_up(extremes.peak * NEEDED);
    let comfortable = machine_size(needed.max(extremes.peak * COMFORTABLE));
    Some(format!(
        "baseline {} · level {} · peak {} → {} needed, {} comfortable",
        bytes(extremes.first),
        bytes(level),
        bytes(extremes.peak),
        short(needed),
        short(comfortable)
    ))
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

/// `20 GiB`, for sizes that are whole.
fn short(amount: f64) -> String {
    Bytes(amount as u64).to_string().replace(".0 ", " ")
}

/// No machine is sold with less; keeps the logarithm finite.
const SMALLEST: f64 = GIB / 1024.0;

const GIB: f64 = 1073741824.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_ones_that_can_be_bought() {
        assert_eq!(short(rounded_up(17.7 * GIB * NEEDED)), "20 GiB");
        assert_eq!(short(machine_size(17.7 * GIB * COMFORTABLE)), "32 GiB");
        assert_eq!(short(machine_size(40.0 * GIB)), "48 GiB");
        assert_eq!(short(rounded_up(0.3 * GIB * NEEDED)), "384 MiB");
        assert_eq!(short(machine_size(0.3 * GIB * COMFORTABLE)), "512 MiB");
        assert_eq!(short(machine_size(0.0)), "1 MiB");
        assert_eq!(short(rounded_up(1.7 * GIB / 1024.0 * NEEDED)), "2 MiB");
    }
}
