//! The command line: what can be asked for, and what the manual page says about it.

mod checking;
mod comparing;
mod configuring;
mod demo;
mod fleeting;
mod guarding;
mod judging;
mod publishing;
mod reporting;
mod watching;

pub use checking::CheckArgs;
pub use comparing::{CompareArgs, CompareFormat};
pub use configuring::ConfigArgs;
pub use demo::DemoArgs;
pub use fleeting::FleetArgs;
pub use guarding::{GuardArgs, GuardCommandArgs, RestartArgs};
pub use judging::{ColumnArgs, FactArgs, JudgeArgs, UndecidedAs};
pub use publishing::MetricsArgs;
pub use reporting::{ReportArgs, ReportFormat};
pub use watching::{LookArgs, ReplayArgs, ThemeName, Watched, WatchingArgs};

pub(crate) use judging::parse_steps;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};
use leveloff_model::units::Limit;

/// Does the memory of this training run level off, or does it leak?
#[derive(Debug, Parser)]
#[command(
    name = "leveloff",
    version,
    about = "Does the memory of this training run level off, or does it leak?",
    long_about = "Does the memory of this training run level off, or does it leak?\n\n\
        leveloff finds a training run, samples its whole process tree (launcher, ranks, compile \
        workers, data loaders) and records what each process really holds: shared pages counted \
        once, not once for each process as a sum of RSS does. It needs no change to the training \
        code and no restart, and it never touches the run.",
    after_help = "Examples:\n  \
        leveloff demo                               see it be right within a minute\n  \
        leveloff                                    watch what is training here\n  \
        leveloff find                               what is training here, and why\n  \
        leveloff run -- python train.py             start a run and record it\n  \
        leveloff record --pid 22180 -o run.jsonl    record a run that is there already\n  \
        leveloff guard --limit 90%                  stop it gracefully before it is killed\n  \
        leveloff judge run.jsonl                    level off, or leak?\n  \
        leveloff report run.jsonl -o run.html       what a colleague needs to see\n  \
        leveloff compare before.jsonl after.jsonl   what changed, and is it more than noise?\n  \
        leveloff check run.jsonl                    the gate for CI\n  \
        leveloff fleet --prometheus URL             every rank of a job, worst first\n  \
        leveloff replay run.jsonl                   the dashboard, as it would have been\n  \
        leveloff export run.jsonl -o run.csv        a table for pandas\n  \
        leveloff doctor                             what can be measured here\n\n\
        Exit codes: 0 fine, 1 leak or regression, 2 usage or tool error, 3 undecided, 75 the guard \
        stopped the run; otherwise `run` returns the command's own code."
)]
pub struct Cli {
    /// What to do [default: watch]
    #[command(subcommand)]
    pub command: Option<Command>,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub config: ConfigArgs,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// See it be right within a minute: watch a training whose truth is known
    #[command(long_about = demo::LONG_ABOUT, after_help = demo::EXAMPLES)]
    Demo(DemoArgs),
    /// List training processes, their roles and memory, and why each was picked
    #[command(after_help = "Examples:\n  \
        leveloff find                        torch, JAX, TensorFlow, candle, GPU users\n  \
        leveloff find --match 'train\\.py'    any process with this command line\n  \
        leveloff find --pid 22180            the run that this process belongs to\n  \
        leveloff find --format json | jq '.[].trainers[].pid'")]
    Find(FindArgs),
    /// Start a command, watch its process tree, record it
    #[command(
        long_about = "Start a command, watch its process tree, record it.\n\n\
            The command behaves as without leveloff: same terminal, same exit code, same signals, \
            stdin, stdout and stderr passed through unchanged. Should leveloff be killed, the \
            command goes on and keeps its terminal or its pipes.",
        after_help = "Examples:\n  \
            leveloff run -- python train.py --epochs 3\n  \
            leveloff run -o before.jsonl -- torchrun --nproc-per-node 2 train.py\n  \
            leveloff run --interval 200ms -- ./train.sh | tee train.log\n  \
            leveloff run --limit 28GiB -- python train.py      stops with a checkpoint before that\n  \
            leveloff run --isolate 28GiB -- python train.py    a leak ends the job, not the machine\n  \
            leveloff run --limit 28GiB --resume-cmd 'python train.py --resume' -- python train.py\n  \
            leveloff run --watch -- python train.py            with the dashboard"
    )]
    Run(RunArgs),
    /// Show a run while it goes on: fine, too early to tell, or leaking
    #[command(
        long_about = watching::WATCH_ABOUT,
        after_help = watching::WATCH_EXAMPLES
    )]
    Watch(Box<WatchingArgs>),
    /// Record a run that is there already, without a screen
    #[command(after_help = "Examples:\n  \
        leveloff record -o run.jsonl                       finds the run\n  \
        leveloff record --pid 22180 -o run.jsonl           this one\n  \
        leveloff record --match train.py --duration 10m    for ten minutes\n  \
        leveloff record --pid 22180 --metrics              and lets Prometheus scrape it\n  \
        leveloff record --system --duration 1h             the whole machine and its top growers")]
    Record(RecordArgs),
    /// Stop a run gracefully before it is killed for its memory
    #[command(long_about = guarding::LONG_ABOUT, after_help = guarding::EXAMPLES)]
    Guard(Box<GuardCommandArgs>),
    /// Play a recording on the dashboard: what would have been said, and when
    #[command(after_help = watching::REPLAY_EXAMPLES)]
    Replay(ReplayArgs),
    /// Say whether memory levels off or leaks, from recordings, tables and logs
    #[command(
        long_about = judging::LONG_ABOUT,
        after_help = judging::EXAMPLES
    )]
    Judge(JudgeArgs),
    /// Write a run up: HTML for a colleague, Markdown for an issue, a chart
    #[command(
        long_about = reporting::LONG_ABOUT,
        after_help = reporting::EXAMPLES
    )]
    Report(ReportArgs),
    /// Say what changed between two runs, and whether it is more than noise
    #[command(
        long_about = comparing::LONG_ABOUT,
        after_help = comparing::EXAMPLES
    )]
    Compare(CompareArgs),
    /// Fail when memory leaks, grows too much or got worse: the gate for CI
    #[command(
        long_about = checking::LONG_ABOUT,
        after_help = checking::EXAMPLES
    )]
    Check(Box<CheckArgs>),
    /// Judge every rank of a job, or of all jobs, from Prometheus; worst first
    #[command(long_about = fleeting::LONG_ABOUT, after_help = fleeting::EXAMPLES)]
    Fleet(Box<FleetArgs>),
    /// Turn a recording into CSV
    #[command(after_help = "Examples:\n  \
        leveloff export run.jsonl -o run.csv              a row for each process and sample\n  \
        leveloff export run.jsonl --scope role -o -       by role, to stdout\n  \
        leveloff export run.jsonl --scope tree -o - | head\n\n\
        Columns carry their unit (pss_bytes, t_s); an empty field is a number that could not be \
        measured, never a zero.")]
    Export(ExportArgs),
    /// Say what can be measured on this machine, what is missing, and how to get it
    #[command(after_help = "Examples:\n  \
        leveloff doctor\n  \
        leveloff doctor --format json")]
    Doctor(DoctorArgs),
    /// Print a completion script for a shell
    #[command(after_help = "Examples:\n  \
        leveloff completions bash > ~/.local/share/bash-completion/completions/leveloff\n  \
        leveloff completions zsh > ~/.zfunc/_leveloff")]
    Completions {
        /// Which shell.
        shell: clap_complete::Shell,
    },
    /// Print the manual page
    #[command(after_help = "Examples:\n  \
        leveloff man | man -l -\n  \
        leveloff man run > leveloff-run.1")]
    Man {
        /// The page of this subcommand instead of the whole command's.
        subcommand: Option<String>,
    },
}

