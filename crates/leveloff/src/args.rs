//! The command line: subcommands, options, and the text of `--help` and the manual pages.

mod appearance;
mod blame;
mod check;
mod columns;
mod compare;
mod config_file;
mod demo;
mod doctor;
mod export;
mod facts;
mod find;
mod fleet;
mod guard;
mod history;
mod judge;
mod metrics;
mod record;
mod replay;
mod report;
mod run;
mod sampling;
mod target;
mod trial;
mod voice;
mod watch;

pub(crate) use appearance::AppearanceArgs;
pub(crate) use blame::{AttachArgs, BlameArgs, BlameFormat};
pub(crate) use check::CheckArgs;
pub(crate) use columns::ColumnArgs;
pub(crate) use compare::{CompareArgs, CompareFormat};
pub(crate) use config_file::ConfigArgs;
pub(crate) use demo::DemoArgs;
pub(crate) use doctor::DoctorArgs;
pub(crate) use export::ExportArgs;
pub(crate) use facts::FactArgs;
pub(crate) use find::FindArgs;
pub(crate) use fleet::FleetArgs;
pub(crate) use guard::{GuardArgs, GuardCommandArgs, RestartArgs};
pub(crate) use history::HistoryArgs;
pub(crate) use judge::JudgeArgs;
pub(crate) use metrics::MetricsArgs;
pub(crate) use record::RecordArgs;
pub(crate) use replay::ReplayArgs;
pub(crate) use report::ReportArgs;
pub(crate) use run::RunArgs;
pub(crate) use sampling::SamplingArgs;
pub(crate) use target::TargetArgs;
pub(crate) use trial::{PlanFormat, TryArgs, TryFormat};
pub(crate) use voice::VoiceArgs;
pub(crate) use watch::{WatchArgs, WatchSource};

use clap::{Parser, Subcommand, ValueEnum};

