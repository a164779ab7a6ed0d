//! Does the memory of this training run level off, or does it leak?

use std::ffi::OsString;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use leveloff::launch::{self, OutputStream, Served};

fn main() -> ExitCode {
    if let Some(code) = launch::relay_entry() {
        return code;
    }
    match run(&std::env::args_os().skip(3).collect::<Vec<_>>()) {
        Ok(outcome) => launch::pass_on(outcome),
        Err(e) => {
            eprintln!("leveloff: {e:#}");
            ExitCode::from(2)
        }
    }
}

fn run(command: &[OsString]) -> anyhow::Result<launch::Outcome> {
    let mut run = launch::launch(command)?;
    let mut output = Vec::new();
    loop {
        let served = run.serve_until(Instant::now() + Duration::from_secs(1))?;
        for stream in [OutputStream::Stdout, OutputStream::Stderr] {
            output.clear();
            run.take_output(stream, &mut output);
        }
        if let Served::Exited(outcome) = served {
            return Ok(outcome);
        }
    }
}
