//! Prints what is read from the output of trainings, a line of JSON for each file:
//! `cargo run -p leveloff-progress --example read_output FILE...`
//!
//! `scripts/suites/progress` compares it with what the files hold.

use std::error::Error;
use std::fs::File;
use std::io::{self, Read as _};

use leveloff_model::progress::StepUnit;
use leveloff_progress::{OutputParser, Plan, ProgressUpdate};
use serde_json::{Value, json};

/// What was read last of each kind.
#[derive(Default)]
struct Account {
    line: u64,
    step: Option<u64>,
    unit: Option<&'static str>,
    planned: Option<u64>,
    epoch_steps: Option<u64>,
    epoch: Option<f64>,
    first_step_line: Option<u64>,
    steps: u64,
    restarts: u64,
    clock: Option<String>,
    clocks: Vec<String>,
    phases: Vec<String>,
    falls: u64,
}

/// What a pipe or a log is read in.
const CHUNK: usize = 64 * 1024;

fn main() -> Result<(), Box<dyn Error>> {
    for path in std::env::args().skip(1) {
        println!("{}", account(File::open(&path)?)?.to_json(&path));
    }
    Ok(())
}

/// Feeds the bytes line by line, so that the line of the first step is known.
fn account(mut file: File) -> io::Result<Account> {
    let mut parser = OutputParser::new();
    let mut account = Account::default();
    let mut chunk = vec![0; CHUNK];
    let mut has_text = false;
    loop {
        let length = file.read(&mut chunk)?;
        if length == 0 {
            break;
        }
        let mut rest = &chunk[..length];
        while !rest.is_empty() {
            let end = memchr::memchr2(b'\n', b'\r', rest);
            let (piece, after) = rest.split_at(end.map_or(rest.len(), |end| end + 1));
            rest = after;
            account.take(parser.feed(piece));
            has_text |= piece.len() > usize::from(end.is_some());
            // Empty lines and bare line ends do not count.
            account.line += u64::from(end.is_some() && std::mem::take(&mut has_text));
        }
    }
    account.take(parser.finish());
    account.clock = parser.clock_name().map(str::to_owned);
    Ok(account)
}

impl Account {
    fn take(&mut self, updates: Vec<ProgressUpdate>) {
        for update in updates {
            if let Some(step) = update.step {
                let is_fall =
                    self.step > Some(step.0) && !update.restarted && update.new_clock.is_none();
                self.falls += u64::from(is_fall);
                self.step = Some(step.0);
                self.steps += 1;
                self.first_step_line.get_or_insert(self.line);
            }
            self.unit = update.unit.map(StepUnit::name).or(self.unit);
            self.restarts += u64::from(update.restarted);
            self.clocks.extend(update.new_clock);
            self.epoch = update.epoch.or(self.epoch);
            self.epoch_steps = update.epoch_steps.map(|steps| steps.0).or(self.epoch_steps);
            match update.plan {
                Some(Plan::Steps(steps)) => self.planned = Some(steps.0),
                Some(Plan::Withdrawn) => self.planned = None,
                None => {}
            }
            self.phases
                .extend(update.phase.map(|phase| phase.name().to_owned()));
        }
    }

    fn to_json(&self, path: &str) -> Value {
        json!({
            "file": path,
            "last_step": self.step,
            "unit": self.unit,
            "total": self.planned,
            "epoch_steps": self.epoch_steps,
            "last_epoch": self.epoch,
            "first_step_line": self.first_step_line,
            "steps": self.steps,
            "clock": self.clock,
            "restarts": self.restarts,
            "new_clocks": self.clocks,
            "evaluations": self.phases.iter().filter(|phase| *phase == "eval").count(),
            "falls": self.falls,
        })
    }
}
