//! Format version 1, line by line. These types are the file, not the program.

use std::collections::BTreeMap;

mod allocations;
mod changes;
mod names;

use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer, Serialize};

use crate::training_counters::TrainingCounter;

pub use allocations::{AllocRow, FrameRow, HeldAmount, HeldRow, HolderRow, LineRow, SiteRow};
pub use changes::{CgroupChange, MachineChange, ProcessChange};
pub use names::{CeilingName, EndName, RoleName, SourceName, SubjectName};

/// One line.
#[expect(
    clippy::large_enum_variant,
    reason = "there is one row at a time, mostly the large one"
)]
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Row {
    /// First line of the file.
    Header(HeaderRow),
    /// A process joined.
    Process(ProcessRow),
    /// A process has another role, name or parent.
    Changed(ProcessRow),
    /// A process exited.
    Exit(ExitRow),
    /// The training reported something.
    Mark(MarkRow),
    /// A trainer's software, or more of it, is known.
    Software(SoftwareRow),
    /// Something could not be measured.
    Gap(GapRow),
    /// A line that allocates, or more of its stack.
    Line(LineRow),
    /// What such lines hold.
    Held(HeldRow),
    /// What keeps what such a line allocated.
    Holder(HolderRow),
    /// A line that allocates, as it was written before there was `line`.
    Site(SiteRow),
    /// What such lines hold, as it was written before there was `held`.
    Alloc(AllocRow),
    /// A PSS reading.
    Pss(PssRow),
    /// The biggest process by kind.
    Maps(MapsRow),
    /// A sample: what changed since the last one. Ends a tick.
    S(SampleRow),
    /// The recorder ended normally.
    End(EndRow),
}

/// The key of every line that this version reads.
const KINDS: [&str; 16] = [
    "header", "process", "changed", "exit", "mark", "software", "gap", "line", "held", "holder",
    "site", "alloc", "pss", "maps", "s", "end",
];

/// Whether a line that is no [`Row`] is a whole line of a kind that a later leveloff added.
pub fn is_of_unknown_kind(line: &[u8]) -> bool {
    serde_json::from_slice::<BTreeMap<String, IgnoredAny>>(line).is_ok_and(|keys| {
        keys.len() == 1 && keys.keys().all(|kind| !KINDS.contains(&kind.as_str()))
    })
}

#[derive(Debug, Serialize, Deserialize)]
pub struct HeaderRow {
    pub format: String,
    pub version: u32,
    pub tool: String,
    pub started_unix: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid: Option<i32>,
    pub interval_s: f64,
    pub pss_budget_percent: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level_by: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level_by_s: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub planned_steps: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub epoch_steps: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub earlier_runs: Option<EarlierRunsRow>,
}

#[derive(Debug, Serialize, Deserialize)]
pub struct EarlierRunsRow {
    /// `seconds`, or what the training counts: `steps`.
    pub unit: String,
    pub runs: u32,
    pub level_from: f64,
    pub level_to: f64,
}

#[derive(Debug, Serialize, Deserialize)]
pub struct ProcessRow {
    pub n: u32,
    pub pid: i32,
    pub start: u64,
    pub ppid: i32,
    pub role: RoleName,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rank: Option<u32>,
    pub comm: String,
    pub cmd: Vec<String>,
    pub why: String,
}

#[derive(Debug, Serialize, Deserialize)]
pub struct ExitRow {
    pub n: u32,
}

#[derive(Debug, Serialize, Deserialize)]
pub struct MarkRow {
    pub t: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub n: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub epoch: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub malloc_used_bytes: Option<u64>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub facts: BTreeMap<String, f64>,
    /// Fields of a later version. If no known field says what the mark is, the first of these does.
    #[serde(flatten, skip_serializing)]
    pub unknown: BTreeMap<String, IgnoredAny>,
}

#[derive(Debug, Serialize, Deserialize)]
pub struct SoftwareRow {
    pub n: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub python: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packages: Option<BTreeMap<String, String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variables: Option<BTreeMap<String, String>>,
}

#[derive(Debug, Serialize, Deserialize)]
pub struct GapRow {
    pub of: SubjectName,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub n: Option<u32>,
    pub text: String,
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PssRow {
    pub n: u32,
    pub t: f64,
    pub pss: u64,
    #[serde(skip_serializing_if = "is_zero")]
    pub anon: u64,
    #[serde(skip_serializing_if = "is_zero")]
    pub file: u64,
    #[serde(skip_serializing_if = "is_zero")]
    pub shmem: u64,
    #[serde(skip_serializing_if = "is_zero")]
    pub private: u64,
    #[serde(skip_serializing_if = "is_zero")]
    pub swap: u64,
    #[serde(skip_serializing_if = "is_zero")]
    pub lazy: u64,
    #[serde(skip_serializing_if = "is_zero")]
    pub hugetlb: u64,
    /// Fast counters at the same moment: anon, shmem, swap.
    pub base: [u64; 3],
}

#[derive(Debug, Serialize, Deserialize)]
pub struct MapsRow {
    pub n: u32,
    pub t: f64,
    pub heap: u64,
    pub anonymous: u64,
    pub stacks: u64,
    pub file: u64,
    pub devshm: u64,
    pub memfd: u64,
    pub device: u64,
    pub swap: u64,
    /// An object, because readers that do not know it count unknown numbers as kinds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filling: Option<FillingRow>,
    /// An object for the same reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shared: Option<SharedRow>,
    /// Kinds of a later version.
    #[serde(flatten)]
    pub unknown: BTreeMap<String, serde_json::Value>,
}

/// The mapping that is being filled.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct FillingRow {
    pub number: u32,
    pub size: u64,
    pub used: u64,
}

