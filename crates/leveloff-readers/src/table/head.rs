//! Is this a table, and what are its columns called?

use super::{Dialect, Row, is_blank_or_comment, json};
use crate::clock;
use crate::column::Name;
use crate::number;
use crate::size_unit::amount_with_unit;

/// What the first lines of a table show.
#[derive(Debug, Clone)]
pub struct Table {
    /// How its fields are set apart.
    pub dialect: Dialect,
    /// What its columns are called; `1`, `2`, … when they have no names.
    pub names: Vec<Name>,
    /// Whether the first line that is no comment holds the names.
    pub has_header: bool,
    /// Whether lines of another kind are among its first rows.
    pub is_mixed: bool,
    /// Its first rows.
    pub rows: Vec<Vec<Vec<u8>>>,
}

/// So many rows show what a column holds.
const ROWS: usize = 60;

impl Table {
    /// Looks at the first lines. `None` when they are no table.
    pub fn of(lines: &[&[u8]]) -> Option<Table> {
        Table::of_json(lines).or_else(|| Table::of_fields(lines))
    }

    /// Whether it cannot be a log whose lines happen to have equally many words.
    pub fn is_certain(&self) -> bool {
        match self.dialect {
            // Metrics as JSON may stand between lines that hold the memory.
            Dialect::Json(_) => !self.is_mixed,
            Dialect::Separated(_) => self.has_header,
            Dialect::Blanks => false,
        }
    }

    /// What a column holds, in the first rows.
    pub fn cells(&self, column: usize) -> impl Iterator<Item = &[u8]> {
        self.rows
            .iter()
            .filter_map(move |row| row.get(column))
            .map(Vec::as_slice)
    }

    fn of_json(lines: &[&[u8]]) -> Option<Table> {
        let mut keys = Vec::new();
        let is_object = |line: &&&[u8]| line.trim_ascii_start().starts_with(b"{");
        let objects = lines.iter().filter(is_object);
        let is_mixed = lines
            .iter()
            .any(|line| !is_object(&line) && !is_blank_or_comment(line));
        let objects: Vec<&[u8]> = objects.copied().take(ROWS).collect();
        let read = objects
            .iter()
            .filter(|line| json::gather_keys(line, &mut keys))
            .count();
        // Other lines may be among them, but JSON must be what it mostly is.
        if read == 0 || read * 2 < lines.len().min(ROWS) {
            return None;
        }
        let names = keys.iter().map(|key| Name::new(key.as_bytes())).collect();
        let dialect = Dialect::Json(keys);
        let rows = objects.iter().map(|line| cells(&dialect, line)).collect();
        Some(Table {
            dialect,
            names,
            has_header: false,
            is_mixed,
            rows,
        })
    }

    fn of_fields(lines: &[&[u8]]) -> Option<Table> {
        let mut spoken = lines.iter().filter(|line| !is_blank_or_comment(line));
        let first = *spoken.next()?;
        let rest: Vec<&[u8]> = spoken.copied().take(ROWS).collect();
        let comment = lines
            .iter()
            .take_while(|line| is_blank_or_comment(line))
            .last()
            .map(|line| uncommented(line));
        dialects(first)
            .into_iter()
            .find_map(|dialect| Table::in_dialect(dialect, first, &rest, comment))
    }

    fn in_dialect(
        dialect: Dialect,
        first: &[u8],
        rest: &[&[u8]],
        comment: Option<&[u8]>,
    ) -> Option<Table> {
        let first = cells(&dialect, first);
        let is_like_first = |row: &Vec<Vec<u8>>| row.len() == first.len();
        let mut rows: Vec<Vec<Vec<u8>>> = rest.iter().map(|line| cells(&dialect, line)).collect();
        let alike = rows.iter().filter(|row| is_like_first(row)).count();
        if alike * 10 < rows.len() * 8 {
            return None;
        }
        rows.retain(is_like_first);
        let has_header = !first.iter().any(|cell| is_value(cell));
        let names: Vec<Name> = if has_header {
            first.iter().map(|cell| Name::new(cell)).collect()
        } else {
            let named = comment.map(|comment| cells(&dialect, comment));
            let named = named.filter(|named| named.len() == first.len());
            rows.insert(0, first);
            names_or_numbers(named, rows[0].len())
        };
        let table = Table {
            dialect,
            names,
            has_header,
            is_mixed: false,
            rows,
        };
        table.holds_numbers().then_some(table)
    }

