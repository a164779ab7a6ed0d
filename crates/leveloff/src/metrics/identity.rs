//! Whose numbers they are: the job's name and the rank that every series carries.

use std::collections::BTreeSet;

use leveloff_model::process::{Pid, Rank, printable};
use leveloff_model::recording::Target;
use leveloff_sampler::facts::Environment;
use leveloff_sampler::facts::environment;
use leveloff_sampler::proc_root::ProcRoot;

use crate::recorder::short_name;
use crate::session::Plan;

/// What a run is called, once for as long as it is watched: a label that changes is another series.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Identity {
    /// What its job is called.
    pub job: String,
    /// Its rank, if the user said.
    pub stated_rank: Option<Rank>,
    /// Its rank as an environment tells, for a run of whose processes none has one.
    pub told_rank: Option<Rank>,
}

/// The longest name, in characters. Schedulers allow more, and nobody reads it in a legend.
const LONGEST: usize = 100;

impl Identity {
    /// By what the user said, by the environment of the run's first process, by our own, by its command.
    /// All processes of a machine are nobody's job.
    pub fn of(plan: &Plan<'_>) -> Identity {
        let own = Pid(rustix::process::getpid().as_raw_pid());
        let whose = match plan.target {
            Target::System => vec![],
            Target::Command(_) => vec![own],
            Target::Attached(root) => vec![root, own],
        };
        let environments: Vec<Environment> = whose.into_iter().filter_map(environment_of).collect();
        let asked = &plan.watch.metrics;
        let told = environments.iter().find_map(Environment::job_title);
        Identity {
            job: name(asked.job.as_deref(), told, plan.command),
            stated_rank: asked.rank.map(Rank),
            told_rank: environments
                .iter()
                .find_map(|environment| environment.any_rank().or(environment.pod_index)),
        }
    }

    /// The run's rank, if it is one rank, when these are in its tree.
    pub fn rank_among(&self, ranks: &BTreeSet<Rank>) -> Option<Rank> {
        let found = match ranks.len() {
            0 => self.told_rank,
            1 => ranks.first().copied(),
            _ => None,
        };
        self.stated_rank.or(found)
    }
}

/// Readable for the run's owner and for root; for others it says nothing.
fn environment_of(pid: Pid) -> Option<Environment> {
    let path = ProcRoot::live().process(pid).join("environ");
    environment::parse(&std::fs::read(path).ok()?)
}

fn name(stated: Option<&str>, told: Option<&str>, command: &[String]) -> String {
    let known = stated.or(told).map(bounded).filter(|name| !name.is_empty());
    known.unwrap_or_else(|| short_name(command))
}

fn bounded(text: &str) -> String {
    let text = printable(text.trim().as_bytes());
    text.chars().take(LONGEST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_what_was_said_then_what_was_told_then_the_commands() {
        let command = ["/usr/bin/python3", "/data/train.py"].map(str::to_owned);
        assert_eq!(name(Some("mine"), Some("slurm"), &command), "mine");
        assert_eq!(name(None, Some("slurm"), &command), "slurm");
        assert_eq!(name(Some(" "), None, &command), "train");
    }

    #[test]
    fn a_hostile_name_is_escaped_and_cut() {
        let told = "a\"} 1\n\u{202e}".to_owned() + &"x".repeat(1_000_000);
        let name = name(None, Some(&told), &[]);
        assert!(name.starts_with("a\"} 1\\n\\u{202e}xx"), "{name}");
        assert_eq!(name.chars().count(), LONGEST);
    }

    #[test]
    fn a_run_of_several_ranks_has_none_unless_it_is_said() {
        let ranks = |all: &[u32]| all.iter().copied().map(Rank).collect::<BTreeSet<Rank>>();
        let mut identity = Identity {
            told_rank: Some(Rank(7)),
            ..Identity::default()
        };
        assert_eq!(identity.rank_among(&ranks(&[])), Some(Rank(7)));
        assert_eq!(identity.rank_among(&ranks(&[2])), Some(Rank(2)));
        assert_eq!(identity.rank_among(&ranks(&[2, 3])), None);
        identity.stated_rank = Some(Rank(9));
        assert_eq!(identity.rank_among(&ranks(&[2, 3])), Some(Rank(9)));
    }
}
