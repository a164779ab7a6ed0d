//! The curve as the chart needs it: a week of samples in bounded memory, no spike lost.
//!
//! The newest samples are kept one by one. Older ones are folded into spans that keep their lowest
//! and highest value, and when there are too many spans, neighbours are folded into one. A chart has
//! a few hundred columns, so a span is always narrower than a column of the whole run.

use std::collections::VecDeque;
use std::ops::Range;

use leveloff_classifier::observation::Observation;
pub use leveloff_model::folded::Reach;
use leveloff_model::folded::{Fold, Folded};
use leveloff_model::units::Seconds;

/// Samples that are kept one by one.
const RECENT: usize = 8192;
/// Spans that are kept of what came before; then neighbours are folded.
const OLDER: usize = 8192;

/// What the chart is drawn over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Axis {
    /// Training steps.
    #[default]
    Steps,
    /// Seconds of the recording.
    Time,
}

/// One sample of the curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CurvePoint {
    /// When, on the run's clock.
    pub t: Seconds,
    /// The step of the training.
    pub step: Option<f64>,
    /// Memory of the run, in bytes.
    pub memory: f64,
    /// What a sum of RSS says, in bytes.
    pub rss: f64,
}

/// What a column of the chart shows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Column {
    /// Memory of the run.
    pub memory: Reach,
    /// The sum of RSS.
    pub rss: Reach,
}

/// The curve so far.
#[derive(Debug, Clone)]
pub struct History {
    recent: VecDeque<CurvePoint>,
    older: Folded<Span>,
    first: Option<CurvePoint>,
    /// Steps may restart: the newest is not always the furthest.
    steps: Option<Reach>,
}

/// Several samples.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Span {
    t: Reach,
    step: Option<Reach>,
    memory: Reach,
    rss: Reach,
}

impl History {
    /// Takes the next sample.
    pub fn push(&mut self, point: CurvePoint) {
        self.first.get_or_insert(point);
        if let Some(step) = point.step.map(Reach::at) {
            self.steps = Some(self.steps.map_or(step, |steps| steps.and(step)));
        }
        if self.recent.len() == RECENT
            && let Some(oldest) = self.recent.pop_front()
        {
            self.older.push(Span::of(oldest));
        }
        self.recent.push_back(point);
    }

    /// Drops the samples after `t`, as far as they are kept one by one.
    pub fn cut_after(&mut self, t: Seconds) {
        while self.recent.back().is_some_and(|newest| newest.t > t) {
            self.recent.pop_back();
        }
        let steps = self.spans().filter_map(|span| span.step);
        self.steps = steps.reduce(Reach::and);
    }

    /// The newest sample.
    pub fn last(&self) -> Option<CurvePoint> {
        self.recent.back().copied()
    }

    /// From the first to the newest point, from the lowest to the highest step.
    pub fn extent(&self, axis: Axis) -> Option<Range<f64>> {
        let last = self.last()?;
        match axis {
            Axis::Time => Some(self.first?.t.0..last.t.0),
            Axis::Steps => self.steps.map(|steps| steps.low..steps.high),
        }
    }

    /// When this step was first reached; `None` for one that was not.
    pub fn time_of(&self, step: f64) -> Option<Seconds> {
        let reached = |span: &Span| span.step.is_some_and(|reach| reach.high >= step);
        let first = self.spans().find(reached)?;
        Some(Seconds(first.t.low))
    }

    /// What each of `count` equal columns over `range` shows; `None` where nothing was sampled. No
    /// spike is lost, however many samples a column has.
    pub fn columns(&self, axis: Axis, range: &Range<f64>, count: usize) -> Vec<Option<Column>> {
        let mut columns = vec![None; count];
        let width = (range.end - range.start) / count.max(1) as f64;
        let column = |x: f64| (x - range.start) / width;
        for span in self.spans() {
            let Some(place) = span.place(axis) else {
                continue;
            };
            if place.high < range.start || place.low > range.end || count == 0 {
                continue;
            }
            // The place at the very end belongs to the last column.
            let nearest = |x: f64| (column(x).max(0.0) as usize).min(count - 1);
            for shown in &mut columns[nearest(place.low)..=nearest(place.high)] {
                Column::widen(shown, &span);
            }
        }
        columns
    }

    fn spans(&self) -> impl Iterator<Item = Span> {
        let older = self.older.iter().copied();
        older.chain(self.recent.iter().map(|&point| Span::of(point)))
    }
}

impl Default for History {
    fn default() -> History {
        History {
            recent: VecDeque::new(),
            older: Folded::with_capacity(OLDER),
            first: None,
            steps: None,
        }
    }
}

