//! What a comparison is asked with.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{ColumnArgs, FactArgs};

/// What `compare --help` begins with.
pub(super) const LONG_ABOUT: &str = "Say what changed between two runs, and whether it is more than noise.\n\n\
    Runs are aligned by step and compared over the stretch that all of them have: level, peak, growth, \
    where warmup ended, and memory by role and kind. The same training never needs the same memory twice, \
    so with one run on a side a usual spread is assumed; several runs on a side are repeats, whose own \
    spread counts.";

/// What it ends with.
pub(super) const EXAMPLES: &str = "Examples:\n  \
    leveloff compare before.jsonl after.jsonl\n  \
    leveloff compare --before a.jsonl b.jsonl c.jsonl --after d.jsonl e.jsonl f.jsonl\n  \
    leveloff compare before.jsonl after.jsonl -o change.html\n  \
    leveloff compare before.jsonl after.jsonl --format markdown -o - | gh pr comment -F -\n  \
    leveloff compare before.jsonl after.jsonl --format json | jq .outcome\n\n\
    Exit codes: 0 the same or better, 1 worse, 2 something could not be read, 3 undecided.";

/// `compare`
#[derive(Debug, Args)]
pub struct CompareArgs {
    /// The run before
    #[arg(value_name = "BEFORE", required_unless_present = "before", conflicts_with_all = ["before", "after"], requires = "one_after")]
    pub one_before: Option<PathBuf>,
    /// The run after
    #[arg(value_name = "AFTER")]
    pub one_after: Option<PathBuf>,
    /// Several runs before, as repeats of one
    #[arg(long, value_name = "FILE", num_args = 1.., requires = "after")]
    pub before: Vec<PathBuf>,
    /// Several runs after
    #[arg(long, value_name = "FILE", num_args = 1.., requires = "before")]
    pub after: Vec<PathBuf>,
    /// What to write [default: by the ending of -o, else text]
    #[arg(long, value_enum)]
    pub format: Option<CompareFormat>,
    /// Where to write it [default: stdout]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
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

/// What a comparison is written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CompareFormat {
    /// For a terminal
    Text,
    /// For a pull request
    #[value(alias = "md")]
    Markdown,
    /// One page with both curves
    Html,
    /// For programs
    Json,
}

impl CompareArgs {
    /// The files of both sides.
    pub fn sides(&self) -> (Vec<PathBuf>, Vec<PathBuf>) {
        let with = |one: &Option<PathBuf>, several: &[PathBuf]| {
            one.iter().chain(several).cloned().collect()
        };
        (
            with(&self.one_before, &self.before),
            with(&self.one_after, &self.after),
        )
    }
}
