//! `leveloff judge`: the verdict for recordings, tables and logs.

mod case;
mod earlier_verdicts;
mod job_command;
mod printer;

use std::panic::{AssertUnwindSafe, catch_unwind};

use anyhow::{Result, anyhow, bail};

use crate::args::JudgeArgs;
use crate::exit_code::{Exit, WorstVerdict};
use crate::worker_pool::{self, Event};
use case::Outcome;
pub(crate) use case::{Case, JudgeOptions};
use printer::Printer;

/// Judges every input and prints in the order in which they were named. The exit code is that of the worst verdict.
pub(crate) fn run(args: &JudgeArgs) -> Result<Exit> {
    let cases: Vec<Case> = args.inputs.iter().map(|path| Case::of(path)).collect();
    if cases.iter().filter(|case| case.is_stdin()).count() > 1 {
        bail!("stdin can be judged only once; give '-' once, and files by their names");
    }
    let options = JudgeOptions {
        stated: args.facts.stated(),
        columns: args.columns.choice(),
        looks: args.looks,
        is_repro: args.repro,
    };
    let mut worst = WorstVerdict::new(args.undecided);
    let mut printer = Printer::new(args, &cases);
    worker_pool::in_order(
        &cases,
        args.jobs,
        |case| judge(case, &options),
        |event| match event {
            Event::Waiting { done } => printer.waiting(done),
            Event::Done { input, result } => {
                match &result {
                    Ok(outcome) => worst.add(outcome.verdict.verdict),
                    Err(_) => worst.add_error(),
                }
                printer.print(input, &result);
            }
        },
    );
    printer.finish()?;
    Ok(worst.exit())
}

/// A fault in the judge of one input must not cost the verdict of the others.
fn judge(case: &Case, options: &JudgeOptions) -> Result<Outcome> {
    match catch_unwind(AssertUnwindSafe(|| case.judge(options))) {
        Ok(judged) => judged.map_err(|problem| anyhow!("{problem}")),
        Err(_) => Err(anyhow!(
            "leveloff has a bug, please report the lines above with this input"
        )),
    }
}
