//! The last check before the classifier: order, zeros, and a count of what was left out.

use leveloff_classifier::observation::{Observation, XUnit};
use leveloff_model::progress::Progress;
use leveloff_model::recording::End;
use leveloff_model::sample::Tick;
use leveloff_model::units::{Bytes, Seconds};

use crate::axis::{Axis, Position};
use crate::error::{Problem, Result};

/// Hands observations on in order.
pub struct ObservationSink<'a> {
    take: &'a mut dyn FnMut(&Observation),
    unit: XUnit,
    count: Axis,
    time: Axis,
    epoch: Option<f64>,
    has_memory: bool,
    /// Called with each tick of a recording.
    pub ticks: &'a mut dyn FnMut(&Tick),
    /// What was left out so far.
    pub left_out: LeftOut,
    /// What else the user should know, in sentences.
    pub notes: Vec<String>,
    /// How far the training came, if the input says so.
    pub progress: Option<Progress>,
    /// How a recording ended.
    pub end: Option<End>,
}

/// How many points were left out, and why.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Points that were handed on.
    pub taken: u64,
    /// No number where memory should be: an empty field, NaN, words.
    pub no_memory: u64,
    /// Infinite, negative or absurd amounts.
    pub impossible: u64,
    /// Nothing, after there had been something: the process was gone or could not be read.
    pub zeros: u64,
    /// No number where x should be.
    pub no_x: u64,
    /// Rows behind those before them.
    pub out_of_order: u64,
    /// Times that went back while the counter went on.
    pub clock_went_back: u64,
    /// Rows with too few fields.
    pub short: u64,
    /// Lines without a memory value.
    pub other_lines: u64,
    /// Rows of processes without a memory value.
    pub unread_processes: u64,
    /// Samples of the end of the run.
    pub end_of_run: u64,
}

impl<'a> ObservationSink<'a> {
    /// A sink for observations that count `unit`.
    pub fn new(
        unit: XUnit,
        take: &'a mut dyn FnMut(&Observation),
        ticks: &'a mut dyn FnMut(&Tick),
    ) -> ObservationSink<'a> {
        ObservationSink {
            take,
            ticks,
            unit,
            count: Axis::default(),
            time: Axis::default(),
            epoch: None,
            has_memory: false,
            left_out: LeftOut::default(),
            notes: Vec::new(),
            progress: None,
            end: None,
        }
    }

    /// Hands the observation on if it has a place. Moves its count and time there.
    pub fn offer(&mut self, observation: &mut Observation) {
        if observation.memory == Bytes::ZERO && self.has_memory {
            self.left_out.zeros += 1;
            return;
        }
        if observation.is_restart() {
            // Another run begins in the same recording: its steps are its own.
            (self.count, self.epoch) = (Axis::default(), None);
        }
        if observation.has_new_clock() {
            // Its counts do not continue those before; the judge knows what to do with them.
            self.count = Axis::default();
        }
        self.place_time(observation);
        if !self.place_count(observation) {
            self.left_out.out_of_order += 1;
            return;
        }
        self.has_memory |= observation.memory > Bytes::ZERO;
        self.left_out.taken += 1;
        (self.take)(observation);
    }

    /// Times that go back are unknown times, unless time is all there is.
    fn place_time(&mut self, observation: &mut Observation) {
        if let Some(t) = observation.t {
            observation.t = match self.time.place(t.0, false) {
                Position::At(at) => Some(Seconds(at)),
                Position::Behind => None,
            };
            self.left_out.clock_went_back +=
                u64::from(observation.t.is_none() && observation.count.is_some());
        }
    }

    fn place_count(&mut self, observation: &mut Observation) -> bool {
        // 2.5 is within an epoch, only 3 begins another.
        let epoch = observation.epoch.map(f64::floor).or(self.epoch);
        let begins_anew = self.epoch.is_some() && epoch > self.epoch;
        self.epoch = epoch;
        let Some(count) = observation.count else {
            // Before the first step there is time alone.
            return observation.t.is_some() || self.unit == XUnit::Sample;
        };
        match self.count.place(count, begins_anew) {
            Position::At(at) => {
                observation.count = Some(at);
                true
            }
            Position::Behind => false,
        }
    }

    /// What was left out, in sentences; an error when that was most of it.
    pub fn close(self, what: &str) -> Result<Vec<String>> {
        let left = &self.left_out;
        let all = left.taken + left.out_of_order;
        if left.out_of_order > left.taken && left.out_of_order > 2 {
            let unit = self.unit.name();
            return Err(Problem::Unusable(format!(
                "{} of {all} {what} are out of order: their {unit} is smaller than one before; \
                 sort them by {unit} first, or name another column with --x",
                left.out_of_order
            )));
        }
        let mut notes = self.notes;
        notes.extend(left.sentences(what));
        for (axis, name) in [(&self.count, self.unit.name()), (&self.time, "time")] {
            if axis.restarts > 0 {
                notes.push(format!(
                    "the {name} restarted {} and is continued: a resumed run, or counted within an \
                     epoch?",
                    times(axis.restarts)
                ));
            }
        }
        Ok(notes)
    }
}

