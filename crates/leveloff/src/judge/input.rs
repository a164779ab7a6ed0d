//! One input: read once, or twice when earlier verdicts are asked for as well.

use std::path::{Path, PathBuf};

use anyhow::Result;
use leveloff_classifier::observation::Observation;
use leveloff_classifier::run::RunJudge;
use leveloff_classifier::verdict::RunVerdict;
use leveloff_model::recording::StatedFacts;
use leveloff_report::judged::{Judged, Look};

use super::looks::{Lookout, schedule};
use super::source::{self, Opened};
use crate::cli::JudgeArgs;

/// A file, or stdin.
#[derive(Debug)]
pub struct Input {
    path: PathBuf,
    name: String,
}

/// What came out.
#[derive(Debug)]
pub struct Outcome {
    /// The verdict.
    pub verdict: RunVerdict,
    stated: StatedFacts,
    notes: Vec<String>,
    looks: Vec<Look>,
}

impl Input {
    /// What the user named.
    pub fn of(path: &Path) -> Input {
        Input {
            path: path.to_owned(),
            name: path.to_string_lossy().into_owned(),
        }
    }

    /// As the user named it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it is stdin.
    pub fn is_stdin(&self) -> bool {
        self.path == Path::new("-")
    }

    /// Reads and judges it.
    pub fn judge(&self, args: &JudgeArgs) -> Result<Outcome> {
        match args.looks {
            None => self.judge_at(args, Vec::new()),
            Some(looks) if self.can_be_read_twice() => {
                let mut points = 0;
                self.open()?.read(&mut |_| points += 1)?;
                self.judge_at(args, schedule(points, looks))
            }
            Some(looks) => self.judge_kept(args, looks),
        }
    }

    /// Judges while reading, in bounded memory.
    fn judge_at(&self, args: &JudgeArgs, schedule: Vec<u64>) -> Result<Outcome> {
        let opened = self.open()?;
        let stated = args.facts.over(&opened.stated);
        let mut lookout = Lookout::new(RunJudge::new(opened.unit, &stated), schedule);
        let notes = opened.read(&mut |observation| lookout.observe(observation))?;
        Ok(Outcome::of(lookout, stated, notes))
    }

    /// Judges what comes through a pipe: how long it is shows only in the end, so it is kept.
    fn judge_kept(&self, args: &JudgeArgs, looks: u32) -> Result<Outcome> {
        let opened = self.open()?;
        let stated = args.facts.over(&opened.stated);
        let judge = RunJudge::new(opened.unit, &stated);
        let mut kept: Vec<Observation> = Vec::new();
        let notes = opened.read(&mut |observation| kept.push(observation.clone()))?;
        let mut lookout = Lookout::new(judge, schedule(kept.len() as u64, looks));
        for observation in &kept {
            lookout.observe(observation);
        }
        Ok(Outcome::of(lookout, stated, notes))
    }

    fn open(&self) -> Result<Opened> {
        source::open(&self.path)
    }

    fn can_be_read_twice(&self) -> bool {
        !self.is_stdin() && std::fs::metadata(&self.path).is_ok_and(|about| about.is_file())
    }
}

impl Outcome {
    fn of(lookout: Lookout, stated: StatedFacts, notes: Vec<String>) -> Outcome {
        let (verdict, looks) = lookout.finish();
        Outcome {
            verdict,
            stated,
            notes,
            looks,
        }
    }

    /// As it is told.
    pub fn judged<'a>(&'a self, input: &'a str) -> Judged<'a> {
        Judged {
            input,
            verdict: &self.verdict,
            stated: &self.stated,
            notes: &self.notes,
            looks: &self.looks,
        }
    }
}
