//! Where the runs of a trial are compared: over the newer part of the steps that they have in common, behind the control
//! run's warmup.

use std::time::Duration;

use leveloff_classifier::observation::XUnit;
use leveloff_classifier::run_curves::Series;
use leveloff_classifier::stats::median;
use leveloff_classifier::trial::{ArmResult, RunOver, Stretch, is_long_enough};
use leveloff_classifier::units::X;
use leveloff_classifier::verdict::Verdict;
use leveloff_report::run_report::RunReport;

/// Where runs are compared.
#[derive(Debug, Clone, Copy)]
pub(super) struct Axis {
    pub unit: XUnit,
    /// Growth before is that of the warmup.
    onset: X,
    /// How far the control run went.
    end: X,
    /// How long that took.
    took: Duration,
}

/// A run with a change is looked at when it has come this far, as shares of the control run.
pub(super) const LOOKS: [f64; 4] = [0.3, 0.5, 0.75, 1.0];

/// The compared stretch is the newer part of the common one.
const NEWER_PART: f64 = 0.5;

/// Three for each of the eight pieces that the stretch is cut into.
const FEWEST_SAMPLES: usize = 24;

/// A run that takes so many times as long as the control run is ended.
const TOO_SLOW: f64 = 4.0;

impl Axis {
    /// What a leaking control run gives the others to be compared with.
    pub(super) fn of(report: &RunReport) -> Option<Axis> {
        let verdict = &report.verdict;
        // Descriptors or processes may leak while memory is level.
        let grows = !verdict.memory.verdict.is_level();
        if !matches!(verdict.verdict, Verdict::Leak(_)) || !grows {
            return None;
        }
        let times = report.curves.spans().filter_map(|span| span.t);
        let took = times.map(|t| t.high).fold(0.0, f64::max);
        Some(Axis {
            unit: verdict.x_unit,
            onset: verdict.memory.onset_x.unwrap_or(X(0.0)),
            end: X(reached(report, verdict.x_unit)),
            took: Duration::from_secs_f64(took),
        })
    }

    /// Whether the control run has enough samples where runs are compared. A job of many steps in a second is a leak before it
    /// has.
    pub(super) fn is_measurable(&self, control: &RunReport) -> bool {
        let Stretch { from, to } = self.common(&[control]);
        let places = control
            .curves
            .spans()
            .filter_map(|span| span.place(self.unit));
        let samples = places.filter(|place| (from.0..=to.0).contains(&place.middle()));
        samples.count() >= FEWEST_SAMPLES
    }

    /// Whether the control run is long enough to tell effects apart. Slow growth in much memory is a leak before it is, and a
    /// longer run says more than a repeated one.
    pub(super) fn is_telling(&self, control: &RunReport, comparisons: u32) -> bool {
        let over = RunOver::of(&control.curves, self.unit, self.common(&[control]));
        over.is_some_and(|over| is_long_enough(over, comparisons))
    }

    /// How far the control run went.
    pub(super) fn end(&self) -> X {
        self.end
    }

    /// How far a run has come, as a share of the control run.
    pub(super) fn share(&self, report: &RunReport) -> f64 {
        reached(report, self.unit) / self.end.0.max(f64::MIN_POSITIVE)
    }

    /// How many looks a run that has come this far has had.
    pub(super) fn looks_due(&self, report: &RunReport) -> usize {
        let share = self.share(report);
        LOOKS.iter().filter(|due| share >= **due).count()
    }

    /// A run that takes far longer than the control run hangs, or is too slow to wait for.
    pub(super) fn is_too_slow(&self, spent: Duration, patience: Duration) -> bool {
        spent > self.took.mul_f64(TOO_SLOW) + patience
    }

    /// The stretch that all of these runs have, without their warmup.
    pub(super) fn common(&self, runs: &[&RunReport]) -> Stretch {
        let ends = runs.iter().map(|report| reached(report, self.unit));
        let to = ends.fold(self.end.0, f64::min);
        let from = (NEWER_PART * to).max(self.onset.0.min(0.8 * to));
        Stretch {
            from: X(from),
            to: X(to),
        }
    }

    /// Memory of a run around a position: of its last steps before it, because samples of the runs lie at different ones.
    pub(super) fn memory_at(&self, report: &RunReport, end: X) -> Option<f64> {
        let known = report.curves.spans().filter_map(|span| {
            let place = span.place(self.unit)?;
            let memory = span.value(Series::Memory)?;
            (place.low <= end.0).then_some((place.low, memory.middle()))
        });
        let known: Vec<(f64, f64)> = known.collect();
        let (newest, _) = *known.last()?;
        // A fast run may have no sample in them.
        let from = (0.95 * end.0).min(newest);
        let near = known.iter().filter(|(place, _)| *place >= from);
        let mut memory: Vec<f64> = near.map(|(_, memory)| *memory).collect();
        Some(median(&mut memory))
    }

    /// The runs with a change beside the control runs.
    pub(super) fn compared(
        &self,
        control: &[&RunReport],
        arm: &[&RunReport],
        comparisons: u32,
    ) -> Option<ArmResult> {
        let all: Vec<&RunReport> = control.iter().chain(arm).copied().collect();
        let stretch = self.common(&all);
        let over = |runs: &[&RunReport]| -> Option<Vec<RunOver>> {
            let over = runs.iter();
            over.map(|report| RunOver::of(&report.curves, self.unit, stretch))
                .collect()
        };
        ArmResult::of(&over(control)?, &over(arm)?, comparisons)
    }
}

/// How far a run came.
fn reached(report: &RunReport, unit: XUnit) -> f64 {
    let places = report.curves.spans().filter_map(|span| span.place(unit));
    places.map(|place| place.high).fold(0.0, f64::max)
}
