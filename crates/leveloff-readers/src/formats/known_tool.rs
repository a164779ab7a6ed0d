//! Tables of tools whose columns have other units than their names say.

use super::Recognition;
use super::curve_table::CurveTable;
use crate::column::Name;
use crate::columns::ColumnChoice;
use crate::stream::Stream;
use crate::table::{Dialect, Table};

/// A tool that writes tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tool {
    /// psrecord, its log and its CSV: says MB and means MiB.
    Psrecord,
    /// prmon: kernel's kB without saying so, swap in a column of its own.
    Prmon,
}

/// The column that prmon has beside PSS, which leaves swapped-out memory out.
pub const SWAP_BESIDE_PSS: &str = "swap_beside_pss_kib";

impl Tool {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Tool::Psrecord => "psrecord",
            Tool::Prmon => "prmon",
        }
    }

    /// Recognises the tool by a table's names, and gives the columns their units.
    pub fn name_columns(table: &mut Table) -> Option<Tool> {
        let has = |name: &str| table.names.iter().any(|column| column.plain == name);
        if has("mem_real") && has("mem_virtual") {
            rename(table, &[("mem_real", "mem_real_mib")]);
            Some(Tool::Psrecord)
        } else if has("wtime") && has("pss") && has("vmem") {
            let columns = [
                ("pss", "pss_kib"),
                ("rss", "rss_kib"),
                ("swap", SWAP_BESIDE_PSS),
            ];
            rename(table, &columns);
            Some(Tool::Prmon)
        } else {
            None
        }
    }
}

pub fn recognise_psrecord_log(stream: &mut Stream, columns: &ColumnChoice) -> Recognition {
    let Some(table) = psrecord_log(&stream.first_lines()) else {
        return Recognition::No;
    };
    match CurveTable::of(Tool::Psrecord.name(), &table, columns) {
        Ok(curve) => Recognition::Yes(Box::new(curve)),
        Err(problem) => Recognition::Unusable(problem),
    }
}

/// The header of psrecord's log is a comment, and its names contain spaces.
fn psrecord_log(lines: &[&[u8]]) -> Option<Table> {
    let first = lines.first()?;
    let header = String::from_utf8_lossy(first);
    if !(header.starts_with("# Elapsed time") && header.contains("Real (MB)")) {
        return None;
    }
    let mut table = Table::of(&lines[1..]).filter(|table| !table.has_header);
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
