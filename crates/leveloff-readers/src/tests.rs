//! Whole inputs, from their bytes to the observations.

mod any_bytes;
mod logs;
mod pastes;
mod processes;
mod refusals;
mod tables;
mod tools;

use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};

use leveloff_model::process::Role;
use leveloff_model::units::{Bytes, Seconds, Step};
use proptest::prelude::*;

use super::*;

/// Everything that was read from an input.
#[derive(Debug)]
struct ReadInput {
    format: &'static str,
    unit: XUnit,
    stated: StatedFacts,
    observations: Vec<Observation>,
    notes: Vec<String>,
}

impl ReadInput {
    fn of(opened: OpenedInput) -> Result<ReadInput, ReadError> {
        let (format, unit, stated) = (opened.format, opened.unit, opened.stated.clone());
        let mut observations = Vec::new();
        let reading = opened.read(&mut |observation| observations.push(observation.clone()))?;
        assert_eq!(reading.observations, observations.len() as u64);
        Ok(ReadInput {
            format,
            unit,
            stated,
            observations,
            notes: reading.notes,
        })
    }

    fn counts(&self) -> Vec<f64> {
        self.observations.iter().filter_map(|o| o.count).collect()
    }

    fn times(&self) -> Vec<f64> {
        self.observations
            .iter()
            .filter_map(|o| o.t)
            .map(|t| t.0)
            .collect()
    }

    fn memory(&self) -> Vec<u64> {
        self.observations.iter().map(|o| o.memory.0).collect()
    }

    fn is_noted(&self, text: &str) -> bool {
        self.notes.iter().any(|note| note.contains(text))
    }
}

fn read_with(bytes: impl Into<Vec<u8>>, columns: &ColumnChoice) -> Result<ReadInput, ReadError> {
    open_reader("input", Cursor::new(bytes.into()), columns).and_then(ReadInput::of)
}

fn read(text: &str) -> ReadInput {
    read_with(text, &ColumnChoice::default()).unwrap_or_else(|error| panic!("{error:#}\n{text}"))
}

fn wrong(bytes: impl Into<Vec<u8>>) -> String {
    let error = read_with(bytes, &ColumnChoice::default()).expect_err("it was understood");
    format!("{error:#}")
}

fn choice(x: Option<&str>, y: Option<&str>, unit: Option<SizeUnit>) -> ColumnChoice {
    ColumnChoice {
        x: x.map(str::to_owned),
        y: y.map(str::to_owned),
        y_unit: unit,
        step_regex: None,
    }
}

fn fixture(name: &str) -> ReadInput {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures");
    let path = PathBuf::from(root).join(name);
    let opened = open(&Input::from(&*path), &ColumnChoice::default());
    opened
        .and_then(ReadInput::of)
        .unwrap_or_else(|error| panic!("{error:#}"))
}
