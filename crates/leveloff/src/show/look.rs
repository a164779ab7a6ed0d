//! Whether there is a terminal for a dashboard, and what it can show.

use std::io::IsTerminal;

use anyhow::{Result, bail};
use leveloff_dashboard::theme::{Charset, Look, Theme};

use crate::cli::{LookArgs, ThemeName};
use crate::notice::is_dumb_terminal;

/// Terminals whose font has letters and little more.
const WITHOUT_UNICODE: [&str; 6] = ["linux", "vt100", "vt102", "vt220", "ansi", "cons25"];

/// How the dashboard is to look; refused where there is no terminal for it. `instead` is the command
/// that needs none.
pub fn look(args: &LookArgs, instead: &str) -> Result<Look> {
    if let Some(why) = refusal() {
        bail!("the dashboard needs a terminal, and {why}; `{instead}` needs none");
    }
    Ok(Look {
        theme: theme(args.theme, is_set("NO_COLOR")),
        charset: charset(args.ascii, &variable("TERM"), &locale()),
    })
}

/// Why there is no terminal for a dashboard, if there is none.
pub fn refusal() -> Option<&'static str> {
    if !std::io::stdout().is_terminal() {
        Some("stdout is none")
    } else if !std::io::stdin().is_terminal() {
        Some("stdin is none")
    } else if is_dumb_terminal() {
        Some("this one cannot move its cursor (TERM=dumb)")
    } else {
        None
    }
}

/// What was asked for comes first, then no-color.org.
fn theme(asked: Option<ThemeName>, no_colour: bool) -> Theme {
    match asked {
        Some(ThemeName::Dark) => Theme::Dark,
        Some(ThemeName::Light) => Theme::Light,
        Some(ThemeName::ColourBlind) => Theme::ColourBlind,
        Some(ThemeName::None) => Theme::None,
        None if no_colour => Theme::None,
        None => Theme::Dark,
    }
}

/// A locale that is not set says nothing: containers rarely have one, and the terminal outside can
/// show everything.
fn charset(asked: bool, term: &str, locale: &str) -> Charset {
    let locale = locale.to_lowercase();
    let other_letters = !locale.is_empty() && !locale.contains("utf-8") && !locale.contains("utf8");
    if asked || other_letters || WITHOUT_UNICODE.contains(&term) {
        Charset::Ascii
    } else {
        Charset::Unicode
    }
}

/// The first of these that is set decides about letters.
fn locale() -> String {
    let names = ["LC_ALL", "LC_CTYPE", "LANG"];
    let set = names
        .into_iter()
        .map(variable)
        .find(|value| !value.is_empty());
    set.unwrap_or_default()
}

fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_default()
}

fn is_set(name: &str) -> bool {
    std::env::var_os(name).is_some_and(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_without_unicode_gets_none() {
        for (term, locale, charset_there) in [
            ("xterm-256color", "en_US.UTF-8", Charset::Unicode),
            ("xterm-256color", "", Charset::Unicode),
            ("xterm-256color", "C.utf8", Charset::Unicode),
            ("xterm-256color", "C", Charset::Ascii),
            ("xterm", "de_DE.ISO-8859-1", Charset::Ascii),
            ("linux", "en_US.UTF-8", Charset::Ascii),
        ] {
            assert_eq!(
                charset(false, term, locale),
                charset_there,
                "{term} {locale}"
            );
        }
        assert_eq!(charset(true, "xterm", "C.UTF-8"), Charset::Ascii);
    }

    #[test]
    fn a_theme_that_was_asked_for_outdoes_no_color() {
        assert_eq!(theme(None, false), Theme::Dark);
        assert_eq!(theme(None, true), Theme::None);
        assert_eq!(theme(Some(ThemeName::Light), true), Theme::Light);
    }
}
