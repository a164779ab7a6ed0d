//! When to warn and when to stop: looks in, decisions out. No clock, no processes, no screen.

use std::time::{Duration, Instant};

use leveloff_model::units::{Bytes, Seconds};

use super::gauge::{Gauge, Gauges, share_of};
use super::trend::{BytesPerSecond, Trend};

/// Watches gauges.
#[derive(Debug)]
pub struct Watchman {
    patience: Patience,
    trend: Trend,
    ceiling_trend: Trend,
    over: Dwell,
    gpu_over: Dwell,
    forecast: Dwell,
    is_warned: bool,
    warned_at: Option<Instant>,
    pace: Duration,
}

/// How long things may last before they count.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Patience {
    /// Time between samples, which is also the longest between two looks.
    pub interval: Duration,
    /// How long the limit may be passed, if that was not foreseen.
    pub dwell: Duration,
    /// How much time there must be left, if that was stated.
    pub stop_before: Option<Duration>,
}

/// What is seen at a moment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Look {
    /// When.
    pub now: Instant,
    /// How full everything is.
    pub gauges: Gauges,
    /// When growth meets the ceiling at the judged rate; `None` at a glance, which does not judge.
    pub forecast: Option<Forecast>,
}

/// What the judge says of the time that is left.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Forecast {
    /// Nothing grows that would meet anything, or it cannot be told yet.
    Open,
    /// The ceiling is met in so long.
    Met {
        /// In how long.
        left: Seconds,
        /// The ceiling, in terms of the run's memory.
        ceiling: Bytes,
    },
}

/// What is to be done.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Decision {
    /// Nothing.
    Calm,
    /// Say that the limit is near.
    Warn(Gauge),
    /// Stop the run.
    Stop(Why),
}

/// Why a run is stopped.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Why {
    /// The stated limit is reached.
    Limit(Gauge),
    /// What the kernel enforces is about to be reached.
    Ceiling(Gauge),
    /// It would be reached too soon.
    Forecast {
        /// In how long.
        left: Seconds,
        /// How long there must be.
        asked: Duration,
        /// The ceiling, in terms of the run's memory.
        ceiling: Bytes,
    },
    /// The stated limit on GPU memory is reached.
    Gpu(Gauge),
}

/// For how long something has been the case, less for how long it then was not: what comes and goes adds up if it
/// is there more often than not.
#[derive(Debug, Clone, Copy, Default)]
struct Dwell {
    spent: Duration,
    is_on: bool,
    last: Option<Instant>,
}

/// Once passed, the limit counts as passed until memory is below this share of it: what hovers around it
/// does not begin anew at every breath.
const RELEASE: f64 = 0.98;

/// A warning is given again only when memory was below this share of where it is given.
const REARM: f64 = 0.95;

/// At least so long between two warnings, however often memory comes and goes.
const WARN_EVERY: Duration = Duration::from_secs(60);

/// How long after the first sample the first look comes: nothing is known of the pace yet.
const FIRST_LOOK: Duration = Duration::from_millis(100);

/// From this share on, a ceiling is about to be hit. The kernel kills at the whole; this leaves 3 % for
/// what a checkpoint takes.
const BRINK: f64 = 0.97;

/// A ceiling that is met within this long, at the fastest pace seen lately, is about to be hit as well.
const BRINK_TIME: f64 = 1.0;

/// A ceiling is not feared below this share of it: a training that starts takes memory fast for a moment.
const FEAR: f64 = 0.9;

/// Looks before the limit is met at the fastest pace seen lately: so many that a rise is told from a spike.
const LOOKS_AHEAD: f64 = 6.0;

/// Growth that may begin at any moment, in bytes a second: a loader that reads ahead. Faster growth than
/// this is noticed one interval late, once.
const SUDDEN: f64 = 256e6;

/// The shortest time between two looks. A look at twenty processes takes a tenth of a millisecond.
const FASTEST_PACE: Duration = Duration::from_millis(20);

/// A forecast must hold for this share of the time that was stated.
const FORECAST_DWELL: f64 = 0.1;

/// And at least for this long: a model that is loaded grows faster than any leak, for seconds.
const SHORTEST_FORECAST: Duration = Duration::from_secs(10);

impl Watchman {
    /// One who has seen nothing yet.
    pub fn new(patience: Patience) -> Watchman {
        Watchman {
            patience,
            trend: Trend::over(patience.interval),
            ceiling_trend: Trend::over(patience.interval),
            over: Dwell::default(),
            gpu_over: Dwell::default(),
            forecast: Dwell::default(),
            is_warned: false,
            warned_at: None,
            pace: FIRST_LOOK.min(patience.interval),
        }
    }

