//! The curve itself: from the lowest to the highest of each column, joined to its neighbours.

use crate::history::{Column, Reach};

use super::canvas::{Canvas, Layer, Pen, Point};
use super::plot::Plot;

/// A stretch without samples this many times longer than usual is a hole, not a straight line.
const HOLE: usize = 4;

/// Draws one part of the columns.
pub(super) fn draw(
    canvas: &mut Canvas,
    plot: &Plot,
    layer: Layer,
    columns: &[Option<Column>],
    part: fn(&Column) -> Reach,
) {
    let runs: Vec<Run> = columns
        .iter()
        .enumerate()
        .filter_map(|(x, column)| Some(Run::of(plot, x, part(column.as_ref()?))))
        .collect();
    let holes = Holes::of(&runs);
    for (i, run) in runs.iter().enumerate() {
        canvas.line(layer, run.highest(), run.lowest(), Pen::SOLID);
        if let Some(next) = runs.get(i + 1)
            && !holes.is_after(&runs, i)
        {
            let (from, to) = run.joint(next);
            canvas.line(layer, from, to, Pen::SOLID);
        }
    }
}

/// What a column of dots shows.
#[derive(Debug, Clone, Copy)]
struct Run {
    x: usize,
    top: f64,
    bottom: f64,
}

impl Run {
    fn of(plot: &Plot, x: usize, reach: Reach) -> Run {
        let y = |memory: f64| plot.point(plot.x.start, memory).y;
        Run {
            x,
            top: y(reach.high),
            bottom: y(reach.low),
        }
    }

    fn highest(&self) -> Point {
        self.at(self.top)
    }

    fn lowest(&self) -> Point {
        self.at(self.bottom)
    }

    /// The shortest way to the next run: from the end that is nearer to it or, where both have a
    /// height in common, on that height.
    fn joint(&self, next: &Run) -> (Point, Point) {
        if self.bottom < next.top {
            return (self.lowest(), next.highest());
        }
        if self.top > next.bottom {
            return (self.highest(), next.lowest());
        }
        let common = (self.top.max(next.top) + self.bottom.min(next.bottom)) / 2.0;
        (self.at(common), next.at(common))
    }

    fn at(&self, y: f64) -> Point {
        Point {
            x: self.x as f64,
            y,
        }
    }
}

/// Distinguishes stretches without samples from samples that are far apart.
struct Holes {
    /// The usual distance of samples, in columns.
    usual: usize,
}

impl Holes {
    fn of(runs: &[Run]) -> Holes {
        let mut distances: Vec<usize> = runs.windows(2).map(|two| two[1].x - two[0].x).collect();
        let middle = distances.len() / 2;
        let usual = match distances.len() {
            0 => 0,
            _ => *distances.select_nth_unstable(middle).1,
        };
        Holes { usual }
    }

    /// Samples of a slow part of the run may be usual there, so the neighbours count as well.
    fn is_after(&self, runs: &[Run], i: usize) -> bool {
        let distance = |i: usize| Some(runs.get(i + 1)?.x - runs.get(i)?.x);
        let before = i.checked_sub(1).and_then(distance).unwrap_or(0);
        let after = distance(i + 1).unwrap_or(0);
        let usual = self.usual.max(before).max(after);
        distance(i).is_some_and(|this| this > HOLE * usual)
    }
}

#[cfg(test)]
mod tests {
    use ratatui::buffer::Buffer;
    use ratatui::layout::Rect;

    use super::super::cells::Cells;
    use super::*;
    use crate::chart::lines;
    use crate::theme::{Charset, Paint, Styles};

    /// Ten cells, twenty columns; four rows, amounts from 0 to 15.
    fn drawn(columns: [Option<(f64, f64)>; 20]) -> Vec<String> {
        let area = Rect::new(0, 0, 10, 4);
        let plot = Plot {
            area,
            x: 0.0..20.0,
            memory: 0.0..15.0,
            charset: Charset::Unicode,
        };
        let columns = columns.map(|reach| {
            let reach = reach.map(|(low, high)| Reach { low, high })?;
            Some(Column {
                memory: reach,
                rss: reach,
            })
        });
        let mut canvas = Canvas::new(area, Charset::Unicode);
        draw(&mut canvas, &plot, Layer::Line, &columns, |column| {
            column.memory
        });
        let mut buffer = Buffer::empty(area);
        let mut cells = Cells::new(area, &mut buffer);
        canvas.paint(&Styles::default(), Paint::Plain, &mut cells);
        lines(&buffer)
    }

    fn flat_but(change: impl Fn(usize) -> Option<Option<(f64, f64)>>) -> [Option<(f64, f64)>; 20] {
        std::array::from_fn(|x| change(x).unwrap_or(Some((2.0, 2.0))))
    }

    #[test]
    fn a_straight_line_is_straight() {
        let rising = std::array::from_fn(|x| Some((x as f64 / 2.0, x as f64 / 2.0)));
        assert_eq!(drawn(rising), ["", "        ⣀⠤", "    ⣀⠤⠒⠉", "⣀⠤⠒⠉"]);
    }

    #[test]
    fn a_spike_of_one_sample_is_seen() {
        let alone = flat_but(|x| (x == 9).then_some(Some((14.0, 14.0))));
        let within = flat_but(|x| (x == 9).then_some(Some((2.0, 14.0))));
        for spike in [alone, within] {
            let drawing = drawn(spike);
            assert!(
                drawing[0].contains(['⡀', '⢀', '⢠', '⢰', '⢸', '⡸', '⣸']),
                "{drawing:?}"
            );
            assert!(
                drawing.iter().all(|line| line.chars().count() >= 5),
                "{drawing:?}"
            );
        }
    }

    #[test]
    fn a_stretch_without_samples_is_a_hole() {
        let hole = flat_but(|x| (6..14).contains(&x).then_some(None));
        assert_eq!(drawn(hole)[3], "⠒⠒⠒    ⠒⠒⠒");
        let short = flat_but(|x| (6..8).contains(&x).then_some(None));
        assert_eq!(drawn(short)[3], "⠒⠒⠒⠒⠒⠒⠒⠒⠒⠒");
    }

    #[test]
    fn samples_that_are_far_apart_are_joined() {
        let sparse = std::array::from_fn(|x| x.is_multiple_of(6).then_some((2.0, 2.0)));
        assert_eq!(drawn(sparse)[3], "⠒⠒⠒⠒⠒⠒⠒⠒⠒⠂");
    }
}
