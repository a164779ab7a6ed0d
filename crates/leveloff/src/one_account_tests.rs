//! One run, one account: every output shows the same numbers for the same thing.
//!
//! Each case is a recording, the fixtures' or a made-up one. The verdict, the memory at the end, the level, the peak, the
//! growth by role and by process and the sample count are read back from each output that prints them and held against
//! the account.

mod live;
pub(crate) mod made_up_runs;
mod printed;

use std::collections::BTreeMap;
use std::path::Path;

use leveloff_classifier::run_analysis::{Amounts, RunAccount};
use leveloff_classifier::run_curves::Series;
use leveloff_classifier::verdict::{Grade, RunVerdict, Subject, Verdict};
use leveloff_model::process::{Pid, Role};
use leveloff_model::recording::Target;
use leveloff_model::units::{ByteDelta, Bytes};
use leveloff_report::run;
use leveloff_report::run_report::RunReport;
use leveloff_text::number::thousands;
use leveloff_text::subject::series_words;
use leveloff_text::verdict::{Headline, blame_words, line, verdict_words};
use serde_json::Value;

use crate::run_reader::RunReader;
use live::{Live, by_role, last_of_csv, replay};
use made_up_runs::{
    Ticks, frees_memory_before_it_ends, guard_stop, idle_machine, no_steps, record, restart,
    workers_leave_first,
};
use printed::{Published, data_of_page, headline_of_page, row_of_page, table_of_markdown};

const MIB: u64 = 1 << 20;

fn amount(value: &Value) -> Bytes {
    Bytes(
        value
            .as_f64()
            .unwrap_or_else(|| panic!("{value} is no amount"))
            .round() as u64,
    )
}

/// What the live commands say of a recording.
fn check_live(path: &Path, directory: &Path, name: &str) -> Live {
    let live = replay(path, directory);
    let account = &live.account;
    assert_eq!(live.dashboard.account(), Some(account), "{name}: dashboard");
    assert_eq!(
        live.metrics.memory_by_role,
        by_role(account),
        "{name}: metrics"
    );
    assert_eq!(
        last_of_csv(path, directory, name),
        by_role(account),
        "{name}: CSV"
    );
    let mut lines = live.summary.lines("it ended", Some(account));
    lines.extend(account.verdict.as_ref().map(line));
    let lines = lines.join("\n");
    let memory = &account.memory;
    for words in [
        format!("memory {} at", memory.base),
        format!("→ {} at", memory.now),
        format!("peak {} at", memory.peak),
        format!("{} samples", account.samples),
    ] {
        assert!(lines.contains(&words), "{name}: no '{words}' in\n{lines}");
    }
    for group in account.groups.iter().filter(|group| group.processes > 0) {
        let words = format!("{} to {}", group.memory.growth(), group.memory.now);
        assert!(lines.contains(&words), "{name}: no '{words}' in\n{lines}");
    }
    live
}

/// What files say of a recording, beside what the live commands say of it.
fn check_run(path: &Path, directory: &Path, name: &str) {
    let live = check_live(path, directory, name);
    let account = &live.account;
    let verdict = account.verdict.as_ref().unwrap();
    let report = RunReader::default().read(path).unwrap();
    let judged: Value =
        serde_json::from_str(&leveloff_report::verdict::json::object(&report.judged())).unwrap();
    let document: Value = serde_json::from_str(&run::json::document(&report)).unwrap();
    for row in [&judged, &document] {
        assert_eq!(row["verdict"], verdict.verdict.name(), "{name}");
        assert_eq!(row["points"], account.samples, "{name}: samples");
        assert_eq!(
            amount(&row["peak_bytes"]),
            account.memory.peak,
            "{name}: peak"
        );
        assert_eq!(
            amount(&row["last_bytes"]),
            account.memory.now,
            "{name}: end"
        );
    }
    assert_eq!(amount(&document["end_bytes"]), account.memory.now, "{name}");
    check_parts(&document, account, name);
    check_level(&[&judged, &document], verdict, name);
    check_metrics(&live.metrics, verdict, name);
    check_page(&report, account, name);
    check_markdown(&report, account, name);
}

/// `level_bytes` of JSON is that of the series that decided.
fn check_level(rows: &[&Value], verdict: &RunVerdict, name: &str) {
    for row in rows {
        let level = row["level_bytes"]
            .as_f64()
            .map(|level| level.round() as u64);
        let expected = verdict.judgement.level.map(|level| level.0.round() as u64);
        assert_eq!(level, expected, "{name}: level");
    }
}

