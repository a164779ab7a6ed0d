//! The curves of a run for charts and tables: whole, by role and by kind, over steps and over time.
//!
//! The judge keeps what statistics need and lets the rest go. A chart needs the whole run evenly, a
//! table its first, highest and newest values, a comparison where it settled. All of it in bounded
//! memory, with the extremes kept.

use leveloff_model::folded::{Fold, Folded, Reach};
use leveloff_model::process::Role;
use leveloff_model::progress::{MarkKind, Phase};
use leveloff_model::training_counters::TrainingCounter;
use leveloff_model::units::{Bytes, Seconds};

use crate::observation::{Observation, XUnit};
use crate::stats::median;
use crate::units::{Amount, X};
use crate::verdict::Kind;

/// Spans that a run is folded into at most: several for each column of a chart on a wide screen.
pub const MOST_SPANS: usize = 2048;

/// Events that are kept at most; beyond, every second one is dropped.
const MOST_EVENTS: usize = 1024;

/// A run has settled, if at all, in this last part of it.
const SETTLED_PART: f64 = 0.2;

/// What a curve is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Series {
    /// Memory that the run really holds.
    Memory,
    /// What a sum of RSS says.
    RssSum,
    /// Memory of all processes of a role.
    Role(Role),
    /// One kind of memory of all processes.
    Kind(Kind),
    /// Something that the training counts inside.
    Counter(TrainingCounter),
    /// GPU memory of all processes, as the driver reports it.
    Gpu,
}

/// Something that happened in the training.
#[derive(Debug, Clone, PartialEq)]
pub struct RunEvent {
    /// At which count.
    pub x: Option<X>,
    /// When.
    pub t: Option<Seconds>,
    /// What.
    pub kind: RunEventKind,
}

/// What can happen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunEventKind {
    /// An evaluation began.
    Evaluation,
    /// A checkpoint was saved.
    Checkpoint,
    /// An epoch began.
    Epoch(u64),
    /// Something that the training names.
    Named(String),
    /// From here on another counter of the training gives the steps: its name.
    Clock(String),
}

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

