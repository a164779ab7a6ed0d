//! What a process's memory is made of.

use leveloff_model::units::Bytes;
use ratatui::text::{Line, Span};

use super::{LABEL, ProcessPage, age};
use crate::draw::bars::bar;
use crate::draw::text::{left_aligned, right_aligned};
use crate::theme::{Paint, Styles};

/// Columns of a bar at most.
const BAR_MOST: usize = 40;

/// Kinds that add up to a whole, and what that is.
struct Parts {
    whole: String,
    kinds: Vec<(&'static str, Bytes)>,
}

/// One line for what they add up to, and one for each kind that there is any of.
pub(super) fn lines(page: &ProcessPage, styles: &Styles, columns: usize) -> Vec<Line<'static>> {
    let parts = page.mapped().unwrap_or_else(|| page.counted());
    let all: Bytes = parts.kinds.iter().map(|(_, amount)| *amount).sum();
    let mut lines = vec![Line::from_iter([
        Span::styled(left_aligned("kinds", LABEL), styles.get(Paint::Heading)),
        Span::styled(parts.whole, styles.get(Paint::Faint)),
    ])];
    let bar_columns = columns.saturating_sub(LABEL + 28).min(BAR_MOST);
    let some = parts.kinds.into_iter().filter(|(_, amount)| amount.0 > 0);
    lines.extend(some.map(|(name, amount)| {
        let share = amount.0 as f64 / all.0.max(1) as f64;
        Line::from_iter([
            Span::raw(" ".repeat(LABEL)),
            Span::raw(left_aligned(name, 15)),
            Span::raw(right_aligned(&amount.to_string(), 9)),
            Span::raw("  "),
            Span::styled(bar(share, bar_columns), styles.get(Paint::Accent)),
        ])
    }));
    lines
}

impl ProcessPage<'_> {
    /// By mapping, which is read of the largest process now and then.
    fn mapped(&self) -> Option<Parts> {
        let mappings = self.sample.mappings.as_ref();
        let mappings = mappings.filter(|it| it.process == self.share.index)?;
        let age = age(self.sample.t, mappings.at);
        let total = mappings.kinds.total();
        Some(Parts {
            whole: format!("by mapping, read {age} ago: {total}, files included"),
            kinds: mappings.kinds.named().to_vec(),
        })
    }

    /// By what every sample reads.
    fn counted(&self) -> Parts {
        let files = self.reading.file;
        let share = self.share;
        Parts {
            whole: format!("of its memory; beside it, {files} of files that can be dropped"),
            kinds: vec![
                ("anonymous", share.anonymous()),
                ("shared", share.shared),
                ("swapped out", share.swapped),
            ],
        }
    }
}
