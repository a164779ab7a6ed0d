//! A recording of a run that is known to the last byte: grows by a mebibyte a step for 60 steps, then
//! is level. One step a second.

#![allow(dead_code)]

use std::path::Path;

use leveloff_model::process::{Pid, ProcessIndex, ProcessInfo, ProcessKey, Role, StartTicks};
use leveloff_model::progress::Progress;
use leveloff_model::recording::{End, EndReason, Header, RecordingWriter, StatedFacts, Target};
use leveloff_model::sample::{Event, MachineReading, OwnCost, ProcessReading, Sample, Tick};
use leveloff_model::units::{Bytes, Seconds, Step};

/// The step at which it is level.
const LEVEL_AT: u64 = 60;

pub fn header() -> Header {
    Header {
        tool: "0.1.0".to_owned(),
        started_unix: 1_794_808_086.25,
        host: None,
        kernel: None,
        target: Target::Command(vec!["python".to_owned(), "story.py".to_owned()]),
        interval: Seconds(1.0),
        pss_budget_percent: 0.5,
        stated: StatedFacts::default(),
    }
}

/// What is seen at this step; the process appears with the first.
pub fn tick(step: u64) -> Tick {
    let index = ProcessIndex(0);
    let trainer = ProcessInfo {
        index,
        key: ProcessKey {
            pid: Pid(4312),
            start: StartTicks(5000),
        },
        parent: Pid(1),
        role: Role::Trainer,
        unknown_role: None,
        rank: None,
        comm: "python".to_owned(),
        command: vec!["python".to_owned(), "story.py".to_owned()],
        why: "is stated".to_owned(),
    };
    let mut reading = ProcessReading::unread(index);
    // A little unrest, as everywhere.
    let unrest = (step * 7919 % 13) << 10;
    reading.anon = Bytes((100 << 20) + (step.min(LEVEL_AT) << 20) + unrest);
    Tick {
        events: if step == 0 {
            vec![Event::Appeared(trainer)]
        } else {
            Vec::new()
        },
        sample: Sample {
            t: Seconds(step as f64),
            progress: Progress {
                step: Some(Step(step)),
                ..Progress::default()
            },
            processes: vec![reading],
            mappings: None,
            machine: MachineReading::default(),
            cgroup: None,
            ceiling: None,
            cost: OwnCost::default(),
        },
    }
}

/// A recording of the steps from 0 to before `steps`, ended.
pub fn write(path: &Path, steps: u64) {
    let file = std::fs::File::create(path).unwrap();
    let mut writer = RecordingWriter::new(file, &header()).unwrap();
    for step in 0..steps {
        writer.write_tick(&tick(step)).unwrap();
    }
    let end = End {
        t: Seconds((steps - 1) as f64),
        reason: EndReason::Exited(0),
    };
    writer.finish(&end).unwrap();
}
