use std::ffi::OsString;

use clap::Args;

use super::Format;

pub(super) const LONG_ABOUT: &str = "Show how earlier runs of a job ended, explain what follows from that, and forget it.\n\n\
    `run`, `watch`, `record` and `guard` remember how a run ended: its verdict, and where its memory was level. In the next \
    run of the same job, growth beyond that place is called a leak without the usual wait. Only runs that were level for \
    certain count. Runs belong to the same job if program, script and arguments are the same; seeds, paths, credentials \
    and the host do not matter. Arguments are kept as a hash only, in $XDG_STATE_HOME/leveloff/history.json (else \
    ~/.local/state), for you alone. --no-history, LEVELOFF_HISTORY=0 or `history = false` in leveloff.toml turns it off.";

pub(super) const EXAMPLES: &str = "Examples:\n  \
    leveloff history                           all jobs, the last one first\n  \
    leveloff history -- python train.py        the job of this command\n  \
    leveloff history --forget 3f9a             forget the job whose key begins so\n  \
    leveloff history --forget all              forget everything\n  \
    leveloff history --format json | jq '.jobs[] | select(.horizon == null)'\n\n\
    Exit codes: 0 success, 2 the history cannot be used, or there is no such job.";

#[derive(Debug, Default, Args)]
pub(crate) struct HistoryArgs {
    /// Forget a job by the beginning of its key, or all of them
    #[arg(long, value_name = "KEY|all", conflicts_with = "command")]
    pub forget: Option<String>,
    /// Output format
    #[arg(long, value_enum, default_value = "text")]
    pub format: Format,
    /// Show only the job of this command, after `--`, as if run in this directory
    #[arg(last = true, value_name = "CMD")]
    pub command: Vec<OsString>,
}
