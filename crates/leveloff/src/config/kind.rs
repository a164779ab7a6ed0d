//! What a key may hold. The flags' own parsers say whether a value will do, so that the file and
//! the command line take the same.

use std::str::FromStr;

use leveloff_model::units::{Bytes, GrowthLimit, Limit};
use toml::de::{DeInteger, DeValue};

use crate::option_values::{
    UNDECIDED, parse_interval, parse_level_by, parse_percent, parse_step_regex, parse_steps,
    parse_switch,
};

/// What a key may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A number of steps.
    Steps,
    /// A step, or a time.
    Horizon,
    /// A pattern for lines that hold the step.
    StepRegex,
    /// How often.
    Count,
    /// An amount of memory, or a share of what there is.
    Limit,
    /// An amount of memory.
    Size,
    /// An amount of memory for each of something.
    Growth,
    /// A time between samples.
    Interval,
    /// A share of one core.
    Percent,
    /// A file, seen from the directory of the one that names it.
    Path,
    /// What an open question counts as.
    Undecided,
    /// What something is called.
    Name,
    /// On or off.
    Switch,
}

impl Kind {
    /// The value as a flag would take it, or why it is not allowed.
    pub(crate) fn parse(self, value: &DeValue) -> Result<String, String> {
        let text = match value {
            DeValue::Boolean(on) if self == Kind::Switch => on.to_string(),
            DeValue::String(text) if !self.is_whole_number() && self != Kind::Switch => {
                text.clone().into_owned()
            }
            DeValue::Integer(number) if !self.is_plain_text() => decimal(number),
            DeValue::Float(number)
                if !self.is_whole_number() && !self.is_plain_text() && self != Kind::Horizon =>
            {
                number.as_str().to_owned()
            }
            other => {
                return Err(format!(
                    "{} is not allowed here; {}",
                    named(other),
                    self.expected()
                ));
            }
        };
        match self.check(&text) {
            Ok(()) => Ok(text),
            Err(why) if value.is_str() || self.is_whole_number() => Err(why),
            // Where the unit is missed, so are the quotes.
            Err(why) => Err(format!("{why}; {}", self.expected())),
        }
    }

    /// Whether it is written without quotes, and has no unit that could be missing.
    fn is_whole_number(self) -> bool {
        matches!(self, Kind::Steps | Kind::Count)
    }

    /// Whether no number can stand for it.
    fn is_plain_text(self) -> bool {
        matches!(
            self,
            Kind::Path | Kind::Undecided | Kind::Name | Kind::StepRegex | Kind::Switch
        )
    }

    fn check(self, text: &str) -> Result<(), String> {
        match self {
            Kind::Steps => parse_steps(text).map(drop),
            Kind::Horizon => parse_level_by(text).map(drop),
            Kind::StepRegex => parse_step_regex(text).map(drop),
            Kind::Count => above_zero(text),
            Kind::Limit => parsed::<Limit>(text),
            Kind::Size => parsed::<Bytes>(text),
            Kind::Growth => parsed::<GrowthLimit>(text),
            Kind::Interval => parse_interval(text).map(drop),
            Kind::Percent => parse_percent(text).map(drop),
            Kind::Undecided => match UNDECIDED.contains(&text) {
                true => Ok(()),
                false => Err(self.expected().to_owned()),
            },
            Kind::Switch => parse_switch(text).map(drop),
            Kind::Path | Kind::Name => something(text),
        }
    }

    /// An example, as it stands in a file.
    fn expected(self) -> &'static str {
        match self {
            Kind::Steps => "write a whole number of steps without quotes, such as 90",
            Kind::Horizon => {
                r#"write a step without quotes, such as 90, or a time in quotes, such as "2m""#
            }
            Kind::StepRegex => r"write it in single quotes, such as 'it (?P<step>\d+)'",
            Kind::Count => "write a whole number without quotes, such as 3",
            Kind::Limit => r#"write it in quotes, such as "28GiB" or "90%""#,
            Kind::Size => r#"write it in quotes, such as "20GiB""#,
            Kind::Growth => r#"write it in quotes, such as "1MiB/step""#,
            Kind::Interval => r#"write it in quotes, such as "1s""#,
            Kind::Percent => "write a number of percent, such as 0.5",
            Kind::Path => r#"write a file in quotes, such as "leveloff-baseline.json""#,
            Kind::Undecided => r#"write "pass" or "fail""#,
            Kind::Name => r#"write a name in quotes, such as "fine-tune""#,
            Kind::Switch => "write true or false without quotes",
        }
    }
}

