//! `leveloff report`: a report of a run.

use anyhow::Result;

use crate::args::ReportArgs;
use crate::exit_code::Exit;
use crate::notice::notice;
use crate::outputs::{self, Existing};
use crate::report_files::{format_of, own_names, written};
use crate::run_reader::RunReader;

pub(crate) fn run(args: &ReportArgs) -> Result<Exit> {
    let format = match args.format {
        Some(format) => format,
        None => format_of(&args.output)?,
    };
    let existing = Existing::replaced_if(args.force);
    outputs::check(&args.output, existing)?;
    outputs::refuse_input(&args.output, &[&args.file])?;
    let reader = RunReader {
        columns: args.columns.choice(),
        stated: args.facts.stated(),
        ..RunReader::default()
    };
    let mut report = reader.read(&args.file)?;
    if args.redact {
        report = report.redacted(&own_names());
    }
    outputs::write(&args.output, &written(&report, format)?, existing)?;
    if !outputs::is_stdout(&args.output) {
        notice(&format!("wrote {}", args.output.display()));
    }
    Ok(Exit::Success)
}
