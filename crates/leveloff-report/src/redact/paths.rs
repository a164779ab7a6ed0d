//! Finds the paths in a text, and shortens them.

use super::Redaction;

/// What stands where directories stood.
const CUT: &str = "…";

/// Characters that end a path in a text.
const ENDS: &str = "\"'`()[]{}<>,;|=:&*";

/// Directories whose entries are named after their owners.
const OWNED: [&str; 6] = ["home", "homes", "scratch", "user", "users", "Users"];

/// Kinds of files whose names help a reader and seldom say whose they are.
const FILES: &str = "arrow bash bin c cfg ckpt cpp csv dat gguf gz h5 html ini ipynb js json jsonl log md npy \
     npz onnx parquet pkl png pt pth py pyc rs safetensors sbatch sh slurm so svg tar toml txt whl xml yaml yml";

/// Parts that stay of a path in the kernel's own file systems.
const KERNEL_PARTS: usize = 3;

/// The text without its paths and web addresses.
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
        shown.push_str(&word_without_path(word, redaction));
        if let Some(after) = rest.strip_prefix("://") {
            shown.push_str("://");
            shown.push_str(CUT);
            rest = &after[after.find(is_end_of_address).unwrap_or(after.len())..];
        }
    }
    shown
}

/// A path without its directories, with its last part where that helps.
pub(super) fn shortened(path: &str, redaction: &Redaction) -> String {
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    if let Some(kernel) = kernel_path(path, &parts) {
        return kernel;
    }
    let [.., parent, last] = &parts[..] else {
        return CUT.to_owned();
    };
    let helps = is_file(last) || matches!(*parent, "bin" | "sbin");
    let is_directory = path.ends_with('/') || OWNED.contains(parent);
    if !helps || is_directory || redaction.is_named_in(last) {
        return CUT.to_owned();
    }
    format!("{CUT}/{last}")
}

/// The owners of the home directories in a text.
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
    let known = redaction.directories.iter();
    let known = known.filter(|directory| text.starts_with(directory.as_str()));
    let known = known.map(String::len).max().unwrap_or(0);
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
    match is_path(path) {
        true => shortened(path, redaction) + &word[path.len()..],
        false => word.to_owned(),
    }
}

fn is_path(word: &str) -> bool {
    let is_ratio = word.chars().all(|c| c == '/' || c.is_ascii_digit());
    let slashes = word.matches('/').count();
    let begins = word.starts_with(['/', '~', '.']);
    // What was shortened before stays as it is.
    slashes > 0 && !is_ratio && !word.starts_with(CUT) && (slashes > 1 || begins || is_file(word))
}

/// The first parts of a path in the kernel's file systems, which say what is measured.
fn kernel_path(path: &str, parts: &[&str]) -> Option<String> {
    let is_kernel = matches!(parts.first(), Some(&("proc" | "sys" | "dev")));
    if !path.starts_with('/') || !is_kernel || parts.contains(&"..") {
        return None;
    }
    let kept = parts[..parts.len().min(KERNEL_PARTS)].join("/");
    Some(match parts.len() > KERNEL_PARTS {
        true => format!("/{kept}/{CUT}"),
        false => format!("/{kept}"),
    })
}

fn is_file(name: &str) -> bool {
    let is_kind = |kind: &str| {
        let mut kinds = FILES.split_whitespace();
        kinds.any(|known| known.eq_ignore_ascii_case(kind))
    };
    name.contains(".so.")
        || name
            .rsplit_once('.')
            .is_some_and(|(stem, kind)| !stem.is_empty() && is_kind(kind))
}
