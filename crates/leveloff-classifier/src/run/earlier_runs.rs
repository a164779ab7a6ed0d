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
        Shape::Saturating | Shape::Linear | Shape::Staircase
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
