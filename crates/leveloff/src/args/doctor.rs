use clap::Args;

use super::Format;

pub(super) const EXAMPLES: &str = "Examples:\n  \
    leveloff doctor\n  \
    leveloff doctor --format json";

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// Output format
    #[arg(long, value_enum, default_value = "text")]
    pub format: Format,
}