impl LeftOut {
    /// One sentence for each cause.
    fn sentences(&self, what: &str) -> Vec<String> {
        let causes = [
            (self.no_memory, "no number for memory"),
            (
                self.impossible,
                "a negative, infinite or absurd amount of memory",
            ),
            (
                self.zeros,
                "0 after there was memory, which means that the value could not be read",
            ),
            (self.no_x, "no number for x"),
            (self.short, "too few fields"),
            (self.out_of_order, "out of order"),
            (
                self.end_of_run,
                "trainers had exited, or PSS had not been read yet",
            ),
        ];
        let mut notes: Vec<String> = causes
            .into_iter()
            .filter(|(n, _)| *n > 0)
            .map(|(n, cause)| format!("left out {}: {cause}", counted(n, what)))
            .collect();
        if self.other_lines > 0 {
            let lines = counted(self.other_lines, "lines");
            notes.push(format!("skipped {lines} without memory"));
        }
        if self.unread_processes > 0 {
            let rows = counted(self.unread_processes, "rows");
            notes.push(format!(
                "{rows} of processes have no memory value; the others are added up"
            ));
        }
        if self.clock_went_back > 0 {
            notes.push(format!(
                "the clock went back {}",
                times(self.clock_went_back)
            ));
        }
        notes
    }
}

/// `1 row`, `2 rows`.
pub fn counted(n: u64, what: &str) -> String {
    let what = if n == 1 {
        what.trim_end_matches('s')
    } else {
        what
    };
    format!("{n} {what}")
}

fn times(n: u64) -> String {
    match n {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        n => format!("{n} times"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The points (count, memory) that come through, and what is said of the others.
    fn through(points: &[(f64, u64)]) -> (Vec<(f64, u64)>, Result<Vec<String>>) {
        let mut taken = Vec::new();
        let mut take = |observation: &Observation| {
            taken.push((observation.count.unwrap(), observation.memory.0));
        };
        let mut ignore = |_: &Tick| ();
        let mut sink = ObservationSink::new(XUnit::Step, &mut take, &mut ignore);
        for &(count, memory) in points {
            sink.offer(&mut Observation {
                count: Some(count),
                memory: Bytes(memory),
                ..Observation::default()
            });
        }
        let notes = sink.close("rows");
        (taken, notes)
    }

    #[test]
    fn a_zero_after_memory_is_not_a_fall() {
        let (taken, notes) = through(&[(0.0, 0), (1.0, 5), (2.0, 0), (3.0, 6)]);
        assert_eq!(taken, [(0.0, 0), (1.0, 5), (3.0, 6)]);
        let notes = notes.unwrap();
        assert!(notes[0].starts_with("left out 1 row: 0 after"), "{notes:?}");
    }

    #[test]
    fn what_is_mostly_out_of_order_is_an_error_that_says_what_to_do() {
        let falling: Vec<(f64, u64)> = (0..10).map(|n| (f64::from(10 - n), 5)).collect();
        let error = through(&falling).1.unwrap_err().to_string();
        assert!(
            error.contains("9 of 10 rows") && error.contains("--x"),
            "{error}"
        );
    }

    #[test]
    fn a_counter_that_began_anew_is_said() {
        let points = [(9.0, 5), (10.0, 5), (1.0, 5), (2.0, 5), (3.0, 5), (4.0, 5)];
        let (taken, notes) = through(&points);
        assert_eq!(taken.last(), Some(&(14.0, 5)));
        let notes = notes.unwrap();
        assert!(
            notes.iter().any(|note| note.contains("restarted once")),
            "{notes:?}"
        );
    }
}
