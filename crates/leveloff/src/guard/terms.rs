//! What a guard was asked for, and whether that can be.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Result, bail};
use leveloff_model::units::{Bytes, Limit};
use leveloff_sampler::sampler::Standing;
use leveloff_sampler::signalling::StopSignal;

use super::gauge::{self, Gauges, Measure, Stated};
use crate::cli::GuardArgs;

/// What a guard was asked for.
#[derive(Debug, Clone)]
pub struct Terms {
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

impl Terms {
    /// What these arguments ask for; nothing without a limit of some kind.
    pub fn of(limit: Option<Limit>, args: &GuardArgs) -> Result<Option<Terms>> {
        if limit.is_none() && args.stop_before.is_none() && args.gpu_limit.is_none() {
            let useless = [
                ("--warn-at", args.warn_at.is_some()),
                ("--on-warn", args.on_warn.is_some()),
                ("--on-stop", args.on_stop.is_some()),
                ("--bundle", args.bundle.is_some()),
            ];
            if let Some((flag, _)) = useless.iter().find(|(_, given)| *given) {
                bail!(
                    "{flag} is of no use without a limit; pass --limit 28GiB, --limit 90% or --stop-before 5m"
                );
            }
            return Ok(None);
        }
        if let (Some(limit), Some(warn_at)) = (limit, args.warn_at) {
            check_warning(limit, warn_at)?;
        }
        if limit.is_none() && args.warn_at.is_some() {
            bail!(
                "--warn-at warns before a --limit, and there is none; pass --limit 28GiB or --limit 90%"
            );
        }
        Ok(Some(Terms {
            stated: Stated {
                limit,
                warn_at: args.warn_at,
                gpu: args.gpu_limit,
            },
            stop_before: args.stop_before,
            dwell: args.dwell,
            grace: args.grace,
            signal: args.signal,
            on_warn: args.on_warn.clone(),
            on_stop: args.on_stop.clone(),
            bundle: args.bundle.clone(),
        }))
    }

    /// Whether the limits can be kept where the run is, and are not passed already.
    pub fn check(&self, standing: &Standing, is_contained: bool) -> Result<()> {
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
    pub fn words(&self, standing: &Standing, is_contained: bool) -> String {
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

fn check_warning(limit: Limit, warn_at: Limit) -> Result<()> {
    let too_late = match (limit, warn_at) {
        (Limit::Size(limit), Limit::Size(warn_at)) => warn_at >= limit,
        (Limit::Size(_), Limit::Share(warn_at)) => warn_at >= 1.0,
        (Limit::Share(limit), Limit::Share(warn_at)) => warn_at >= limit,
        (Limit::Share(_), Limit::Size(_)) => false,
    };
    if too_late {
        bail!(
            "--warn-at is not below --limit, so there would be no warning; state less, such as --warn-at 80%"
        );
    }
    Ok(())
}

/// A limit that the kernel enforces first guards nothing.
fn check_limit(limit: Limit, standing: &Standing, is_contained: bool) -> Result<()> {
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
    use leveloff_sampler::surroundings::Ceilings;

    use super::*;

    const GIB: u64 = 1 << 30;

    fn standing(tree: u64) -> Standing {
        let host = Ceiling {
            kind: CeilingKind::Host,
            limit: Bytes(32 * GIB),
            used: Bytes(14 * GIB),
        };
        Standing {
            tree: Bytes(tree * GIB),
            ceilings: Ceilings {
                host: Some(host),
                ..Ceilings::default()
            },
            ..Standing::default()
        }
    }

    fn args() -> GuardArgs {
        GuardArgs {
            stop_before: None,
            warn_at: None,
            gpu_limit: None,
            grace: Duration::from_secs(120),
            dwell: Duration::from_secs(3),
            signal: StopSignal::TERM,
            on_warn: None,
            on_stop: None,
            bundle: None,
        }
    }

    /// What is said about this limit of a run that holds 10 GiB.
    fn said(limit: &str, warn_at: Option<&str>) -> String {
        let args = GuardArgs {
            warn_at: warn_at.map(|text| text.parse().unwrap()),
            ..args()
        };
        let terms = Terms::of(Some(limit.parse().unwrap()), &args);
        let checked = terms.and_then(|terms| terms.unwrap().check(&standing(10), false));
        checked.map_or_else(|error| error.to_string(), |()| "fine".to_owned())
    }

    #[test]
    fn a_limit_that_cannot_be_kept_is_said_before_anything_happens() {
        assert_eq!(said("28GiB", None), "fine");
        assert_eq!(said("90%", Some("80%")), "fine");
        assert!(said("64GiB", None).contains("the kernel would kill the run first"));
        assert!(said("32GiB", None).contains("this machine's memory"));
        assert!(said("2GiB", None).contains("already reached"));
        assert!(said("40%", None).contains("already reached"));
        assert!(said("0B", None).contains("a limit of nothing"));
        assert!(said("28GiB", Some("100%")).contains("not below --limit"));
        assert!(said("28GiB", Some("29GiB")).contains("not below --limit"));
    }

    #[test]
    fn without_a_limit_there_is_no_guard_and_its_flags_are_of_no_use() {
        assert!(Terms::of(None, &args()).unwrap().is_none());
        let useless = GuardArgs {
            on_stop: Some("true".to_owned()),
            ..args()
        };
        let error = Terms::of(None, &useless).unwrap_err().to_string();
        assert!(error.starts_with("--on-stop is of no use"), "{error}");
    }

    #[test]
    fn it_says_what_it_guards() {
        let terms = Terms::of(Some("90%".parse().unwrap()), &args())
            .unwrap()
            .unwrap();
        let words = terms.words(&standing(10), false);
        assert!(
            words.contains("at 28.8 GiB (90 %) of memory of this machine"),
            "{words}"
        );
    }
}
