//! Tables of tools whose columns have other units than their names say.

use super::Recognition;
use super::curve_table::{CurveTable, SWAP_BESIDE_PSS};
use crate::column::Name;
use crate::columns::ColumnChoice;
use crate::stream::Stream;
use crate::table::{Dialect, Table};

/// A tool that writes tables.
#[derive(Debug)]
pub struct Tool {
    /// Its name.
    pub name: &'static str,
    /// Columns that together only its tables have.
    recognised_by: &'static [&'static str],
    /// Columns, and the names by which their units are known.
    units: &'static [(&'static str, &'static str)],
}

const PSRECORD: &str = "psrecord";

/// Every tool whose header is a line of names.
const TOOLS: [Tool; 2] = [
    // Says MB and means MiB.
    Tool {
        name: PSRECORD,
        recognised_by: &["mem_real", "mem_virtual"],
        units: &[("mem_real", "mem_real_mib")],
    },
    // The kernel's kB without saying so, swap in a column of its own.
    Tool {
        name: "prmon",
        recognised_by: &["wtime", "pss", "vmem"],
        units: &[
            ("pss", "pss_kib"),
            ("rss", "rss_kib"),
            ("swap", SWAP_BESIDE_PSS),
        ],
    },
];

impl Tool {
    /// Recognises the tool by a table's names, and gives the columns their units.
    pub fn name_columns(table: &mut Table) -> Option<&'static Tool> {
        let has = |name: &&str| table.names.iter().any(|column| column.plain == **name);
        let tool = TOOLS
            .iter()
            .find(|tool| tool.recognised_by.iter().all(has))?;
        rename(table, tool.units);
        Some(tool)
    }
}

pub fn recognise_psrecord_log(stream: &mut Stream, columns: &ColumnChoice) -> Recognition {
    let Some(table) = psrecord_log(stream.first_lines()) else {
        return Recognition::No;
    };
    match CurveTable::of(PSRECORD, &table, columns) {
        Ok(curve) => Recognition::Yes(Box::new(curve)),
        Err(problem) => Recognition::Unusable(problem),
    }
}

/// The header of psrecord's log is a comment, and its names contain spaces.
fn psrecord_log<'a>(mut lines: impl Iterator<Item = &'a [u8]>) -> Option<Table> {
    let first = lines.next()?;
    let header = String::from_utf8_lossy(first);
    if !(header.starts_with("# Elapsed time") && header.contains("Real (MB)")) {
        return None;
    }
    let rows: Vec<&[u8]> = lines.collect();
    let mut table = Table::of(&rows).filter(|table| !table.has_header);
    if let Some(table) = &mut table {
        let known = ["elapsed_s", "cpu_percent", "real_mib", "virtual_mib"];
        for (name, known) in table.names.iter_mut().zip(known) {
            *name = Name::new(known.as_bytes());
        }
    }
    // A header without rows is a table without rows.
    Some(table.unwrap_or_else(|| Table {
        dialect: Dialect::Blanks,
        names: [&b"elapsed_s"[..], b"real_mib"].map(Name::new).to_vec(),
        has_header: false,
        is_mixed: false,
        rows: Vec::new(),
    }))
}

fn rename(table: &mut Table, columns: &[(&str, &str)]) {
    for name in &mut table.names {
        if let Some((_, known)) = columns.iter().find(|(plain, _)| *plain == name.plain) {
            name.plain = (*known).to_owned();
        }
    }
}
