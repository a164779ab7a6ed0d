//! Shows how files are understood and how long reading them takes: `cargo run --release --example
//! describe -- FILE…`, with `--x`, `--y` and `--y-unit` as in `leveloff judge`.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result};
use leveloff_classifier::observation::Observation;
use leveloff_model::training_counters::TrainingCounter;
use leveloff_readers::{ColumnChoice, Input, open};

fn main() -> Result<()> {
    let mut columns = ColumnChoice::default();
    let mut files = Vec::new();
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut value = || {
            words
                .next()
                .with_context(|| format!("{word} needs a value"))
        };
        match &*word {
            "--x" => columns.x = Some(value()?),
            "--y" => columns.y = Some(value()?),
            "--y-unit" => columns.y_unit = Some(value()?.parse()?),
            _ => files.push(word),
        }
    }
    for file in &files {
        if let Err(error) = describe(file, &columns) {
            println!("{error:#}");
        }
    }
    Ok(())
}

fn describe(file: &str, columns: &ColumnChoice) -> Result<()> {
    let start = Instant::now();
    let opened = open(&Input::from(Path::new(file)), columns)?;
    println!(
        "{file}: {}, x counts {}s",
        opened.format,
        opened.unit.name()
    );
    let mut ends: Option<(Observation, Observation)> = None;
    let result = opened.read(&mut |observation| match &mut ends {
        None => ends = Some((observation.clone(), observation.clone())),
        Some((_, last)) => last.clone_from(observation),
    })?;
    let took = start.elapsed();
    println!("  {} observations in {took:.1?}", result.observations);
    for observation in ends.iter().flat_map(|(first, last)| [first, last]) {
        println!(
            "  count {:?} t {:?} memory {} ({} B) of {} processes, tensors {:?}",
            observation.count,
            observation.t.map(|t| t.0),
            observation.memory,
            observation.memory.0,
            observation.processes.len(),
            observation.counters.get(TrainingCounter::Tensors)
        );
    }
    for note in result.notes {
        println!("  note: {note}");
    }
    Ok(())
}
