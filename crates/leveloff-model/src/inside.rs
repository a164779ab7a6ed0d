//! What only the training itself can count: its tensors, what malloc holds for it, what CUDA holds.

use crate::units::Bytes;

/// One thing that is counted inside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum InsideFact {
    /// Live tensors, on all devices.
    Tensors,
    /// Bytes in them.
    TensorBytes,
    /// Those of them that are not in host memory.
    DeviceTensors,
    /// Bytes in those.
    DeviceTensorBytes,
    /// Objects that Python's garbage collector looks after.
    GcObjects,
    /// Blocks that Python's own allocator has given out. Its arenas are in nobody else's books.
    PythonBlocks,
    /// What native code holds of malloc's memory.
    MallocUsed,
    /// What was freed, and malloc has kept.
    MallocFree,
    /// What a `malloc_trim` gave back to the system.
    Trimmed,
    /// What the CUDA allocator holds.
    CudaReserved,
    /// Of that, what is in tensors.
    CudaAllocated,
    /// Page-locked host memory that CUDA's host allocator holds.
    Pinned,
    /// How often tensors have been counted: the same number twice is not one count.
    TensorCounts,
}

/// A number for each fact, as far as it is known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Inside([Option<u64>; InsideFact::COUNT]);

/// Tensors of one type and shape that became more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrownTensors {
    /// Which, in the training's words: `float32[64, 1024] cpu`.
    pub what: String,
    /// How many more there are than at the first count.
    pub more: u64,
    /// How many more bytes.
    pub more_bytes: Bytes,
}

impl InsideFact {
    /// How many there are.
    pub const COUNT: usize = InsideFact::ALL.len();

    /// Every fact, in the order of reading.
    pub const ALL: [InsideFact; 13] = [
        InsideFact::Tensors,
        InsideFact::TensorBytes,
        InsideFact::DeviceTensors,
        InsideFact::DeviceTensorBytes,
        InsideFact::GcObjects,
        InsideFact::PythonBlocks,
        InsideFact::MallocUsed,
        InsideFact::MallocFree,
        InsideFact::Trimmed,
        InsideFact::CudaReserved,
        InsideFact::CudaAllocated,
        InsideFact::Pinned,
        InsideFact::TensorCounts,
    ];

    /// Its name in marks, recordings and reports for programs.
    pub const fn name(self) -> &'static str {
        match self {
            InsideFact::Tensors => "tensors",
            InsideFact::TensorBytes => "tensor_bytes",
            InsideFact::DeviceTensors => "device_tensors",
            InsideFact::DeviceTensorBytes => "device_tensor_bytes",
            InsideFact::GcObjects => "gc_objects",
            InsideFact::PythonBlocks => "python_blocks",
            InsideFact::MallocUsed => "malloc_used_bytes",
            InsideFact::MallocFree => "malloc_free_bytes",
            InsideFact::Trimmed => "trimmed_bytes",
            InsideFact::CudaReserved => "cuda_bytes",
            InsideFact::CudaAllocated => "cuda_allocated_bytes",
            InsideFact::Pinned => "pinned_bytes",
            InsideFact::TensorCounts => "tensor_counts",
        }
    }

    /// The fact of this name.
    pub fn from_name(name: &str) -> Option<InsideFact> {
        InsideFact::ALL.into_iter().find(|fact| fact.name() == name)
    }

    /// Whether it is an amount of memory, and not a count.
    pub fn is_bytes(self) -> bool {
        self.name().ends_with("_bytes")
    }
}

impl Inside {
    /// What is known of a fact.
    pub fn get(&self, fact: InsideFact) -> Option<u64> {
        self.0[fact as usize]
    }

    /// What is known of a fact, as an amount of memory.
    pub fn bytes(&self, fact: InsideFact) -> Option<Bytes> {
        self.get(fact).map(Bytes)
    }

    /// Learns a fact, or that it is not known any more.
    pub fn set(&mut self, fact: InsideFact, value: impl Into<Option<u64>>) {
        self.0[fact as usize] = value.into();
    }

    /// The same with one more fact.
    #[must_use]
    pub fn with(mut self, fact: InsideFact, value: impl Into<Option<u64>>) -> Inside {
        self.set(fact, value);
        self
    }

    /// What the other knows, and where it knows nothing, what is known here.
    #[must_use]
    pub fn updated_by(&self, newer: &Inside) -> Inside {
        Inside(std::array::from_fn(|place| {
            newer.0[place].or(self.0[place])
        }))
    }

    /// Everything that is known.
    pub fn known(&self) -> impl Iterator<Item = (InsideFact, u64)> {
        let known = |fact: InsideFact| Some((fact, self.get(fact)?));
        InsideFact::ALL.into_iter().filter_map(known)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fact_has_a_place_and_a_name_of_its_own() {
        for (place, fact) in InsideFact::ALL.into_iter().enumerate() {
            assert_eq!(fact as usize, place);
            assert_eq!(InsideFact::from_name(fact.name()), Some(fact));
        }
        assert_eq!(InsideFact::from_name("loss"), None);
    }

    #[test]
    fn what_is_newer_wins_and_what_it_does_not_know_stays() {
        let old = Inside::default()
            .with(InsideFact::Tensors, 6529)
            .with(InsideFact::MallocUsed, 100);
        let new = Inside::default().with(InsideFact::MallocUsed, 200);
        let both = old.updated_by(&new);
        assert_eq!(both.get(InsideFact::Tensors), Some(6529));
        assert_eq!(both.bytes(InsideFact::MallocUsed), Some(Bytes(200)));
        assert_eq!(both.known().count(), 2);
    }
}
