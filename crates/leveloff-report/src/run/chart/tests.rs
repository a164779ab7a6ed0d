use leveloff_classifier::observation::{Observation, ProcessShare};
use leveloff_classifier::run_curves::Series;
use leveloff_model::process::{Pid, ProcessIndex, Role};
use leveloff_model::progress::{MarkKind, Phase};
use leveloff_model::units::{Bytes, Seconds};

use super::*;
use crate::cases::{report, story_report};

fn at(step: u32, memory: u64) -> Observation {
    Observation {
        count: Some(f64::from(step)),
        t: Some(Seconds(f64::from(step))),
        memory: Bytes(memory << 20),
        ..Observation::default()
    }
}

fn share(index: u32, role: Role, memory: u64) -> ProcessShare {
    ProcessShare::with_memory(
        ProcessIndex(index),
        Pid(100 + index as i32),
        role,
        Bytes(memory << 20),
    )
}

/// A hundred thousand samples, one of which is high.
fn spiky() -> RunReport {
    report((0..100_000).map(|step| at(step, if step == 61_234 { 3000 } else { 1000 })))
}

/// The words of an SVG, one a line.
fn texts(svg: &str) -> Vec<&str> {
    let texts = svg.split("<text ").skip(1);
    texts
        .filter_map(|text| text.split_once('>')?.1.split_once('<'))
        .map(|(text, _)| text.trim())
        .collect()
}

#[test]
fn the_title_is_the_verdict_and_below_it_stands_what_was_seen() {
    let svg = svg(&story_report(20));
    let texts = texts(&svg);
    assert!(
        texts[0].starts_with("LEVEL (early) since step "),
        "{texts:?}"
    );
    assert!(texts[1].starts_with("run.csv · steps 10–200"), "{texts:?}");
    assert!(
        texts
            .iter()
            .any(|text| text.starts_with("level since step")),
        "{texts:?}"
    );
    assert!(texts.contains(&"training step"), "{texts:?}");
}

#[test]
fn growth_leads_to_the_limit_and_says_when() {
    let svg = svg(&story_report(8));
    let texts = texts(&svg);
    assert!(texts.contains(&"limit 29.8 GiB"), "{texts:?}");
    let reached = texts
        .iter()
        .find(|text| text.starts_with("reached at step 1"));
    assert!(reached.is_some(), "{texts:?}");
}

#[test]
fn the_chart_has_a_text_alternative_and_can_stand_in_a_page_twice() {
    let svg = svg(&story_report(8));
    assert!(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"1200\""));
    assert!(svg.trim_end().ends_with("</svg>"));
    assert_eq!(svg.matches("<svg").count(), 1);
    assert!(svg.contains("role=\"img\""));
    assert!(svg.contains("<title>WARMING UP"), "{}", &svg[..300]);
    let (_, about) = svg.split_once("<desc>").unwrap();
    assert!(
        about.starts_with("Memory of the run over steps 10–80, 10 min, 8 points"),
        "{}",
        &about[..90]
    );
    assert!(!svg.contains(" id="));
}

#[test]
fn a_hostile_name_is_no_markup() {
    let mut report = story_report(8);
    report.input = "<script>alert(1)</script>&\"\u{1b}[31m.csv".to_owned();
    let svg = svg(&report);
    assert!(!svg.contains("<script"));
    assert!(svg.contains("&lt;script&gt;alert(1)&lt;/script&gt;&amp;&quot;"));
    assert!(!svg.contains('\u{1b}'));
}

#[test]
fn one_sample_in_a_hundred_thousand_is_seen() {
    let report = spiky();
    let content = ChartContent::of(&report, COLUMNS, NUMBER_ROWS, Room::ForAll).unwrap();
    assert!(
        content.columns.len() <= COLUMNS + 1,
        "{}",
        content.columns.len()
    );
    let highs = content
        .columns
        .iter()
        .filter_map(|column| column.span.value(Series::Memory));
    assert_eq!(
        highs
            .filter(|reach| reach.high == 3000.0 * 1_048_576.0)
            .count(),
        1
    );
    // The picture has the curve's colour near its top, and only there where the spike is.
    let pixels = decoded(&png(&report).unwrap());
    let frame = Frame::new(103.0, content.x.clone(), content.amounts.range.clone());
    let row = 2 * frame.row(2900.0 * 1_048_576.0).round() as usize;
    let line = &pixels[row * 2400 * 3..(row + 1) * 2400 * 3];
    let is_curve = |pixel: &[u8]| pixel[0] < 90 && pixel[2] > 120;
    let hits: Vec<usize> = line
        .chunks(3)
        .enumerate()
        .filter(|(_, pixel)| is_curve(pixel))
        .map(|(x, _)| x)
        .collect();
    let middle = 2.0 * frame.column(61_234.0);
    assert!(!hits.is_empty());
    assert!(
        hits.iter().all(|x| (*x as f64 - middle).abs() < 12.0),
        "{hits:?} around {middle}"
    );
}

fn decoded(file: &[u8]) -> Vec<u8> {
    let mut reader = png::Decoder::new(std::io::Cursor::new(file))
        .read_info()
        .unwrap();
    assert_eq!((reader.info().width, reader.info().height), (2400, 1280));
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    reader.next_frame(&mut pixels).unwrap();
    pixels
}

#[test]
fn roles_and_events_are_named_and_the_rest_is_summed() {
    let roles = [
        Role::Trainer,
        Role::DataloaderWorker,
        Role::CompileWorker,
        Role::CompilePool,
        Role::Launcher,
        Role::Helper,
        Role::Other,
    ];
    let run = (1..200).map(|step| {
        let processes = roles
            .iter()
            .zip(0..)
            .map(|(role, n)| share(n, *role, 700 - 100 * u64::from(n)));
        Observation {
            processes: processes.collect(),
            rss_sum: Some(Bytes(40_000 << 20)),
            marks: if step % 50 == 0 {
                vec![MarkKind::Phase(Phase::Eval)]
            } else {
                Vec::new()
            },
            ..at(step, 2800)
        }
    });
    let svg = svg(&report(run));
    let texts = texts(&svg);
    for expected in [
        "trainer",
        "dataloader-worker",
        "others",
        "evaluation",
        "sum of RSS: 39.1 GiB, far above this chart",
    ] {
        assert!(texts.contains(&expected), "{expected}: {texts:?}");
    }
    assert!(!texts.contains(&"other"), "{texts:?}");
}

#[test]
fn next_to_nothing_can_be_drawn() {
    let one = report(std::iter::once(at(5, 100)));
    assert!(svg(&one).contains("1 point"));
    png(&one).unwrap();
    let zero = report((0..9).map(|step| at(step, 0)));
    png(&zero).unwrap();
}
