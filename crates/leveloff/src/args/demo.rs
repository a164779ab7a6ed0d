use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::{AppearanceArgs, FactArgs};
use crate::option_values::{parse_interval, parse_steps};

pub(super) const LONG_ABOUT: &str = "Watch a demo training whose memory pattern is known, and compare the verdict.\n\n\
    Starts the reference trainer, a small but real training whose memory follows PATTERN on purpose, and watches it \
    like `run --watch`: on the dashboard, or without a terminal by printing a line every second. At the end leveloff \
    prints its verdict, the verdict that is correct for the pattern, and whether they agree.\n\n\
    The default pattern grows for 90 steps and then levels off: it looks like a leak for a while and is none.";

pub(super) const EXAMPLES: &str = "Examples:\n  \
    leveloff demo                      grows for 90 steps, then levels off\n  \
    leveloff demo native-leak          never levels off\n  \
    leveloff demo --level-by 90 native-leak    called a leak sooner, because of the stated step\n  \
    leveloff demo --list               all patterns\n  \
    leveloff demo --fast -o story.jsonl && leveloff judge --looks 10 story.jsonl\n\n\
    leveloff looks for the trainer next to itself, then on PATH. Build it with\n  \
    cargo build --release -p leveloff-trainer\n\n\
    Exit codes: 0 the verdict was correct, 1 it was not, 2 usage or tool error.";

#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// The memory pattern of the training; --list shows all
    #[arg(default_value = "story")]
    pub pattern: String,
    /// List the patterns and the verdict that each must get
    #[arg(long)]
    pub list: bool,
    /// How many steps to train [default: enough to show the pattern]
    #[arg(long, value_name = "N", value_parser = parse_steps, allow_hyphen_values = true)]
    pub steps: Option<u64>,
    /// Train as fast as the machine can, instead of slowly enough to watch
    #[arg(long)]
    pub fast: bool,
    /// Time between samples [default: 250ms; with --fast 50ms]
    #[arg(short, long, value_name = "TIME", value_parser = parse_interval, allow_hyphen_values = true)]
    pub interval: Option<Duration>,
    /// The recording to write [default: in a new temporary directory]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// The reference trainer, if it is neither next to leveloff nor on PATH
    #[arg(long, value_name = "FILE", env = "LEVELOFF_TRAINER")]
    pub trainer: Option<PathBuf>,
    /// Print a line every second instead of the dashboard [default: without a terminal]
    #[arg(long)]
    pub plain: bool,
    #[command(flatten)]
    pub facts: FactArgs,
    #[command(flatten)]
    pub appearance: AppearanceArgs,
}
