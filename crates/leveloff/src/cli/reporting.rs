//! What reports are asked with.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{ColumnArgs, FactArgs};

/// What `report --help` begins with.
pub(super) const LONG_ABOUT: &str = "Write a run up: HTML for a colleague, Markdown for an issue, a chart.\n\n\
    Takes whatever `judge` takes, and tells the same verdict with its evidence: what grows, how fast, \
    since when, who and which kind of memory, what was ruled out, how much the run needs, on which \
    software. The HTML is one file without a network: charts to hover and zoom, tables, the data to \
    download. Values of command-line arguments that look like secrets are never written; --redact also \
    removes paths, host and user names.";

/// What it ends with.
pub(super) const EXAMPLES: &str = "Examples:\n  \
    leveloff report run.jsonl -o run.html              for a colleague\n  \
    leveloff report run.jsonl -o leak.md --redact      to paste into an issue\n  \
    leveloff report run.jsonl -o memory.png            a chart; .svg as well\n  \
    leveloff report train.csv --level-by 90 -o run.html\n  \
    leveloff report run.jsonl --format json -o - | jq .sizing";

/// `report`
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// A recording, or anything else that `judge` reads
    pub file: PathBuf,
    /// Where to write it: .html, .md, .svg, .png or .json; `-` is stdout
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// What to write, if the name does not tell
    #[arg(long, value_enum)]
    pub format: Option<ReportFormat>,
    /// Replace the file if it exists
    #[arg(long)]
    pub force: bool,
    /// Remove paths, host and user names
    #[arg(long)]
    pub redact: bool,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub facts: FactArgs,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub columns: ColumnArgs,
}

/// What a report is written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    /// One page with interactive charts, without a network
    Html,
    /// For an issue upstream
    #[value(alias = "md")]
    Markdown,
    /// A chart
    Svg,
    /// A chart
    Png,
    /// For programs
    Json,
}
