//! The software of the watched training, which a bug report has to name beside the numbers.

use std::collections::BTreeMap;

use crate::process::ProcessIndex;

/// A trainer's software, as seen from outside. Reported once for each trainer, and again when more of it is known: a
/// framework is mapped seconds after the start.
///
/// `None` is unknown, an empty map is known to be empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Software {
    /// The trainer.
    pub process: ProcessIndex,
    /// Its Python version, from file names: `3.11`.
    pub python: Option<String>,
    /// Versions of the packages that matter for memory, by their normalised names (`flash-attn`), as
    /// they are installed beside the framework that it maps. `None` when it maps none.
    pub packages: Option<BTreeMap<String, String>>,
    /// Variables that change how memory behaves, as they were when the program was executed. Only names on a fixed list
    /// are kept, so no secret is among them.
    pub variables: Option<BTreeMap<String, String>>,
}

impl Software {
    /// Software of which nothing is known.
    pub fn unknown(process: ProcessIndex) -> Software {
        Software {
            process,
            python: None,
            packages: None,
            variables: None,
        }
    }

    /// Whether anything is known at all.
    pub fn is_known(&self) -> bool {
        self.python.is_some() || self.packages.is_some() || self.variables.is_some()
    }
}
