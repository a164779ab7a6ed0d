//! A recording gives back what was written, whatever happens to the file in between.

#![allow(
    clippy::unwrap_used,
    reason = "a test may fail by panicking, in its functions as well"
)]

use std::collections::BTreeMap;
use std::io::{self, Write};

use leveloff_model::environment::Software;
use leveloff_model::process::{
    Pid, ProcessIndex, ProcessInfo, ProcessKey, ProcessState, Rank, Role, StartTicks,
};
use leveloff_model::progress::{
    Mark, MarkKind, Phase, Progress, ProgressSource, StepSource, StepUnit,
};
use leveloff_model::recording::{
    End, EndReason, Header, RecordingError, RecordingReader, RecordingWriter, StatedFacts, Target,
};
use leveloff_model::sample::{
    Ceiling, CeilingKind, CgroupReading, Event, FastCounters, FillingMapping, Gap, Kinds,
    MachineReading, MappingReading, OwnCost, ProcessReading, PssReading, Sample, SharedNames,
    Subject, Tick,
};
use leveloff_model::units::{ByteDelta, Bytes, CpuMillis, Limit, Seconds, Step};
use proptest::prelude::*;

fn header() -> Header {
    Header {
        tool: "0.1.0".to_owned(),
        started_unix: 1_794_808_086.25,
        host: Some("box".to_owned()),
        kernel: Some("6.18.44".to_owned()),
        target: Target::Command(vec!["python".to_owned(), "train.py".to_owned()]),
        interval: Seconds(1.0),
        pss_budget_percent: 0.5,
        stated: StatedFacts {
            level_by: Some(Step(90)),
            limit: Some(Limit::Size(Bytes(28 << 30))),
            ..StatedFacts::default()
        },
    }
}

fn process(n: u32, role: Role) -> ProcessInfo {
    ProcessInfo {
        index: ProcessIndex(n),
        key: ProcessKey {
            pid: Pid(100 + n as i32),
            start: StartTicks(5000),
        },
        parent: Pid(1),
        role,
        unknown_role: None,
        rank: (role == Role::Trainer).then_some(Rank(0)),
        comm: "pt_data_worker".to_owned(),
        command: vec!["python".to_owned(), "tra\\xffin.py".to_owned()],
        why: "maps libtorch_python.so".to_owned(),
    }
}

fn reading(n: u32, anon: u64) -> ProcessReading {
    ProcessReading {
        process: ProcessIndex(n),
        state: ProcessState::Sleeping,
        anon: Bytes(anon),
        file: Bytes(300 << 20),
        shmem: Bytes(0),
        swap: Bytes(0),
        inherited: Bytes(0),
        returned: Bytes(0),
        transferred: ByteDelta(0),
        uncertainty: Bytes(0),
        virtual_size: None,
        threads: 4,
        fds: Some(12),
        minor_faults: anon / 4096,
        major_faults: 3,
        cpu: CpuMillis(anon / 1000),
        pss: None,
        gpu: None,
    }
}

fn pss(t: f64, anon: u64) -> PssReading {
    PssReading {
        at: Seconds(t),
        pss: Bytes(anon + 4096),
        anon: Bytes(anon),
        file: Bytes(4096),
        shmem: Bytes(0),
        private: Bytes(anon),
        swap: Bytes(0),
        lazy_free: Bytes(8192),
        hugetlb: Bytes(0),
        base: FastCounters {
            anon: Bytes(anon),
            ..FastCounters::default()
        },
    }
}

fn sample(t: f64, step: u64, processes: Vec<ProcessReading>) -> Sample {
    Sample {
        t: Seconds(t),
        progress: Progress {
            step: Some(Step(step)),
            epoch: Some(0.5),
            phase: Some(Phase::Train),
            source: Some(ProgressSource::Output.into()),
            ..Progress::default()
        },
        processes,
        mappings: None,
        machine: MachineReading {
            total: Some(Bytes(24 << 30)),
            available: Some(Bytes((20 << 30) - step * 4096)),
            pressure_some: Some(0.25),
            ..MachineReading::default()
        },
        cgroup: Some(CgroupReading {
            version: 2,
            path: "/job".to_owned(),
            current: Some(Bytes(step * 1000)),
            ..CgroupReading::default()
        }),
        ceiling: Some(Ceiling {
            kind: CeilingKind::Host,
            limit: Bytes(24 << 30),
            used: Bytes(4 << 30),
        }),
        cost: OwnCost {
            cpu: CpuMillis(step),
            rss: Bytes(9 << 20),
            tick_us: 80,
        },
    }
}

