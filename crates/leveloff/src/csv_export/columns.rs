//! The columns of each table: their names, and how their values are written.

use std::fmt::{Display, Write as _};

use leveloff_model::process::{ProcessInfo, Role};
use leveloff_model::progress::{Phase, Progress};
use leveloff_model::sample::{ProcessReading, PssReading, Sample, TreeMemory};
use leveloff_model::training_counters::TrainingCounter;
use leveloff_model::units::{Bytes, Seconds};

use super::ExportScope;

/// A column: its name, and what writes its value.
pub(super) type Column<Row> = (&'static str, fn(&Row, &mut Field));
type ProcessColumn = (&'static str, fn(&ProcessRow, &mut Field));
type RoleColumn = (&'static str, fn(&RoleRow, &mut Field));
type TreeColumn = (&'static str, fn(&TreeRow, &mut Field));

/// Declares the columns of a table, each with the expression that writes its value.
macro_rules! columns {
    ($row:ident, $field:ident: $($name:literal => $write:expr,)*) => {
        &[$(($name, |$row, $field| $write)),*]
    };
}

/// A field being written. A value that is not known is an empty field, never a zero.
#[derive(Debug, Default)]
pub(super) struct Field(String);

/// One process at one moment.
pub(super) struct ProcessRow<'a> {
    pub(super) sample: &'a Sample,
    pub(super) reading: &'a ProcessReading,
    pub(super) info: &'a ProcessInfo,
}

/// All processes of one role at one moment.
pub(super) struct RoleRow<'a> {
    pub(super) sample: &'a Sample,
    pub(super) role: &'a str,
    pub(super) readings: Vec<&'a ProcessReading>,
}

/// All processes at one moment.
pub(super) struct TreeRow<'a> {
    pub(super) sample: &'a Sample,
    pub(super) tree: TreeMemory,
}

/// Columns of the process scope. The first 25 are a contract: others read them by name and place. New ones go to
/// the right; those of the training's counters follow these.
pub(super) const PROCESS_COLUMNS: &[ProcessColumn] = columns! { row, field:
    "t_s" => field.seconds(Some(row.sample.t)),
    "step" => field.known(row.sample.progress.step),
    "pid" => field.put(row.info.key.pid),
    "ppid" => field.put(row.info.parent),
    "role" => field.put(row.info.role_name()),
    "comm" => field.put(&row.info.comm),
    "rss_bytes" => field.put(row.reading.rss().0),
    "anon_bytes" => field.put(row.reading.anon.0),
    "file_bytes" => field.put(row.reading.file.0),
    "shmem_bytes" => field.put(row.reading.shmem.0),
    "swap_bytes" => field.put(row.reading.swap.0),
    "pss_bytes" => field.amount(row.pss(|pss| pss.pss)),
    "pss_anon_bytes" => field.amount(row.pss(|pss| pss.anon)),
    "pss_file_bytes" => field.amount(row.pss(|pss| pss.file)),
    "pss_shmem_bytes" => field.amount(row.pss(|pss| pss.shmem)),
    "private_bytes" => field.amount(row.pss(|pss| pss.private)),
    "threads" => field.put(row.reading.threads),
    "fds" => field.known(row.reading.fds),
    "minor_faults" => field.put(row.reading.minor_faults),
    "major_faults" => field.put(row.reading.major_faults),
    "cpu_ms" => field.put(row.reading.cpu.0),
    "tensors" => field.counter(row.progress(), TrainingCounter::Tensors),
    "tensor_bytes" => field.counter(row.progress(), TrainingCounter::TensorBytes),
    "devshm_bytes" => field.amount(row.sample.machine.devshm_used),
    "available_bytes" => field.amount(row.sample.machine.available),
    "memory_bytes" => field.put(row.reading.memory().0),
    "pss_age_s" => field.seconds(row.pss(|pss| row.sample.t - pss.at)),
    "lazyfree_bytes" => field.amount(row.pss(|pss| pss.lazy_free)),
    "swap_pss_bytes" => field.amount(row.pss(|pss| pss.swap)),
    "gpu_bytes" => field.amount(row.reading.gpu),
    "rank" => field.known(row.info.rank),
    "state" => field.put(row.reading.state.letter()),
    "start_ticks" => field.put(row.info.key.start.0),
};

/// Columns of the role scope.
pub(super) const ROLE_COLUMNS: &[RoleColumn] = columns! { row, field:
    "t_s" => field.seconds(Some(row.sample.t)),
    "step" => field.known(row.sample.progress.step),
    "role" => field.put(row.role),
    "processes" => field.put(row.readings.len()),
    "memory_bytes" => field.put(row.sum(ProcessReading::memory).0),
    "rss_bytes" => field.put(row.sum(ProcessReading::rss).0),
    // A sum in which one number is missing is missing.
    "pss_bytes" => {
        let readings = row.readings.iter();
        field.amount(readings.map(|reading| Some(reading.pss?.pss)).sum());
    },
    "cpu_ms" => {
        let times = row.readings.iter().map(|reading| reading.cpu.0);
        field.put(times.fold(0, u64::saturating_add));
    },
};

/// Columns of the tree scope. Those of the training's counters follow.
pub(super) const TREE_COLUMNS: &[TreeColumn] = columns! { row, field:
    "t_s" => field.seconds(Some(row.sample.t)),
    "step" => field.known(row.sample.progress.step),
    "epoch" => field.known(row.sample.progress.epoch),
    "phase" => field.known(row.sample.progress.phase.as_ref().map(Phase::name)),
    "processes" => field.put(row.tree.processes),
    "memory_bytes" => field.put(row.tree.total.0),
    "rss_bytes" => field.put(row.tree.rss.0),
    "pss_bytes" => field.amount(row.pss()),
    "overcount_bytes" => field.amount(row.pss().map(|pss| row.tree.rss.saturating_sub(pss))),
    "estimated_processes" => field.put(row.tree.unread),
    "oldest_pss_age_s" => field.seconds(row.tree.oldest_pss),
    "tensors" => field.counter(row.progress(), TrainingCounter::Tensors),
    "tensor_bytes" => field.counter(row.progress(), TrainingCounter::TensorBytes),
    "cuda_bytes" => field.counter(row.progress(), TrainingCounter::CudaReserved),
    "devshm_bytes" => field.amount(row.sample.machine.devshm_used),
    "shmem_bytes" => field.amount(row.sample.machine.shmem),
    "available_bytes" => field.amount(row.sample.machine.available),
    "swap_used_bytes" => field.amount(row.sample.machine.swap_used),
    "cgroup_current_bytes" => field.amount(row.sample.cgroup.as_ref().and_then(|cgroup| cgroup.current)),
    "cgroup_limit_bytes" => field.amount(row.sample.cgroup.as_ref().and_then(|cgroup| cgroup.limit)),
    "ceiling_bytes" => field.amount(row.sample.ceiling.map(|it| it.limit)),
    "ceiling_used_bytes" => field.amount(row.sample.ceiling.map(|it| it.used)),
    "own_cpu_ms" => field.put(row.sample.cost.cpu.0),
    "own_rss_bytes" => field.put(row.sample.cost.rss.0),
    "own_tick_us" => field.put(row.sample.cost.tick_us),
};

/// The counters that have their columns at the end of a table; the older ones are further left.
pub(super) fn counters_of(scope: ExportScope) -> impl Iterator<Item = TrainingCounter> {
    use TrainingCounter::{CudaReserved, TensorBytes, Tensors};
    let further_left: &[TrainingCounter] = match scope {
        ExportScope::Process => &[Tensors, TensorBytes],
        ExportScope::Role => &TrainingCounter::ALL,
        ExportScope::Tree => &[Tensors, TensorBytes, CudaReserved],
    };
    let all = TrainingCounter::ALL.into_iter();
    all.filter(|counter| !further_left.contains(counter))
}

impl ProcessRow<'_> {
    /// Tensors live in the trainer; rows of other processes have no counters.
    pub(super) fn progress(&self) -> Option<&Progress> {
        (self.info.role == Role::Trainer).then_some(&self.sample.progress)
    }

    fn pss<T>(&self, value: impl Fn(&PssReading) -> T) -> Option<T> {
        self.reading.pss.as_ref().map(value)
    }
}

