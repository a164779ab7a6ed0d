//! Does the memory of this training run level off, or does it leak?
//!
//! `args` parses the command line, `commands` holds one module for each subcommand. The other modules serve them, and
//! import neither: `session` watches a run, with a `recorder` and a `live_analysis`; `screen_thread` shows it on the
//! dashboard; `history` keeps how runs of a job ended; `run_reader` reads a file and judges it; `report_files`, `csv_export` and `outputs` write files.

mod args;
mod blame;
mod commands;
mod config;
mod csv_export;
mod exit_code;
mod history;
mod live_analysis;
mod metrics;
mod notice;
mod option_values;
mod outputs;
mod recorder;
mod report_files;
mod run_reader;
mod run_target;
mod screen_thread;
mod session;
mod status_line;
mod stdout;
mod summary;
mod unfinished_line;
mod worker_pool;

#[cfg(test)]
mod one_account_tests;

use std::process::ExitCode;

use leveloff_supervise::guard::hook_entry;
use leveloff_supervise::{launch, restart};

use exit_code::Exit;
use notice::{flush, notice};

fn main() -> ExitCode {
    // `run`, a restart and a hook each start this program again in another role.
    let role = launch::relay_entry()
        .or_else(restart::wrapper_entry)
        .or_else(hook_entry);
    if let Some(code) = role {
        return code;
    }
    let exit = commands::settings::parse()
        .map_err(Into::into)
        .and_then(|invocation| commands::dispatch(&invocation));
    let exit = exit.unwrap_or_else(|error| {
        notice(&format!("{error:#}"));
        Exit::Error
    });
    flush();
    exit.into()
}
