use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::FactArgs;

pub(super) const LONG_ABOUT: &str = "Show which lines of the program allocated the memory that is not freed.\n\n\
    Reads a recording of `leveloff run --blame`. Memory that is alive is estimated from sampled blocks, so every amount has \
    an interval. A line is confirmed if it stands out of the sampling error and of all other lines, the run leaks, and the \
    line's own memory does.";

pub(super) const EXAMPLES: &str = "Examples:\n  \
    leveloff blame run.jsonl                              the lines, with their stacks\n  \
    leveloff run --blame -o run.jsonl -- python train.py  makes such a recording\n  \
    leveloff blame run.jsonl --format svg -o grown.svg    a flame graph of what grew\n  \
    leveloff blame run.jsonl --format pprof -o grown.pb   for `go tool pprof` and speedscope\n  \
    leveloff blame run.jsonl --from 1000 --to 2000        what grew between two steps\n  \
    leveloff blame run.jsonl --format folded | head";

#[derive(Debug, Args)]
pub(crate) struct BlameArgs {
    /// A recording of `leveloff run --blame`
    pub file: PathBuf,
    /// Output format
    #[arg(long, value_enum, default_value = "text")]
    pub format: BlameFormat,
    /// The file to write; `-` is stdout
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    pub output: PathBuf,
    /// Replace an existing file
    #[arg(long)]
    pub force: bool,
    /// Count growth from this step (or second, where there are no steps) [default: the onset of the growth]
    #[arg(long, value_name = "X")]
    pub from: Option<f64>,
    /// Count growth up to this step [default: the end of the run]
    #[arg(long, value_name = "X")]
    pub to: Option<f64>,
    #[command(flatten)]
    pub facts: FactArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum BlameFormat {
    /// For a terminal
    Text,
    /// Folded stacks with KiB, for other programs
    Folded,
    /// A flame graph
    Svg,
    /// A profile for `go tool pprof` and speedscope
    Pprof,
}
