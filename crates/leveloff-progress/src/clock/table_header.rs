//! Tables: a line of names, and rows of numbers below it.

use leveloff_model::progress::StepUnit;

use crate::label::{Label, Words};
use crate::line::Number;
use crate::vocabulary::Meaning;

/// A header has at least this many columns.
const FEWEST_COLUMNS: usize = 3;

/// More columns are not looked at.
const MOST_COLUMNS: usize = 24;

/// The names of a table's columns.
#[derive(Debug, Clone)]
pub struct TableHeader(Vec<Label>);

impl TableHeader {
    /// Reads `Epoch  GPU_mem  box_loss  Size`; `None` unless it has a metric and an epoch or a step, or an epoch and a step.
    pub fn of(line: &[u8]) -> Option<TableHeader> {
        let is_gap = |b: &u8| matches!(b, b' ' | b'\t' | b'|' | b',');
        let mut labels = Vec::new();
        let (mut has_metric, mut has_count) = (false, false);
        for name in line
            .split(is_gap)
            .filter(|name| !name.is_empty())
            .take(MOST_COLUMNS)
        {
            // Every solver has an objective; a training's table names its loss or a score.
            if Words::of(name).any(|word| word.meaning == Meaning::Solver) {
                return None;
            }
            has_metric |= !name.eq_ignore_ascii_case(b"objective")
                && Words::of(name).any(|word| word.meaning == Meaning::Metric);
            let label = Label::of_name(name);
            has_count |= matches!(label, Label::Epoch | Label::Step(_));
            labels.push(label);
        }
        // "# Epoch  batch  loss": the sign makes the line a comment.
        if let [Label::Step(_), Label::Epoch | Label::Step(_), ..] = labels[..]
            && line.trim_ascii_start().starts_with(b"# ")
        {
            labels.remove(0);
        }
        let has_both = labels.contains(&Label::Epoch)
            && labels.iter().any(|label| matches!(label, Label::Step(_)))
            && line.contains(&b'|');
        let is_header = (has_metric && has_count || has_both) && labels.len() >= FEWEST_COLUMNS;
        is_header.then_some(TableHeader(labels))
    }

    /// The label of the number with this index in a row.
    pub fn column(&self, index: usize) -> Option<Label> {
        self.0.get(index).copied()
    }

    /// Whether a line is a row: it begins with two numbers. A printed data frame has an index in front of its columns, and is
    /// a table of what is past.
    pub fn has_row(&self, line: &[u8], numbers: &[Number]) -> bool {
        let [first, second, ..] = numbers else {
            return false;
        };
        let is_gap = |b: &u8| matches!(b, b' ' | b'\t' | b'|' | b',' | b'[' | b'(');
        let unit_end = first.unit_end.min(second.start);
        let has_index = columns(line, numbers) == self.0.len() + 1;
        !has_index
            && line[..first.start].iter().all(is_gap)
            && line[unit_end..second.start].iter().all(is_gap)
    }
}

/// Whether a line names columns of which none is a training's: `Expl Unexpl |  Obj  Depth IntInf | Gap`. The tables of many
/// solvers begin with their iterations and the objective.
pub fn names_other_columns(line: &[u8]) -> bool {
    const FEWEST_GAPS: usize = 3;
    let is_wide = |gap: &&[u8]| matches!(gap, [b' ', b' '] | [b' ', b'|'] | [b'|', b' ']);
    // Nearly all lines end here: columns are padded, prose is not.
    if memchr::memmem::find(line, b"  ").is_none() {
        return false;
    }
    if line.windows(2).filter(is_wide).take(FEWEST_GAPS).count() < FEWEST_GAPS {
        return false;
    }
    if Words::of(line).any(|word| word.meaning == Meaning::Solver) {
        return true;
    }
    let is_gap = |b: &u8| matches!(b, b' ' | b'\t' | b'|');
    let mut names = line.split(is_gap).filter(|name| !name.is_empty());
    let is_of_training = |name: &[u8]| {
        let label = Label::of_name(name);
        matches!(
            label,
            Label::Metric | Label::Epoch | Label::Epochs | Label::Unit(StepUnit::Episodes)
        )
    };
    let is_objective = |name: &[u8]| name.eq_ignore_ascii_case(b"objective");
    let begins_with_step = |name: &[u8]| matches!(Label::of_name(name), Label::Step(_));
    match (names.next(), names.next()) {
        (Some(first), Some(second)) if begins_with_step(first) && is_objective(second) => true,
        (Some(first), second) => {
            let mut all = [Some(first), second].into_iter().flatten().chain(names);
            !all.any(is_of_training)
        }
        (None, _) => false,
    }
}

/// How many numbers of a line are its columns. A bar follows them, and an ellipsis where they are cut:
/// `1/3  0G  6.2  …: 5% ━━ 1/20`.
pub fn columns(line: &[u8], numbers: &[Number]) -> usize {
    let is_gap = |b: &u8| b.is_ascii() && !matches!(b, b'%' | b':');
    let mut end = 0;
    let in_columns = |number: &&Number| {
        let gap = &line[end..number.start];
        end = number.end;
        gap.iter().all(is_gap)
    };
    numbers.iter().take_while(in_columns).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocabulary::StepName;

    #[test]
    fn a_header_names_its_columns() {
        let header =
            TableHeader::of(b"  Time Epoch Iteration Progress    (%Epoch)   Loss").unwrap();
        assert_eq!(header.column(1), Some(Label::Epoch));
        assert_eq!(header.column(2), Some(Label::Step(StepName::Iteration)));
        assert_eq!(header.column(5), Some(Label::Metric));
    }

    #[test]
    fn prose_and_other_tables_are_no_headers() {
        for line in [
            "Starting training with a loss of cross entropy",
            "NAME  READY  STATUS  AGE",
            "epoch loss",
        ] {
            assert!(TableHeader::of(line.as_bytes()).is_none(), "{line}");
        }
    }
}
