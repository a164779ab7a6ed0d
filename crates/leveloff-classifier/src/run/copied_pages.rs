//! Growth by copies: forked loader workers write into pages that they shared with the trainer.
//!
//! Reading a Python object writes its reference count, and the kernel copies the page. That does not
//! show in RSS, slows down as fewer pages are left, and ends only when every worker has a copy of
//! everything (pytorch#13246). Nothing else looks like it from outside: what a worker allocates is
//! in its RSS, and what an allocator warms up is over after a few batches.

use leveloff_model::process::Role;

use super::roles::RoleTrack;
use super::run_series::RunSeries;
use super::series_judgements::SeriesJudgements;
use crate::judge::{Before, Prior, Quantity};
use crate::observation::XUnit;
use crate::units::X;
use crate::verdict::{Grade, Judgement, Kind, Reason, Subject, Verdict};

/// RSS that moved by less than this share of the growth did not follow it.
const RSS_STOOD_STILL: f64 = 0.25;
/// Every quarter of the time must have at least this share of the growth. Pages that the trainer
/// rewrites after a fork are left to the workers too, but that is over soon; shares that move when
/// another process ends come in one jump.
const EVERY_QUARTER: f64 = 0.1;

/// Pages that the living workers made their own.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Copied {
    /// Since the share of each of them is known.
    pub(super) since: f64,
    /// How much.
    pub(super) amount: f64,
}

/// What living loader workers copied up to `now`, if it is more than `material`.
pub(super) fn copied(series: &RunSeries, now: f64, material: f64) -> Option<Copied> {
    let workers = series.roles.get(Role::DataloaderWorker)?;
    let since = all_read_since(series)?;
    let amount = workers.anonymous_read.growth_since(since, now);
    let rss = workers.rss.growth_since(since, now);
    let is_copying =
        amount >= material && rss.abs() <= RSS_STOOD_STILL * amount && goes_on(workers, since, now);
    is_copying.then_some(Copied { since, amount })
}

/// Copying that has gone on for longer than a worker needs to warm up.
pub(super) fn copied_pages(
    series: &RunSeries,
    judgements: &SeriesJudgements,
    unit: XUnit,
) -> Option<(Subject, Judgement)> {
    let role = Role::DataloaderWorker;
    let judgement = judgements.of_subject(Subject::Role(role))?;
    let now = judgement.span?.1.0;
    let copied = copied(
        series,
        now,
        judgements.memory().material.0.max(judgement.material.0),
    )?;
    let warm_by = Prior::of(unit, Quantity::SharedMemory).decision_age(Before::Warmup, 1.0);
    let raises = matches!(
        judgement.verdict,
        Verdict::WarmingUp | Verdict::Leak(Grade::Suspected)
    ) && judgement.reason != Reason::FirstEpoch
        && now - copied.since >= warm_by
        && series.memory.growth_since(copied.since, now) >= 0.5 * copied.amount;
    raises.then(|| {
        let raised = Judgement {
            verdict: Verdict::Leak(Grade::Early),
            onset_x: Some(X(copied.since)),
            reason: Reason::Outlived,
            decided_at_x: Some(X(copied.since + warm_by)),
            decide_by: None,
            ..judgement.clone()
        };
        (Subject::RoleKind(role, Kind::Anonymous), raised)
    })
}

/// Until its share is read, a forked worker seems to have nothing: what it shares since the fork is
/// no copy. `None` when there is no worker, or one that was not read yet.
fn all_read_since(series: &RunSeries) -> Option<f64> {
    let living = series.processes.living();
    let workers = living.filter(|track| track.role == Role::DataloaderWorker);
    let read: Option<Vec<f64>> = workers.map(|track| track.read_since).collect();
    read?.into_iter().max_by(f64::total_cmp)
}

fn goes_on(workers: &RoleTrack, since: f64, now: f64) -> bool {
    let quarter = 0.25 * (now - since);
    let least = EVERY_QUARTER * workers.anonymous_read.growth_since(since, now);
    (0..4).all(|part| {
        let from = since + f64::from(part) * quarter;
        workers.anonymous_read.growth_since(from, from + quarter) >= least
    })
}
