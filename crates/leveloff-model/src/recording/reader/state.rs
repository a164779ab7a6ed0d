//! The state that the sample lines change.

use std::collections::BTreeMap;

use crate::process::ProcessIndex;
use crate::progress::{Phase, Progress, ProgressSource, StepSource, StepUnit};
use crate::recording::v1::{CeilingRow, SampleRow, StepSourceRow};
use crate::sample::{
    Ceiling, CgroupReading, MachineReading, MappingReading, OwnCost, ProcessReading, Sample,
};
use crate::training_counters::{
    GrownObjects, GrownTensors, RecompileKind, RecompileReason, TrainingCounter,
};
use crate::units::{ByteDelta, Bytes, CpuMillis, Seconds, Step};

/// The state after the lines read so far.
#[derive(Debug, Default)]
pub struct State {
    progress: Progress,
    pub processes: BTreeMap<ProcessIndex, ProcessReading>,
    pub mappings: Option<MappingReading>,
    machine: MachineReading,
    cgroup: Option<CgroupReading>,
    ceiling: Option<Ceiling>,
}

impl State {
    pub fn process(&mut self, n: u32) -> &mut ProcessReading {
        let index = ProcessIndex(n);
        self.processes
            .entry(index)
            .or_insert_with(|| ProcessReading::unread(index))
    }

    pub fn apply(&mut self, row: &mut SampleRow) {
        if let Some(alive) = &row.alive {
            self.start_over(alive);
        }
        let progress = &mut self.progress;
        set_with(&mut progress.step, row.step, Step);
        set_with(&mut progress.epoch, row.epoch, |epoch| epoch);
        set_with(&mut progress.phase, row.phase.take(), Phase::from);
        set_with(&mut progress.planned_steps, row.planned_steps, Step);
        set_with(&mut progress.epoch_steps, row.epoch_steps, Step);
        for fact in TrainingCounter::ALL {
            if let Some(value) = *row.counter(fact) {
                progress.counters.set(fact, value);
            }
        }
        if let Some(grown) = row.tensors_grown.take() {
            progress.grown = grown.into_iter().map(grown_tensors).collect();
        }
        if let Some(reasons) = row.recompile_reasons.take() {
            progress.recompile_reasons = reasons.into_iter().map(recompile_reason).collect();
        }
        if let Some(grown) = row.objects_grown.take() {
            let objects = |(what, more)| GrownObjects { what, more };
            progress.grown_objects = grown.into_iter().map(objects).collect();
        }
        set_with(&mut progress.unit, row.unit.take(), |name| step_unit(&name));
        set_with(
            &mut progress.source,
            row.source.as_ref().map(Option::as_ref),
            |kind| ProgressSource::from(kind).into(),
        );
        set_with(&mut progress.source, row.step_source.take(), step_source);
        for changes in &row.p {
            changes.apply(self.process(changes.n));
        }
        if let Some(changes) = &row.m {
            changes.apply(&mut self.machine);
        }
        match &row.g {
            None => {}
            Some(None) => self.cgroup = None,
            Some(Some(changes)) => changes.apply(self.cgroup.get_or_insert_default()),
        }
        if let Some(row) = &row.ceiling {
            self.ceiling = row.as_ref().and_then(|row| self.ceiling_after(row));
        }
    }

    fn ceiling_after(&self, row: &CeilingRow) -> Option<Ceiling> {
        Some(Ceiling {
            kind: row
                .kind
                .as_ref()
                .map(Into::into)
                .or(self.ceiling.map(|was| was.kind))?,
            limit: row.limit.map(Bytes).or(self.ceiling.map(|was| was.limit))?,
            used: Bytes(row.used),
        })
    }

    /// After a failed write the writer repeats the whole state: what it does not repeat is no longer known.
    fn start_over(&mut self, alive: &[u32]) {
        let processes = std::mem::take(&mut self.processes);
        let mappings = self.mappings.take();
        *self = State {
            mappings,
            ..State::default()
        };
        for (index, mut reading) in processes {
            if alive.contains(&index.0) {
                (reading.fds, reading.gpu) = (None, None);
                reading.returned = Bytes::ZERO;
                reading.transferred = ByteDelta(0);
                reading.uncertainty = Bytes::ZERO;
                reading.virtual_size = None;
                self.processes.insert(index, reading);
            }
        }
    }

    pub fn sample(&self, row: &SampleRow) -> Sample {
        Sample {
            t: Seconds(row.t),
            progress: self.progress.clone(),
            processes: self.processes.values().cloned().collect(),
            mappings: self.mappings.clone(),
            machine: self.machine,
            cgroup: self.cgroup.clone(),
            ceiling: self.ceiling,
            cost: OwnCost {
                cpu: CpuMillis(row.c[0]),
                rss: Bytes(row.c[1]),
                tick_us: u32::try_from(row.c[2]).unwrap_or(u32::MAX),
            },
        }
    }
}

/// An absent field is unchanged, a `null` one is no longer known.
fn set_with<A, B>(target: &mut Option<B>, change: Option<Option<A>>, wrap: impl Fn(A) -> B) {
    if let Some(now) = change {
        *target = now.map(wrap);
    }
}

fn step_source(row: StepSourceRow) -> StepSource {
    StepSource {
        kind: (&row.kind).into(),
        file: row.file,
        counter: row.counter,
        pattern: row.pattern,
    }
}

fn step_unit(name: &str) -> StepUnit {
    let known = StepUnit::ALL.into_iter().find(|unit| unit.name() == name);
    known.unwrap_or(StepUnit::Steps)
}

fn recompile_reason((kind, what, count): (String, String, u64)) -> RecompileReason {
    RecompileReason {
        kind: RecompileKind::from_name(&kind),
        what,
        count,
    }
}

fn grown_tensors((what, more, more_bytes): (String, u64, u64)) -> GrownTensors {
    GrownTensors {
        what,
        more,
        more_bytes: Bytes(more_bytes),
    }
}
