//! Evaluations, checkpoints and epochs on the axis.

use leveloff_classifier::run_curves::{RunEvent, RunEventKind};

use super::plot::Plot;
use crate::history::Axis;
use crate::theme::Charset;

/// Ticks of a kind that would stand closer than this many columns are counted instead.
const CLOSEST: usize = 3;

/// A kind of event on the axis.
struct Kind {
    name: &'static str,
    unicode: char,
    ascii: char,
    includes: fn(&RunEventKind) -> bool,
}

/// Where two fall on the same column, the first is shown.
const KINDS: [Kind; 4] = [
    Kind {
        name: "epoch",
        unicode: '│',
        ascii: '|',
        includes: |kind| matches!(kind, RunEventKind::Epoch(_)),
    },
    Kind {
        name: "checkpoint",
        unicode: '◆',
        ascii: '#',
        includes: |kind| matches!(kind, RunEventKind::Checkpoint),
    },
    Kind {
        name: "evaluation",
        unicode: '▾',
        ascii: 'v',
        includes: |kind| matches!(kind, RunEventKind::Evaluation),
    },
    Kind {
        name: "event",
        unicode: '•',
        ascii: 'o',
        includes: |kind| matches!(kind, RunEventKind::Named(_) | RunEventKind::Clock(_)),
    },
];

/// Ticks of one kind in sight.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Ticks {
    /// What stands for one.
    pub(super) glyph: char,
    /// Columns of the screen; none when there are too many.
    pub(super) columns: Vec<u16>,
    /// What the glyph means: `▾ evaluation`; of too many, how many: `▾ 240 evaluations`.
    pub(super) legend: String,
}

/// The ticks in sight, kind by kind.
pub(super) fn ticks<'a>(
    plot: &Plot,
    axis: Axis,
    all: impl Iterator<Item = &'a RunEvent>,
) -> Vec<Ticks> {
    let mut columns: [Vec<u16>; KINDS.len()] = Default::default();
    for event in all {
        let x = match axis {
            Axis::Time => event.t.map(|t| t.0),
            Axis::Steps => event.x.map(|x| x.0),
        };
        let kind = KINDS.iter().position(|kind| (kind.includes)(&event.kind));
        if let (Some(column), Some(kind)) = (x.and_then(|x| plot.column(x)), kind) {
            columns[kind].push(column);
        }
    }
    let kinds = KINDS.iter().zip(columns);
    kinds
        .filter(|(_, columns)| !columns.is_empty())
        .map(|(kind, columns)| Ticks::of(kind, columns, plot))
        .collect()
}

impl Ticks {
    fn of(kind: &Kind, mut columns: Vec<u16>, plot: &Plot) -> Ticks {
        let glyph = match plot.charset {
            Charset::Unicode => kind.unicode,
            Charset::Ascii => kind.ascii,
        };
        let (count, name) = (columns.len(), kind.name);
        let mut legend = format!("{glyph} {name}");
        columns.sort_unstable();
        columns.dedup();
        if count > 1 && count * CLOSEST > usize::from(plot.area.width) {
            columns.clear();
            legend = format!("{glyph} {count} {name}s");
        }
        Ticks {
            glyph,
            columns,
            legend,
        }
    }
}

#[cfg(test)]
mod tests {
    use leveloff_classifier::units::X;
    use leveloff_model::units::Seconds;
    use ratatui::layout::Rect;

    use super::*;

    fn ticks_every(distance: u32, kind: &RunEventKind) -> Vec<Ticks> {
        let plot = Plot {
            area: Rect::new(0, 0, 100, 4),
            x: 0.0..1000.0,
            memory: 0.0..1.0,
            charset: Charset::Ascii,
        };
        let all: Vec<RunEvent> = (0..=1000)
            .step_by(distance as usize)
            .map(|step| RunEvent {
                t: Some(Seconds(0.0)),
                x: Some(X(f64::from(step))),
                kind: kind.clone(),
            })
            .collect();
        ticks(&plot, Axis::Steps, all.iter())
    }

    #[test]
    fn a_tick_stands_at_its_step() {
        let ticks = ticks_every(400, &RunEventKind::Evaluation);
        assert_eq!(ticks[0].columns, [0, 40, 80]);
        assert_eq!(ticks[0].legend, "v evaluation");
    }

    #[test]
    fn too_many_are_counted() {
        let ticks = ticks_every(10, &RunEventKind::Checkpoint);
        assert_eq!(ticks[0].columns, [0; 0]);
        assert_eq!(ticks[0].legend, "# 101 checkpoints");
    }
}
