use leveloff_classifier::allocation_history::{Certainty, LineGrowth};
use leveloff_classifier::units::Amount;
use leveloff_model::allocation::{AllocationSite, BlockKind, SiteId, StackFrame};
use leveloff_model::process::Pid;

use super::*;
use crate::cases;
use crate::run_report::RunReport;

fn frame(function: &str, file: &str, line: u32) -> StackFrame {
    StackFrame {
        function: function.to_owned(),
        file: Some(file.to_owned()),
        line: Some(line),
        is_python: true,
    }
}

fn report() -> RunReport {
    let mut report = cases::story_report(300);
    report.lines = vec![LineGrowth {
        site: AllocationSite {
            id: SiteId(0),
            pid: Pid(7),
            kind: BlockKind::Heap,
            stack: vec![
                frame("forward;odd", "/v/site-packages/torch/linear.py", 125),
                frame("step", "/home/me/train.py", 88),
            ],
            source: Some("y = model(x)".to_owned()),
        },
        growth: Amount(100.0 * 1024.0 * 1024.0),
        margin: Amount(1e6),
        share: 0.97,
        share_margin: 0.06,
        blocks: 200,
        rate: None,
        certainty: Certainty::Confirmed,
        is_recycled: false,
        holder: None,
    }];
    report
}

#[test]
fn a_folded_stack_has_the_outermost_frame_first_and_no_separators_in_names() {
    assert_eq!(
        folded(&report()),
        "step (train.py:88);forward:odd (linear.py:125) 102400\n"
    );
}

#[test]
fn a_flame_graph_is_well_formed_and_names_the_line() {
    let picture = String::from_utf8(svg(&report()).unwrap()).unwrap();
    let parsed = roxmltree::Document::parse_with_options(
        &picture,
        roxmltree::ParsingOptions {
            allow_dtd: true,
            ..Default::default()
        },
    );
    assert!(parsed.is_ok(), "{parsed:?}");
    assert!(picture.contains("train.py:88"));
}

#[test]
fn without_lines_there_is_a_sentence_and_no_picture() {
    let mut report = report();
    report.lines.clear();
    assert!(text(&report).contains("--blame"));
    assert!(matches!(svg(&report), Err(FlameGraphError::NothingGrew)));
}

#[test]
fn the_text_has_the_line_its_source_and_its_stack() {
    let text = text(&report());
    for part in [
        "train.py:88",
        "97 %",
        "(±6)",
        "y = model(x)",
        "linear.py:125",
    ] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
}

#[test]
fn a_profile_has_its_strings_and_one_sample_for_each_line() {
    let profile = pprof(&report());
    for text in ["grown_space", "forward;odd", "/home/me/train.py"] {
        let is_there = profile.windows(text.len()).any(|it| it == text.as_bytes());
        assert!(is_there, "{text}");
    }
    // Field 2 with two locations and two values: 200 blocks, 100 MiB.
    let sample = [
        0x12, 12, 0x0a, 2, 1, 2, 0x12, 6, 200, 1, 0x80, 0x80, 0x80, 0x32,
    ];
    let has_sample = profile.windows(sample.len()).any(|it| it == sample);
    assert!(has_sample, "{profile:x?}");
}

#[test]
fn stacks_with_a_common_caller_are_one_tree() {
    let mut report = report();
    let mut other = report.lines[0].clone();
    other.site.stack[0] = frame("backward", "/v/site-packages/torch/linear.py", 9);
    report.lines.push(other);
    let tree = frame_tree::frame_tree(&report.lines);
    assert_eq!(tree.len(), 1);
    assert_eq!(tree[0].calls.len(), 2);
    assert!((tree[0].bytes - 2.0 * report.lines[0].growth.0).abs() < 1.0);
    assert_eq!(frame_tree::depth(&tree), 2);
}

#[test]
fn the_page_has_the_lines_and_their_flame_graph() {
    let page = crate::run::html::page(&report());
    for part in [
        "Which lines allocated the memory that is not freed",
        "train.py:88",
        "<svg class=\"flame\"",
        "97 % ±6",
    ] {
        assert!(page.contains(part), "{part}");
    }
    let without = crate::run::html::page(&cases::story_report(300));
    assert!(!without.contains("<svg class=\"flame\""));
}
