//! A recording as CSV.

use std::collections::{BTreeMap, HashMap};
use std::fmt::{Display, Write as _};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;

use anyhow::{Context, Result};
use clap::ValueEnum;
use leveloff_classifier::run_analysis::RunAnalysis;
use leveloff_model::process::{ProcessIndex, ProcessInfo, Role};
use leveloff_model::progress::Phase;
use leveloff_model::recording::RecordingReader;
use leveloff_model::sample::{Event, ProcessReading, Sample, Subject};
use leveloff_model::training_counters::TrainingCounter;
use leveloff_model::units::{Bytes, Seconds};

use crate::notice::notice;
use crate::outputs;

/// Columns of the process scope. The first 25 are a contract: others read them by name and place;
/// new ones go to the right.
pub(crate) const PROCESS_COLUMNS: [&str; 44] = [
    "t_s",
    "step",
    "pid",
    "ppid",
    "role",
    "comm",
    "rss_bytes",
    "anon_bytes",
    "file_bytes",
    "shmem_bytes",
    "swap_bytes",
    "pss_bytes",
    "pss_anon_bytes",
    "pss_file_bytes",
    "pss_shmem_bytes",
    "private_bytes",
    "threads",
    "fds",
    "minor_faults",
    "major_faults",
    "cpu_ms",
    "tensors",
    "tensor_bytes",
    "devshm_bytes",
    "available_bytes",
    "memory_bytes",
    "pss_age_s",
    "lazyfree_bytes",
    "swap_pss_bytes",
    "gpu_bytes",
    "rank",
    "state",
    "start_ticks",
    "device_tensors",
    "device_tensor_bytes",
    "gc_objects",
    "python_blocks",
    "malloc_used_bytes",
    "malloc_free_bytes",
    "trimmed_bytes",
    "cuda_bytes",
    "cuda_allocated_bytes",
    "pinned_bytes",
    "tensor_counts",
];

/// Training counters whose columns are among the first; the others are further right.
const LONG_KNOWN_INSIDE: [TrainingCounter; 2] =
    [TrainingCounter::Tensors, TrainingCounter::TensorBytes];

/// Columns of the role scope.
pub(crate) const ROLE_COLUMNS: [&str; 8] = [
    "t_s",
    "step",
    "role",
    "processes",
    "memory_bytes",
    "rss_bytes",
    "pss_bytes",
    "cpu_ms",
];

/// Columns of the tree scope.
pub(crate) const TREE_COLUMNS: [&str; 35] = [
    "t_s",
    "step",
    "epoch",
    "phase",
    "processes",
    "memory_bytes",
    "rss_bytes",
    "pss_bytes",
    "overcount_bytes",
    "estimated_processes",
    "oldest_pss_age_s",
    "tensors",
    "tensor_bytes",
    "cuda_bytes",
    "devshm_bytes",
    "shmem_bytes",
    "available_bytes",
    "swap_used_bytes",
    "cgroup_current_bytes",
    "cgroup_limit_bytes",
    "ceiling_bytes",
    "ceiling_used_bytes",
    "own_cpu_ms",
    "own_rss_bytes",
    "own_tick_us",
    "device_tensors",
    "device_tensor_bytes",
    "gc_objects",
    "python_blocks",
    "malloc_used_bytes",
    "malloc_free_bytes",
    "trimmed_bytes",
    "cuda_allocated_bytes",
    "pinned_bytes",
    "tensor_counts",
];

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

