//! `leveloff report`: a run, written up.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Result, bail};
use leveloff_report::run::{chart, html, json, markdown};
use leveloff_report::run_report::RunReport;

use crate::cli::{ReportArgs, ReportFormat};
use crate::notice::notice;
use crate::outputs::{self, Existing};
use crate::run_reader::RunReader;

/// Writes the report.
pub fn run(args: &ReportArgs) -> Result<ExitCode> {
    let format = match args.format {
        Some(format) => format,
        None => format_of(&args.output)?,
    };
    let existing = Existing::replaced_if(args.force);
    outputs::check(&args.output, existing)?;
    outputs::refuse_input(&args.output, &[&args.file])?;
    let reading = RunReader {
        columns: Some(&args.columns),
        facts: Some(&args.facts),
        ..RunReader::default()
    };
    let mut report = reading.read(&args.file)?;
    if args.redact {
        report = report.redacted(&own_names());
    }
    outputs::write(&args.output, &written(&report, format)?, existing)?;
    if !outputs::is_stdout(&args.output) {
        notice(&format!("wrote {}", args.output.display()));
    }
    Ok(ExitCode::SUCCESS)
}

/// Who reports, and where: names that nobody else needs to know.
pub fn own_names() -> Vec<String> {
    let variables = ["USER", "LOGNAME", "SUDO_USER", "HOME", "HOSTNAME"];
    let mut names: Vec<String> = variables
        .iter()
        .filter_map(|name| std::env::var(name).ok())
        .filter(|value| !value.is_empty())
        .collect();
    let host = rustix::system::uname();
    names.push(host.nodename().to_string_lossy().into_owned());
    names
}

/// The report in a format.
pub fn written(report: &RunReport, format: ReportFormat) -> Result<Vec<u8>> {
    Ok(match format {
        ReportFormat::Html => html::page(report).into_bytes(),
        ReportFormat::Svg => chart::svg(report).into_bytes(),
        ReportFormat::Png => chart::png(report)?,
        ReportFormat::Markdown => markdown::document(report).into_bytes(),
        ReportFormat::Json => json::document(report).into_bytes(),
    })
}

/// What a name asks for.
pub fn format_of(output: &Path) -> Result<ReportFormat> {
    let ending = output.extension().and_then(|ending| ending.to_str());
    match ending.map(str::to_lowercase).as_deref() {
        Some("html" | "htm") => Ok(ReportFormat::Html),
        Some("md" | "markdown") => Ok(ReportFormat::Markdown),
        Some("svg") => Ok(ReportFormat::Svg),
        Some("png") => Ok(ReportFormat::Png),
        Some("json") => Ok(ReportFormat::Json),
        Some("csv") => bail!(
            "CSV is written by export: leveloff export FILE -o {}",
            output.display()
        ),
        _ if outputs::is_stdout(output) => {
            bail!("name what to write to stdout: --format html, markdown, svg, png or json")
        }
        _ => bail!(
            "cannot tell from the name {} what to write; end it in .html, .md, .svg, .png or \
             .json, or say --format",
            output.display()
        ),
    }
}
