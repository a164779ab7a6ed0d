//! `leveloff blame`: the lines whose memory grew, of a recorded run or of a program that runs already.

mod attached;

use std::path::Path;

use anyhow::{Result, bail};
use leveloff_classifier::allocation_history::LineWindow;
use leveloff_classifier::units::X;
use leveloff_report::lines;

use crate::args::{BlameArgs, BlameFormat};
use crate::exit_code::Exit;
use crate::notice::notice;
use crate::outputs::{self, Existing};
use crate::run_reader::RunReader;

pub(crate) fn run(args: &BlameArgs) -> Result<Exit> {
    if let (Some(from), Some(to)) = (args.from, args.to)
        && from >= to
    {
        bail!("--from {from} is not before --to {to}");
    }
    let existing = Existing::replaced_if(args.force);
    outputs::check(&args.output, existing)?;
    match (&args.file, args.attach.pid) {
        (Some(file), _) => {
            outputs::refuse_input(&args.output, &[file])?;
            print(args, file)
        }
        (None, Some(pid)) => attached::run(pid, args),
        (None, None) => unreachable!("clap asks for a file or a process"),
    }
}

/// Prints the lines of a recording.
fn print(args: &BlameArgs, file: &Path) -> Result<Exit> {
    let existing = Existing::replaced_if(args.force);
    let reader = RunReader {
        stated: args.facts.stated(),
        line_window: LineWindow {
            from: args.from.map(X),
            to: args.to.map(X),
        },
        ..RunReader::default()
    };
    let report = reader.read(file)?;
    let bytes = match args.format {
        BlameFormat::Text => lines::text(&report).into_bytes(),
        BlameFormat::Folded => lines::folded(&report).into_bytes(),
        BlameFormat::Svg => lines::svg(&report)?,
        BlameFormat::Pprof => lines::pprof(&report),
    };
    outputs::write(&args.output, &bytes, existing)?;
    if !outputs::is_stdout(&args.output) {
        notice(&format!("wrote {}", args.output.display()));
    }
    Ok(Exit::Success)
}