/// Its name in messages.
fn named(value: &DeValue) -> &'static str {
    match value {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a fraction",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date or time of day",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

fn parsed<T: FromStr<Err: ToString>>(text: &str) -> Result<(), String> {
    text.parse::<T>()
        .map(drop)
        .map_err(|error| error.to_string())
}

fn above_zero(text: &str) -> Result<(), String> {
    match text.parse::<u32>() {
        Ok(count) if count > 0 => Ok(()),
        _ => Err("write a whole number above zero, such as 3".to_owned()),
    }
}

fn something(text: &str) -> Result<(), String> {
    if text.trim().is_empty() {
        Err("it is empty; leave the key out instead".to_owned())
    } else if text.chars().any(char::is_control) {
        Err("it holds a control character".to_owned())
    } else {
        Ok(())
    }
}

/// `0x5a` is 90 to TOML, and to no flag. What no machine counts to is left to the parser to refuse.
fn decimal(number: &DeInteger) -> String {
    match i128::from_str_radix(number.as_str(), number.radix()) {
        Ok(value) => value.to_string(),
        Err(_) => number.as_str().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed_value(kind: Kind, written: &str) -> Result<String, String> {
        kind.parse(DeValue::parse(written).unwrap().get_ref())
    }

    #[test]
    fn a_value_is_handed_on_as_a_flag_takes_it() {
        for (kind, written, text) in [
            (Kind::Steps, "90", "90"),
            (Kind::Steps, "1_000", "1000"),
            (Kind::Steps, "0x5A", "90"),
            (Kind::Horizon, "90", "90"),
            (Kind::Horizon, "'2m'", "2m"),
            (Kind::StepRegex, r"'it (?P<step>\d+)'", r"it (?P<step>\d+)"),
            (Kind::Count, "3", "3"),
            (Kind::Limit, "'28GiB'", "28GiB"),
            (Kind::Limit, "'90%'", "90%"),
            (Kind::Size, "\"20 GB\"", "20 GB"),
            (Kind::Growth, "'1MiB/step'", "1MiB/step"),
            (Kind::Interval, "'500ms'", "500ms"),
            (Kind::Interval, "1", "1"),
            (Kind::Percent, "0.5", "0.5"),
            (Kind::Percent, "1", "1"),
            (Kind::Percent, "'0.5%'", "0.5%"),
            (Kind::Path, "'a/b.json'", "a/b.json"),
            (Kind::Undecided, "'fail'", "fail"),
            (Kind::Name, "'fine-tune'", "fine-tune"),
            (Kind::Switch, "false", "false"),
        ] {
            assert_eq!(
                parsed_value(kind, written),
                Ok(text.to_owned()),
                "{written}"
            );
        }
    }

    #[test]
    fn a_value_that_will_not_do_is_answered_with_one_that_would() {
        for (kind, written, words) in [
            (Kind::Steps, "0", "such as 90"),
            (Kind::Steps, "-1", "such as 90"),
            (Kind::Steps, "1.5", "a fraction is not allowed here"),
            (Kind::Steps, "'90'", "without quotes, such as 90"),
            (Kind::Steps, "99999999999999999999999", "such as 90"),
            (Kind::Steps, "true", "true or false is not allowed here"),
            (Kind::Steps, "[90]", "a list is not allowed here"),
            (Kind::Horizon, "'soon'", "such as 90"),
            (Kind::Horizon, "1.5", "a fraction is not allowed here"),
            (Kind::StepRegex, "'it (?P<step>'", "regex parse error"),
            (Kind::StepRegex, "7", "in single quotes"),
            (Kind::Count, "0", "such as 3"),
            (Kind::Limit, "28", "28GiB"),
            (Kind::Limit, "28", "in quotes"),
            (Kind::Limit, "'28'", "'28' has no unit"),
            (Kind::Limit, "2.5", "'2.5' has no unit"),
            (Kind::Size, "'90%'", "'%'"),
            (Kind::Growth, "'1MiB'", "1MiB per what?"),
            (Kind::Interval, "'1ms'", "between 10ms and 1h"),
            (Kind::Interval, "07:32:00", "\"1s\""),
            (Kind::Percent, "101", "between 0 and 100"),
            (Kind::Percent, "nan", "between 0 and 100"),
            (Kind::Path, "''", "empty"),
            (Kind::Path, "3", "in quotes"),
            (Kind::Undecided, "'maybe'", "\"pass\" or \"fail\""),
            (Kind::Name, "\"a\\nb\"", "control character"),
            (Kind::Switch, "0", "true or false without quotes"),
            (Kind::Switch, "'false'", "a text is not allowed here"),
            (Kind::Name, "{a = 1}", "a table is not allowed here"),
        ] {
            let error = parsed_value(kind, written).unwrap_err();
            assert!(error.contains(words), "{written}: {error}");
        }
    }
}
