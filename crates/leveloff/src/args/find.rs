use clap::Args;

use super::Format;
use crate::option_values::parse_pid;

pub(super) const EXAMPLES: &str = "Examples:\n  \
    leveloff find                        torch, JAX, TensorFlow, candle, processes that use a GPU\n  \
    leveloff find --match 'train\\.py'    processes with this in their command line\n  \
    leveloff find --pid 22180            the run that this process belongs to\n  \
    leveloff find --format json | jq '.[].trainers[].pid'\n\n\
    Exit codes: 0 a run was found, 2 none was found.";

#[derive(Debug, Default, Args)]
pub(crate) struct FindArgs {
    /// Processes whose command line matches this regular expression
    #[arg(long = "match", value_name = "REGEX")]
    pub pattern: Option<String>,
    /// The run that this process belongs to
    #[arg(long, conflicts_with = "pattern", value_parser = parse_pid, allow_hyphen_values = true)]
    pub pid: Option<i32>,
    /// Also read the shared memory of processes above 4 GiB, which pauses each of them for a moment
    #[arg(long)]
    pub exact: bool,
    /// Output format
    #[arg(long, value_enum, default_value = "text")]
    pub format: Format,
}
