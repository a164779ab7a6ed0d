//! `leveloff judge`: the verdict for recordings, tables and logs.

pub mod case;
pub(crate) mod crew;
pub(crate) mod ending;
pub mod live;
mod looks;
mod printer;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use anyhow::{Result, anyhow, bail};

use crate::cli::JudgeArgs;
use case::{Case, Outcome};
use ending::Ending;

use printer::Printer;

/// Judges every input and prints in the order in which they were named. The exit code is that of
/// the worst.
pub fn run(args: &JudgeArgs) -> Result<ExitCode> {
    let cases: Vec<Case> = args.inputs.iter().map(|path| Case::of(path)).collect();
    if cases.iter().filter(|case| case.is_stdin()).count() > 1 {
        bail!("stdin can be judged only once; give '-' once, and files by their names");
    }
    let mut ending = Ending::new(args.undecided);
    let mut printer = Printer::new(args, &cases);
    crew::in_order(
        &cases,
        args.jobs,
        |case| judge(case, args),
        |event| match event {
            crew::Event::Waiting { done } => printer.waiting(done),
            crew::Event::Done { input, result } => {
                ending.take(&result);
                printer.print(input, &result);
            }
        },
    );
    printer.finish()?;
    Ok(ending.code())
}

/// A fault in the judge of one input must not cost the verdict of the others.
fn judge(case: &Case, args: &JudgeArgs) -> Result<Outcome> {
    match catch_unwind(AssertUnwindSafe(|| case.judge(args))) {
        Ok(judged) => judged.map_err(|problem| anyhow!("{problem}")),
        Err(_) => Err(anyhow!(
            "leveloff has a bug, please report the lines above with this input"
        )),
    }
}
