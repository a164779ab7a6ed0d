//! What the verdict is asked with: the facts that the user knows, and `judge` itself.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use leveloff_model::recording::StatedFacts;
use leveloff_model::units::{Limit, Step};

use super::Format;
use leveloff_readers::{ColumnChoice, SizeUnit};

/// What `judge --help` begins with.
pub(super) const LONG_ABOUT: &str = "Say whether memory levels off or leaks, from recordings, tables and logs.\n\n\
    Growth that will stop and a leak look the same for a while. The verdict is therefore one of \
    four: level (since when, at how much), leak (early or confirmed, with rate, onset and who \
    grows), warming up (growing, too early to tell; says until when) and undecided (says what \
    would settle it). When a limit is known, it also says when that would be reached.\n\n\
    Reads leveloff recordings, the CSV of `leveloff export`, any CSV or TSV with a column of steps \
    or times and one of memory, mprof and psrecord files, prmon tables, and logs with lines such \
    as `Step 10: RAM 5552 MB`.";

/// What it ends with.
pub(super) const EXAMPLES: &str = "Examples:\n  \
    leveloff judge run.jsonl                  a recording of run or record\n  \
    leveloff judge --level-by 90 run.jsonl    must be level by step 90\n  \
    leveloff judge --limit 32GiB train.log    when would 32 GiB be reached?\n  \
    leveloff judge --x epoch --y host --y-unit GiB metrics.csv\n  \
    leveloff judge --format json runs/*.csv | jq 'select(.verdict == \"leak\")'\n  \
    ssh node7 cat run.jsonl | leveloff judge -\n\n\
    Exit codes: 0 all are level, 1 one leaks, 2 one could not be read (whatever the others are), \
    3 one is undecided or warming up and none leaks (--undecided=pass makes it 0, =fail 1).";

/// What the user knows about the run; each helps the verdict.
#[derive(Debug, Clone, Default, Args)]
pub struct FactArgs {
    /// A memory limit nearer than the machine's own: 28GiB, 28GB, or 90% of it; `run`, `watch`, `record` and
    /// `guard` stop the run there
    #[arg(
        long,
        value_name = "SIZE|%",
        allow_hyphen_values = true,
        env = "LEVELOFF_LIMIT"
    )]
    pub limit: Option<Limit>,
    /// Memory must have levelled off by this step; growth after it is a leak
    #[arg(
        long,
        value_name = "STEPS",
        value_parser = parse_steps,
        allow_hyphen_values = true,
        env = "LEVELOFF_LEVEL_BY"
    )]
    pub level_by: Option<u64>,
    /// Steps the run is going to take
    #[arg(long, value_name = "N", value_parser = parse_steps, allow_hyphen_values = true)]
    pub planned_steps: Option<u64>,
    /// Steps in an epoch; growth within the first may be a cache that fills
    #[arg(long, value_name = "N", value_parser = parse_steps, allow_hyphen_values = true)]
    pub epoch_steps: Option<u64>,
}

/// `judge`
#[derive(Debug, Default, Args)]
pub struct JudgeArgs {
    /// What to judge: recordings, tables, logs; `-` is stdin
    #[arg(required = true, value_name = "FILE")]
    pub inputs: Vec<PathBuf>,
    /// Output for people, or one JSON object a line for programs
    #[arg(long, value_enum, default_value = "text")]
    pub format: Format,
    /// Also what would have been said at N earlier moments, ever further apart
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub looks: Option<u32>,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub facts: FactArgs,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub columns: ColumnArgs,
    /// What undecided and warming up count as, for the exit code [default: code 3]
    #[arg(long, value_enum, value_name = "AS")]
    pub undecided: Option<UndecidedAs>,
    /// Inputs to judge at the same time [default: as many as there are cores]
    #[arg(short, long, value_name = "N")]
    pub jobs: Option<NonZeroUsize>,
    /// The whole evidence for each input, even if there are many
    #[arg(short, long)]
    pub verbose: bool,
}

/// What the user says of the columns of a table, or of the words of a log.
#[derive(Debug, Clone, Default, Args)]
pub struct ColumnArgs {
    /// The column of a table that counts steps or time [default: guessed]
    #[arg(long, value_name = "COLUMN")]
    pub x: Option<String>,
    /// The column of a table that holds memory [default: guessed]
    #[arg(long, value_name = "COLUMN")]
    pub y: Option<String>,
    /// The unit of memory in the table or log: B, kB, KiB, MB, MiB, GB, GiB
    #[arg(long, value_name = "UNIT")]
    pub y_unit: Option<SizeUnit>,
}

impl ColumnArgs {
    /// As the reader wants to know it.
    pub fn choice(&self) -> ColumnChoice {
        ColumnChoice {
            x: self.x.clone(),
            y: self.y.clone(),
            y_unit: self.y_unit,
        }
    }
}

/// What an open question counts as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum UndecidedAs {
    /// As well: code 0
    Pass,
    /// As a leak: code 1
    Fail,
}

impl FactArgs {
    /// What the user stated.
    pub fn stated(&self) -> StatedFacts {
        StatedFacts {
            level_by: self.level_by.map(Step),
            limit: self.limit,
            planned_steps: self.planned_steps.map(Step),
            epoch_steps: self.epoch_steps.map(Step),
        }
    }

    /// What is stated now, and where nothing is, what was stated when the run was recorded.
    pub fn over(&self, recorded: &StatedFacts) -> StatedFacts {
        let now = self.stated();
        StatedFacts {
            level_by: now.level_by.or(recorded.level_by),
            limit: now.limit.or(recorded.limit),
            planned_steps: now.planned_steps.or(recorded.planned_steps),
            epoch_steps: now.epoch_steps.or(recorded.epoch_steps),
        }
    }
}

pub(crate) fn parse_steps(text: &str) -> Result<u64, String> {
    match text.trim().parse() {
        Ok(steps) if steps > 0 => Ok(steps),
        _ => Err("write a whole number of steps above zero, such as 90".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_stated_now_overrides_what_was_recorded() {
        let recorded = StatedFacts {
            level_by: Some(Step(90)),
            planned_steps: Some(Step(600)),
            ..StatedFacts::default()
        };
        let now = FactArgs {
            level_by: Some(50),
            epoch_steps: Some(10),
            ..FactArgs::default()
        };
        let both = now.over(&recorded);
        assert_eq!(both.level_by, Some(Step(50)));
        assert_eq!(both.planned_steps, Some(Step(600)));
        assert_eq!(both.epoch_steps, Some(Step(10)));
        assert_eq!(both.limit, None);
    }

    #[test]
    fn steps_are_whole_and_above_zero() {
        assert_eq!(parse_steps("90"), Ok(90));
        for wrong in ["", "x", "0", "-1", "1.5", "90steps"] {
            assert!(
                parse_steps(wrong).unwrap_err().contains("such as 90"),
                "{wrong}"
            );
        }
    }
}
