//! Whole inputs, from their bytes to the observations.

mod any_bytes;
mod logs;
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

/// Everything that comes of an input.
#[derive(Debug)]
struct Told {
    format: &'static str,
    unit: XUnit,
    stated: StatedFacts,
    observations: Vec<Observation>,
    notes: Vec<String>,
}

impl Told {
    fn of(opened: Opened) -> Result<Told> {
        let (format, unit, stated) = (opened.format, opened.unit, opened.stated.clone());
        let mut observations = Vec::new();
        let reading = opened.read(&mut |observation| observations.push(observation.clone()))?;
        assert_eq!(reading.observations, observations.len() as u64);
        Ok(Told {
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

fn told(bytes: impl Into<Vec<u8>>, asked: &Asked) -> Result<Told> {
    open_reader("input", Cursor::new(bytes.into()), asked).and_then(Told::of)
}

fn read(text: &str) -> Told {
    told(text, &Asked::default()).unwrap_or_else(|error| panic!("{error:#}\n{text}"))
}

fn wrong(bytes: impl Into<Vec<u8>>) -> String {
    let error = told(bytes, &Asked::default()).expect_err("it was understood");
    format!("{error:#}")
}

fn asked(x: Option<&str>, y: Option<&str>, unit: Option<SizeUnit>) -> Asked {
    Asked {
        x: x.map(str::to_owned),
        y: y.map(str::to_owned),
        y_unit: unit,
    }
}

fn fixture(name: &str) -> Told {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures");
    let path = PathBuf::from(root).join(name);
    let opened = open(&Input::from(&*path), &Asked::default());
    opened
        .and_then(Told::of)
        .unwrap_or_else(|error| panic!("{error:#}"))
}
