use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use super::FactArgs;
use crate::option_values::{parse_duration, parse_pid, parse_x};

pub(super) const LONG_ABOUT: &str = "Show which lines of the program allocated the memory that is not freed.\n\n\
    Reads a recording of `leveloff run --blame`. Memory that is alive is estimated from sampled blocks, so every amount has \
    an interval. A line is confirmed if it stands out of the sampling error and of all other lines, the run leaks, and the \
    line's own memory does.\n\n\
    With --pid, a Python program that runs already is sampled: 3.14 or later, of the same user, with the rights of a debugger. \
    leveloff shows what it will do and asks. It puts everything back when the time is over or when it gets SIGINT, \
    and prints the lines. The program goes on.";

pub(super) const EXAMPLES: &str = "Examples:\n  \
    leveloff blame run.jsonl                              the lines, with their stacks\n  \
    leveloff run --blame -o run.jsonl -- python train.py  makes such a recording\n  \
    leveloff blame run.jsonl --format svg -o grown.svg    a flame graph of what grew\n  \
    leveloff blame run.jsonl --format pprof -o grown.pb   for `go tool pprof` and speedscope\n  \
    leveloff blame run.jsonl --from 1000 --to 2000        what grew between two steps\n  \
    leveloff blame run.jsonl --format folded | head\n  \
    leveloff blame --pid 22180                            samples a Python 3.14 that runs, until Ctrl-C\n  \
    leveloff blame --pid 22180 --yes --duration 10m --recording run.jsonl";

#[derive(Debug, Args)]
pub(crate) struct BlameArgs {
    /// A recording of `leveloff run --blame`
    #[arg(required_unless_present = "pid")]
    pub file: Option<PathBuf>,
    #[command(flatten)]
    pub attach: AttachArgs,
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
    #[arg(long, value_name = "X", value_parser = parse_x, allow_hyphen_values = true)]
    pub from: Option<f64>,
    /// Count growth up to this step [default: the end of the run]
    #[arg(long, value_name = "X", value_parser = parse_x, allow_hyphen_values = true)]
    pub to: Option<f64>,
    #[command(flatten)]
    pub facts: FactArgs,
}

/// For a program that runs already.
#[derive(Debug, Args)]
pub(crate) struct AttachArgs {
    /// Sample this Python program, which runs already, instead of reading a recording
    #[arg(long, conflicts_with = "file", value_parser = parse_pid, allow_hyphen_values = true)]
    pub pid: Option<i32>,
    /// Do not ask before the library is added to the program
    #[arg(long, requires = "pid", conflicts_with = "file")]
    pub yes: bool,
    /// Stop after this time, such as 90s, 10m, 2h [default: when the run ends]
    #[arg(
        long,
        requires = "pid",
        conflicts_with = "file",
        value_name = "TIME",
        value_parser = parse_duration,
        allow_hyphen_values = true
    )]
    pub duration: Option<Duration>,
    /// Also keep the recording
    #[arg(long, requires = "pid", conflicts_with = "file", value_name = "FILE")]
    pub recording: Option<PathBuf>,
    /// Read the steps of the training from this log file
    #[arg(long, requires = "pid", conflicts_with = "file", value_name = "FILE")]
    pub log: Option<PathBuf>,
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
