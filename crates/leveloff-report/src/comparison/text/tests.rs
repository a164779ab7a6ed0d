use leveloff_classifier::compare::{ChangeFinding, LineChange, LineRate};
use leveloff_classifier::units::AmountPerX;
use leveloff_model::allocation::{AllocationSite, BlockKind, SiteId, StackFrame};
use leveloff_model::process::Pid;

use super::*;
use crate::check_cases::Pair;
use crate::comparison::{html, json, markdown};

#[test]
fn golden() {
    for (name, pair) in Pair::all() {
        pair.compared(|compared| {
            insta::assert_snapshot!(
                format!("comparison-text-{name}"),
                page(compared, Paint::Plain)
            );
            insta::assert_snapshot!(
                format!("comparison-markdown-{name}"),
                markdown::document(compared)
            );
            let row: serde_json::Value = serde_json::from_str(&json::object(compared)).unwrap();
            let text = serde_json::to_string_pretty(&row).unwrap();
            insta::assert_snapshot!(format!("comparison-json-{name}"), text);
        });
    }
}

#[test]
fn fits_the_screen() {
    for (name, pair) in Pair::all() {
        pair.compared(|compared| {
            let text = page(compared, Paint::Plain);
            let wide = text.lines().find(|line| columns(line) > WIDTH);
            assert_eq!(wide, None, "{name}");
        });
    }
}

/// A line that makes more than before.
fn line_change() -> LineChange {
    let rate = |rate: f64| LineRate {
        rate: AmountPerX(rate),
        margin: AmountPerX(0.1 * rate),
    };
    let frame = StackFrame {
        function: "step".to_owned(),
        file: Some("/home/me/train.py".to_owned()),
        line: Some(88),
        is_python: true,
    };
    LineChange {
        site: AllocationSite {
            id: SiteId(0),
            pid: Pid(7),
            kind: BlockKind::Heap,
            stack: vec![frame],
            source: Some("outs.append(y)".to_owned()),
        },
        before: None,
        after: Some(rate(3.0 * 1024.0 * 1024.0)),
        change: AmountPerX(3.0 * 1024.0 * 1024.0),
        low: AmountPerX(2.5 * 1024.0 * 1024.0),
        high: AmountPerX(3.5 * 1024.0 * 1024.0),
        finding: ChangeFinding::More,
    }
}

#[test]
fn every_format_has_the_lines_whose_memory_changed() {
    let lines = [line_change()];
    let (_, pair) = Pair::all().remove(0);
    pair.compared(|compared| {
        let with = Compared {
            lines: Some(&lines),
            ..*compared
        };
        let html = html::page(&with, &pair.before, &pair.after);
        for text in [page(&with, Paint::Plain), markdown::document(&with), html] {
            for part in ["train.py:88 in step", "3.00 MiB", "more"] {
                assert!(text.contains(part), "{part} is not in\n{text}");
            }
        }
        let row: serde_json::Value = serde_json::from_str(&json::object(&with)).unwrap();
        assert_eq!(row["lines"][0]["line"], 88);
        assert_eq!(row["lines"][0]["finding"], "more");
        assert_eq!(
            row["lines"][0]["before_rate_bytes"],
            serde_json::Value::Null
        );
        assert!(!page(compared, Paint::Plain).contains("kept per"));
    });
}
