//! One input and its verdict: read once, or twice if earlier verdicts are wanted as well.

use std::cell::RefCell;
use std::path::Path;

use leveloff_classifier::allocation_history::{AllocationHistory, LineGrowth};
use leveloff_classifier::observation::{Moment, Observation, XUnit};
use leveloff_classifier::run::RunJudge;
use leveloff_classifier::verdict::RunVerdict;
use leveloff_model::progress::Progress;
use leveloff_model::recording::StatedFacts;
use leveloff_text::judged::{Judged, Look};

use super::earlier_verdicts::{EarlierVerdicts, schedule};
use super::job_command::JobCommand;
use leveloff_readers::{ColumnChoice, Input, OpenedInput, Problem, ReadError, ReadResult};

#[derive(Debug)]
pub(crate) struct Case {
    input: Input,
    name: String,
}

/// How inputs are judged.
#[derive(Debug, Clone, Default)]
pub(crate) struct JudgeOptions {
    pub stated: StatedFacts,
    pub columns: ColumnChoice,
    /// How many earlier verdicts to give.
    pub looks: Option<u32>,
    /// Whether the inputs are from loops that were written to reproduce a leak.
    pub is_repro: bool,
}

/// A verdict, and what belongs to it.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub verdict: RunVerdict,
    stated: StatedFacts,
    notes: Vec<String>,
    progress: Option<Progress>,
    looks: Vec<Look>,
    lines: Vec<LineGrowth>,
    job: Option<Vec<String>>,
}

impl Case {
    /// What the user named.
    pub(crate) fn of(path: &Path) -> Case {
        Case {
            input: Input::from(path),
            name: path.to_string_lossy().into_owned(),
        }
    }

    /// As the user named it.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Its name in messages.
    pub(crate) fn title(&self) -> &str {
        match self.input {
            Input::Stdin => "stdin",
            Input::File(_) => &self.name,
        }
    }

    /// Whether it is stdin.
    pub(crate) fn is_stdin(&self) -> bool {
        self.input == Input::Stdin
    }

    /// Reads and judges it. The error does not name the input.
    pub(crate) fn judge(&self, options: &JudgeOptions) -> Result<Outcome, Problem> {
        let judged = match options.looks {
            None => self.judge_at(options, Vec::new()),
            Some(looks) if self.can_be_read_twice() => self
                .count_points(options)
                .and_then(|points| self.judge_at(options, schedule(points, looks))),
            Some(looks) => self.judge_kept(options, looks),
        };
        judged.map_err(|error| error.problem)
    }

    fn count_points(&self, options: &JudgeOptions) -> Result<u64, ReadError> {
        Ok(self.open(options)?.read(&mut |_| ())?.observations)
    }

    /// Opens the input, with what is stated about it and a judge for it.
    fn begin(
        &self,
        options: &JudgeOptions,
    ) -> Result<(OpenedInput, StatedFacts, RunJudge), ReadError> {
        let opened = self.open(options)?;
        let stated = options.stated.clone().or(&opened.stated);
        let mut judge = RunJudge::new(opened.unit, &stated);
        if self.is_repro(options, &opened) {
            judge.assume_repro();
        }
        Ok((opened, stated, judge))
    }

    /// Judges while reading, in bounded memory.
    fn judge_at(&self, options: &JudgeOptions, schedule: Vec<u64>) -> Result<Outcome, ReadError> {
        let (opened, stated, judge) = self.begin(options)?;
        let mut verdicts = EarlierVerdicts::new(judge, schedule);
        let allocations: RefCell<AllocationHistory> = RefCell::default();
        let mut job = JobCommand::of(opened.header());
        let reading = opened.read_with_ticks(
            &mut |observation| {
                allocations.borrow_mut().set_moment(Moment::of(observation));
                verdicts.observe(observation);
            },
            &mut |tick| {
                job.learn(&tick.events);
                allocations.borrow_mut().learn(&tick.events);
            },
        )?;
        let mut outcome = Outcome::of(verdicts, stated, reading);
        outcome.lines = allocations.take().lines(&outcome.verdict);
        outcome.job = job.masked();
        Ok(outcome)
    }

    /// Judges what comes through a pipe: how long it is shows only in the end, so it is kept.
    fn judge_kept(&self, options: &JudgeOptions, looks: u32) -> Result<Outcome, ReadError> {
        let (opened, stated, judge) = self.begin(options)?;
        let mut kept: Vec<Observation> = Vec::new();
        let reading = opened.read(&mut |observation| kept.push(observation.clone()))?;
        let mut verdicts = EarlierVerdicts::new(judge, schedule(kept.len() as u64, looks));
        for observation in &kept {
            verdicts.observe(observation);
        }
        Ok(Outcome::of(verdicts, stated, reading))
    }

    /// What is pasted into stdin is a table or a log from a report of a leak.
    fn is_repro(&self, options: &JudgeOptions, opened: &OpenedInput) -> bool {
        let counts_training = !matches!(
            opened.unit,
            XUnit::Iteration | XUnit::Sample | XUnit::Second
        );
        let is_paste = self.is_stdin() && opened.header().is_none() && !counts_training;
        options.is_repro || is_paste
    }

    fn open(&self, options: &JudgeOptions) -> Result<OpenedInput, ReadError> {
        leveloff_readers::open(&self.input, &options.columns)
    }

    fn can_be_read_twice(&self) -> bool {
        match &self.input {
            Input::File(path) => std::fs::metadata(path).is_ok_and(|about| about.is_file()),
            Input::Stdin => false,
        }
    }
}

impl Outcome {
    fn of(verdicts: EarlierVerdicts, stated: StatedFacts, reading: ReadResult) -> Outcome {
        let (verdict, looks) = verdicts.finish(reading.has_run_ended);
        Outcome {
            verdict,
            stated,
            notes: reading.notes,
            progress: reading.progress,
            looks,
            lines: Vec::new(),
            job: None,
        }
    }

    /// As the report crate takes it.
    pub(crate) fn judged<'a>(&'a self, input: &'a str) -> Judged<'a> {
        Judged {
            input,
            verdict: &self.verdict,
            stated: &self.stated,
            notes: &self.notes,
            progress: self.progress.as_ref(),
            looks: &self.looks,
            lines: &self.lines,
            job: self.job.as_deref(),
        }
    }
}
