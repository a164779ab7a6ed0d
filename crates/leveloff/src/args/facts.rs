use clap::Args;
use leveloff_model::recording::StatedFacts;
use leveloff_model::units::{Limit, Seconds, Step};

use crate::option_values::{LevelBy, parse_level_by, parse_steps};

/// What the user knows about the run.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct FactArgs {
    /// A memory limit below the machine's own: 28GiB, 28GB, or 90% of it; `run`, `watch`, `record` and `guard`
    /// stop the run there
    #[arg(
        long,
        value_name = "SIZE|%",
        allow_hyphen_values = true,
        env = "LEVELOFF_LIMIT"
    )]
    pub limit: Option<Limit>,
    /// The step by which memory must be level, or the time after the first sample: 90, 2m; growth after it is a leak
    #[arg(
        long,
        value_name = "STEPS|TIME",
        value_parser = parse_level_by,
        allow_hyphen_values = true,
        env = "LEVELOFF_LEVEL_BY"
    )]
    pub level_by: Option<LevelBy>,
    /// How many steps the run will take
    #[arg(long, value_name = "N", value_parser = parse_steps, allow_hyphen_values = true)]
    pub planned_steps: Option<u64>,
    /// How many steps an epoch has; growth within the first epoch may be a cache that fills
    #[arg(long, value_name = "N", value_parser = parse_steps, allow_hyphen_values = true)]
    pub epoch_steps: Option<u64>,
}

impl FactArgs {
    pub(crate) fn stated(&self) -> StatedFacts {
        let (level_by, level_by_time) = match self.level_by {
            Some(LevelBy::Step(step)) => (Some(Step(step)), None),
            Some(LevelBy::Time(time)) => (None, Some(Seconds(time.as_secs_f64()))),
            None => (None, None),
        };
        StatedFacts {
            level_by,
            level_by_time,
            level_by_is_assumed: false,
            limit: self.limit,
            planned_steps: self.planned_steps.map(Step),
            epoch_steps: self.epoch_steps.map(Step),
            earlier: None,
        }
    }
}
