use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use leveloff_model::units::Limit;

use super::{AppearanceArgs, GuardArgs, RestartArgs, SamplingArgs, VoiceArgs};
use crate::blame::BlameExtent;

pub(super) const LONG_ABOUT: &str = "Start a command, watch its process tree and record it.\n\n\
    The command behaves as it does without leveloff: same terminal, same exit code, same signals; stdin, stdout \
    and stderr are passed through unchanged. If leveloff is killed, the command continues and keeps its terminal \
    or its pipes.";

pub(super) const EXAMPLES: &str = "Examples:\n  \
    leveloff run -- python train.py --epochs 3\n  \
    leveloff run -o before.jsonl -- torchrun --nproc-per-node 2 train.py\n  \
    leveloff run --interval 200ms -- ./train.sh | tee train.log\n  \
    leveloff run --limit 28GiB -- python train.py      asks it to save and stop at 28 GiB\n  \
    leveloff run --isolate 28GiB -- python train.py    the kernel stops it there, not the machine\n  \
    leveloff run --limit 28GiB --resume-cmd 'python train.py --resume' -- python train.py\n  \
    leveloff run --watch -- python train.py            with the dashboard\n  \
    leveloff run --blame -- python train.py            names the line that leaks\n  \
    leveloff run --step-regex 'round (?P<step>\\d+)' -- python train.py   names the step in lines of any format\n\n\
    Exit codes: that of the command, 75 if the guard stopped it, 2 if the command or the recording cannot be started.";

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// The recording to write [default: leveloff-DATE-TIME-COMMAND.jsonl here]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Print no verdict: `check` does
    #[arg(long, hide = true, conflicts_with = "dashboard")]
    pub checked: bool,
    /// Stop the command when the writer of this FIFO closes it: a run of `try`
    #[arg(long, hide = true, value_name = "FIFO", conflicts_with = "dashboard")]
    pub trial: Option<PathBuf>,
    /// Put the command in a control group with this memory limit, so that a leak ends the command and not other
    /// processes; an amount, or a share of what is available [default: what is free, minus 5 %]
    #[arg(long, value_name = "SIZE|%", num_args = 0..=1)]
    pub isolate: Option<Option<Limit>>,
    /// Sample the heap of the command and of what it starts, and name the lines whose memory is not freed (docs/BLAME.md)
    ///
    /// --blame=holders also looks for the container that keeps the memory: a global, an attribute, a closure. It takes the Python package
    /// in the training (`import leveloff`), and up to a tenth of a second a few times
    #[arg(long, value_name = "WHAT", num_args = 0..=1, require_equals = true, default_missing_value = "lines")]
    pub blame: Option<BlameExtent>,
    /// Show the dashboard; the output of the command goes to a .log file beside the recording
    #[arg(long = "watch")]
    pub dashboard: bool,
    #[command(flatten)]
    pub sampling: SamplingArgs,
    #[command(flatten)]
    pub appearance: AppearanceArgs,
    #[command(flatten)]
    pub guard: GuardArgs,
    #[command(flatten)]
    pub restart: RestartArgs,
    #[command(flatten)]
    pub voice: VoiceArgs,
    /// The command to run; everything from its name on is its own
    #[arg(trailing_var_arg = true, required = true, value_name = "CMD")]
    pub command: Vec<OsString>,
}
