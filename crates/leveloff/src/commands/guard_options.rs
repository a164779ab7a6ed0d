//! The guard that the options `--limit`, `--stop-before` and the like ask for, for every command that has them.

use anyhow::{Result, bail};
use leveloff_model::units::Limit;
use leveloff_supervise::guard::{GuardOptions, StatedLimits};

use crate::args::GuardArgs;

/// The options of a guard; `None` without any limit. A limit is acted on only if the command line asks for that: one in a
/// file or in the environment is a fact.
pub(crate) fn guard_options(
    stated: Option<Limit>,
    args: &GuardArgs,
) -> Result<Option<GuardOptions>> {
    let limit = stated.filter(|_| args.guard);
    if args.guard && stated.is_none() {
        bail!(
            "--guard stops the run at a limit, and there is none; pass --stop-at 28GiB or --stop-at 90%"
        );
    }
    if limit.is_none() && args.stop_before.is_none() && args.gpu_limit.is_none() {
        let useless = [
            ("--warn-at", args.warn_at.is_some()),
            ("--on-warn", args.on_warn.is_some()),
            ("--on-stop", args.on_stop.is_some()),
            ("--bundle", args.bundle.is_some()),
        ];
        if let Some((flag, _)) = useless.iter().find(|(_, given)| *given) {
            if stated.is_some() {
                bail!(
                    "{flag} is of no use without a guard; pass --guard to stop the run at the stated limit"
                );
            }
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
    Ok(Some(GuardOptions {
        stated: StatedLimits {
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use leveloff_sampler::signalling::StopSignal;

    use super::*;

    fn args() -> GuardArgs {
        GuardArgs {
            guard: false,
            stop_at: None,
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

    #[test]
    fn without_a_limit_there_is_no_guard_and_its_flags_are_of_no_use() {
        assert!(guard_options(None, &args()).unwrap().is_none());
        let useless = GuardArgs {
            on_stop: Some("true".to_owned()),
            ..args()
        };
        let error = guard_options(None, &useless).unwrap_err().to_string();
        assert!(error.starts_with("--on-stop is of no use"), "{error}");
    }

    #[test]
    fn a_limit_that_is_only_a_fact_stops_nothing() {
        let limit: Option<Limit> = Some("28GiB".parse().unwrap());
        assert!(guard_options(limit, &args()).unwrap().is_none());
        let guarded = GuardArgs {
            guard: true,
            ..args()
        };
        let options = guard_options(limit, &guarded).unwrap();
        assert_eq!(options.unwrap().stated.limit, limit);
        let error = guard_options(None, &guarded).unwrap_err().to_string();
        assert!(error.contains("--stop-at"), "{error}");
    }

    #[test]
    fn a_warning_comes_before_the_limit() {
        let refused = |limit: &str, warn_at: &str| {
            let args = GuardArgs {
                guard: true,
                warn_at: Some(warn_at.parse().unwrap()),
                ..args()
            };
            guard_options(Some(limit.parse().unwrap()), &args).map_err(|error| error.to_string())
        };
        assert!(refused("90%", "80%").is_ok());
        for too_late in ["100%", "29GiB"] {
            let error = refused("28GiB", too_late).unwrap_err();
            assert!(error.contains("not below --limit"), "{error}");
        }
    }
}
