use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use leveloff_model::units::Limit;
use leveloff_progress::StepRegex;

use crate::option_values::{
    LevelBy, parse_duration, parse_interval, parse_jobs, parse_level_by, parse_repeat,
    parse_step_regex, parse_steps,
};

pub(super) const LONG_ABOUT: &str = "Change one thing, and see what stops the growth.\n\n\
    Runs a job that leaks as it is (the control run), then again with one thing changed at a time: settings of the \
    allocator and of compilers, garbage collection, loader workers, loggers, and changes of your own. Says which change \
    stops the growth, what it costs in speed, and what the others rule out. The control run ends as soon as leveloff is \
    certain that it leaks, and long enough to be compared; every other run ends as soon as its growth can be distinguished from the control's. A change is credited \
    only if a second run agrees. The runs follow each other (unless --jobs says otherwise); nothing else of the job is changed.\n\n\
    The job is started from its beginning each time, so it must be one that can be: it should not overwrite what you need.";

pub(super) const EXAMPLES: &str = "Examples:\n  \
    leveloff try -- python train.py                     all changes that apply, the likely ones first\n  \
    leveloff try --from run.jsonl -- python train.py    ordered by the findings of a recording\n  \
    leveloff try --arms no-compile,one-arena -- python train.py\n  \
    leveloff try --arm 'workers0=python train.py --num-workers 0' -- python train.py\n  \
    leveloff try --env NCCL_BUFFSIZE=1048576 --arms none -- python train.py\n  \
    leveloff try --python venv-old/bin/python --arms none -- python train.py\n  \
    leveloff try --bisect 'torch==2.6,2.7,2.8' --arms none -- python train.py\n  \
    leveloff try --first --format markdown -- python train.py > cure.md\n  \
    leveloff try --list                                 every change, what it does and what it would mean\n  \
    leveloff try --plan json --from run.jsonl -- python train.py   what would be run and why; runs nothing\n\n\
    Answers for people and programs stay in the directory of the trial: answer.html with all curves, answer.md for an issue, \
    answer.json. Scripts and agents: docs/AGENTS.md.\n\n\
    Exit codes: 0 a change stops the growth, 1 none does, 2 usage error or the job failed, 3 undecided, or the control run \
    does not leak. docs/TRY.md has the method.";

#[derive(Debug, Args)]
pub(crate) struct TryArgs {
    /// The changes to try: auto, all, none, or names from --list; auto leaves out what cannot matter to this job
    #[arg(
        long,
        value_name = "NAMES",
        default_value = "auto",
        value_delimiter = ','
    )]
    pub arms: Vec<String>,
    /// A change of your own: a name and the command to run instead, through the shell
    #[arg(long = "arm", value_name = "NAME=CMD")]
    pub own: Vec<String>,
    /// A change of your own: an environment variable
    #[arg(long, value_name = "NAME=VALUE")]
    pub env: Vec<String>,
    /// A change of your own: another Python interpreter, such as that of a venv with other versions
    #[arg(long, value_name = "PATH")]
    pub python: Vec<PathBuf>,
    /// Versions of a package, oldest first: each in a venv that leveloff makes and keeps, with the rest of the job's packages
    #[arg(long, value_name = "PACKAGE==V,V,…")]
    pub bisect: Vec<String>,
    /// A recording of the job, whose findings say what to try first
    #[arg(long, value_name = "FILE")]
    pub from: Option<PathBuf>,
    /// List every change, what it does and what it would mean
    #[arg(long, conflicts_with_all = ["plan", "command"])]
    pub list: bool,
    /// Print what would be run and why, and run nothing
    #[arg(long, value_enum, value_name = "FORMAT", num_args = 0..=1, default_missing_value = "json")]
    pub plan: Option<PlanFormat>,
    /// The directory for recordings and output [default: leveloff-try-DATE-TIME-COMMAND here]
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Continue a trial in the directory of -o: runs that it holds are not repeated
    #[arg(long, requires = "output")]
    pub resume: bool,
    /// How far the control run goes, instead of until leveloff is certain that it leaks
    #[arg(long, value_name = "N", value_parser = parse_steps, allow_hyphen_values = true)]
    pub steps: Option<u64>,
    /// The step by which memory must be level, or the time; growth after it is a leak, so the control run ends sooner
    #[arg(long, value_name = "STEPS|TIME", value_parser = parse_level_by, allow_hyphen_values = true)]
    pub level_by: Option<LevelBy>,
    /// End the control run and start no other after this time
    #[arg(long, value_name = "TIME", default_value = "30m", value_parser = parse_duration, allow_hyphen_values = true)]
    pub max_time: Duration,
    /// End a run that takes four times as long as the control run, and this much longer
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = parse_duration, allow_hyphen_values = true)]
    pub patience: Duration,
    /// Run so many at a time. Each gets its part of --limit, and speeds are not compared
    #[arg(short, long, value_name = "N", default_value = "1", value_parser = parse_jobs, allow_hyphen_values = true)]
    pub jobs: NonZeroUsize,
    /// How often a change that stops or reduces the growth must show it
    #[arg(long, value_name = "N", default_value = "2", value_parser = parse_repeat, allow_hyphen_values = true)]
    pub repeats: u32,
    /// End with the first change that stops the growth
    #[arg(long)]
    pub first: bool,
    /// End a run at this amount of memory
    #[arg(
        long,
        value_name = "SIZE|%",
        default_value = "90%",
        allow_hyphen_values = true
    )]
    pub limit: Limit,
    /// A regular expression for the lines that hold the step, as in `run`
    #[arg(long, value_name = "REGEX", value_parser = parse_step_regex)]
    pub step_regex: Option<StepRegex>,
    /// Time between samples
    #[arg(short, long, value_name = "TIME", default_value = "200ms", value_parser = parse_interval, allow_hyphen_values = true)]
    pub interval: Duration,
    /// Output format
    #[arg(long, value_enum, default_value = "text")]
    pub format: TryFormat,
    /// The command of the job, after `--`
    #[arg(last = true, value_name = "CMD", required_unless_present = "list")]
    pub command: Vec<OsString>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TryFormat {
    /// For a terminal
    Text,
    /// For an issue
    #[value(alias = "md")]
    Markdown,
    /// For programs
    Json,
    /// One page with all curves
    Html,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PlanFormat {
    /// For programs
    Json,
    /// For a terminal
    Text,
}
