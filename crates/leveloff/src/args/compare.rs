use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{ColumnArgs, FactArgs};

pub(super) const LONG_ABOUT: &str = "Compare two runs, and say which differences are more than noise.\n\n\
    Runs are aligned by step and compared over the steps that all of them have: level, peak, growth, the end of the \
    warmup, and memory by role and kind. The same training never needs exactly the same memory twice: with one run \
    per side leveloff assumes a usual spread; with several runs per side it uses their own spread.";

pub(super) const EXAMPLES: &str = "Examples:\n  \
    leveloff compare before.jsonl after.jsonl\n  \
    leveloff compare --before a.jsonl b.jsonl c.jsonl --after d.jsonl e.jsonl f.jsonl\n  \
    leveloff compare before.jsonl after.jsonl -o change.html\n  \
    leveloff compare before.jsonl after.jsonl --format markdown -o - | gh pr comment -F -\n  \
    leveloff compare before.jsonl after.jsonl --format json | jq .outcome\n\n\
    Exit codes: 0 the same or better, 1 worse, 2 something could not be read, 3 undecided.";

#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    /// The run before
    #[arg(value_name = "BEFORE", required_unless_present = "before", conflicts_with_all = ["before", "after"], requires = "one_after")]
    pub one_before: Option<PathBuf>,
    /// The run after
    #[arg(value_name = "AFTER")]
    pub one_after: Option<PathBuf>,
    /// Several runs before, as repeats of one run
    #[arg(long, value_name = "FILE", num_args = 1.., requires = "after")]
    pub before: Vec<PathBuf>,
    /// Several runs after, as repeats of one run
    #[arg(long, value_name = "FILE", num_args = 1.., requires = "before")]
    pub after: Vec<PathBuf>,
    /// Output format [default: by the extension of -o, else text]
    #[arg(long, value_enum)]
    pub format: Option<CompareFormat>,
    /// The file to write [default: stdout]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
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

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CompareFormat {
    /// For a terminal
    Text,
    /// For a pull request
    #[value(alias = "md")]
    Markdown,
    /// A page with both curves
    Html,
    /// For programs
    Json,
}

impl CompareArgs {
    pub(crate) fn sides(&self) -> (Vec<PathBuf>, Vec<PathBuf>) {
        let with = |one: &Option<PathBuf>, several: &[PathBuf]| {
            one.iter().chain(several).cloned().collect()
        };
        (
            with(&self.one_before, &self.before),
            with(&self.one_after, &self.after),
        )
    }
}