    /// What to do about what is seen now.
    pub fn decide(&mut self, look: &Look) -> Decision {
        let gauges = &look.gauges;
        if let Some(limit) = gauges.limit {
            self.trend.push(look.now, limit.used);
        }
        if let Some(ceiling) = gauges.ceiling {
            self.ceiling_trend.push(look.now, ceiling.used);
        }
        self.pace = self.pace_for(gauges);
        let brink = gauges
            .ceiling
            .filter(|ceiling| self.is_on_the_brink(ceiling));
        let stop = (gauges.limit)
            .filter(|limit| self.is_passed(limit, look.now, brink.is_some()))
            .filter(|_| gauges.limit_is_ours)
            .map(Why::Limit)
            .or(brink.map(Why::Ceiling))
            .or_else(|| self.gpu_is_passed(gauges, look.now))
            .or_else(|| self.is_met_too_soon(look));
        match stop {
            Some(why) => Decision::Stop(why),
            None => self.warning(gauges, look.now),
        }
    }

    /// How long until the next look.
    pub fn pace(&self) -> Duration {
        self.pace
    }

    /// A rise that was foreseen is believed at once. A jump has to last: a spike of one sample must not end
    /// a night's run, unless the next one would meet the ceiling.
    fn is_passed(&mut self, limit: &Gauge, now: Instant, is_on_the_brink: bool) -> bool {
        let holds = limit.used >= share_of(limit.limit, RELEASE);
        let begins = limit.is_over();
        let lasted = self.over.lasted(begins, holds, now);
        let foreseen = self.trend.was_foreseen();
        begins && (foreseen || is_on_the_brink || lasted >= self.patience.dwell)
    }

    fn gpu_is_passed(&mut self, gauges: &Gauges, now: Instant) -> Option<Why> {
        let gpu = gauges.gpu?;
        let holds = gpu.used >= share_of(gpu.limit, RELEASE);
        let lasted = self.gpu_over.lasted(gpu.is_over(), holds, now);
        (gpu.is_over() && lasted >= self.patience.dwell).then_some(Why::Gpu(gpu))
    }

    fn is_on_the_brink(&self, ceiling: &Gauge) -> bool {
        let BytesPerSecond(rate) = self.ceiling_trend.fastest();
        let left = ceiling.headroom().0 as f64;
        ceiling.fill() >= BRINK || ceiling.fill() >= FEAR && left < rate * BRINK_TIME
    }

    fn is_met_too_soon(&mut self, look: &Look) -> Option<Why> {
        let asked = self.patience.stop_before?;
        let forecast = look.forecast?;
        let dwell = asked.mul_f64(FORECAST_DWELL).max(SHORTEST_FORECAST);
        let is_within = |time: Duration| match forecast {
            Forecast::Met { left, .. } => left.0 < time.as_secs_f64(),
            Forecast::Open => false,
        };
        // It has to hold while it comes near, so that in the end there is as much time as was asked for.
        let near = is_within(asked + dwell);
        let lasted = self.forecast.lasted(near, near, look.now);
        match forecast {
            Forecast::Met { left, ceiling } if is_within(asked) && lasted >= dwell => {
                Some(Why::Forecast {
                    left,
                    asked,
                    ceiling,
                })
            }
            _ => None,
        }
    }

    fn warning(&mut self, gauges: &Gauges, now: Instant) -> Decision {
        let Some(warn) = gauges.warn else {
            return Decision::Calm;
        };
        if warn.used < share_of(warn.limit, REARM) {
            self.is_warned = false;
        }
        let is_quiet = |at: Instant| now.duration_since(at) < WARN_EVERY;
        if warn.is_over() && !self.is_warned && !self.warned_at.is_some_and(is_quiet) {
            (self.is_warned, self.warned_at) = (true, Some(now));
            return Decision::Warn(warn);
        }
        Decision::Calm
    }

    /// The nearer the limit and the faster the growth, the sooner the next look.
    fn pace_for(&self, gauges: &Gauges) -> Duration {
        let time_to = |gauge: Option<Gauge>, trend: &Trend| {
            gauge.map(|gauge| gauge.headroom().0 as f64 / trend.fastest().0.max(SUDDEN))
        };
        let times = [
            time_to(gauges.limit, &self.trend),
            time_to(gauges.ceiling, &self.ceiling_trend),
        ];
        let soonest = times.into_iter().flatten().reduce(f64::min);
        let Some(soonest) = soonest else {
            return self.patience.interval;
        };
        let fastest = FASTEST_PACE.min(self.patience.interval);
        let wanted = Duration::from_secs_f64((soonest / LOOKS_AHEAD).min(3600.0));
        wanted.clamp(fastest, self.patience.interval)
    }
}

impl Dwell {
    /// How long it has lasted: it begins, and then is so for as long as it holds.
    fn lasted(&mut self, begins: bool, holds: bool, now: Instant) -> Duration {
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
