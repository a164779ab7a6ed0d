//! How long an epoch is, learned from a run that reports its epochs.

use leveloff_model::progress::MarkKind;

use crate::observation::Observation;

/// Learns the length of an epoch from the places where the epoch changed.
#[derive(Debug, Clone, Default)]
pub(super) struct EpochLength {
    said: Option<f64>,
    newest: Option<f64>,
    first_change: Option<(f64, f64)>,
    last_change: Option<(f64, f64)>,
}

impl EpochLength {
    /// A change smaller than this share of an epoch measures rounding, not length.
    const LEAST_CHANGE: f64 = 0.05;

    /// Takes the next observation at `x`.
    pub(super) fn observe(&mut self, x: f64, observation: &Observation) {
        if let Some(length) = observation.epoch_length {
            self.said = Some(length);
        }
        if let Some(epoch) = epoch_of(observation) {
            self.moved_to(x, epoch);
        }
    }

    /// The length that the run itself stated, in its own count.
    pub(super) fn said(&self) -> Option<f64> {
        self.said.filter(|length| *length > 0.0)
    }

    /// The length as far as it was seen.
    pub(super) fn learned(&self) -> Option<f64> {
        let ((from, first), (to, last)) = (self.first_change?, self.last_change?);
        let epochs = last - first;
        (epochs >= EpochLength::LEAST_CHANGE && to > from).then(|| (to - from) / epochs)
    }

    /// Only changes have a place: a run may have been met in the middle of an epoch.
    fn moved_to(&mut self, x: f64, epoch: f64) {
        if self.newest.is_some_and(|newest| epoch > newest) {
            self.first_change.get_or_insert((x, epoch));
            self.last_change = Some((x, epoch));
        }
        if self.newest.is_none_or(|newest| epoch > newest) {
            self.newest = Some(epoch);
        }
    }
}

/// A mark gives an epoch's beginning more exactly than a number that is printed now and then.
fn epoch_of(observation: &Observation) -> Option<f64> {
    let marked = observation.marks.iter().rev().find_map(|mark| match mark {
        MarkKind::Epoch(epoch) => Some(*epoch as f64),
        _ => None,
    });
    marked.or(observation.epoch)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn learned(epochs: impl IntoIterator<Item = (f64, f64)>) -> Option<f64> {
        let mut length = EpochLength::default();
        for (x, epoch) in epochs {
            let observation = Observation {
                epoch: Some(epoch),
                ..Observation::default()
            };
            length.observe(x, &observation);
        }
        length.learned()
    }

    #[test]
    fn whole_epochs_are_measured_between_changes() {
        let met_in_the_middle = (50..350).map(|x| (f64::from(x), f64::from(x / 100)));
        assert_eq!(learned(met_in_the_middle), Some(100.0));
    }

    #[test]
    fn fractions_tell_it_within_the_first_epoch() {
        let logged = (1..6).map(|i| (f64::from(i) * 10.0, f64::from(i) * 0.25));
        assert_eq!(learned(logged), Some(40.0));
    }

    #[test]
    fn one_change_is_not_a_length() {
        assert_eq!(learned([(0.0, 0.0), (70.0, 1.0)]), None);
        assert_eq!(learned([]), None);
    }
}