#[derive(Debug, Parser)]
#[command(
    name = "leveloff",
    version,
    about = "Does the memory of this training run level off, or does it leak?",
    long_about = "Does the memory of this training run level off, or does it leak?\n\n\
        leveloff finds a training run, samples its whole process tree (launcher, ranks, compile \
        workers, data loaders) and records how much memory each process holds. Shared pages are \
        counted once, not once for each process as in a sum of RSS. It needs no change to the \
        training code and no restart. It only reads from the run, unless you ask for more: `guard` and \
        --limit stop a run, `blame` and `run --blame` sample its heap.",
    after_help = "Examples:\n  \
        leveloff demo                               watch a demo run with a known answer\n  \
        leveloff                                    watch the training run on this machine\n  \
        leveloff find                               list training runs and their processes\n  \
        leveloff run -- python train.py             start a run and record it\n  \
        leveloff record --pid 22180 -o run.jsonl    record a run that is already going\n  \
        leveloff guard --limit 90%                  stop it gracefully before it is killed\n  \
        leveloff judge run.jsonl                    does it level off, or leak?\n  \
        leveloff report run.jsonl -o run.html       a report with charts\n  \
        leveloff compare before.jsonl after.jsonl   what changed, beyond noise?\n  \
        leveloff check run.jsonl                    pass or fail, for CI\n  \
        leveloff fleet --prometheus URL             every rank of a job, worst first\n  \
        leveloff replay run.jsonl                   play a recording on the dashboard\n  \
        leveloff export run.jsonl -o run.csv        a table for pandas\n  \
        leveloff blame run.jsonl                    the line that leaks, after `run --blame`\n  \
        leveloff try -- python train.py             what stops the growth?\n  \
        leveloff history                            how earlier runs of each job ended\n  \
        leveloff doctor                             what leveloff can measure on this machine\n\n\
        Exit codes: 0 success, 1 leak or regression, 2 usage or tool error, 3 undecided, 75 the guard \
        stopped the run; `run` otherwise returns the exit code of the command."
)]
pub(crate) struct Cli {
    /// What to do [default: watch]
    #[command(subcommand)]
    pub command: Option<Command>,
    #[command(flatten)]
    pub config: ConfigArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Watch a demo training whose memory pattern is known, and compare the verdict
    #[command(long_about = demo::LONG_ABOUT, after_help = demo::EXAMPLES)]
    Demo(DemoArgs),
    /// List training runs with their processes, roles and memory, and why each was picked
    #[command(after_help = find::EXAMPLES)]
    Find(FindArgs),
    /// Start a command, watch its process tree and record it
    #[command(long_about = run::LONG_ABOUT, after_help = run::EXAMPLES)]
    Run(RunArgs),
    /// Show a running training on the dashboard: level, too early to tell, or leaking
    #[command(long_about = watch::LONG_ABOUT, after_help = watch::EXAMPLES)]
    Watch(Box<WatchArgs>),
    /// Record a run that is already going, without a dashboard
    #[command(long_about = record::LONG_ABOUT, after_help = record::EXAMPLES)]
    Record(RecordArgs),
    /// Stop a run gracefully before it is killed for its memory
    #[command(long_about = guard::LONG_ABOUT, after_help = guard::EXAMPLES)]
    Guard(Box<GuardCommandArgs>),
    /// Play a recording on the dashboard
    #[command(long_about = replay::LONG_ABOUT, after_help = replay::EXAMPLES)]
    Replay(ReplayArgs),
    /// Say whether memory levels off or leaks, from recordings, tables and logs
    #[command(long_about = judge::LONG_ABOUT, after_help = judge::EXAMPLES)]
    Judge(JudgeArgs),
    /// Write a report of a run: an HTML page, Markdown for an issue, a chart
    #[command(long_about = report::LONG_ABOUT, after_help = report::EXAMPLES)]
    Report(ReportArgs),
    /// Compare two runs, and say which differences are more than noise
    #[command(long_about = compare::LONG_ABOUT, after_help = compare::EXAMPLES)]
    Compare(CompareArgs),
    /// Change one thing at a time, and see what stops the growth
    #[command(name = "try", long_about = trial::LONG_ABOUT, after_help = trial::EXAMPLES)]
    Try(Box<TryArgs>),
    /// Fail when memory leaks, grows too much or got worse; for CI
    #[command(long_about = check::LONG_ABOUT, after_help = check::EXAMPLES)]
    Check(Box<CheckArgs>),
    /// Judge every rank of a job, or of all jobs, from Prometheus; worst first
    #[command(long_about = fleet::LONG_ABOUT, after_help = fleet::EXAMPLES)]
    Fleet(Box<FleetArgs>),
    /// Show which lines of the program allocated the memory that is not freed
    #[command(long_about = blame::LONG_ABOUT, after_help = blame::EXAMPLES)]
    Blame(BlameArgs),
    /// Show how earlier runs of a job ended, and what follows for the next one
    #[command(long_about = history::LONG_ABOUT, after_help = history::EXAMPLES)]
    History(HistoryArgs),
    /// Convert a recording to CSV
    #[command(long_about = export::LONG_ABOUT, after_help = export::EXAMPLES)]
    Export(ExportArgs),
    /// Say what leveloff can measure on this machine, what is missing, and how to get it
    #[command(after_help = doctor::EXAMPLES)]
    Doctor(DoctorArgs),
    /// Print a completion script for a shell
    #[command(after_help = "Examples:\n  \
        leveloff completions bash > ~/.local/share/bash-completion/completions/leveloff\n  \
        leveloff completions zsh > ~/.zfunc/_leveloff")]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page
    #[command(after_help = "Examples:\n  \
        leveloff man | man -l -\n  \
        leveloff man run > leveloff-run.1")]
    Man {
        /// Print the page of this subcommand instead
        subcommand: Option<String>,
    },
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For a terminal
    #[default]
    Text,
    /// For programs
    Json,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
