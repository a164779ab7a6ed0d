//! Whole pages, of runs that were really judged.

use leveloff_model::process::Role;
use leveloff_model::training_counters::{TrainingCounter, TrainingCounters};
use serde_json::Value;

use super::page;
use crate::cases::{Run, mib};
use crate::run_report::RunReport;

/// A hostile name of a process, an event or a file.
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
        .steps(1..=1200, grown)
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
        "one number only: no process is known"
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
        &["×20", "A sum of RSS would have been", "each</span>"],
    );
}

#[test]
fn a_short_run_says_what_is_missing() {
    let html = page(&too_short());
    assert_has(&html, &["WARMING UP", "more points", "Not known"]);
}

#[test]
fn hostile_names_stay_names() {
    let mut report = leak();
    report.input = HOSTILE.to_owned();
    report.notes.push(HOSTILE.to_owned());
    report.background.command = Some(vec![HOSTILE.to_owned()]);
    report.background.host = Some(HOSTILE.to_owned());
    report.background.gaps.push(HOSTILE.to_owned());
    for process in &mut report.processes {
        if let Some(info) = &mut process.account.info {
            info.command = vec![HOSTILE.to_owned()];
            info.why = HOSTILE.to_owned();
        }
    }
    let quiet = page(&leak());
    let html = page(&report);
    for tag in ["<script", "</script", "<!--", "<img"] {
        let count = |html: &str| html.matches(tag).count();
        assert_eq!(count(&html), count(&quiet), "{tag}");
    }
}

#[test]
fn hostile_events_stay_events() {
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
    assert_eq!(report.curves.series().len(), 20 + Role::ALL.len());
    let html = page(&report);
    assert!(html.len() < 2_000_000, "{} bytes", html.len());
    assert!(data_of(&html)["runs"][0]["series"][0]["high"].is_array());
    assert_has(&html, &["no spike is lost", "leveloff export"]);
}

/// Memory grows, malloc says that native code holds it; no tensor and no Python object does.
fn native(step: u32) -> TrainingCounters {
    let mib = |amount: u32| u64::from(amount) << 20;
    // The first count comes some steps later.
    if step < 10 {
        return TrainingCounters::default();
    }
    TrainingCounters::default()
        .with(TrainingCounter::Tensors, 6529)
        .with(TrainingCounter::GcObjects, 310_000)
        .with(
            TrainingCounter::PythonBlocks,
            1_520_000 + u64::from(step % 7),
        )
        .with(TrainingCounter::MallocUsed, mib(1500 + 8 * step))
        .with(TrainingCounter::MallocFree, mib(40 + step % 3))
        .with(TrainingCounter::Pinned, mib(256))
        .with(TrainingCounter::Trimmed, (step >= 800).then_some(mib(6)))
}

fn native_leak() -> Run {
    Run::default()
        .role(Role::Trainer, 1)
        .counts(native)
        .grown("float32[64, 1024] cpu", 1412, 412 << 20)
        .steps(1..=900, |step| mib(2000.0 + 8.0 * f64::from(step)))
}

#[test]
fn counters_can_be_shown_and_a_trim_is_a_sentence() {
    let html = page(&native_leak().report());
    let data = data_of(&html);
    let series = data["runs"][0]["series"].as_array().unwrap();
    let look = |name: &str| {
        let found = series.iter().find(|series| series["name"] == name);
        found.map(|series| {
            let text = |key: &str| series[key].as_str().unwrap().to_owned();
            (text("group"), text("unit"), series["shown"] == true)
        })
    };
    let is = |group: &str, unit: &str, shown| Some((group.to_owned(), unit.to_owned(), shown));
    assert_eq!(look("tensors"), is("tensors", "count", true));
    assert_eq!(look("gc_objects"), is("counts", "count", false));
    assert_eq!(look("python_blocks"), is("counts", "count", false));
    assert_eq!(look("malloc_used"), is("inside", "bytes", false));
    assert_eq!(look("malloc_free"), is("inside", "bytes", false));
    assert_eq!(look("pinned"), is("inside", "bytes", false));
    assert_eq!(look("trimmed"), None);
    assert_has(
        &html,
        &["malloc_trim released 6.0 MiB in the training: this much"],
    );
    assert!(!html.contains("given back by malloc_trim"));
}

#[test]
fn what_was_counted_later_has_not_grown_from_nothing() {
    let html = page(&native_leak().report());
    let row = |name: &str| {
        let (_, row) = html
            .split_once(&format!("<th scope=\"row\">{name}</th>"))
            .unwrap();
        row.split_once("</tr>").unwrap().0.to_owned()
    };
    let tensors = row("live tensors");
    assert!(
        tensors.contains("<td class=\"n\">6,529</td>") && tensors.contains(">+0<"),
        "{tensors}"
    );
    assert!(
        row("malloc in use").contains("1.5 GiB"),
        "{}",
        row("malloc in use")
    );
    for ruled_out in [
        "<li>live tensors: 6,529 at the start, 6,529 at the end</li>",
        "<li>free, retained by malloc: ",
        "<li>pinned host memory: 256 MiB at the start, 256 MiB at the end</li>",
    ] {
        assert_has(&html, &[ruled_out]);
    }
    assert!(!html.contains("<li>malloc in use:"), "it is what grows");
    for number in ["<li>gc objects:", "<li>Python blocks:"] {
        assert!(!html.contains(number), "a few objects can hold much");
    }
}

#[test]
fn what_one_rank_counts_is_not_said_of_the_others() {
    let run = Run::default().role(Role::Trainer, 2).counts(native);
    let report = run.steps(1..=900, |step| mib(2000.0 + 8.0 * f64::from(step)));
    let html = page(&report.report());
    assert_has(
        &html,
        &["<li>live tensors (in the rank that counts): 6,529"],
    );
}

#[test]
fn only_tensors_that_grew_are_listed_with_the_names_of_the_training() {
    assert!(!page(&leak()).contains("Tensors that grew in number"));
    let html = page(&native_leak().report());
    assert_has(
        &html,
        &[
            "Tensors that grew in number</h2>",
            "<code>float32[64, 1024] cpu</code></th><td class=\"n\">+1,412</td><td class=\"n\">+412 MiB</td>",
        ],
    );
    let hostile = Run::default()
        .grown(HOSTILE, 1, 2048)
        .steps(1..=100, |_| mib(100.0));
    let html = page(&hostile.report());
    assert_eq!(html.matches("</script").count(), 2);
    assert_has(&html, &["<code>&lt;/script&gt;&lt;script&gt;"]);
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
