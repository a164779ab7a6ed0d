use std::path::PathBuf;

use clap::Args;

use super::{ColumnArgs, FactArgs};
use crate::report_files::ReportFormat;

pub(super) const LONG_ABOUT: &str = "Write a report of a run: an HTML page, Markdown for an issue, a chart.\n\n\
    Reads everything that `judge` reads, and gives the same verdict with its evidence: what grows, how fast, since \
    when, in which process and kind of memory, what was ruled out, how much memory the run needs, and its software. \
    The HTML is one file that needs no network: charts to hover and zoom, tables, the data to download. Values of \
    command-line arguments that look like credentials are masked; --redact also removes paths, host and user \
    names.";

pub(super) const EXAMPLES: &str = "Examples:\n  \
    leveloff report run.jsonl -o run.html              a page with charts\n  \
    leveloff report run.jsonl -o leak.md --redact      to paste into an issue\n  \
    leveloff report run.jsonl -o memory.png            a chart; .svg as well\n  \
    leveloff report train.csv --level-by 90 -o run.html\n  \
    leveloff report run.jsonl --format json -o - | jq .sizing";

#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// A recording, or anything else that `judge` reads
    pub file: PathBuf,
    /// The file to write: .html, .md, .svg, .png or .json; `-` is stdout
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// Output format [default: by the extension of -o]
    #[arg(long, value_enum)]
    pub format: Option<ReportFormat>,
    /// Replace an existing file
    #[arg(long)]
    pub force: bool,
    /// Remove paths, host and user names
    #[arg(long)]
    pub redact: bool,
    #[command(flatten)]
    pub facts: FactArgs,
    #[command(flatten)]
    pub columns: ColumnArgs,
}
