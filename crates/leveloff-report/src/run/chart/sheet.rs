//! Lines, areas and words, in pixels of a screen, on whatever plotters draws on.

use std::sync::Once;

use plotters::backend::DrawingBackend;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, FontStyle, IntoFont, RGBColor, ShapeStyle, TextStyle, register_font};

/// plotters divides sizes of fonts by this before it writes them.
const FONT_SIZE_FACTOR: f64 = 1.24;

/// The family that an SVG names, and that our own font is registered as.
const FAMILY: &str = "sans-serif";

/// A place in pixels of a screen.
pub(super) type Point = (f64, f64);

/// Where a text stands from its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Right,
    Left,
    Middle,
}

/// Something that is drawn on. The first failure is kept and returned at the end.
pub(super) struct Sheet<B> {
    backend: B,
    scale: f64,
    words_lower: f64,
    failure: Option<String>,
}

impl<B: DrawingBackend> Sheet<B> {
    pub(super) fn new(backend: B, scale: u32) -> Sheet<B> {
        let failure = registered_font().err();
        Sheet {
            backend,
            scale: scale.into(),
            words_lower: 0.0,
            failure,
        }
    }

    /// The same, with words lower by this share of their size.
    pub(super) fn with_words_lower(self, words_lower: f64) -> Sheet<B> {
        Sheet {
            words_lower,
            ..self
        }
    }

    /// A filled rectangle.
    pub(super) fn fill(&mut self, from: Point, to: Point, colour: RGBColor) {
        let (from, to) = (self.dots(from), self.dots(to));
        let result = self
            .backend
            .draw_rect(from, to, &ShapeStyle::from(colour).filled(), true);
        self.keep(result.err());
    }

    /// A line through all points.
    pub(super) fn path(&mut self, points: &[Point], colour: RGBColor, width: f64) {
        let mut dots: Vec<(i32, i32)> = points.iter().map(|point| self.dots(*point)).collect();
        dots.dedup();
        if dots.len() < 2 {
            return;
        }
        let style = ShapeStyle::from(colour).stroke_width(self.thickness(width));
        let result = self.backend.draw_path(dots, &style);
        self.keep(result.err());
    }

    /// The same in dashes: so long, then so long nothing.
    pub(super) fn dashes(
        &mut self,
        points: &[Point],
        colour: RGBColor,
        width: f64,
        dash: (f64, f64),
    ) {
        for piece in dashes(points, dash) {
            self.path(&piece, colour, width);
        }
    }

    /// A filled area.
    pub(super) fn area(&mut self, outline: &[Point], colour: RGBColor, strength: f64) {
        let mut dots: Vec<(i32, i32)> = outline.iter().map(|point| self.dots(*point)).collect();
        dots.dedup();
        let result = self
            .backend
            .fill_polygon(dots, &colour.mix(strength).filled());
        self.keep(result.err());
    }

    /// A filled circle.
    pub(super) fn disc(&mut self, at: Point, radius: f64, colour: RGBColor) {
        let (at, radius) = (self.dots(at), self.thickness(radius));
        let result = self
            .backend
            .draw_circle(at, radius, &ShapeStyle::from(colour).filled(), true);
        self.keep(result.err());
    }

    /// Words beside a place, half above and half below it.
    pub(super) fn text(&mut self, text: &str, at: Point, side: Side, size: f64, colour: RGBColor) {
        let across = match side {
            Side::Right => HPos::Left,
            Side::Left => HPos::Right,
            Side::Middle => HPos::Center,
        };
        let style = self.style(size, colour).pos(Pos::new(across, VPos::Center));
        let at = self.dots((at.0, at.1 + self.words_lower * size));
        let result = self.backend.draw_text(text, &style, at);
        self.keep(result.err());
    }

    /// How wide a text is at most: where an SVG is shown, letters may be wider than ours.
    pub(super) fn width(&mut self, text: &str, size: f64) -> f64 {
        const WIDER: f64 = 1.15;
        match self
            .backend
            .estimate_text_size(text, &self.style(size, super::palette::INK))
        {
            Ok((width, _)) => WIDER * f64::from(width) / self.scale,
            Err(error) => {
                self.keep(Some(error));
                0.0
            }
        }
    }

    pub(super) fn finish(mut self) -> Result<(), String> {
        let result = self.backend.present();
        self.keep(result.err());
        self.failure.map_or(Ok(()), Err)
    }

    fn style(&self, size: f64, colour: RGBColor) -> TextStyle<'static> {
        let font = (FAMILY, size * self.scale * FONT_SIZE_FACTOR).into_font();
        TextStyle {
            color: colour.to_backend_color(),
            ..TextStyle::from(font)
        }
    }

    fn keep(&mut self, error: Option<impl std::fmt::Display>) {
        if let Some(error) = error {
            self.failure.get_or_insert_with(|| error.to_string());
        }
    }

    fn dots(&self, (x, y): Point) -> (i32, i32) {
        let whole = |pixels: f64| (pixels * self.scale).round() as i32;
        (whole(x), whole(y))
    }

    fn thickness(&self, pixels: f64) -> u32 {
        (pixels * self.scale).round().max(1.0) as u32
    }
}

fn registered_font() -> Result<(), String> {
    static REGISTERED: Once = Once::new();
    let mut result = Ok(());
    REGISTERED.call_once(|| {
        let font = epaint_default_fonts::UBUNTU_LIGHT;
        let registered = register_font(FAMILY, FontStyle::Normal, font);
        result = registered.map_err(|_| "the built-in font is no font".to_owned());
    });
    result
}

/// The pieces of a line that are drawn.
fn dashes(points: &[Point], (on, off): (f64, f64)) -> Vec<Vec<Point>> {
    let mut pieces = Vec::new();
    let mut piece: Vec<Point> = points.first().copied().into_iter().collect();
    let (mut is_drawn, mut left) = (true, on);
    for pair in points.windows(2) {
        let ([mut from, to], mut length) = ([pair[0], pair[1]], distance(pair[0], pair[1]));
        while length > left {
            let share = left / length;
            from = (
                from.0 + share * (to.0 - from.0),
                from.1 + share * (to.1 - from.1),
            );
            length -= left;
            if is_drawn {
                piece.push(from);
                pieces.push(std::mem::take(&mut piece));
            } else {
                piece = vec![from];
            }
            is_drawn = !is_drawn;
            left = if is_drawn { on } else { off };
        }
        left -= length;
        if is_drawn {
            piece.push(to);
        }
    }
    pieces.push(piece);
    pieces.retain(|piece| piece.len() > 1);
    pieces
}

fn distance(from: Point, to: Point) -> f64 {
    (to.0 - from.0).hypot(to.1 - from.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dash_goes_around_a_corner() {
        let corner = [(0.0, 0.0), (3.0, 0.0), (3.0, 9.0)];
        let expected = vec![
            vec![(0.0, 0.0), (3.0, 0.0), (3.0, 1.0)],
            vec![(3.0, 3.0), (3.0, 7.0)],
        ];
        assert_eq!(dashes(&corner, (4.0, 2.0)), expected);
        assert_eq!(dashes(&[], (4.0, 2.0)), Vec::<Vec<Point>>::new());
    }
}
