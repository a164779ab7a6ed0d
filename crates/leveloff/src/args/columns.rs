use clap::Args;
use leveloff_progress::StepRegex;
use leveloff_readers::{ColumnChoice, SizeUnit};

use crate::option_values::parse_step_regex;

/// Which columns of a table to read, or which amounts of a log.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct ColumnArgs {
    /// The column of a table that counts steps or time [default: guessed]
    #[arg(long, value_name = "COLUMN")]
    x: Option<String>,
    /// The column of a table that holds memory [default: guessed]
    #[arg(long, value_name = "COLUMN")]
    y: Option<String>,
    /// The unit of memory in the table or log: B, kB, KiB, MB, MiB, GB, GiB, TB, TiB
    #[arg(long, value_name = "UNIT")]
    y_unit: Option<SizeUnit>,
    /// A regular expression for the lines of a log that hold the step: `it (?P<step>\d+)`. Its groups are step, total,
    /// epoch, samples and tokens
    #[arg(long, value_name = "REGEX", value_parser = parse_step_regex)]
    step_regex: Option<StepRegex>,
}

impl ColumnArgs {
    pub(crate) fn choice(&self) -> ColumnChoice {
        ColumnChoice {
            x: self.x.clone(),
            y: self.y.clone(),
            y_unit: self.y_unit,
            step_regex: self.step_regex.clone(),
        }
    }

    pub(crate) fn step_regex(&self) -> Option<&StepRegex> {
        self.step_regex.as_ref()
    }
}