/// How output is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    #[default]
    Text,
    /// For programs.
    Json,
}

/// `find`
#[derive(Debug, Default, Args)]
pub struct FindArgs {
    /// Processes whose command line matches this regular expression
    #[arg(long = "match", value_name = "REGEX")]
    pub pattern: Option<String>,
    /// The run that this process belongs to
    #[arg(long, conflicts_with = "pattern", value_parser = parse_pid, allow_hyphen_values = true)]
    pub pid: Option<i32>,
    /// Read the shared memory of processes above 4 GiB as well, which takes a moment of theirs
    #[arg(long)]
    pub exact: bool,
    /// Output for people or for programs
    #[arg(long, value_enum, default_value = "text")]
    pub format: Format,
}

/// `run`
#[derive(Debug, Args)]
pub struct RunArgs {
    /// Where to record [default: leveloff-DATE-TIME-COMMAND.jsonl here]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Say nothing of memory in the end: whoever started us does
    #[arg(long, hide = true, conflicts_with = "shows")]
    pub checked: bool,
    /// Put the command in a control group of its own, so that a leak ends it and not the machine; at
    /// this much memory, or share of what there is [default: what is free, less 5 %]
    #[arg(long, value_name = "SIZE|%", num_args = 0..=1)]
    pub isolate: Option<Option<Limit>>,
    /// Show the dashboard; the command's output goes to a .log file beside the recording
    #[arg(long = "watch")]
    pub shows: bool,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub watch: WatchArgs,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub look: LookArgs,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub guard: GuardArgs,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub restart: RestartArgs,
    /// The command to run, after `--`
    #[arg(last = true, required = true, value_name = "CMD")]
    pub command: Vec<OsString>,
}

