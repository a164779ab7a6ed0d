//! What a run did to memory, in a few lines: kept up tick by tick, in bounded memory.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;

use leveloff_classifier::observation::{Attendance, Present};
use leveloff_model::process::{ProcessIndex, ProcessInfo, Role};
use leveloff_model::sample::{Event, OwnCost, Sample, Tick};
use leveloff_model::units::{Bytes, Seconds, Step};

/// Follows a run and can tell about it at any time.
#[derive(Debug, Default)]
pub(crate) struct Summary {
    infos: HashMap<ProcessIndex, ProcessInfo>,
    attendance: Attendance,
    baseline: Option<Point>,
    peak: Option<Point>,
    last: Option<Point>,
    /// Where memory was before it began to fall, if that is just now.
    before_fall: Option<Point>,
    falls: u32,
    /// Samples since it began to fall.
    since_fall: u32,
    /// How far the run came, its last words included.
    reached: Option<(Seconds, Option<Step>)>,
    /// Growth that is told per process under `--system`.
    growers: HashMap<ProcessIndex, Grower>,
    /// What could not be measured, in words; the recording says why.
    gaps: BTreeSet<&'static str>,
    cost: OwnCost,
    samples: u64,
}

/// The tree at one moment.
#[derive(Debug, Clone)]
struct Point {
    t: Seconds,
    step: Option<Step>,
    total: Bytes,
    rss: Bytes,
    unread: u32,
    roles: BTreeMap<Role, RoleMemory>,
}

#[derive(Debug, Clone, Copy, Default)]
struct RoleMemory {
    processes: u32,
    memory: Bytes,
    rss: Bytes,
}

#[derive(Debug, Clone, Copy)]
struct Grower {
    first: Bytes,
    last: Bytes,
    /// Whether the amounts are measured, and no longer estimated.
    measured: bool,
}

impl Grower {
    /// The step from an estimate to a measurement is no growth; what grew before it is.
    fn take(&mut self, now: Bytes, measured: bool) {
        if measured && !self.measured {
            self.first = (self.first + now).saturating_sub(self.last);
            self.measured = true;
        }
        self.last = now;
    }
}

/// A run that ends gives memory back in its last one to three samples, as measured with torch: the
/// interpreter frees what it holds before it exits.
const TEARDOWN_SAMPLES: u32 = 3;

/// How long the first readings may take.
const BASELINE_SETTLES: Seconds = Seconds(10.0);

impl Summary {
    pub(crate) fn take(&mut self, tick: &Tick) {
        for event in &tick.events {
            match event {
                Event::Appeared(info) | Event::Changed(info) => {
                    self.infos.insert(info.index, info.clone());
                }
                Event::Exited(index) => {
                    self.infos.remove(index);
                    self.growers.remove(index);
                }
                Event::Gap(gap) => {
                    self.gaps.insert(gap.subject.name());
                }
                Event::Mark(_) | Event::Software(_) => {}
            }
        }
        self.take_sample(&tick.sample);
    }

    fn take_sample(&mut self, sample: &Sample) {
        self.samples += 1;
        self.cost = sample.cost;
        for reading in &sample.processes {
            let (now, measured) = (reading.memory(), reading.pss.is_some());
            self.growers
                .entry(reading.process)
                .and_modify(|grower| grower.take(now, measured))
                .or_insert(Grower {
                    first: now,
                    last: now,
                    measured,
                });
        }
        self.reached = Some((sample.t, sample.progress.step));
        let point = self.point(sample);
        self.take_point(point);
    }

    fn take_point(&mut self, point: Point) {
        // While it shuts down, a run gives its memory back; that is not what it used.
        if !self.attendance.goes_on(point.present(), Some(point.t)) {
            return;
        }
        // The first samples estimate what was not read yet, and until the first step is done the
        // model is not loaded: memory then says little.
        let estimated = self
            .baseline
            .as_ref()
            .is_some_and(|b| point.unread < b.unread && point.t.0 < BASELINE_SETTLES.0);
        let first_step =
            self.baseline.as_ref().is_some_and(|b| b.step.is_none()) && point.step.is_some();
        if self.baseline.is_none() || first_step || estimated {
            self.baseline = Some(point.clone());
        }
        if self
            .peak
            .as_ref()
            .is_none_or(|peak| point.total > peak.total)
        {
            self.peak = Some(point.clone());
        }
        self.notice_fall(&point);
        self.last = Some(point);
    }