    /// With a header, some column must hold numbers, or there must be no row yet; without one, all
    /// columns must: else any text would be a table.
    fn holds_numbers(&self) -> bool {
        let is_numeric = |column: usize| {
            let mut cells = self
                .cells(column)
                .filter(|cell| !cell.trim_ascii().is_empty());
            let mut seen = false;
            let all = cells.by_ref().take(ROWS).all(|cell| {
                seen = true;
                is_value(cell)
            });
            seen && all
        };
        if self.has_header {
            let is_wide = self.names.len() > 1 || self.names[0].memory_rank() > 0;
            is_wide && (self.rows.is_empty() || (0..self.names.len()).any(is_numeric))
        } else {
            (0..self.names.len()).all(is_numeric)
        }
    }
}

fn uncommented(line: &[u8]) -> &[u8] {
    let line = line.trim_ascii_start();
    let signs = line.iter().take_while(|b| **b == b'#').count();
    line[signs..].trim_ascii()
}

/// What may set the fields of this line apart, likeliest first.
fn dialects(line: &[u8]) -> Vec<Dialect> {
    let mut found: Vec<Dialect> = [b'\t', b';', b',', b'|']
        .into_iter()
        .filter(|separator| line.contains(separator))
        .map(Dialect::Separated)
        .collect();
    found.push(Dialect::Blanks);
    found
}

fn names_or_numbers(named: Option<Vec<Vec<u8>>>, columns: usize) -> Vec<Name> {
    match named {
        Some(named) => named.iter().map(|cell| Name::new(cell)).collect(),
        None => (1..=columns)
            .map(|n| Name::new(n.to_string().as_bytes()))
            .collect(),
    }
}

fn cells(dialect: &Dialect, line: &[u8]) -> Vec<Vec<u8>> {
    let mut row = Row::default();
    let fields = dialect.split(line, &mut row);
    fields.iter().map(<[u8]>::to_vec).collect()
}

/// A number, an amount or a time.
fn is_value(cell: &[u8]) -> bool {
    number::number(cell).is_some()
        || number::with_decimal_comma(cell).is_some()
        || number::with_thousands(cell).is_some()
        || amount_with_unit(cell).is_some()
        || clock::calendar(cell).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(text: &str) -> Option<Table> {
        let lines: Vec<&[u8]> = text.lines().map(str::as_bytes).collect();
        Table::of(&lines)
    }

    fn names(text: &str) -> Vec<String> {
        let table = table(text).unwrap_or_else(|| panic!("no table: {text}"));
        table.names.into_iter().map(|name| name.raw).collect()
    }

    #[test]
    fn tables_are_recognised_in_every_dress() {
        assert_eq!(names("step,rss_mb\n1,5\n2,6"), ["step", "rss_mb"]);
        assert_eq!(
            names("\"step\";\"RSS (MB)\"\n1;5,5\n2;6,5"),
            ["step", "RSS (MB)"]
        );
        assert_eq!(names("step\trss_mb\n1\t5"), ["step", "rss_mb"]);
        assert_eq!(names("step   rss_mb\n1   5\n10  6"), ["step", "rss_mb"]);
        assert_eq!(
            names("# made by hand\nstep,rss_mb\n# half-way\n1,5"),
            ["step", "rss_mb"]
        );
        assert_eq!(names("# step rss_mb\n1 5\n2 6"), ["step", "rss_mb"]);
        assert_eq!(
            names("| step | rss_mb |\n|---|---:|\n| 1 | 5 |\n| 2 | 6 |"),
            ["", "step", "rss_mb", ""]
        );
        assert_eq!(names("1,5\n2,6"), ["1", "2"]);
        assert_eq!(names("step,rss_mb"), ["step", "rss_mb"]);
        assert_eq!(names("{\"step\":1,\"m\":{\"rss\":5}}"), ["m.rss", "step"]);
    }

    #[test]
    fn a_log_is_no_table() {
        for log in [
            "Step 10: 6529 tensors, RAM: 5552 MB\nStep 20: 6529 tensors, RAM: 7159 MB",
            "starting\nRAM 5 GB\nRAM 6 GB",
            "a, b\nc, d",
            "hello",
            "",
        ] {
            assert!(table(log).is_none(), "{log}");
        }
    }
}
