//! Which clock explains growth best: every clock is a model of the same curve, and the models are compared by the
//! Bayesian information criterion (Schwarz, 1978).
//!
//! A model is a sum of one or two clocks, each with its own growth per tick, so what grows between events is not
//! counted for them. A clock is named if the models in which it has most of the growth are better, by [`MARGIN`],
//! than all in which another has.

mod least_squares;

use self::least_squares::{Fit, Regression};
use crate::run::clock_points::{ClockPoint, SIDE_COUNTERS};
use crate::run::events::EVENT_KINDS;
use crate::verdict::ClockTick;
use leveloff_model::training_counters::TrainingCounter;

/// What won.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Outcome {
    /// One kind of event, or several that cannot be distinguished because they coincide.
    Events(Vec<ClockGrowth>),
    /// The steps.
    Steps,
    /// A counter of the training that is not proportional to the steps.
    Counter(ClockGrowth),
    /// Several clocks explain the growth about as well, or none does.
    Open,
}

/// A clock with its growth per tick.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ClockGrowth {
    /// The clock.
    pub(super) tick: ClockTick,
    /// Growth at each tick.
    pub(super) growth: f64,
    /// Its share of the growth that the model explains.
    pub(super) share: f64,
}

/// Differences of the criterion above this are "very strong" evidence (Kass and Raftery, 1995).
const MARGIN: f64 = 10.0;
/// A clock is the clock of the growth if it has at least this share of it.
const MOST: f64 = 0.6;
/// Fewer events than this are a coincidence.
const LEAST_EVENTS: f64 = 3.0;
/// Fewer moments than this show no course.
const LEAST_MOMENTS: usize = 16;
/// Neighbouring moments repeat each other, so no more than this many for each event are taken as independent.
const MOMENTS_PER_EVENT: f64 = 2.0;
/// The same where no events are compared, but counters.
const MOMENTS_OF_COUNTERS: f64 = 20.0;
/// Memory changes by whole pages and by buffers that come and go: residuals below this are not smaller in truth.
const LEAST_RESIDUAL: f64 = 16_384.0;
/// The same as a share of the growth.
const LEAST_RESIDUAL_SHARE: f64 = 0.002;
/// Events need this many moments between them for a spike at the event to be distinguished from what stays.
const MOMENTS_TO_SEE_A_SPIKE: f64 = 5.0;

/// Events that come closer than this many moments cannot acquit the steps: what is reported a sample late would do so
/// wrongly.
const MOMENTS_BETWEEN_EVENTS: f64 = 3.0;
/// Events coincide if no more than this share of them is at a moment of its own.
const MOST_APART: f64 = 0.25;
/// A counter whose correlation with the steps is at least this much is proportional to them.
const PROPORTIONAL: f64 = 0.9999;

/// A clock as a column of numbers, one for each moment.
struct Column {
    clock: Rival,
    ticks: f64,
    values: Vec<f64>,
    /// Events that are taken to be reported one sample late or early.
    is_shifted: bool,
}

/// A clock that may explain the growth.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Rival {
    Step,
    Time,
    Counter(ClockTick),
    Event(ClockTick),
    /// What an event holds for a moment explains no growth, but hides it.
    Spike,
}

/// The best model in which a clock has most of the growth.
struct Best {
    clock: Rival,
    criterion: f64,
    growth: f64,
    share: f64,
}

/// Lets all clocks compete on these moments. `None` if there are too few, or no rival of the steps.
pub(super) fn compete(points: &[ClockPoint]) -> Option<Outcome> {
    if points.len() < LEAST_MOMENTS {
        return None;
    }
    let columns = columns(points);
    let has_rival = |column: &Column| matches!(column.clock, Rival::Event(_) | Rival::Counter(_));
    if !columns.iter().any(has_rival) {
        return None;
    }
    let memory: Vec<f64> = points.iter().map(|point| point.memory).collect();
    let values: Vec<&[f64]> = columns.iter().map(|column| &*column.values).collect();
    let regression = Regression::new(&memory, &values);
    let mut best = best_of_each(points, &columns, &regression);
    best.retain(|best| !is_proportional_to_steps(best.clock, &columns, &regression));
    let is_dense = |column: &Column| {
        matches!(column.clock, Rival::Event(_))
            && column.ticks * MOMENTS_BETWEEN_EVENTS > points.len() as f64
    };
    Some(match outcome(best) {
        Outcome::Steps if columns.iter().any(is_dense) => Outcome::Open,
        Outcome::Events(together) if !coincide(&together, &columns) => Outcome::Open,
        outcome => outcome,
    })
}

