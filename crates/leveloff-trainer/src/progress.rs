//! What the user sees of a training: a bar on a terminal, lines elsewhere.

use std::io::{IsTerminal, Write};
use std::path::Path;
use std::time::Instant;

use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use crate::cli::Format;
use crate::model::Evaluation;
use crate::notice::notice;

/// Steps between lines.
const LINE_EVERY: u64 = 10;

/// Shows the user how far the training is.
#[derive(Debug)]
pub struct Progress {
    style: Style,
    steps: u64,
    /// The step and the time from which the speed is counted.
    counted_from: (u64, Instant),
}

#[derive(Debug)]
enum Style {
    Bar(ProgressBar),
    Lines,
    Json,
    Quiet,
}

/// One line of `--format json`.
#[derive(Debug, Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
enum ProgressLine<'a> {
    Step {
        step: u64,
        steps: u64,
        loss: f32,
        steps_per_s: f64,
    },
    Evaluation {
        step: u64,
        loss: f32,
        accuracy: f32,
    },
    Checkpoint {
        step: u64,
        path: &'a Path,
    },
    Resumed {
        step: u64,
        path: &'a Path,
    },
    Stopped {
        step: u64,
        by: &'a str,
    },
    Finished {
        step: u64,
    },
}

impl Progress {
    /// Of a training that is at `step` of `steps`.
    pub fn new(format: Format, quiet: bool, step: u64, steps: u64) -> Progress {
        let style = match format {
            _ if quiet => Style::Quiet,
            Format::Json => Style::Json,
            Format::Text if has_terminal() => Style::Bar(bar(step, steps)),
            Format::Text => Style::Lines,
        };
        Progress {
            style,
            steps,
            counted_from: (step, Instant::now()),
        }
    }

    /// A step was done.
    pub fn step(&mut self, step: u64, loss: f32) {
        let steps = self.steps;
        match &self.style {
            Style::Bar(bar) => {
                bar.set_message(format!("loss {loss:.4}"));
                bar.set_position(step);
            }
            Style::Lines if step.is_multiple_of(LINE_EVERY) || step == steps => {
                let speed = self.steps_per_second(step);
                print(&format!(
                    "step {step}/{steps}  loss {loss:.4}  {speed:.0} steps/s"
                ));
            }
            Style::Json => {
                let steps_per_s = self.steps_per_second(step);
                print_json(&ProgressLine::Step {
                    step,
                    steps,
                    loss,
                    steps_per_s,
                });
            }
            Style::Lines | Style::Quiet => {}
        }
    }

    /// An evaluation was done.
    pub fn evaluated(&self, step: u64, evaluation: &Evaluation) {
        let Evaluation { loss, accuracy } = *evaluation;
        match &self.style {
            Style::Json => print_json(&ProgressLine::Evaluation {
                step,
                loss,
                accuracy,
            }),
            _ => self.line(&format!(
                "step {step}/{}  evaluation: loss {loss:.4}  accuracy {accuracy:.2}",
                self.steps
            )),
        }
    }

    /// A checkpoint was saved.
    pub fn saved(&self, step: u64, path: &Path) {
        match &self.style {
            Style::Json => print_json(&ProgressLine::Checkpoint { step, path }),
            _ => self.line(&format!(
                "step {step}/{}  saved {}",
                self.steps,
                path.display()
            )),
        }
    }

    /// The training goes on from a checkpoint.
    pub fn resumed(&self, step: u64, path: &Path) {
        match &self.style {
            Style::Json => print_json(&ProgressLine::Resumed { step, path }),
            _ => self.line(&format!("resumed at step {step} from {}", path.display())),
        }
    }

    /// The training was stopped.
    pub fn stopped(&self, step: u64, by: &str, saved: Option<&Path>) {
        match &self.style {
            Style::Json => print_json(&ProgressLine::Stopped { step, by }),
            _ => self.line(&format!("stopped at step {step} by {by}{}", go_on(saved))),
        }
        self.end();
    }

    /// The training did all of its steps.
    pub fn finished(&self, step: u64) {
        match &self.style {
            Style::Json => print_json(&ProgressLine::Finished { step }),
            _ => self.line(&format!("finished {step} steps")),
        }
        self.end();
    }

    /// Something that the user should know, on stderr and past the bar.
    pub fn notice(&self, text: &str) {
        match &self.style {
            Style::Bar(bar) => bar.suspend(|| notice(text)),
            _ => notice(text),
        }
    }

    /// Leaves the bar as it is, so that what comes next begins on a line of its own.
    pub fn end(&self) {
        if let Style::Bar(bar) = &self.style {
            bar.abandon();
        }
    }

    fn line(&self, text: &str) {
        match &self.style {
            Style::Bar(bar) => bar.suspend(|| print(text)),
            Style::Lines => print(text),
            Style::Json | Style::Quiet => {}
        }
    }

    /// Since the last call.
    fn steps_per_second(&mut self, step: u64) -> f64 {
        let (before, then) = std::mem::replace(&mut self.counted_from, (step, Instant::now()));
        (step.saturating_sub(before)) as f64 / then.elapsed().as_secs_f64().max(1e-9)
    }
}

fn go_on(saved: Option<&Path>) -> &'static str {
    match saved {
        Some(_) => "; --resume goes on from there",
        None => "; without --checkpoint-dir nothing was saved",
    }
}

/// A bar needs a terminal that can move its cursor, and stdout to be no file that wants the lines.
fn has_terminal() -> bool {
    let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
    std::io::stderr().is_terminal() && std::io::stdout().is_terminal() && !dumb
}

fn bar(step: u64, steps: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("step {pos}/{len} {wide_bar} {msg}  {per_sec}")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    let bar = ProgressBar::new(steps)
        .with_style(style)
        .with_position(step);
    bar.reset_eta();
    bar
}

fn print_json(line: &ProgressLine<'_>) {
    if let Ok(text) = serde_json::to_string(line) {
        print(&text);
    }
}

/// A closed pipe, as after `head`, does not end the training.
fn print(line: &str) {
    let _ = std::io::stdout().write_all(format!("{line}\n").as_bytes());
}
