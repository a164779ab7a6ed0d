//! What each role and each kind holds, and how it grew.

use leveloff_classifier::run_curves::{RunCurves, Series};
use leveloff_classifier::verdict::{Kind, Rate, RunVerdict, Subject};
use leveloff_model::units::Bytes;

use super::Member;

/// A line of the growth table.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// What of.
    pub series: Series,
    /// When the run began to count: the model is loaded.
    pub baseline: f64,
    /// In the last fifth of the run.
    pub settled: f64,
    /// The highest of any sample.
    pub peak: f64,
    /// Growth with its interval, where the series was judged on its own.
    pub rate: Option<Rate>,
    /// Its share of the growth that the verdict is about; may be negative for what shrank.
    pub share: Option<f64>,
    /// What a sum of RSS says of a role at the end.
    pub rss: Option<Bytes>,
    /// Processes of a role at the end.
    pub processes: Option<u32>,
}

impl Part {
    /// From the baseline to where it settled; negative when it shrank.
    pub fn growth(&self) -> f64 {
        self.settled - self.baseline
    }

    /// What the judge calls it, if it is looked at on its own.
    pub fn subject(&self) -> Option<Subject> {
        subject(self.series)
    }
}

/// The table: the whole, then roles, kinds and the rest.
pub fn parts(curves: &RunCurves, verdict: &RunVerdict, members: &[Member]) -> Vec<Part> {
    let series = curves.series().into_iter();
    series
        .filter_map(|series| part(series, curves, verdict, members))
        .collect()
}

fn part(
    series: Series,
    curves: &RunCurves,
    verdict: &RunVerdict,
    members: &[Member],
) -> Option<Part> {
    let of_role = |member: &&Member| Series::Role(member.role) == series;
    let present: Vec<&Member> = members
        .iter()
        .filter(of_role)
        .filter(|m| m.is_there)
        .collect();
    let is_role = matches!(series, Series::Role(_));
    Some(Part {
        series,
        // A role that joined later began with nothing.
        baseline: curves.baseline(series).unwrap_or(0.0),
        settled: curves.settled(series)?,
        peak: curves.peak(series)?,
        rate: rate(series, verdict),
        share: share(series, verdict),
        rss: is_role.then(|| present.iter().map(|member| member.rss).sum()),
        processes: is_role.then_some(u32::try_from(present.len()).unwrap_or(u32::MAX)),
    })
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
