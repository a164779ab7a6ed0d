//! The command line.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Parser, ValueEnum};

use crate::device::DeviceChoice;
use crate::pattern::{Knob, Knobs, Schedule};
use crate::patterns::{self, Entry, HEALTHY};
use crate::sizes::Size;
use crate::stop::IgnoredStops;

/// More steps than any training has, and few enough that marks can carry them.
const MOST_STEPS: u64 = 1_000_000_000_000_000;

/// The reference trainer.
#[derive(Debug, Parser)]
#[command(
    name = "leveloff-trainer",
    version,
    about = "A small training with known memory behaviour, the reference trainer of leveloff",
    long_about = "A small training with known memory behaviour, the reference trainer of leveloff.\n\n\
        A vision-language model learns to answer questions about synthetic pictures, on one core, \
        with evaluations, checkpoints and marks. A pattern makes memory grow, level off, jump or fall \
        on purpose, so that leveloff's verdict can be compared with the truth. The same seed gives the same losses, also over a resume.",
    after_help = "Examples:\n  \
        leveloff-trainer                                       a healthy training\n  \
        leveloff-trainer --list-patterns                       every pattern with its truth\n  \
        leveloff-trainer --pattern native-leak --rate 2MiB     a leak of two MiB a step\n  \
        leveloff run -- leveloff-trainer --pattern story       watched and recorded\n  \
        leveloff-trainer --checkpoint-dir ckpt --steps 1000    saved every hundred steps\n  \
        leveloff-trainer --checkpoint-dir ckpt --steps 1000 --resume\n\n\
        Stopping: SIGINT, SIGTERM or a stop request beside the marks finishes the step, saves a \
        checkpoint if there is a directory for it, and ends with 0. A second SIGINT ends at once. \
        Ranks stop together, whichever process gets the request.\n\n\
        Exit codes: 0 trained or stopped on request, 1 the training failed, 2 usage or tool error."
)]
pub struct Cli {
    /// What memory does; --list-patterns explains each
    #[arg(long, value_name = "NAME", default_value = HEALTHY.name, hide_possible_values = true,
          value_parser = PossibleValuesParser::new(pattern_names()))]
    pub pattern: String,
    /// List the patterns with the truth and the expected verdict of each, and exit
    #[arg(long)]
    pub list_patterns: bool,
    /// Steps in the whole run, those before a resume included [default: what shows the pattern]
    #[arg(long, value_name = "N", value_parser = some_steps)]
    pub steps: Option<u64>,
    /// Seed of parameters, data and patterns
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Questions in a batch
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub batch_size: u32,
    /// Steps in an epoch
    #[arg(long, value_name = "STEPS", default_value_t = 80, value_parser = some_steps)]
    pub epoch_steps: u64,
    /// Steps between evaluations
    #[arg(long, value_name = "STEPS", default_value_t = 50, value_parser = some_steps)]
    pub evaluate_every: u64,
    /// Steps between checkpoints
    #[arg(long, value_name = "STEPS", default_value_t = 100, value_parser = some_steps)]
    pub checkpoint_every: u64,
    /// Save checkpoints here (default: none are saved)
    #[arg(long, value_name = "DIR")]
    pub checkpoint_dir: Option<PathBuf>,
    /// How many checkpoints are kept
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..))]
    pub keep_checkpoints: u16,
    /// Resume from the newest valid checkpoint in the directory, or from this file
    #[arg(long, value_name = "FILE", num_args = 0..=1)]
    pub resume: Option<Option<PathBuf>>,
    /// Highest speed
    #[arg(long, value_name = "STEPS_PER_SECOND", value_parser = some_pace)]
    pub pace: Option<f64>,
    /// Where to train
    #[arg(long, value_name = "WHERE", value_enum, default_value_t)]
    pub device: DeviceChoice,
    /// Threads of the training [default: RAYON_NUM_THREADS, or 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub threads: Option<u32>,
    /// How fast the pattern grows, by the step: 64KiB, 1.5MiB, 2MB
    #[arg(long, value_name = "SIZE", help_heading = "Pattern options")]
    pub rate: Option<Size>,
    /// How much its warmup, cache, spike or jump holds
    #[arg(long, value_name = "SIZE", help_heading = "Pattern options")]
    pub size: Option<Size>,
    /// The step after which it begins, or by which its warmup is over
    #[arg(long, value_name = "STEP", help_heading = "Pattern options")]
    pub onset: Option<u64>,
    /// How many worker processes it has
    #[arg(long, value_name = "N", help_heading = "Pattern options",
          value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub workers: Option<u32>,
    /// Claim in the marks to obey stop requests, and ignore them
    #[arg(long, conflicts_with = "no_marks", help_heading = "To test a guard")]
    pub ignore_requests: bool,
    /// Ignore SIGTERM and SIGINT, in the workers too: only SIGKILL ends it
    #[arg(long, help_heading = "To test a guard")]
    pub ignore_signals: bool,
    /// Start this many copies that train in step, each with its memory, marks and rank-K directory
    #[arg(long, value_name = "N", help_heading = "To test a guard",
          value_parser = clap::value_parser!(u32).range(1..=64))]
    pub ranks: Option<u32>,
    /// Write no marks, and obey no stop request beside them
    #[arg(long)]
    pub no_marks: bool,
    /// Print errors only
    #[arg(long, short)]
    pub quiet: bool,
    /// How output is written
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// How output is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Text.
    #[default]
    Text,
    /// JSON, one object a line.
    Json,
}

