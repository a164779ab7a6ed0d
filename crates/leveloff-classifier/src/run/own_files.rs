//! Files in /dev/shm and memfds: are they the run's, and may a run that leaves them be called level?

use super::decide::Decision;
use super::own_clock::OwnClock;
use super::run_series::RunSeries;
use super::series_judgements::SeriesJudgements;
use super::track::Track;
use crate::finding::FileOwner;
use crate::verdict::Subject;

/// Files that are known to be the run's make the growth its own if they have at least this share of it.
const MOSTLY: f64 = 0.5;

/// Whose the growing files are. What names and open descriptors show comes before the clock that they grow by.
pub(super) fn owner(series: &RunSeries, clock: &OwnClock) -> FileOwner {
    let own = series.devshm_own.rise();
    if own > 0.0 && own >= MOSTLY * series.devshm.rise() {
        return FileOwner::Run;
    }
    match clock.explains_growth() {
        true => FileOwner::FollowsSteps,
        false => FileOwner::Unknown,
    }
}

/// Whether shared files that grow are memfds, for the most part.
pub(super) fn are_memfds(series: &RunSeries, from: f64, to: f64) -> bool {
    let memfds = series.memfd.growth_since(from, to);
    memfds > 0.0 && memfds >= MOSTLY * series.devshm.growth_since(from, to)
}

/// Memory that is level says nothing of files that the run leaves: while these grow by a material amount and are not
/// known to level off, the run is judged by them.
pub(super) fn not_level(
    decision: Decision,
    series: &RunSeries,
    judgements: &SeriesJudgements,
    owner: FileOwner,
) -> Decision {
    let grown = |track: &Track| track.rise() >= decision.memory.material.0 && track.rise() > 0.0;
    let files = judgements.of_subject(Subject::DevShm);
    let are_open = files.filter(|files| !files.verdict.is_level());
    match are_open {
        Some(files)
            if owner == FileOwner::Run
                && grown(&series.devshm_own)
                && decision.judgement.verdict.is_level() =>
        {
            Decision {
                decisive: Subject::DevShm,
                judgement: files.clone(),
                ..decision
            }
        }
        _ => decision,
    }
}
