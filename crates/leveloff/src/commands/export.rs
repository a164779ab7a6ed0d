//! `leveloff export`: a recording as CSV.

use anyhow::Result;

use crate::args::ExportArgs;
use crate::csv_export;
use crate::exit_code::Exit;
use crate::notice::notice;
use crate::outputs::{self, Existing};

pub(crate) fn run(args: &ExportArgs) -> Result<Exit> {
    if outputs::is_stdout(&args.output) {
        csv_export::to_stdout(&args.file, args.scope)?;
    } else {
        outputs::refuse_input(&args.output, &[&args.file])?;
        let existing = Existing::replaced_if(args.force);
        let rows = csv_export::to_file(&args.file, args.scope, &args.output, existing)?;
        notice(&format!("{rows} rows in {}", args.output.display()));
    }
    Ok(Exit::Success)
}
