//! Public bugs that grow memory, and which of them a run looks like.
//!
//! A bug is named only if its evidence was found and the installed version is one that has it. With an unknown
//! version, only bugs that were never fixed are named. A run that is level has none.
//!
//! A new bug takes three places: its row here, its words in `known_bug.rs` of leveloff-text, and its row in
//! docs/FINDINGS.md.

mod version;

use std::collections::BTreeMap;

use leveloff_model::process::Role;

use version::Version;

/// A public bug.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownBug {
    /// Its name here.
    pub name: &'static str,
    /// The package that has it, as it is installed.
    pub package: &'static str,
    /// The first version that is known to have it; `None` if all early ones have.
    pub from: Option<&'static str>,
    /// The first later version that is not known to have it.
    pub before: Option<&'static str>,
    /// The version that fixed it, where the thread says so.
    pub fixed_in: Option<&'static str>,
    /// What a run with it shows.
    pub signature: Signature,
    /// The thread about it.
    pub link: &'static str,
}

/// What a run with a bug shows. All of it must hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Signature {
    /// One of these findings; empty if none is needed.
    pub findings: &'static [&'static str],
    /// A role that has at least half of the growth.
    pub grows: Option<Role>,
    /// One of these roles has processes; empty if none is needed.
    pub beside: &'static [Role],
}

/// A bug that a run looks like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SuspectedBug {
    /// The bug.
    pub bug: &'static KnownBug,
    /// The installed version, if it is known.
    pub version: Option<String>,
}

const ANY: Signature = Signature {
    findings: &[],
    grows: None,
    beside: &[],
};

/// Processes that only torch.compile starts.
const COMPILING: &[Role] = &[Role::CompilePool, Role::CompileWorker];

const UNFIXED: KnownBug = KnownBug {
    name: "",
    package: "torch",
    from: None,
    before: None,
    fixed_in: None,
    signature: ANY,
    link: "",
};

/// All bugs that are known here. `fixed_in` is what a thread says; other bounds are estimated from the version or the
/// date of a report.
pub const KNOWN_BUGS: &[KnownBug] = &[
    KnownBug {
        name: "torch-loader-copy-on-write",
        signature: Signature {
            findings: &["copy-on-write"],
            ..ANY
        },
        link: "https://github.com/pytorch/pytorch/issues/13246",
        ..UNFIXED
    },
    KnownBug {
        name: "torch-loader-descriptors",
        signature: Signature {
            findings: &["fd-growth"],
            beside: &[Role::DataloaderWorker],
            ..ANY
        },
        link: "https://github.com/pytorch/pytorch/issues/973",
        ..UNFIXED
    },
    KnownBug {
        name: "torch-checkpoint-garbage",
        signature: Signature {
            findings: &["checkpoint-growth"],
            ..ANY
        },
        link: "https://github.com/pytorch/torchtitan/pull/839",
        ..UNFIXED
    },
    KnownBug {
        name: "torch-pinned-prefetch",
        from: Some("1.13"),
        signature: Signature {
            findings: &["pinned-pool"],
            ..ANY
        },
        link: "https://github.com/pytorch/pytorch/issues/97432",
        ..UNFIXED
    },
    KnownBug {
        name: "torch-shared-files",
        from: Some("1.0"),
        before: Some("1.1"),
        signature: Signature {
            findings: &["devshm-growth"],
            beside: &[Role::DataloaderWorker],
            ..ANY
        },
        link: "https://github.com/pytorch/pytorch/issues/17499",
        ..UNFIXED
    },
    KnownBug {
        name: "torch-compile-calls",
        from: Some("2.0"),
        before: Some("2.10"),
        fixed_in: Some("2.10"),
        signature: Signature {
            findings: &["native-growth", "python-objects"],
            grows: Some(Role::Trainer),
            beside: COMPILING,
        },
        link: "https://github.com/pytorch/pytorch/issues/174468",
        ..UNFIXED
    },
    KnownBug {
        name: "torch-compile-cuda",
        from: Some("2.0"),
        before: Some("2.3.1"),
        fixed_in: Some("2.3.1"),
        signature: Signature {
            findings: &["cuda-growth"],
            beside: COMPILING,
            ..ANY
        },
        link: "https://github.com/pytorch/pytorch/issues/119607",
        ..UNFIXED
    },
    KnownBug {
        name: "triton-compile",
        package: "triton",
        from: Some("2.0.0"),
        before: Some("2.0.0.post1"),
        fixed_in: Some("2.0.0.post1"),
        signature: Signature {
            findings: &["native-growth"],
            grows: Some(Role::Trainer),
            ..ANY
        },
        link: "https://github.com/pytorch/pytorch/issues/100813",
    },
    KnownBug {
        name: "transformers-evaluation-workers",
        package: "transformers",
        before: Some("4.42"),
        signature: Signature {
            findings: &["evaluation-growth"],
            beside: &[Role::DataloaderWorker],
            ..ANY
        },
        link: "https://github.com/huggingface/transformers/issues/30943",
        ..UNFIXED
    },
    KnownBug {
        name: "wandb-logged-tensors",
        package: "wandb",
        before: Some("0.8.2"),
        fixed_in: Some("0.8.2"),
        signature: Signature {
            findings: &["held-references"],
            ..ANY
        },
        link: "https://github.com/wandb/wandb/issues/354",
        ..UNFIXED
    },
];

impl KnownBug {
    /// Whether the installed version has it, or may have it: with unknown packages, a bug without an end.
    pub(crate) fn concerns(&self, packages: Option<&BTreeMap<String, String>>) -> bool {
        let Some(packages) = packages else {
            return self.before.is_none() && self.package == UNFIXED.package;
        };
        let Some(installed) = packages.get(self.package) else {
            return false;
        };
        match Version::parse(installed) {
            Some(installed) => self.has(&installed),
            None => self.before.is_none(),
        }
    }

    fn has(&self, installed: &Version) -> bool {
        let bound = |text: Option<&str>| text.and_then(Version::parse);
        bound(self.from).is_none_or(|from| *installed >= from)
            && bound(self.before).is_none_or(|before| *installed < before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::Finding;

    #[test]
    fn the_table_is_sound() {
        for bug in KNOWN_BUGS {
            let Signature {
                findings, grows, ..
            } = bug.signature;
            assert!(
                !findings.is_empty() || grows.is_some(),
                "{}: no evidence",
                bug.name
            );
            for finding in findings {
                assert!(Finding::NAMES.contains(finding), "{}: {finding}", bug.name);
            }
            assert!(bug.link.starts_with("https://github.com/"), "{}", bug.name);
            for version in [bug.from, bug.before, bug.fixed_in].into_iter().flatten() {
                assert!(Version::parse(version).is_some(), "{}: {version}", bug.name);
            }
            // Fixed means that later versions are outside the range.
            assert!(
                bug.fixed_in.is_none() || bug.fixed_in == bug.before,
                "{}",
                bug.name
            );
            let same = KNOWN_BUGS.iter().filter(|other| other.name == bug.name);
            assert_eq!(same.count(), 1, "{}", bug.name);
        }
    }
}
