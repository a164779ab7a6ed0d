use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgAction, Args};
use leveloff_progress::StepRegex;

use super::{FactArgs, MetricsArgs};
use crate::option_values::{parse_interval, parse_percent, parse_step_regex, parse_switch};
use crate::session::{VoiceOptions, WatchOptions};

/// Options of every command that samples a run. A value may begin with a minus, so that the error for `--interval
/// -1s` says what an interval is, and not "unexpected argument '-1'".
#[derive(Debug, Clone, Args)]
pub(crate) struct SamplingArgs {
    /// Time between samples, such as 1s, 500ms
    #[arg(
        short,
        long,
        value_name = "TIME",
        default_value = "1s",
        value_parser = parse_interval,
        allow_hyphen_values = true,
        env = "LEVELOFF_INTERVAL"
    )]
    interval: Duration,
    /// CPU time that reading shared memory may take, in percent of one core; 0 reads none
    #[arg(
        long,
        value_name = "%",
        default_value = "0.5",
        value_parser = parse_percent,
        allow_hyphen_values = true,
        env = "LEVELOFF_PSS_BUDGET"
    )]
    pss_budget: f64,
    /// Read the steps of the training from this log file
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// A regular expression for the lines that hold the step, if leveloff does not find them: `it (?P<step>\d+)`.
    /// Its groups are step, total, epoch, samples and tokens
    #[arg(long, value_name = "REGEX", value_parser = parse_step_regex)]
    step_regex: Option<StepRegex>,
    /// Whether to use and keep the history of this job
    #[arg(
        long,
        hide = true,
        num_args = 0..=1,
        require_equals = true,
        default_value = "true",
        default_missing_value = "true",
        action = ArgAction::Set,
        value_parser = parse_switch,
        env = "LEVELOFF_HISTORY"
    )]
    history: bool,
    /// Neither use nor keep how runs of this job ended (`leveloff history`); LEVELOFF_HISTORY=0 does the same
    #[arg(long)]
    no_history: bool,
    #[command(flatten)]
    pub facts: FactArgs,
    #[command(flatten)]
    pub metrics: MetricsArgs,
}

impl SamplingArgs {
    pub(crate) fn options(&self) -> WatchOptions {
        WatchOptions {
            interval: self.interval,
            pss_budget_percent: self.pss_budget,
            log: self.log.clone(),
            step_regex: self.step_regex.clone(),
            stated: self.facts.stated(),
            uses_history: self.history && !self.no_history,
            metrics: self.metrics.choice(),
            voice: VoiceOptions::quiet(),
        }
    }
}
