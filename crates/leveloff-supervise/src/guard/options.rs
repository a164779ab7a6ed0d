//! What a guard was asked for, and whether that can be.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Result, bail};
use leveloff_model::units::{Bytes, Limit};
use leveloff_sampler::sampler::MemoryUsage;
use leveloff_sampler::signalling::StopSignal;

use super::gauge::{self, Gauges, Measure, Stated};

/// What a guard was asked for.
#[derive(Debug, Clone)]
pub struct GuardOptions {
    /// The limits.
    pub stated: Stated,
    /// How much time there must be left.
    pub stop_before: Option<Duration>,
    /// How long memory may be above the limit after a jump.
    pub dwell: Duration,
    /// How long each stage may take.
    pub grace: Duration,
    /// What trainings stop on.
    pub signal: StopSignal,
    /// What to run when the limit is near.
    pub on_warn: Option<String>,
    /// What to run when the run is stopped.
    pub on_stop: Option<String>,
    /// Where to collect what is known afterwards.
    pub bundle: Option<PathBuf>,
}

impl GuardOptions {
    /// Whether the limits can be kept where the run is, and are not passed already.
    pub fn check(&self, standing: &MemoryUsage, is_contained: bool) -> Result<()> {
        if let Some(limit) = self.stated.limit {
            check_limit(limit, standing, is_contained)?;
        }
        let gauges = Gauges::of(&self.stated, standing, is_contained);
        if let Some(limit) = gauges.limit.filter(super::gauge::Gauge::is_over) {
            let now = limit.used;
            bail!(
                "the limit of {} is already reached: {} is {now} now; state a higher one, or end the run \
                 by hand with kill -TERM",
                limit.limit,
                limit.measure
            );
        }
        Ok(())
    }

    /// The limits in words.
    pub fn words(&self, standing: &MemoryUsage, is_contained: bool) -> String {
        let gauges = Gauges::of(&self.stated, standing, is_contained);
        let mut parts = Vec::new();
        if let Some(limit) = gauges.limit {
            let of = match limit.measure {
                Measure::Tree => String::new(),
                measure => format!(" of {measure}"),
            };
            let share = match self.stated.limit {
                Some(Limit::Share(share)) => format!(" ({:.0} %)", share * 100.0),
                _ => String::new(),
            };
            parts.push(format!("at {}{share}{of}, now {}", limit.limit, limit.used));
        }
        if let Some(before) = self.stop_before {
            let ceiling = gauge::nearest(standing, is_contained).map(|gauge| gauge.limit);
            let met = match (gauges.limit, ceiling) {
                (Some(_), _) => "that is met".to_owned(),
                (None, Some(ceiling)) => format!("it meets its ceiling of {ceiling}"),
                (None, None) => "it meets a ceiling".to_owned(),
            };
            let before = leveloff_model::units::Seconds(before.as_secs_f64());
            parts.push(format!("{before} before {met} at the judged rate"));
        }
        if let Some(limit) = self.stated.gpu {
            let limit = match limit {
                Limit::Size(size) => format!("at {size} of GPU memory"),
                Limit::Share(share) => format!("when a GPU is {:.0} % full", share * 100.0),
            };
            let known = standing.gpu.is_some() || !standing.cards.is_empty();
            let doubt = if known {
                ""
            } else {
                " (no GPU memory can be read here now, so not yet)"
            };
            parts.push(format!("{limit}{doubt}"));
        }
        format!("guard: stops the run {}", parts.join(", or "))
    }
}

/// A limit that the kernel enforces first guards nothing.
fn check_limit(limit: Limit, standing: &MemoryUsage, is_contained: bool) -> Result<()> {
    let smallest = [
        standing
            .ceilings
            .cgroup
            .map(|it| (it.limit, "its control group's limit")),
        standing
            .ceilings
            .host
            .map(|it| (it.limit, "this machine's memory and swap")),
    ];
    let smallest = smallest
        .into_iter()
        .flatten()
        .min_by_key(|(amount, _)| *amount);
    match limit {
        Limit::Size(Bytes(0)) => {
            bail!("a limit of nothing stops every run; write one such as 28GiB or 90%")
        }
        Limit::Size(size) => {
            if let Some((amount, what)) = smallest.filter(|(amount, _)| size >= *amount) {
                bail!(
                    "the limit of {size} is not below {what}, {amount}: the kernel would kill the run first; \
                     state less, or 90%"
                );
            }
        }
        Limit::Share(_) if gauge::nearest(standing, is_contained).is_none() => bail!(
            "a share needs a ceiling, and none is known here; state the limit as a size, such as 28GiB"
        ),
        Limit::Share(_) => {}
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use leveloff_model::sample::{Ceiling, CeilingKind};
    use leveloff_sampler::system::Ceilings;

    use super::*;

    const GIB: u64 = 1 << 30;

    fn standing(tree: u64) -> MemoryUsage {
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
            stated: Stated {
                limit: Some(limit.parse().unwrap()),
                ..Stated::default()
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

    /// What is said about this limit of a run that holds 10 GiB.
    fn said(limit: &str) -> String {
        let checked = options(limit).check(&standing(10), false);
        checked.map_or_else(|error| error.to_string(), |()| "fine".to_owned())
    }

    #[test]
    fn a_limit_that_cannot_be_kept_is_said_before_anything_happens() {
        assert_eq!(said("28GiB"), "fine");
        assert_eq!(said("90%"), "fine");
        assert!(said("64GiB").contains("the kernel would kill the run first"));
        assert!(said("32GiB").contains("this machine's memory"));
        assert!(said("2GiB").contains("already reached"));
        assert!(said("40%").contains("already reached"));
        assert!(said("0B").contains("a limit of nothing"));
    }

    #[test]
    fn it_says_what_it_guards() {
        let words = options("90%").words(&standing(10), false);
        assert!(
            words.contains("at 28.8 GiB (90 %) of memory of this machine"),
            "{words}"
        );
    }
}
