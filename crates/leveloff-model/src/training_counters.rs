//! Counters that only the training itself can read: its tensors, malloc and the CUDA allocator.

use crate::units::Bytes;

/// One counter of the training.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TrainingCounter {
    /// Live tensors, on all devices.
    Tensors,
    /// Bytes in them.
    TensorBytes,
    /// Those of them that are not in host memory.
    DeviceTensors,
    /// Bytes in those.
    DeviceTensorBytes,
    /// Objects that Python's garbage collector tracks.
    GcObjects,
    /// Blocks that Python's own allocator has given out. No other counter includes its arenas.
    PythonBlocks,
    /// Bytes that malloc has given out and that are in use.
    MallocUsed,
    /// Bytes that were freed and that malloc keeps.
    MallocFree,
    /// Bytes that a `malloc_trim` gave back to the system.
    Trimmed,
    /// Bytes that the CUDA allocator holds.
    CudaReserved,
    /// Of those, bytes in tensors.
    CudaAllocated,
    /// Page-locked host memory that CUDA's host allocator holds.
    Pinned,
    /// How often tensors have been counted. Distinguishes a second count with the same result from no count.
    TensorCounts,
    /// Training samples processed, where the training counts them beside its steps.
    Samples,
    /// Tokens processed.
    Tokens,
    /// Episodes played.
    Episodes,
    /// Graphs that compilers have compiled so far, also those that they compiled again.
    Compilations,
    /// Of those, graphs of code that had been compiled before.
    Recompilations,
    /// Distinct shapes of inputs so far.
    InputShapes,
    /// Figures of matplotlib's pyplot that are not closed.
    OpenFigures,
    /// How often malloc has been counted. Distinguishes a second count with the same result from no count.
    MallocCounts,
}

/// The value of each counter that is known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TrainingCounters {
    /// A bit for each counter that is known. Every observation holds this type, and most know no counter.
    known: u32,
    /// Zero where it is not known, so that equal counters compare equal.
    values: [u64; TrainingCounter::COUNT],
}

/// Why code was compiled again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecompileReason {
    /// What differed.
    pub kind: RecompileKind,
    /// What it is about, as the training writes it: `x, dimension 1`.
    pub what: String,
    /// How often so far.
    pub count: u64,
}

/// What differed when code was compiled again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecompileKind {
    /// The shape of an input.
    Size,
    /// A type.
    Type,
    /// The identity of an object: a function or a module that was created again.
    Object,
    /// A number or another value.
    Value,
    /// Anything else.
    Other,
}

impl RecompileKind {
    /// Every kind.
    pub const ALL: [RecompileKind; 5] = [
        RecompileKind::Size,
        RecompileKind::Type,
        RecompileKind::Object,
        RecompileKind::Value,
        RecompileKind::Other,
    ];

    /// Its name in marks and recordings.
    pub const fn name(self) -> &'static str {
        match self {
            RecompileKind::Size => "size",
            RecompileKind::Type => "type",
            RecompileKind::Object => "object",
            RecompileKind::Value => "value",
            RecompileKind::Other => "other",
        }
    }

    /// The kind with this name; one that this version does not know is `Other`.
    pub fn from_name(name: &str) -> RecompileKind {
        let known = RecompileKind::ALL
            .into_iter()
            .find(|kind| kind.name() == name);
        known.unwrap_or(RecompileKind::Other)
    }
}

/// Python objects of one class that became more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrownObjects {
    /// The class, as the training writes it: `matplotlib.figure.Figure`.
    pub what: String,
    /// How many more there are than at the first count.
    pub more: u64,
}

/// Tensors of one type and shape that became more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrownTensors {
    /// Type, shape and device as the training writes them: `float32[64, 1024] cpu`.
    pub what: String,
    /// How many more there are than at the first count.
    pub more: u64,
    /// How many more bytes.
    pub more_bytes: Bytes,
}

impl TrainingCounter {
    /// The number of counters.
    pub const COUNT: usize = TrainingCounter::ALL.len();

    /// Every counter, in the order of display.
    pub const ALL: [TrainingCounter; 21] = [
        TrainingCounter::Tensors,
        TrainingCounter::TensorBytes,
        TrainingCounter::DeviceTensors,
        TrainingCounter::DeviceTensorBytes,
        TrainingCounter::GcObjects,
        TrainingCounter::PythonBlocks,
        TrainingCounter::MallocUsed,
        TrainingCounter::MallocFree,
        TrainingCounter::Trimmed,
        TrainingCounter::CudaReserved,
        TrainingCounter::CudaAllocated,
        TrainingCounter::Pinned,
        TrainingCounter::TensorCounts,
        TrainingCounter::Samples,
        TrainingCounter::Tokens,
        TrainingCounter::Episodes,
        TrainingCounter::Compilations,
        TrainingCounter::Recompilations,
        TrainingCounter::InputShapes,
        TrainingCounter::OpenFigures,
        TrainingCounter::MallocCounts,
    ];

