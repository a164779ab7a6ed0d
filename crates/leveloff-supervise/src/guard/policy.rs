//! Decides when to warn and when to stop a run.
//!
//! Time and memory are passed in, so that tests can replay any curve.

use std::time::{Duration, Instant};

use leveloff_model::units::{Bytes, BytesPerSecond, Seconds};

use super::limit_usage::{LimitUsage, LimitUsages};
use super::trend::Trend;

/// Decides from one reading to the next, and says when the next one is due.
#[derive(Debug)]
pub struct GuardPolicy {
    times: PolicyTimes,
    trend: Trend,
    ceiling_trend: Trend,
    over: Dwell,
    gpu_over: Dwell,
    forecast: Dwell,
    is_warned: bool,
    warned_at: Option<Instant>,
    pace: Duration,
}

/// How long a condition may last before the policy acts on it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PolicyTimes {
    /// The sampling interval, which is also the longest time between two readings.
    pub interval: Duration,
    /// How long memory may be above the limit after a jump.
    pub dwell: Duration,
    /// `--stop-before`
    pub stop_before: Option<Duration>,
}

/// One reading.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PolicyInput {
    /// When it was taken.
    pub now: Instant,
    /// The memory in use.
    pub usages: LimitUsages,
    /// The forecast; `None` between two samples, when the run is not judged.
    pub forecast: Option<Forecast>,
}

/// When the run's memory meets its ceiling, at the judged rate of growth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Forecast {
    /// Never, or it is not known yet.
    Open,
    /// After this time.
    Met {
        /// The time until then.
        left: Seconds,
        /// The ceiling, as an amount of the run's own memory.
        ceiling: Bytes,
    },
}

/// What the guard has to do now.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Decision {
    /// Nothing.
    NoAction,
    /// Warn that the limit is near.
    Warn(LimitUsage),
    /// Stop the run.
    Stop(Reason),
}

/// Why a run is stopped.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Reason {
    /// `--limit` is reached.
    Limit(LimitUsage),
    /// A limit that the kernel enforces is nearly reached.
    Ceiling(LimitUsage),
    /// The ceiling is met sooner than `--stop-before` allows.
    Forecast {
        /// The time until then.
        left: Seconds,
        /// `--stop-before`
        stop_before: Duration,
        /// The ceiling, as an amount of the run's own memory.
        ceiling: Bytes,
    },
    /// `--gpu-limit` is reached.
    Gpu(LimitUsage),
    /// `leveloff try` has seen enough of the run.
    TrialOver,
}

/// How long a condition has held, less the time that it did not: a condition that comes and goes adds up if it holds more
/// often than not.
#[derive(Debug, Clone, Copy, Default)]
struct Dwell {
    spent: Duration,
    is_on: bool,
    last: Option<Instant>,
}

/// Hysteresis: once passed, the limit counts as passed until memory is below this share of it.
const RELEASE: f64 = 0.98;

/// A warning is re-armed below this share of the amount at which it is given.
const REARM: f64 = 0.95;

/// The shortest time between two warnings.
const WARN_EVERY: Duration = Duration::from_secs(60);

/// The first reading comes this long after the first sample: no rate is known yet.
const FIRST_READING: Duration = Duration::from_millis(100);

/// The guard also stops at this share of a limit that the kernel enforces. The kernel kills at 100 %; the remaining 3 % are
/// for the memory that writing a checkpoint takes.
const BRINK: f64 = 0.97;

/// The guard also stops when a ceiling would be met within this many seconds at the fastest recent rate.
const BRINK_SECONDS: f64 = 1.0;

/// Below this share of a ceiling, the rate alone is no reason to stop: a training that starts allocates fast for a moment.
const FAST_GROWTH_FROM: f64 = 0.9;

/// Readings until the limit is met at the fastest recent rate: enough to tell a rise from a spike.
const READINGS_AHEAD: f64 = 6.0;

/// Growth that may begin at any moment, in bytes a second: a loader that reads ahead. Faster growth is noticed one
/// interval late, once.
const SUDDEN: f64 = 256e6;

/// The shortest time between two readings. A reading of twenty processes takes a tenth of a millisecond.
const FASTEST_PACE: Duration = Duration::from_millis(20);

/// A forecast must hold for this share of `--stop-before`.
const FORECAST_DWELL: f64 = 0.1;

/// And at least for this long: a model that is being loaded grows faster than any leak, for seconds.
const SHORTEST_FORECAST: Duration = Duration::from_secs(10);

impl GuardPolicy {
    /// A policy before its first reading.
    pub fn new(times: PolicyTimes) -> GuardPolicy {
        GuardPolicy {
            times,
            trend: Trend::over(times.interval),
            ceiling_trend: Trend::over(times.interval),
            over: Dwell::default(),
            gpu_over: Dwell::default(),
            forecast: Dwell::default(),
            is_warned: false,
            warned_at: None,
            pace: FIRST_READING.min(times.interval),
        }
    }

