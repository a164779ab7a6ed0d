//! Changes in words: what each does, and what it means if the growth stops with it.

use leveloff_classifier::trial::{ArmFamily, BuiltInArm, Change};

/// A change in words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArmWords {
    /// What it changes.
    pub changes: &'static str,
    /// What follows if the growth stops with it.
    pub means: &'static str,
}

/// A change in words.
pub fn arm_words(arm: BuiltInArm) -> ArmWords {
    let (changes, means) = match arm {
        BuiltInArm::NoCompile => (
            "torch.compile is off",
            "compiled graphs pile up: TORCH_LOGS=recompiles names what is compiled again and why",
        ),
        BuiltInArm::MapLargeBlocks => (
            "glibc maps blocks of 64 KiB and more instead of cutting them from the heap",
            "the heap is fragmented: the program frees the memory, and malloc cannot return it. The variable is a cure",
        ),
        BuiltInArm::OneArena => (
            "glibc uses one arena for all threads",
            "freed memory stays in the arenas of threads. The variable is a cure; threads may wait for each other",
        ),
        BuiltInArm::TrimOften => (
            "glibc returns free memory at the top of the heap at once",
            "malloc keeps freed memory. The variable is a cure, and so is malloc_trim(0) now and then",
        ),
        BuiltInArm::CollectGarbage => (
            "Python collects garbage after each step; what exists at the first step is frozen (gc.freeze), so that it takes little time",
            "reference cycles hold the memory until a collection runs: break them, or call gc.freeze() after the first step and \
             gc.collect() every few hundred steps",
        ),
        BuiltInArm::CollectGarbage10 => (
            "Python collects garbage after every tenth step, among all objects",
            "reference cycles hold the memory until a collection runs, and a collection now and then is enough",
        ),
        BuiltInArm::NoEvaluation => (
            "Trainer of transformers and of Lightning skips evaluations",
            "what an evaluation leaves stays: predictions or metrics that are kept, a model that records graphs without torch.no_grad()",
        ),
        BuiltInArm::NoCheckpoints => (
            "Trainer of transformers and of Lightning saves nothing, and torch.save and safetensors write no files",
            "what saving leaves stays: copies of the state, or writers in the background",
        ),
        BuiltInArm::CloseFigures => (
            "all figures of matplotlib are closed after each step",
            "figures stay open: plt.close() each of them after it was saved",
        ),
        BuiltInArm::NoTensorBoard => (
            "SummaryWriter of torch writes nothing",
            "what is logged stays in memory: log numbers and not tensors, and less often",
        ),
        BuiltInArm::DropGradients => (
            "gradients are set to None after each step",
            "gradients, or what refers to them, are kept from step to step: zero_grad(set_to_none=True)",
        ),
        BuiltInArm::NoWorkers => (
            "every torch DataLoader has num_workers=0",
            "loader workers, or batches that they hand over, hold the memory",
        ),
        BuiltInArm::SwapPersistentWorkers => (
            "persistent_workers of every torch DataLoader is inverted",
            "the growth follows the life of loader workers: those that are started again, or those that are kept",
        ),
        BuiltInArm::NoPinning => (
            "every torch DataLoader has pin_memory=False",
            "the pool of page-locked memory grows: pad batches to a few sizes, or lower prefetch_factor",
        ),
        BuiltInArm::NoPrimitiveCache => (
            "oneDNN keeps one compiled primitive instead of 1,024",
            "oneDNN keeps a primitive for each new input shape: pad inputs to a few shapes, or limit the cache",
        ),
        BuiltInArm::OneCompileThread => (
            "torch.compile compiles in the training's own process",
            "the processes that compile hold the memory",
        ),
        BuiltInArm::OneThread => (
            "one OpenMP thread",
            "memory belongs to threads: their stacks, arenas or caches",
        ),
        BuiltInArm::NoWandb => (
            "wandb is off",
            "what is logged stays in memory: log numbers and not tensors, and less often",
        ),
        BuiltInArm::NoTokenizerThreads => (
            "tokenizers use one thread",
            "threads of the tokenizer hold the memory",
        ),
        BuiltInArm::PythonMalloc => (
            "Python objects are allocated by malloc instead of Python's own allocator",
            "Python's arenas of 256 KiB or 1 MiB are kept alive by single objects",
        ),
        BuiltInArm::Jemalloc => ("jemalloc replaces malloc", REPLACED),
        BuiltInArm::Tcmalloc => ("tcmalloc replaces malloc", REPLACED),
        BuiltInArm::Mimalloc => ("mimalloc replaces malloc", REPLACED),
        BuiltInArm::ExpandableSegments => (
            "CUDA's allocator uses segments that can grow",
            "the CUDA allocator's memory was fragmented",
        ),
    };
    ArmWords { changes, means }
}

