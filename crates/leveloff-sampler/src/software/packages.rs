//! Versions of installed packages, by the names of their `dist-info` directories.

use std::collections::{BTreeMap, BTreeSet};

use memchr::memmem;

use super::target_files::TargetFiles;

/// Packages that affect the memory of a training, by their normalised names. Others are not recorded.
#[rustfmt::skip]
pub const PACKAGES: [&str; 46] = [
    "accelerate", "av", "bitsandbytes", "datasets", "decord", "deepspeed", "flash-attn", "flax",
    "jax", "jaxlib", "keras", "liger-kernel", "lightning", "numpy", "nvidia-cudnn-cu11",
    "nvidia-cudnn-cu12", "nvidia-cudnn-cu13", "nvidia-nccl-cu11", "nvidia-nccl-cu12",
    "nvidia-nccl-cu13", "opencv-python", "optax", "pandas", "peft", "pillow", "pyarrow",
    "pytorch-lightning", "qwen-vl-utils", "ray", "safetensors", "sglang", "tensorflow", "timm",
    "tokenizers", "torch", "torchao", "torchaudio", "torchdata", "torchvision", "transformers",
    "triton", "trl", "unsloth", "vllm", "wandb", "xformers",
];

/// How many entries of a directory are read; a package directory has some thousands at most.
const ENTRIES: usize = 20_000;

/// `torch/version.py` has some 200 bytes.
const VERSION_FILE_LIMIT: u64 = 4 << 10;

/// Longer than any version: `2.9.0.dev20250801+rocm6.4.git1234567`.
const VERSION_LENGTH: usize = 64;

/// The packages in these directories; the first directory that has a package counts. `None` when none of
/// them could be read. The version in torch's own file comes first: the wheel's name lacks the CUDA version,
/// and a torch that was built locally has no wheel.
pub fn read(files: &TargetFiles, sites: &[Vec<u8>]) -> Option<BTreeMap<String, String>> {
    let mut packages: Option<BTreeMap<String, String>> = None;
    for site in sites {
        if let Some(found) = installed(files, site) {
            let packages = packages.get_or_insert_default();
            for (name, version) in found {
                packages.entry(name).or_insert(version);
            }
        }
    }
    if let Some(version) = sites.first().and_then(|site| torch_version(files, site)) {
        let packages = packages.get_or_insert_default();
        packages.insert("torch".to_owned(), version);
    }
    packages
}

fn installed(files: &TargetFiles, site: &[u8]) -> Option<BTreeMap<String, String>> {
    let mut found: BTreeMap<&'static str, BTreeSet<String>> = BTreeMap::new();
    files
        .list(site, ENTRIES, |entry| {
            if let Some((name, version)) = package(entry) {
                found.entry(name).or_default().insert(version);
            }
        })
        .ok()?;
    // An interrupted update leaves two versions, and it is unknown which one is imported.
    let versions = |all: BTreeSet<String>| Vec::from_iter(all).join(" or ");
    Some(
        found
            .into_iter()
            .map(|(name, all)| (name.to_owned(), versions(all)))
            .collect(),
    )
}

fn torch_version(files: &TargetFiles, site: &[u8]) -> Option<String> {
    let directory = [site, b"/torch"].concat();
    let text = files.beginning_of(&directory, "version.py", VERSION_FILE_LIMIT);
    stated_version(&text?)
}

/// The package and version of an entry in a package directory, if it is one of [`PACKAGES`]:
/// `flash_attn-2.7.4.dist-info`, `numpy-1.24.2-py3.11.egg-info`.
pub fn package(entry: &[u8]) -> Option<(&'static str, String)> {
    let stem = entry
        .strip_suffix(b".dist-info")
        .or_else(|| without_python(entry.strip_suffix(b".egg-info")?))?;
    let dash = memchr::memrchr(b'-', stem)?;
    let name = normalised(&stem[..dash]);
    let name = *PACKAGES.iter().find(|known| known.as_bytes() == name)?;
    Some((name, version(&stem[dash + 1..])?))
}

fn without_python(stem: &[u8]) -> Option<&[u8]> {
    let end = memmem::find(stem, b"-py").filter(|at| stem[at + 3..].starts_with(b"3"));
    Some(&stem[..end.unwrap_or(stem.len())])
}

/// A name as package indexes compare it: lower case, with dashes.
fn normalised(name: &[u8]) -> Vec<u8> {
    name.iter()
        .map(|b| match b {
            b'_' | b'.' => b'-',
            b => b.to_ascii_lowercase(),
        })
        .collect()
}

/// The version in `__version__ = '2.8.0+cu128'`.
pub fn stated_version(text: &[u8]) -> Option<String> {
    let line = text
        .split(|&b| b == b'\n')
        .find_map(|line| line.strip_prefix(b"__version__"))?;
    let quote = line.iter().position(|b| matches!(b, b'\'' | b'"'))?;
    let rest = &line[quote + 1..];
    let end = memchr::memchr(line[quote], rest)?;
    version(&rest[..end])
}

/// Accepts only what looks like a version, because the target may write anything into the file.
fn version(text: &[u8]) -> Option<String> {
    let plausible = text.first().is_some_and(u8::is_ascii_digit)
        && text.len() <= VERSION_LENGTH
        && text
            .iter()
            .all(|b| b.is_ascii_alphanumeric() || b".+!_".contains(b));
    plausible.then(|| String::from_utf8_lossy(text).into_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn packages_that_matter_are_known_by_their_entry() {
        for (entry, name, version) in [
            ("torch-2.8.0.dist-info", "torch", "2.8.0"),
            (
                "flash_attn-2.7.4.post1.dist-info",
                "flash-attn",
                "2.7.4.post1",
            ),
            ("Pillow-11.0.0.dist-info", "pillow", "11.0.0"),
            ("numpy-1.24.2-py3.11.egg-info", "numpy", "1.24.2"),
            ("numpy-1.24.2.egg-info", "numpy", "1.24.2"),
            (
                "pytorch.lightning-2.5.dist-info",
                "pytorch-lightning",
                "2.5",
            ),
        ] {
            let found = package(entry.as_bytes());
            assert_eq!(found, Some((name, version.to_owned())), "{entry}");
        }
        for entry in [
            "torch",
            "~orch-2.8.0.dist-info",
            "company_secret-1.0.dist-info",
            "torch-.dist-info",
            "torch-hush hush.dist-info",
            "torch-x1.dist-info",
        ] {
            assert_eq!(package(entry.as_bytes()), None, "{entry}");
        }
    }

    #[test]
    fn torch_states_its_version_with_what_it_is_for() {
        let text = b"from typing import Optional\n__all__ = ['__version__']\n__version__ = '2.8.0+cu128'\ndebug = False\n";
        assert_eq!(stated_version(text).as_deref(), Some("2.8.0+cu128"));
        for other in [
            "",
            "__version__",
            "__version__ = '",
            "__version__ = 'rm -rf'",
        ] {
            assert_eq!(stated_version(other.as_bytes()), None, "{other}");
        }
    }

    #[test]
    fn the_list_is_sorted_and_normalised() {
        assert!(PACKAGES.is_sorted());
        for name in PACKAGES {
            assert_eq!(normalised(name.as_bytes()), name.as_bytes());
        }
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(text in proptest::collection::vec(any::<u8>(), 0..80)) {
            package(&text);
            package(&[&text[..], b"-py3.egg-info"].concat());
            stated_version(&text);
            stated_version(&[b"__version__", &text[..]].concat());
        }
    }
}
