//! The environment variables that affect memory. No others are kept, because an environment holds passwords
//! and tokens.

use std::collections::BTreeMap;

use leveloff_model::process::printable;

use crate::facts::base_name;

/// The names that are kept. No prefixes, because a later `TORCH_…` variable may hold a secret.
#[rustfmt::skip]
pub const VARIABLES: [&str; 67] = [
    // Allocators of C: glibc, jemalloc, tcmalloc, mimalloc, and the one of arrow.
    "ARROW_DEFAULT_MEMORY_POOL", "GLIBC_TUNABLES", "LD_PRELOAD", "MALLOC_ARENA_MAX",
    "MALLOC_ARENA_TEST", "MALLOC_CONF", "MALLOC_MMAP_MAX_", "MALLOC_MMAP_THRESHOLD_",
    "MALLOC_PERTURB_", "MALLOC_TOP_PAD_", "MALLOC_TRIM_THRESHOLD_",
    "MIMALLOC_ALLOW_LARGE_OS_PAGES", "MIMALLOC_PURGE_DELAY", "MIMALLOC_RESERVE_HUGE_OS_PAGES",
    "TCMALLOC_AGGRESSIVE_DECOMMIT", "TCMALLOC_MAX_TOTAL_THREAD_CACHE_BYTES",
    "TCMALLOC_RELEASE_RATE",
    // Python.
    "PYTHONDEVMODE", "PYTHONMALLOC", "PYTHONTRACEMALLOC", "PYTHON_GIL",
    // torch: its caches of device memory and of compiled operators, and who compiles.
    "LRU_CACHE_CAPACITY", "ONEDNN_PRIMITIVE_CACHE_CAPACITY", "PYTORCH_ALLOC_CONF",
    "PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_HIP_ALLOC_CONF", "PYTORCH_NO_CUDA_MEMORY_CACHING",
    "THP_MEM_ALLOC_ENABLE", "TORCHDYNAMO_DISABLE", "TORCHINDUCTOR_COMPILE_THREADS",
    "TORCHINDUCTOR_CUDAGRAPHS", "TORCHINDUCTOR_FREEZING", "TORCHINDUCTOR_MAX_AUTOTUNE",
    "TORCHINDUCTOR_WORKER_START", "TORCH_COMPILE_DEBUG", "TORCH_COMPILE_DISABLE",
    "TORCH_CUDNN_V8_API_LRU_CACHE_LIMIT", "TORCH_FR_BUFFER_SIZE",
    "TORCH_NCCL_AVOID_RECORD_STREAMS", "TORCH_NCCL_TRACE_BUFFER_SIZE", "TORCH_WARM_POOL",
    // JAX and TensorFlow.
    "TF_FORCE_GPU_ALLOW_GROWTH", "TF_GPU_ALLOCATOR", "XLA_CLIENT_MEM_FRACTION", "XLA_FLAGS",
    "XLA_PYTHON_CLIENT_ALLOCATOR", "XLA_PYTHON_CLIENT_MEM_FRACTION",
    "XLA_PYTHON_CLIENT_PREALLOCATE",
    // Drivers, and buffers between ranks.
    "CUBLASLT_WORKSPACE_SIZE", "CUBLAS_WORKSPACE_CONFIG", "CUDA_LAUNCH_BLOCKING",
    "CUDA_MODULE_LOADING", "CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "NCCL_BUFFSIZE",
    "NCCL_CUMEM_HOST_ENABLE", "LOCAL_WORLD_SIZE", "WORLD_SIZE",
    // Threads: each has a stack, an arena and buffers.
    "MKL_DISABLE_FAST_MM", "MKL_NUM_THREADS", "NUMEXPR_MAX_THREADS", "OMP_NUM_THREADS",
    "OMP_STACKSIZE", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS", "TOKENIZERS_PARALLELISM",
    // Data sets that are held in memory.
    "HF_DATASETS_IN_MEMORY_MAX_SIZE",
];

/// Bytes of a value that are kept; the longest allocator configurations have a hundred.
const VALUE_LENGTH: usize = 256;

/// Parses an `environ`; `None` (unknown) when it holds no variable, as after a title was written over it.
pub fn parse(text: &[u8]) -> Option<BTreeMap<String, String>> {
    let mut kept = BTreeMap::new();
    let mut any = false;
    for variable in text.split(|&b| b == 0) {
        let Some(equals) = memchr::memchr(b'=', variable) else {
            continue;
        };
        any = true;
        let (name, value) = (&variable[..equals], &variable[equals + 1..]);
        if let Some(name) = VARIABLES.iter().find(|known| known.as_bytes() == name) {
            // Of two with one name, programs get the first.
            kept.entry((*name).to_owned())
                .or_insert_with(|| shown(name, value));
        }
    }
    any.then_some(kept)
}

fn shown(name: &str, value: &[u8]) -> String {
    match name {
        "LD_PRELOAD" => bounded(&base_names(value)),
        _ => bounded(value),
    }
}

/// The file names, which identify a preloaded allocator, without their directories, which are private.
fn base_names(value: &[u8]) -> Vec<u8> {
    let is_separator = |b: &u8| *b == b':' || b.is_ascii_whitespace();
    let names: Vec<&[u8]> = value
        .split(is_separator)
        .map(base_name)
        .filter(|name| !name.is_empty())
        .collect();
    names.join(&b':')
}

fn bounded(value: &[u8]) -> String {
    let mut text = printable(&value[..value.len().min(VALUE_LENGTH)]);
    if value.len() > VALUE_LENGTH {
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_changes_memory_is_kept_and_nothing_else() {
        let text = b"HF_TOKEN=hush\0MALLOC_ARENA_MAX=2\0PATH=/bin\0LD_PRELOAD=/home/ann/lib/libjemalloc.so.2 /x/libtcmalloc.so\0MALLOC_ARENA_MAX=9\0";
        let kept = parse(text).unwrap();
        let expected = [
            ("LD_PRELOAD", "libjemalloc.so.2:libtcmalloc.so"),
            ("MALLOC_ARENA_MAX", "2"),
        ];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(kept, BTreeMap::from(expected));
    }

    #[test]
    fn nothing_set_is_known_and_an_overwritten_environment_is_not() {
        assert_eq!(parse(b"PATH=/bin\0"), Some(BTreeMap::new()));
        assert_eq!(parse(b""), None);
        assert_eq!(parse(b"y experiment\0\0\0"), None);
    }

    #[test]
    fn values_are_bounded_and_printable() {
        let long = [b"XLA_FLAGS=\x1b[2J", &[b'x'; 5000][..]].concat();
        let value = &parse(&long).unwrap()["XLA_FLAGS"];
        assert!(value.starts_with("\\u{1b}[2Jx") && value.ends_with("x…"));
        assert!(value.chars().count() <= VALUE_LENGTH + 8);
    }

    #[test]
    fn no_name_on_the_list_speaks_of_a_secret() {
        const SECRETS: [&str; 12] = [
            "TOKEN",
            "KEY",
            "SECRET",
            "PASSWORD",
            "PASS",
            "PASSWD",
            "PWD",
            "AUTH",
            "CREDENTIALS",
            "COOKIE",
            "URL",
            "ADDR",
        ];
        for name in VARIABLES {
            let speaks = name.split('_').any(|word| SECRETS.contains(&word));
            assert!(!speaks, "{name}");
        }
        assert_eq!(BTreeSet::from(VARIABLES).len(), VARIABLES.len());
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(text in proptest::collection::vec(any::<u8>(), 0..200)) {
            parse(&text);
            parse(&[b"LD_PRELOAD=", &text[..]].concat());
        }
    }
}
