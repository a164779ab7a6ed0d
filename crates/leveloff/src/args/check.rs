use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgAction, Args};
use leveloff_classifier::gate::{CheckOutcome, Gates, GrowthBound, Horizon};
use leveloff_classifier::observation::XUnit;
use leveloff_classifier::units::{Amount, X};
use leveloff_model::recording::{RunAxis, StatedFacts};
use leveloff_model::units::{Bytes, GrowthBase, GrowthLimit, Seconds, Step};

use super::{ColumnArgs, FactArgs, Format};
use crate::option_values::{
    parse_interval, parse_name, parse_percent, parse_repeat, parse_switch, undecided_parser,
};

pub(super) const LONG_ABOUT: &str = "Fail when memory leaks, grows too much or got worse; for CI.\n\n\
    Checks recordings and everything else that `judge` reads, or runs a command, records it and checks that. A check \
    fails only on clear evidence. If the evidence does not suffice either way, the result is undecided, with an exit \
    code of its own. Always checked: no leak, and level by step 90 (--level-by). On request: limits for level, peak \
    and growth, and no regression against a baseline file that you keep in git, beyond the noise of both.";

pub(super) const EXAMPLES: &str = "Examples:\n  \
    leveloff check run.jsonl                               no leak, level by step 90\n  \
    leveloff check -- python train.py --max-steps 200      run, record and check\n  \
    leveloff check --repeat 3 -- ./smoke.sh                three runs; the majority decides\n  \
    leveloff check run.jsonl --max-level 20GiB --max-growth 1MiB/step\n  \
    leveloff check run.jsonl --baseline leveloff-baseline.json --update-baseline\n  \
    leveloff check run.jsonl --baseline leveloff-baseline.json\n  \
    leveloff check --github --junit memory.xml --report memory.html -- python train.py\n  \
    leveloff check --self-test                             does the check still reject a leak?\n\n\
    Several files are different runs, and the worst result counts; against a baseline they are repeats of one run.\n\n\
    Exit codes: 0 passed, 1 a leak or a regression, 2 something could not be read or the command failed, \
    3 undecided (--undecided=pass makes it 0, =fail 1). docs/CI.md has recipes.";

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// Recordings, or anything else that `judge` reads
    #[arg(value_name = "FILE", conflicts_with_all = ["command", "self_test"])]
    pub files: Vec<PathBuf>,
    #[command(flatten)]
    pub facts: FactArgs,
    /// Fail if memory levels off above this amount: 20GiB
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true)]
    pub max_level: Option<Bytes>,
    /// Fail if memory grows faster than this at the end: 1MiB/step, 100MiB/h
    #[arg(long, value_name = "SIZE/BASE", allow_hyphen_values = true)]
    pub max_growth: Option<GrowthLimit>,
    /// Fail if any sample is above this amount: 22GiB
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true)]
    pub max_peak: Option<Bytes>,
    /// Fail if memory meets the limit before the planned end; needs both (--limit, --planned-steps)
    #[arg(long)]
    pub will_finish: bool,
    /// Let earlier runs of the same job say by when memory must be level, instead of step 90, and remember this one
    #[arg(
        long,
        value_name = "BOOL",
        num_args = 0..=1,
        require_equals = true,
        default_value = "false",
        default_missing_value = "true",
        action = ArgAction::Set,
        value_parser = parse_switch
    )]
    pub history: bool,
    /// Name the line that allocates the memory that is not freed, by sampling the heap of CMD (see `run --blame`)
    #[arg(long, conflicts_with = "files")]
    pub blame: bool,
    /// Fail if the run is worse than this baseline by more than noise
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,
    /// Write the measured values into the baseline [default: leveloff-baseline.json]
    #[arg(long)]
    pub update_baseline: bool,
    /// The name of this check: its entry in the baseline and in reports
    #[arg(long, value_name = "NAME", default_value = "default", value_parser = parse_name)]
    pub name: String,
    /// Run the command N times; the majority decides
    #[arg(long, value_name = "N", default_value = "1", conflicts_with = "files", value_parser = parse_repeat, allow_hyphen_values = true)]
    pub repeat: u32,
    /// How undecided counts for the exit code [default: code 3]
    #[arg(long, value_parser = undecided_parser(), value_name = "AS")]
    pub undecided: Option<CheckOutcome>,
    /// Output format
    #[arg(long, value_enum, default_value = "text")]
    pub format: Format,
    /// Also write JUnit XML
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    /// Also write annotations and the summary of the GitHub job
    #[arg(long)]
    pub github: bool,
    /// Also write GitLab code-quality JSON
    #[arg(long, value_name = "FILE")]
    pub gitlab: Option<PathBuf>,
    /// Also write a report of each run: .html, .md, .svg, .png or .json
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// The recording of the command [default: leveloff-DATE-TIME-COMMAND.jsonl here]
    #[arg(short, long, value_name = "FILE", conflicts_with = "files")]
    pub output: Option<PathBuf>,
    /// Replace existing files, and update the baseline even after a failure
    #[arg(long)]
    pub force: bool,
    /// Test the check itself: it must pass a healthy run and reject leaks
    #[arg(long, conflicts_with_all = ["command", "baseline", "update_baseline"])]
    pub self_test: bool,
    /// Time between samples of the command
    #[arg(
        short,
        long,
        value_name = "TIME",
        default_value = "200ms",
        value_parser = parse_interval,
        allow_hyphen_values = true,
        env = "LEVELOFF_INTERVAL"
    )]
    pub interval: Duration,
    /// CPU time that reading shared memory may take, in percent of one core
    #[arg(
        long,
        value_name = "%",
        default_value = "2",
        value_parser = parse_percent,
        allow_hyphen_values = true,
        env = "LEVELOFF_PSS_BUDGET"
    )]
    pub pss_budget: f64,
    #[command(flatten)]
    pub columns: ColumnArgs,
    /// The command to run and check, after `--`
    #[arg(last = true, value_name = "CMD")]
    pub command: Vec<OsString>,
}

impl CheckArgs {
    /// The gates for a run about which these facts are known.
    pub(crate) fn gates(&self, stated: &StatedFacts) -> Gates {
        Gates {
            level_by: horizon(stated),
            max_level: self.max_level,
            max_peak: self.max_peak,
            max_growth: self.max_growth.map(growth_bound),
            will_finish: self.will_finish,
            epoch_steps: stated.epoch_steps.map(x),
        }
    }
}

fn horizon(stated: &StatedFacts) -> Option<Horizon> {
    match (stated.level_by, stated.level_by_time) {
        (Some(step), _) if stated.level_by_is_assumed => Some(Horizon::AssumedStep(x(step))),
        (Some(step), _) => Some(Horizon::Step(x(step))),
        (None, Some(time)) => Some(Horizon::Time(time)),
        (None, None) => stated.earlier.map(|earlier| match earlier.axis {
            RunAxis::Time => Horizon::Time(Seconds(earlier.horizon())),
            RunAxis::Count(_) => Horizon::AssumedStep(X(earlier.horizon())),
        }),
    }
}

fn x(step: Step) -> X {
    X(step.0 as f64)
}

fn growth_bound(limit: GrowthLimit) -> GrowthBound {
    GrowthBound {
        amount: Amount(limit.bytes_per_base()),
        per: match limit.base() {
            GrowthBase::Step => XUnit::Step,
            GrowthBase::Epoch => XUnit::Epoch,
            GrowthBase::Second => XUnit::Second,
        },
    }
}
