//! A recording as observations. Stands in until tables and logs can be read as well.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

use anyhow::{Context, Result};
use leveloff_classifier::observation::{Observation, Observer, XUnit};
use leveloff_model::recording::{RecordingReader, StatedFacts};

/// A recording whose header was read.
pub struct Opened {
    /// What x counts.
    pub unit: XUnit,
    /// What its header states.
    pub stated: StatedFacts,
    reader: RecordingReader<BufReader<Box<dyn Read>>>,
}

/// Opens the input and reads its header.
pub fn open(path: &Path) -> Result<Opened> {
    let raw: Box<dyn Read> = if path == Path::new("-") {
        Box::new(io::stdin())
    } else {
        Box::new(File::open(path).context("cannot open it")?)
    };
    let reader = RecordingReader::new(BufReader::new(raw))?;
    Ok(Opened {
        unit: XUnit::Step,
        stated: reader.header().stated.clone(),
        reader,
    })
}

impl Opened {
    /// Hands out every observation; returns what was left out.
    pub fn read(mut self, take: &mut dyn FnMut(&Observation)) -> Result<Vec<String>> {
        let mut observer = Observer::new();
        while let Some(tick) = self.reader.next_tick()? {
            if let Some(observation) = observer.observe(&tick) {
                take(observation);
            }
        }
        Ok(Vec::new())
    }
}