    fn notice_fall(&mut self, point: &Point) {
        let falls = self.last.as_ref().filter(|last| last.total > point.total);
        self.falls = falls.map_or(0, |_| self.falls.saturating_add(1));
        self.since_fall = self.since_fall.saturating_add(1);
        let is_down = |before: &Point| point.total < before.total;
        if self.falls > TEARDOWN_SAMPLES {
            // Too long for an end: it just shrinks.
            self.before_fall = None;
        } else if self.since_fall < TEARDOWN_SAMPLES
            && self.before_fall.as_ref().is_some_and(is_down)
        {
            // An end need not fall at every sample.
        } else {
            self.before_fall = falls.cloned();
            self.since_fall = 0;
        }
    }

    fn point(&self, sample: &Sample) -> Point {
        let tree = sample.tree();
        let mut roles: BTreeMap<Role, RoleMemory> = BTreeMap::new();
        // A zombie has given its memory back, and is there only until its parent looks.
        for reading in sample.processes.iter().filter(|r| !r.state.is_gone()) {
            let role = self
                .infos
                .get(&reading.process)
                .map_or(Role::Other, |info| info.role);
            let sum = roles.entry(role).or_default();
            sum.processes += 1;
            sum.memory += reading.memory();
            sum.rss += reading.rss();
        }
        Point {
            t: sample.t,
            step: sample.progress.step,
            total: tree.total,
            rss: tree.rss,
            unread: tree.unread,
            roles,
        }
    }

    /// The lines for people, without the recording's name. `ended` begins the first. A run that is
    /// over is told as it was before it began to shut down.
    pub(crate) fn lines(&self, ended: &str, is_over: bool) -> Vec<String> {
        let (Some(baseline), Some(peak), Some(last)) = (&self.baseline, &self.peak, &self.last)
        else {
            return vec![format!("{ended} before the first sample")];
        };
        let last = self
            .before_fall
            .as_ref()
            .filter(|_| is_over)
            .unwrap_or(last);
        let (t, step) = self.reached.unwrap_or((last.t, last.step));
        vec![
            first_line(ended, &format!("after {t}{}", steps(step))),
            memory_line(baseline, peak, last),
            growth_line(baseline, last),
            self.cost_line(),
        ]
    }

    /// The processes that grew most, for a watch over the whole machine.
    pub(crate) fn top_growers(&self, count: usize) -> Vec<String> {
        let mut growers: Vec<(&ProcessIndex, &Grower)> = self
            .growers
            .iter()
            .filter(|(_, grower)| grower.last > grower.first)
            .collect();
        growers.sort_by_key(|(index, grower)| {
            (std::cmp::Reverse(grower.last.0 - grower.first.0), **index)
        });
        growers
            .into_iter()
            .take(count)
            .map(|(index, grower)| {
                let (pid, command) = self.infos.get(index).map_or_else(
                    || ("?".to_owned(), String::new()),
                    |info| (info.key.pid.to_string(), shown_command(info)),
                );
                format!(
                    "{:>10} now {:>9}  {pid:>7}  {command}",
                    grower.last.since(grower.first).to_string(),
                    grower.last.to_string()
                )
            })
            .collect()
    }

    pub(crate) fn cost_line(&self) -> String {
        let t = self.reached.map_or(Seconds(0.0), |(t, _)| t);
        let share = self.cost.cpu.0 as f64 / 10.0 / t.0.max(1.0);
        let mut line = format!(
            "cost {share:.2} % of one core, {} memory · {} samples",
            self.cost.rss, self.samples
        );
        if !self.gaps.is_empty() {
            let gaps: Vec<&str> = self.gaps.iter().copied().collect();
            let _ = write!(
                line,
                " · not all was measured ({}): see the recording",
                gaps.join(", ")
            );
        }
        line
    }
}

impl Point {
    fn present(&self) -> Present {
        let processes: u32 = self.roles.values().map(|role| role.processes).sum();
        let trainers = self.roles.get(&Role::Trainer);
        Present {
            processes: processes as usize,
            trainers: trainers.map_or(0, |role| role.processes as usize),
            memory: self.total,
        }
    }
}

/// Whether a sum of RSS says so much more than what is really held that it must be told.
pub(crate) fn rss_misleads(rss: Bytes, held: Bytes) -> bool {
    rss.0 > held.0.saturating_mul(3) / 2
}

/// `stopped; the run goes on` becomes `stopped after 5 s; the run goes on`.
fn first_line(ended: &str, when: &str) -> String {
    match ended.split_once("; ") {
        Some((what, and)) => format!("{what} {when}; {and}"),
        None => format!("{ended} {when}"),
    }
}

fn steps(step: Option<Step>) -> String {
    step.map_or_else(String::new, |step| format!(" · step {step}"))
}

