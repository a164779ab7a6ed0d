//! `leveloff try`: runs a job again with one thing changed at a time, and says which change stops its growth.
//!
//! [`arms`] are the changes, [`directory`] keeps recordings, [`next_run`] decides what is run next, [`run_process`] runs the
//! job once, [`schedule`] runs all of it, [`trial_runs`] has what was measured.

mod active_task;
mod arm;
mod arms;
mod axis;
mod bisection;
mod directory;
mod interpreter;
mod job_facts;
mod job_log;
mod next_run;
mod own_arms;
mod plan;
mod resume_command;
mod run_process;
mod schedule;
mod trial_runs;
mod venvs;
mod versions;

use anyhow::Result;
use leveloff_classifier::finding::Finding;
use leveloff_classifier::trial::TrialOutcome;
use leveloff_model::process::printable;
use leveloff_report::secrets::masked;
use leveloff_report::trial::{TrialReport, html, json, markdown, text};
use leveloff_supervise::termination_signals::TerminationSignals;
use leveloff_text::shell::shell;

use crate::args::{TryArgs, TryFormat};
use crate::exit_code::Exit;
use crate::notice::notice;
use crate::outputs::{self, Existing};
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
    if let Some(format) = args.plan {
        print(plan::written(args, &arms, &findings, format).as_bytes())?;
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
    let report = schedule.run(shell(&masked(&command)))?;
    for (name, format) in KEPT {
        let path = directory.path().join(name);
        outputs::write(
            &path,
            written(&report, format).as_bytes(),
            Existing::Replace,
        )?;
    }
    print(written(&report, args.format).as_bytes())?;
    Ok(exit(report.summary.outcome()))
}

/// The answer, kept beside the recordings.
const KEPT: [(&str, TryFormat); 3] = [
    ("answer.html", TryFormat::Html),
    ("answer.md", TryFormat::Markdown),
    ("answer.json", TryFormat::Json),
];

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
        TryFormat::Html => html::page(report),
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
