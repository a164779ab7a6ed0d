//! `leveloff doctor`: what leveloff can measure on this machine, what is missing, and how to get it.

use leveloff_model::process::Pid;

use crate::args::{DoctorArgs, Format};
use crate::config::ConfigChoice;
use crate::exit_code::Exit;
use crate::stdout::{self, paint};

use serde::Serialize;

pub(crate) use machine::Machine;

mod files;
mod machine;
mod processes;
mod render;
mod steps;
mod system;

/// One thing that leveloff needs, and whether it is here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Check {
    /// What was looked at.
    pub name: &'static str,
    pub state: State,
    /// What was found and what that means.
    pub text: String,
    /// How to get what is not there.
    pub next: Option<String>,
}

/// How a check went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum State {
    /// All that leveloff can use is here.
    Ok,
    /// Something is measured less exactly, or not for every process.
    Gap,
    /// Not here at all.
    Missing,
}

/// Prints what can be measured on this machine. Something missing is a result, not an error.
pub(crate) fn run(args: &DoctorArgs, config: &ConfigChoice) -> anyhow::Result<Exit> {
    let machine = Machine {
        config: config.clone(),
        ..Machine::live()
    };
    let of_run = args.pid.map(|pid| steps::check(&machine.proc, Pid(pid)));
    let of_run = of_run.transpose()?;
    let found: Vec<Check> = of_run.into_iter().chain(checks(&machine)).collect();
    let text = match args.format {
        Format::Json => render::json(&found)?,
        Format::Text => render::text(&found, paint()),
    };
    stdout::print(text.as_bytes())?;
    Ok(Exit::Success)
}

/// Every check: processes, the system, files.
pub(crate) fn checks(machine: &Machine) -> Vec<Check> {
    let mut found = processes::checks(machine);
    found.extend(system::checks(machine));
    found.extend(files::checks(machine));
    found
}

impl Check {
    fn ok(name: &'static str, text: impl Into<String>) -> Check {
        Check {
            name,
            state: State::Ok,
            text: text.into(),
            next: None,
        }
    }

    fn gap(name: &'static str, text: impl Into<String>, next: impl Into<String>) -> Check {
        Check {
            name,
            state: State::Gap,
            text: text.into(),
            next: Some(next.into()),
        }
    }

    fn missing(name: &'static str, text: impl Into<String>, next: impl Into<String>) -> Check {
        Check {
            state: State::Missing,
            ..Check::gap(name, text, next)
        }
    }
}

impl State {
    pub(crate) fn name(self) -> &'static str {
        match self {
            State::Ok => "ok",
            State::Gap => "gap",
            State::Missing => "missing",
        }
    }
}

#[cfg(test)]
mod tests;
