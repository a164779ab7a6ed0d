//! The results of a check: on the terminal, and in files.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use leveloff_report::check::report::CheckReport;

use super::checked_command::numbered;
use crate::args::{CheckArgs, Format};
use crate::notice::notice;
use crate::outputs::{self, Existing};
use crate::report_files::{format_of, written};
use crate::stdout::{paint, put};

/// Refuses outputs that cannot be written, before anything is run.
pub(crate) fn check(args: &CheckArgs) -> Result<()> {
    let existing = Existing::replaced_if(args.force);
    refuse_one_name_for_two(args)?;
    for path in [&args.junit, &args.gitlab].into_iter().flatten() {
        outputs::check(path, existing)?;
        outputs::refuse_input(path, &args.files)?;
    }
    if let Some(path) = &args.report {
        format_of(path)?;
        for path in numbered(path, runs(args)) {
            outputs::check(&path, existing)?;
            outputs::refuse_input(&path, &args.files)?;
        }
    }
    Ok(())
}

fn refuse_one_name_for_two(args: &CheckArgs) -> Result<()> {
    let named = [
        &args.junit,
        &args.gitlab,
        &args.report,
        &args.output,
        &args.baseline,
    ];
    let named: Vec<&PathBuf> = named.into_iter().flatten().collect();
    for (place, path) in named.iter().enumerate() {
        if named[..place].contains(path) {
            bail!(
                "{} is named for two outputs; give each its own",
                path.display()
            );
        }
    }
    Ok(())
}

/// Prints and writes it all.
pub(crate) fn write(args: &CheckArgs, report: &CheckReport) -> Result<()> {
    print(args, report)?;
    let existing = Existing::replaced_if(args.force);
    if let Some(path) = &args.junit {
        outputs::write(
            path,
            leveloff_report::check::junit::document(report).as_bytes(),
            existing,
        )?;
    }
    if let Some(path) = &args.gitlab {
        outputs::write(
            path,
            leveloff_report::check::gitlab::document(report).as_bytes(),
            existing,
        )?;
    }
    if args.github {
        summarise_for_github(report);
    }
    if let Some(path) = &args.report {
        write_reports(args, path, report)?;
    }
    Ok(())
}

fn print(args: &CheckArgs, report: &CheckReport) -> Result<()> {
    let mut text = match args.format {
        Format::Json => leveloff_report::check::json::object(report) + "\n",
        Format::Text => leveloff_report::check::text::page(report, paint()),
    };
    if args.github && args.format == Format::Text {
        text += &leveloff_report::check::github::annotations(report);
    }
    match put(&text) {
        // A closed pipe is no error: the exit code counts as well.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        result => result.context("cannot print"),
    }
}

fn write_reports(args: &CheckArgs, path: &Path, report: &CheckReport) -> Result<()> {
    let format = format_of(path)?;
    let paths = numbered(path, u32::try_from(report.runs.len()).unwrap_or(u32::MAX));
    for (path, run) in paths.iter().zip(&report.runs) {
        if let Ok(held) = &run.result {
            let contents = written(&held.report, format)?;
            outputs::write(path, &contents, Existing::replaced_if(args.force))?;
        }
    }
    Ok(())
}

/// GitHub names a file for the summary of the job. A job without one is not worse for it.
fn summarise_for_github(report: &CheckReport) {
    let Some(path) = std::env::var_os("GITHUB_STEP_SUMMARY").filter(|path| !path.is_empty()) else {
        return;
    };
    let summary = leveloff_report::check::github::step_summary(report);
    let written = std::fs::OpenOptions::new()
        .append(true)
        .create(true)
        .open(&path)
        .and_then(|mut file| file.write_all(summary.as_bytes()));
    if let Err(error) = written {
        let path = Path::new(&path).display();
        notice(&format!(
            "cannot write the summary of the job to {path}: {error}"
        ));
    }
}

fn runs(args: &CheckArgs) -> u32 {
    match args.command.is_empty() {
        true => u32::try_from(args.files.len()).unwrap_or(u32::MAX),
        false => args.repeat,
    }
}
