//! What each series of a run held, and how it grew: the table of a report.

use leveloff_model::units::Bytes;

use super::RunAccount;
use crate::observation::XUnit;
use crate::run_curves::{RunCurves, Series};
use crate::units::{Amount, X};
use crate::verdict::{Kind, Rate, RunVerdict, Subject};

/// One series.
#[derive(Debug, Clone, PartialEq)]
pub struct SeriesAccount {
    /// Which one.
    pub series: Series,
    /// At the first step, when the model is loaded; at the first sample of a run without steps.
    pub baseline: Amount,
    /// Where growth counts from ([`RunAccount::since`]).
    pub base: Amount,
    /// At the end of the run.
    pub end: Amount,
    /// The median of the last fifth of the run: what runs are compared by.
    pub settled: Amount,
    /// The highest of any sample.
    pub peak: Amount,
    /// Growth with its interval, where the series was judged on its own.
    pub rate: Option<Rate>,
    /// Its share of the growth that the verdict is about; may be negative for what shrank.
    pub share: Option<f64>,
    /// What a sum of RSS says of a role at the end.
    pub rss: Option<Bytes>,
    /// Processes of a role at the end.
    pub processes: Option<u32>,
}

impl SeriesAccount {
    /// From the base to the end; negative for what shrank.
    pub fn growth(&self) -> Amount {
        self.end - self.base
    }

    /// What the judge calls it, if it is judged on its own.
    pub fn subject(&self) -> Option<Subject> {
        subject(self.series)
    }
}

/// All series that are known.
pub(super) fn series_table(account: &RunAccount, curves: &RunCurves) -> Vec<SeriesAccount> {
    let series = curves.series().into_iter();
    series
        .filter_map(|series| row(series, account, curves))
        .collect()
}

fn row(series: Series, account: &RunAccount, curves: &RunCurves) -> Option<SeriesAccount> {
    let (base, end) = base_and_end(series, account, curves)?;
    let verdict = account.verdict.as_ref();
    let groups = match series {
        Series::Role(role) => account.role(role).collect(),
        _ => Vec::new(),
    };
    let of_role = |sum: Bytes| matches!(series, Series::Role(_)).then_some(sum);
    let peak = match series {
        Series::Memory => Amount::from(account.memory.peak),
        _ => curves.peak(series)?,
    };
    Some(SeriesAccount {
        series,
        // A role that joined later began with nothing.
        baseline: curves.baseline(series).unwrap_or_default(),
        base,
        end,
        settled: curves.settled(series)?,
        peak,
        rate: verdict.and_then(|verdict| rate(series, verdict)),
        share: verdict.and_then(|verdict| share(series, verdict)),
        rss: of_role(groups.iter().map(|group| group.rss).sum()),
        processes: of_role(Bytes::ZERO).map(|_| groups.iter().map(|group| group.processes).sum()),
    })
}

/// Memory is the account's; what the account does not know is read off the curve.
fn base_and_end(
    series: Series,
    account: &RunAccount,
    curves: &RunCurves,
) -> Option<(Amount, Amount)> {
    match series {
        Series::Memory => Some((account.memory.base.into(), account.memory.now.into())),
        Series::Role(role) => {
            let groups = || account.role(role).map(|group| group.memory);
            let base: Bytes = groups().map(|memory| memory.base).sum();
            let end: Bytes = groups().map(|memory| memory.now).sum();
            Some((base.into(), end.into()))
        }
        Series::Kind(kind @ (Kind::Anonymous | Kind::Shared | Kind::Swap)) => {
            let parts = || account.parts.iter().filter(|part| part.kind == kind);
            let base: Bytes = parts().map(|part| part.base).sum();
            let end: Bytes = parts().map(|part| part.now).sum();
            Some((base.into(), end.into()))
        }
        _ => {
            let base = account.since.moment;
            let from = base
                .count
                .and_then(|x| curves.around(series, X(x), XUnit::Step));
            let from = from.or_else(|| curves.baseline(series));
            let end = curves.newest(series)?;
            Some((from.unwrap_or_default(), end))
        }
    }
}

fn subject(series: Series) -> Option<Subject> {
    match series {
        Series::Memory => Some(Subject::Memory),
        Series::Role(role) => Some(Subject::Role(role)),
        Series::Kind(Kind::DevShm) => Some(Subject::DevShm),
        Series::Kind(Kind::Descriptors) => Some(Subject::Descriptors),
        Series::Counter(fact) => Some(Subject::Counter(fact)),
        Series::RssSum | Series::Kind(_) | Series::Gpu => None,
    }
}

fn rate(series: Series, verdict: &RunVerdict) -> Option<Rate> {
    let subject = subject(series)?;
    if subject == Subject::Memory {
        return verdict.memory.rate;
    }
    let judged = verdict.subjects.iter().find(|(of, _)| *of == subject);
    judged.and_then(|(_, judgement)| judgement.rate)
}

fn share(series: Series, verdict: &RunVerdict) -> Option<f64> {
    let blamed = verdict.blame.iter().filter(|blame| match series {
        Series::Role(role) => blame.role == Some(role),
        Series::Kind(kind) => blame.kind == kind,
        _ => false,
    });
    let shares: Vec<f64> = blamed.map(|blame| blame.share).collect();
    (!shares.is_empty()).then(|| shares.iter().sum())
}
