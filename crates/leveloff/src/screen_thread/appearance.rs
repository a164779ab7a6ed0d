//! Whether there is a terminal for the dashboard, and what it can show.

use std::io::IsTerminal;

use anyhow::{Result, bail};
use leveloff_dashboard::theme::{Charset, Styles, Theme};

use crate::notice::is_dumb_terminal;

/// Terminals whose font has letters and little more.
const WITHOUT_UNICODE: [&str; 6] = ["linux", "vt100", "vt102", "vt220", "ansi", "cons25"];

/// What the user chose; the terminal decides the rest.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct AppearanceChoice {
    pub theme: Option<Theme>,
    pub ascii: bool,
}

/// How the dashboard looks; refused without a terminal. `instead` is a command that needs none.
pub(crate) fn appearance(choice: &AppearanceChoice, instead: &str) -> Result<Styles> {
    if let Some(reason) = refusal() {
        bail!("the dashboard needs a terminal, and {reason}; `{instead}` needs none");
    }
    Ok(Styles {
        theme: theme(choice.theme, is_set("NO_COLOR")),
        charset: charset(choice.ascii, &variable("TERM"), &locale()),
    })
}

/// Why there is no terminal for a dashboard, if there is none.
pub(crate) fn refusal() -> Option<&'static str> {
    if !std::io::stdout().is_terminal() {
        Some("stdout is not one")
    } else if !std::io::stdin().is_terminal() {
        Some("stdin is not one")
    } else if is_dumb_terminal() {
        Some("this one cannot move the cursor (TERM=dumb)")
    } else {
        None
    }
}

/// The user's choice takes precedence over NO_COLOR (no-color.org).
fn theme(chosen: Option<Theme>, no_colour: bool) -> Theme {
    match chosen {
        Some(theme) => theme,
        None if no_colour => Theme::None,
        None => Theme::Dark,
    }
}

/// An unset locale means nothing: containers rarely have one, and the terminal outside can show everything.
fn charset(ascii: bool, term: &str, locale: &str) -> Charset {
    let locale = locale.to_lowercase();
    let other_letters = !locale.is_empty() && !locale.contains("utf-8") && !locale.contains("utf8");
    if ascii || other_letters || WITHOUT_UNICODE.contains(&term) {
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
    fn a_chosen_theme_takes_precedence_over_no_color() {
        assert_eq!(theme(None, false), Theme::Dark);
        assert_eq!(theme(None, true), Theme::None);
        assert_eq!(theme(Some(Theme::Light), true), Theme::Light);
    }
}
