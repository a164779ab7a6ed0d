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
