//! `leveloff fleet`: every rank of a job, or of all jobs, from the Prometheus that has them already.
//!
//! `survey` fetches the series of every run and has `fleet_judge` judge them, with a `progress` bar; `watching` shows the
//! result on a screen.

mod fleet_judge;
mod progress;
mod survey;
mod watching;

use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use leveloff_report::fleet::text::Listed;
use leveloff_report::fleet::{html, json, text};
use leveloff_text::fleet::Fleet;

use crate::cli::{FleetArgs, Format};
use crate::judge::ending::Ending;
use crate::notice::notice;
use crate::outputs::{self, Existing};
use crate::screen::{paint, put};
use survey::Survey;

/// Judges a fleet, and prints it. The exit code is that of the worst, or that of trouble when something
/// could not be fetched.
pub fn run(args: &FleetArgs) -> Result<ExitCode> {
    let existing = Existing::replaced_if(args.force);
    if let Some(output) = &args.output {
        check_output(output, existing)?;
    }
    let survey = Survey::new(args)?;
    if args.watch {
        let seen = watching::watch(survey, args)?;
        return Ok(seen.map_or(ExitCode::SUCCESS, |fleet| ending(&fleet, args).code()));
    }
    let fleet = survey.look()?;
    print(&fleet, args)?;
    if let Some(output) = &args.output {
        outputs::write(output, html::page(&fleet).as_bytes(), existing)?;
        if !outputs::is_stdout(output) {
            notice(&format!("wrote {}", output.display()));
        }
    }
    Ok(ending(&fleet, args).code())
}

fn check_output(output: &std::path::Path, existing: Existing) -> Result<()> {
    let ending = output.extension().and_then(|ending| ending.to_str());
    if !outputs::is_stdout(output) && !matches!(ending, Some("html" | "htm")) {
        bail!(
            "{} must end in .html: a fleet is written as a page, and with --format json to stdout",
            output.display()
        );
    }
    outputs::check(output, existing)
}

fn print(fleet: &Fleet, args: &FleetArgs) -> Result<()> {
    for failure in &fleet.failures {
        notice(&format!("partial results: {failure}"));
    }
    for note in &fleet.notes {
        notice(note);
    }
    // A page on stdout is alone there.
    if args.output.as_deref().is_some_and(outputs::is_stdout) {
        return Ok(());
    }
    let listed = if args.verbose {
        Listed::All
    } else {
        Listed::Worst
    };
    let text = match args.format {
        Format::Json => json::lines(fleet),
        Format::Text => text::screen(fleet, listed, paint()),
    };
    match put(&text) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(error).context("cannot print the verdicts")
        }
        _ => Ok(()),
    }
}

fn ending(fleet: &Fleet, args: &FleetArgs) -> Ending {
    let mut ending = Ending::new(args.undecided);
    for member in &fleet.members {
        ending.take_verdict(member.verdict.verdict);
    }
    if fleet.is_partial() {
        ending.take_error();
    }
    ending
}
