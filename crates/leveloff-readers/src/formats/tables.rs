//! Tables with a header or plain columns: one row for each point, or one for each process at each moment.

use super::curve_table::CurveTable;
use super::known_tool::Tool;
use super::process_table::ProcessTable;
use super::{Format, Recognition};
use crate::columns::ColumnChoice;
use crate::error::Result;
use crate::stream::Stream;
use crate::table::Table;

pub fn recognise(stream: &mut Stream, columns: &ColumnChoice) -> Recognition {
    let lines: Vec<&[u8]> = stream.first_lines().collect();
    let Some(table) = Table::of(&lines) else {
        return Recognition::No;
    };
    let is_certain = table.is_certain();
    match reader(table, columns) {
        Ok(format) => Recognition::Yes(format),
        // Text that is certainly a table is not a log, even if a field of it looks like memory.
        Err(problem) if is_certain => Recognition::Unusable(problem),
        Err(problem) => Recognition::Doubtful(problem),
    }
}

fn reader(mut table: Table, columns: &ColumnChoice) -> Result<Box<dyn Format>> {
    let tool = Tool::name_columns(&mut table);
    if let Some(processes) = ProcessTable::of(&table, columns) {
        return Ok(Box::new(processes?));
    }
    let mut curve = CurveTable::of(tool.map_or("table", |tool| tool.name), &table, columns)?;
    if tool.is_some() {
        // The columns of a known tool are not guessed.
        curve.columns.notes.clear();
    }
    Ok(Box::new(curve))
}
