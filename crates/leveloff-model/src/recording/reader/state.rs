//! The state that the sample lines change.

use std::collections::BTreeMap;

use crate::process::{ProcessIndex, ProcessState};
use crate::progress::{Phase, Progress, ProgressSource};
use crate::recording::v1::{CeilingRow, CgroupChange, MachineChange, ProcessChange, SampleRow};
use crate::sample::{
    Ceiling, CgroupReading, MachineReading, MappingReading, OwnCost, ProcessReading, Sample,
};
use crate::training_counters::{GrownTensors, TrainingCounter};
use crate::units::{Bytes, CpuMillis, Seconds, Step};

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
        set_with(
            &mut progress.source,
            row.source.as_ref().map(Option::as_ref),
            ProgressSource::from,
        );
        for changes in &row.p {
            apply_process(self.process(changes.n), changes);
        }
        if let Some(changes) = &row.m {
            apply_machine(&mut self.machine, changes);
        }
        match &row.g {
            None => {}
            Some(None) => self.cgroup = None,
            Some(Some(changes)) => apply_cgroup(self.cgroup.get_or_insert_default(), changes),
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

fn set<A: Copy, B>(target: &mut B, change: Option<A>, wrap: impl Fn(A) -> B) {
    if let Some(now) = change {
        *target = wrap(now);
    }
}

fn grown_tensors((what, more, more_bytes): (String, u64, u64)) -> GrownTensors {
    GrownTensors {
        what,
        more,
        more_bytes: Bytes(more_bytes),
    }
}

fn apply_process(reading: &mut ProcessReading, changes: &ProcessChange) {
    set(&mut reading.state, changes.state, ProcessState::from);
    set(&mut reading.anon, changes.anon, Bytes);
    set(&mut reading.file, changes.file, Bytes);
    set(&mut reading.shmem, changes.shmem, Bytes);
    set(&mut reading.swap, changes.swap, Bytes);
    set(&mut reading.inherited, changes.inherited, Bytes);
    set(&mut reading.returned, changes.returned, Bytes);
    set(&mut reading.threads, changes.threads, |threads| threads);
    set_with(&mut reading.fds, changes.fds, |fds| fds);
    set(&mut reading.minor_faults, changes.flt, |faults| faults);
    set(&mut reading.major_faults, changes.majflt, |faults| faults);
    set(&mut reading.cpu, changes.cpu, CpuMillis);
    set_with(&mut reading.gpu, changes.gpu, Bytes);
}

fn apply_machine(machine: &mut MachineReading, changes: &MachineChange) {
    set_with(&mut machine.total, changes.total, Bytes);
    set_with(&mut machine.available, changes.avail, Bytes);
    set_with(&mut machine.shmem, changes.shmem, Bytes);
    set_with(&mut machine.devshm_used, changes.devshm, Bytes);
    set_with(&mut machine.devshm_size, changes.devshm_size, Bytes);
    set_with(&mut machine.swap_used, changes.swap, Bytes);
    set_with(&mut machine.swap_total, changes.swap_size, Bytes);
    set_with(&mut machine.pressure_some, changes.psi_some, |percent| {
        percent
    });
    set_with(&mut machine.pressure_full, changes.psi_full, |percent| {
        percent
    });
    set_with(&mut machine.oom_kills, changes.oom_kills, |kills| kills);
}

fn apply_cgroup(cgroup: &mut CgroupReading, changes: &CgroupChange) {
    set(&mut cgroup.version, changes.version, |version| version);
    if let Some(path) = &changes.path {
        cgroup.path.clone_from(path);
    }
    set_with(&mut cgroup.limit, changes.limit, Bytes);
    set_with(&mut cgroup.high, changes.high, Bytes);
    set_with(&mut cgroup.current, changes.cur, Bytes);
    set_with(&mut cgroup.anon, changes.anon, Bytes);
    set_with(&mut cgroup.file, changes.file, Bytes);
    set_with(&mut cgroup.shmem, changes.shmem, Bytes);
    set_with(&mut cgroup.reclaimable, changes.reclaimable, Bytes);
    set_with(&mut cgroup.limit_hits, changes.limit_hits, |hits| hits);
    set_with(&mut cgroup.oom_kills, changes.oom_kills, |kills| kills);
}