/// Shared memory by the names of its mappings.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SharedRow {
    pub torch: u64,
    pub plasma: u64,
    pub memfd: u64,
}

/// A field that is written only when it changed, and as `null` when it stopped being known.
pub type Change<T> = Option<Option<T>>;

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SampleRow {
    pub t: f64,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "known")]
    pub step: Change<u64>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "known")]
    pub epoch: Change<f64>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "known")]
    pub phase: Change<String>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "known")]
    pub planned_steps: Change<u64>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "known")]
    pub epoch_steps: Change<u64>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "known")]
    pub tensors: Change<u64>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "known")]
    pub tensor_bytes: Change<u64>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "known")]
    pub device_tensors: Change<u64>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "known")]
    pub device_tensor_bytes: Change<u64>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "known")]
    pub gc_objects: Change<u64>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "known")]
    pub python_blocks: Change<u64>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "known")]
    pub malloc_used_bytes: Change<u64>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "known")]
    pub malloc_free_bytes: Change<u64>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "known")]
    pub trimmed_bytes: Change<u64>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "known")]
    pub cuda_bytes: Change<u64>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "known")]
    pub cuda_allocated_bytes: Change<u64>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "known")]
    pub pinned_bytes: Change<u64>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "known")]
    pub tensor_counts: Change<u64>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "known")]
    pub samples: Change<u64>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "known")]
    pub tokens: Change<u64>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "known")]
    pub episodes: Change<u64>,
    /// Which tensors became more: what, how many, bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tensors_grown: Option<Vec<(String, u64, u64)>>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "known")]
    pub compilations: Change<u64>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "known")]
    pub recompilations: Change<u64>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "known")]
    pub input_shapes: Change<u64>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "known")]
    pub open_figures: Change<u64>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "known")]
    pub malloc_counts: Change<u64>,
    /// Why code was compiled again: kind, what, how often.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recompile_reasons: Option<Vec<(String, String, u64)>>,
    /// Which Python objects became more: class, how many.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub objects_grown: Option<Vec<(String, u64)>>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "known")]
    pub source: Change<SourceName>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "known")]
    pub step_source: Change<StepSourceRow>,
    /// What `step` counts; a name that this version does not know stands for steps.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "known")]
    pub unit: Change<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub p: Vec<ProcessChange>,
    /// The living processes; written only after a failed write, when an exit may have been lost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alive: Option<Vec<u32>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub m: Option<MachineChange>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "known")]
    pub g: Change<CgroupChange>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "known")]
    pub ceiling: Change<CeilingRow>,
    /// Own cost: CPU ms so far, RSS in bytes, CPU µs of this tick.
    pub c: [u64; 3],
}

impl SampleRow {
    /// The field of a counter.
    pub fn counter(&mut self, counter: TrainingCounter) -> &mut Change<u64> {
        match counter {
            TrainingCounter::Tensors => &mut self.tensors,
            TrainingCounter::TensorBytes => &mut self.tensor_bytes,
            TrainingCounter::DeviceTensors => &mut self.device_tensors,
            TrainingCounter::DeviceTensorBytes => &mut self.device_tensor_bytes,
            TrainingCounter::GcObjects => &mut self.gc_objects,
            TrainingCounter::PythonBlocks => &mut self.python_blocks,
            TrainingCounter::MallocUsed => &mut self.malloc_used_bytes,
            TrainingCounter::MallocFree => &mut self.malloc_free_bytes,
            TrainingCounter::Trimmed => &mut self.trimmed_bytes,
            TrainingCounter::CudaReserved => &mut self.cuda_bytes,
            TrainingCounter::CudaAllocated => &mut self.cuda_allocated_bytes,
            TrainingCounter::Pinned => &mut self.pinned_bytes,
            TrainingCounter::TensorCounts => &mut self.tensor_counts,
            TrainingCounter::Samples => &mut self.samples,
            TrainingCounter::Tokens => &mut self.tokens,
            TrainingCounter::Episodes => &mut self.episodes,
            TrainingCounter::Compilations => &mut self.compilations,
            TrainingCounter::Recompilations => &mut self.recompilations,
            TrainingCounter::InputShapes => &mut self.input_shapes,
            TrainingCounter::OpenFigures => &mut self.open_figures,
            TrainingCounter::MallocCounts => &mut self.malloc_counts,
        }
    }
}

/// Where the steps come from, in detail; `source` has the kind alone.
#[derive(Debug, Serialize, Deserialize)]
pub struct StepSourceRow {
    pub kind: SourceName,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counter: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
}

#[derive(Debug, Serialize, Deserialize)]
pub struct CeilingRow {
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub kind: Option<CeilingName>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub limit: Option<u64>,
    pub used: u64,
}

#[derive(Debug, Serialize, Deserialize)]
pub struct EndRow {
    pub t: f64,
    pub reason: EndName,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<i32>,
}

/// Distinguishes a written `null` (no longer known) from an absent field (unchanged).
fn known<'de, T, D>(deserializer: D) -> Result<Change<T>, D::Error>
where
    T: Deserialize<'de>,
    D: Deserializer<'de>,
{
    Option::<T>::deserialize(deserializer).map(Some)
}

fn is_zero(amount: &u64) -> bool {
    *amount == 0
}
