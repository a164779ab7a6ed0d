//! `leveloff fleet`: every rank of a job, or of all jobs, from Prometheus.
//!
//! `fleet_reader` fetches the series of every run and has `fleet_judge` judge them, with a `progress` bar; `fleet_screen` shows the
//! result on a screen.

mod fleet_judge;
mod fleet_reader;
mod fleet_screen;
mod progress;

use anyhow::{Context, Result, bail};
use leveloff_report::fleet::text::Listed;
use leveloff_report::fleet::{html, json, text};
use leveloff_text::fleet::Fleet;

use crate::args::{FleetArgs, Format};
use crate::exit_code::{Exit, WorstVerdict};
use crate::notice::notice;
use crate::outputs::{self, Existing};
use crate::stdout::{paint, put};
use fleet_reader::FleetReader;

/// Judges a fleet and prints it. The exit code is that of the worst verdict, or that of an error if something could not
/// be fetched.
pub(crate) fn run(args: &FleetArgs) -> Result<Exit> {
    let existing = Existing::replaced_if(args.force);
    if let Some(output) = &args.output {
        check_output(output, existing)?;
    }
    let fleet_reader = FleetReader::new(args)?;
    if args.watch {
        let seen = fleet_screen::watch(fleet_reader, args)?;
        return Ok(seen.map_or(Exit::Success, |fleet| exit(&fleet, args)));
    }
    let fleet = fleet_reader.look()?;
    print(&fleet, args)?;
    if let Some(output) = &args.output {
        outputs::write(output, html::page(&fleet).as_bytes(), existing)?;
        if !outputs::is_stdout(output) {
            notice(&format!("wrote {}", output.display()));
        }
    }
    Ok(exit(&fleet, args))
}

fn check_output(output: &std::path::Path, existing: Existing) -> Result<()> {
    let ending = output.extension().and_then(|ending| ending.to_str());
    if !outputs::is_stdout(output) && !matches!(ending, Some("html" | "htm")) {
        bail!(
            "{} must end in .html: a fleet is written as a page; --format json prints to stdout",
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

fn exit(fleet: &Fleet, args: &FleetArgs) -> Exit {
    let mut worst = WorstVerdict::new(args.undecided);
    for member in &fleet.members {
        worst.add(member.verdict.verdict);
    }
    if fleet.is_partial() {
        worst.add_error();
    }
    worst.exit()
}
