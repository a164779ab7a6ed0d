//! The verdict on each run, by the same classifier that judges files.

use std::panic::{AssertUnwindSafe, catch_unwind};

use leveloff_classifier::observation::{Observation, ProcessShare, XUnit};
use leveloff_classifier::run::RunJudge;
use leveloff_model::process::{Pid, ProcessIndex, Role};
use leveloff_model::recording::StatedFacts;
use leveloff_model::sample::{Ceiling, CeilingKind};
use leveloff_model::units::{Bytes, Seconds};
use leveloff_prometheus::query::{RunHistory, Series, Window, last_restart, repetition};
use leveloff_readers::SizeUnit;
use leveloff_text::fleet::Member;

/// A run whose last value is older than this is over: Prometheus itself forgets one after as long.
const OVER: Seconds = Seconds(300.0);

/// Points of a curve the size of a word.
const SPARK: usize = 60;

/// Judges the runs of a fleet.
#[derive(Debug, Clone)]
pub(crate) struct FleetJudge {
    /// The times of all series.
    pub window: Window,
    /// What the user stated.
    pub stated: StatedFacts,
    /// The unit of memory.
    pub unit: SizeUnit,
}

impl FleetJudge {
    /// The verdict. A fault in the judge of one run must not cost the verdict of the others.
    pub(crate) fn judge(&self, history: &RunHistory) -> Result<Member, String> {
        catch_unwind(AssertUnwindSafe(|| self.verdict(history))).map_err(|_| {
            format!(
                "{}: leveloff has a bug, please report the lines above",
                history.name
            )
        })
    }

    fn verdict(&self, history: &RunHistory) -> Member {
        let ends = history.memory.ends().unwrap_or_default();
        let (memory, notes) = self.newest_start(history);
        let unit = match &history.steps {
            Some(steps) if !steps.is_empty() => XUnit::Step,
            _ => XUnit::Second,
        };
        let mut judge = RunJudge::new(unit, &self.stated);
        let begun = memory.ends().map_or(0, |ends| ends.0);
        let mut now = Bytes::ZERO;
        for (place, value) in memory.iter() {
            if let Some(memory) = self.unit.bytes(value) {
                judge.observe(&self.observation(history, begun, place, memory));
                now = memory;
            }
        }
        let mut verdict = judge.verdict();
        // One stands for a whole role: it has no number.
        for blame in &mut verdict.blame {
            blame.pid = None;
        }
        let ago = Seconds(self.window.end() - self.window.time(ends.1));
        Member {
            name: history.name.clone(),
            job: history.job.clone(),
            labels: history.labels.clone(),
            verdict,
            stated: self.stated.clone(),
            notes: [history.notes.clone(), notes].concat(),
            now,
            ended: (ago > OVER).then_some(ago),
            spark: self.spark(&history.memory),
        }
    }

    /// What is judged of a history, and notes about the rest.
    fn newest_start(&self, history: &RunHistory) -> (Series, Vec<String>) {
        let mut memory = history.memory.clone();
        let mut notes = Vec::new();
        if memory.left_out() > 0 {
            let left_out = memory.left_out();
            notes.push(format!(
                "left out {left_out} values that are no amounts, such as NaN"
            ));
        }
        if let Some(restart) = last_restart(&memory, history.steps.as_ref(), &self.window) {
            let at = memory.part(restart.from, 1);
            let place = at.ends().map_or(0, |ends| ends.0);
            let ago = Seconds(self.window.end() - self.window.time(place));
            notes.push(format!(
                "restarted {ago} ago ({}); only the time since then is judged",
                restart.why
            ));
            memory = at;
        }
        let same = repetition(&memory);
        if same > 1 {
            let every = Seconds(self.window.step().0 * same as f64);
            notes.push(format!("scraped about every {every}, so every {same}th value is judged; --step {:.0}s asks for no more", every.0));
            memory = memory.part(0, same);
        }
        (memory, notes)
    }

