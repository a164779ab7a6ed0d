//! Texts without what identifies people, machines and projects: paths, host and user names.
//!
//! What is removed, and what stays:
//! - **Paths** lose their directories: `/home/ann/x/train.py` becomes `…/train.py`. The last part stays
//!   where it helps, that is for files of known kinds, programs in a `bin`, and the second half of
//!   `maker/model`; unless a name is in it. Everything with a slash in it is a path, except what
//!   is known not to be: rates (`MiB/step`), counts (`28/32`), pairs of plain words (`and/or`), and the
//!   kernel's own places (`/proc`, `/sys`, `/dev/shm`), which say what is measured.
//! - **Addresses** of the web become `https://…`: their hosts and paths name people and companies.
//! - **Names** are removed wherever they stand as a whole word, in any case; `_`, `-`, `.` and `@` end a
//!   word, so `ann_run-3` loses its `ann` and `annotate` nothing.
//! - Names that are **ordinary words** (`root`, `train`, `max`, see [`words`]), numbers, and names of one or
//!   two letters would tear texts apart and identify nobody. They are removed only where they are names
//!   beyond doubt: beside an `@`, and with the path that they stand in.

mod paths;
pub mod words;

use words::is_ordinary;

/// What stands where a name stood.
pub const REDACTED: &str = "[redacted]";

/// Knows the names that must not be told.
///
/// ```
/// use leveloff_report::redact::Redaction;
///
/// let redaction = Redaction::new(["ann", "node7"]);
/// assert_eq!(
///     redaction.text("ann@node7 runs /home/ann/x/train.py at 2 MiB/step"),
///     "[redacted]@[redacted] runs …/train.py at 2 MiB/step",
/// );
/// ```
#[derive(Debug, Clone, Default)]
pub struct Redaction {
    /// Removed wherever they are whole words; the longest first, since one may begin with another.
    names: Vec<String>,
    /// Removed only where they are names beyond doubt.
    ordinary: Vec<String>,
    /// Removed with what follows, blanks included.
    directories: Vec<String>,
}

impl Redaction {
    /// From host names, user names and home directories; what begins with a slash is a directory. Of a
    /// full host name its first part and its domain are names as well, of a home directory its last part.
    pub fn new<T: AsRef<str>>(names: impl IntoIterator<Item = T>) -> Redaction {
        let mut redaction = Redaction::default();
        for name in names {
            let name = name.as_ref().trim();
            if name.starts_with('/') {
                redaction.add_directory(name.trim_end_matches('/'));
            } else {
                redaction.add_host(name);
            }
        }
        redaction
    }

    /// Learns whose home directories a text speaks of: a recording from elsewhere names people whom
    /// nobody told us of, in its paths and outside of them.
    pub fn learn(&mut self, text: &str) {
        for name in paths::owners_in(text) {
            self.add(name);
        }
    }

    /// A text without paths and names.
    pub fn text(&self, text: &str) -> String {
        self.without_names(&paths::without_paths(text, self))
    }

    /// An argument of a command. One that begins as a path is a path up to its end: only here it is
    /// certain that blanks belong to it.
    pub fn argument(&self, argument: &str) -> String {
        let (option, value) = match argument.split_once('=') {
            Some((option, value)) if !option.contains('/') => (Some(option), value),
            _ => (None, argument),
        };
        let is_path = ["/", "~/", "./", "../"]
            .iter()
            .any(|start| value.starts_with(start));
        if !is_path || !value.contains(char::is_whitespace) {
            return self.text(argument);
        }
        let value = paths::shortened(value, self);
        let whole = option.map_or(value.clone(), |option| format!("{option}={value}"));
        self.without_names(&whole)
    }

    /// Whether a part of a path tells a name, even inside a longer word.
    fn is_told_by(&self, part: &str) -> bool {
        let part = part.to_lowercase();
        let inside =
            |name: &String| name.chars().count() > 3 && part.contains(&name.to_lowercase());
        self.names.iter().any(inside)
            || self.without_names(&part) != part
            || self
                .ordinary
                .iter()
                .any(|name| name.eq_ignore_ascii_case(&part))
    }

    fn directories(&self) -> impl Iterator<Item = &str> {
        self.directories.iter().map(String::as_str)
    }

    fn add_directory(&mut self, directory: &str) {
        if directory.len() > 1 {
            self.directories.push(directory.to_owned());
            self.add(directory.rsplit('/').next().unwrap_or_default());
        }
    }

    fn add_host(&mut self, name: &str) {
        self.add(name);
        let is_address = name.chars().all(|c| c.is_ascii_digit() || c == '.');
        if let Some((first, domain)) = name.split_once('.')
            && !is_address
        {
            self.add(first);
            if domain.contains('.') {
                self.add(domain);
            }
        }
    }

    fn add(&mut self, name: &str) {
        let list = if is_ordinary(name) {
            &mut self.ordinary
        } else {
            &mut self.names
        };
        if !name.is_empty() && !list.iter().any(|known| known == name) {
            list.push(name.to_owned());
            list.sort_by_key(|name| std::cmp::Reverse(name.len()));
        }
    }

    fn without_names(&self, text: &str) -> String {
        let mut shown = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            let before = &text[..text.len() - rest.len()];
            match self.name_at(before, rest) {
                Some(length) => {
                    shown.push_str(REDACTED);
                    rest = &rest[length..];
                }
                None => {
                    shown.push(c);
                    rest = &rest[c.len_utf8()..];
                }
            }
        }
        shown
    }

    /// The length of the name that `rest` begins with, if it does.
    fn name_at(&self, before: &str, rest: &str) -> Option<usize> {
        if before.ends_with(char::is_alphanumeric) {
            return None;
        }
        // What we put there ourselves is not looked at again.
        if before.ends_with('[') && rest.starts_with("redacted]") {
            return None;
        }
        let stands = |name: &&String| {
            let part = rest.get(..name.len());
            part.is_some_and(|part| part.eq_ignore_ascii_case(name))
                && !rest[name.len()..].starts_with(char::is_alphanumeric)
        };
        let beyond_doubt =
            |name: &&String| before.ends_with('@') || rest[name.len()..].starts_with('@');
        let name = self.names.iter().find(stands).or_else(|| {
            let mut ordinary = self.ordinary.iter().filter(stands);
            ordinary.find(beyond_doubt)
        })?;
        Some(name.len())
    }
}

#[cfg(test)]
mod tests;
