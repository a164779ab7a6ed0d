//! Growth that is held by references: live tensors rise with memory.

use leveloff_model::training_counters::TrainingCounter;

use super::run_series::RunSeries;
use super::series_judgements::SeriesJudgements;
use super::track::Track;
use crate::judge::{Before, Prior, Quantity};
use crate::observation::XUnit;
use crate::units::{Amount, X};
use crate::verdict::{Grade, Judgement, Reason, Shape, Subject, Verdict};

/// Most healthy growth is an allocator that fills its pools while the number of tensors stays the
/// same. Tensors that rise with memory leave only caches: of the healthy warmups that last this
/// long, about a third.
const CACHES_AMONG_WARMUPS: f64 = 1.0 / 3.0;
/// JointSamples at which two series are compared.
const COMPARED_AT: u32 = 12;
/// Two series that correlate so well rise together.
const RISE_TOGETHER: f64 = 0.95;
/// A count that correlates with x so well is proportional to it.
const EVEN: f64 = 0.999;
/// References that are kept do not come and go: their number follows the steps this well. One that
/// a garbage collector works on rises too for a while, but not straight.
const STRAIGHT: f64 = 0.98;

/// The judgement of growing memory when the tensors in it rise straight, and have done so for longer
/// than caches do.
pub(super) fn held_references(
    series: &RunSeries,
    judgements: &SeriesJudgements,
    unit: XUnit,
) -> Option<Judgement> {
    let memory = judgements.memory();
    let tensors = judgements.of_subject(Subject::Counter(TrainingCounter::Tensors))?;
    if !tensors.verdict.is_alarm() {
        return None;
    }
    let (X(onset), (_, X(now))) = (tensors.onset_x?, tensors.span?);
    let samples = JointSamples::between(series, TrainingCounter::Tensors, onset, now);
    let caches_last =
        Prior::of(unit, Quantity::Memory).decision_age(Before::Warmup, CACHES_AMONG_WARMUPS);
    let raises = matches!(
        memory.verdict,
        Verdict::WarmingUp | Verdict::Leak(Grade::Suspected)
    ) && memory.reason != Reason::FirstEpoch
        && now - onset >= caches_last
        && series.memory.growth_since(onset, now) >= memory.material.0
        && samples.are_straight()
        && samples.rise_together();
    raises.then(|| Judgement {
        verdict: Verdict::Leak(Grade::Early),
        shape: match memory.shape {
            Shape::Saturating => tensors.shape,
            shape => shape,
        },
        onset_x: Some(X(onset)),
        onset_level: series.memory.value_at(onset).map(Amount),
        reason: Reason::Outlived,
        decided_at_x: Some(X(onset + caches_last)),
        decide_by: None,
        ..memory.clone()
    })
}

/// Whether live tensors rise with memory since `onset`.
pub(super) fn tensors_rise_with_memory(
    series: &RunSeries,
    judgements: &SeriesJudgements,
    onset: f64,
) -> bool {
    let Some(tensors) = judgements.of_subject(Subject::Counter(TrainingCounter::Tensors)) else {
        return false;
    };
    let grows = matches!(tensors.verdict, Verdict::WarmingUp | Verdict::Leak(_));
    grows && rises_with_memory(series, TrainingCounter::Tensors, onset, series.x)
}

/// Whether something that is counted inside rises with memory from one x to another.
pub(super) fn rises_with_memory(
    series: &RunSeries,
    fact: TrainingCounter,
    from: f64,
    to: f64,
) -> bool {
    JointSamples::between(series, fact, from, to).rise_together()
}

/// Whether a counter rises as evenly as x itself: then the two cannot be distinguished as causes.
pub(super) fn rises_evenly(series: &RunSeries, fact: TrainingCounter, from: f64, to: f64) -> bool {
    let samples = JointSamples::between(series, fact, from, to);
    samples.correlate(|sample| (sample.x, sample.counted)) >= EVEN
}

/// The same as `rises_with_memory` for a count that is not a counter.
pub(super) fn track_rises_with_memory(
    series: &RunSeries,
    counted: &Track,
    from: f64,
    to: f64,
) -> bool {
    JointSamples::of(series, counted, from, to).rise_together()
}

/// Memory and something counted inside at evenly spaced x.
struct JointSamples(Vec<JointSample>);

#[derive(Clone, Copy)]
struct JointSample {
    x: f64,
    memory: f64,
    counted: f64,
}

impl JointSamples {
    fn between(series: &RunSeries, fact: TrainingCounter, from: f64, to: f64) -> JointSamples {
        JointSamples::of(series, series.counters.track(fact), from, to)
    }

    fn of(series: &RunSeries, counted: &Track, from: f64, to: f64) -> JointSamples {
        let from = from.max(counted.began_at().unwrap_or(from));
        let to = to.min(counted.newest_x().unwrap_or(to));
        let sample = |sample: u32| {
            let x = from + (to - from) * f64::from(sample) / f64::from(COMPARED_AT);
            Some(JointSample {
                x,
                memory: series.memory.value_at(x)?,
                counted: counted.value_at(x)?,
            })
        };
        JointSamples((1..=COMPARED_AT).filter_map(sample).collect())
    }

    fn rise_together(&self) -> bool {
        self.correlate(|sample| (sample.memory, sample.counted)) >= RISE_TOGETHER
    }

    fn are_straight(&self) -> bool {
        self.correlate(|sample| (sample.x, sample.counted)) >= STRAIGHT
    }

    fn correlate(&self, pair: impl Fn(&JointSample) -> (f64, f64)) -> f64 {
        let pairs: Vec<(f64, f64)> = self.0.iter().map(pair).collect();
        correlation(&pairs).unwrap_or(0.0)
    }
}

/// Pearson's.
fn correlation(pairs: &[(f64, f64)]) -> Option<f64> {
    let count = pairs.len() as f64;
    let mean_a = pairs.iter().map(|pair| pair.0).sum::<f64>() / count;
    let mean_b = pairs.iter().map(|pair| pair.1).sum::<f64>() / count;
    let (mut ab, mut aa, mut bb) = (0.0, 0.0, 0.0);
    for (a, b) in pairs {
        ab += (a - mean_a) * (b - mean_b);
        aa += (a - mean_a).powi(2);
        bb += (b - mean_b).powi(2);
    }
    (aa > 0.0 && bb > 0.0).then(|| ab / (aa * bb).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Python's `statistics.correlation([1, 2, 3, 5], [2, 3, 7, 8])`
    #[test]
    fn correlation_is_the_known_one() {
        let pairs = [(1.0, 2.0), (2.0, 3.0), (3.0, 7.0), (5.0, 8.0)];
        let known = 0.928_190_961_784_514_2;
        assert!((correlation(&pairs).unwrap() - known).abs() < 1e-12);
        assert_eq!(correlation(&[(1.0, 2.0), (2.0, 2.0)]), None);
    }
}
