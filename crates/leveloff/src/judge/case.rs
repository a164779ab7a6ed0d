//! One input and its verdict: read once, or twice when earlier verdicts are asked for as well.

use std::path::Path;

use leveloff_classifier::observation::Observation;
use leveloff_classifier::run::RunJudge;
use leveloff_classifier::verdict::RunVerdict;
use leveloff_model::recording::StatedFacts;
use leveloff_text::judged::{Judged, Look};

use super::looks::{Lookout, schedule};
use crate::cli::JudgeArgs;
use leveloff_readers::{Input, OpenedInput, Problem, ReadError, ReadResult};

/// What is going to be judged.
#[derive(Debug)]
pub struct Case {
    input: Input,
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

impl Case {
    /// What the user named.
    pub fn of(path: &Path) -> Case {
        Case {
            input: Input::from(path),
            name: path.to_string_lossy().into_owned(),
        }
    }

    /// As the user named it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// As people call it.
    pub fn title(&self) -> &str {
        match self.input {
            Input::Stdin => "stdin",
            Input::File(_) => &self.name,
        }
    }

    /// Whether it is stdin.
    pub fn is_stdin(&self) -> bool {
        self.input == Input::Stdin
    }

    /// Reads and judges it. The error does not name the input.
    pub fn judge(&self, args: &JudgeArgs) -> Result<Outcome, Problem> {
        let judged = match args.looks {
            None => self.judge_at(args, Vec::new()),
            Some(looks) if self.can_be_read_twice() => self
                .count_points(args)
                .and_then(|points| self.judge_at(args, schedule(points, looks))),
            Some(looks) => self.judge_kept(args, looks),
        };
        judged.map_err(|error| error.problem)
    }

    fn count_points(&self, args: &JudgeArgs) -> Result<u64, ReadError> {
        Ok(self.open(args)?.read(&mut |_| ())?.observations)
    }

    /// Judges while reading, in bounded memory.
    fn judge_at(&self, args: &JudgeArgs, schedule: Vec<u64>) -> Result<Outcome, ReadError> {
        let opened = self.open(args)?;
        let stated = args.facts.over(&opened.stated);
        let mut lookout = Lookout::new(RunJudge::new(opened.unit, &stated), schedule);
        let reading = opened.read(&mut |observation| lookout.observe(observation))?;
        Ok(Outcome::of(lookout, stated, reading))
    }

    /// Judges what comes through a pipe: how long it is shows only in the end, so it is kept.
    fn judge_kept(&self, args: &JudgeArgs, looks: u32) -> Result<Outcome, ReadError> {
        let opened = self.open(args)?;
        let stated = args.facts.over(&opened.stated);
        let judge = RunJudge::new(opened.unit, &stated);
        let mut kept: Vec<Observation> = Vec::new();
        let reading = opened.read(&mut |observation| kept.push(observation.clone()))?;
        let mut lookout = Lookout::new(judge, schedule(kept.len() as u64, looks));
        for observation in &kept {
            lookout.observe(observation);
        }
        Ok(Outcome::of(lookout, stated, reading))
    }

    fn open(&self, args: &JudgeArgs) -> Result<OpenedInput, ReadError> {
        leveloff_readers::open(&self.input, &args.columns.choice())
    }

    fn can_be_read_twice(&self) -> bool {
        match &self.input {
            Input::File(path) => std::fs::metadata(path).is_ok_and(|about| about.is_file()),
            Input::Stdin => false,
        }
    }
}

impl Outcome {
    fn of(lookout: Lookout, stated: StatedFacts, reading: ReadResult) -> Outcome {
        let (verdict, looks) = lookout.finish();
        Outcome {
            verdict,
            stated,
            notes: reading.notes,
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
