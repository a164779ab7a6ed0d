//! Everything that a report of a run shows, in whatever format.
//!
//! A [`RunReport`] is made of a [`FinishedRun`], the classifier's account of it, and of the
//! [`Background`]: where it ran, and on what. HTML, Markdown, JSON and the charts only read that.

mod background;
mod discretion;
mod process_tree;

pub use background::{Background, BackgroundCheck, Group};
pub use process_tree::ListedProcess;

use leveloff_classifier::allocation_history::LineGrowth;
use leveloff_classifier::run_analysis::{FinishedRun, RunAccount, SeriesAccount};
use leveloff_classifier::run_curves::{RunCurves, Series};
use leveloff_classifier::verdict::RunVerdict;
use leveloff_model::process::Role;
use leveloff_model::progress::Progress;
use leveloff_model::recording::{End, Header, StatedFacts};
use leveloff_model::training_counters::{GrownTensors, TrainingCounter};
use leveloff_model::units::Bytes;
use leveloff_text::judged::Judged;
use leveloff_text::sizing::Sizing;
use leveloff_text::speed::speed_with_interval;

/// What there is to show of one run.
#[derive(Debug, Clone)]
pub struct RunReport {
    /// What the user calls the input.
    pub input: String,
    /// What kind of file it is: `leveloff recording`, `mprof`.
    pub format: String,
    /// The version of leveloff that reports.
    pub tool: String,
    /// The verdict, with all its evidence.
    pub verdict: RunVerdict,
    /// What the user stated.
    pub stated: StatedFacts,
    /// What was left out, guessed or torn while reading.
    pub notes: Vec<String>,
    /// How far the training came and where its steps come from, if the input says so.
    pub progress: Option<Progress>,
    /// The run at its last whole sample. Its verdict and processes are in fields of their own.
    pub account: RunAccount,
    /// The curves, folded to at most some thousand spans with their extremes kept.
    pub curves: RunCurves,
    /// What each series held and how it grew: the whole first.
    pub series: Vec<SeriesAccount>,
    /// Which tensors became more, most bytes first, where the training reports it.
    pub grown: Vec<GrownTensors>,
    /// The lines whose memory grew, most first, if the run was started with `--blame`.
    pub lines: Vec<LineGrowth>,
    /// Whether the run was started with `--blame`, and something was seen.
    pub is_heap_sampled: bool,
    /// The processes, parents before their children. Empty when the source knows one number only.
    pub processes: Vec<ListedProcess>,
    /// Processes that were too small or too short to be listed.
    pub processes_left_out: u64,
    /// What a machine for this run needs.
    pub host_sizing: Option<Sizing>,
    /// What a GPU for this run needs.
    pub gpu_sizing: Option<Sizing>,
    /// Where it ran, and on what.
    pub background: Background,
}

/// What is known besides, when all is read.
#[derive(Debug, Clone)]
pub struct ReportContext {
    /// What the user calls the input.
    pub input: String,
    /// What kind of file it is.
    pub format: String,
    /// The version of leveloff that reports.
    pub tool: String,
    /// What the user stated.
    pub stated: StatedFacts,
    /// What was left out, guessed or torn while reading.
    pub notes: Vec<String>,
    /// How far the training came, if the input says so.
    pub progress: Option<Progress>,
    /// A recording's header.
    pub header: Option<Header>,
    /// How a recording ended.
    pub end: Option<End>,
}

impl RunReport {
    /// The report of a run that was read to its end; `None` of a machine, which has no verdict.
    pub fn new(
        run: FinishedRun,
        background: BackgroundCheck,
        about: ReportContext,
    ) -> Option<RunReport> {
        let mut account = run.account;
        let verdict = account.verdict.take()?;
        let (processes, left_out) = process_tree::listed(std::mem::take(&mut account.processes));
        let report = RunReport {
            host_sizing: Sizing::of_run(&verdict),
            gpu_sizing: Sizing::of_gpu(&run.curves),
            background: background.finish(about.header, about.end),
            curves: run.curves,
            series: run.series,
            grown: run.grown_tensors,
            lines: run.lines,
            is_heap_sampled: run.is_heap_sampled,
            processes,
            processes_left_out: left_out + account.processes_left_out,
            account,
            verdict,
            input: about.input,
            format: about.format,
            tool: about.tool,
            stated: about.stated,
            notes: about.notes,
            progress: about.progress,
        };
        Some(report.without_secrets())
    }

    /// The verdict as `judge` shows it.
    pub fn judged(&self) -> Judged<'_> {
        Judged {
            input: &self.input,
            verdict: &self.verdict,
            stated: &self.stated,
            notes: &self.notes,
            progress: self.progress.as_ref(),
            looks: &[],
            lines: &self.lines,
            job: self.job(),
        }
    }

    /// The command of the job: what was started, else that of the trainer.
    fn job(&self) -> Option<&[String]> {
        let is_trainer = |process: &&ListedProcess| process.account.role == Role::Trainer;
        let trainer = || {
            let trainer = self.processes.iter().find(is_trainer)?;
            trainer.command().filter(|command| command.len() > 1)
        };
        self.background.command.as_deref().or_else(trainer)
    }

    /// How fast it goes: `20.1 steps per second (19.8 … 20.4)`.
    pub fn speed_words(&self) -> Option<String> {
        let speed = self.account.speed?;
        Some(speed_with_interval(speed, self.verdict.x_unit))
    }

    /// A series, if it is known.
    pub fn series(&self, series: Series) -> Option<&SeriesAccount> {
        self.series.iter().find(|one| one.series == series)
    }

    /// What a `malloc_trim` gave back, if the training tried one.
    pub fn trimmed(&self) -> Option<Bytes> {
        let trimmed = self
            .curves
            .peak(Series::Counter(TrainingCounter::Trimmed))?;
        Some(trimmed.bytes())
    }
}
