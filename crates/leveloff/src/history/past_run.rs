//! How one run ended, and what several of them say together.

use leveloff_classifier::observation::XUnit;
use leveloff_classifier::units::X;
use leveloff_classifier::verdict::{LevelGrade, RunVerdict, Verdict};
use leveloff_model::progress::StepUnit;
use leveloff_model::recording::{EarlierRuns, RunAxis};

/// How a run ended.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PastRun {
    /// When, in seconds since 1970.
    pub ended_unix: f64,
    /// The verdict at its end, as JSON names it.
    pub verdict: String,
    /// What positions count.
    pub axis: RunAxis,
    /// Where memory was level, from the beginning of the run; only if that is certain.
    pub level_after: Option<f64>,
    /// How far the run came, from its beginning.
    pub length: f64,
}

/// A run that joined later than at this step may have been level before it was watched.
const JOINED_AT_THE_BEGINNING: f64 = 5.0;

/// One run alone is believed when it stayed level for so many times its warmup.
const STAYED_LEVEL: f64 = 1.0;

/// One run alone is believed when it had a warmup: of one that was level from the beginning nothing is learned about the
/// length of others'.
const HAD_A_WARMUP: f64 = 20.0;

impl PastRun {
    /// How this run ended. `None` where too little was seen to say anything. `is_from_start` says that it was watched from
    /// its beginning.
    pub(crate) fn of(run: &RunVerdict, is_from_start: bool, ended_unix: f64) -> Option<PastRun> {
        let axis = axis_of(run.x_unit)?;
        let (X(first), X(last)) = run.memory.span?;
        let beginning = axis.beginning(first);
        let joined_early = axis != RunAxis::Time && first <= JOINED_AT_THE_BEGINNING;
        let is_whole = is_from_start || joined_early;
        let is_level = run.verdict == Verdict::Level(LevelGrade::Confirmed)
            && run.memory.verdict == Verdict::Level(LevelGrade::Confirmed);
        let since = run.memory.level_since_x.filter(|_| is_whole && is_level);
        Some(PastRun {
            ended_unix,
            verdict: run.verdict.name().to_owned(),
            axis,
            level_after: since.map(|X(since)| (since - beginning).max(0.0)),
            length: (last - beginning).max(0.0),
        })
    }

    /// Whether it says enough without another run beside it.
    fn stands_alone(&self) -> bool {
        self.level_after.is_some_and(|after| {
            after >= HAD_A_WARMUP && self.length - after >= STAYED_LEVEL * after
        })
    }
}

/// What these runs, oldest first, let expect of the next one. `None` if too few of them were level. Runs that leaked or
/// were not decided are not counted, so that none of them can move the horizon.
pub(crate) fn earlier_runs(runs: &[PastRun]) -> Option<EarlierRuns> {
    let newest = runs.iter().rev().find(|run| run.level_after.is_some())?;
    let level: Vec<&PastRun> = runs
        .iter()
        .filter(|run| run.axis == newest.axis && run.level_after.is_some())
        .collect();
    if level.len() < 2 && !newest.stands_alone() {
        return None;
    }
    let after = level.iter().filter_map(|run| run.level_after);
    Some(EarlierRuns {
        axis: newest.axis,
        runs: level.len() as u32,
        earliest: after.clone().fold(f64::INFINITY, f64::min),
        latest: after.fold(0.0, f64::max),
    })
}

/// `None` for what only foreign files count.
fn axis_of(unit: XUnit) -> Option<RunAxis> {
    let counts = StepUnit::ALL.into_iter();
    match unit {
        XUnit::Second => Some(RunAxis::Time),
        unit => counts
            .map(RunAxis::Count)
            .find(|axis| matches!(axis, RunAxis::Count(count) if XUnit::from(*count) == unit)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn run(level_after: Option<f64>, length: f64) -> PastRun {
        PastRun {
            ended_unix: 1e9,
            verdict: "level".to_owned(),
            axis: RunAxis::Count(StepUnit::Steps),
            level_after,
            length,
        }
    }

    #[test]
    fn runs_that_were_not_level_do_not_count() {
        assert_eq!(earlier_runs(&[]), None);
        assert_eq!(earlier_runs(&[run(None, 600.0), run(None, 700.0)]), None);
        let mixed = [
            run(Some(86.0), 300.0),
            run(None, 20.0),
            run(Some(92.0), 300.0),
        ];
        let earlier = earlier_runs(&mixed).unwrap();
        assert_eq!((earlier.runs, earlier.earliest), (2, 86.0));
        assert_eq!((earlier.latest, earlier.horizon()), (92.0, 92.0));
    }

    #[test]
    fn one_run_counts_alone_only_if_it_warmed_up_and_stayed_level() {
        assert!(earlier_runs(&[run(Some(88.0), 200.0)]).is_some());
        assert_eq!(earlier_runs(&[run(Some(88.0), 120.0)]), None);
        assert_eq!(earlier_runs(&[run(Some(2.0), 500.0)]), None);
        let two = [run(Some(2.0), 500.0), run(Some(0.0), 500.0)];
        // Nothing is level by step 2 for certain.
        assert_eq!(earlier_runs(&two).unwrap().horizon(), 20.0);
    }

    #[test]
    fn runs_that_differ_leave_more_room() {
        let differing = [run(Some(40.0), 300.0), run(Some(90.0), 300.0)];
        assert_eq!(earlier_runs(&differing).unwrap().horizon(), 131.0);
        let another = [&differing[..], &[run(Some(80.0), 300.0)]].concat();
        assert_eq!(earlier_runs(&another).unwrap().horizon(), 106.0);
    }

    #[test]
    fn runs_on_another_axis_are_others() {
        let by_time = PastRun {
            axis: RunAxis::Time,
            ..run(Some(300.0), 900.0)
        };
        let mixed = [by_time, run(Some(86.0), 300.0), run(Some(90.0), 300.0)];
        let earlier = earlier_runs(&mixed).unwrap();
        assert_eq!((earlier.runs, earlier.latest), (2, 90.0));
    }
}
