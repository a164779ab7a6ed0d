//! The history as a file: one JSON document with a version. Every value is checked, because a wrong one would move the
//! horizon of a run: a file with one of them is not used at all.

use leveloff_model::recording::RunAxis;
use serde::{Deserialize, Serialize};

use super::error::HistoryError;
use super::job::Job;
use super::past_run::PastRun;

const FORMAT: &str = "leveloff-history";

/// The newest version that is written and read.
const VERSION: u32 = 1;

/// The largest file that is read or written.
pub(super) const LARGEST: usize = 1 << 20;

/// Runs of a job that are kept, newest last.
const MOST_RUNS: usize = 8;

/// Jobs that are kept, the one that ran last at the end.
const MOST_JOBS: usize = 400;

/// Further than any run counts.
const FURTHEST: f64 = 1e15;

const LONGEST_NAME: usize = 400;

/// All jobs, the one that ran last at the end.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct History {
    pub jobs: Vec<JobRuns>,
}

/// A job and its runs, oldest first.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct JobRuns {
    pub job: Job,
    pub runs: Vec<PastRun>,
}

impl History {
    pub(crate) fn runs_of(&self, key: &str) -> Option<&[PastRun]> {
        let job = self.jobs.iter().find(|known| known.job.key == key)?;
        Some(&job.runs)
    }

    /// Adds a run. The oldest runs of the job, and the jobs that did not run for longest, make room for it.
    pub(crate) fn add(&mut self, job: &Job, run: PastRun) {
        let known = self.jobs.iter().position(|known| known.job.key == job.key);
        let mut runs = known.map_or_else(Vec::new, |at| self.jobs.remove(at).runs);
        runs.push(run);
        runs.drain(..runs.len().saturating_sub(MOST_RUNS));
        let job = job.clone();
        self.jobs.push(JobRuns { job, runs });
        self.jobs.drain(..self.jobs.len().saturating_sub(MOST_JOBS));
    }

    /// As a file, which may hold fewer jobs if it would become too large.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut jobs = &self.jobs[..];
        loop {
            let bytes = document(jobs);
            if bytes.len() <= LARGEST || jobs.is_empty() {
                return bytes;
            }
            jobs = &jobs[jobs.len().div_ceil(4)..];
        }
    }

    pub(super) fn parse(bytes: &[u8]) -> Result<History, HistoryError> {
        let head: Head = serde_json::from_slice(bytes).map_err(|error| broken(&error))?;
        if head.format != FORMAT {
            return Err(HistoryError::Broken("it is no history".to_owned()));
        }
        if head.version > VERSION {
            return Err(HistoryError::Newer(head.version));
        }
        let document: Document = serde_json::from_slice(bytes).map_err(|error| broken(&error))?;
        if document.jobs.len() > MOST_JOBS {
            return Err(wrong("too many jobs"));
        }
        let jobs = document.jobs.into_iter().map(JobRow::checked);
        Ok(History {
            jobs: jobs.collect::<Result<_, _>>()?,
        })
    }
}

fn document(jobs: &[JobRuns]) -> Vec<u8> {
    let document = Document {
        format: FORMAT.to_owned(),
        version: VERSION,
        jobs: jobs.iter().map(JobRow::of).collect(),
    };
    serde_json::to_vec(&document).expect("rows serialise to memory")
}

fn broken(error: &serde_json::Error) -> HistoryError {
    let why = match error.is_eof() {
        true => "it is cut off",
        false => "it is not valid",
    };
    HistoryError::Broken(why.to_owned())
}

fn wrong(what: &str) -> HistoryError {
    HistoryError::Broken(format!("it holds {what}"))
}

/// What every version has.
#[derive(Deserialize)]
struct Head {
    format: String,
    version: u32,
}

#[derive(Serialize, Deserialize)]
struct Document {
    format: String,
    version: u32,
    jobs: Vec<JobRow>,
}

#[derive(Serialize, Deserialize)]
struct JobRow {
    key: String,
    name: String,
    runs: Vec<RunRow>,
}

#[derive(Serialize, Deserialize)]
struct RunRow {
    ended_unix: f64,
    verdict: String,
    unit: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    level_after: Option<f64>,
    length: f64,
}

impl JobRow {
    fn of(known: &JobRuns) -> JobRow {
        JobRow {
            key: known.job.key.clone(),
            name: known.job.name.clone(),
            runs: known.runs.iter().map(RunRow::of).collect(),
        }
    }