/// Whether events come at the same moments. Others that cannot be distinguished are too close for the samples.
fn coincide(together: &[ClockGrowth], columns: &[Column]) -> bool {
    let of = |tick| {
        let is_it = |column: &&Column| column.clock == Rival::Event(tick) && !column.is_shifted;
        columns.iter().find(is_it)
    };
    let Some(first) = together.first().and_then(|first| of(first.tick)) else {
        return false;
    };
    together[1..].iter().all(|other| {
        of(other.tick).is_some_and(|other| {
            let places = 1..first.values.len();
            let is_new =
                |column: &Column, place: usize| column.values[place] > column.values[place - 1];
            let apart = places.filter(|&place| is_new(first, place) != is_new(other, place));
            apart.count() as f64 <= MOST_APART * first.ticks.min(other.ticks)
        })
    })
}

/// Then it is no clock of its own.
fn is_proportional_to_steps(clock: Rival, columns: &[Column], regression: &Regression) -> bool {
    let place = |clock| columns.iter().position(|column| column.clock == clock);
    let correlated = |other| {
        let both = place(Rival::Step).zip(place(other));
        both.is_some_and(|(step, other)| regression.correlation(step, other) >= PROPORTIONAL)
    };
    matches!(clock, Rival::Counter(_)) && correlated(clock)
}

fn columns(points: &[ClockPoint]) -> Vec<Column> {
    let mut columns = vec![column(Rival::Step, points.iter().map(|point| point.x))];
    if let Some(times) = points
        .iter()
        .map(|point| point.t)
        .collect::<Option<Vec<_>>>()
    {
        columns.push(column(Rival::Time, times));
    }
    for (place, counter) in SIDE_COUNTERS.into_iter().enumerate() {
        let values: Option<Vec<f64>> = points.iter().map(|point| point.side[place]).collect();
        columns.extend(values.iter().flat_map(|values| of_counter(counter, values)));
    }
    columns.retain(|column| column.ticks > 0.0);
    for (place, tick) in EVENT_KINDS.into_iter().enumerate() {
        let counts: Vec<f64> = points.iter().map(|point| point.events[place]).collect();
        columns.extend(columns_of_events(tick, &counts));
    }
    columns
}

/// Compilations are few and take seconds: like events, they may be counted a sample before or after their memory is seen.
fn of_counter(counter: TrainingCounter, values: &[f64]) -> Vec<Column> {
    let clock = Rival::Counter(tick_of(counter));
    let now = column(clock, values.iter().copied());
    match counter {
        TrainingCounter::Compilations if now.ticks < LEAST_EVENTS => Vec::new(),
        TrainingCounter::Compilations => {
            let shifted = |by| column(clock, shifted(values, by));
            [0, -1, 1].into_iter().map(shifted).collect()
        }
        _ => vec![now],
    }
}

/// The same, a moment earlier or later.
fn shifted(values: &[f64], by: isize) -> impl Iterator<Item = f64> {
    let last = values.len() - 1;
    (0..=last).map(move |place| values[place.saturating_add_signed(by).min(last)])
}

fn tick_of(counter: TrainingCounter) -> ClockTick {
    match counter {
        TrainingCounter::Compilations => ClockTick::Compilation,
        TrainingCounter::Tokens => ClockTick::Token,
        TrainingCounter::Samples => ClockTick::TrainingSample,
        _ => ClockTick::Episode,
    }
}

fn column(clock: Rival, values: impl IntoIterator<Item = f64>) -> Column {
    let values: Vec<f64> = values.into_iter().collect();
    let ticks = values.last().unwrap_or(&0.0) - values.first().unwrap_or(&0.0);
    Column {
        clock,
        ticks,
        values,
        is_shifted: false,
    }
}

/// An event may be reported one sample before its memory is seen, or one after.
fn columns_of_events(tick: ClockTick, counts: &[f64]) -> Vec<Column> {
    let last = counts.len() - 1;
    let ticks = counts[last] - counts[0];
    if ticks < LEAST_EVENTS {
        return Vec::new();
    }
    let at_event = |by| Column {
        is_shifted: by != 0,
        ..column(Rival::Event(tick), shifted(counts, by))
    };
    let mut columns: Vec<Column> = [0, -1, 1].into_iter().map(at_event).collect();
    if last as f64 >= MOMENTS_TO_SEE_A_SPIKE * ticks {
        let is_new = |place: usize| place > 0 && counts[place] > counts[place - 1];
        let spikes = (0..=last).map(|place| f64::from(u8::from(is_new(place))));
        columns.push(column(Rival::Spike, spikes));
    }
    columns
}

