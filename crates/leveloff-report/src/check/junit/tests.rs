use roxmltree::{Document, Node};

use super::*;
use crate::check_cases::{self, all, hostile};

/// Names, and what each case has inside: `failure`, `error`, `skipped` or nothing.
fn cases(text: &str) -> Vec<(String, String)> {
    let document = Document::parse(text).unwrap();
    let inside = |case: Node| {
        let results = ["failure", "error", "skipped"];
        let mut children = case
            .children()
            .map(|child| child.tag_name().name().to_owned());
        children
            .find(|name| results.contains(&name.as_str()))
            .unwrap_or_default()
    };
    let is_case = |node: &Node| node.has_tag_name("testcase");
    let cases = document.descendants().filter(is_case);
    cases
        .map(|case| (case.attribute("name").unwrap().to_owned(), inside(case)))
        .collect()
}

fn results(report: &CheckReport) -> Vec<String> {
    cases(&document(report))
        .into_iter()
        .map(|(_, result)| result)
        .collect()
}

#[test]
fn golden() {
    for (name, report) in all() {
        insta::assert_snapshot!(format!("junit-{name}"), document(&report));
    }
}

#[test]
fn a_job_is_red_when_the_check_failed_and_only_then() {
    for (name, report) in all() {
        let results = results(&report);
        let has = |result: &str| results.iter().any(|is| is == result);
        let outcome = report.outcome();
        assert_eq!(has("failure"), outcome == CheckOutcome::Failed, "{name}");
        assert_eq!(has("error"), outcome == CheckOutcome::Broken, "{name}");
        assert_eq!(has("skipped"), outcome == CheckOutcome::Open, "{name}");
    }
}

#[test]
fn what_undecided_counts_as_decides_what_it_is_here() {
    let counted = |counts_as| {
        let mut report = check_cases::undecided();
        report.open_counts_as = counts_as;
        results(&report)[0].clone()
    };
    assert_eq!(counted(CheckOutcome::Open), "skipped");
    assert_eq!(counted(CheckOutcome::Failed), "failure");
    assert_eq!(counted(CheckOutcome::Passed), "");
}

#[test]
fn counts_are_those_of_what_is_inside() {
    for (name, report) in all() {
        let text = document(&report);
        let parsed = Document::parse(&text).unwrap();
        let count = |node: Node, tag: &str| {
            let these = node.descendants().filter(|inner| inner.has_tag_name(tag));
            these.count().to_string()
        };
        let counted = [
            ("tests", "testcase"),
            ("failures", "failure"),
            ("errors", "error"),
        ];
        let is_suite = |node: &Node| node.tag_name().name().starts_with("testsuite");
        for suite in parsed.descendants().filter(is_suite) {
            for (attribute, tag) in counted {
                let expected = count(suite, tag);
                assert_eq!(suite.attribute(attribute), Some(&*expected), "{name} {tag}");
            }
        }
    }
}

#[test]
fn any_name_makes_a_sound_document() {
    let report = hostile();
    let text = document(&report);
    let parsed = Document::parse(&text).unwrap();
    let suite = parsed.root_element().first_element_child().unwrap();
    let name = report.name.replace('\u{1b}', "");
    assert_eq!(suite.attribute("name"), Some(&*name));
}

#[test]
fn a_recording_that_is_named_after_its_moment_does_not_rename_the_tests() {
    let mut report = check_cases::leak();
    report.runs_are = crate::check::report::Runs::Repeats;
    let class = |report: &CheckReport| {
        let text = document(report);
        let parsed = Document::parse(&text).unwrap();
        let mut cases = parsed.descendants().filter(|n| n.has_tag_name("testcase"));
        cases
            .next()
            .unwrap()
            .attribute("classname")
            .unwrap()
            .to_owned()
    };
    let before = class(&report);
    report.runs[0].input = "leveloff-20261116-0135-train.jsonl".to_owned();
    assert_eq!(class(&report), before);
}
