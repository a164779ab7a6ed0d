use crate::allocation::{
    AllocationReading, AllocationSite, BlockKind, MissedBlocks, SiteId, SiteReading, StackFrame,
};
use crate::process::Pid;
use crate::recording::RecordingReader;
use crate::recording::v1::Row;
use crate::sample::Event;
use crate::units::{Bytes, Seconds};

use super::{AllocationDecoder, AllocationEncoder};

fn frame(function: &str, file: Option<&str>, line: u32, is_python: bool) -> StackFrame {
    StackFrame {
        function: function.to_owned(),
        file: file.map(str::to_owned),
        line: Some(line),
        is_python,
    }
}

fn site(id: u32, kind: BlockKind, stack: &[StackFrame], source: Option<&str>) -> Event {
    Event::Site(AllocationSite {
        id: SiteId(id),
        pid: Pid(70),
        kind,
        stack: stack.to_vec(),
        source: source.map(str::to_owned),
    })
}

/// A site, and how many blocks, KiB and KiB of error it has, and how many were freed.
fn held(id: u32, [blocks, kib, error, freed]: [u64; 4]) -> SiteReading {
    SiteReading {
        site: SiteId(id),
        live: Bytes(kib << 10),
        blocks,
        error: Bytes(error << 10),
        freed,
    }
}

fn reading(t: f64, live: u64, sites: Vec<SiteReading>) -> Event {
    Event::Allocations(AllocationReading {
        t: Seconds(t),
        live: Bytes(live << 10),
        missed: None,
        sites,
    })
}

fn row(encoder: &mut AllocationEncoder, event: &Event) -> Row {
    match event {
        Event::Site(site) => encoder.line(site),
        Event::Allocations(reading) => encoder.held(reading),
        _ => panic!("{event:?}"),
    }
}

/// The lines of events, after it was seen that they are read back as they were.
fn lines(events: &[Event]) -> Vec<String> {
    let (mut encoder, mut decoder) = (AllocationEncoder::default(), AllocationDecoder::default());
    let mut line = |event: &Event| {
        let line = serde_json::to_string(&row(&mut encoder, event)).unwrap();
        let read = match serde_json::from_str(&line).unwrap() {
            Row::Line(row) => Event::Site(decoder.site(row)),
            Row::Held(row) => Event::Allocations(decoder.reading(&row)),
            other => panic!("{other:?}"),
        };
        assert_eq!(&read, event, "{line}");
        line
    };
    events.iter().map(&mut line).collect()
}

#[test]
fn a_line_is_written_with_its_frame_and_what_another_line_has_is_not_repeated() {
    let step = frame("step", Some("/a/train.py"), 8, true);
    let blocks = site(
        0,
        BlockKind::Heap,
        std::slice::from_ref(&step),
        Some("x = f()"),
    );
    let objects = site(1, BlockKind::PythonObject, &[step], Some("x = f()"));
    assert_eq!(
        lines(&[blocks, objects]),
        [
            r#"{"line":{"id":0,"pid":70,"files":{"0":"/a/train.py"},"stack":[["step",0,8]],"source":"x = f()"}}"#,
            r#"{"line":{"id":1,"kind":"python-object","stack":[["step",0,8]]}}"#,
        ]
    );
}

#[test]
fn more_of_a_stack_may_follow() {
    let step = frame("step", Some("/a/train.py"), 8, true);
    let native = frame("at::empty", Some("/b/libtorch.so"), 0, false);
    let unknown = frame("?", None, 0, false);
    let short = site(0, BlockKind::Heap, std::slice::from_ref(&step), None);
    let whole = site(0, BlockKind::Heap, &[unknown, native, step], None);
    assert_eq!(
        lines(&[short, whole])[1],
        r#"{"line":{"id":0,"files":{"1":"/b/libtorch.so"},"stack":[["?",null,0,0],["at::empty",1,0,0],["step",0,8]]}}"#
    );
}

