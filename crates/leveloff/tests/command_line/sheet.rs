//! An exported table, read as others read it.

use std::path::Path;

use crate::stage::Stage;

/// The CSV of a recording.
pub struct Sheet {
    pub columns: Vec<String>,
    pub rows: Vec<Vec<String>>,
}

impl Sheet {
    /// Exports a recording. Every row must have as many fields as the header.
    #[track_caller]
    pub fn of(stage: &Stage, recording: &Path, scope: &str) -> Sheet {
        let recording = recording.to_str().unwrap();
        let exported = stage.ask(&["export", recording, "--scope", scope, "-o", "-"]);
        Sheet::parse(&exported.well().stdout)
    }

    #[track_caller]
    pub fn parse(text: &str) -> Sheet {
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let strings = |record: &csv::StringRecord| record.iter().map(str::to_owned).collect();
        let columns = strings(reader.headers().unwrap());
        let rows = reader.records().map(|row| strings(&row.unwrap())).collect();
        Sheet { columns, rows }
    }

    /// The fields of a column.
    #[track_caller]
    pub fn column(&self, name: &str) -> Vec<&str> {
        let place = self.columns.iter().position(|column| column == name);
        let place = place.unwrap_or_else(|| panic!("there is no column {name}"));
        self.rows.iter().map(|row| row[place].as_str()).collect()
    }

    /// The whole numbers of a column in which nothing is missing.
    #[track_caller]
    pub fn numbers(&self, name: &str) -> Vec<u64> {
        let fields = self.column(name);
        fields.iter().map(|field| field.parse().unwrap()).collect()
    }
}
