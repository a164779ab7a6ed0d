//! `leveloff guard`: guards a run that is there already. Also makes the guards of the other commands from their arguments.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Result, bail};
use leveloff_model::units::Limit;
use leveloff_sampler::progress::LogFollower;
use leveloff_supervise::guard::bundle::BundleFile;
use leveloff_supervise::guard::gauge::Stated;
use leveloff_supervise::guard::{Forecast, Guard, GuardOptions, Judgement};
use leveloff_supervise::stop_requests::StopRequests;

use crate::cli::{GuardArgs, GuardCommandArgs, ReportFormat};
use crate::judge::live::LiveJudge;
use crate::metrics;
use crate::notice::{notice, say};
use crate::record::{begin, watch};
use crate::report::written;
use crate::run_reader::RunReader;
use crate::run_target::{Asked, RunTarget, several};
use crate::session::{Plan, Session};

/// Guards until the run ends or was stopped, or a signal asks us to leave it alone.
pub fn run(args: &GuardCommandArgs) -> Result<ExitCode> {
    if args.target.system {
        bail!(
            "a guard is for one run, not for every process of the machine; name it with --pid or --match"
        );
    }
    let limit = args.watch.facts.limit;
    let Some(options) = options(limit, &args.guard)? else {
        bail!("nothing to guard against; pass --limit 28GiB, --limit 90% or --stop-before 5m");
    };
    let asked = Asked {
        pid: args.target.pid,
        pattern: args.target.pattern.as_deref(),
        system: false,
    };
    let subject = RunTarget::choose(&asked, |runs| bail!("{}", several(runs)))?;
    if let Some(log) = &args.watch.log {
        LogFollower::open(log)?;
    }
    let guard = Guard::new(options, args.watch.interval, say)?;
    let plan = Plan {
        target: subject.target.clone(),
        command: &subject.command,
        output: args.output.clone(),
        watch: &args.watch,
    };
    let metrics = metrics::open(&plan)?;
    let (recorder, _held) = match &args.output {
        Some(_) => (Some(plan.create_recording()?), None),
        // A bundle holds the recording, also if nobody asked for one.
        None => plan.create_scratch().unzip(),
    };
    notice(&subject.picked);
    let stop = StopRequests::listen()?;
    let stated = args.watch.facts.stated();
    let options = subject.options(&args.watch);
    let published = |plain: Session| plain.publish_to(metrics);
    let (mut session, _) = begin(recorder, options, Some(&stated), Some(guard), published)?;
    let (reason, ended) = watch(&mut session, &stop, None)?;
    let code = session.exit_code();
    session.finish(reason, ended, 0);
    Ok(code)
}

/// The guard that these arguments ask for; `None` without a limit of some kind.
pub fn options(limit: Option<Limit>, args: &GuardArgs) -> Result<Option<GuardOptions>> {
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
    Ok(Some(GuardOptions {
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

/// The reports that go into a bundle beside the recording.
pub fn bundle_reports(recording: &Path) -> Vec<BundleFile> {
    let formats = [
        ("report.html", ReportFormat::Html),
        ("report.md", ReportFormat::Markdown),
        ("report.json", ReportFormat::Json),
    ];
    match RunReader::default().read(recording) {
        Ok(report) => formats
            .map(|(name, format)| (name, written(&report, format)))
            .into(),
        Err(error) => vec![("report", Err(error))],
    }
}

impl Judgement for LiveJudge {
    fn forecast(&self) -> Forecast {
        let risk = self.verdict().and_then(|verdict| verdict.risk);
        match risk.and_then(|risk| Some((risk.in_time?, risk.limit))) {
            Some((left, ceiling)) => Forecast::Met { left, ceiling },
            None => Forecast::Open,
        }
    }

    fn headline(&self) -> Option<String> {
        self.line()
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use leveloff_sampler::signalling::StopSignal;

    use super::*;

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

    #[test]
    fn without_a_limit_there_is_no_guard_and_its_flags_are_of_no_use() {
        assert!(options(None, &args()).unwrap().is_none());
        let useless = GuardArgs {
            on_stop: Some("true".to_owned()),
            ..args()
        };
        let error = options(None, &useless).unwrap_err().to_string();
        assert!(error.starts_with("--on-stop is of no use"), "{error}");
    }

    #[test]
    fn a_warning_comes_before_the_limit() {
        let said = |limit: &str, warn_at: &str| {
            let args = GuardArgs {
                warn_at: Some(warn_at.parse().unwrap()),
                ..args()
            };
            options(Some(limit.parse().unwrap()), &args).map_err(|error| error.to_string())
        };
        assert!(said("90%", "80%").is_ok());
        for too_late in ["100%", "29GiB"] {
            let error = said("28GiB", too_late).unwrap_err();
            assert!(error.contains("not below --limit"), "{error}");
        }
    }
}
