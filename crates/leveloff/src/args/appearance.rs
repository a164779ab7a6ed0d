use clap::{Args, ValueEnum};
use leveloff_dashboard::theme::Theme;

use crate::screen_thread::AppearanceChoice;

/// How the dashboard looks.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct AppearanceArgs {
    /// Colours of the dashboard [default: dark; none if NO_COLOR is set]
    #[arg(long, value_enum, value_name = "THEME", env = "LEVELOFF_THEME")]
    theme: Option<ThemeName>,
    /// Use only ASCII characters on the dashboard [default: if the terminal has no others]
    #[arg(long)]
    ascii: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ThemeName {
    /// For a dark background
    Dark,
    /// For a light background
    Light,
    /// Colours that remain distinct with colour vision deficiency
    #[value(alias = "color-blind")]
    ColourBlind,
    /// No colours
    None,
}

impl AppearanceArgs {
    pub(crate) fn choice(&self) -> AppearanceChoice {
        AppearanceChoice {
            theme: self.theme.map(|name| match name {
                ThemeName::Dark => Theme::Dark,
                ThemeName::Light => Theme::Light,
                ThemeName::ColourBlind => Theme::ColourBlind,
                ThemeName::None => Theme::None,
            }),
            ascii: self.ascii,
        }
    }
}