    fn checked(self) -> Result<JobRuns, HistoryError> {
        let is_key = self.key.len() == 32 && self.key.bytes().all(|b| b.is_ascii_hexdigit());
        let is_name = self.name.len() <= LONGEST_NAME && !self.name.chars().any(char::is_control);
        if !is_key || !is_name || self.runs.len() > MOST_RUNS {
            return Err(wrong("a job that leveloff did not write"));
        }
        let (key, name) = (self.key, self.name);
        let runs = self.runs.into_iter().map(RunRow::checked);
        Ok(JobRuns {
            job: Job { key, name },
            runs: runs.collect::<Result<_, _>>()?,
        })
    }
}

impl RunRow {
    fn of(run: &PastRun) -> RunRow {
        RunRow {
            ended_unix: run.ended_unix,
            verdict: run.verdict.clone(),
            unit: run.axis.name().to_owned(),
            level_after: run.level_after,
            length: run.length,
        }
    }

    fn checked(self) -> Result<PastRun, HistoryError> {
        let axis = RunAxis::named(&self.unit);
        let is_verdict = ["level", "leak", "warming_up", "undecided"].contains(&&*self.verdict);
        let is_place = |x: f64| (0.0..=FURTHEST).contains(&x);
        let is_level = self.verdict == "level";
        let are_places = is_place(self.length) && is_place(self.ended_unix);
        let is_after = match self.level_after {
            Some(after) => is_level && is_place(after) && after <= self.length,
            None => true,
        };
        match axis {
            Some(axis) if is_verdict && are_places && is_after => Ok(PastRun {
                ended_unix: self.ended_unix,
                verdict: self.verdict,
                axis,
                level_after: self.level_after,
                length: self.length,
            }),
            _ => Err(wrong("a run that leveloff did not write")),
        }
    }
}

#[cfg(test)]
mod tests {
    use leveloff_model::progress::StepUnit;

    use super::*;

    fn job(number: usize) -> Job {
        Job {
            key: format!("{number:032x}"),
            name: "python train.py".to_owned(),
        }
    }

    fn run(level_after: f64) -> PastRun {
        PastRun {
            ended_unix: 1.7e9,
            verdict: "level".to_owned(),
            axis: RunAxis::Count(StepUnit::Steps),
            level_after: Some(level_after),
            length: 600.0,
        }
    }

    #[test]
    fn what_is_written_is_read_back() {
        let mut history = History::default();
        history.add(&job(1), run(88.0));
        history.add(&job(2), run(12.5));
        assert_eq!(History::parse(&history.to_bytes()).unwrap(), history);
    }

    #[test]
    fn the_oldest_make_room() {
        let mut history = History::default();
        for number in 0..500 {
            for level in 0..10 {
                history.add(&job(number), run(f64::from(level)));
            }
        }
        history.add(&job(200), run(90.0));
        assert_eq!(history.jobs.len(), MOST_JOBS);
        assert!(history.runs_of(&job(99).key).is_none());
        let runs = history.runs_of(&job(200).key).unwrap();
        assert_eq!((runs.len(), runs[7].level_after), (MOST_RUNS, Some(90.0)));
        assert!(history.to_bytes().len() <= LARGEST);
        assert!(History::parse(&history.to_bytes()).is_ok());
    }

    #[test]
    fn a_file_with_one_wrong_value_is_not_used() {
        let mut history = History::default();
        history.add(&job(1), run(88.0));
        let text = String::from_utf8(history.to_bytes()).unwrap();
        assert!(History::parse(text.as_bytes()).is_ok());
        for (right, wrong) in [
            ("88.0", "-88.0"),
            ("88.0", "1e300"),
            ("88.0", "700.0"),
            ("88.0", "\"88\""),
            ("\"level\"", "\"leak\""),
            ("\"steps\"", "\"miles\""),
            ("python train.py", "python\\u001b[2J"),
            ("leveloff-history", "another"),
            ("0000", "xyz!"),
        ] {
            let poisoned = text.replacen(right, wrong, 1);
            assert_ne!(poisoned, text);
            let parsed = History::parse(poisoned.as_bytes());
            assert!(matches!(parsed, Err(HistoryError::Broken(_))), "{wrong}");
        }
        for length in 0..text.len() {
            assert!(History::parse(&text.as_bytes()[..length]).is_err());
        }
        let newer = text.replacen("\"version\":1", "\"version\":2", 1);
        let parsed = History::parse(newer.as_bytes());
        assert!(matches!(parsed, Err(HistoryError::Newer(2))));
    }
}