fn best_of_each(points: &[ClockPoint], columns: &[Column], regression: &Regression) -> Vec<Best> {
    let worth = independent_moments(points, columns);
    let mut best: Vec<Best> = Vec::new();
    for model in models(columns) {
        let fit = regression.fit(&model);
        let found = fit.and_then(|fit| judged(&model, columns, &fit, points.len(), worth));
        if let Some(found) = found {
            match best.iter_mut().find(|known| known.clock == found.clock) {
                Some(known) if known.criterion <= found.criterion => {}
                Some(known) => *known = found,
                None => best.push(found),
            }
        }
    }
    best
}

fn independent_moments(points: &[ClockPoint], columns: &[Column]) -> f64 {
    let events = columns
        .iter()
        .filter(|column| matches!(column.clock, Rival::Event(_)))
        .map(|column| column.ticks)
        .fold(0.0, f64::max);
    let most = match events > 0.0 {
        true => MOMENTS_PER_EVENT * events,
        false => MOMENTS_OF_COUNTERS,
    };
    most.min(points.len() as f64)
}

/// Every clock alone and every two of them, each with and without spikes at events.
fn models(columns: &[Column]) -> Vec<Vec<usize>> {
    let is_spike = |place: &usize| columns[*place].clock == Rival::Spike;
    let (spikes, clocks): (Vec<usize>, Vec<usize>) = (0..columns.len()).partition(is_spike);
    let mut models: Vec<Vec<usize>> = clocks.iter().map(|&clock| vec![clock]).collect();
    for (place, &first) in clocks.iter().enumerate() {
        let others = clocks[place + 1..].iter();
        let different = others.filter(|second| columns[**second].clock != columns[first].clock);
        models.extend(different.map(|&second| vec![first, second]));
    }
    if !spikes.is_empty() {
        let with_spikes: Vec<_> = models.iter().map(|m| [&m[..], &spikes].concat()).collect();
        models.extend(with_spikes);
    }
    models
}

/// `None` for a model in which no clock has most of the growth, or in which one makes memory shrink.
fn judged(
    model: &[usize],
    columns: &[Column],
    fit: &Fit,
    moments: usize,
    worth: f64,
) -> Option<Best> {
    let clocks: Vec<(usize, f64)> = (model.iter().copied().zip(fit.coefficients.iter().copied()))
        .filter(|(place, _)| columns[*place].clock != Rival::Spike)
        .collect();
    let grown: f64 = clocks
        .iter()
        .map(|(at, each)| each * columns[*at].ticks)
        .sum();
    let shrinks = clocks.iter().any(|(_, each)| *each < 0.0);
    let share = |(at, each): (usize, f64)| each * columns[at].ticks / grown;
    let most = clocks
        .iter()
        .copied()
        .max_by(|a, b| share(*a).total_cmp(&share(*b)))?;
    if shrinks || grown <= 0.0 || share(most) < MOST {
        return None;
    }
    let least = LEAST_RESIDUAL.max(LEAST_RESIDUAL_SHARE * grown).powi(2);
    let variance = fit.residual_squares / moments as f64 + least;
    // An event that explains the growth as it was reported is better than one that does so a sample later.
    let shift = match columns[most.0].is_shifted {
        true => MARGIN,
        false => 0.0,
    };
    Some(Best {
        clock: columns[most.0].clock,
        criterion: worth * variance.ln() + model.len() as f64 * worth.ln() + shift,
        growth: most.1,
        share: share(most),
    })
}

fn outcome(mut best: Vec<Best>) -> Outcome {
    best.sort_by(|a, b| a.criterion.total_cmp(&b.criterion));
    let Some(winner) = best.first().map(|best| best.criterion) else {
        return Outcome::Open;
    };
    best.retain(|rival| rival.criterion < winner + MARGIN);
    if best
        .iter()
        .all(|rival| matches!(rival.clock, Rival::Event(_)))
    {
        return Outcome::Events(best.iter().filter_map(Best::ticking).collect());
    }
    if best
        .iter()
        .any(|rival| matches!(rival.clock, Rival::Event(_)))
    {
        return Outcome::Open;
    }
    let is = |clock: Rival| best.iter().any(|rival| rival.clock == clock);
    match (is(Rival::Step), best.iter().find_map(Best::ticking)) {
        (true, None) => Outcome::Steps,
        // Compiling takes most of the time where it is frequent, so time cannot acquit it.
        (false, Some(counter)) if counter.tick == ClockTick::Compilation => {
            Outcome::Counter(counter)
        }
        (false, Some(counter)) if !is(Rival::Time) => Outcome::Counter(counter),
        _ => Outcome::Open,
    }
}

impl Best {
    fn ticking(&self) -> Option<ClockGrowth> {
        match self.clock {
            Rival::Event(tick) | Rival::Counter(tick) => Some(ClockGrowth {
                tick,
                growth: self.growth,
                share: self.share,
            }),
            _ => None,
        }
    }
}
