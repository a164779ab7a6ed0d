//! Finds the paths in a text, and shortens them.

use super::Redaction;
use super::words::{is_amount, is_file, is_paired};

/// What stands where directories stood.
const CUT: &str = "…";

/// Characters that end a path in a text.
const ENDS: &str = "\"'`()[]{}<>,;|=:&*";

/// Directories whose entries are called after people.
const OWNED: [&str; 6] = ["home", "homes", "scratch", "user", "users", "Users"];

/// The text without its paths and addresses.
pub(super) fn without_paths(text: &str, redaction: &Redaction) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if is_end(c) {
            shown.push(c);
            rest = &rest[c.len_utf8()..];
            continue;
        }
        let word = word_at(rest, redaction);
        rest = &rest[word.len()..];
        if let Some(after) = rest.strip_prefix("://") {
            let address = &after[..after.find(is_end_of_address).unwrap_or(after.len())];
            shown.push_str(&word_without_path(word, redaction));
            shown.push_str("://");
            shown.push_str(CUT);
            rest = &after[address.len()..];
        } else {
            shown.push_str(&word_without_path(word, redaction));
        }
    }
    shown
}

/// A path without its directories, with its last part where that helps.
pub(super) fn shortened(path: &str, redaction: &Redaction) -> String {
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    let [.., parent, last] = &parts[..] else {
        return CUT.to_owned();
    };
    let is_directory = path.ends_with('/');
    let is_named = parts.len() == 2 && path.starts_with(|c: char| c.is_alphanumeric() || c == '…');
    let helps = is_file(last) || matches!(*parent, "bin" | "sbin") || is_named;
    let is_owner = OWNED.contains(parent) || matches!(*last, "." | "..") || last.starts_with('~');
    if !helps || is_directory || is_owner || redaction.is_told_by(last) {
        return CUT.to_owned();
    }
    format!("{CUT}/{last}")
}

/// The owners of the home directories that a text speaks of.
pub(super) fn owners_in(text: &str) -> Vec<&str> {
    text.split(is_end)
        .filter(|word| word.starts_with('/'))
        .filter_map(|path| {
            let mut parts = path.split('/').filter(|part| !part.is_empty());
            parts.find(|part| matches!(*part, "home" | "homes" | "Users"))?;
            parts.next()
        })
        .collect()
}

/// The word that a text begins with; a known directory is part of it, blanks included.
fn word_at<'a>(text: &'a str, redaction: &Redaction) -> &'a str {
    let known = redaction
        .directories()
        .filter(|directory| text.starts_with(directory))
        .map(str::len)
        .max()
        .unwrap_or(0);
    let rest = &text[known..];
    &text[..known + rest.find(is_end).unwrap_or(rest.len())]
}

fn is_end(c: char) -> bool {
    c.is_whitespace() || ENDS.contains(c)
}

fn is_end_of_address(c: char) -> bool {
    c.is_whitespace() || "\"'`<>()".contains(c)
}

fn word_without_path(word: &str, redaction: &Redaction) -> String {
    // A full stop after a path is not its own.
    let path = word.trim_end_matches(['.', '!', '?']);
    let after = &word[path.len()..];
    if is_harmless(path) {
        word.to_owned()
    } else if let Some(place) = kernel_place(path) {
        place + after
    } else {
        shortened(path, redaction) + after
    }
}

/// Words with a slash that are no paths: `3/4`, `MiB/step`, `/s`, `and/or`, a lone slash.
fn is_harmless(word: &str) -> bool {
    let mut parts = word.split('/');
    let is_pair = parts.clone().count() == 2;
    let is_ratio = !word.starts_with('.') && (is_pair || !word.starts_with('/'));
    !word.contains('/')
        || word.bytes().all(|b| b == b'/')
        || (is_ratio && parts.clone().all(is_amount))
        || (is_pair && parts.all(is_paired))
}

/// A place in the kernel's own file systems, without what people put below it.
fn kernel_place(path: &str) -> Option<String> {
    let parts: Vec<&str> = path.split('/').skip(1).collect();
    let kept = match &parts[..] {
        // Through these a process's files are seen.
        ["proc", _, "root" | "cwd" | "map_files", ..] if path.starts_with('/') => 3,
        ["proc", "sys" | "pressure", ..] => parts.len(),
        ["proc", _, "task", ..] => parts.len().min(5),
        ["proc", ..] => parts.len().min(3),
        ["sys", "fs", "cgroup", ..] => 3,
        ["sys", ..] => parts.len(),
        ["dev", "shm" | "pts" | "dri", ..] => parts.len().min(3),
        ["dev", ..] => parts.len().min(2),
        _ => return None,
    };
    if !path.starts_with('/') || parts.contains(&"..") {
        return None;
    }
    let place = parts[..kept].join("/");
    Some(if kept < parts.len() {
        format!("/{place}/{CUT}")
    } else {
        format!("/{place}")
    })
}
