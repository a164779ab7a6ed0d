use clap::Args;
use leveloff_model::recording::StatedFacts;
use leveloff_model::units::{Limit, Step};

use crate::option_values::parse_steps;

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
    /// The step by which memory must be level; growth after it is a leak
    #[arg(
        long,
        value_name = "STEPS",
        value_parser = parse_steps,
        allow_hyphen_values = true,
        env = "LEVELOFF_LEVEL_BY"
    )]
    pub level_by: Option<u64>,
    /// How many steps the run will take
    #[arg(long, value_name = "N", value_parser = parse_steps, allow_hyphen_values = true)]
    pub planned_steps: Option<u64>,
    /// How many steps an epoch has; growth within the first epoch may be a cache that fills
    #[arg(long, value_name = "N", value_parser = parse_steps, allow_hyphen_values = true)]
    pub epoch_steps: Option<u64>,
}

impl FactArgs {
    pub(crate) fn stated(&self) -> StatedFacts {
        StatedFacts {
            level_by: self.level_by.map(Step),
            limit: self.limit,
            planned_steps: self.planned_steps.map(Step),
            epoch_steps: self.epoch_steps.map(Step),
        }
    }
}
