//! What earlier runs of the same job say of this one.

use leveloff_model::recording::{EarlierRuns, RunAxis, StatedFacts};

use crate::judge::Facts;
use crate::observation::XUnit;
use crate::units::X;
use crate::verdict::{HistoryCheck, HorizonSource, Judgement, Shape, Verdict};

/// A run is later than its history only when it is so much behind it.
const CLEARLY_LATER: f64 = 1.1;

/// Where earlier runs let expect that memory is level, for a run that begins at `first`. What they counted must be what
/// this run counts.
pub(super) fn horizon(stated: &StatedFacts, first: Option<f64>, unit: XUnit) -> Option<X> {
    let earlier = applicable(stated, unit)?;
    Some(X(earlier.axis.beginning(first?) + earlier.horizon()))
}

/// Where the horizon comes from that growth is held against.
pub(super) fn horizon_source(stated: &StatedFacts, facts: &Facts, unit: XUnit) -> HorizonSource {
    match facts.level_by {
        Some(_) if applicable(stated, unit).is_some() => HorizonSource::History,
        Some(_) => HorizonSource::Stated,
        None if facts.planned.is_some() || facts.epoch.is_some() => HorizonSource::Plan,
        None => HorizonSource::Prior,
    }
}

/// Holds the run's memory against earlier runs.
pub(super) fn check(
    stated: &StatedFacts,
    facts: &Facts,
    memory: &Judgement,
    unit: XUnit,
) -> Option<HistoryCheck> {
    let earlier = applicable(stated, unit)?;
    let is_late = |x: X| facts.level_by.is_some_and(|by| x.0 > CLEARLY_LATER * by.0);
    let is_past = memory.span.is_some_and(|(_, end)| is_late(end));
    let is_contradicted = match memory.verdict {
        Verdict::Leak(_) | Verdict::WarmingUp => is_past,
        Verdict::Level(_) => memory.level_since_x.is_some_and(is_late) && rose_gradually(memory),
        Verdict::Undecided => false,
    };
    Some(HistoryCheck {
        earlier,
        is_contradicted,
    })
}

/// One lasting jump, such as that of an evaluation, is no late warmup.
fn rose_gradually(memory: &Judgement) -> bool {
    matches!(
        memory.shape,
        Shape::Saturating | Shape::Linear | Shape::Filling | Shape::Staircase
    )
}

fn applicable(stated: &StatedFacts, unit: XUnit) -> Option<EarlierRuns> {
    let counted = |axis| match axis {
        RunAxis::Time => XUnit::Second,
        RunAxis::Count(unit) => XUnit::from(unit),
    };
    let earlier = stated.earlier.filter(|_| !stated.has_horizon());
    earlier.filter(|earlier| counted(earlier.axis) == unit)
}

#[cfg(test)]
mod tests {
    use leveloff_model::process::{Pid, ProcessIndex, Role};
    use leveloff_model::progress::StepUnit;
    use leveloff_model::units::{Bytes, CpuMillis, Step};

    use super::*;
    use crate::observation::{Observation, ProcessShare};
    use crate::run::RunJudge;
    use crate::verdict::RunVerdict;

    fn known(axis: RunAxis) -> StatedFacts {
        let earlier = EarlierRuns {
            axis,
            runs: 4,
            earliest: 86.0,
            latest: 92.0,
        };
        StatedFacts {
            earlier: Some(earlier),
            ..StatedFacts::default()
        }
    }

    /// A run that grows by 5 MB at each step from `first` on, and stops after `growing` steps.
    fn judged(stated: &StatedFacts, first: u64, growing: u64, steps: u64) -> RunVerdict {
        let mut judge = RunJudge::new(XUnit::Step, stated);
        for step in 0..steps {
            let memory = 500_000_000 + 5_000_000 * step.min(growing) + step * 7919 % 13 * 10_000;
            let mut observation = Observation::at_step(Step(first + step), Bytes(memory));
            // A process that continues from a checkpoint has used little CPU time.
            let mut trainer = ProcessShare::unread(ProcessIndex(0), Pid(1), Role::Trainer);
            trainer.cpu = Some(CpuMillis(100 * (step + 1)));
            observation.processes = vec![trainer];
            judge.observe(&observation);
        }
        judge.verdict()
    }

    const STEPS: RunAxis = RunAxis::Count(StepUnit::Steps);

    #[test]
    fn growth_beyond_earlier_runs_is_a_leak_and_contradicts_them() {
        let run = judged(&known(STEPS), 0, 1000, 112);
        assert!(run.verdict.is_alarm(), "{:?}", run.verdict);
        assert_eq!(run.horizon_source, HorizonSource::History);
        assert!(run.history.unwrap().is_contradicted);
        let alone = judged(&StatedFacts::default(), 0, 1000, 112);
        assert!(!alone.verdict.is_alarm());
        assert_eq!(
            (alone.horizon_source, alone.history),
            (HorizonSource::Prior, None)
        );
    }

    #[test]
    fn a_run_like_the_earlier_ones_contradicts_nothing() {
        for steps in [60, 95, 130, 300] {
            let run = judged(&known(STEPS), 0, 90, steps);
            assert!(!run.history.unwrap().is_contradicted, "{steps}");
            assert!(!run.verdict.is_alarm(), "{steps}");
        }
    }

    #[test]
    fn a_run_that_is_level_much_later_contradicts_them() {
        let run = judged(&known(STEPS), 0, 200, 600);
        assert!(run.verdict.is_level(), "{:?}", run.verdict);
        assert!(run.history.unwrap().is_contradicted);
    }

    #[test]
    fn a_resumed_run_warms_up_from_where_it_begins() {
        let run = judged(&known(STEPS), 5000, 1000, 80);
        assert_eq!(run.horizon, Some(X(5092.0)));
        assert!(
            !run.verdict.is_alarm() && !run.history.unwrap().is_contradicted,
            "{run:?}"
        );
    }

    #[test]
    fn what_counts_something_else_or_is_stated_takes_precedence() {
        let by_time = judged(&known(RunAxis::Time), 0, 1000, 112);
        assert_eq!((by_time.horizon, by_time.history), (None, None));
        let stated = StatedFacts {
            level_by: Some(Step(300)),
            ..known(STEPS)
        };
        let run = judged(&stated, 0, 1000, 112);
        assert_eq!((run.horizon, run.history), (Some(X(300.0)), None));
        assert_eq!(run.horizon_source, HorizonSource::Stated);
    }
}
