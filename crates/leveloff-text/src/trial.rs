//! Trials in words: what each change does, what it means if the growth stops with it, and what a trial comes to.

mod answer;

use leveloff_classifier::trial::{ArmFamily, BuiltInArm, Change, Effect, SpeedChange};

pub use answer::{Answer, answer};

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
            "Python collects garbage after each step",
            "reference cycles hold the memory until a collection runs: break them, or call gc.collect() every few hundred steps",
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

/// What several changes that help have in common, or what is excluded if none of them helps.
pub fn family_words(family: ArmFamily) -> FamilyWords {
    let (common, excluded) = match family {
        ArmFamily::Allocator => (
            "the program frees the memory, and malloc keeps it",
            "an allocator that keeps freed memory",
        ),
        ArmFamily::Compiler => (
            "compiled code is kept",
            "caches of compiled graphs and kernels",
        ),
        ArmFamily::Python => (
            "Python keeps references that nothing needs",
            "reference cycles and gradients that are kept",
        ),
        ArmFamily::Loader => (
            "the loader holds the memory",
            "loader workers and what they hand over",
        ),
        ArmFamily::Logger => ("a logger holds the memory", "the logger"),
        ArmFamily::Threads => ("memory belongs to threads", "memory of threads"),
        ArmFamily::Gpu => (
            "the CUDA allocator's memory was fragmented",
            "fragmentation of the CUDA allocator",
        ),
    };
    FamilyWords { common, excluded }
}

/// What changes of one kind say together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FamilyWords {
    /// If several of them stop the growth.
    pub common: &'static str,
    /// If none of them does.
    pub excluded: &'static str,
}

/// A stable name, as in JSON.
pub fn effect_name(effect: Effect) -> &'static str {
    match effect {
        Effect::Stops => "stops",
        Effect::Reduces => "reduces",
        Effect::None => "none",
        Effect::Undecided => "undecided",
    }
}

/// For tables.
pub fn effect_words(effect: Effect) -> &'static str {
    match effect {
        Effect::Stops => "growth stops",
        Effect::Reduces => "grows less",
        Effect::None => "no effect",
        Effect::Undecided => "undecided",
    }
}

/// `12 % slower (8 … 16 %)`; a change that may be none is said as such.
pub fn speed_words(speed: SpeedChange) -> String {
    let percent = |share: f64| 100.0 * share;
    let SpeedChange { value, low, high } = speed;
    if low <= 0.0 && high >= 0.0 {
        let most = percent(low.abs().max(high));
        return format!("no change of speed beyond ±{most:.0} %");
    }
    let (word, low, high) = match value < 0.0 {
        true => ("slower", -high, -low),
        false => ("faster", low, high),
    };
    format!(
        "{:.0} % {word} ({:.0} … {:.0})",
        percent(value.abs()),
        percent(low),
        percent(high)
    )
}

/// The same for a table: `−12 % (−16 … −8)`.
pub fn speed_cell(speed: SpeedChange) -> String {
    let percent = |share: f64| {
        let text = format!("{:+.0}", 100.0 * share);
        match text.as_str() {
            "+0" | "-0" => "0".to_owned(),
            _ => text.replace('-', "−"),
        }
    };
    let SpeedChange { value, low, high } = speed;
    format!(
        "{} % ({} … {})",
        percent(value),
        percent(low),
        percent(high)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_speed_that_may_be_the_same_is_no_change() {
        let speed = |value, low, high| speed_words(SpeedChange { value, low, high });
        assert_eq!(speed(-0.12, -0.16, -0.08), "12 % slower (8 … 16)");
        assert_eq!(speed(0.25, 0.2, 0.3), "25 % faster (20 … 30)");
        assert_eq!(speed(0.01, -0.05, 0.07), "no change of speed beyond ±7 %");
    }

    #[test]
    fn a_variable_is_named_as_one_would_set_it() {
        assert_eq!(
            change_by_hand(BuiltInArm::NoCompile),
            "TORCH_COMPILE_DISABLE=1"
        );
        assert_eq!(change_by_hand(BuiltInArm::NoWorkers), "no-workers");
    }
}
