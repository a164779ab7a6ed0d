//! Removes paths, host names and user names from a text. The rules are fixed:
//!
//! - **Paths** lose their directories: `/home/ann/x/train.py` becomes `…/train.py`. The last part stays
//!   for files of known kinds and for programs in a `bin`, unless a name is in it. In a text, a path begins
//!   with `/`, `~` or `.`, has two slashes, or ends as a file of a known kind; `and/or` and `MiB/step` are
//!   none. In an argument of a command, everything with a slash is a path. Of the kernel's own paths
//!   (`/proc`, `/sys`, `/dev`), three parts stay.
//! - **Web addresses** become `https://…`.
//! - **Names** are removed as whole words in any case; `_`, `-`, `.` and `@` end a word, so `ann_run-3`
//!   loses its `ann` and `annotate` nothing. The names in `ANONYMOUS`, numbers, and names of one or two
//!   letters identify no one and stay, unless they are beside an `@`.

mod paths;

/// What stands where a name stood.
pub const REDACTED: &str = "[redacted]";

/// User and host names that are the same on many machines.
const ANONYMOUS: &str = "admin debian docker ec2-user guest jovyan localhost nobody redacted root \
     runner train ubuntu user worker";

/// The names to remove.
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
    /// The longest first, since one may begin with another.
    names: Vec<String>,
    /// Directories that may have blanks in their names.
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

    /// Adds the owners of the home directories in a text: a recording from another machine has names that
    /// this machine does not know.
    pub fn learn(&mut self, text: &str) {
        for name in paths::owners_in(text) {
            self.add(name);
        }
    }

    /// A text without paths and names.
    pub fn text(&self, text: &str) -> String {
        self.without_names(&paths::without_paths(text, self))
    }

    /// An argument of a command, or its value after `=`. One with a slash is a path up to its end, blanks
    /// included.
    pub fn argument(&self, argument: &str) -> String {
        let (option, value) = match argument.split_once('=') {
            Some((option, value)) if !option.contains('/') => (Some(option), value),
            _ => (None, argument),
        };
        if !value.contains('/') || value.contains("://") || value.contains([':', ',', '\'', '"']) {
            return self.text(argument);
        }
        let value = paths::shortened(value, self);
        let whole = option.map_or(value.clone(), |option| format!("{option}={value}"));
        self.without_names(&whole)
    }

    /// Whether a part of a path contains a name, even inside a longer word.
    fn is_named_in(&self, part: &str) -> bool {
        let part = part.to_lowercase();
        let inside =
            |name: &String| name.chars().count() > 3 && part.contains(&name.to_lowercase());
        self.names.iter().any(inside) || self.without_names(&part) != part
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
        if !name.is_empty() && !self.names.iter().any(|known| known == name) {
            self.names.push(name.to_owned());
            self.names.sort_by_key(|name| std::cmp::Reverse(name.len()));
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
        let is_here = |name: &&String| {
            let part = rest.get(..name.len());
            part.is_some_and(|part| part.eq_ignore_ascii_case(name))
                && !rest[name.len()..].starts_with(char::is_alphanumeric)
                && (!is_anonymous(name)
                    || before.ends_with('@')
                    || rest[name.len()..].starts_with('@'))
        };
        self.names.iter().find(is_here).map(String::len)
    }
}

fn is_anonymous(name: &str) -> bool {
    let mut list = ANONYMOUS.split_whitespace();
    name.chars().count() < 3
        || name.chars().all(|c| c.is_ascii_digit())
        || list.any(|word| name.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests;
