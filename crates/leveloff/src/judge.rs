//! `leveloff judge`: the verdict for recordings, tables and logs.

mod crew;
mod ending;
mod input;
pub mod live;
mod looks;
mod printer;
mod source;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use anyhow::{Result, anyhow, bail};

use crate::cli::JudgeArgs;
use ending::Ending;
use input::{Input, Outcome};
use printer::Printer;

/// Judges every input and prints in the order in which they were named. The exit code is that of
/// the worst.
pub fn run(args: &JudgeArgs) -> Result<ExitCode> {
    let inputs: Vec<Input> = args.inputs.iter().map(|path| Input::of(path)).collect();
    if inputs.iter().filter(|input| input.is_stdin()).count() > 1 {
        bail!("stdin can be judged only once; give '-' once, and files by their names");
    }
    let mut ending = Ending::new(args.undecided);
    let mut printer = Printer::new(args, inputs.len());
    crew::in_order(
        &inputs,
        args.jobs,
        |input| judge(input, args),
        |event| match event {
            crew::Event::Waiting { done } => printer.waiting(done),
            crew::Event::Done { input, result } => {
                ending.take(&result);
                printer.print(input.name(), &result);
            }
        },
    );
    printer.finish()?;
    Ok(ending.code())
}

/// A fault in the judge of one input must not cost the verdict of the others.
fn judge(input: &Input, args: &JudgeArgs) -> Result<Outcome> {
    catch_unwind(AssertUnwindSafe(|| input.judge(args))).unwrap_or_else(|_| {
        Err(anyhow!(
            "leveloff has a bug, please report the lines above with this input"
        ))
    })
}
