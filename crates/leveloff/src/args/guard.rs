use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use leveloff_model::units::Limit;
use leveloff_sampler::signalling::StopSignal;

use super::{SamplingArgs, TargetArgs, VoiceArgs};
use crate::option_values::{parse_duration, parse_number};

pub(super) const LONG_ABOUT: &str = "Stop a run gracefully before it is killed for its memory.\n\n\
    Watches a run that is already going, without a dashboard. When its memory reaches the limit, leveloff asks the training \
    to save and stop. If the training does not support that request, leveloff sends it a signal (--signal); if it \
    still runs, leveloff ends its whole process tree. Each stage has its own time (--grace). `run`, `watch` and \
    `record` guard as well if they get --limit or --stop-before.\n\n\
    A limit in bytes applies to the memory that the run holds, with shared pages counted once. A limit in percent \
    applies to the ceiling that is nearest: the control group, minus reclaimable cache, or the machine. A short spike \
    does not stop a run, unless it comes close to the ceiling of the kernel.";

pub(super) const EXAMPLES: &str = "Examples:\n  \
    leveloff guard --pid 22180 --limit 28GiB          stops it at 28 GiB\n  \
    leveloff guard --limit 90%                        finds the run; 90 % of the nearest ceiling\n  \
    leveloff guard --pid 22180 --stop-before 5m       leaves five minutes for a checkpoint\n  \
    leveloff guard --limit 28GiB --warn-at 80% --on-warn 'curl -d \"$LEVELOFF_HOOK_TEXT\" ntfy.sh/me'\n  \
    leveloff run --limit 28GiB --bundle post-mortem -- python train.py\n\n\
    Exit codes: 75 the guard stopped the run, 0 the run ended by itself, 2 usage or tool error.";

#[derive(Debug, Args)]
pub(crate) struct GuardCommandArgs {
    #[command(flatten)]
    pub target: TargetArgs,
    /// Also record, to this file [default: keeps what --bundle needs until the end]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub sampling: SamplingArgs,
    #[command(flatten)]
    pub voice: VoiceArgs,
    #[command(flatten)]
    pub guard: GuardArgs,
}

/// How a run is guarded. The limit itself is one of the facts about the run.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Guard (with --limit or --stop-before)")]
pub(crate) struct GuardArgs {
    /// Stop the run at a limit that leveloff.toml or LEVELOFF_LIMIT states; otherwise it is only compared with
    #[arg(long)]
    pub guard: bool,
    /// Stop the run at this amount, or share of the machine's memory: as --guard --limit
    #[arg(
        long,
        value_name = "SIZE|%",
        allow_hyphen_values = true,
        conflicts_with = "limit"
    )]
    pub stop_at: Option<Limit>,
    /// Stop the run when its memory will reach the ceiling within this time, at the judged rate
    #[arg(long, value_name = "TIME", value_parser = parse_duration, allow_hyphen_values = true)]
    pub stop_before: Option<Duration>,
    /// Warn at this amount, or share of the limit [default: 90% of the limit]
    #[arg(long, value_name = "SIZE|%", allow_hyphen_values = true)]
    pub warn_at: Option<Limit>,
    /// Stop the run at this much GPU memory of its own, or when a GPU is this full
    #[arg(long, value_name = "SIZE|%", allow_hyphen_values = true)]
    pub gpu_limit: Option<Limit>,
    /// How long each stage of a stop may take: request, signal, SIGTERM to all, SIGKILL to all
    #[arg(
        long,
        value_name = "TIME",
        default_value = "120s",
        value_parser = parse_duration,
        allow_hyphen_values = true
    )]
    pub grace: Duration,
    /// How long memory may stay above the limit after a jump; a steady rise stops the run at once
    #[arg(
        long,
        value_name = "TIME",
        default_value = "3s",
        value_parser = parse_duration,
        allow_hyphen_values = true
    )]
    pub dwell: Duration,
    /// The signal on which the training saves and stops: SIGTERM, SIGINT, SIGUSR1 …
    #[arg(
        long,
        value_name = "SIGNAL",
        default_value = "SIGTERM",
        allow_hyphen_values = true
    )]
    pub signal: StopSignal,
    /// Run this shell command when the limit is near; LEVELOFF_HOOK_* variables describe the run
    #[arg(long, value_name = "CMD")]
    pub on_warn: Option<String>,
    /// Run this shell command when the run is stopped
    #[arg(long, value_name = "CMD")]
    pub on_stop: Option<String>,
    /// Collect recording, report, mappings and kernel messages in this directory if the run is stopped or killed
    #[arg(long, value_name = "DIR")]
    pub bundle: Option<PathBuf>,
}

/// What follows a stop of a run that leveloff started.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Guard (with --limit or --stop-before)")]
pub(crate) struct RestartArgs {
    /// After a stop, run this shell command, which should resume from the checkpoint
    #[arg(long, value_name = "CMD")]
    pub resume_cmd: Option<String>,
    /// How often to start it at most
    #[arg(
        long,
        value_name = "N",
        default_value = "3",
        requires = "resume_cmd",
        value_parser = parse_number,
        allow_hyphen_values = true
    )]
    pub max_restarts: u32,
}
