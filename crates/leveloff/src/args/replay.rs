use std::path::PathBuf;

use clap::Args;

use super::{AppearanceArgs, FactArgs};
use crate::option_values::parse_steps;

pub(super) const LONG_ABOUT: &str = "Play a recording on the dashboard.\n\n\
    Shows at every moment the verdict that the samples up to there give: what leveloff would have said, and when.";

pub(super) const EXAMPLES: &str = "Examples:\n  \
    leveloff replay run.jsonl                  the whole recording in about a minute\n  \
    leveloff replay run.jsonl --speed 10       ten times as fast as it was recorded\n  \
    leveloff replay run.jsonl --from-step 80   from step 80 on\n\n\
    Press p to pause, [ ] to change the speed, , . to skip, g to go to a step, G to the end, ? for all keys.";

#[derive(Debug, Args)]
pub(crate) struct ReplayArgs {
    /// The recording
    pub file: PathBuf,
    /// Seconds of the recording to play in one second [default: all of it in about a minute]
    #[arg(long, value_name = "X", value_parser = parse_speed, allow_hyphen_values = true)]
    pub speed: Option<f64>,
    /// Begin at this step
    #[arg(long, value_name = "N", value_parser = parse_steps, allow_hyphen_values = true)]
    pub from_step: Option<u64>,
    #[command(flatten)]
    pub facts: FactArgs,
    #[command(flatten)]
    pub appearance: AppearanceArgs,
}

fn parse_speed(text: &str) -> Result<f64, String> {
    match text.trim().trim_end_matches(['x', '×']).parse::<f64>() {
        Ok(speed) if speed > 0.0 && speed.is_finite() => Ok(speed),
        _ => Err(
            "a speed is a number above zero; 1 is as recorded, 60 is a minute in a second"
                .to_owned(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_speed_is_above_zero() {
        assert_eq!(parse_speed("10x"), Ok(10.0));
        assert_eq!(parse_speed("0.5"), Ok(0.5));
        for wrong in ["0", "-1", "nan", "inf", "fast", ""] {
            assert!(parse_speed(wrong).is_err(), "{wrong}");
        }
    }
}
