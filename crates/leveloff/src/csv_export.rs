//! A recording as CSV.

mod columns;

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;

use anyhow::{Context, Result};
use clap::ValueEnum;
use leveloff_classifier::run_analysis::RunAnalysis;
use leveloff_model::process::{ProcessIndex, ProcessInfo, Role};
use leveloff_model::progress::Progress;
use leveloff_model::recording::RecordingReader;
use leveloff_model::sample::{Event, ProcessReading, Sample, Subject};
use leveloff_model::training_counters::TrainingCounter;

use crate::notice::notice;
use crate::outputs::{self, Existing};
use columns::{
    Column, Field, PROCESS_COLUMNS, ProcessRow, ROLE_COLUMNS, RoleRow, TREE_COLUMNS, TreeRow,
    counters_of,
};

/// What one row describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportScope {
    /// One process at one moment
    Process,
    /// All processes of one role at one moment
    Role,
    /// The whole process tree at one moment
    Tree,
}

/// Writes the CSV of a recording to stdout. It is no error if the reader of a pipe closes it early.
pub(crate) fn to_stdout(recording: &Path, scope: ExportScope) -> Result<()> {
    match write_csv(read(recording)?, scope, io::stdout().lock()) {
        Err(error) if is_broken_pipe(&error) => Ok(()),
        result => result.map(drop).context("cannot export to stdout"),
    }
}

/// Writes the CSV of a recording to a file; returns the number of rows.
pub(crate) fn to_file(
    recording: &Path,
    scope: ExportScope,
    output: &Path,
    existing: Existing,
) -> Result<u64> {
    let reader = read(recording)?;
    outputs::write_with(output, existing, |file| write_csv(reader, scope, file))
}

fn read(recording: &Path) -> Result<RecordingReader<BufReader<Box<dyn Read>>>> {
    RecordingReader::new(BufReader::with_capacity(1 << 16, open(recording)?))
        .with_context(|| recording.display().to_string())
}

/// The recording; `-` is stdin.
fn open(path: &Path) -> Result<Box<dyn Read>> {
    if path == Path::new("-") {
        return Ok(Box::new(io::stdin()));
    }
    let file = File::open(path).with_context(|| {
        let path = path.display();
        format!("cannot open the recording {path}; leveloff run and leveloff record make one")
    })?;
    Ok(Box::new(file))
}

/// Fields are written through the csv crate, whose errors do not name the one below as their source.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let below = match error.downcast_ref::<csv::Error>().map(csv::Error::kind) {
        Some(csv::ErrorKind::Io(below)) => Some(below),
        _ => error.downcast_ref::<io::Error>(),
    };
    below.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

fn write_csv(
    mut reader: RecordingReader<impl BufRead>,
    scope: ExportScope,
    output: impl Write,
) -> Result<u64> {
    let mut table = Table::new(output);
    let mut infos: HashMap<ProcessIndex, ProcessInfo> = HashMap::new();
    let mut damage = Damage::default();
    table.header(scope)?;
    let header = reader.header();
    let mut run = RunAnalysis::of_target(&header.target, &header.stated);
    // Rows since the last whole sample: they are part of the run only if it goes on.
    let mut pending: Vec<Sample> = Vec::new();
    while let Some(tick) = reader.next_tick()? {
        for event in &tick.events {
            match event {
                Event::Appeared(info) | Event::Changed(info) => {
                    infos.insert(info.index, info.clone());
                }
                Event::Exited(index) if scope == ExportScope::Process => {
                    infos.remove(index);
                }
                Event::Gap(gap) if gap.subject == Subject::Recording => {
                    damage.report(&gap.text);
                }
                Event::Exited(_)
                | Event::Mark(_)
                | Event::Software(_)
                | Event::Gap(_)
                | Event::Site(_)
                | Event::Allocations(_)
                | Event::Holder(_) => {}
            }
        }
        if scope == ExportScope::Process {
            table.processes(&tick.sample, &infos)?;
            continue;
        }
        let is_part_of_run = run.take(&tick).is_some() && run.is_whole();
        // A sample without processes comes after the end.
        if !tick.sample.processes.is_empty() {
            pending.push(tick.sample);
        }
        if is_part_of_run {
            table.samples(&mut pending, scope, &infos)?;
        }
    }
    if !reader.end().is_some_and(|end| end.reason.is_end_of_run()) {
        table.samples(&mut pending, scope, &infos)?;
    }
    damage.sum_up();
    table.finish()
}

