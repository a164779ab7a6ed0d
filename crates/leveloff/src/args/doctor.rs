use clap::Args;

use super::Format;
use crate::option_values::parse_pid;

pub(super) const EXAMPLES: &str = "Examples:\n  \
    leveloff doctor\n  \
    leveloff doctor --pid 22180        also where the steps of this run are read from\n  \
    leveloff doctor --format json";

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// Also say where the steps of the run of this process are read from, or how to have them read
    #[arg(long, value_parser = parse_pid, allow_hyphen_values = true)]
    pub pid: Option<i32>,
    /// Output format
    #[arg(long, value_enum, default_value = "text")]
    pub format: Format,
}
