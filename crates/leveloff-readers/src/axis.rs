//! A counter or a clock that only increases.

/// The position of a value on the axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Position {
    At(f64),
    /// Behind what was reached: a row out of order, or the first of a counter that may have
    /// restarted.
    Behind,
}

/// Follows one counter or clock.
///
/// A counter that falls and then rises three times in a row has restarted: a resumed run, or steps
/// that are counted within an epoch. It is counted on from where it was, one stride further.
/// Anything less is a row out of order, as when ranks write into one log.
#[derive(Debug, Clone, Default)]
pub struct Axis {
    last: Option<f64>,
    /// The last distance of two rows.
    stride: f64,
    /// What is added since the counter restarted.
    offset: f64,
    behind: Option<Behind>,
    /// How often it restarted.
    pub restarts: u64,
}

#[derive(Debug, Clone, Copy)]
struct Behind {
    first: f64,
    last: f64,
    rising: u32,
}

/// Values in a row that must rise before a counter counts as restarted.
const EVIDENCE: u32 = 3;

impl Axis {
    /// Where the next value lies. `begins_anew`: there is other evidence for a restart, such as the
    /// number of the epoch.
    pub fn place(&mut self, value: f64, begins_anew: bool) -> Position {
        let Some(last) = self.last else {
            return self.accept(value);
        };
        if value + self.offset >= last {
            let stride = value + self.offset - last;
            if stride > 0.0 {
                self.stride = stride;
            }
            return self.accept(value);
        }
        let behind = self.seen_behind(value);
        if begins_anew || behind.rising >= EVIDENCE {
            self.restarts += 1;
            self.offset = last + self.stride - behind.first;
            return self.accept(value);
        }
        self.behind = Some(behind);
        Position::Behind
    }

    fn accept(&mut self, value: f64) -> Position {
        let at = value + self.offset;
        (self.last, self.behind) = (Some(at), None);
        Position::At(at)
    }

    fn seen_behind(&self, value: f64) -> Behind {
        match self.behind {
            Some(before) if value > before.last => Behind {
                last: value,
                rising: before.rising + 1,
                ..before
            },
            Some(before) if value == before.last => before,
            _ => Behind {
                first: value,
                last: value,
                rising: 1,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placed(values: &[f64]) -> Vec<f64> {
        let mut axis = Axis::default();
        values
            .iter()
            .filter_map(|&value| match axis.place(value, false) {
                Position::At(at) => Some(at),
                Position::Behind => None,
            })
            .collect()
    }

    #[test]
    fn what_rises_or_repeats_stays_as_it_is() {
        assert_eq!(placed(&[1.0, 2.0, 2.0, 5.0]), [1.0, 2.0, 2.0, 5.0]);
    }

    #[test]
    fn rows_out_of_order_are_left_out() {
        assert_eq!(placed(&[10.0, 9.0, 11.0, 10.0, 12.0]), [10.0, 11.0, 12.0]);
        assert_eq!(placed(&[5.0, 4.0, 3.0, 2.0, 1.0]), [5.0]);
    }

    #[test]
    fn a_counter_that_begins_anew_is_counted_on() {
        let values = [90.0, 100.0, 10.0, 20.0, 30.0, 40.0];
        assert_eq!(placed(&values), [90.0, 100.0, 130.0, 140.0]);
        let resumed = [440.0, 450.0, 400.0, 410.0, 420.0, 430.0];
        assert_eq!(placed(&resumed), [440.0, 450.0, 480.0, 490.0]);
    }

    #[test]
    fn an_epoch_that_begins_is_believed_at_once() {
        let mut axis = Axis::default();
        axis.place(99.0, false);
        axis.place(100.0, false);
        assert_eq!(axis.place(1.0, true), Position::At(101.0));
        assert_eq!(axis.place(2.0, false), Position::At(102.0));
        assert_eq!(axis.restarts, 1);
    }
}