/// What is wrong with the recording, without filling the screen.
#[derive(Default)]
struct Damage {
    found: u64,
}

impl Damage {
    /// How many are reported one by one.
    const REPORTED: u64 = 5;

    fn report(&mut self, text: &str) {
        self.found += 1;
        if self.found <= Damage::REPORTED {
            notice(text);
        }
    }

    fn sum_up(&self) {
        if self.found > Damage::REPORTED {
            notice(&format!("{} lines are damaged in all", self.found));
        }
    }
}

/// Rows on their way out.
struct Table<W: Write> {
    csv: csv::Writer<W>,
    field: Field,
    rows: u64,
}

impl<W: Write> Table<W> {
    fn new(output: W) -> Table<W> {
        Table {
            csv: csv::Writer::from_writer(output),
            field: Field::default(),
            rows: 0,
        }
    }

    fn header(&mut self, scope: ExportScope) -> Result<()> {
        let names: Vec<&str> = match scope {
            ExportScope::Process => names_of(PROCESS_COLUMNS).collect(),
            ExportScope::Role => names_of(ROLE_COLUMNS).collect(),
            ExportScope::Tree => names_of(TREE_COLUMNS).collect(),
        };
        let counters = counters_of(scope).map(TrainingCounter::name);
        Ok(self.csv.write_record(names.into_iter().chain(counters))?)
    }

    fn finish(mut self) -> Result<u64> {
        self.csv.flush()?;
        Ok(self.rows)
    }

    /// Writes these samples by role or as a whole.
    fn samples(
        &mut self,
        samples: &mut Vec<Sample>,
        scope: ExportScope,
        infos: &HashMap<ProcessIndex, ProcessInfo>,
    ) -> Result<()> {
        for sample in samples.drain(..) {
            match scope {
                ExportScope::Role => self.roles(&sample, infos)?,
                _ => self.tree(&sample)?,
            }
        }
        Ok(())
    }

    fn processes(
        &mut self,
        sample: &Sample,
        infos: &HashMap<ProcessIndex, ProcessInfo>,
    ) -> Result<()> {
        for reading in &sample.processes {
            if let Some(info) = infos.get(&reading.process) {
                let row = ProcessRow {
                    sample,
                    reading,
                    info,
                };
                self.fields(PROCESS_COLUMNS, &row)?;
                self.end_row(ExportScope::Process, row.progress())?;
            }
        }
        Ok(())
    }

    fn roles(&mut self, sample: &Sample, infos: &HashMap<ProcessIndex, ProcessInfo>) -> Result<()> {
        let mut by_role: BTreeMap<(Role, &str), Vec<&ProcessReading>> = BTreeMap::new();
        for reading in &sample.processes {
            if let Some(info) = infos.get(&reading.process) {
                let role = (info.role, info.role_name());
                by_role.entry(role).or_default().push(reading);
            }
        }
        for ((_, role), readings) in by_role {
            let row = RoleRow {
                sample,
                role,
                readings,
            };
            self.fields(ROLE_COLUMNS, &row)?;
            self.end_row(ExportScope::Role, None)?;
        }
        Ok(())
    }

    fn tree(&mut self, sample: &Sample) -> Result<()> {
        let row = TreeRow {
            sample,
            tree: sample.tree(),
        };
        self.fields(TREE_COLUMNS, &row)?;
        self.end_row(ExportScope::Tree, Some(&sample.progress))
    }

    fn fields<Row>(&mut self, columns: &[Column<Row>], row: &Row) -> Result<()> {
        for (_, write) in columns {
            write(row, self.field.cleared());
            self.csv.write_field(self.field.text())?;
        }
        Ok(())
    }

    /// Ends a row with the counters of the training.
    fn end_row(&mut self, scope: ExportScope, progress: Option<&Progress>) -> Result<()> {
        for counter in counters_of(scope) {
            let value = progress.and_then(|progress| progress.counters.get(counter));
            self.field.cleared().known(value);
            self.csv.write_field(self.field.text())?;
        }
        self.rows += 1;
        Ok(self.csv.write_record(None::<&[u8]>)?)
    }
}

fn names_of<Row>(columns: &[Column<Row>]) -> impl Iterator<Item = &'static str> {
    columns.iter().map(|(name, _)| *name)
}

#[cfg(test)]
mod tests;