#[test]
fn of_what_is_in_proportion_only_the_blocks_are_written() {
    let first = held(0, [16, 8192, 2048, 0]);
    let events = [
        reading(2.0, 10_000, vec![first]),
        reading(4.0, 18_192, vec![held(0, [32, 16_384, 2897, 0])]),
        reading(6.5, 34_576, vec![held(0, [64, 32_768, 4096, 3])]),
        reading(8.0, 34_577, vec![held(0, [64, 32_769, 4096, 3])]),
    ];
    assert_eq!(
        lines(&events),
        [
            r#"{"held":{"t":2.0,"rest":1808,"0":[16,0,8192,2048]}}"#,
            r#"{"held":{"t":4.0,"0":32}}"#,
            r#"{"held":{"t":6.5,"0":[64,3]}}"#,
            r#"{"held":{"t":8.0,"0":[64,3,32769,4096]}}"#,
        ]
    );
}

#[test]
fn missed_blocks_are_read_back() {
    let event = Event::Allocations(AllocationReading {
        t: Seconds(2.0),
        live: Bytes(0),
        missed: Some(MissedBlocks {
            missed: 3,
            sampled: 70,
        }),
        sites: Vec::new(),
    });
    assert_eq!(lines(&[event]), [r#"{"held":{"t":2.0,"missed":[3,70]}}"#]);
}

#[test]
fn after_a_loss_nothing_rests_on_what_was_written_before() {
    let mut encoder = AllocationEncoder::default();
    row(
        &mut encoder,
        &reading(2.0, 10_000, vec![held(0, [16, 8192, 2048, 0])]),
    );
    encoder.write_in_full();
    let later = reading(4.0, 18_192, vec![held(0, [32, 16_384, 2897, 0])]);
    let line = serde_json::to_string(&row(&mut encoder, &later)).unwrap();
    assert_eq!(line, r#"{"held":{"t":4.0,"0":[32,0,16384,2897]}}"#);
}

#[test]
fn fields_of_a_later_version_are_left_out() {
    let line = r#"{"held":{"t":4.0,"0":32,"1":[1,2,3,4],"2":[1,2,3,4,5],"of":"x"}}"#;
    let Row::Held(row) = serde_json::from_str(line).unwrap() else {
        panic!("{line}");
    };
    let reading = AllocationDecoder::default().reading(&row);
    // Of line 0, nothing is known that its blocks could be in proportion to.
    assert_eq!(reading.sites, [held(1, [1, 3, 4, 2])]);
}

#[test]
fn lines_as_they_were_written_before_are_read() {
    let recording = concat!(
        r#"{"header":{"format":"leveloff-recording","version":1,"tool":"0.2.0","started_unix":1.0,"interval_s":1.0,"pss_budget_percent":0.5}}"#,
        "\n",
        r#"{"site":{"id":0,"pid":70,"kind":"heap","stack":[["step","/a/train.py",8,1]],"source":"x = f()"}}"#,
        "\n",
        r#"{"alloc":{"t":2.0,"live":10000,"of":[[0,8192,16,2048,0]]}}"#,
        "\n",
        r#"{"s":{"t":3.0,"c":[1,1,1]}}"#,
        "\n",
    );
    let mut reader = RecordingReader::new(recording.as_bytes()).unwrap();
    let tick = reader.next_tick().unwrap().unwrap();
    let step = frame("step", Some("/a/train.py"), 8, true);
    let expected = [
        site(0, BlockKind::Heap, &[step], Some("x = f()")),
        reading(2.0, 10_000, vec![held(0, [16, 8192, 2048, 0])]),
    ];
    assert_eq!(tick.events, expected);
}

proptest::proptest! {
    #[test]
    fn any_readings_are_read_back(
        amounts in proptest::collection::vec((0_u32..3, 0_u64..200, 0_u64..1 << 30, 0_u64..1 << 20, 0_u64..9, 0_u64..1 << 31), 0..40),
    ) {
        let event = |(n, (id, blocks, kib, error, freed, live)): (usize, _)| {
            reading(n as f64, live, vec![held(id, [blocks, kib, error, freed])])
        };
        let events: Vec<Event> = amounts.into_iter().enumerate().map(event).collect();
        lines(&events);
    }
}