/// A run in which everything happens that a recording knows of.
fn eventful_run() -> Vec<Tick> {
    let mut first = reading(0, 700 << 20);
    first.pss = Some(pss(0.0, 600 << 20));
    let mut second = first.clone();
    second.anon = Bytes(701 << 20);
    second.transferred = ByteDelta(-4096);
    second.uncertainty = Bytes(1 << 20);
    second.virtual_size = Some(Bytes(9 << 30));
    let mut without_fds = second.clone();
    without_fds.fds = None;
    let mut last = sample(3.0, 30, vec![without_fds]);
    last.progress.phase = None;
    last.cgroup = None;
    last.ceiling = None;
    last.machine.pressure_some = None;
    last.mappings = Some(MappingReading {
        process: ProcessIndex(0),
        at: Seconds(2.5),
        kinds: Kinds {
            heap: Bytes(5),
            anonymous: Bytes(7),
            shared: Some(SharedNames {
                torch: Bytes(3),
                ..SharedNames::default()
            }),
            ..Kinds::default()
        },
        filling: Some(FillingMapping {
            number: 2,
            size: Bytes(600 << 20),
            used: Bytes(90 << 20),
        }),
    });
    let evaluation = Mark {
        t: Seconds(1.5),
        process: Some(ProcessIndex(0)),
        step: Some(Step(15)),
        kind: MarkKind::Phase(Phase::Eval),
        path: None,
        malloc_used: Some(Bytes(310 << 20)),
        facts: BTreeMap::from([("loss".to_owned(), 2.5)]),
    };
    let gap = Gap {
        subject: Subject::Pss,
        process: Some(ProcessIndex(1)),
        text: "permission denied".to_owned(),
    };
    vec![
        Tick {
            events: vec![
                Event::Appeared(process(0, Role::Trainer)),
                Event::Appeared(process(1, Role::Other)),
                Event::Gap(gap),
            ],
            sample: sample(0.0, 0, vec![first, reading(1, 10 << 20)]),
        },
        Tick {
            events: vec![
                Event::Changed(process(1, Role::DataloaderWorker)),
                Event::Mark(evaluation),
            ],
            sample: sample(1.003, 10, vec![second.clone(), reading(1, 10 << 20)]),
        },
        Tick {
            events: vec![Event::Exited(ProcessIndex(1))],
            sample: sample(2.0, 20, vec![second]),
        },
        Tick {
            events: vec![],
            sample: last,
        },
    ]
}

fn written(ticks: &[Tick]) -> Vec<u8> {
    let mut writer = RecordingWriter::new(Vec::new(), &header()).unwrap();
    for tick in ticks {
        writer.write_tick(tick).unwrap();
    }
    writer
        .finish(&End {
            t: Seconds(4.0),
            reason: EndReason::Exited(3),
        })
        .unwrap()
}

fn read(bytes: &[u8]) -> Vec<Tick> {
    let mut reader = RecordingReader::new(bytes).unwrap();
    let mut ticks = Vec::new();
    while let Some(tick) = reader.next_tick().unwrap() {
        ticks.push(tick);
    }
    ticks
}

#[test]
fn what_was_written_is_read_back() {
    let bytes = written(&eventful_run());
    let mut reader = RecordingReader::new(&bytes[..]).unwrap();
    assert_eq!(reader.header(), &header());
    for expected in eventful_run() {
        assert_eq!(reader.next_tick().unwrap(), Some(expected));
    }
    assert_eq!(reader.next_tick().unwrap(), None);
    assert_eq!(
        reader.end(),
        Some(&End {
            t: Seconds(4.0),
            reason: EndReason::Exited(3)
        })
    );
}