    fn observation(
        &self,
        history: &RunHistory,
        begun: u32,
        place: u32,
        memory: Bytes,
    ) -> Observation {
        let at = |series: &Option<Series>| series.as_ref().and_then(|series| series.at(place));
        Observation {
            count: at(&history.steps),
            t: Some(Seconds(self.window.time(place) - self.window.time(begun))),
            memory,
            processes: self.shares(&history.roles, place),
            // The metric is in terms of the run's own memory already: it holds no other process's.
            ceiling: at(&history.ceiling).map(|limit| Ceiling {
                kind: CeilingKind::Host,
                limit: Bytes(limit as u64),
                used: memory,
            }),
            ..Observation::default()
        }
    }

    /// Each role as one process: growth is known by role only.
    fn shares(&self, roles: &[(Role, Series)], place: u32) -> Vec<ProcessShare> {
        let shares = roles.iter().filter_map(|(role, series)| {
            let memory = self.unit.bytes(series.at(place)?)?;
            Some(ProcessShare::with_memory(
                ProcessIndex(*role as u32),
                Pid(*role as i32 + 1),
                *role,
                memory,
            ))
        });
        shares.collect()
    }

    /// The last value in each of so many even stretches of the window.
    fn spark(&self, memory: &Series) -> Vec<Option<f64>> {
        let mut spark = vec![None; SPARK];
        for (place, value) in memory.iter() {
            let at = place as usize * SPARK / self.window.places() as usize;
            if let Some(spark) = spark.get_mut(at) {
                *spark = Some(value);
            }
        }
        spark
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use leveloff_classifier::verdict::Verdict;

    use super::*;
    use leveloff_prometheus::query::Sample;

    fn fleet_judge() -> FleetJudge {
        FleetJudge {
            window: Window::until(1e6, Duration::from_secs(6 * 3600), Duration::from_secs(15)),
            stated: StatedFacts::default(),
            unit: SizeUnit::B,
        }
    }

    fn series(value: impl Fn(f64) -> f64) -> Series {
        let window = fleet_judge().window;
        let noise = |place: u32| f64::from(place.wrapping_mul(2_654_435_761) >> 16) * 200.0;
        let sample =
            |place: u32| Sample(window.time(place), value(f64::from(place)) + noise(place));
        let samples: Vec<Sample> = (0..window.places()).map(sample).collect();
        let mut series = Series::default();
        series.extend(&samples, &window);
        series
    }

    #[test]
    fn the_role_that_grew_is_blamed_and_the_ceiling_is_in_sight() {
        let (trainer, loader) = (series(|_| 8e9), series(|place| 1e9 + place * 4e6));
        let memory = trainer.plus(&loader);
        let member = fleet_judge().judge(&RunHistory {
            name: "lm rank 3".to_owned(),
            memory,
            roles: vec![(Role::Trainer, trainer), (Role::DataloaderWorker, loader)],
            ceiling: Some(series(|_| 32e9)),
            ..RunHistory::default()
        });
        let member = member.unwrap();
        assert!(
            matches!(member.verdict.verdict, Verdict::Leak(_)),
            "{:?}",
            member.verdict.verdict
        );
        assert!(
            member.blamed().unwrap().starts_with("dataloader-worker"),
            "{:?}",
            member.blamed()
        );
        assert_eq!(member.verdict.blame[0].pid, None);
        let left = member.to_ceiling().unwrap().0;
        assert!((50_000.0..80_000.0).contains(&left), "{left}");
    }

    #[test]
    fn steps_are_the_axis_where_they_are_known() {
        let member = fleet_judge().judge(&RunHistory {
            memory: series(|_| 8e9),
            steps: Some(series(|place| place * 10_000_000.0)),
            ..RunHistory::default()
        });
        assert_eq!(member.unwrap().verdict.x_unit, XUnit::Step);
    }

    #[test]
    fn the_newest_start_is_judged_and_the_others_are_mentioned() {
        let member = fleet_judge().judge(&RunHistory {
            memory: series(|place| {
                if place < 700.0 {
                    1e9 + place * 2e7
                } else {
                    2e9
                }
            }),
            ..RunHistory::default()
        });
        let member = member.unwrap();
        assert!(member.verdict.verdict.is_level());
        assert!(member.notes[0].contains("restarted"), "{:?}", member.notes);
    }
}
