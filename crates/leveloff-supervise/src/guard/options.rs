//! The guard's options, and whether they make sense for a run.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Result, bail};
use leveloff_model::units::Limit;
use leveloff_sampler::sampler::MemoryUsage;
use leveloff_sampler::signalling::StopSignal;

use super::limit_usage::{LimitUsage, LimitUsages, Measure, StatedLimits, nearest};
use super::messages::seconds;

/// The guard's options.
#[derive(Debug, Clone)]
pub struct GuardOptions {
    /// The limits.
    pub stated: StatedLimits,
    /// The time that must be left until the ceiling is met.
    pub stop_before: Option<Duration>,
    /// How long memory may be above the limit after a jump.
    pub dwell: Duration,
    /// How long each stage of a stop may take.
    pub grace: Duration,
    /// The signal that the training saves and stops on.
    pub signal: StopSignal,
    /// The command to run when the limit is near.
    pub on_warn: Option<String>,
    /// The command to run when the run is stopped.
    pub on_stop: Option<String>,
    /// The directory for a bundle.
    pub bundle: Option<PathBuf>,
}

impl GuardOptions {
    /// Whether the limits can be enforced for this run, and are not reached yet.
    pub fn check(&self, memory: &MemoryUsage, is_contained: bool) -> Result<()> {
        if let Some(limit) = self.stated.limit {
            check_limit(limit, memory, is_contained)?;
        }
        let usages = LimitUsages::of(&self.stated, memory, is_contained);
        if let Some(limit) = usages.limit.filter(LimitUsage::is_over) {
            bail!(
                "the limit of {} is already reached: {} is {} now; state a higher one, or end the run \
                 by hand with kill -TERM",
                limit.limit,
                limit.measure,
                limit.used
            );
        }
        Ok(())
    }

    /// What the guard is going to do, for the user.
    pub fn describe(&self, memory: &MemoryUsage, is_contained: bool) -> String {
        let limit = LimitUsages::of(&self.stated, memory, is_contained).limit;
        let conditions = [
            limit.map(|limit| self.describe_limit(&limit)),
            self.stop_before.map(|before| {
                let met = match (limit, nearest(memory, is_contained)) {
                    (Some(_), _) => "that is met".to_owned(),
                    (None, Some(ceiling)) => format!("it meets its ceiling of {}", ceiling.limit),
                    (None, None) => "it meets a ceiling".to_owned(),
                };
                format!("{} before {met} at the judged rate", seconds(before))
            }),
            self.stated.gpu.map(|limit| describe_gpu(limit, memory)),
        ];
        let conditions: Vec<String> = conditions.into_iter().flatten().collect();
        format!("guard: stops the run {}", conditions.join(", or "))
    }

    fn describe_limit(&self, limit: &LimitUsage) -> String {
        let measure = match limit.measure {
            Measure::Tree => String::new(),
            measure => format!(" of {measure}"),
        };
        let share = match self.stated.limit {
            Some(Limit::Share(share)) => format!(" ({:.0} %)", share * 100.0),
            _ => String::new(),
        };
        format!("at {}{share}{measure}, now {}", limit.limit, limit.used)
    }
}

fn describe_gpu(limit: Limit, memory: &MemoryUsage) -> String {
    let limit = match limit {
        Limit::Size(size) => format!("at {size} of GPU memory"),
        Limit::Share(share) => format!("when a GPU is {:.0} % full", share * 100.0),
    };
    match memory.gpu.is_some() || !memory.cards.is_empty() {
        true => limit,
        false => format!("{limit} (no GPU memory can be read here now, so not yet)"),
    }
}

/// Refuses a limit that the kernel enforces first.
fn check_limit(limit: Limit, memory: &MemoryUsage, is_contained: bool) -> Result<()> {
    let cgroup = memory.ceilings.cgroup;
    let host = memory.ceilings.host;
    let enforced = [
        cgroup.map(|it| (it.limit, "its control group's limit")),
        host.map(|it| (it.limit, "this machine's memory and swap")),
    ];
    let smallest = enforced.into_iter().flatten().min_by_key(|it| it.0);
    match limit {
        Limit::Size(size) => {
            if let Some((amount, what)) = smallest.filter(|(amount, _)| size >= *amount) {
                bail!(
                    "the limit of {size} is not below {what}, {amount}: the kernel would kill the run first; \
                     state less, or 90%"
                );
            }
        }
        Limit::Share(_) if nearest(memory, is_contained).is_none() => bail!(
            "a limit in percent needs a ceiling, and none is known here; state the limit as a size, such as 28GiB"
        ),
        Limit::Share(_) => {}
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use leveloff_model::sample::{Ceiling, CeilingKind};
    use leveloff_model::units::Bytes;
    use leveloff_sampler::system::Ceilings;

    use super::*;

    const GIB: u64 = 1 << 30;

    fn memory(tree: u64) -> MemoryUsage {
        let host = Ceiling {
            kind: CeilingKind::Host,
            limit: Bytes(32 * GIB),
            used: Bytes(14 * GIB),
        };
        MemoryUsage {
            tree: Bytes(tree * GIB),
            ceilings: Ceilings {
                host: Some(host),
                ..Ceilings::default()
            },
            ..MemoryUsage::default()
        }
    }

    fn options(limit: &str) -> GuardOptions {
        GuardOptions {
            stated: StatedLimits {
                limit: Some(limit.parse().unwrap()),
                ..StatedLimits::default()
            },
            stop_before: None,
            grace: Duration::from_secs(120),
            dwell: Duration::from_secs(3),
            signal: StopSignal::TERM,
            on_warn: None,
            on_stop: None,
            bundle: None,
        }
    }

    /// The result of the check of this limit, for a run that holds 10 GiB.
    fn check(limit: &str) -> String {
        let checked = options(limit).check(&memory(10), false);
        checked.map_or_else(|error| error.to_string(), |()| "fine".to_owned())
    }

    #[test]
    fn a_limit_that_cannot_be_enforced_is_refused() {
        assert_eq!(check("28GiB"), "fine");
        assert_eq!(check("90%"), "fine");
        assert!(check("64GiB").contains("the kernel would kill the run first"));
        assert!(check("32GiB").contains("this machine's memory"));
        assert!(check("2GiB").contains("already reached"));
        assert!(check("40%").contains("already reached"));
    }

    #[test]
    fn the_description_names_the_limit() {
        let text = options("90%").describe(&memory(10), false);
        assert!(
            text.contains("at 28.8 GiB (90 %) of memory of this machine"),
            "{text}"
        );
    }
}
