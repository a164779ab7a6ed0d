//! Evaluations, checkpoints and epochs on the axis.

use crate::history::Axis;
use crate::run::{EventTick, TickKind};

use super::plot::Plot;
use super::style::Charset;

/// Ticks of a kind that would stand closer than this many columns are counted instead.
const CLOSEST: usize = 3;

/// Kinds of ticks; where two fall on the same column, the first is shown.
const KINDS: [TickKind; 4] = [
    TickKind::Epoch,
    TickKind::Checkpoint,
    TickKind::Evaluation,
    TickKind::Other,
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
    all: impl Iterator<Item = &'a EventTick>,
) -> Vec<Ticks> {
    let mut places: [Vec<u16>; KINDS.len()] = Default::default();
    for tick in all {
        let x = match axis {
            Axis::Time => Some(tick.t.0),
            Axis::Steps => tick.step,
        };
        let kind = KINDS.iter().position(|kind| *kind == tick.kind);
        if let (Some(column), Some(kind)) = (x.and_then(|x| plot.column(x)), kind) {
            places[kind].push(column);
        }
    }
    let kinds = KINDS.into_iter().zip(places);
    kinds
        .filter(|(_, columns)| !columns.is_empty())
        .map(|(kind, columns)| Ticks::of(kind, columns, plot))
        .collect()
}

impl Ticks {
    fn of(kind: TickKind, mut columns: Vec<u16>, plot: &Plot) -> Ticks {
        let (glyph, name) = look(kind, plot.charset);
        let count = columns.len();
        columns.sort_unstable();
        columns.dedup();
        if count > 1 && count * CLOSEST > usize::from(plot.area.width) {
            columns.clear();
            return Ticks {
                glyph,
                columns,
                legend: format!("{glyph} {count} {name}s"),
            };
        }
        Ticks {
            glyph,
            columns,
            legend: format!("{glyph} {name}"),
        }
    }
}

fn look(kind: TickKind, charset: Charset) -> (char, &'static str) {
    match (kind, charset) {
        (TickKind::Evaluation, Charset::Unicode) => ('▾', "evaluation"),
        (TickKind::Evaluation, Charset::Ascii) => ('v', "evaluation"),
        (TickKind::Checkpoint, Charset::Unicode) => ('◆', "checkpoint"),
        (TickKind::Checkpoint, Charset::Ascii) => ('#', "checkpoint"),
        (TickKind::Epoch, Charset::Unicode) => ('│', "epoch"),
        (TickKind::Epoch, Charset::Ascii) => ('|', "epoch"),
        (TickKind::Other, Charset::Unicode) => ('•', "event"),
        (TickKind::Other, Charset::Ascii) => ('o', "event"),
    }
}

#[cfg(test)]
mod tests {
    use leveloff_model::units::Seconds;
    use ratatui::layout::Rect;

    use super::*;

    fn ticks_every(distance: u32, kind: TickKind) -> Vec<Ticks> {
        let plot = Plot {
            area: Rect::new(0, 0, 100, 4),
            x: 0.0..1000.0,
            memory: 0.0..1.0,
            charset: Charset::Ascii,
        };
        let all: Vec<EventTick> = (0..=1000)
            .step_by(distance as usize)
            .map(|step| EventTick {
                t: Seconds(0.0),
                step: Some(f64::from(step)),
                kind,
            })
            .collect();
        ticks(&plot, Axis::Steps, all.iter())
    }

    #[test]
    fn a_tick_stands_at_its_step() {
        let ticks = ticks_every(400, TickKind::Evaluation);
        assert_eq!(ticks[0].columns, [0, 40, 80]);
        assert_eq!(ticks[0].legend, "v evaluation");
    }

    #[test]
    fn too_many_are_counted() {
        let ticks = ticks_every(10, TickKind::Checkpoint);
        assert_eq!(ticks[0].columns, [0; 0]);
        assert_eq!(ticks[0].legend, "# 101 checkpoints");
    }
}
