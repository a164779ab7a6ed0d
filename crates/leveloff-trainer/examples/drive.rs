//! Drives a pattern without a training, one command a line, so that a test can look at exact steps.
//!
//! `drive PATTERN STEPS [NAME=VALUE…]` answers `ready`, then each of these words on its input with a
//! line that begins with `done`, or with `error` and what is wrong:
//!
//! - `begin`, `evaluating`, `evaluated`: calls that of the pattern
//! - `steps N`: does N steps, with evaluations and checkpoints where they are due
//! - `held`: says how many tensors the pattern holds
//! - `drop`: drops the pattern
//! - `trim`: asks the allocator to give back what is free; `in-use`: says what it holds that is not
//!
//! Settings are `rate`, `size`, `onset`, `workers`, `epoch_steps`, `evaluate_every`,
//! `checkpoint_every`, `seed`, and for the limits of this process `most_files`, `most_processes`.

use std::io::{BufRead, Write};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use candle_core::{Device, Var};
use leveloff_trainer::memory::trim;
use leveloff_trainer::pattern::{Knobs, Pattern, Schedule, StepDone};
use leveloff_trainer::{patterns, workers};
use rustix::process::{Resource, Rlimit, setrlimit};

fn main() -> ExitCode {
    if let Some(code) = workers::entry() {
        return code;
    }
    match drive() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(&format!("error {error:#}"));
            ExitCode::FAILURE
        }
    }
}

fn drive() -> Result<()> {
    let mut course = Course::from_arguments()?;
    say("ready");
    let mut line = String::new();
    let mut input = std::io::stdin().lock();
    while input.read_line(&mut line)? > 0 {
        let answer = course.obey(line.trim_end())?;
        say(&format!("done {answer}"));
        line.clear();
    }
    Ok(())
}

struct Course {
    pattern: Option<Box<dyn Pattern>>,
    schedule: Schedule,
    step: u64,
    weight: Var,
}

impl Course {
    fn from_arguments() -> Result<Course> {
        let mut arguments = std::env::args().skip(1);
        let name = arguments.next().context("no pattern is named")?;
        let entry = patterns::find(&name).context("no such pattern")?;
        let mut knobs = Knobs::default();
        let mut schedule = Schedule {
            steps: arguments.next().context("no steps are given")?.parse()?,
            epoch_steps: 80,
            evaluate_every: 50,
            checkpoint_every: 100,
            seed: 1,
        };
        for setting in arguments {
            let (name, value) = setting.split_once('=').context("a setting has no value")?;
            set(&mut knobs, &mut schedule, name, value)?;
        }
        Ok(Course {
            pattern: Some((entry.make)(&knobs, &schedule)),
            schedule,
            step: 0,
            weight: Var::new(2_f32, &Device::Cpu)?,
        })
    }

    fn obey(&mut self, order: &str) -> Result<u64> {
        let step = self.step;
        match order.split_once(' ').unwrap_or((order, "")) {
            ("begin", _) => self.pattern()?.begin()?,
            ("evaluating", _) => self.pattern()?.evaluating(step)?,
            ("evaluated", _) => self.pattern()?.evaluated(step)?,
            ("steps", count) => {
                for _ in 0..count.parse()? {
                    self.take_step()?;
                }
            }
            ("held", _) => return Ok(self.pattern()?.held_tensors()),
            ("drop", _) => self.pattern = None,
            ("trim", _) => return Ok(trim::trim().into()),
            ("in-use", _) => return trim::in_use().context("this allocator has no such counter"),
            _ => bail!("unknown order {order:?}"),
        }
        Ok(self.step)
    }

    fn take_step(&mut self) -> Result<()> {
        self.step += 1;
        let (step, schedule) = (self.step, self.schedule);
        let loss = self.weight.sqr()?;
        let pattern = self.pattern()?;
        pattern.step(&StepDone { step, loss: &loss })?;
        if step.is_multiple_of(schedule.evaluate_every) {
            pattern.evaluating(step)?;
            pattern.evaluated(step)?;
        }
        if step.is_multiple_of(schedule.checkpoint_every) {
            pattern.saved(step)?;
        }
        Ok(())
    }

    fn pattern(&mut self) -> Result<&mut (dyn Pattern + 'static)> {
        let pattern = self.pattern.as_deref_mut();
        pattern.context("the pattern was dropped")
    }
}

fn set(knobs: &mut Knobs, schedule: &mut Schedule, name: &str, value: &str) -> Result<()> {
    let amount = || value.parse().map_err(anyhow::Error::msg);
    match name {
        "rate" => knobs.rate = Some(amount()?),
        "size" => knobs.size = Some(amount()?),
        "onset" => knobs.onset = Some(value.parse()?),
        "workers" => knobs.workers = Some(value.parse()?),
        "epoch_steps" => schedule.epoch_steps = value.parse()?,
        "evaluate_every" => schedule.evaluate_every = value.parse()?,
        "checkpoint_every" => schedule.checkpoint_every = value.parse()?,
        "seed" => schedule.seed = value.parse()?,
        "most_files" => limit(Resource::Nofile, value.parse()?)?,
        "most_processes" => limit(Resource::Nproc, value.parse()?)?,
        _ => bail!("unknown setting {name:?}"),
    }
    Ok(())
}

/// Lowers a limit for good, so that the pattern cannot raise it again.
fn limit(resource: Resource, most: u64) -> Result<()> {
    let most = Some(most);
    let limit = Rlimit {
        current: most,
        maximum: most,
    };
    Ok(setrlimit(resource, limit)?)
}

/// A closed pipe means that the test is over; the end of the input follows.
fn say(line: &str) {
    let mut output = std::io::stdout().lock();
    let _ = writeln!(output, "{line}").and_then(|()| output.flush());
}
