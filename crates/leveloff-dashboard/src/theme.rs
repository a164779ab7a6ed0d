//! How it looks: colours for a meaning, and the characters that a terminal can show.
//!
//! Drawing names a [`Paint`], never a colour, so a theme is one table. No theme sets a
//! background but for the chosen row: the terminal's own stays.

mod charset;
mod palette;

use leveloff_classifier::verdict::{Grade, Verdict};
use ratatui::style::{Modifier, Style};

pub use palette::Paint;

/// How the screen looks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Styles {
    /// The colours.
    pub theme: Theme,
    /// The characters.
    pub charset: Charset,
}

/// Which colours.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Theme {
    /// For a dark background.
    #[default]
    Dark,
    /// For a light one.
    Light,
    /// Blue and orange, distinct with every kind of colour vision, on either background.
    ColourBlind,
    /// No colour at all: bold, faint and reversed only.
    None,
}

/// Which characters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Charset {
    /// All that fonts for terminals have.
    #[default]
    Unicode,
    /// ASCII only.
    Ascii,
}

impl Styles {
    /// The style for a meaning.
    pub fn get(&self, paint: Paint) -> Style {
        palette::style(self.theme, paint)
    }

    /// The style of words that are read from across the room.
    pub fn badge(&self, paint: Paint) -> Style {
        self.get(paint)
            .add_modifier(Modifier::BOLD | Modifier::REVERSED)
    }
}

impl Theme {
    /// Every theme.
    pub const ALL: [Theme; 4] = [Theme::Dark, Theme::Light, Theme::ColourBlind, Theme::None];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Theme::Dark => "dark",
            Theme::Light => "light",
            Theme::ColourBlind => "colour-blind",
            Theme::None => "none",
        }
    }
}

impl Charset {
    /// Makes do with these characters, whatever was drawn.
    pub(crate) fn limit(self, buffer: &mut ratatui::buffer::Buffer) {
        if self == Charset::Ascii {
            charset::to_ascii(buffer);
        }
    }
}

impl From<Verdict> for Paint {
    fn from(verdict: Verdict) -> Paint {
        match verdict {
            Verdict::Level(_) => Paint::Good,
            Verdict::Leak(Grade::Suspected) | Verdict::WarmingUp => Paint::Early,
            Verdict::Leak(Grade::Early | Grade::Confirmed) => Paint::Bad,
            Verdict::Undecided => Paint::Unsure,
        }
    }
}
