//! Bars and sparklines out of eighths of a cell.

/// From low to high.
const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
/// From nothing to nearly a whole cell.
const LENGTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/// A bar over this share of so many columns; something is seen of all that is not nothing.
pub fn bar(share: f64, columns: usize) -> String {
    let eighths = (share.clamp(0.0, 1.0) * columns as f64 * 8.0).round() as usize;
    let eighths = eighths.max(usize::from(share > 0.0 && columns > 0));
    let mut bar = "█".repeat(eighths / 8);
    bar.push_str(LENGTHS[eighths % 8]);
    bar
}

/// From the lowest to the highest of the points.
pub fn span(points: &[f64]) -> f64 {
    let high = points.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    (high - lowest(points)).max(0.0)
}

fn lowest(points: &[f64]) -> f64 {
    points.iter().copied().fold(f64::INFINITY, f64::min)
}

/// One character for each point, from the lowest up; `span` is the height of the highest character.
/// Lines that are compared have the same span. What moves by less than a fiftieth is flat: otherwise
/// noise would look like growth.
pub fn sparkline(points: &[f64], span: f64) -> String {
    let low = lowest(points);
    let span = span.max(FLAT * points.last().copied().unwrap_or(0.0).abs());
    let height = |point: f64| match span > 0.0 {
        true => (((point - low) / span) * 7.0).round() as usize,
        false => 0,
    };
    points
        .iter()
        .map(|&point| HEIGHTS[height(point).min(7)])
        .collect()
}

/// The same over several rows, the highest first, which begins at nothing: the size is seen as well.
pub fn tall_sparkline(points: &[f64], rows: usize) -> Vec<String> {
    let high = points.iter().copied().fold(0.0, f64::max);
    let eighths = |point: f64| match high > 0.0 {
        true => ((point / high) * (rows * 8) as f64).round() as usize,
        false => 0,
    };
    let cell = |point: f64, row: usize| match eighths(point).saturating_sub(row * 8) {
        0 => ' ',
        some => HEIGHTS[(some - 1).min(7)],
    };
    (0..rows)
        .rev()
        .map(|row| points.iter().map(|&point| cell(point, row)).collect())
        .collect()
}

/// Less than this share of the highest is no movement.
const FLAT: f64 = 0.02;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_as_long_as_its_share() {
        assert_eq!(bar(1.0, 3), "███");
        assert_eq!(bar(0.5, 3), "█▌");
        assert_eq!(bar(0.0001, 3), "▏");
        assert_eq!(bar(0.0, 3), "");
        assert_eq!(bar(f64::NAN, 3), "");
        assert_eq!(bar(7.0, 0), "");
    }

    #[test]
    fn a_sparkline_tells_growth_from_noise() {
        let line = |points: &[f64]| sparkline(points, span(points));
        assert_eq!(line(&[0.0, 50.0, 100.0]), "▁▅█");
        assert_eq!(line(&[100.0, 100.1, 100.0]), "▁▁▁");
        assert_eq!(line(&[0.0, 0.0]), "▁▁");
        assert_eq!(line(&[]), "");
        assert_eq!(sparkline(&[7.0, 8.0, 9.0], 100.0), "▁▁▁");
    }

    #[test]
    fn a_tall_one_begins_at_nothing() {
        assert_eq!(tall_sparkline(&[8.0, 16.0], 2), [" █", "██"]);
        assert_eq!(tall_sparkline(&[0.0], 2), [" ", " "]);
    }
}
