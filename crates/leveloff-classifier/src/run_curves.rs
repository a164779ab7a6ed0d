//! The curves of a run for charts and tables: whole, by role and by kind, over steps and over time.
//!
//! The judge keeps what statistics need and lets the rest go. A chart needs the whole run evenly, a
//! table its first, highest and newest values, a comparison where it settled. All of it in bounded
//! memory, with the extremes kept.

mod events;
mod series;

use leveloff_model::folded::{Fold, Folded, Reach};
use leveloff_model::progress::MarkKind;
use leveloff_model::units::Seconds;

use crate::observation::{Observation, XUnit};
use crate::stats::median;
use crate::units::{Amount, X};

pub use events::{RunEvent, RunEventKind};
pub use series::Series;

use series::{Values, values};

/// Spans that a run is folded into at most: several for each column of a chart on a wide screen.
pub const MOST_SPANS: usize = 2048;

/// Events that are kept at most; beyond, every second one is dropped.
const MOST_EVENTS: usize = 1024;

/// A run has settled, if at all, in this last part of it.
const SETTLED_PART: f64 = 0.2;

/// Several samples as one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CurveSpan {
    /// From the first to the last count; `None` where nothing was counted.
    pub x: Option<Reach>,
    /// From the first to the last moment; `None` where the source has no time.
    pub t: Option<Reach>,
    values: Values,
}

/// The curves so far.
#[derive(Debug, Clone)]
pub struct RunCurves {
    spans: Folded<CurveSpan>,
    events: Vec<RunEvent>,
    /// Every so many events one was kept.
    event_stride: usize,
    events_seen: usize,
    /// The first values, and those at the first count: before that, a run is still loading.
    first: Option<Values>,
    first_counted: Option<Values>,
    /// Memory of the newest sample.
    newest_memory: Option<f64>,
    /// The highest that two samples in a row had.
    lasting_peak: Option<f64>,
    samples: u64,
}

impl RunCurves {
    /// Nothing yet.
    pub fn new() -> RunCurves {
        RunCurves {
            spans: Folded::with_capacity(MOST_SPANS),
            events: Vec::new(),
            event_stride: 1,
            events_seen: 0,
            first: None,
            first_counted: None,
            newest_memory: None,
            lasting_peak: None,
            samples: 0,
        }
    }

    /// Takes the next observation.
    pub fn observe(&mut self, observation: &Observation) {
        let span = CurveSpan::of(observation);
        self.first.get_or_insert(span.values);
        if observation.count.is_some() {
            self.first_counted.get_or_insert(span.values);
        }
        let memory = observation.memory.0 as f64;
        if let Some(before) = self.newest_memory.replace(memory) {
            let both = memory.min(before);
            self.lasting_peak = Some(self.lasting_peak.map_or(both, |peak| peak.max(both)));
        }
        self.samples += 1;
        for mark in &observation.marks {
            self.add_event(mark, observation);
        }
        self.spans.push(span);
    }

    /// Another counter took over: what came before has no place on its axis, as what comes before a first
    /// step. Memory over time stays.
    pub(crate) fn forget_counts(&mut self) {
        self.spans.change_each(|span| span.x = None);
        self.events.iter_mut().for_each(|event| event.x = None);
        self.first_counted = None;
    }

    /// The run, evenly, oldest first.
    pub fn spans(&self) -> impl Iterator<Item = &CurveSpan> {
        self.spans.iter()
    }

    /// How many samples a span stands for; 1 when every sample is kept.
    pub fn stride(&self) -> u64 {
        self.spans.stride()
    }

    /// Samples taken.
    pub fn samples(&self) -> u64 {
        self.samples
    }

    /// What happened, oldest first.
    pub fn events(&self) -> &[RunEvent] {
        &self.events
    }

    /// Whether more happened than [`RunCurves::events`] holds.
    pub fn events_are_thinned(&self) -> bool {
        self.event_stride > 1
    }

    /// The curves that are known and were ever more than nothing, in the order of reading.
    pub fn series(&self) -> Vec<Series> {
        let is_there = |series: &Series| self.peak(*series).is_some_and(|peak| peak.0 > 0.0);
        Series::all()
            .filter(|series| series.is_curve())
            .filter(is_there)
            .collect()
    }

    /// The value when the run began to count: the model is loaded. Without a count, the first.
    pub fn baseline(&self, series: Series) -> Option<Amount> {
        let first = self.first_counted.or(self.first)?;
        let value = first[series.index()].map(|reach| reach.high);
        let value = match series {
            // A training counts inside some steps later, and zero is what it says before: it had not
            // nothing when the run began.
            Series::Counter(_) => value.filter(|value| *value > 0.0).or_else(|| {
                let spans = self.spans().filter_map(|span| span.value(series));
                spans.map(|reach| reach.low).find(|value| *value > 0.0)
            }),
            _ => value,
        };
        value.map(Amount)
    }

    /// The newest value that is known.
    pub fn newest(&self, series: Series) -> Option<Amount> {
        let known = self.spans().filter_map(|span| span.value(series));
        known.last().map(|reach| Amount(reach.middle()))
    }