/// `record`
#[derive(Debug, Args)]
pub struct RecordArgs {
    #[command(flatten)]
    #[allow(missing_docs)]
    pub target: TargetArgs,
    /// Where to record [default: leveloff-DATE-TIME-COMMAND.jsonl here]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Stop after this long, such as 90s, 10m, 2h [default: when the run ends]
    #[arg(
        long,
        value_name = "TIME",
        value_parser = parse_duration,
        allow_hyphen_values = true
    )]
    pub duration: Option<Duration>,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub watch: WatchArgs,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub guard: GuardArgs,
}

/// Which run is meant; without any of it, the one that is there.
#[derive(Debug, Args)]
pub struct TargetArgs {
    /// The run that this process belongs to
    #[arg(long, conflicts_with_all = ["pattern", "system"], value_parser = parse_pid, allow_hyphen_values = true)]
    pub pid: Option<i32>,
    /// The run whose command line matches this regular expression
    #[arg(long = "match", value_name = "REGEX", conflicts_with = "system")]
    pub pattern: Option<String>,
    /// Every process of the machine, no particular run
    #[arg(long)]
    pub system: bool,
}

/// What everything that watches a run takes. A value may begin with a minus, so that `--interval
/// -1s` is answered with what an interval is, and not with "unexpected argument '-1'".
#[derive(Debug, Clone, Args)]
pub struct WatchArgs {
    /// Time between samples, such as 1s, 500ms
    #[arg(
        short,
        long,
        value_name = "TIME",
        default_value = "1s",
        value_parser = parse_interval,
        allow_hyphen_values = true,
        env = "LEVELOFF_INTERVAL"
    )]
    pub interval: Duration,
    /// CPU that reading shared memory may cost, in percent of one core; 0 reads none
    #[arg(
        long,
        value_name = "%",
        default_value = "0.5",
        value_parser = parse_percent,
        allow_hyphen_values = true,
        env = "LEVELOFF_PSS_BUDGET"
    )]
    pub pss_budget: f64,
    /// Read the training's steps from this log file
    #[arg(long, value_name = "FILE")]
    pub log: Option<PathBuf>,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub facts: FactArgs,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub metrics: MetricsArgs,
}

