//! What is to be seen, before anything is drawn: which part of the run, and what is laid over it.

use std::ops::Range;

use leveloff_classifier::observation::XUnit;
use leveloff_classifier::run_analysis::{GrowthOrigin, RunAccount};
use leveloff_classifier::verdict::HorizonSource;
use leveloff_model::units::Bytes;
use leveloff_text::outlook::{ForecastPoint, Outlook};

use super::axis_map::AxisMap;
use crate::dashboard::Dashboard;
use crate::history::{Axis, Column, Reach};
use crate::run::RunState;
use crate::theme::Paint;
use crate::view::Window;

/// Of growth, this share of what is shown is seen ahead,
const AHEAD: f64 = 0.25;
/// or up to where it meets the limit, if that is no further than this.
const FURTHEST: f64 = 1.5;
/// Left free behind what is to be seen ahead.
const BEHIND: f64 = 1.04;
/// Where growth leads may add at most this share to the height of the curve.
const HEADROOM: f64 = 0.5;
/// A sum of RSS this many times the memory misleads.
const MISLEADS: f64 = 1.25;
/// A limit this many times what is shown is near enough to be shown.
const NEAR: f64 = 1.25;

/// When the run of the reference story had levelled off. Shown, faintly, while a run is young and its
/// user stated nothing.
const OFTEN_LEVEL_BY: f64 = 90.0;
/// A run is young up to this step.
const YOUNG: f64 = 200.0;

/// What is to be seen.
#[derive(Debug)]
pub(super) struct ChartContent<'a> {
    /// The run.
    pub(super) run: &'a RunState,
    /// What it is drawn over.
    pub(super) axis: Axis,
    /// From the left to the right border.
    pub(super) range: Range<f64>,
    /// What the verdict says.
    pub(super) outlook: Outlook,
    /// By when it must have levelled off.
    pub(super) level_by: Option<LevelBy>,
    /// The user's marker.
    pub(super) marker: Option<f64>,
    /// What a sum of RSS says now, if it misleads.
    pub(super) rss: Option<Bytes>,
}

/// By when memory must have levelled off.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct LevelBy {
    /// On the chart's axis.
    pub(super) x: f64,
    /// Whether the user stated it, or earlier runs do.
    pub(super) is_stated: bool,
    /// `level-by 90`
    pub(super) words: String,
}

impl ChartContent<'_> {
    /// What is to be seen of a run; `None` before its first sample.
    pub(super) fn of(dashboard: &Dashboard) -> Option<ChartContent<'_>> {
        let run = dashboard.run();
        let axis = dashboard.axis();
        let whole = dashboard.extent()?;
        let axis_map = AxisMap::new(&run.history, axis, run.verdict());
        let outlook = run
            .verdict()
            .map(|verdict| Outlook::of(verdict, |x| axis_map.position(x.0, verdict.x_unit)))
            .unwrap_or_default();
        let level_by = LevelBy::of(run, &axis_map);
        let window = &dashboard.view.window;
        let beyond = beyond(window, &whole, &outlook, level_by.as_ref());
        let range = window.range(&whole, beyond);
        // A window of no length shows nothing.
        (range.end > range.start).then(|| ChartContent {
            run,
            axis,
            range,
            outlook,
            level_by,
            marker: run.account().and_then(|account| marker(account, axis)),
            rss: misleading_rss(run),
        })
    }

    /// How the verdict, and what was fitted, is painted.
    pub(super) fn paint(&self) -> Paint {
        let verdict = self.run.verdict();
        verdict.map_or(Paint::Unsure, |verdict| Paint::from(verdict.verdict))
    }

    /// The columns of the curve.
    pub(super) fn columns(&self, count: usize) -> Vec<Option<Column>> {
        self.run.history.columns(self.axis, &self.range, count)
    }

    /// The amounts that the axis of memory must show: the curve, where it leads, and the limit when
    /// that is in sight. Never the sum of RSS, which would squash the truth.
    pub(super) fn amounts(&self) -> Option<Reach> {
        let shown = self.columns(1).into_iter().flatten().next();
        let newest = self.run.history.last()?;
        let curve = shown.map_or(Reach::at(newest.memory), |column| column.memory);
        let ahead = self.outlook.forecast.as_ref().and_then(|forecast| {
            let memory = height_at(forecast.from, forecast.to, self.range.end)?;
            Some(memory.min(curve.high + HEADROOM * (curve.high - curve.low)))
        });
        let all = ahead.map_or(curve, |memory| curve.and(Reach::at(memory)));
        let limit = self.outlook.limit.filter(|limit| {
            let is_near = (all.low..=NEAR * all.high).contains(limit);
            is_near || self.meets_limit()
        });
        Some(limit.map_or(all, |limit| all.and(Reach::at(limit))))
    }

    /// Whether growth meets the limit in sight.
    fn meets_limit(&self) -> bool {
        let forecast = self.outlook.forecast.as_ref();
        let crossing = forecast.and_then(|forecast| forecast.crossing.as_ref());
        crossing.is_some_and(|crossing| self.range.contains(&crossing.x))
    }
}

