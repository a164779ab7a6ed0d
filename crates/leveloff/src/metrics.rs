//! The metrics of a watched run: where they are published, and under which name.

use std::net::SocketAddr;
use std::path::PathBuf;

use anyhow::Result;
use leveloff_model::process::{Pid, Rank, printable};
use leveloff_model::recording::Target;
use leveloff_prometheus::metrics::{Identity, Metrics, MetricsOptions};
use leveloff_sampler::facts::Environment;
use leveloff_sampler::facts::environment;
use leveloff_sampler::proc_root::ProcRoot;

use crate::notice::notice;
use crate::recorder::short_name;

/// The longest job name, in characters. Schedulers allow more, but a legend has no room for it.
const LONGEST: usize = 100;

/// Where the metrics of a run are published, and under which name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct MetricsChoice {
    pub address: Option<SocketAddr>,
    pub file: Option<PathBuf>,
    pub job: Option<String>,
    pub rank: Option<u32>,
}

impl MetricsChoice {
    pub(crate) fn is_any(&self) -> bool {
        self.address.is_some() || self.file.is_some()
    }
}

/// Opens what the user chose; `None` if that is nothing.
pub(crate) fn open(
    choice: &MetricsChoice,
    target: &Target,
    command: &[String],
) -> Result<Option<Metrics>> {
    if !choice.is_any() {
        return Ok(None);
    }
    let options = MetricsOptions {
        address: choice.address,
        file: choice.file.clone(),
    };
    let identity = identity(choice, target, command);
    Ok(Some(Metrics::open(&options, identity, notice)?))
}

/// By what the user stated, the environment of the run's first process, our own environment, the command. All
/// processes of a machine have no job.
fn identity(choice: &MetricsChoice, target: &Target, command: &[String]) -> Identity {
    let own = Pid(rustix::process::getpid().as_raw_pid());
    let pids = match *target {
        Target::System => vec![],
        Target::Command(_) => vec![own],
        Target::Attached(root) => vec![root, own],
    };
    let environments: Vec<Environment> = pids.into_iter().filter_map(environment_of).collect();
    let title = environments.iter().find_map(Environment::job_title);
    Identity {
        job: name(choice.job.as_deref(), title, command),
        stated_rank: choice.rank.map(Rank),
        environment_rank: environments
            .iter()
            .find_map(|environment| environment.any_rank().or(environment.pod_index)),
    }
}

/// Readable for the run's owner and for root only.
fn environment_of(pid: Pid) -> Option<Environment> {
    let path = ProcRoot::live().process(pid).join("environ");
    environment::parse(&std::fs::read(path).ok()?)
}

fn name(stated: Option<&str>, title: Option<&str>, command: &[String]) -> String {
    let known = stated
        .or(title)
        .map(bounded)
        .filter(|name| !name.is_empty());
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
    fn a_name_is_stated_or_in_the_environment_or_the_commands() {
        let command = ["/usr/bin/python3", "/data/train.py"].map(str::to_owned);
        assert_eq!(name(Some("mine"), Some("slurm"), &command), "mine");
        assert_eq!(name(None, Some("slurm"), &command), "slurm");
        assert_eq!(name(Some(" "), None, &command), "train");
    }

    #[test]
    fn a_hostile_name_is_escaped_and_cut() {
        let title = "a\"} 1\n\u{202e}".to_owned() + &"x".repeat(1_000_000);
        let name = name(None, Some(&title), &[]);
        assert!(name.starts_with("a\"} 1\\n\\u{202e}xx"), "{name}");
        assert_eq!(name.chars().count(), LONGEST);
    }
}
