//! Reports as files: their formats, and what goes into them.

use std::path::Path;

use anyhow::{Result, bail};
use clap::ValueEnum;
use leveloff_report::run::{chart, html, json, markdown};
use leveloff_report::run_report::RunReport;
use leveloff_supervise::guard::BundleFile;

use crate::outputs;
use crate::run_reader::RunReader;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    /// One page with interactive charts, without a network
    Html,
    /// For an issue upstream
    #[value(alias = "md")]
    Markdown,
    /// A chart
    Svg,
    /// A chart
    Png,
    /// For programs
    Json,
}

/// User and host names that `--redact` removes.
pub(crate) fn own_names() -> Vec<String> {
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

pub(crate) fn written(report: &RunReport, format: ReportFormat) -> Result<Vec<u8>> {
    Ok(match format {
        ReportFormat::Html => html::page(report).into_bytes(),
        ReportFormat::Svg => chart::svg(report).into_bytes(),
        ReportFormat::Png => chart::png(report)?,
        ReportFormat::Markdown => markdown::document(report).into_bytes(),
        ReportFormat::Json => json::document(report).into_bytes(),
    })
}

/// The format of a file name.
pub(crate) fn format_of(output: &Path) -> Result<ReportFormat> {
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
            bail!("choose the format for stdout: --format html, markdown, svg, png or json")
        }
        _ => bail!(
            "the name {} has no known extension; use .html, .md, .svg, .png or .json, or pass \
             --format",
            output.display()
        ),
    }
}

/// The reports that go into a bundle beside the recording.
pub(crate) fn bundle_reports(recording: &Path) -> Vec<BundleFile> {
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