/// Writes the CSV of a recording to a file that must not exist; returns the number of rows.
pub(crate) fn to_file(recording: &Path, scope: ExportScope, output: &Path) -> Result<u64> {
    let reader = read(recording)?;
    let (file, is_new) = outputs::create(output)?;
    write_csv(reader, scope, file)
        .inspect_err(|_| {
            // Half a table looks like a whole one.
            if is_new {
                drop(std::fs::remove_file(output));
            }
        })
        .with_context(|| format!("cannot export to {}", output.display()))
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
    table.header(match scope {
        ExportScope::Process => &PROCESS_COLUMNS,
        ExportScope::Role => &ROLE_COLUMNS,
        ExportScope::Tree => &TREE_COLUMNS,
    })?;
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
                Event::Exited(_) | Event::Mark(_) | Event::Software(_) | Event::Gap(_) => {}
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

/// Rows on their way out. An unknown number is an empty field, never a zero.
struct Table<W: Write> {
    csv: csv::Writer<W>,
    field: String,
    rows: u64,
}

impl<W: Write> Table<W> {
    fn new(output: W) -> Table<W> {
        Table {
            csv: csv::Writer::from_writer(output),
            field: String::new(),
            rows: 0,
        }
    }

    fn header(&mut self, columns: &[&str]) -> Result<()> {
        Ok(self.csv.write_record(columns)?)
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
                self.process(sample, reading, info)?;
            }
        }
        Ok(())
    }

    fn process(
        &mut self,
        sample: &Sample,
        reading: &ProcessReading,
        info: &ProcessInfo,
    ) -> Result<()> {
        let pss = reading.pss.as_ref();
        // Tensors live in the trainer; the other processes' rows leave them open.
        let progress = (info.role == Role::Trainer).then_some(&sample.progress);
        self.moment(sample)?;
        self.put(info.key.pid)?;
        self.put(info.parent)?;
        self.put(info.role_name())?;
        self.put(&info.comm)?;
        for amount in [
            reading.rss(),
            reading.anon,
            reading.file,
            reading.shmem,
            reading.swap,
        ] {
            self.put(amount.0)?;
        }
        self.amount(pss.map(|pss| pss.pss))?;
        self.amount(pss.map(|pss| pss.anon))?;
        self.amount(pss.map(|pss| pss.file))?;
        self.amount(pss.map(|pss| pss.shmem))?;
        self.amount(pss.map(|pss| pss.private))?;
        self.put(reading.threads)?;
        self.known(reading.fds)?;
        self.put(reading.minor_faults)?;
        self.put(reading.major_faults)?;
        self.put(reading.cpu.0)?;
        for fact in LONG_KNOWN_INSIDE {
            self.known(progress.and_then(|p| p.counters.get(fact)))?;
        }
        self.amount(sample.machine.devshm_used)?;
        self.amount(sample.machine.available)?;
        self.put(reading.memory().0)?;
        self.seconds(pss.map(|pss| sample.t - pss.at))?;
        self.amount(pss.map(|pss| pss.lazy_free))?;
        self.amount(pss.map(|pss| pss.swap))?;
        self.amount(reading.gpu)?;
        self.known(info.rank)?;
        self.put(reading.state.letter())?;
        self.put(info.key.start.0)?;
        for fact in TrainingCounter::ALL
            .into_iter()
            .skip(LONG_KNOWN_INSIDE.len())
        {
            self.known(progress.and_then(|p| p.counters.get(fact)))?;
        }
        self.end_row()
    }

    fn roles(&mut self, sample: &Sample, infos: &HashMap<ProcessIndex, ProcessInfo>) -> Result<()> {
        let mut by_role: BTreeMap<Role, Vec<&ProcessReading>> = BTreeMap::new();
        for reading in &sample.processes {
            if let Some(info) = infos.get(&reading.process) {
                by_role.entry(info.role).or_default().push(reading);
            }
        }
        for (role, readings) in by_role {
            self.moment(sample)?;
            self.put(role)?;
            self.put(readings.len())?;
            self.put(readings.iter().map(|r| r.memory()).sum::<Bytes>().0)?;
            self.put(readings.iter().map(|r| r.rss()).sum::<Bytes>().0)?;
            // A sum in which one number is missing is missing.
            let pss: Option<Bytes> = readings.iter().map(|r| r.pss.map(|pss| pss.pss)).sum();
            self.amount(pss)?;
            let cpu = readings.iter().map(|r| r.cpu.0);
            self.put(cpu.fold(0, u64::saturating_add))?;
            self.end_row()?;
        }
        Ok(())
    }

    fn tree(&mut self, sample: &Sample) -> Result<()> {
        let tree = sample.tree();
        let (progress, machine) = (&sample.progress, &sample.machine);
        let cgroup = sample.cgroup.as_ref();
        let pss = (tree.unread == 0).then_some(tree.pss);
        self.moment(sample)?;
        self.known(progress.epoch)?;
        self.known(progress.phase.as_ref().map(Phase::name))?;
        self.put(tree.processes)?;
        self.put(tree.total.0)?;
        self.put(tree.rss.0)?;
        self.amount(pss)?;
        self.amount(pss.map(|pss| tree.rss.saturating_sub(pss)))?;
        self.put(tree.unread)?;
        self.seconds(tree.oldest_pss)?;
        for fact in LONG_KNOWN_INSIDE {
            self.known(progress.counters.get(fact))?;
        }
        self.known(progress.counters.get(TrainingCounter::CudaReserved))?;
        self.amount(machine.devshm_used)?;
        self.amount(machine.shmem)?;
        self.amount(machine.available)?;
        self.amount(machine.swap_used)?;
        self.amount(cgroup.and_then(|cgroup| cgroup.current))?;
        self.amount(cgroup.and_then(|cgroup| cgroup.limit))?;
        self.amount(sample.ceiling.map(|ceiling| ceiling.limit))?;
        self.amount(sample.ceiling.map(|ceiling| ceiling.used))?;
        self.put(sample.cost.cpu.0)?;
        self.put(sample.cost.rss.0)?;
        self.put(sample.cost.tick_us)?;
        for fact in TrainingCounter::ALL
            .into_iter()
            .skip(LONG_KNOWN_INSIDE.len())
        {
            if fact != TrainingCounter::CudaReserved {
                self.known(progress.counters.get(fact))?;
            }
        }
        self.end_row()
    }

    /// The two columns that every scope begins with.
    fn moment(&mut self, sample: &Sample) -> Result<()> {
        self.seconds(Some(sample.t))?;
        self.known(sample.progress.step)
    }

    fn seconds(&mut self, time: Option<Seconds>) -> Result<()> {
        self.known(time.map(|time| format!("{:.3}", time.0)))
    }

    fn amount(&mut self, amount: Option<Bytes>) -> Result<()> {
        self.known(amount.map(|amount| amount.0))
    }

    fn known(&mut self, value: Option<impl Display>) -> Result<()> {
        match value {
            Some(value) => self.put(value),
            None => Ok(self.csv.write_field("")?),
        }
    }

    fn put(&mut self, value: impl Display) -> Result<()> {
        self.field.clear();
        write!(self.field, "{value}").expect("writing to a string");
        Ok(self.csv.write_field(&self.field)?)
    }

    fn end_row(&mut self) -> Result<()> {
        self.rows += 1;
        Ok(self.csv.write_record(None::<&[u8]>)?)
    }
}

#[cfg(test)]
mod tests;