impl CurvePoint {
    /// One observation.
    pub fn of(observation: &Observation) -> CurvePoint {
        let memory = observation.memory.0 as f64;
        CurvePoint {
            t: observation.t.unwrap_or(Seconds(0.0)),
            step: observation.count,
            memory,
            rss: observation.rss_sum.map_or(memory, |rss| rss.0 as f64),
        }
    }
}

impl Span {
    fn of(point: CurvePoint) -> Span {
        Span {
            t: Reach::at(point.t.0),
            step: point.step.map(Reach::at),
            memory: Reach::at(point.memory),
            rss: Reach::at(point.rss),
        }
    }

    fn place(&self, axis: Axis) -> Option<Reach> {
        match axis {
            Axis::Time => Some(self.t),
            Axis::Steps => self.step,
        }
    }
}

impl Fold for Span {
    fn extend_by(&mut self, next: &Span) {
        *self = Span {
            t: self.t.and(next.t),
            step: Reach::and_maybe(self.step, next.step),
            memory: self.memory.and(next.memory),
            rss: self.rss.and(next.rss),
        };
    }
}

impl Column {
    fn widen(shown: &mut Option<Column>, span: &Span) {
        let own = Column {
            memory: span.memory,
            rss: span.rss,
        };
        *shown = Some(match shown {
            Some(column) => Column {
                memory: column.memory.and(own.memory),
                rss: column.rss.and(own.rss),
            },
            None => own,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn history(samples: usize, memory: impl Fn(usize) -> f64) -> History {
        let mut history = History::default();
        for i in 0..samples {
            history.push(CurvePoint {
                t: Seconds(i as f64),
                step: (i >= 10).then(|| i as f64 / 2.0),
                memory: memory(i),
                rss: 2.0 * memory(i),
            });
        }
        history
    }

    #[test]
    fn a_spike_of_one_sample_in_a_million_is_seen() {
        for place in [3, 8191, 500_000, 999_999] {
            let history = history(1_000_000, |i| if i == place { 9.0 } else { 1.0 });
            let columns = history.columns(Axis::Time, &(0.0..999_999.0), 300);
            let highest = columns
                .iter()
                .flatten()
                .map(|column| column.memory.high)
                .fold(0.0, f64::max);
            assert_eq!(highest, 9.0, "at {place}");
            assert!(columns.iter().all(Option::is_some));
        }
    }

    #[test]
    fn memory_is_bounded() {
        let history = history(1_000_000, |_| 1.0);
        assert!(history.older.iter().count() <= OLDER);
        assert_eq!(history.recent.len(), RECENT);
    }

    #[test]
    fn the_newest_are_kept_one_by_one() {
        let history = history(1_000_000, |i| i as f64);
        let columns = history.columns(Axis::Time, &(999_990.0..1_000_000.0), 10);
        let shown: Vec<f64> = columns
            .iter()
            .flatten()
            .map(|column| column.memory.low)
            .collect();
        let expected: Vec<f64> = (999_990..1_000_000).map(f64::from).collect();
        assert_eq!(shown, expected);
    }

    #[test]
    fn what_came_before_the_first_step_is_not_on_the_axis_of_steps() {
        let history = history(30, |_| 1.0);
        assert_eq!(history.extent(Axis::Steps), Some(5.0..14.5));
        assert_eq!(history.extent(Axis::Time), Some(0.0..29.0));
        let columns = history.columns(Axis::Steps, &(0.0..10.0), 10);
        let sampled: Vec<bool> = columns.iter().map(Option::is_some).collect();
        assert_eq!(&sampled[..6], [false, false, false, false, false, true]);
    }

    #[test]
    fn a_step_has_a_time() {
        let history = history(100, |_| 1.0);
        assert_eq!(history.time_of(20.0), Some(Seconds(40.0)));
        assert_eq!(history.time_of(0.0), Some(Seconds(10.0)));
        assert_eq!(history.time_of(50.0), None);
    }

    #[test]
    fn steps_that_restart_keep_what_was_reached() {
        let mut history = history(30, |_| 1.0);
        history.push(CurvePoint {
            t: Seconds(30.0),
            step: Some(1.0),
            memory: 1.0,
            rss: 1.0,
        });
        assert_eq!(history.extent(Axis::Steps), Some(1.0..14.5));
    }

    #[test]
    fn nothing_shows_nothing() {
        let history = History::default();
        assert_eq!(history.extent(Axis::Time), None);
        assert_eq!(history.columns(Axis::Time, &(0.0..1.0), 2), [None, None]);
    }
}
