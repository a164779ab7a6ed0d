use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use crate::option_values::{parse_interval, parse_voice};
use crate::session::{VoiceMode, VoiceOptions};

/// Options of the commands that say what happens while the run goes on.
#[derive(Debug, Clone, Args)]
pub(crate) struct VoiceArgs {
    /// What to say on stderr while the run goes on: `changes` a line, at most one a minute, when the verdict changes, a
    /// limit comes near or a worker exits alone; `every 10s` also the numbers at these times; `quiet` nothing
    #[arg(
        long,
        value_name = "WHAT",
        default_value = "changes",
        value_parser = parse_voice,
        env = "LEVELOFF_VOICE"
    )]
    voice: VoiceMode,
    /// A line with time, step, memory, growth and workers so often, for logs; as `--voice 'every TIME'`
    #[arg(long, value_name = "TIME", value_parser = parse_interval, allow_hyphen_values = true)]
    every: Option<Duration>,
    /// Append these lines to a file, with the date, instead of printing them
    #[arg(long, value_name = "FILE")]
    voice_file: Option<PathBuf>,
}

impl VoiceArgs {
    pub(crate) fn options(&self) -> VoiceOptions {
        VoiceOptions {
            mode: self.every.map_or(self.voice, VoiceMode::Every),
            file: self.voice_file.clone(),
        }
    }
}
