//! `leveloff check`: passes or fails, for CI.

mod baseline;
mod checked_command;
mod outputs;
mod self_test;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use leveloff_classifier::compare::compare;
use leveloff_classifier::gate::{CheckOutcome, GateResult};
use leveloff_classifier::profile::{RunProfile, Side};
use leveloff_model::units::Step;
use leveloff_report::check::report::{BaselineCheck, CheckReport, CheckedRun, GatedRun, Runs};

use crate::args::CheckArgs;
use crate::exit_code::Exit;
use crate::notice::notice;
use crate::outputs::{Existing, check as check_output};
use crate::run_reader::RunReader;
use baseline::Baseline;

/// The team that this tool grew from levelled off at step 88, and most warmups are over by then.
const LEVEL_BY: Step = Step(90);

/// Where a baseline is, unless said otherwise.
const BASELINE: &str = "leveloff-baseline.json";

pub(crate) fn run(args: &CheckArgs) -> Result<Exit> {
    if args.self_test {
        return self_test::run();
    }
    if args.files.is_empty() && args.command.is_empty() {
        bail!(
            "name what to check: recordings (leveloff check run.jsonl), or a command after -- \
             (leveloff check -- python train.py)"
        );
    }
    outputs::check(args)?;
    // A baseline that cannot be used is refused before an hour of training.
    let known = known_baseline(args)?;
    let runs = match args.command.is_empty() {
        true => args.files.iter().cloned().map(Recorded::fine).collect(),
        false => checked_command::run_all(args)?,
    };
    let mut report = check(args, &runs);
    report.baseline = against(args, known, &report);
    outputs::write(args, &report)?;
    if args.update_baseline {
        update(args, &report)?;
    }
    Ok(report.outcome().into())
}

/// What there is to check: a file, and why its command makes it worth nothing, if that is so.
struct Recorded {
    recording: PathBuf,
    failure: Option<String>,
}

impl Recorded {
    fn fine(recording: PathBuf) -> Recorded {
        Recorded {
            recording,
            failure: None,
        }
    }
}

/// Holds every file against the gates.
fn check(args: &CheckArgs, runs: &[Recorded]) -> CheckReport {
    let runs = runs.iter().map(|run| CheckedRun {
        input: run.recording.to_string_lossy().into_owned(),
        result: match &run.failure {
            None => hold(args, &run.recording).map_err(|error| format!("{error:#}")),
            Some(failure) => Err(failure.clone()),
        },
    });
    CheckReport {
        name: args.name.clone(),
        runs_are: match args.command.is_empty() {
            true => Runs::Different,
            false => Runs::Repeats,
        },
        runs: runs.collect(),
        baseline: None,
        open_counts_as: args.undecided.unwrap_or(CheckOutcome::Open),
    }
}

fn hold(args: &CheckArgs, file: &Path) -> Result<GatedRun> {
    let reader = RunReader {
        columns: args.columns.choice(),
        stated: args.facts.stated(),
        usual_level_by: Some(LEVEL_BY),
        ignores_history: !args.history,
        ..RunReader::default()
    };
    let report = reader.read(file)?;
    let gates = args
        .gates(&report.stated)
        .hold(&report.verdict, &report.curves);
    Ok(GatedRun { report, gates })
}

fn baseline_path(args: &CheckArgs) -> &Path {
    args.baseline.as_deref().unwrap_or(Path::new(BASELINE))
}

/// What is known from before: read first, so that a file that is no baseline is never replaced.
fn known_baseline(args: &CheckArgs) -> Result<Option<Side>> {
    let path = baseline_path(args);
    if args.update_baseline {
        check_output(path, Existing::Replace)?;
        let baseline = Baseline::read_or_new(path)?;
        return Ok(baseline.side(&args.name).ok());
    }
    let Some(path) = &args.baseline else {
        return Ok(None);
    };
    let side = Baseline::read(path)?.side(&args.name);
    let side = side.with_context(|| format!("the baseline {}", path.display()))?;
    Ok(Some(side))
}

fn side_of(report: &CheckReport) -> Option<Side> {
    let profiles: Vec<RunProfile> = report
        .held()
        .map(|held| RunProfile::of(&held.report.verdict, &held.report.curves))
        .collect();
    Side::of(&profiles)
}

fn against(args: &CheckArgs, known: Option<Side>, report: &CheckReport) -> Option<BaselineCheck> {
    let comparison = compare(&known?, &side_of(report)?);
    let mut result = GateResult::of_comparison(&comparison);
    if args.update_baseline {
        // What is about to become the baseline is not held against the old one.
        result.outcome = CheckOutcome::Passed;
    }
    Some(BaselineCheck {
        path: baseline_path(args).display().to_string(),
        comparison,
        result,
        is_replaced: args.update_baseline,
    })
}

fn update(args: &CheckArgs, report: &CheckReport) -> Result<()> {
    let path = baseline_path(args);
    let (shown, name) = (path.display(), &args.name);
    let outcome = report.outcome();
    let Some(side) = side_of(report).filter(|_| outcome != CheckOutcome::Broken) else {
        notice(&format!(
            "{shown} is not updated: not every run could be read"
        ));
        return Ok(());
    };
    if outcome != CheckOutcome::Passed && !args.force {
        let outcome = outcome.name();
        notice(&format!(
            "{shown} is not updated: the check is {outcome}; --force updates it all the same"
        ));
        return Ok(());
    }
    // Read again: another process may have added an entry while the command ran.
    let mut baseline = Baseline::read_or_new(path)?;
    baseline.set(name, &side);
    baseline.write(path)?;
    notice(&format!("wrote '{name}' into {shown}; commit it"));
    Ok(())
}
