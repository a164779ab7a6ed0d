//! The arrows between the crates, read from their manifests.

#![allow(
    clippy::unwrap_used,
    reason = "a test may fail by panicking, in its functions as well"
)]

use std::collections::BTreeMap;
use std::process::Command;

/// Which crate may depend on which. Of the trainer, only the tests
/// depend on another: its contract is the marks. The
/// dashboard and the reports take their words from the text crate: a verdict reads the same everywhere.
const ALLOWED: &[(&str, &[&str])] = &[
    ("leveloff-model", &[]),
    ("leveloff-progress", &["leveloff-model"]),
    ("leveloff-testkit", &[]),
    (
        "leveloff-sampler",
        &["leveloff-model", "leveloff-progress", "leveloff-testkit"],
    ),
    ("leveloff-classifier", &["leveloff-model"]),
    ("leveloff-text", &["leveloff-classifier", "leveloff-model"]),
    (
        "leveloff-supervise",
        &["leveloff-model", "leveloff-sampler", "leveloff-testkit"],
    ),
    (
        "leveloff-report",
        &["leveloff-classifier", "leveloff-model", "leveloff-text"],
    ),
    (
        "leveloff-dashboard",
        &["leveloff-classifier", "leveloff-model", "leveloff-text"],
    ),
    (
        "leveloff-readers",
        &["leveloff-classifier", "leveloff-model", "leveloff-progress"],
    ),
    (
        "leveloff-prometheus",
        &["leveloff-classifier", "leveloff-model", "leveloff-text"],
    ),
    (
        "leveloff",
        &[
            "leveloff-prometheus",
            "leveloff-readers",
            "leveloff-model",
            "leveloff-progress",
            "leveloff-sampler",
            "leveloff-supervise",
            "leveloff-classifier",
            "leveloff-text",
            "leveloff-report",
            "leveloff-dashboard",
            "leveloff-testkit",
        ],
    ),
    ("leveloff-trainer", &["leveloff-testkit"]),
];

/// Every arrow that is not allowed, in words.
fn forbidden(arrows: &[(String, String)]) -> Vec<String> {
    let allowed = BTreeMap::from_iter(ALLOWED.iter().copied());
    arrows
        .iter()
        .filter(|(from, to)| {
            !allowed
                .get(from.as_str())
                .is_some_and(|to_these| to_these.contains(&to.as_str()))
        })
        .map(|(from, to)| format!("{from} → {to}"))
        .collect()
}

/// Every crate of the workspace, and every arrow between them, tests and build scripts included.
fn workspace() -> (Vec<String>, Vec<(String, String)>) {
    let output = Command::new(env!("CARGO"))
        .args([
            "metadata",
            "--no-deps",
            "--offline",
            "--format-version",
            "1",
            "--manifest-path",
        ])
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.toml"))
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    let packages = metadata["packages"].as_array().unwrap();
    let names = packages
        .iter()
        .map(|package| text(&package["name"]))
        .collect();
    let mut arrows = Vec::new();
    for package in packages {
        for dependency in package["dependencies"].as_array().unwrap() {
            let to = text(&dependency["name"]);
            if to.starts_with("leveloff") {
                arrows.push((text(&package["name"]), to));
            }
        }
    }
    (names, arrows)
}

#[test]
fn no_crate_depends_on_one_above_it() {
    let (names, arrows) = workspace();
    assert!(names.contains(&"leveloff-sampler".to_owned()), "{names:?}");
    assert!(arrows.contains(&("leveloff-sampler".to_owned(), "leveloff-model".to_owned())));
    assert_eq!(forbidden(&arrows), Vec::<String>::new());
}

#[test]
fn every_crate_has_its_place_in_the_picture() {
    let known: Vec<&str> = ALLOWED.iter().map(|(name, _)| *name).collect();
    for name in workspace().0 {
        assert!(
            known.contains(&name.as_str()),
            "{name} is not in the table of allowed arrows"
        );
    }
}

#[test]
fn a_forbidden_arrow_is_noticed() {
    let arrow = |from: &str, to: &str| (from.to_owned(), to.to_owned());
    let arrows = [
        arrow("leveloff-model", "leveloff-sampler"),
        arrow("leveloff-dashboard", "leveloff-sampler"),
        arrow("leveloff-trainer", "leveloff-model"),
        arrow("leveloff-sampler", "leveloff-model"),
    ];
    assert_eq!(forbidden(&arrows).len(), 3);
}
