//! Checks as text.

use leveloff_text::paint::Paint;

use super::{Check, State};

/// One line for each check, and one that sums up.
pub(super) fn text(checks: &[Check], paint: Paint) -> String {
    let width = checks.iter().map(|check| check.name.len()).max();
    let width = width.unwrap_or(0);
    let mut text = String::new();
    for check in checks {
        let next = match &check.next {
            Some(next) => format!(" → {next}"),
            None => String::new(),
        };
        text.push_str(&format!(
            "{}  {:width$}  {}{next}\n",
            word(check.state, paint),
            check.name,
            check.text,
        ));
    }
    text.push_str(&summary(checks));
    text
}

/// An array of objects.
pub(super) fn json(checks: &[Check]) -> anyhow::Result<String> {
    Ok(serde_json::to_string_pretty(checks)? + "\n")
}

fn word(state: State, paint: Paint) -> String {
    // Padded before it is coloured: escapes have no width.
    let word = format!("{:7}", state.name());
    let code = match state {
        State::Ok => 32,
        State::Gap => 33,
        State::Missing => 31,
    };
    match paint {
        Paint::Coloured => format!("\x1b[{code}m{word}\x1b[0m"),
        Paint::Plain => word,
    }
}

fn summary(checks: &[Check]) -> String {
    let count = |state| checks.iter().filter(|check| check.state == state).count();
    format!(
        "{} ok, {} with a gap, {} missing\n",
        count(State::Ok),
        count(State::Gap),
        count(State::Missing)
    )
}
