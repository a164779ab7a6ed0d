//! What has a colour, and the tables of colours.

use ratatui::style::{Color, Modifier, Style};

use super::Theme;

/// What something means on the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Paint {
    /// Nothing special.
    Plain,
    /// Important.
    Strong,
    /// Secondary.
    Faint,
    /// The name of a part of the screen.
    Heading,
    /// A key, a bar or a message.
    Accent,
    /// Level.
    Good,
    /// Too early to decide.
    Early,
    /// Leaking.
    Bad,
    /// Undecided.
    Unsure,
    /// The chosen row.
    Chosen,
}

/// The colours of a theme, out of the 256 that every terminal of today has: the lower 16 are the
/// user's own and may be anything.
struct Palette {
    good: u8,
    /// `None`: the terminal's own, in bold.
    early: Option<u8>,
    bad: u8,
    unsure: u8,
    faint: u8,
    accent: u8,
    chosen_background: u8,
}

const DARK: Palette = Palette {
    good: 114,
    early: Some(221),
    bad: 203,
    unsure: 147,
    faint: 245,
    accent: 117,
    chosen_background: 237,
};

const LIGHT: Palette = Palette {
    good: 28,
    early: Some(130),
    bad: 160,
    unsure: 61,
    faint: 242,
    accent: 25,
    chosen_background: 254,
};

/// Blue and orange of middle brightness. Between them stands no third colour: what is too early to
/// decide has none.
const COLOUR_BLIND: Palette = Palette {
    good: 32,
    early: None,
    bad: 208,
    unsure: 139,
    faint: 244,
    accent: 37,
    chosen_background: 240,
};

/// The style for a meaning.
pub(super) fn style(theme: Theme, paint: Paint) -> Style {
    let colours = match theme {
        Theme::Dark => &DARK,
        Theme::Light => &LIGHT,
        Theme::ColourBlind => &COLOUR_BLIND,
        Theme::None => return without_colour(paint),
    };
    colours.style(paint)
}

impl Palette {
    fn style(&self, paint: Paint) -> Style {
        let plain = Style::new();
        let in_colour = |colour: u8| plain.fg(Color::Indexed(colour));
        match paint {
            Paint::Plain => plain,
            Paint::Strong => plain.bold(),
            Paint::Faint => in_colour(self.faint),
            Paint::Heading => in_colour(self.faint).bold(),
            Paint::Accent => in_colour(self.accent),
            Paint::Good => in_colour(self.good),
            Paint::Early => self.early.map_or(plain.bold(), in_colour),
            Paint::Bad => in_colour(self.bad),
            Paint::Unsure => in_colour(self.unsure),
            Paint::Chosen => plain.bg(Color::Indexed(self.chosen_background)).bold(),
        }
    }
}

fn without_colour(paint: Paint) -> Style {
    let plain = Style::new();
    match paint {
        Paint::Plain | Paint::Good | Paint::Early | Paint::Unsure => plain,
        Paint::Strong | Paint::Bad | Paint::Accent => plain.bold(),
        Paint::Faint => plain.add_modifier(Modifier::DIM),
        Paint::Heading => plain.bold(),
        Paint::Chosen => plain.reversed(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn good_and_bad_differ_in_every_theme_that_has_colours() {
        for theme in [Theme::Dark, Theme::Light, Theme::ColourBlind] {
            assert_ne!(style(theme, Paint::Good).fg, style(theme, Paint::Bad).fg);
        }
    }

    #[test]
    fn no_colour_is_none() {
        for paint in [
            Paint::Plain,
            Paint::Strong,
            Paint::Faint,
            Paint::Heading,
            Paint::Accent,
            Paint::Good,
            Paint::Early,
            Paint::Bad,
            Paint::Unsure,
            Paint::Chosen,
        ] {
            let style = style(Theme::None, paint);
            assert_eq!((style.fg, style.bg), (None, None), "{paint:?}");
        }
    }
}
