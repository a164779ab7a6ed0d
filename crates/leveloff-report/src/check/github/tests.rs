use pulldown_cmark::{Event, Options, Parser, Tag};

use super::*;
use crate::check::report::Runs;
use crate::check_cases::{self, all, check, hostile, leaky, run};

#[test]
fn golden() {
    for (name, report) in all() {
        insta::assert_snapshot!(format!("annotations-{name}"), annotations(&report));
        insta::assert_snapshot!(format!("summary-{name}"), step_summary(&report));
    }
}

#[test]
fn what_is_annotated_is_as_grave_as_the_outcome() {
    for (name, report) in all() {
        let text = annotations(&report);
        let kind = match report.outcome() {
            CheckOutcome::Passed => "::notice ",
            CheckOutcome::Open => "::warning ",
            CheckOutcome::Failed | CheckOutcome::Broken => "::error ",
        };
        assert!(text.starts_with(kind), "{name}: {text}");
        let is_red = matches!(
            report.outcome(),
            CheckOutcome::Failed | CheckOutcome::Broken
        );
        assert_eq!(text.contains("::error "), is_red, "{name}: {text}");
    }
    let mut report = check_cases::undecided();
    report.open_counts_as = CheckOutcome::Failed;
    assert!(annotations(&report).starts_with("::error "));
}

#[test]
fn hostile_text_injects_no_workflow_command() {
    let text = annotations(&hostile());
    for line in text.lines() {
        assert!(line.starts_with("::error title=leveloff "), "{line}");
        let title = line.strip_prefix("::error title=").unwrap();
        let title = &title[..title.find("::").unwrap()];
        assert!(!title.contains(':') && !title.contains(','), "{title}");
    }
    assert_eq!(text.lines().count(), 2, "{text}");
    assert!(text.contains("%0A%3A%3Aerror%3A%3Ax"), "{text}");
}

#[test]
fn no_more_are_annotated_than_are_shown() {
    let runs = (0..25).map(|n| run(&format!("{n}.jsonl"), 600, leaky));
    let text = annotations(&check(Runs::Different, runs.collect()));
    assert_eq!(text.lines().count(), MOST_OF_A_KIND);
    assert!(
        text.ends_with("::16 more; the log has them all\n"),
        "{text}"
    );
}

#[test]
fn the_summary_is_tables_whatever_things_are_called() {
    let mut reports = all();
    reports.push(("hostile", hostile()));
    for (name, report) in reports {
        let text = step_summary(&report);
        let mut cells: Vec<usize> = Vec::new();
        for event in Parser::new_ext(&text, Options::ENABLE_TABLES) {
            match event {
                Event::Start(Tag::TableRow | Tag::TableHead) => cells.push(0),
                Event::Start(Tag::TableCell) => *cells.last_mut().unwrap() += 1,
                Event::Html(html) | Event::InlineHtml(html) => panic!("{name}: {html}"),
                _ => {}
            }
        }
        let first_table = 1 + CheckResult::of(&report).len();
        assert!(cells.len() >= first_table, "{name}: {text}");
        assert!(
            cells[..first_table].iter().all(|cells| *cells == 4),
            "{name}: {text}"
        );
        assert!(
            cells[first_table..].iter().all(|cells| *cells == 5),
            "{name}: {text}"
        );
    }
}