    /// The highest value of any sample.
    pub fn peak(&self, series: Series) -> Option<Amount> {
        let highs = self.spans().filter_map(|span| span.value(series));
        highs.map(|reach| Amount(reach.high)).reduce(Amount::max)
    }

    /// The highest memory that two samples in a row had. One alone may be a moment in which pages
    /// were counted for two processes; runs are not compared by that.
    pub fn lasting_peak(&self) -> Option<Amount> {
        let lasting = self.lasting_peak.map(Amount);
        lasting.or_else(|| self.peak(Series::Memory))
    }

    /// The highest value of any sample up to a position.
    pub fn peak_until(&self, series: Series, X(x): X, unit: XUnit) -> Option<Amount> {
        let until = self
            .spans()
            .filter(|span| span.place(unit).is_some_and(|place| place.low <= x));
        let highs = until.filter_map(|span| span.value(series));
        highs.map(|reach| Amount(reach.high)).reduce(Amount::max)
    }

    /// Where the series is in the last fifth of the run: the median, which a spike does not move. The
    /// newest place is left out, as it is when a run is judged: there it may be shutting down.
    pub fn settled(&self, series: Series) -> Option<Amount> {
        let is_counted = self.spans().any(|span| span.x.is_some());
        let place = |span: &CurveSpan| if is_counted { span.x } else { span.t };
        let placed: Vec<(Reach, Reach)> = self
            .spans()
            .filter_map(|span| Some((place(span)?, span.value(series)?)))
            .collect();
        let (first, last) = (placed.first()?.0.low, placed.last()?.0.high);
        let from = last - SETTLED_PART * (last - first);
        let late = placed.iter().filter(|(place, _)| place.high >= from);
        let before = late.clone().filter(|(place, _)| place.high < last);
        let mut values: Vec<f64> = before.map(|(_, value)| value.middle()).collect();
        if values.is_empty() {
            values = late.map(|(_, value)| value.middle()).collect();
        }
        Some(Amount(median(&mut values)))
    }

    /// The position so long after the first sample; `None` if the run ended before.
    pub fn position_after(&self, Seconds(time): Seconds, unit: XUnit) -> Option<X> {
        let first = self.spans().find_map(|span| span.t)?.low;
        let mut later = self
            .spans()
            .filter(|span| span.t.is_some_and(|t| t.high >= first + time));
        match unit {
            XUnit::Second => later.next().map(|_| X(first + time)),
            _ => later.find_map(|span| span.x).map(|place| X(place.low)),
        }
    }

    /// The value around a position; `None` where the run has not been.
    pub fn around(&self, series: Series, X(x): X, unit: XUnit) -> Option<Amount> {
        let mut before: Option<(f64, f64)> = None;
        for span in self.spans() {
            let (Some(place), Some(value)) = (span.place(unit), span.value(series)) else {
                continue;
            };
            if place.low <= x && x <= place.high {
                return Some(Amount(value.middle()));
            }
            if place.low > x {
                let (then, was) = before?;
                let share = (x - then) / (place.low - then);
                return Some(Amount(was + share * (value.middle() - was)));
            }
            before = Some((place.high, value.middle()));
        }
        None
    }

    fn add_event(&mut self, mark: &MarkKind, observation: &Observation) {
        let Some(kind) = RunEventKind::of(mark) else {
            return;
        };
        let event = RunEvent {
            x: observation.count.map(X),
            t: observation.t,
            kind,
        };
        // A phase and an event may report the same checkpoint.
        let is_known = self.events.last().is_some_and(|last| *last == event);
        if is_known {
            return;
        }
        self.events_seen += 1;
        if self.events_seen.is_multiple_of(self.event_stride) {
            self.events.push(event);
        }
        if self.events.len() > MOST_EVENTS {
            let mut place = 0;
            self.events.retain(|_| {
                place += 1;
                place % 2 == 1
            });
            self.event_stride *= 2;
        }
    }
}

impl Default for RunCurves {
    fn default() -> RunCurves {
        RunCurves::new()
    }
}

impl CurveSpan {
    /// One observation.
    pub fn of(observation: &Observation) -> CurveSpan {
        CurveSpan {
            x: observation.count.map(Reach::at),
            t: observation.t.map(|t| Reach::at(t.0)),
            values: values(observation),
        }
    }

    /// From the first to the last position on an axis.
    pub fn place(&self, unit: XUnit) -> Option<Reach> {
        match unit {
            XUnit::Second => self.t,
            _ => self.x,
        }
    }

    /// How far the series reached; `None` where it was not known.
    pub fn value(&self, series: Series) -> Option<Reach> {
        self.values[series.index()]
    }
}

impl Fold for CurveSpan {
    fn extend_by(&mut self, next: &CurveSpan) {
        self.x = Reach::and_maybe(self.x, next.x);
        self.t = Reach::and_maybe(self.t, next.t);
        for (value, next) in self.values.iter_mut().zip(next.values) {
            *value = Reach::and_maybe(*value, next);
        }
    }
}

#[cfg(test)]
mod tests;
