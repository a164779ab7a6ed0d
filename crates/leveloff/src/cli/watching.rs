//! What can be asked of `watch` and `replay`.

use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, ValueEnum};

use super::judging::parse_steps;
use super::{FactArgs, GuardArgs, TargetArgs, WatchArgs, parse_pid};

/// What `watch --help` begins with.
pub(super) const WATCH_ABOUT: &str = "Show a run while it goes on: fine, too early to tell, or leaking; who; \
    how long there is left.\n\n\
    Attaches to a run that is there already, with no restart and no change to it. Without a PID it \
    finds the run, and asks if there are several. With a FILE it follows a recording that another \
    leveloff is writing. Leaving the screen (q) leaves the run alone.";

/// What it ends with.
pub(super) const WATCH_EXAMPLES: &str = "Examples:\n  \
    leveloff watch                        finds the run\n  \
    leveloff watch 22180                  this one\n  \
    leveloff watch 22180 -o run.jsonl     and records it\n  \
    leveloff watch run.jsonl              follows `leveloff record -o run.jsonl` from another terminal\n  \
    leveloff watch --system               every process of the machine\n\n\
    Press ? for the keys.";

/// What `replay --help` ends with.
pub(super) const REPLAY_EXAMPLES: &str = "Examples:\n  \
    leveloff replay run.jsonl                  all of it in about a minute\n  \
    leveloff replay run.jsonl --speed 10       ten times as fast as it happened\n  \
    leveloff replay run.jsonl --from-step 80   what was said at step 80?\n\n\
    Press p to pause, [ ] for the speed, , . to skip, g to go to a step, G to the end, ? for all keys.";

/// `watch`
#[derive(Debug, Args)]
pub struct WatchingArgs {
    /// A process of the run, or a recording that is being written [default: finds the run]
    #[arg(value_name = "PID|FILE", conflicts_with_all = ["pid", "pattern", "system"])]
    pub watched: Option<Watched>,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub target: TargetArgs,
    /// Record as well, to this file [default: keeps what `e` exports until you leave]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub watch: WatchArgs,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub look: LookArgs,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub guard: GuardArgs,
}

/// What is watched: digits are a process, anything else is a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Watched {
    /// A process of the run.
    Pid(i32),
    /// A recording.
    File(PathBuf),
}

/// How a dashboard looks.
#[derive(Debug, Clone, Default, Args)]
pub struct LookArgs {
    /// Colours of the dashboard [default: dark; none where NO_COLOR is set]
    #[arg(long, value_enum, value_name = "THEME", env = "LEVELOFF_THEME")]
    pub theme: Option<ThemeName>,
    /// Only ASCII characters on the dashboard [default: where the terminal has no others]
    #[arg(long)]
    pub ascii: bool,
}

/// Colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ThemeName {
    /// For a dark background
    Dark,
    /// For a light background
    Light,
    /// Colours that nobody mixes up
    #[value(alias = "color-blind")]
    ColourBlind,
    /// No colours
    None,
}

/// `replay`
#[derive(Debug, Args)]
pub struct ReplayArgs {
    /// The recording
    pub file: PathBuf,
    /// Seconds of the recording in one second [default: all of it in about a minute]
    #[arg(long, value_name = "X", value_parser = parse_speed, allow_hyphen_values = true)]
    pub speed: Option<f64>,
    /// Begin at this step
    #[arg(long, value_name = "N", value_parser = parse_steps, allow_hyphen_values = true)]
    pub from_step: Option<u64>,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub facts: FactArgs,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub look: LookArgs,
}

impl FromStr for Watched {
    type Err = String;

    fn from_str(text: &str) -> Result<Watched, String> {
        if text.is_empty() {
            return Err("name a process or a recording, or nothing".to_owned());
        }
        if text.bytes().all(|byte| byte.is_ascii_digit()) {
            return parse_pid(text).map(Watched::Pid);
        }
        Ok(Watched::File(PathBuf::from(text)))
    }
}

fn parse_speed(text: &str) -> Result<f64, String> {
    match text.trim().trim_end_matches(['x', '×']).parse::<f64>() {
        Ok(speed) if speed > 0.0 && speed.is_finite() => Ok(speed),
        _ => Err(
            "a speed is a number above zero; 1 is as it happened, 60 a minute in a second"
                .to_owned(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_a_process_and_anything_else_is_a_file() {
        assert_eq!("22180".parse(), Ok(Watched::Pid(22180)));
        assert_eq!("./22180".parse(), Ok(Watched::File("./22180".into())));
        assert_eq!("run.jsonl".parse(), Ok(Watched::File("run.jsonl".into())));
        assert!("0".parse::<Watched>().is_err());
        assert!("99999999999".parse::<Watched>().is_err());
        assert!("".parse::<Watched>().is_err());
    }

    #[test]
    fn a_speed_is_above_zero() {
        assert_eq!(parse_speed("10x"), Ok(10.0));
        assert_eq!(parse_speed("0.5"), Ok(0.5));
        for wrong in ["0", "-1", "nan", "inf", "fast", ""] {
            assert!(parse_speed(wrong).is_err(), "{wrong}");
        }
    }
}
