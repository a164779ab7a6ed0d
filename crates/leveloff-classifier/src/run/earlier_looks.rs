//! A little memory: a verdict does not flip with a single reading near a boundary.
//!
//! The run is looked at after fixed numbers of points, so live runs, replays and files agree, however often
//! they ask. What the last looks said holds against a single look that differs, except towards risk. A level needs no
//! further wait after growth: a plateau has lasted by then.
//!
//! A look is a copy of the series, and is judged only if its verdict is asked for: most never are.

use std::collections::VecDeque;
use std::sync::OnceLock;

use super::decide::{Decision, decide};
use super::run_series::RunSeries;
use super::series_judgements::{JudgeInput, SeriesJudgements};
use crate::judge::Facts;
use crate::observation::XUnit;
use crate::verdict::{Grade, LevelGrade, Verdict};

/// The last looks at a run.
#[derive(Debug, Clone, Default)]
pub(super) struct EarlierLooks {
    looks: VecDeque<Look>,
    points: u64,
    next_at: u64,
}

/// A run after some number of points.
#[derive(Debug, Clone)]
pub(super) struct Look {
    /// Its series.
    pub(super) series: RunSeries,
    /// What x counts.
    pub(super) unit: XUnit,
    /// What is known beside the series.
    pub(super) facts: Facts,
    /// Whether files in /dev/shm grow with the run.
    pub(super) devshm_is_ours: bool,
    /// What it says, once it was asked for.
    pub(super) decision: OnceLock<Decision>,
}

/// So many looks are kept.
const KEPT: usize = 3;

/// So many of them hold against the newest verdict.
const MAJORITY: usize = 2;

/// The next look comes after this share of the points so far, as one in so many.
const ONE_MORE_IN: u64 = 16;

impl EarlierLooks {
    /// Counts a point; whether a look is due at it.
    pub(super) fn is_due(&mut self) -> bool {
        self.points += 1;
        let is_due = self.points >= self.next_at;
        if is_due {
            self.next_at = self.points + (self.points / ONE_MORE_IN).max(1);
        }
        is_due
    }

    /// Keeps a look.
    pub(super) fn push(&mut self, look: Look) {
        if self.looks.len() == KEPT {
            self.looks.pop_front();
        }
        self.looks.push_back(look);
    }

    /// The earlier decision that holds against the newest one, if there is any.
    pub(super) fn that_holds(&self, newest: Verdict, unit: XUnit) -> Option<&Decision> {
        let looks = self.looks.iter().rev().filter(|look| look.unit == unit);
        let holding: Vec<&Decision> = looks
            .map(Look::decision)
            .filter(|earlier| holds(earlier.judgement.verdict, newest))
            .collect();
        let latest = *holding.first()?;
        let of_one_mind =
            |other: &&&Decision| agree(other.judgement.verdict, latest.judgement.verdict);
        (holding.iter().filter(of_one_mind).count() >= MAJORITY).then_some(latest)
    }
}

impl Look {
    fn decision(&self) -> &Decision {
        self.decision.get_or_init(|| {
            let judgements = SeriesJudgements::of(&JudgeInput {
                series: &self.series,
                unit: self.unit,
                facts: self.facts,
            });
            decide(&self.series, &judgements, self.unit, self.devshm_is_ours)
        })
    }
}

/// Whether an earlier verdict may hold against the newest: it is a more certain leak, or a more certain level, or a level
/// of what is undecided now. A suspicion ends as soon as growth does.
fn holds(earlier: Verdict, newest: Verdict) -> bool {
    match (earlier, newest) {
        (Verdict::Leak(earlier), Verdict::Leak(newest)) => earlier > newest,
        (Verdict::Leak(Grade::Suspected), newest) => newest == Verdict::WarmingUp,
        (Verdict::Leak(_), _) => true,
        (Verdict::Level(LevelGrade::Early), Verdict::Level(_)) => false,
        (Verdict::Level(_), Verdict::Level(_) | Verdict::Undecided) => earlier != newest,
        _ => false,
    }
}

/// Whether two earlier verdicts support each other. A leak of either grade is a leak; the grades of a level are
/// different promises.
fn agree(one: Verdict, other: Verdict) -> bool {
    one == other || matches!((one, other), (Verdict::Leak(_), Verdict::Leak(_)))
}
