//! The content of a file: every key known, every value checked.

use std::ffi::OsString;
use std::ops::Range;
use std::path::{Path, PathBuf};

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::{ConfigError, FileLine};
use super::keys::{self, Key};
use super::kind::Kind;
use super::tables::{CHECK, Flavour, Table};

/// The settings of one file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Config {
    file: PathBuf,
    /// Those of the `check` table come last, so that they take precedence there.
    settings: Vec<Setting>,
}

/// A key and its value.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Setting {
    pub key: &'static Key,
    /// As a flag would take it.
    pub value: OsString,
}

impl Config {
    /// Parses a file; `None` if it has no settings of leveloff. A broken file that is shared with other tools is an error
    /// only if it mentions leveloff.
    pub(crate) fn parse(
        file: &Path,
        bytes: &[u8],
        flavour: Flavour,
    ) -> Result<Option<Config>, ConfigError> {
        let reader = Reader {
            file,
            bytes,
            flavour,
        };
        match (flavour, str::from_utf8(bytes)) {
            (Flavour::Own, Ok(text)) => reader.own(text),
            (Flavour::PyProject, Ok(text)) => reader.shared(text),
            (Flavour::PyProject, Err(_)) if !mentions_leveloff(bytes) => Ok(None),
            (_, Err(error)) => Err(reader.broken(error.valid_up_to(), "it is not UTF-8")),
        }
    }

    /// The file that it came from.
    pub(crate) fn file(&self) -> &Path {
        &self.file
    }

    /// Every setting, the one that has the last word last.
    pub(crate) fn settings(&self) -> &[Setting] {
        &self.settings
    }
}

type Entry<'a> = (
    &'a Spanned<std::borrow::Cow<'a, str>>,
    &'a Spanned<DeValue<'a>>,
);

struct Reader<'a> {
    file: &'a Path,
    bytes: &'a [u8],
    flavour: Flavour,
}

impl Reader<'_> {
    fn own(&self, text: &str) -> Result<Option<Config>, ConfigError> {
        let table = DeTable::parse(text).map_err(|error| self.not_toml(&error))?;
        self.config(table.get_ref()).map(Some)
    }

    fn shared(&self, text: &str) -> Result<Option<Config>, ConfigError> {
        let (document, errors) = DeTable::parse_recoverable(text);
        let tools = document.get_ref().get("tool").map(Spanned::get_ref);
        let ours = tools.and_then(|tools| tools.get("leveloff"));
        match (ours, errors.first()) {
            (Some(ours), None) => match ours.get_ref() {
                DeValue::Table(table) => self.config(table).map(Some),
                _ => Err(self.no_table("tool.leveloff", ours)),
            },
            (None, None) => Ok(None),
            (Some(_), Some(error)) => Err(self.not_toml(error)),
            (None, Some(error)) if mentions_leveloff(self.bytes) => Err(self.not_toml(error)),
            (None, Some(_)) => Ok(None),
        }
    }

    fn config(&self, table: &DeTable) -> Result<Config, ConfigError> {
        let mut settings = Vec::new();
        for entry in in_order(table) {
            if entry.0.get_ref() == CHECK {
                let DeValue::Table(below) = entry.1.get_ref() else {
                    return Err(self.no_table(CHECK, entry.1));
                };
                for entry in in_order(below) {
                    settings.push(self.setting(Table::Check, entry)?);
                }
            } else {
                settings.push(self.setting(Table::Top, entry)?);
            }
        }
        settings.sort_by_key(|setting: &Setting| setting.key.table);
        let file = self.file.to_owned();
        Ok(Config { file, settings })
    }

    fn setting(&self, table: Table, (name, value): Entry) -> Result<Setting, ConfigError> {
        let key = keys::find(name.get_ref(), table).ok_or_else(|| ConfigError::UnknownKey {
            name: clipped(name.get_ref()),
            place: self.place(name.span().start),
            hint: keys::hint(name.get_ref(), table, self.flavour),
        })?;
        let text = key.kind.parse(value.get_ref()).map_err(|why| {
            let below = if table == Table::Check { "check." } else { "" };
            self.value_error(&format!("{below}{}", key.name), value, why)
        })?;
        let value = match key.kind {
            Kind::Path => self.beside(&text).into_os_string(),
            _ => text.into(),
        };
        Ok(Setting { key, value })
    }

    /// A path in the file is relative to the file.
    fn beside(&self, path: &str) -> PathBuf {
        let directory = self.file.parent().unwrap_or(Path::new(""));
        directory.join(path)
    }

    fn no_table(&self, key: &str, value: &Spanned<DeValue>) -> ConfigError {
        self.value_error(
            key,
            value,
            format!("it is a table; write [{key}] above its keys"),
        )
    }

    fn value_error(&self, key: &str, value: &Spanned<DeValue>, why: String) -> ConfigError {
        ConfigError::Value {
            key: key.to_owned(),
            written: self.written(value.span()),
            place: self.place(value.span().start),
            why,
        }
    }

    fn written(&self, span: Range<usize>) -> String {
        let bytes = self.bytes.get(span).unwrap_or_default();
        clipped(&String::from_utf8_lossy(bytes))
    }

    fn not_toml(&self, error: &toml::de::Error) -> ConfigError {
        let at = error.span().map_or(0, |span| span.start);
        self.broken(at, error.message())
    }

    fn broken(&self, at: usize, why: &str) -> ConfigError {
        let (place, why) = (self.place(at), why.to_owned());
        ConfigError::Broken { place, why }
    }

    fn place(&self, at: usize) -> FileLine {
        let before = self.bytes.iter().take(at);
        FileLine {
            file: self.file.to_owned(),
            line: 1 + before.filter(|byte| **byte == b'\n').count(),
        }
    }
}

/// In the order of the file, so that the first mistake is reported first.
fn in_order<'a>(table: &'a DeTable<'a>) -> Vec<Entry<'a>> {
    let mut entries: Vec<Entry<'a>> = table.iter().collect();
    entries.sort_by_key(|(name, _)| name.span().start);
    entries
}

fn mentions_leveloff(bytes: &[u8]) -> bool {
    memchr::memmem::find(bytes, b"tool.leveloff").is_some()
}

/// More of a value is no help in a message, and a line break spoils it.
const LONGEST_QUOTE: usize = 40;

fn clipped(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    let mut clipped: String = line.chars().take(LONGEST_QUOTE).collect();
    if clipped.len() < text.len() {
        clipped.push('…');
    }
    clipped
}

#[cfg(test)]
mod tests;
