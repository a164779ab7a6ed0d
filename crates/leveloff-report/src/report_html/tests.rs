//! Whole pages, of runs that were really judged.

use leveloff_model::process::Role;
use serde_json::Value;

use super::page;
use crate::cases::{Run, mib};
use crate::run_report::RunReport;

/// What a stranger may call a process, an event, a file.
const HOSTILE: &str =
    "</script><script>alert(1)</script><!--<img src=x onerror=alert(2)>\"'&\u{2028}";

const ALWAYS: [&str; 7] = [
    "Memory over the run",
    "What grew",
    "Findings and next steps",
    "How much memory it needs",
    "Environment",
    "How this is known",
    "Data",
];

fn story() -> RunReport {
    let grown = |step: u32| 5300.0 + 165.0 * f64::from(step.min(80));
    Run::default()
        .steps(1..=300, |step| mib(grown(step)))
        .report()
}

fn leak() -> RunReport {
    let grown = |step: u32| mib(2000.0 + 8.0 * f64::from(step));
    Run::default()
        .role(Role::Trainer, 1)
        .limit(mib(16_000.0))
        .steps(1..=900, grown)
        .report()
}

fn over_count() -> RunReport {
    let run = Run::default()
        .role(Role::Trainer, 1)
        .role(Role::CompileWorker, 20);
    run.steps(1..=300, |_| mib(4000.0)).report()
}

fn too_short() -> RunReport {
    Run::default()
        .steps(1..=3, |step| mib(f64::from(step)))
        .report()
}

fn data_of(html: &str) -> Value {
    let (_, rest) = html.split_once("id=\"data\">").unwrap();
    let (json, _) = rest.split_once("</script>").unwrap();
    serde_json::from_str(json).unwrap()
}

fn assert_has(html: &str, wanted: &[&str]) {
    for wanted in wanted {
        assert!(html.contains(wanted), "{wanted:?} is missing");
    }
}

#[test]
fn every_page_has_its_sections_in_order_and_data_that_can_be_read() {
    for report in [story(), leak(), over_count(), too_short()] {
        let html = page(&report);
        let places = ALWAYS.map(|heading| html.find(&format!("{heading}</h2>")));
        assert!(places.iter().all(Option::is_some), "{places:?}");
        assert!(places.is_sorted(), "{places:?}");
        let data = data_of(&html);
        let memory = &data["runs"][0]["series"][0];
        let spans = report.curves.spans().count();
        assert_eq!(memory["name"], "memory");
        assert_eq!(memory["low"].as_array().unwrap().len(), spans);
        assert_eq!(memory.get("high"), None, "nothing was folded");
    }
}

#[test]
fn the_story_levels_off_and_has_a_size() {
    let html = page(&story());
    assert_has(
        &html,
        &["class=\"level\"", "LEVEL", "GiB needed", "End of warmup"],
    );
    assert!(
        !html.contains("Who ran"),
        "one number only: nobody is known"
    );
    assert_has(&html, &["Memory is the number that the file has"]);
    let marks = &data_of(&html)["runs"][0]["marks"];
    assert!(marks["level"]["from"][0].is_number());
    assert!(marks["growth"].is_null());
}

#[test]
fn a_leak_says_how_fast_by_when_and_that_no_size_is_enough() {
    let html = page(&leak());
    assert_has(
        &html,
        &[
            "class=\"leak\"",
            "8.00 MiB per step",
            "80.0 MiB per 10 steps",
        ],
    );
    assert_has(&html, &["No amount is enough", "is reached at step"]);
    let marks = &data_of(&html)["runs"][0]["marks"];
    assert!(marks["forecast"]["at"][0].as_f64().unwrap() > 900.0);
    assert!(marks["growth"]["to"][1].is_number());
}

#[test]
fn twenty_workers_are_one_line_and_their_rss_is_named_as_what_it_is() {
    let html = page(&over_count());
    assert_has(
        &html,
        &["×20", "A sum of RSS would have said", "each</span>"],
    );
}

#[test]
fn a_short_run_says_what_is_missing() {
    let html = page(&too_short());
    assert_has(&html, &["UNDECIDED", "more points", "Not known"]);
}

#[test]
fn names_of_strangers_stay_names() {
    let mut report = leak();
    report.input = HOSTILE.to_owned();
    report.notes.push(HOSTILE.to_owned());
    report.background.command = Some(vec![HOSTILE.to_owned()]);
    report.background.host = Some(HOSTILE.to_owned());
    report.background.gaps.push(HOSTILE.to_owned());
    for member in &mut report.members {
        member.command = Some(vec![HOSTILE.to_owned()]);
        member.why = Some(HOSTILE.to_owned());
    }
    let quiet = page(&leak());
    let html = page(&report);
    for tag in ["<script", "</script", "<!--", "<img"] {
        let count = |html: &str| html.matches(tag).count();
        assert_eq!(count(&html), count(&quiet), "{tag}");
    }
}

#[test]
fn events_of_strangers_stay_events() {
    let run = Run::default()
        .event(50, HOSTILE)
        .steps(1..=100, |_| mib(100.0));
    let html = page(&run.report());
    assert_eq!(html.matches("</script").count(), 2);
    let event = &data_of(&html)["runs"][0]["events"][0];
    assert_eq!(event["label"], HOSTILE);
    assert_eq!(event["x"], 50);
}

#[test]
fn a_long_run_of_every_series_is_below_two_megabytes() {
    let all = Role::ALL.into_iter();
    let run = all
        .fold(Run::default(), |run, role| run.role(role, 1))
        .with_everything();
    let wavy = |step: u32| 9e11 + 1e9 * f64::from(step % 977) + f64::from(step);
    let report = run.steps(1..=66_000, wavy).report();
    assert!(report.curves.stride() > 1);
    assert_eq!(report.curves.series().len(), 18);
    let html = page(&report);
    assert!(html.len() < 2_000_000, "{} bytes", html.len());
    assert!(data_of(&html)["runs"][0]["series"][0]["high"].is_array());
    assert_has(&html, &["no spike is lost", "leveloff export"]);
}

#[test]
fn the_page_asks_for_nothing() {
    let html = page(&story());
    assert_has(
        &html,
        &["default-src &#39;none&#39;; script-src &#39;sha256-"],
    );
    for outside in ["http://", "https://", "src=", "@import", "url(http"] {
        let found = html.replace("http://www.w3.org/2000/svg", "");
        assert!(!found.contains(outside), "{outside}");
    }
}