    /// Takes a reading and decides.
    pub fn decide(&mut self, input: &PolicyInput) -> Decision {
        let usages = &input.usages;
        if let Some(limit) = usages.limit {
            self.trend.push(input.now, limit.used);
        }
        if let Some(ceiling) = usages.ceiling {
            self.ceiling_trend.push(input.now, ceiling.used);
        }
        self.pace = self.pace_for(usages);
        let brink = usages
            .ceiling
            .filter(|ceiling| self.is_on_the_brink(ceiling));
        let stop = (usages.limit)
            .filter(|limit| self.is_passed(limit, input.now, brink.is_some()))
            .filter(|_| usages.limit_is_ours)
            .map(Reason::Limit)
            .or(brink.map(Reason::Ceiling))
            .or_else(|| self.gpu_is_passed(usages, input.now))
            .or_else(|| self.is_met_too_soon(input));
        match stop {
            Some(reason) => Decision::Stop(reason),
            None => self.warning(usages, input.now),
        }
    }

    /// The time until the next reading.
    pub fn pace(&self) -> Duration {
        self.pace
    }

    /// A steady rise past the limit counts at once. A jump has to last, so that a spike of one sample does not stop a run,
    /// unless the ceiling is near as well.
    fn is_passed(&mut self, limit: &LimitUsage, now: Instant, is_on_the_brink: bool) -> bool {
        let lasted = self.over.update(limit, now);
        let has_to_last = !self.trend.is_steady_rise() && !is_on_the_brink;
        limit.is_over() && (!has_to_last || lasted >= self.times.dwell)
    }

    fn gpu_is_passed(&mut self, usages: &LimitUsages, now: Instant) -> Option<Reason> {
        let gpu = usages.gpu?;
        let lasted = self.gpu_over.update(&gpu, now);
        (gpu.is_over() && lasted >= self.times.dwell).then_some(Reason::Gpu(gpu))
    }

    fn is_on_the_brink(&self, ceiling: &LimitUsage) -> bool {
        let BytesPerSecond(rate) = self.ceiling_trend.fastest();
        let left = ceiling.headroom().0 as f64;
        ceiling.fill() >= BRINK || ceiling.fill() >= FAST_GROWTH_FROM && left < rate * BRINK_SECONDS
    }

    fn is_met_too_soon(&mut self, input: &PolicyInput) -> Option<Reason> {
        let stop_before = self.times.stop_before?;
        let dwell = stop_before.mul_f64(FORECAST_DWELL).max(SHORTEST_FORECAST);
        let (left, ceiling) = match input.forecast? {
            Forecast::Met { left, ceiling } => (left, ceiling),
            Forecast::Open => (Seconds(f64::INFINITY), Bytes::ZERO),
        };
        // The dwell begins while `stop_before + dwell` is left, so that `stop_before` is still left at the decision.
        let is_near = left.0 < (stop_before + dwell).as_secs_f64();
        let lasted = self.forecast.add(is_near, is_near, input.now);
        (left.0 < stop_before.as_secs_f64() && lasted >= dwell).then_some(Reason::Forecast {
            left,
            stop_before,
            ceiling,
        })
    }

    fn warning(&mut self, usages: &LimitUsages, now: Instant) -> Decision {
        let Some(warn) = usages.warn else {
            return Decision::NoAction;
        };
        if warn.used < warn.limit.share(REARM) {
            self.is_warned = false;
        }
        let is_recent = |at: Instant| now.duration_since(at) < WARN_EVERY;
        if warn.is_over() && !self.is_warned && !self.warned_at.is_some_and(is_recent) {
            (self.is_warned, self.warned_at) = (true, Some(now));
            return Decision::Warn(warn);
        }
        Decision::NoAction
    }

    /// The nearer the limit and the faster the growth, the sooner the next reading.
    fn pace_for(&self, usages: &LimitUsages) -> Duration {
        let time_to = |usage: Option<LimitUsage>, trend: &Trend| {
            usage.map(|usage| usage.headroom().0 as f64 / trend.fastest().0.max(SUDDEN))
        };
        let times = [
            time_to(usages.limit, &self.trend),
            time_to(usages.ceiling, &self.ceiling_trend),
        ];
        let interval = self.times.interval;
        let Some(soonest) = times.into_iter().flatten().reduce(f64::min) else {
            return interval;
        };
        let wanted = Duration::from_secs_f64((soonest / READINGS_AHEAD).min(3600.0));
        wanted.clamp(FASTEST_PACE.min(interval), interval)
    }
}

impl Dwell {
    /// How long the limit has been passed.
    fn update(&mut self, usage: &LimitUsage, now: Instant) -> Duration {
        let holds = usage.used >= usage.limit.share(RELEASE);
        self.add(usage.is_over(), holds, now)
    }

    /// How long the condition has held: it begins with `begins` and goes on while it `holds`.
    fn add(&mut self, begins: bool, holds: bool, now: Instant) -> Duration {
        let passed = self
            .last
            .map_or(Duration::ZERO, |last| now.duration_since(last));
        self.spent = match self.is_on {
            true => self.spent + passed,
            false => self.spent.saturating_sub(passed),
        };
        self.is_on = holds && (self.is_on || begins);
        self.last = Some(now);
        self.spent
    }
}

#[cfg(test)]
mod tests;