/// A suspected leak is published as warming up, so that no alert fires.
fn check_metrics(published: &Published, verdict: &RunVerdict, name: &str) {
    let shown = match verdict.verdict {
        Verdict::Leak(Grade::Suspected) => Verdict::WarmingUp,
        verdict => verdict,
    };
    assert_eq!(published.verdict.as_deref(), Some(shown.name()), "{name}");
    if let (Some(growth), Some(rate)) = (published.growth_per_step, verdict.memory.rate) {
        assert!((growth - rate.value.0).abs() < 1.0, "{name}: {growth}");
    }
}

/// What a table prints of memory, from the left.
fn words_of(memory: &Amounts) -> [String; 4] {
    let amounts = [memory.base, memory.now, memory.peak].map(|amount| amount.to_string());
    let [base, now, peak] = amounts;
    [base, now, peak, memory.growth().to_string()]
}

fn check_page(report: &RunReport, account: &RunAccount, name: &str) {
    let html = run::html::page(report);
    let verdict = account.verdict.as_ref().unwrap();
    let headline = headline_of_page(&html);
    assert_eq!(headline, Headline::of(verdict).whole(), "{name}: page");
    let data = data_of_page(&html);
    assert_eq!(data["runs"][0]["samples"], account.samples, "{name}: page");
    let level = &data["runs"][0]["marks"]["level"];
    if let (Some(level), Some(expected)) = (level["to"][1].as_f64(), verdict.memory.level) {
        assert_eq!(level, expected.0.round(), "{name}: level on the page");
    }
    let memory = row_of_page(&html, series_words(Series::Memory)).unwrap();
    assert_eq!(memory[..4], words_of(&account.memory), "{name}: page");
    for group in account.groups.iter().filter(|group| group.processes > 0) {
        let row = row_of_page(&html, series_words(Series::Role(group.role))).unwrap();
        assert_eq!(row[..4], words_of(&group.memory), "{name}: {}", group.role);
    }
    for process in account.alive() {
        let growth = process.growth().to_string();
        assert!(html.contains(&growth), "{name}: no {growth} on the page");
    }
}

fn check_markdown(report: &RunReport, account: &RunAccount, name: &str) {
    let markdown = run::markdown::document(report);
    let verdict = account.verdict.as_ref().unwrap();
    let level = verdict.verdict.is_level().then_some(verdict.memory.level);
    let level = level.flatten().map(|level| level.bytes().to_string());
    let words = [
        format!("{} point", thousands(account.samples)),
        verdict_words(verdict.verdict).to_owned(),
    ];
    for words in words.into_iter().chain(level) {
        assert!(
            markdown.contains(&words),
            "{name}: no '{words}' in\n{markdown}"
        );
    }
    let rows = table_of_markdown(&markdown, "Evidence");
    let (first, last) = (rows.first().unwrap(), rows.last().unwrap());
    assert_eq!(last["memory"], account.memory.now.to_string(), "{name}");
    assert!(!first["memory"].is_empty(), "{name}");
    for row in table_of_markdown(&markdown, "Sizing") {
        match row[""].as_str() {
            "peak" => assert_eq!(row["host"], account.memory.peak.to_string(), "{name}"),
            "level" => assert_eq!(
                Some(row["host"].clone()),
                verdict.memory.level.map(|level| level.bytes().to_string())
            ),
            _ => {}
        }
    }
    check_blame(&markdown, account, name);
}

/// Growth by role as the verdict blames it is the growth of the account's table.
fn check_blame(markdown: &str, account: &RunAccount, name: &str) {
    let verdict = account.verdict.as_ref().unwrap();
    for blame in &verdict.blame {
        let words = blame_words(blame);
        let (_, growth) = words.split_once(": ").unwrap();
        assert!(
            markdown.contains(growth),
            "{name}: no '{growth}' in\n{markdown}"
        );
    }
    if verdict.decisive != Subject::Memory {
        return;
    }
    let mut blamed: BTreeMap<Role, f64> = BTreeMap::new();
    for blame in &verdict.blame {
        if let Some(role) = blame.role {
            *blamed.entry(role).or_default() += blame.growth.0;
        }
    }
    for (role, growth) in blamed {
        let of_role: i64 = account
            .role(role)
            .map(|group| group.memory.growth().0)
            .sum();
        assert_eq!(growth.round() as i64, of_role, "{name}: {role} is blamed");
    }
}

