//! A recording with names and lines that this version does not know is no damaged recording.

use std::path::Path;

use crate::stage::{LEVELOFF, Stage};
use crate::terminal::Terminal;

/// A stage with the recording of a later leveloff in it.
fn stage() -> Stage {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/recordings");
    let stage = Stage::new();
    let recording = std::fs::read(fixtures.join("newer-writer.jsonl")).unwrap();
    stage.file("run.jsonl", recording);
    stage
}

#[test]
fn it_is_judged_exported_and_reported_without_a_word_of_damage() {
    let stage = stage();
    let judged = stage.ask(&["judge", "run.jsonl"]).never_panicked();
    let exported = stage.ask(&["export", "run.jsonl", "-o", "run.csv"]).well();
    let reported = stage
        .ask(&["report", "run.jsonl", "-o", "run.html"])
        .never_panicked();
    for ended in [&judged, &exported, &reported] {
        assert!(
            !ended.stderr.contains("damage") && !ended.stdout.contains("damage"),
            "{ended:?}"
        );
    }
    assert!(judged.stdout.contains("60 points"), "{judged:?}");
    let table = std::fs::read_to_string(stage.path("run.csv")).unwrap();
    assert_eq!(table.matches(",ray-worker,").count(), 60, "{table}");
    let roles = stage.ask(&["export", "run.jsonl", "--scope", "role", "-o", "-"]);
    let roles = roles.well().stdout;
    assert_eq!(roles.matches(",ray-worker,").count(), 60, "{roles}");
    let page = std::fs::read_to_string(stage.path("run.html")).unwrap();
    assert!(!page.contains("damage"));
}

#[test]
fn it_is_replayed() {
    let stage = stage();
    let mut terminal = Terminal::new(100, 30);
    let recording = stage.path("run.jsonl");
    let replay = ["env", "TERM=xterm-256color", "LC_ALL=C.UTF-8", LEVELOFF];
    let arguments = ["replay", recording.to_str().unwrap()];
    let mut child = terminal.start(&[&replay[..], &arguments].concat());
    terminal.wait_for("\x1b[?1049h");
    terminal.keys("G");
    terminal.wait_for("trainer");
    terminal.keys("q");
    terminal.wait_for("\x1b[?1049l");
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(!terminal.text().contains("damage"), "{}", terminal.text());
}
