use clap::Args;

use crate::option_values::parse_pid;
use crate::run_target::TargetChoice;

/// Which run; without any of these, the one that is found.
#[derive(Debug, Args)]
pub(crate) struct TargetArgs {
    /// The run that this process belongs to
    #[arg(long, conflicts_with_all = ["pattern", "system"], value_parser = parse_pid, allow_hyphen_values = true)]
    pub pid: Option<i32>,
    /// The run whose command line matches this regular expression
    #[arg(long = "match", value_name = "REGEX", conflicts_with = "system")]
    pub pattern: Option<String>,
    /// Every process of the machine instead of one run
    #[arg(long)]
    pub system: bool,
}

impl TargetArgs {
    pub(crate) fn choice(&self) -> TargetChoice {
        match (self.pid, &self.pattern) {
            _ if self.system => TargetChoice::System,
            (Some(pid), _) => TargetChoice::Pid(pid),
            (None, Some(pattern)) => TargetChoice::Matching(pattern.clone()),
            (None, None) => TargetChoice::Any,
        }
    }
}
