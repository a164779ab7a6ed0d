//! What keeps the memory that a line allocated: a container that a training's Python package found.

use super::SiteId;
use crate::process::Pid;

/// A container.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// Its class: `list`.
    pub class: String,
    /// How many items it has; 0 if that is not known.
    pub length: u64,
    /// What kind of name it has.
    pub kind: HolderKind,
    /// Its name; empty if it has none.
    pub name: String,
    /// Where that name is: the file of a global, else a class or a function.
    pub place: String,
    /// How many of the sampled blocks that were looked at it keeps.
    pub kept: u64,
    /// Sampled blocks that were looked at.
    pub looked_at: u64,
}

/// What has the name of a container.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HolderKind {
    /// A module.
    Global,
    /// A class.
    Class,
    /// An object.
    Attribute,
    /// `functools.lru_cache` of a function.
    Cache,
    /// A function that was made within another one.
    Closure,
    /// A function that runs.
    Local,
    /// Nothing that was found.
    Unnamed,
}

/// A holder as the training reports it: by the stack in the preload library's segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportedHolder {
    /// The process, in its own pid namespace.
    pub pid: Pid,
    /// The stack's number in its segment.
    pub stack: u32,
    /// The holder of what was allocated there.
    pub holder: Holder,
}

/// A holder of what a site allocated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SiteHolder {
    /// Which site.
    pub site: SiteId,
    /// What keeps it.
    pub holder: Holder,
}

impl HolderKind {
    const ALL: [HolderKind; 7] = [
        HolderKind::Global,
        HolderKind::Class,
        HolderKind::Attribute,
        HolderKind::Cache,
        HolderKind::Closure,
        HolderKind::Local,
        HolderKind::Unnamed,
    ];

    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            HolderKind::Global => "global",
            HolderKind::Class => "class",
            HolderKind::Attribute => "attribute",
            HolderKind::Cache => "cache",
            HolderKind::Closure => "closure",
            HolderKind::Local => "local",
            HolderKind::Unnamed => "unnamed",
        }
    }

    /// The kind of a name in a file; one of a later version has no name here.
    pub fn from_name(name: &str) -> HolderKind {
        let mut all = HolderKind::ALL.into_iter();
        all.find(|kind| kind.name() == name)
            .unwrap_or(HolderKind::Unnamed)
    }
}