    /// Its name in marks, recordings and reports for programs.
    pub const fn name(self) -> &'static str {
        match self {
            TrainingCounter::Tensors => "tensors",
            TrainingCounter::TensorBytes => "tensor_bytes",
            TrainingCounter::DeviceTensors => "device_tensors",
            TrainingCounter::DeviceTensorBytes => "device_tensor_bytes",
            TrainingCounter::GcObjects => "gc_objects",
            TrainingCounter::PythonBlocks => "python_blocks",
            TrainingCounter::MallocUsed => "malloc_used_bytes",
            TrainingCounter::MallocFree => "malloc_free_bytes",
            TrainingCounter::Trimmed => "trimmed_bytes",
            TrainingCounter::CudaReserved => "cuda_bytes",
            TrainingCounter::CudaAllocated => "cuda_allocated_bytes",
            TrainingCounter::Pinned => "pinned_bytes",
            TrainingCounter::TensorCounts => "tensor_counts",
            TrainingCounter::Samples => "samples",
            TrainingCounter::Tokens => "tokens",
            TrainingCounter::Episodes => "episodes",
            TrainingCounter::Compilations => "compilations",
            TrainingCounter::Recompilations => "recompilations",
            TrainingCounter::InputShapes => "input_shapes",
            TrainingCounter::OpenFigures => "open_figures",
            TrainingCounter::MallocCounts => "malloc_counts",
        }
    }

    /// The counter with this name.
    pub fn from_name(name: &str) -> Option<TrainingCounter> {
        TrainingCounter::ALL
            .into_iter()
            .find(|counter| counter.name() == name)
    }

    /// Whether it is an amount of memory rather than a count.
    pub fn is_bytes(self) -> bool {
        !matches!(
            self,
            TrainingCounter::Tensors
                | TrainingCounter::DeviceTensors
                | TrainingCounter::GcObjects
                | TrainingCounter::PythonBlocks
                | TrainingCounter::TensorCounts
                | TrainingCounter::Samples
                | TrainingCounter::Tokens
                | TrainingCounter::Episodes
                | TrainingCounter::Compilations
                | TrainingCounter::Recompilations
                | TrainingCounter::InputShapes
                | TrainingCounter::OpenFigures
                | TrainingCounter::MallocCounts
        )
    }
}

const _: () = assert!(TrainingCounter::COUNT <= u32::BITS as usize);

impl TrainingCounters {
    /// The value, if it is known.
    pub fn get(&self, counter: TrainingCounter) -> Option<u64> {
        let n = counter as usize;
        (self.known & 1 << n != 0).then_some(self.values[n])
    }

    /// The value as an amount of memory.
    pub fn bytes(&self, counter: TrainingCounter) -> Option<Bytes> {
        self.get(counter).map(Bytes)
    }

    /// Sets a value; `None` makes it unknown.
    pub fn set(&mut self, counter: TrainingCounter, value: impl Into<Option<u64>>) {
        let (n, value) = (counter as usize, value.into());
        match value {
            Some(_) => self.known |= 1 << n,
            None => self.known &= !(1 << n),
        }
        self.values[n] = value.unwrap_or(0);
    }

    /// The same with one more value.
    #[must_use]
    pub fn with(
        mut self,
        counter: TrainingCounter,
        value: impl Into<Option<u64>>,
    ) -> TrainingCounters {
        self.set(counter, value);
        self
    }

    /// The newer values; where there is none, the values of `self`.
    #[must_use]
    pub fn updated_by(&self, newer: &TrainingCounters) -> TrainingCounters {
        newer
            .known()
            .fold(*self, |all, (counter, value)| all.with(counter, value))
    }

    /// The values a share of the way to `later`; where only one of the two is known, that one.
    #[must_use]
    pub fn towards(&self, later: &TrainingCounters, way: f64) -> TrainingCounters {
        later.known().fold(*self, |all, (counter, to)| {
            let between =
                |from: u64| (from as f64 + way * (to as f64 - from as f64)).round() as u64;
            all.with(counter, all.get(counter).map_or(to, between))
        })
    }

    /// The known values.
    pub fn known(&self) -> impl Iterator<Item = (TrainingCounter, u64)> {
        let mut left = self.known;
        std::iter::from_fn(move || {
            let n = left.trailing_zeros() as usize;
            // Clears the lowest bit.
            left &= left.wrapping_sub(1);
            (n < TrainingCounter::COUNT).then(|| (TrainingCounter::ALL[n], self.values[n]))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_counter_has_an_index_and_a_name_of_its_own() {
        for (index, counter) in TrainingCounter::ALL.into_iter().enumerate() {
            assert_eq!(counter as usize, index);
            assert_eq!(TrainingCounter::from_name(counter.name()), Some(counter));
            assert_eq!(counter.is_bytes(), counter.name().ends_with("_bytes"));
        }
        assert_eq!(TrainingCounter::from_name("loss"), None);
    }

    #[test]
    fn newer_values_replace_older_ones() {
        let old = TrainingCounters::default()
            .with(TrainingCounter::Tensors, 6529)
            .with(TrainingCounter::MallocUsed, 100);
        let new = TrainingCounters::default().with(TrainingCounter::MallocUsed, 200);
        let both = old.updated_by(&new);
        assert_eq!(both.get(TrainingCounter::Tensors), Some(6529));
        assert_eq!(both.bytes(TrainingCounter::MallocUsed), Some(Bytes(200)));
        assert_eq!(both.known().count(), 2);
    }
}