type Values = [Option<Reach>; Series::COUNT];

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
        let values = values(observation);
        self.first.get_or_insert(values);
        if observation.count.is_some() {
            self.first_counted.get_or_insert(values);
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
        self.spans.push(CurveSpan::of(observation));
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

    /// The series that are known and were ever more than nothing, in the order of reading. What a trim
    /// gave back is one number and no curve; what the training has worked through is a clock.
    pub fn series(&self) -> Vec<Series> {
        let is_there = |series: &Series| self.peak(*series).is_some_and(|peak| peak.0 > 0.0);
        let no_curves = [
            TrainingCounter::Trimmed,
            TrainingCounter::TensorCounts,
            TrainingCounter::MallocCounts,
            TrainingCounter::Samples,
            TrainingCounter::Tokens,
            TrainingCounter::Episodes,
            TrainingCounter::Compilations,
            TrainingCounter::Recompilations,
            TrainingCounter::InputShapes,
        ]
        .map(Series::Counter);
        let is_curve = |series: &Series| !no_curves.contains(series);
        Series::all().filter(is_curve).filter(is_there).collect()
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

impl RunEventKind {
    /// What a mark means, for charts, logs and the judge alike; `None` for training that goes on.
    pub fn of(mark: &MarkKind) -> Option<RunEventKind> {
        match mark {
            MarkKind::Phase(Phase::Train) => None,
            MarkKind::Phase(Phase::Eval) => Some(RunEventKind::Evaluation),
            MarkKind::Phase(Phase::Checkpoint) => Some(RunEventKind::Checkpoint),
            MarkKind::Phase(Phase::Other(name)) => Some(RunEventKind::Named(name.clone())),
            MarkKind::Epoch(epoch) => Some(RunEventKind::Epoch(*epoch)),
            MarkKind::Event(name) => Some(match Phase::from(name.clone()) {
                Phase::Checkpoint => RunEventKind::Checkpoint,
                _ => RunEventKind::Named(name.clone()),
            }),
            MarkKind::Clock(counter) => Some(RunEventKind::Clock(counter.clone())),
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
    fn and(self, next: CurveSpan) -> CurveSpan {
        let mut values = self.values;
        for (value, next) in values.iter_mut().zip(next.values) {
            *value = Reach::and_maybe(*value, next);
        }
        CurveSpan {
            x: Reach::and_maybe(self.x, next.x),
            t: Reach::and_maybe(self.t, next.t),
            values,
        }
    }
}

const ROLES_FROM: usize = 2;
const KINDS_FROM: usize = ROLES_FROM + Role::ALL.len();
const GPU_AT: usize = KINDS_FROM + Kind::ALL.len();
const INSIDE_FROM: usize = GPU_AT + 1;

impl Series {
    const COUNT: usize = INSIDE_FROM + TrainingCounter::COUNT;

    /// Every series there may be, in the order of reading.
    pub fn all() -> impl Iterator<Item = Series> {
        let whole = [Series::Memory, Series::RssSum].into_iter();
        let roles = Role::ALL.into_iter().map(Series::Role);
        let kinds = Kind::ALL.into_iter().map(Series::Kind);
        let inside = TrainingCounter::ALL.into_iter().map(Series::Counter);
        let gpu = [Series::Gpu];
        whole.chain(roles).chain(kinds).chain(inside).chain(gpu)
    }

    /// Its name in files: `memory`, `trainer`, `anon`.
    pub fn name(self) -> &'static str {
        match self {
            Series::Memory => "memory",
            Series::RssSum => "rss_sum",
            Series::Role(role) => role.name(),
            Series::Kind(kind) => kind.name(),
            Series::Counter(fact) => fact.name().trim_end_matches("_bytes"),
            Series::Gpu => "gpu",
        }
    }

    /// Whether it is an amount of memory, and not a count.
    pub fn is_bytes(self) -> bool {
        match self {
            Series::Kind(kind) => kind != Kind::Descriptors,
            Series::Counter(fact) => fact.is_bytes(),
            _ => true,
        }
    }

    fn index(self) -> usize {
        match self {
            Series::Memory => 0,
            Series::RssSum => 1,
            Series::Role(role) => ROLES_FROM + role as usize,
            Series::Kind(kind) => KINDS_FROM + kind as usize,
            Series::Gpu => GPU_AT,
            Series::Counter(fact) => INSIDE_FROM + fact as usize,
        }
    }
}

fn values(observation: &Observation) -> Values {
    let mut values = [None; Series::COUNT];
    let mut set = |series: Series, value: f64| {
        let value = Reach::at(value);
        let place: &mut Option<Reach> = &mut values[series.index()];
        // Processes of a role add up.
        *place = Some(place.map_or(value, |sum| Reach::at(sum.high + value.high)));
    };
    let bytes = |amount: Bytes| amount.0 as f64;
    set(Series::Memory, bytes(observation.memory));
    for process in &observation.processes {
        set(Series::Role(process.role), bytes(process.memory));
        set(Series::Kind(Kind::Anonymous), bytes(process.anonymous()));
        set(Series::Kind(Kind::Shared), bytes(process.shared));
        set(Series::Kind(Kind::Swap), bytes(process.swapped));
        if let Some(fds) = process.fds {
            set(Series::Kind(Kind::Descriptors), f64::from(fds));
        }
    }
    let amounts = [
        (Series::RssSum, observation.rss_sum),
        (Series::Kind(Kind::DevShm), observation.devshm),
        (Series::Kind(Kind::Memfd), observation.memfd_own),
        (Series::Gpu, observation.gpu_bytes),
    ];
    for (series, amount) in amounts {
        if let Some(amount) = amount {
            set(series, bytes(amount));
        }
    }
    for (fact, value) in observation.counters.known() {
        set(Series::Counter(fact), value as f64);
    }
    values
}

#[cfg(test)]
mod tests {
    use leveloff_model::process::{Pid, ProcessIndex};
    use leveloff_model::training_counters::TrainingCounters;

    use super::*;
    use crate::observation::ProcessShare;

    fn share(role: Role, memory: u64, shared: u64) -> ProcessShare {
        ProcessShare {
            shared: Bytes(shared),
            ..ProcessShare::with_memory(ProcessIndex(0), Pid(1), role, Bytes(memory))
        }
    }

    fn at(count: Option<f64>, t: f64, memory: u64) -> Observation {
        Observation {
            count,
            t: Some(Seconds(t)),
            memory: Bytes(memory),
            ..Observation::default()
        }
    }

    #[test]
    fn every_series_has_a_place_of_its_own() {
        let mut places: Vec<usize> = Series::all().map(Series::index).collect();
        places.sort_unstable();
        assert_eq!(places, (0..Series::COUNT).collect::<Vec<_>>());
    }

    #[test]
    fn roles_and_kinds_add_up_and_what_never_was_is_not_there() {
        let mut curves = RunCurves::new();
        curves.observe(&Observation {
            processes: vec![
                share(Role::Trainer, 100, 30),
                share(Role::DataloaderWorker, 20, 5),
                share(Role::DataloaderWorker, 10, 0),
            ],
            ..at(Some(1.0), 0.0, 130)
        });
        let role = |role| curves.settled(Series::Role(role));
        assert_eq!(role(Role::Trainer), Some(Amount(100.0)));
        assert_eq!(role(Role::DataloaderWorker), Some(Amount(30.0)));
        assert_eq!(role(Role::Launcher), None);
        let kind = |kind| curves.settled(Series::Kind(kind));
        assert_eq!(kind(Kind::Anonymous), Some(Amount(95.0)));
        assert_eq!(kind(Kind::Shared), Some(Amount(35.0)));
        assert_eq!(kind(Kind::DevShm), None);
        assert!(!curves.series().contains(&Series::Kind(Kind::Swap)));
    }

    #[test]
    fn the_baseline_is_where_counting_began_and_a_spike_is_the_peak_but_not_the_level() {
        let mut curves = RunCurves::new();
        curves.observe(&at(None, 0.0, 7));
        for step in 0..100_000_u32 {
            let memory = if step == 99_000 { 900 } else { 50 };
            curves.observe(&at(Some(f64::from(step)), f64::from(step) + 1.0, memory));
        }
        assert_eq!(curves.baseline(Series::Memory), Some(Amount(50.0)));
        assert_eq!(curves.peak(Series::Memory), Some(Amount(900.0)));
        assert_eq!(curves.lasting_peak(), Some(Amount(50.0)));
        assert_eq!(curves.settled(Series::Memory), Some(Amount(50.0)));
        assert!(curves.spans().count() <= MOST_SPANS);
        assert!(curves.stride() > 1);
    }

    #[test]
    fn what_is_counted_inside_begins_with_its_first_count_and_a_trim_is_no_curve() {
        let mut curves = RunCurves::new();
        for step in 0..40_u32 {
            let tensors: Option<u64> = (step >= 10).then_some(if step < 20 { 0 } else { 6529 });
            let counters = TrainingCounters::default()
                .with(TrainingCounter::Tensors, tensors)
                .with(TrainingCounter::Trimmed, (step == 30).then_some(1 << 20));
            curves.observe(&Observation {
                counters,
                ..at(Some(f64::from(step)), f64::from(step), 500)
            });
        }
        let [tensors, trimmed] =
            [TrainingCounter::Tensors, TrainingCounter::Trimmed].map(Series::Counter);
        assert_eq!(curves.baseline(tensors), Some(Amount(6529.0)));
        assert_eq!(curves.peak(trimmed), Some(Amount(f64::from(1 << 20))));
        assert_eq!(curves.series(), [Series::Memory, tensors]);
    }

    #[test]
    fn a_run_that_shuts_down_at_its_last_step_settled_before() {
        let mut curves = RunCurves::new();
        for step in 0..50 {
            curves.observe(&at(Some(f64::from(step)), f64::from(step), 800));
        }
        for n in 0..40 {
            curves.observe(&at(Some(50.0), f64::from(50 + n), 10));
        }
        assert_eq!(curves.settled(Series::Memory), Some(Amount(800.0)));
        assert_eq!(
            curves.peak_until(Series::Memory, X(20.0), XUnit::Step),
            Some(Amount(800.0))
        );
    }

    #[test]
    fn between_two_counts_lies_what_is_between_them() {
        let mut curves = RunCurves::new();
        for (step, memory) in [(10.0, 100), (20.0, 200), (30.0, 200)] {
            curves.observe(&at(Some(step), step, memory));
        }
        let around = |x| curves.around(Series::Memory, X(x), XUnit::Step);
        assert_eq!(around(10.0), Some(Amount(100.0)));
        assert_eq!(around(15.0), Some(Amount(150.0)));
        assert_eq!((around(9.0), around(31.0)), (None, None));
    }

    #[test]
    fn a_checkpoint_is_reported_once_and_events_are_bounded() {
        let mut curves = RunCurves::new();
        let saved = vec![
            MarkKind::Phase(Phase::Checkpoint),
            MarkKind::Event("checkpoint".to_owned()),
            MarkKind::Phase(Phase::Train),
        ];
        for step in 0..5000 {
            curves.observe(&Observation {
                marks: saved.clone(),
                ..at(Some(f64::from(step)), f64::from(step), 1)
            });
            if step == 10 {
                assert_eq!(curves.events().len(), 11);
            }
        }
        assert!(curves.events().len() <= MOST_EVENTS && curves.events_are_thinned());
        assert!(curves.events().len() >= MOST_EVENTS / 2);
    }
}
