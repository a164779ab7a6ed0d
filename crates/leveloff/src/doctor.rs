//! `leveloff doctor`: what can be measured here, what is missing, how to get it.

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use crate::cli::Format;
use crate::config::ConfigChoice;
use crate::notice::is_dumb_terminal;

use anyhow::Context;
use serde::Serialize;

pub use world::World;

mod places;
mod processes;
mod render;
mod surroundings;
mod world;

/// One thing that leveloff needs, and whether it is here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Check {
    /// What was looked at.
    pub name: &'static str,
    /// How it is.
    pub state: State,
    /// What was found and what that means.
    pub text: String,
    /// How to get what is not there.
    pub next: Option<String>,
}

/// How a check went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// All that leveloff can use is here.
    Ok,
    /// Something is measured less well, or not for everyone.
    Gap,
    /// Not here at all.
    Missing,
}

/// Prints what can be measured on this machine. Whatever is missing is the answer, not a failure.
pub fn run(format: Format, config: &ConfigChoice) -> anyhow::Result<ExitCode> {
    let found = checks(&World {
        config: config.clone(),
        ..World::live()
    });
    let text = match format {
        Format::Json => render::json(&found)?,
        Format::Text => render::text(&found, wants_colour()),
    };
    match io::stdout().lock().write_all(text.as_bytes()) {
        // Whoever reads has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
        outcome => outcome.context("cannot print")?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Every check, in the order of reading: processes, what surrounds them, where results go.
pub fn checks(world: &World) -> Vec<Check> {
    let mut found = processes::checks(world);
    found.extend(surroundings::checks(world));
    found.extend(places::checks(world));
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
    /// Its word.
    pub fn name(self) -> &'static str {
        match self {
            State::Ok => "ok",
            State::Gap => "gap",
            State::Missing => "missing",
        }
    }
}

fn wants_colour() -> bool {
    let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    io::stdout().is_terminal() && !refused && !is_dumb_terminal()
}

#[cfg(test)]
mod tests;