/// `export`
#[derive(Debug, Args)]
pub struct ExportArgs {
    /// The recording
    pub file: PathBuf,
    /// Where to write the CSV; `-` is stdout
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// What a row is about
    #[arg(long, value_enum, default_value = "process")]
    pub scope: ExportScope,
}

/// What a row of the CSV is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ExportScope {
    /// One process at one moment
    Process,
    /// All processes of one role at one moment
    Role,
    /// The whole tree at one moment
    Tree,
}

/// `doctor`
#[derive(Debug, Args)]
pub struct DoctorArgs {
    /// Output for people or for programs
    #[arg(long, value_enum, default_value = "text")]
    pub format: Format,
}

/// Faster than this the tick would cost more than it tells, and the target would notice.
const SHORTEST_INTERVAL: Duration = Duration::from_millis(10);

/// Slower than this a run would be over before it was looked at twice.
const LONGEST_INTERVAL: Duration = Duration::from_secs(3600);

pub(crate) fn parse_interval(text: &str) -> Result<Duration, String> {
    let interval = parse_duration(text)?;
    if interval < SHORTEST_INTERVAL || interval > LONGEST_INTERVAL {
        return Err("an interval lies between 10ms and 1h; 1s is usual".to_owned());
    }
    Ok(interval)
}

/// `90s`, `500ms`, `10m`, `1.5h`, `2d`. A bare number is seconds, as everywhere else.
fn parse_duration(text: &str) -> Result<Duration, String> {
    let expected = "write a time with its unit, such as 500ms, 1s, 10m or 2h";
    let text = text.trim();
    let split = text
        .find(|c: char| c.is_ascii_alphabetic())
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let number: f64 = number.trim().parse().map_err(|_| expected.to_owned())?;
    let seconds = match unit {
        "ms" => number / 1e3,
        "s" | "sec" | "" => number,
        "m" | "min" => number * 60.0,
        "h" => number * 3600.0,
        "d" => number * 86_400.0,
        _ => return Err(format!("'{unit}' is not a unit of time; {expected}")),
    };
    if seconds <= 0.0 || !seconds.is_finite() {
        return Err(format!("a time must be more than zero; {expected}"));
    }
    Duration::try_from_secs_f64(seconds).map_err(|_| format!("{text} is too long; {expected}"))
}

pub(crate) fn parse_percent(text: &str) -> Result<f64, String> {
    let number = text.trim().trim_end_matches('%').trim_end();
    match number.parse::<f64>() {
        Ok(percent) if (0.0..=100.0).contains(&percent) => Ok(percent),
        _ => Err("a share of one core lies between 0 and 100 percent; 0.5 is usual".to_owned()),
    }
}

fn parse_pid(text: &str) -> Result<i32, String> {
    match text.parse::<i32>() {
        Ok(pid) if pid > 0 => Ok(pid),
        _ => Err(
            "a process number is a whole number above zero; `leveloff find` lists them".to_owned(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn times_must_be_positive_and_their_unit_known() {
        assert_eq!(parse_duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(parse_duration("1.5h"), Ok(Duration::from_secs(5400)));
        assert_eq!(parse_duration("1.5"), Ok(Duration::from_millis(1500)));
        for wrong in [
            "0s", "0", "-1", "-1s", "", "s", "1 x", "nan", "infs", "1e400s",
        ] {
            assert!(parse_duration(wrong).is_err(), "{wrong}");
        }
        for wrong in ["0s", "-1s", "1ms", "2h"] {
            assert!(parse_interval(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_percentage_may_carry_its_sign() {
        assert_eq!(parse_percent("0.5%"), Ok(0.5));
        assert!(parse_percent("-1").is_err());
        assert!(parse_percent("101").is_err());
    }
}