const REPLACED: &str =
    "glibc's malloc keeps freed memory or fragments its heap. The other allocator is a cure";

/// How a change is made by hand: `TORCH_COMPILE_DISABLE=1`, or its name.
pub fn change_by_hand(arm: BuiltInArm) -> String {
    match arm.change() {
        Change::Variables(variables) => {
            let (name, value) = variables[0];
            format!("{name}={value}")
        }
        Change::Preload(_) | Change::Python(_) => arm.name().to_owned(),
    }
}

/// What several changes of one kind that help have in common.
pub fn common_words(family: ArmFamily) -> &'static str {
    match family {
        ArmFamily::Allocator => "the program frees the memory, and malloc keeps it",
        ArmFamily::Compiler => "compiled code is kept",
        ArmFamily::Python => "Python keeps references that nothing needs",
        ArmFamily::Loader => "the loader holds the memory",
        ArmFamily::Logger => "a logger holds the memory",
        ArmFamily::Threads => "memory belongs to threads",
        ArmFamily::Events => "what happens now and then leaves the memory",
        ArmFamily::Gpu => "the CUDA allocator's memory was fragmented",
    }
}

/// The cause that a change without effect speaks against.
pub fn excluded_by(arm: BuiltInArm) -> &'static str {
    match arm {
        BuiltInArm::MapLargeBlocks
        | BuiltInArm::OneArena
        | BuiltInArm::TrimOften
        | BuiltInArm::PythonMalloc
        | BuiltInArm::Jemalloc
        | BuiltInArm::Tcmalloc
        | BuiltInArm::Mimalloc => "an allocator that keeps freed memory",
        BuiltInArm::NoCompile => "torch.compile",
        BuiltInArm::OneCompileThread => "processes of the compiler",
        BuiltInArm::NoPrimitiveCache => "oneDNN's cache of primitives",
        BuiltInArm::CollectGarbage | BuiltInArm::CollectGarbage10 => "reference cycles",
        BuiltInArm::DropGradients => "gradients that are kept",
        BuiltInArm::CloseFigures => "figures that are not closed",
        BuiltInArm::NoEvaluation => "evaluations",
        BuiltInArm::NoCheckpoints => "checkpoints",
        BuiltInArm::NoWorkers => "loader workers and what they hand over",
        BuiltInArm::SwapPersistentWorkers => "how long loader workers live",
        BuiltInArm::NoPinning => "pinned memory of the loader",
        BuiltInArm::NoWandb => "wandb",
        BuiltInArm::NoTensorBoard => "TensorBoard's writer",
        BuiltInArm::OneThread => "threads of OpenMP",
        BuiltInArm::NoTokenizerThreads => "threads of tokenizers",
        BuiltInArm::ExpandableSegments => "fragmentation of the CUDA allocator",
    }
}

/// A stable name, as in JSON.
pub fn family_name(family: ArmFamily) -> &'static str {
    match family {
        ArmFamily::Allocator => "allocator",
        ArmFamily::Compiler => "compiler",
        ArmFamily::Python => "python",
        ArmFamily::Loader => "loader",
        ArmFamily::Logger => "logger",
        ArmFamily::Threads => "threads",
        ArmFamily::Gpu => "gpu",
        ArmFamily::Events => "events",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_is_named_as_one_would_set_it() {
        assert_eq!(
            change_by_hand(BuiltInArm::NoCompile),
            "TORCH_COMPILE_DISABLE=1"
        );
        assert_eq!(change_by_hand(BuiltInArm::NoWorkers), "no-workers");
    }
}
