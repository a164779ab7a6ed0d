//! What can be asked of the guard.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use leveloff_model::units::Limit;
use leveloff_sampler::signalling::StopSignal;

use super::{TargetArgs, WatchArgs, parse_duration};

/// What `guard --help` begins with.
pub(super) const LONG_ABOUT: &str = "Stop a run gracefully before it is killed for its memory.\n\n\
    Watches a run that is there already, without a screen. When its memory reaches the limit, the \
    training is asked to save and stop; if it knows no such requests, it gets the signal that trainings \
    know; if that does not help, its whole process tree is ended. Each stage has its own time (--grace). \
    `run`, `watch` and `record` guard as well when they are given a --limit or --stop-before.\n\n\
    What is compared is what the run really holds, shared pages counted once; with a limit in percent, \
    whatever is nearest to its ceiling: its control group, less reclaimable cache, or the machine. A spike \
    does not stop a run, unless the ceiling itself is about to be hit.";

/// What it ends with.
pub(super) const EXAMPLES: &str = "Examples:\n  \
    leveloff guard --pid 22180 --limit 28GiB          stops it at 28 GiB\n  \
    leveloff guard --limit 90%                        finds the run; 90 % of the nearest ceiling\n  \
    leveloff guard --pid 22180 --stop-before 5m       while five minutes are left for a checkpoint\n  \
    leveloff guard --limit 28GiB --warn-at 80% --on-warn 'curl -d \"$LEVELOFF_HOOK_TEXT\" ntfy.sh/me'\n  \
    leveloff run --limit 28GiB --bundle post-mortem -- python train.py\n\n\
    Exit codes: 75 the guard stopped the run, 0 the run ended by itself, 2 usage or tool error.";

/// `guard`
#[derive(Debug, Args)]
pub struct GuardCommandArgs {
    #[command(flatten)]
    #[allow(missing_docs)]
    pub target: TargetArgs,
    /// Record as well, to this file [default: keeps what a bundle needs until it is over]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub watch: WatchArgs,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub guard: GuardArgs,
}

/// How a run is guarded. The limit itself is a fact about the run, and stands with the others.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Guard (with --limit or --stop-before)")]
pub struct GuardArgs {
    /// Stop the run while this much time is left before its memory meets the ceiling, at the judged rate
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
    /// How long memory may be above the limit after a jump; a steady rise is believed at once
    #[arg(
        long,
        value_name = "TIME",
        default_value = "3s",
        value_parser = parse_duration,
        allow_hyphen_values = true
    )]
    pub dwell: Duration,
    /// The signal that the training saves and stops on: SIGTERM, SIGINT, SIGUSR1 …
    #[arg(
        long,
        value_name = "SIGNAL",
        default_value = "SIGTERM",
        allow_hyphen_values = true
    )]
    pub signal: StopSignal,
    /// Run this by the shell when the limit is near; facts are in LEVELOFF_HOOK_* variables
    #[arg(long, value_name = "CMD")]
    pub on_warn: Option<String>,
    /// Run this by the shell when the run is stopped
    #[arg(long, value_name = "CMD")]
    pub on_stop: Option<String>,
    /// Collect recording, report, mappings and kernel messages here when the run was stopped or killed
    #[arg(long, value_name = "DIR")]
    pub bundle: Option<PathBuf>,
}

/// What follows a stop, of a run that we started.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Guard (with --limit or --stop-before)")]
pub struct RestartArgs {
    /// After a stop, start this by the shell, which should go on from the checkpoint
    #[arg(long, value_name = "CMD")]
    pub resume_cmd: Option<String>,
    /// How often to start it at most
    #[arg(long, value_name = "N", default_value = "3", requires = "resume_cmd")]
    pub max_restarts: u32,
}
