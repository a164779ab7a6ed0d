use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::{GuardArgs, SamplingArgs, TargetArgs, VoiceArgs};
use crate::option_values::parse_duration;

pub(super) const LONG_ABOUT: &str = "Record a run that is already going, without a dashboard.\n\n\
    Without --pid or --match leveloff finds the run. It records until the run ends, the time is over, or it gets \
    SIGINT or SIGTERM; then it prints the verdict. The run itself is never touched, unless a --limit is given.";

pub(super) const EXAMPLES: &str = "Examples:\n  \
    leveloff record -o run.jsonl                       finds the run\n  \
    leveloff record --pid 22180 -o run.jsonl           the run of this process\n  \
    leveloff record --match train.py --duration 10m    for ten minutes\n  \
    leveloff record --pid 22180 --metrics              also publishes metrics for Prometheus\n  \
    leveloff record --system --duration 1h             every process, and which grew most";

#[derive(Debug, Args)]
pub(crate) struct RecordArgs {
    #[command(flatten)]
    pub target: TargetArgs,
    /// The recording to write [default: leveloff-DATE-TIME-COMMAND.jsonl here]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Stop after this time, such as 90s, 10m, 2h [default: when the run ends]
    #[arg(
        long,
        value_name = "TIME",
        value_parser = parse_duration,
        allow_hyphen_values = true
    )]
    pub duration: Option<Duration>,
    #[command(flatten)]
    pub sampling: SamplingArgs,
    #[command(flatten)]
    pub guard: GuardArgs,
    #[command(flatten)]
    pub voice: VoiceArgs,
}