impl LevelBy {
    fn of(run: &RunState, axis_map: &AxisMap<'_>) -> Option<LevelBy> {
        let stated = run.stated.level_by.map(|step| step.0 as f64);
        let is_young = || {
            let steps = run.history.extent(Axis::Steps);
            steps.is_some_and(|steps| steps.end < YOUNG)
        };
        let earlier = of_earlier_runs(run);
        let step = stated
            .or(earlier)
            .or_else(|| is_young().then_some(OFTEN_LEVEL_BY))?;
        Some(LevelBy {
            x: axis_map.position(step, XUnit::Step)?,
            is_stated: stated.or(earlier).is_some(),
            words: match (stated, earlier) {
                (Some(step), _) => format!("level-by {step}"),
                (None, Some(step)) => format!("earlier runs: level by {step:.0}"),
                (None, None) => format!("often level by {step}"),
            },
        })
    }
}

/// The step by which earlier runs of the same job let expect a level.
fn of_earlier_runs(run: &RunState) -> Option<f64> {
    let verdict = run.verdict()?;
    let is_earlier = verdict.horizon_source == HorizonSource::History;
    let horizon = verdict.horizon.filter(|_| verdict.x_unit == XUnit::Step)?;
    is_earlier.then_some(horizon.0)
}

/// How far ahead is seen.
fn beyond(
    window: &Window,
    whole: &Range<f64>,
    outlook: &Outlook,
    level_by: Option<&LevelBy>,
) -> f64 {
    let shown = match window {
        Window::Newest(length) => *length,
        Window::Whole | Window::Fixed(_) => whole.end - whole.start,
    };
    let forecast = outlook.forecast.as_ref();
    let crossing = forecast.and_then(|forecast| Some(forecast.crossing.as_ref()?.x));
    let stated = level_by.filter(|mark| mark.is_stated).map(|mark| mark.x);
    let ahead = if forecast.is_some() { AHEAD } else { 0.0 };
    [crossing, stated]
        .into_iter()
        .flatten()
        .map(|x| (x - whole.end) * BEHIND)
        .filter(|distance| *distance <= FURTHEST * shown)
        .fold(ahead * shown, f64::max)
}

fn marker(account: &RunAccount, axis: Axis) -> Option<f64> {
    let since = account.since;
    let moment = (since.origin == GrowthOrigin::Marker).then_some(since.moment)?;
    match axis {
        Axis::Time => moment.t.map(|t| t.0),
        Axis::Steps => moment.count,
    }
}

fn misleading_rss(run: &RunState) -> Option<Bytes> {
    let newest = run.history.last()?;
    let misleads = newest.rss > MISLEADS * newest.memory;
    misleads.then_some(Bytes(newest.rss as u64))
}

/// How high the line through both is at `x`.
fn height_at(from: ForecastPoint, to: ForecastPoint, x: f64) -> Option<f64> {
    let slope = (to.memory - from.memory) / (to.x - from.x);
    let memory = from.memory + slope * (x.min(to.x) - from.x);
    (x > from.x && memory.is_finite()).then_some(memory)
}