impl RoleRow<'_> {
    fn sum(&self, amount: fn(&ProcessReading) -> Bytes) -> Bytes {
        self.readings.iter().map(|reading| amount(reading)).sum()
    }
}

impl TreeRow<'_> {
    fn progress(&self) -> Option<&Progress> {
        Some(&self.sample.progress)
    }

    fn pss(&self) -> Option<Bytes> {
        (self.tree.unread == 0).then_some(self.tree.pss)
    }
}

impl Field {
    pub(super) fn cleared(&mut self) -> &mut Field {
        self.0.clear();
        self
    }

    pub(super) fn text(&self) -> &str {
        &self.0
    }

    pub(super) fn known(&mut self, value: Option<impl Display>) {
        if let Some(value) = value {
            self.put(value);
        }
    }

    fn put(&mut self, value: impl Display) {
        write!(self.0, "{value}").expect("writing to a string");
    }

    fn amount(&mut self, amount: Option<Bytes>) {
        self.known(amount.map(|amount| amount.0));
    }

    fn seconds(&mut self, time: Option<Seconds>) {
        self.known(time.map(|time| format!("{:.3}", time.0)));
    }

    fn counter(&mut self, progress: Option<&Progress>, counter: TrainingCounter) {
        self.known(progress.and_then(|progress| progress.counters.get(counter)));
    }
}
