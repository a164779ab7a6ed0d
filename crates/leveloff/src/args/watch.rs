use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;

use super::{AppearanceArgs, GuardArgs, SamplingArgs, TargetArgs};
use crate::option_values::parse_pid;

pub(super) const LONG_ABOUT: &str = "Show a running training on the dashboard: level, too early to tell, or leaking; \
    which process grows; how much time is left.\n\n\
    Attaches to a run that is already going, without a restart or a change to it. Without a PID leveloff finds the run, \
    and asks if there are several. With a FILE it follows a recording that another leveloff is writing. The run \
    continues when you leave the dashboard (q).";

pub(super) const EXAMPLES: &str = "Examples:\n  \
    leveloff watch                        finds the run\n  \
    leveloff watch 22180                  the run of this process\n  \
    leveloff watch 22180 -o run.jsonl     also records it\n  \
    leveloff watch run.jsonl              follows `leveloff record -o run.jsonl` from another terminal\n  \
    leveloff watch --system               every process of the machine\n\n\
    Press ? for the keys.";

#[derive(Debug, Args)]
pub(crate) struct WatchArgs {
    /// A process of the run, or a recording that is being written [default: finds the run]
    #[arg(value_name = "PID|FILE", conflicts_with_all = ["pid", "pattern", "system"])]
    pub source: Option<WatchSource>,
    #[command(flatten)]
    pub target: TargetArgs,
    /// Also record, to this file [default: keeps what `e` exports until you leave]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub sampling: SamplingArgs,
    #[command(flatten)]
    pub appearance: AppearanceArgs,
    #[command(flatten)]
    pub guard: GuardArgs,
}

/// Digits are a process, anything else is a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum WatchSource {
    Pid(i32),
    Recording(PathBuf),
}

impl FromStr for WatchSource {
    type Err = String;

    fn from_str(text: &str) -> Result<WatchSource, String> {
        if text.is_empty() {
            return Err("name a process or a recording, or nothing".to_owned());
        }
        if text.bytes().all(|byte| byte.is_ascii_digit()) {
            return parse_pid(text).map(WatchSource::Pid);
        }
        Ok(WatchSource::Recording(PathBuf::from(text)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_a_process_and_anything_else_is_a_file() {
        let recording = |text: &str| Ok(WatchSource::Recording(text.into()));
        assert_eq!("22180".parse(), Ok(WatchSource::Pid(22180)));
        assert_eq!("./22180".parse(), recording("./22180"));
        assert_eq!("run.jsonl".parse(), recording("run.jsonl"));
        for wrong in ["0", "99999999999", ""] {
            assert!(wrong.parse::<WatchSource>().is_err(), "{wrong}");
        }
    }
}
