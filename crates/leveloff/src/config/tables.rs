//! The tables of a file with settings, and what they are called in each kind of file.

use std::path::Path;

/// How a file holds our settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flavour {
    /// All of it is ours.
    Own,
    /// Only `[tool.leveloff]` is ours.
    PyProject,
}

/// A table of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Table {
    /// Facts about the run, and how to watch it.
    Top,
    /// `[check]`: for `check` alone, and before what stands above.
    Check,
}

/// The name of the table for `check`.
pub(crate) const CHECK: &str = "check";

impl Flavour {
    /// By the file's name.
    pub(crate) fn of(file: &Path) -> Flavour {
        let name = file.file_name().unwrap_or_default();
        if name == "pyproject.toml" {
            Flavour::PyProject
        } else {
            Flavour::Own
        }
    }

    /// The heading under which the keys of a table stand.
    pub(crate) fn heading(self, table: Table) -> &'static str {
        match (self, table) {
            (Flavour::Own, Table::Top) => "the top level of the file",
            (Flavour::Own, Table::Check) => "[check]",
            (Flavour::PyProject, Table::Top) => "[tool.leveloff]",
            (Flavour::PyProject, Table::Check) => "[tool.leveloff.check]",
        }
    }
}

impl Table {
    /// The other of the two.
    pub(super) fn other(self) -> Table {
        match self {
            Table::Top => Table::Check,
            Table::Check => Table::Top,
        }
    }
}