fn memory_line(baseline: &Point, peak: &Point, last: &Point) -> String {
    let at = |point: &Point| match point.step {
        Some(step) => format!("step {step}"),
        None => format!("{}", point.t),
    };
    let mut line = format!(
        "memory {} at {} → {} at {}, peak {} at {}",
        baseline.total,
        at(baseline),
        last.total,
        at(last),
        peak.total,
        at(peak)
    );
    if rss_misleads(last.rss, last.total) {
        let _ = write!(line, " (a sum of RSS would say {})", last.rss);
    }
    if last.unread > 0 {
        let processes = if last.unread == 1 {
            "process"
        } else {
            "processes"
        };
        let _ = write!(line, "; {} {processes} estimated", last.unread);
    }
    line
}

fn growth_line(baseline: &Point, last: &Point) -> String {
    let parts: Vec<String> = last
        .roles
        .iter()
        .map(|(role, now)| {
            let before = baseline.roles.get(role).copied().unwrap_or_default();
            let count = if now.processes > 1 {
                format!(" ×{}", now.processes)
            } else {
                String::new()
            };
            format!(
                "{role}{count} {} to {}",
                now.memory.since(before.memory),
                now.memory
            )
        })
        .collect();
    format!("growth {}", parts.join(" · "))
}

/// A command line for one line of a terminal.
pub(crate) fn shown_command(info: &ProcessInfo) -> String {
    let text = if info.command.is_empty() {
        info.comm.clone()
    } else {
        info.command.join(" ")
    };
    match text.char_indices().nth(100) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The memory line of a run that had these totals, in MiB, one each second.
    fn told(totals: &[u64], is_over: bool) -> String {
        let trains = |&total: &u64| (total, Role::Trainer);
        let moments: Vec<(u64, Role)> = totals.iter().map(trains).collect();
        told_of(&moments, is_over)
    }

    /// The same where one process with this role is there.
    fn told_of(moments: &[(u64, Role)], is_over: bool) -> String {
        let mut summary = Summary::default();
        for (t, &(total, role)) in moments.iter().enumerate() {
            let alone = RoleMemory {
                processes: 1,
                ..RoleMemory::default()
            };
            let point = Point {
                t: Seconds(t as f64),
                step: None,
                total: Bytes(total << 20),
                rss: Bytes(total << 20),
                unread: 0,
                roles: BTreeMap::from([(role, alone)]),
            };
            summary.take_point(point);
        }
        summary.lines("it ended", is_over)[1].clone()
    }

    #[test]
    fn growth_is_what_came_before_and_after_the_first_measurement() {
        let mut grower = Grower {
            first: Bytes(500),
            last: Bytes(500),
            measured: false,
        };
        for (now, measured) in [(800, false), (310, true), (350, true)] {
            grower.take(Bytes(now), measured);
        }
        assert_eq!(grower.last.since(grower.first), Bytes(340).since(Bytes(0)));
    }

    #[test]
    fn a_run_that_is_over_is_told_as_it_was_before_it_shut_down() {
        let line = told(&[100, 200, 300, 120, 4], true);
        assert!(line.contains("→ 300 MiB at 2 s, peak 300 MiB"), "{line}");
    }

    #[test]
    fn an_end_need_not_fall_at_every_sample() {
        let line = told(&[100, 200, 300, 120, 120, 4], true);
        assert!(line.contains("→ 300 MiB at 2 s, peak 300 MiB"), "{line}");
    }

    #[test]
    fn a_fall_that_was_made_up_for_is_no_end() {
        let line = told(&[100, 300, 200, 300, 290, 295], true);
        assert!(line.contains("→ 300 MiB at 3 s"), "{line}");
    }

    #[test]
    fn a_run_that_goes_on_is_told_as_it_is() {
        let line = told(&[100, 200, 300, 120, 4], false);
        assert!(line.contains("→ 4.0 MiB at 4 s, peak 300 MiB"), "{line}");
    }

    #[test]
    fn a_run_that_shrinks_for_long_has_shrunk() {
        let line = told(&[300, 250, 200, 150, 100], true);
        assert!(line.contains("→ 100 MiB at 4 s, peak 300 MiB"), "{line}");
    }

    #[test]
    fn what_is_left_when_the_trainer_has_gone_is_not_what_the_run_used() {
        let line = told_of(
            &[
                (100, Role::Trainer),
                (300, Role::Trainer),
                (2, Role::Launcher),
                (3, Role::Launcher),
            ],
            true,
        );
        assert!(line.contains("→ 300 MiB at 1 s"), "{line}");
    }

    #[test]
    fn a_run_whose_memory_is_held_by_another_goes_on() {
        let line = told_of(
            &[
                (3, Role::Trainer),
                (2, Role::Launcher),
                (100, Role::Launcher),
                (300, Role::Launcher),
            ],
            true,
        );
        assert!(line.contains("→ 300 MiB at 3 s"), "{line}");
    }
}