fn check_parts(document: &Value, account: &RunAccount, name: &str) {
    let parts = document["parts"].as_array().unwrap();
    let part = |series: &str| parts.iter().find(|part| part["series"] == series).unwrap();
    let growth = |value: &Value| ByteDelta(value.as_f64().unwrap().round() as i64);
    assert_eq!(
        growth(&part("memory")["growth"]),
        account.memory.growth(),
        "{name}"
    );
    for group in &account.groups {
        let row = part(group.role.name());
        assert_eq!(
            amount(&row["end"]),
            group.memory.now,
            "{name}: {}",
            group.role
        );
        assert_eq!(
            growth(&row["growth"]),
            group.memory.growth(),
            "{name}: {}",
            group.role
        );
        assert_eq!(
            amount(&row["peak"]),
            group.memory.peak,
            "{name}: {}",
            group.role
        );
    }
    let members = document["members"].as_array().unwrap();
    for process in &account.processes {
        let row = members
            .iter()
            .find(|row| row["pid"] == process.pid.0)
            .unwrap();
        assert_eq!(growth(&row["growth_bytes"]), process.growth(), "{name}");
        assert_eq!(amount(&row["newest_bytes"]), process.memory.now, "{name}");
        assert_eq!(row["is_there"], process.is_alive, "{name}");
    }
}

#[test]
fn every_output_shows_the_same_numbers_of_a_recording() {
    let directory = tempfile::tempdir().unwrap();
    let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/recordings");
    let mut checked = 0;
    for entry in std::fs::read_dir(fixtures).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "jsonl") {
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            check_run(&path, directory.path(), &name);
            checked += 1;
        }
    }
    assert!(checked >= 3, "{checked} fixtures");
    let made_up: [(&str, Ticks); 5] = [
        ("frees", frees_memory_before_it_ends()),
        ("workers", workers_leave_first()),
        ("guard", guard_stop()),
        ("restart", restart()),
        ("no_steps", no_steps()),
    ];
    for (name, run) in made_up {
        let target = Target::Command(vec!["train.py".to_owned()]);
        let path = record(&run, target, directory.path(), name);
        check_run(&path, directory.path(), name);
    }
}

#[test]
fn memory_that_is_freed_in_the_last_second_is_not_how_the_run_ended() {
    let directory = tempfile::tempdir().unwrap();
    let run = frees_memory_before_it_ends();
    let path = record(&run, Target::Command(vec![]), directory.path(), "frees");
    let account = replay(&path, directory.path()).account;
    assert_eq!(account.memory.now, Bytes(227 * MIB));
    assert_eq!(account.memory.growth(), ByteDelta(0));
    assert_eq!(account.verdict.unwrap().verdict.name(), "level");
}

#[test]
fn a_worker_that_leaks_and_exits_first_is_the_culprit_everywhere() {
    let directory = tempfile::tempdir().unwrap();
    let run = workers_leave_first();
    let path = record(&run, Target::Command(vec![]), directory.path(), "workers");
    let account = replay(&path, directory.path()).account;
    let blamed = account.verdict.as_ref().unwrap().blame[0];
    assert_eq!(blamed.pid, Some(Pid(1001)));
    let largest = account
        .alive()
        .max_by_key(|process| process.growth().0)
        .unwrap();
    assert_eq!(largest.pid, Pid(1001));
    assert_eq!(largest.memory.now, Bytes(619 * MIB));
}

#[test]
fn idle_processes_of_a_machine_do_not_grow() {
    let directory = tempfile::tempdir().unwrap();
    let path = record(&idle_machine(), Target::System, directory.path(), "machine");
    let live = check_live(&path, directory.path(), "machine");
    assert_eq!(live.account.memory.growth(), ByteDelta(0));
    assert!(
        live.account
            .processes
            .iter()
            .all(|it| it.growth() == ByteDelta(0))
    );
    assert_eq!(live.account.memory.now, Bytes(900 * MIB));
}

#[test]
fn a_save_is_a_checkpoint_for_the_charts_too() {
    let directory = tempfile::tempdir().unwrap();
    let path = record(
        &guard_stop(),
        Target::Command(vec![]),
        directory.path(),
        "guard",
    );
    let report = RunReader::default().read(&path).unwrap();
    let document: Value = serde_json::from_str(&run::json::document(&report)).unwrap();
    let events = document["events"].as_array().unwrap();
    assert!(
        events.iter().any(|event| event["kind"] == "checkpoint"),
        "{events:?}"
    );
}
