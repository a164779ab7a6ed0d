//! `leveloff try`: runs a job again with one thing changed at a time, and says which change stops its growth.
//!
//! [`arms`] are the changes, [`directory`] keeps recordings, [`run_process`] runs the job once, [`schedule`] decides what is
//! run next and when it is enough.

mod arms;
mod directory;
mod job_facts;
mod plan;
mod run_process;
mod schedule;

use anyhow::Result;
use leveloff_classifier::finding::Finding;
use leveloff_classifier::trial::TrialOutcome;
use leveloff_model::process::printable;
use leveloff_report::trial::{TrialReport, json, markdown, text};
use leveloff_supervise::termination_signals::TerminationSignals;

use crate::args::{TryArgs, TryFormat};
use crate::exit_code::Exit;
use crate::notice::notice;
use crate::run_reader::RunReader;
use crate::stdout::{paint, print};
use directory::TrialDirectory;
use schedule::Schedule;

pub(crate) fn run(args: &TryArgs) -> Result<Exit> {
    if args.list {
        print(plan::listed().as_bytes())?;
        return Ok(Exit::Success);
    }
    let findings = known_findings(args)?;
    let arms = arms::chosen(args, &findings)?;
    if args.plan {
        print(plan::object(args, &arms).as_bytes())?;
        return Ok(Exit::Success);
    }
    let command: Vec<String> = args
        .command
        .iter()
        .map(|word| printable(word.as_encoded_bytes()))
        .collect();
    let directory = TrialDirectory::prepare(args, &command)?;
    notice(&format!(
        "recordings and output of the job are in {}",
        directory.path().display()
    ));
    let stops = TerminationSignals::listen()?;
    let schedule = Schedule::new(args, &directory, &stops, arms, !findings.is_empty());
    let report = schedule.run(command.join(" "))?;
    print(written(&report, args.format).as_bytes())?;
    Ok(exit(report.summary.outcome()))
}

/// Of the recording that the user names.
fn known_findings(args: &TryArgs) -> Result<Vec<Finding>> {
    let Some(recording) = &args.from else {
        return Ok(Vec::new());
    };
    Ok(RunReader::default().read(recording)?.verdict.findings)
}

fn written(report: &TrialReport, format: TryFormat) -> String {
    match format {
        TryFormat::Text => text::page(report, paint()),
        TryFormat::Markdown => markdown::document(report),
        TryFormat::Json => json::object(report) + "\n",
    }
}

fn exit(outcome: TrialOutcome) -> Exit {
    match outcome {
        TrialOutcome::Stopped => Exit::Success,
        TrialOutcome::Reduced | TrialOutcome::NothingHelps => Exit::Failure,
        TrialOutcome::Undecided | TrialOutcome::NothingToCure | TrialOutcome::ControlUndecided => {
            Exit::Undecided
        }
    }
}
