//! Arguments without what differs between runs of the same job: seeds, numbers of runs and ports, places.
//!
//! Arguments that choose what is trained (a model, a data set, a configuration) stay, without the directories before
//! them: another model is another job.

/// What stands where something was left out.
const LEFT_OUT: &str = "#";

/// Words in the name of an option whose value numbers a run or a process.
const NUMBERING: [&str; 9] = [
    "id", "port", "rank", "pid", "host", "address", "addr", "node", "time",
];

/// Words in the name of an option whose value is a place or a label.
const PLACES: [&str; 17] = [
    "dir", "path", "output", "out", "log", "logs", "logdir", "save", "cache", "root", "folder",
    "file", "name", "tag", "run", "exp", "project",
];

/// Words in the name of an option whose value chooses what is trained.
const INPUTS: [&str; 9] = [
    "config",
    "cfg",
    "model",
    "data",
    "dataset",
    "tokenizer",
    "arch",
    "task",
    "recipe",
];

/// An integer with fewer digits is a setting.
const DIGITS_OF_A_SEED: usize = 5;

/// A word of digits and signs with so many digits is a date or a time.
const DIGITS_OF_A_DATE: usize = 8;

/// The arguments, as the key of a job has them.
pub(super) fn without_seeds_and_paths(arguments: &[&str]) -> Vec<String> {
    let before = std::iter::once("").chain(arguments.iter().copied());
    arguments
        .iter()
        .zip(before)
        .map(|(argument, before)| kept(argument, before))
        .collect()
}

fn kept(argument: &str, before: &str) -> String {
    match argument.split_once('=') {
        Some((name, value)) if is_name(name) => format!("{name}={}", kept_value(value, name)),
        _ if is_option(argument) => argument.to_owned(),
        _ if is_option(before) && !before.contains('=') => kept_value(argument, before),
        _ => kept_value(argument, ""),
    }
}

fn kept_value(value: &str, option: &str) -> String {
    let option = option.to_ascii_lowercase();
    let words: Vec<&str> = option.split(['-', '_', '.']).collect();
    let has = |known: &[&str]| words.iter().any(|word| known.contains(word));
    let is_number = value.parse::<f64>().is_ok();
    let is_left_out = option.contains("seed")
        || words.windows(2).any(|pair| pair == ["random", "state"])
        || has(&NUMBERING)
        || looks_like_seed(value);
    if is_left_out {
        return LEFT_OUT.to_owned();
    }
    match has(&INPUTS) {
        true if looks_like_path(value) => last_name(value),
        true => value.to_owned(),
        false if looks_like_path(value) || (has(&PLACES) && !is_number) => LEFT_OUT.to_owned(),
        false => value.to_owned(),
    }
}

/// `--learning-rate`, `trainer.max_steps`, `+x`
fn is_name(text: &str) -> bool {
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || "-_.+~".contains(c);
    !text.is_empty() && text.chars().all(is_of_name)
}

fn is_option(text: &str) -> bool {
    text.starts_with('-') && text.parse::<f64>().is_err()
}

/// A long number that is neither round nor a power of two, a date, or a hash.
fn looks_like_seed(value: &str) -> bool {
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let is_round = |number: u64| number.is_multiple_of(100) || number.is_power_of_two();
    if digits == value.len() {
        let is_setting = value.parse().is_ok_and(is_round);
        return digits >= DIGITS_OF_A_SEED && !is_setting;
    }
    let is_date = value
        .bytes()
        .all(|byte| byte.is_ascii_digit() || b"-_:.TZ".contains(&byte));
    let hexadecimal = |byte: u8| byte.is_ascii_hexdigit() || byte == b'-';
    let is_hash = value.len() >= 8 && digits > 0 && value.bytes().all(hexadecimal);
    (is_date && digits >= DIGITS_OF_A_DATE) || is_hash
}

/// What begins like a place, lies deeper than `owner/name`, or has the ending of a file.
fn looks_like_path(value: &str) -> bool {
    let begins = ["/", "./", "../", "~"];
    let begins = begins.iter().any(|start| value.starts_with(start));
    let is_deep = value.matches('/').count() >= 2;
    begins || is_deep || matches!(value, "." | "..") || has_file_ending(value)
}

fn has_file_ending(value: &str) -> bool {
    let name = value.rsplit('/').next().unwrap_or(value);
    let Some((stem, ending)) = name.rsplit_once('.') else {
        return false;
    };
    let is_ending = ending.len() <= 11 && ending.starts_with(|c: char| c.is_ascii_alphabetic());
    !stem.is_empty() && is_ending && ending.chars().all(|c| c.is_ascii_alphanumeric())
}

fn last_name(path: &str) -> String {
    let name = path.trim_end_matches('/').rsplit('/').next();
    name.unwrap_or(path).to_owned()
}
