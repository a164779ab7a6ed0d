use std::path::PathBuf;

use clap::Args;

use crate::csv_export::ExportScope;

pub(super) const LONG_ABOUT: &str = "Convert a recording to CSV.\n\n\
    Column names carry their unit (pss_bytes, t_s). An empty field is a value that could not be measured; it is never \
    written as zero.";

pub(super) const EXAMPLES: &str = "Examples:\n  \
    leveloff export run.jsonl -o run.csv              one row for each process and sample\n  \
    leveloff export run.jsonl --scope role -o -       by role, to stdout\n  \
    leveloff export run.jsonl --scope tree -o - | head";

#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// The recording
    pub file: PathBuf,
    /// The CSV file to write; `-` is stdout
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// Replace an existing file
    #[arg(long)]
    pub force: bool,
    /// What one row describes
    #[arg(long, value_enum, default_value = "process")]
    pub scope: ExportScope,
}
