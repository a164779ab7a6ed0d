//! Every table that is exported can be read back, and holds the same values.

use std::path::Path;

use leveloff_classifier::observation::Observation;
use leveloff_model::training_counters::{TrainingCounter, TrainingCounters};
use leveloff_readers::{ColumnChoice, Input, open};

use super::*;

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/recordings");

#[test]
fn every_scope_holds_the_memory_of_the_recording() {
    let recording = Path::new(FIXTURES).join("v1.jsonl");
    let points = |observations: Vec<Observation>| -> Vec<_> {
        let points = observations.iter();
        points.map(|point| (point.count, point.memory)).collect()
    };
    let expected = points(read(&recording));
    for scope in [ExportScope::Process, ExportScope::Role, ExportScope::Tree] {
        assert_eq!(points(read_back(&recording, scope)), expected, "{scope:?}");
    }
}

#[test]
fn exports_hold_every_counter_of_the_training() {
    let recording = Path::new(FIXTURES).join("inside.jsonl");
    let inside = |observations: Vec<Observation>| -> Vec<TrainingCounters> {
        observations.iter().map(|point| point.counters).collect()
    };
    let expected = inside(read(&recording));
    let newest = expected.last().unwrap();
    assert_eq!(
        newest.known().count(),
        TrainingCounter::COUNT,
        "the fixture has all"
    );
    for scope in [ExportScope::Process, ExportScope::Tree] {
        assert_eq!(inside(read_back(&recording, scope)), expected, "{scope:?}");
    }
}

fn read(path: &Path) -> Vec<Observation> {
    let mut observations = Vec::new();
    open(&Input::from(path), &ColumnChoice::default())
        .and_then(|opened| opened.read(&mut |point| observations.push(point.clone())))
        .unwrap();
    observations
}

fn read_back(recording: &Path, scope: ExportScope) -> Vec<Observation> {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("table.csv");
    to_file(recording, scope, &output, Existing::Keep).unwrap();
    read(&output)
}
