//! Whether the gate works: made-up runs, written as recordings and read back like any other.
//!
//! A gate that lets everything through looks like a gate that has nothing to say. In CI, this tells
//! them apart in a second.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::os::fd::AsRawFd;
use std::path::PathBuf;

use anyhow::{Context, Result};
use leveloff_classifier::compare::{Outcome, compare};
use leveloff_classifier::gate::{CheckOutcome, Gates, Horizon};
use leveloff_classifier::profile::{RunProfile, Side};
use leveloff_classifier::units::X;
use leveloff_model::process::{Pid, ProcessIndex, ProcessInfo, ProcessKey, Role, StartTicks};
use leveloff_model::progress::Progress;
use leveloff_model::recording::{End, EndReason, Header, RecordingWriter, StatedFacts, Target};
use leveloff_model::sample::{Event, MachineReading, OwnCost, ProcessReading, Sample, Tick};
use leveloff_model::units::{Bytes, Seconds, Step};
use leveloff_report::run_report::RunReport;
use rustix::fs::{MemfdFlags, memfd_create};

use super::LEVEL_BY;
use crate::exit_code::Exit;
use crate::run_reader::RunReader;
use crate::stdout::put;

/// Steps of a made-up run, and seconds of each.
const STEPS: u32 = 300;

const MIB: f64 = 1048576.0;

/// A made-up run: its memory in MiB at each step, and whether it must be let through.
struct Case {
    name: &'static str,
    memory: fn(f64) -> f64,
    expected: CheckOutcome,
}

const CASES: [Case; 5] = [
    Case {
        name: "a run that is level from the start",
        memory: |_| 900.0,
        expected: CheckOutcome::Passed,
    },
    Case {
        name: "a warmup that levels off at step 80",
        memory: |step| 900.0 + 12.0 * step.min(80.0),
        expected: CheckOutcome::Passed,
    },
    Case {
        name: "a leak of 2 MiB per step",
        memory: |step| 900.0 + 2.0 * step,
        expected: CheckOutcome::Failed,
    },
    Case {
        name: "a warmup that never ends",
        memory: |step| 900.0 + 12.0 * step,
        expected: CheckOutcome::Failed,
    },
    Case {
        name: "a warmup that ends too late",
        memory: |step| 900.0 + 12.0 * step.min(180.0),
        expected: CheckOutcome::Failed,
    },
];

/// Checks the gate; code 1 when it does not work.
pub(crate) fn run() -> Result<Exit> {
    let mut text = String::new();
    let mut works = true;
    let mut add = |name: &str, expected: &str, is: &str| {
        let sign = if expected == is { "ok " } else { "BAD" };
        works &= expected == is;
        let _ = writeln!(text, "  {sign}  {name}: {is}, and should be {expected}");
    };
    for case in CASES {
        let report = made_up(case.memory)?;
        add(case.name, case.expected.name(), held(&report).name());
    }
    let known = side(&[|_| 900.0, |_| 901.0, |_| 899.0])?;
    let again: [(&str, Memory, Outcome); 2] = [
        (
            "the same again, against a baseline",
            |_| 902.0,
            Outcome::Same,
        ),
        (
            "a tenth more, against a baseline",
            |_| 990.0,
            Outcome::Worse,
        ),
    ];
    for (name, memory, expected) in again {
        let outcome = compare(&known, &side(&[memory])?).outcome;
        add(name, word(expected), word(outcome));
    }
    let verdict = match works {
        true => "the gate works",
        false => "THE GATE DOES NOT WORK",
    };
    // A reader that has seen enough is no error.
    let _ = put(&format!("{verdict}\n\n{text}"));
    Ok(match works {
        true => Exit::Success,
        false => Exit::Failure,
    })
}

type Memory = fn(f64) -> f64;

fn word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Same => "the same",
        Outcome::Better => "better",
        Outcome::Worse => "worse",
        Outcome::Undecided => "undecided",
    }
}

/// The result of the gates that are always checked.
fn held(report: &RunReport) -> CheckOutcome {
    let gates = Gates {
        level_by: Some(Horizon::AssumedStep(X(LEVEL_BY.0 as f64))),
        ..Gates::default()
    };
    let results = gates.hold(&report.verdict, &report.curves);
    let worst = results.iter().map(|result| result.outcome).max();
    worst.unwrap_or(CheckOutcome::Passed)
}

fn side(runs: &[Memory]) -> Result<Side> {
    let mut profiles = Vec::new();
    for memory in runs {
        let report = made_up(*memory)?;
        profiles.push(RunProfile::of(&report.verdict, &report.curves));
    }
    Side::of(&profiles).context("there is at least one run")
}

/// A recording of a made-up run, read as any other.
fn made_up(memory: Memory) -> Result<RunReport> {
    let file = memfd_create("leveloff-self-test", MemfdFlags::CLOEXEC)
        .map(File::from)
        .context("cannot make a file in memory")?;
    record(&file, memory).context("cannot record a made-up run")?;
    let path = PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()));
    let reader = RunReader {
        usual_level_by: Some(LEVEL_BY),
        ..RunReader::default()
    };
    reader.read(&path)
}

fn record(file: &File, memory: Memory) -> io::Result<()> {
    let mut writer = RecordingWriter::new(BufWriter::new(file), &header())?;
    let mut events = vec![Event::Appeared(trainer())];
    for step in 0..STEPS {
        // Noise that is the same every time: the remainders of a multiplication.
        let noise = f64::from(step * 7919 % 101) / 101.0 * 4.0;
        let anon = (memory(f64::from(step)) + noise) * MIB;
        writer.write_tick(&Tick {
            events: std::mem::take(&mut events),
            sample: sample(step, Bytes(anon as u64)),
        })?;
    }
    let end = End {
        t: Seconds(f64::from(STEPS)),
        reason: EndReason::Exited(0),
    };
    writer.finish(&end)?.flush()
}

fn header() -> Header {
    Header {
        tool: env!("CARGO_PKG_VERSION").to_owned(),
        started_unix: 0.0,
        host: None,
        kernel: None,
        target: Target::Command(vec!["made-up".to_owned()]),
        interval: Seconds(1.0),
        pss_budget_percent: 0.0,
        stated: StatedFacts::default(),
    }
}

fn trainer() -> ProcessInfo {
    ProcessInfo {
        index: ProcessIndex(0),
        key: ProcessKey {
            pid: Pid(1),
            start: StartTicks(1),
        },
        parent: Pid(0),
        role: Role::Trainer,
        unknown_role: None,
        rank: None,
        comm: "made-up".to_owned(),
        command: vec!["made-up".to_owned()],
        why: "is all there is".to_owned(),
    }
}

fn sample(step: u32, anon: Bytes) -> Sample {
    Sample {
        t: Seconds(f64::from(step)),
        progress: Progress {
            step: Some(Step(u64::from(step))),
            ..Progress::default()
        },
        processes: vec![ProcessReading {
            anon,
            threads: 1,
            ..ProcessReading::unread(ProcessIndex(0))
        }],
        mappings: None,
        machine: MachineReading::default(),
        cgroup: None,
        ceiling: None,
        cost: OwnCost::default(),
    }
}