impl Cli {
    /// The chosen pattern. An option that the pattern does not use is an error.
    pub fn entry(&self) -> Result<&'static Entry, String> {
        let entry = patterns::find(&self.pattern).unwrap_or(&HEALTHY);
        if entry.needs_checkpoints && self.checkpoint_dir.is_none() {
            return Err(format!(
                "{} does nothing unless checkpoints are saved; pass --checkpoint-dir DIR",
                entry.name
            ));
        }
        let useless = entry.has_no_use_for(&self.knobs());
        if useless.is_empty() {
            return Ok(entry);
        }
        let flags = |knobs: &[Knob]| knobs.iter().map(|knob| knob.flag()).collect::<Vec<_>>();
        let takes = match flags(entry.takes) {
            none if none.is_empty() => "nothing".to_owned(),
            some => some.join(", "),
        };
        let useless = flags(&useless).join(", ");
        Err(format!(
            "{} does not use {useless}; it takes {takes}",
            entry.name
        ))
    }

    /// When things happen in a training with this pattern.
    pub fn schedule(&self, entry: &Entry) -> Schedule {
        Schedule {
            steps: self.steps.unwrap_or(entry.steps),
            epoch_steps: self.epoch_steps,
            evaluate_every: self.evaluate_every,
            checkpoint_every: self.checkpoint_every,
            seed: self.seed,
        }
    }

    /// Stop requests that it ignores.
    pub fn ignored_stops(&self) -> IgnoredStops {
        IgnoredStops {
            requests: self.ignore_requests,
            signals: self.ignore_signals,
        }
    }

    /// What was set of the pattern.
    pub fn knobs(&self) -> Knobs {
        Knobs {
            rate: self.rate,
            size: self.size,
            onset: self.onset,
            workers: self.workers,
        }
    }
}

fn pattern_names() -> Vec<&'static str> {
    patterns::ALL.iter().map(|entry| entry.name).collect()
}

fn some_steps(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(0) => Err("0 steps are too few; pass 1 or more".to_owned()),
        Ok(steps) if steps <= MOST_STEPS => Ok(steps),
        _ => Err(format!("pass a whole number from 1 to {MOST_STEPS}")),
    }
}

fn some_pace(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        // The limits keep the time of a step within what a clock can measure.
        Ok(pace) if (1e-3..=1e6).contains(&pace) => Ok(pace),
        _ => Err("pass steps a second from 0.001 to 1000000, such as 4 or 0.5".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    fn parse(arguments: &[&str]) -> Result<Cli, String> {
        let all = std::iter::once(&"leveloff-trainer").chain(arguments);
        Cli::try_parse_from(all).map_err(|error| error.to_string())
    }

    #[test]
    fn the_command_line_holds_together() {
        Cli::command().debug_assert();
        let plain = parse(&[]).expect("fine");
        assert_eq!(plain.entry().expect("fine").name, HEALTHY.name);
        assert_eq!(plain.schedule(&HEALTHY).steps, HEALTHY.steps);
    }

    #[test]
    fn what_a_pattern_has_no_use_for_is_refused() {
        let error = |arguments: &[&str]| parse(arguments).expect("fine").entry().unwrap_err();
        let late = error(&["--pattern", "late-leak", "--workers", "3"]);
        assert!(late.contains("does not use --workers"), "{late}");
        assert!(late.contains("takes --rate, --onset"), "{late}");
        let unsaved = error(&["--pattern", "checkpoint-leak"]);
        assert!(unsaved.contains("--checkpoint-dir"), "{unsaved}");
        let healthy = error(&["--rate", "1MiB"]);
        assert!(healthy.contains("takes nothing"), "{healthy}");
    }

    #[test]
    fn nonsense_is_refused_with_what_would_do() {
        for (arguments, words) in [
            (["--steps", "0"], "too few"),
            (["--steps", "1e3"], "whole number"),
            (["--pace", "0"], "steps a second"),
            (["--pace", "NaN"], "steps a second"),
            (["--rate", "12"], "such as 64KiB"),
            (["--pattern", "heathy"], "healthy"),
        ] {
            let error = parse(&arguments).expect_err("refused");
            assert!(error.contains(words), "{arguments:?}: {error}");
        }
    }

    #[test]
    fn a_resume_may_name_its_file() {
        let resume = |arguments: &[&str]| parse(arguments).expect("fine").resume;
        assert_eq!(resume(&[]), None);
        assert_eq!(resume(&["--resume"]), Some(None));
        assert_eq!(resume(&["--resume", "a"]), Some(Some("a".into())));
    }
}
