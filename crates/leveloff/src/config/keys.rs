//! The keys, their values, and the subcommands that use them.

use std::sync::LazyLock;

use leveloff_classifier::gate::{BoundUnit, Gate};

use super::kind::Kind;
use super::tables::{CHECK, Flavour, Table};

/// A setting that a file may make. It becomes the default of the argument of the same name.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Key {
    /// As it is written, and the identity of the argument.
    pub name: String,
    /// Where it is written.
    pub table: Table,
    pub kind: Kind,
    /// The subcommands whose argument it is.
    pub subcommands: &'static [&'static str],
}

/// All keys, in the order of the documentation.
pub(crate) static KEYS: LazyLock<Vec<Key>> = LazyLock::new(|| {
    let mut keys = vec![
        fact("level_by", Kind::Horizon),
        fact("limit", Kind::Limit),
        fact("planned_steps", Kind::Steps),
        fact("epoch_steps", Kind::Steps),
        reading("step_regex", Kind::StepRegex),
        watching("interval", Kind::Interval),
        watching("pss_budget", Kind::Percent),
        Key {
            subcommands: REMEMBERING,
            ..fact("history", Kind::Switch)
        },
    ];
    keys.extend(Gate::ALL.into_iter().filter_map(gate));
    keys.extend([
        check("baseline", Kind::Path),
        check("undecided", Kind::Undecided),
        check("repeat", Kind::Count),
        check("name", Kind::Name),
        check("history", Kind::Switch),
    ]);
    keys
});

/// Subcommands that judge. Not `demo`: facts about the project's run do not apply to the reference trainer.
const JUDGING: &[&str] = &[
    "run", "watch", "record", "guard", "replay", "judge", "report", "compare", CHECK,
];

/// Subcommands that read what a training printed.
const READING: &[&str] = &[
    "run", "watch", "record", "guard", "judge", "report", "compare", CHECK,
];

/// Subcommands that sample.
const SAMPLING: &[&str] = &["run", "watch", "record", "guard", CHECK];

/// Subcommands that remember how a run ended. `check` does so only if its own table asks for it.
const REMEMBERING: &[&str] = &["run", "watch", "record", "guard"];

/// Whether any key is for this subcommand; the others read no file, so that a mistake in it does not stop them.
pub(crate) fn applies_to(subcommand: &str) -> bool {
    KEYS.iter().any(|key| key.subcommands.contains(&subcommand))
}

/// The key of this name in this table.
pub(crate) fn find(name: &str, table: Table) -> Option<&'static Key> {
    keys_of(table).find(|key| key.name == name)
}

/// The hint for an unknown key of this table.
pub(crate) fn hint(name: &str, table: Table, flavour: Flavour) -> String {
    let other = table.other();
    if find(name, other).is_some() {
        return format!("it belongs in {}", flavour.heading(other));
    }
    if let Some(near) = nearest(name, known(table)) {
        return format!("did you mean '{near}'?");
    }
    if let Some(near) = nearest(name, known(other)) {
        return format!("did you mean '{near}' in {}?", flavour.heading(other));
    }
    let known: Vec<&str> = known(table).collect();
    format!("known in {}: {}", flavour.heading(table), known.join(", "))
}

fn fact(name: &str, kind: Kind) -> Key {
    Key {
        name: name.to_owned(),
        table: Table::Top,
        kind,
        subcommands: JUDGING,
    }
}

fn reading(name: &str, kind: Kind) -> Key {
    Key {
        subcommands: READING,
        ..fact(name, kind)
    }
}

fn watching(name: &str, kind: Kind) -> Key {
    Key {
        subcommands: SAMPLING,
        ..fact(name, kind)
    }
}

fn check(name: &str, kind: Kind) -> Key {
    Key {
        name: name.to_owned(),
        table: Table::Check,
        kind,
        subcommands: &[CHECK],
    }
}

/// The bound of a gate.
fn gate(gate: Gate) -> Option<Key> {
    let kind = match (gate, gate.bound_unit()?) {
        (Gate::LevelBy, _) => Kind::Horizon,
        (_, BoundUnit::Bytes) => Kind::Size,
        (_, BoundUnit::BytesPerX) => Kind::Growth,
        (_, BoundUnit::Count) => Kind::Count,
    };
    Some(check(&gate.name().replace('-', "_"), kind))
}

fn keys_of(table: Table) -> impl Iterator<Item = &'static Key> {
    KEYS.iter().filter(move |key| key.table == table)
}

/// All that may stand in a table.
fn known(table: Table) -> impl Iterator<Item = &'static str> {
    let below = (table == Table::Top).then_some(CHECK);
    keys_of(table).map(|key| key.name.as_str()).chain(below)
}

/// Below this, a name is another word and no slip: `level` is still `level_by`, `max_memory` is no
/// longer `max_level`.
const LIKE_ENOUGH: f64 = 0.6;

fn nearest(name: &str, known: impl Iterator<Item = &'static str>) -> Option<&'static str> {
    // The name may be of any length, and the comparison takes its square.
    let name: String = name.chars().take(LONGEST_NAME).collect();
    known
        .map(|known| (strsim::normalized_damerau_levenshtein(&name, known), known))
        .filter(|(likeness, _)| *likeness >= LIKE_ENOUGH)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, known)| known)
}

/// Longer than twice any key.
const LONGEST_NAME: usize = 40;

#[cfg(test)]
mod tests {
    use super::*;

    fn hint_in(table: Table, name: &str) -> String {
        hint(name, table, Flavour::Own)
    }

    #[test]
    fn a_slip_is_answered_with_the_nearest_key() {
        let of_check = |name| hint_in(Table::Check, name);
        assert_eq!(of_check("max_lvel"), "did you mean 'max_level'?");
        assert_eq!(of_check("max-growth"), "did you mean 'max_growth'?");
        assert_eq!(of_check("level"), "did you mean 'level_by'?");
        let on_top = |name| hint_in(Table::Top, name);
        assert_eq!(on_top("budget"), "did you mean 'pss_budget'?");
        assert_eq!(on_top("chekc"), "did you mean 'check'?");
    }

    #[test]
    fn a_key_of_the_other_table_is_sent_there() {
        let misplaced = hint_in(Table::Top, "max_peak");
        assert_eq!(misplaced, "it belongs in [check]");
        let misplaced = hint("limit", Table::Check, Flavour::PyProject);
        assert_eq!(misplaced, "it belongs in [tool.leveloff]");
        let both = hint_in(Table::Top, "max_lvel");
        assert_eq!(both, "did you mean 'max_level' in [check]?");
    }

    #[test]
    fn a_name_like_none_gets_the_whole_list() {
        let all = hint_in(Table::Top, "colour");
        assert!(
            all.ends_with(
                "level_by, limit, planned_steps, epoch_steps, step_regex, interval, pss_budget, history, check"
            ),
            "{all}"
        );
        let long = hint_in(Table::Check, &"x".repeat(1_000_000));
        assert!(long.starts_with("known in [check]: level_by,"), "{long}");
    }

    #[test]
    fn a_subcommand_without_keys_reads_no_file() {
        for name in [
            "doctor",
            "man",
            "completions",
            "find",
            "export",
            "demo",
            "help",
        ] {
            assert!(!applies_to(name), "{name}");
        }
        assert!(applies_to("judge") && applies_to("check"));
    }
}