#[test]
fn the_source_of_the_steps_is_read_back() {
    let mut ticks = eventful_run();
    let log = StepSource {
        file: Some("/home/me/train.log".to_owned()),
        counter: Some("iter".to_owned()),
        pattern: Some(r"iter (?P<step>\d+)".to_owned()),
        ..ProgressSource::Log.into()
    };
    for tick in &mut ticks[1..] {
        tick.sample.progress.source = Some(log.clone());
        tick.sample.progress.unit = Some(StepUnit::Samples);
    }
    ticks[1].events.push(Event::Mark(Mark {
        t: Seconds(1.0),
        process: None,
        step: Some(Step(10)),
        kind: MarkKind::Clock("iter".to_owned()),
        path: None,
        malloc_used: None,
        facts: BTreeMap::new(),
    }));
    let bytes = written(&ticks);
    assert_eq!(read(&bytes), ticks);
    let text = String::from_utf8(bytes).unwrap();
    let details = r#""source":"log","step_source":{"kind":"log","file":"/home/me/train.log","#;
    assert_eq!(text.matches(details).count(), 1, "{text}");
    assert!(text.contains(r#""clock":"iter""#), "{text}");
    // A recording of an earlier version has the kind alone.
    let earlier = text.replace("step_source", "later_field");
    let source = read(earlier.as_bytes())[1].sample.progress.source.clone();
    assert_eq!(source, Some(ProgressSource::Log.into()));
    let unknown = read(text.replace("\"samples\"", "\"worlds\"").as_bytes());
    assert_eq!(unknown[1].sample.progress.unit, Some(StepUnit::Steps));
}

#[test]
fn where_a_checkpoint_was_saved_is_read_back() {
    let mut ticks = eventful_run();
    let checkpoint = Mark {
        t: Seconds(1.5),
        process: Some(ProcessIndex(0)),
        step: Some(Step(15)),
        kind: MarkKind::Event("checkpoint".to_owned()),
        path: Some("/runs/ü/step 15.safetensors".to_owned()),
        malloc_used: None,
        facts: BTreeMap::new(),
    };
    ticks[1].events.push(Event::Mark(checkpoint));
    assert_eq!(read(&written(&ticks)), ticks);
}

#[test]
fn a_cut_at_any_byte_loses_at_most_the_tick_being_written() {
    let bytes = written(&eventful_run());
    let whole = read(&bytes);
    let header_end = bytes.iter().position(|&b| b == b'\n').unwrap() + 1;
    // Where each tick's last line ends.
    let tick_ends: Vec<usize> = bytes
        .split_inclusive(|&b| b == b'\n')
        .scan(0, |end, line| {
            *end += line.len();
            Some((*end, line.starts_with(b"{\"s\"")))
        })
        .filter_map(|(end, is_sample)| is_sample.then_some(end))
        .collect();
    for cut in header_end..bytes.len() {
        let complete = tick_ends.iter().filter(|&&end| end <= cut).count();
        assert_eq!(read(&bytes[..cut]), whole[..complete], "cut at byte {cut}");
    }
}

#[test]
fn a_recording_can_be_followed_while_it_is_written() {
    let bytes = written(&eventful_run());
    let file = tempfile::NamedTempFile::new().unwrap();
    let mut output = file.reopen().unwrap();
    let first_line = bytes.iter().position(|&b| b == b'\n').unwrap() + 1;
    output.write_all(&bytes[..first_line]).unwrap();
    let mut reader = RecordingReader::new(io::BufReader::new(file.reopen().unwrap())).unwrap();
    let mut ticks = Vec::new();
    for chunk in bytes[first_line..].chunks(37) {
        output.write_all(chunk).unwrap();
        while let Some(tick) = reader.next_tick().unwrap() {
            ticks.push(tick);
        }
    }
    assert_eq!(ticks, eventful_run());
}

/// A disk that is full for a while.
struct FullDisk {
    kept: Vec<u8>,
    room: usize,
}

impl Write for FullDisk {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let fits = bytes.len().min(self.room);
        if fits == 0 && !bytes.is_empty() {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.kept.extend_from_slice(&bytes[..fits]);
        self.room -= fits;
        Ok(fits)
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// `&mut FullDisk` behind a cell, so that the test can make room while the writer owns it.
#[derive(Clone)]
struct SharedDisk(std::rc::Rc<std::cell::RefCell<FullDisk>>);

impl Write for SharedDisk {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn after_a_full_disk_the_recording_goes_on_with_the_whole_state() {
    for room_in_first_tick in [0, 1, 40, 300] {
        let disk = SharedDisk(std::rc::Rc::new(std::cell::RefCell::new(FullDisk {
            kept: Vec::new(),
            room: usize::MAX,
        })));
        let mut writer = RecordingWriter::new(disk.clone(), &header()).unwrap();
        let run = eventful_run();
        disk.0.borrow_mut().room = room_in_first_tick;
        assert!(writer.write_tick(&run[0]).is_err());
        assert!(writer.write_tick(&run[1]).is_err());
        disk.0.borrow_mut().room = usize::MAX;
        writer.write_tick(&run[2]).unwrap();
        writer.write_tick(&run[3]).unwrap();
        let ticks = read(&disk.0.borrow().kept);
        let samples: Vec<&Sample> = ticks.iter().map(|tick| &tick.sample).collect();
        assert_eq!(samples, [&run[2].sample, &run[3].sample]);
        let appeared: Vec<_> = ticks[0]
            .events
            .iter()
            .filter(|event| matches!(event, Event::Appeared(_) | Event::Exited(_)))
            .collect();
        assert_eq!(
            appeared.len(),
            if room_in_first_tick == 300 { 4 } else { 3 },
            "{appeared:?}"
        );
    }
}

#[test]
fn what_became_unknown_or_zero_while_the_disk_was_full_is_so_afterwards() {
    let disk = SharedDisk(std::rc::Rc::new(std::cell::RefCell::new(FullDisk {
        kept: Vec::new(),
        room: usize::MAX,
    })));
    let mut writer = RecordingWriter::new(disk.clone(), &header()).unwrap();
    let run = eventful_run();
    writer.write_tick(&run[0]).unwrap();
    disk.0.borrow_mut().room = 10;
    assert!(writer.write_tick(&run[1]).is_err());
    disk.0.borrow_mut().room = usize::MAX;
    let mut last = run[3].clone();
    last.sample.processes[0].file = Bytes(0);
    last.events = vec![Event::Exited(ProcessIndex(1))];
    writer.write_tick(&last).unwrap();
    let ticks = read(&disk.0.borrow().kept);
    assert_eq!(ticks.last().unwrap().sample, last.sample);
}

#[test]
fn a_damaged_line_is_skipped_and_said() {
    let bytes = written(&eventful_run());
    let text = String::from_utf8(bytes)
        .unwrap()
        .replacen("{\"gap\"", "{\"\u{0}gap", 1);
    let ticks = read(text.as_bytes());
    assert_eq!(ticks.len(), 4);
    assert!(ticks[0].events.iter().any(
        |event| matches!(event, Event::Gap(gap) if gap.subject == Subject::Recording && gap.text.contains("line 4"))
    ));
}

#[test]
fn foreign_and_newer_files_are_refused_with_the_reason() {
    let open = |bytes: &[u8]| RecordingReader::new(bytes).map(|_| ()).unwrap_err();
    assert!(matches!(open(b""), RecordingError::Empty));
    assert!(matches!(
        open(b"t_s,step,pid\n"),
        RecordingError::NotARecording
    ));
    assert!(matches!(
        open(b"{\"header\":{\"format\":\"x\"}}\n"),
        RecordingError::NotARecording
    ));
    assert!(matches!(
        open(b"{\"header\""),
        RecordingError::NotARecording
    ));
    let newer = b"{\"header\":{\"format\":\"leveloff-recording\",\"version\":9,\"new\":[]}}\n";
    let error = open(newer);
    assert!(matches!(error, RecordingError::Newer { found: 9 }));
    assert!(error.to_string().contains("upgrade"), "{error}");
}

/// One active and twenty idle processes: what an hour of watching costs on disk.
#[test]
fn idle_processes_cost_no_bytes() {
    let ticks = 600;
    let mut writer = RecordingWriter::new(Vec::new(), &header()).unwrap();
    for t in 0..ticks {
        let mut processes: Vec<_> = (1..=20).map(|n| reading(n, 350 << 20)).collect();
        let mut trainer = reading(0, (16_000 << 20) + t * 165 * 4096);
        trainer.cpu = CpuMillis(1_000_000 + t * 998);
        trainer.minor_faults = 12_345_678 + t * 173;
        trainer.pss = Some(pss((t / 10 * 10) as f64, 16_000 << 20));
        processes.insert(0, trainer);
        // Milliseconds are all the sampler gives.
        let time = ((100_000.123 + t as f64 * 1.001) * 1000.0_f64).round() / 1000.0;
        let sample = sample(time, 70_000 + t, processes);
        let events = if t == 0 {
            (0..=20)
                .map(|n| Event::Appeared(process(n, Role::Other)))
                .collect()
        } else {
            vec![]
        };
        writer.write_tick(&Tick { events, sample }).unwrap();
    }
    let bytes = writer
        .finish(&End {
            t: Seconds(600.0),
            reason: EndReason::Duration,
        })
        .unwrap();
    let a_sample = bytes.len() as f64 / ticks as f64;
    assert!(a_sample <= 200.0, "{a_sample} bytes a sample");
}

/// Apart from the eventful run, which is frozen as it is.
#[test]
fn software_comes_back_and_unknown_is_not_empty() {
    let software = Software {
        process: ProcessIndex(0),
        python: Some("3.11".to_owned()),
        packages: Some(BTreeMap::from([(
            "torch".to_owned(),
            "2.8.0+cu128".to_owned(),
        )])),
        variables: Some(BTreeMap::new()),
    };
    let mut run = eventful_run();
    run[1].events.extend([
        Event::Software(software),
        Event::Software(Software::unknown(ProcessIndex(1))),
    ]);
    let bytes = written(&run);
    assert_eq!(read(&bytes), run);
    let text = String::from_utf8(bytes).unwrap();
    assert!(text.contains(
        r#"{"software":{"n":0,"python":"3.11","packages":{"torch":"2.8.0+cu128"},"variables":{}}}"#
    ));
    assert!(text.contains(r#"{"software":{"n":1}}"#));
}

/// The format is frozen: this file was written by version 1 and must be read for ever.
#[test]
fn the_frozen_recording_of_version_1_is_still_read() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../fixtures/recordings/v1.jsonl"
    );
    if std::env::var_os("LEVELOFF_FREEZE").is_some() {
        std::fs::write(path, written(&eventful_run())).unwrap();
    }
    let bytes = std::fs::read(path).unwrap();
    // Fields that were added later are absent from it.
    let mut expected = eventful_run();
    for process in expected
        .iter_mut()
        .flat_map(|tick| &mut tick.sample.processes)
    {
        (process.transferred, process.uncertainty) = (ByteDelta(0), Bytes(0));
        process.virtual_size = None;
    }
    for tick in &mut expected {
        if let Some(mappings) = &mut tick.sample.mappings {
            (mappings.filling, mappings.kinds.shared) = (None, None);
        }
        for event in &mut tick.events {
            if let Event::Mark(mark) = event {
                mark.malloc_used = None;
            }
        }
    }
    assert_eq!(read(&bytes), expected);
}

/// A later version may add names and kinds of lines without a new format version.
#[test]
fn what_a_later_leveloff_added_is_read_as_other() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../fixtures/recordings/newer-writer.jsonl"
    );
    let bytes = std::fs::read(path).unwrap();
    let mut reader = RecordingReader::new(&bytes[..]).unwrap();
    let mut ticks = Vec::new();
    while let Some(tick) = reader.next_tick().unwrap() {
        ticks.push(tick);
    }
    let events = || ticks.iter().flat_map(|tick| &tick.events);
    let roles: Vec<(Role, &str)> = events()
        .filter_map(|event| match event {
            Event::Appeared(info) => Some((info.role, info.role_name())),
            _ => None,
        })
        .collect();
    assert_eq!(
        roles,
        [(Role::Trainer, "trainer"), (Role::Other, "ray-worker")]
    );
    let subjects: Vec<Subject> = events()
        .filter_map(|event| match event {
            Event::Gap(gap) => Some(gap.subject),
            _ => None,
        })
        .collect();
    assert_eq!(subjects, [Subject::Other, Subject::Pss]);
    let marks: Vec<&MarkKind> = events()
        .filter_map(|event| match event {
            Event::Mark(mark) => Some(&mark.kind),
            _ => None,
        })
        .collect();
    assert_eq!(
        marks,
        [
            &MarkKind::Event("reshard".to_owned()),
            &MarkKind::Event("milestone".to_owned()),
            &MarkKind::Phase(Phase::Other("reshuffle".to_owned())),
        ]
    );
    let last = &ticks.last().unwrap().sample;
    assert_eq!(last.progress.source, Some(ProgressSource::Other.into()));
    assert_eq!(last.ceiling.unwrap().kind, CeilingKind::Other);
    assert_eq!(last.processes[1].state, ProcessState::Other('K'));
    assert_eq!(last.mappings.as_ref().unwrap().kinds.other, Bytes(64 << 20));
    assert_eq!(reader.end().unwrap().reason, EndReason::Other);
    // A copy keeps the name of a role that the program does not have.
    let copy = String::from_utf8(written(&ticks)).unwrap();
    assert!(copy.contains(r#""role":"ray-worker""#));
    assert_eq!(read(copy.as_bytes()), ticks);
}

proptest! {
    #[test]
    fn no_bytes_make_the_reader_panic(tail in proptest::collection::vec(any::<u8>(), 0..600)) {
        let mut bytes = written(&eventful_run()[..1]);
        bytes.extend(tail);
        let mut reader = RecordingReader::new(&bytes[..]).unwrap();
        while reader.next_tick().unwrap().is_some() {}
    }

    #[test]
    fn no_damage_makes_the_reader_panic(at in 0usize..3000, byte in any::<u8>()) {
        let mut bytes = written(&eventful_run());
        let at = at % bytes.len();
        bytes[at] = byte;
        if let Ok(mut reader) = RecordingReader::new(&bytes[..]) {
            while reader.next_tick().unwrap().is_some() {}
        }
    }
}
