use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::Args;
use leveloff_classifier::gate::CheckOutcome;

use super::{ColumnArgs, FactArgs, Format};
use crate::option_values::{parse_jobs, parse_looks, undecided_parser};

pub(super) const LONG_ABOUT: &str = "Say whether memory levels off or leaks, from recordings, tables and logs.\n\n\
    Growth that will stop and a leak look the same for a while, so there are four verdicts: level (since when, at \
    which amount), leak (suspected, early or confirmed, with rate, onset and the process that grows), warming up (growing, too \
    early to tell; says until when) and undecided (says what would decide it). If a limit is known, leveloff also \
    says when memory would reach it.\n\n\
    Reads leveloff recordings, the CSV of `leveloff export`, any CSV, TSV or JSON lines with a column of steps or \
    times and one of memory, mprof and psrecord files, prmon tables, and logs with lines such as `Step 10: RAM 5552 \
    MB`.";

pub(super) const EXAMPLES: &str = "Examples:\n  \
    leveloff judge run.jsonl                  a recording of run or record\n  \
    leveloff judge --level-by 90 run.jsonl    must be level by step 90\n  \
    leveloff judge --level-by 2m run.jsonl    must be level after two minutes\n  \
    leveloff judge --step-regex 'it=(?P<step>\\d+)' train.log    names the step in a log of any format\n  \
    leveloff judge --limit 32GiB train.log    when would it reach 32 GiB?\n  \
    leveloff judge --x epoch --y host --y-unit GiB metrics.csv\n  \
    leveloff judge --format json runs/*.csv | jq 'select(.verdict == \"leak\")'\n  \
    ssh node7 cat run.jsonl | leveloff judge -\n  \
    xclip -o | leveloff judge -               a table pasted from an issue\n\n\
    Exit codes: 0 all are level, 1 one leaks, 2 one could not be read (takes precedence), 3 one is undecided or \
    warming up and none leaks (--undecided=pass makes it 0, =fail 1).";

#[derive(Debug, Default, Args)]
pub(crate) struct JudgeArgs {
    /// Recordings, tables or logs; `-` is stdin
    #[arg(required = true, value_name = "FILE")]
    pub inputs: Vec<PathBuf>,
    /// Output format; json is one object per line
    #[arg(long, value_enum, default_value = "text")]
    pub format: Format,
    /// Also print the verdicts at N earlier moments, with increasing distances
    #[arg(long, value_name = "N", value_parser = parse_looks, allow_hyphen_values = true)]
    pub looks: Option<u32>,
    #[command(flatten)]
    pub facts: FactArgs,
    #[command(flatten)]
    pub columns: ColumnArgs,
    /// How undecided and warming up count for the exit code [default: code 3]
    #[arg(long, value_parser = undecided_parser(), value_name = "AS")]
    pub undecided: Option<CheckOutcome>,
    /// How many inputs to judge in parallel [default: the number of cores]
    #[arg(short, long, value_name = "N", value_parser = parse_jobs, allow_hyphen_values = true)]
    pub jobs: Option<NonZeroUsize>,
    /// The series is from a loop that reproduces a leak and warms up within a few calls; a table pasted into stdin
    /// without training steps is taken for one
    #[arg(long)]
    pub repro: bool,
    /// Print the full evidence for each input, even if there are many
    #[arg(short, long)]
    pub verbose: bool,
}
