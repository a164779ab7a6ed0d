//! The processes of the run, and what each did lately.

use std::collections::BTreeMap;

use leveloff_model::process::{ProcessIndex, ProcessInfo};
use leveloff_model::sample::{Event, ProcessReading, Tick};
use leveloff_model::units::{CpuMillis, Seconds};

/// Points of a sparkline.
const POINTS: usize = 32;

/// Who is there.
#[derive(Debug, Clone, Default)]
pub struct People {
    living: BTreeMap<ProcessIndex, Person>,
}

/// A process, and what it did lately.
#[derive(Debug, Clone)]
pub struct Person {
    /// Who it is.
    pub info: ProcessInfo,
    /// When it was first seen.
    pub since: Seconds,
    /// Its memory over its life.
    pub sparkline: Sparkline,
    /// Its share of one core since the last tick, in percent.
    pub cpu_percent: Option<f64>,
    last_cpu: Option<(Seconds, CpuMillis)>,
}

/// Something over a whole life, in a handful of points: when there are too many, every two become
/// one.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sparkline {
    points: Vec<f64>,
    /// Samples in a point.
    stride: usize,
    /// Samples that came since the last point.
    waiting: usize,
    newest: Option<f64>,
}

impl People {
    /// A living process.
    pub fn get(&self, index: ProcessIndex) -> Option<&Person> {
        self.living.get(&index)
    }

    /// All living ones, in the order they came.
    pub fn living(&self) -> impl Iterator<Item = &Person> {
        self.living.values()
    }

    pub(super) fn take(&mut self, tick: &Tick) {
        let t = tick.sample.t;
        for event in &tick.events {
            match event {
                Event::Appeared(info) | Event::Changed(info) => self.meet(info, t),
                Event::Exited(index) => {
                    self.living.remove(index);
                }
                Event::Mark(_) | Event::Software(_) | Event::Gap(_) => {}
            }
        }
        for reading in &tick.sample.processes {
            if let Some(person) = self.living.get_mut(&reading.process) {
                person.take(reading, t);
            }
        }
    }

    fn meet(&mut self, info: &ProcessInfo, t: Seconds) {
        self.living
            .entry(info.index)
            .and_modify(|person| person.info = info.clone())
            .or_insert_with(|| Person {
                info: info.clone(),
                since: t,
                sparkline: Sparkline::default(),
                cpu_percent: None,
                last_cpu: None,
            });
    }
}

impl Person {
    fn take(&mut self, reading: &ProcessReading, t: Seconds) {
        self.sparkline.push(reading.memory().0 as f64);
        if let Some((before, cpu)) = self.last_cpu.replace((t, reading.cpu)) {
            let millis = reading.cpu.0.saturating_sub(cpu.0) as f64;
            let seconds = (t - before).0;
            self.cpu_percent = (seconds > 0.0).then(|| millis / 10.0 / seconds);
        }
    }
}

impl Sparkline {
    /// Takes the next value.
    pub fn push(&mut self, value: f64) {
        self.newest = Some(value);
        self.waiting += 1;
        if self.waiting < self.stride.max(1) {
            return;
        }
        self.waiting = 0;
        self.points.push(value);
        if self.points.len() > 2 * POINTS {
            // The later of two is kept, so that the last point is always the newest.
            self.points = self.points.iter().skip(1).step_by(2).copied().collect();
            self.stride = self.stride.max(1) * 2;
        }
    }

    /// At most `count` points over its whole life, the newest last.
    pub fn points(&self, count: usize) -> Vec<f64> {
        let all: Vec<f64> = self
            .points
            .iter()
            .copied()
            .chain(self.newest.filter(|_| self.waiting > 0))
            .collect();
        let step = all.len().div_ceil(count.max(1)).max(1);
        let mut points: Vec<f64> = all.iter().rev().step_by(step).copied().collect();
        points.reverse();
        points
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sparkline_spans_the_whole_life_in_few_points() {
        let mut line = Sparkline::default();
        for i in 0..100_000 {
            line.push(f64::from(i));
        }
        let points = line.points(16);
        assert!(points.len() <= 16 && points.len() >= 8, "{points:?}");
        assert!(points[0] < 20_000.0, "{points:?}");
        assert_eq!(points.last(), Some(&99_999.0));
        assert!(points.is_sorted());
    }

    #[test]
    fn a_short_life_is_shown_as_it_was() {
        let mut line = Sparkline::default();
        for value in [3.0, 1.0, 2.0] {
            line.push(value);
        }
        assert_eq!(line.points(8), [3.0, 1.0, 2.0]);
    }
}
