//! What can be asked of `demo`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::judging::parse_steps;
use super::{FactArgs, LookArgs, parse_interval};

/// What `demo --help` begins with.
pub(super) const LONG_ABOUT: &str = "See it be right within a minute: watch a training whose truth is known.\n\n\
    Starts the reference trainer, a small but real training whose memory does on purpose what PATTERN \
    names, and watches it as `run --watch` would: on the dashboard, or without a terminal in a line every \
    second. In the end come the whole verdict, what was really true, and whether that was met.\n\n\
    The default is the story of a run that grew for 90 steps, was called a leak for weeks, and was \
    none.";

/// What it ends with.
pub(super) const EXAMPLES: &str = "Examples:\n  \
    leveloff demo                      grows for 90 steps, then levels off\n  \
    leveloff demo native-leak          never levels off\n  \
    leveloff demo --level-by 90 native-leak    said sooner, because a horizon is stated\n  \
    leveloff demo --list               what else there is\n  \
    leveloff demo --fast -o story.jsonl && leveloff judge --looks 10 story.jsonl\n\n\
    The trainer is looked for beside leveloff, then on PATH; it is built with\n  \
    cargo build --release -p leveloff-trainer\n\n\
    Exit codes: 0 the truth was met, 1 it was not, 2 usage or tool error.";

/// `demo`
#[derive(Debug, Args)]
pub struct DemoArgs {
    /// What memory does in the training; --list names all
    #[arg(default_value = "story")]
    pub pattern: String,
    /// List the patterns with their truth
    #[arg(long)]
    pub list: bool,
    /// Steps to train [default: as many as show the pattern]
    #[arg(long, value_name = "N", value_parser = parse_steps, allow_hyphen_values = true)]
    pub steps: Option<u64>,
    /// Train as fast as the machine can, not so slowly that one can watch
    #[arg(long)]
    pub fast: bool,
    /// Time between samples [default: 250ms; with --fast 50ms]
    #[arg(short, long, value_name = "TIME", value_parser = parse_interval, allow_hyphen_values = true)]
    pub interval: Option<Duration>,
    /// Where to record [default: a new directory for temporary files]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// The reference trainer, if it is neither beside leveloff nor on PATH
    #[arg(long, value_name = "FILE", env = "LEVELOFF_TRAINER")]
    pub trainer: Option<PathBuf>,
    /// A line every second instead of the dashboard [default: where there is no terminal]
    #[arg(long)]
    pub plain: bool,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub facts: FactArgs,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub look: LookArgs,
}
