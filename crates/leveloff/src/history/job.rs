//! Which runs are runs of the same job: the same program, script and arguments, whatever the seed, the place or the host.

mod argument;

use std::path::{Component, Path};

use leveloff_model::process::printable;
use leveloff_report::secrets::masked;
use sha2::{Digest, Sha256};

use argument::without_seeds_and_paths;

/// A job. Its arguments are known only as a hash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Job {
    /// 32 hexadecimal digits.
    pub key: String,
    /// Program and script, for lists.
    pub name: String,
}

/// Bytes of the hash that are kept.
const KEY_BYTES: usize = 16;

/// Endings of scripts, with what runs them.
const SCRIPTS: [(&str, &str); 6] = [
    ("py", "python"),
    ("sh", "sh"),
    ("jl", "julia"),
    ("R", "Rscript"),
    ("lua", "lua"),
    ("pl", "perl"),
];

/// Shells that run the same scripts.
const SHELLS: [&str; 4] = ["sh", "bash", "dash", "zsh"];

/// Programs that start a script named among their arguments.
const LAUNCHERS: [&str; 14] = [
    "torchrun",
    "accelerate",
    "deepspeed",
    "uv",
    "conda",
    "poetry",
    "env",
    "nice",
    "time",
    "mpirun",
    "mpiexec",
    "srun",
    "ipython",
    "setsid",
];

impl Job {
    /// The job of a command line that is run in `directory`; `None` of an empty one.
    pub(crate) fn of(command: &[String], directory: Option<&Path>) -> Option<Job> {
        let command = masked(command);
        let (first, arguments) = command.split_first()?;
        let parts = Parts::of(first, arguments);
        let script = parts.script.map(|script| located(script, directory));
        let mut hash = Sha256::new();
        let words = [parts.program.clone(), script.unwrap_or_default()];
        let arguments = without_seeds_and_paths(&parts.arguments);
        for word in words.iter().chain(&arguments) {
            hash.update((word.len() as u64).to_le_bytes());
            hash.update(word);
        }
        let digest = hash.finalize();
        Some(Job {
            key: digest.iter().take(KEY_BYTES).map(hex).collect(),
            name: parts.name(),
        })
    }
}

fn hex(byte: &u8) -> String {
    format!("{byte:02x}")
}

/// A command line in its parts.
struct Parts<'a> {
    program: String,
    /// A file, or the name of a Python module.
    script: Option<&'a str>,
    arguments: Vec<&'a str>,
}

impl<'a> Parts<'a> {
    fn of(first: &'a str, arguments: &'a [String]) -> Parts<'a> {
        let mut rest: Vec<&str> = arguments.iter().map(String::as_str).collect();
        if let Some(program) = interpreter_of(first) {
            return Parts {
                program: program.to_owned(),
                script: Some(first),
                arguments: rest,
            };
        }
        let program = program_name(first);
        let at = script_place(&program, &rest);
        let script = at.map(|at| rest.remove(at));
        Parts {
            program,
            script,
            arguments: rest,
        }
    }

    fn name(&self) -> String {
        let name = match self.script {
            Some(script) => format!("{} {}", self.program, file_name(script)),
            None => self.program.clone(),
        };
        printable(name.as_bytes()).chars().take(80).collect()
    }
}

/// Where the script stands among the arguments, if the program starts scripts.
fn script_place(program: &str, arguments: &[&str]) -> Option<usize> {
    let is_python = program == "python";
    let starts_scripts = SCRIPTS.iter().any(|(_, runs)| *runs == program);
    if !starts_scripts && !LAUNCHERS.contains(&program) {
        return None;
    }
    let module = || {
        let flag = arguments.iter().position(|argument| *argument == "-m")?;
        (is_python && flag + 1 < arguments.len()).then_some(flag + 1)
    };
    let file = arguments
        .iter()
        .position(|argument| interpreter_of(argument).is_some());
    // Code that is passed as an argument is not a script.
    let is_code = arguments.iter().position(|argument| *argument == "-c");
    let file = file.filter(|file| is_code.is_none_or(|code| *file < code));
    module().or(file)
}

/// What runs a script, by the ending of its name.
fn interpreter_of(path: &str) -> Option<&'static str> {
    let ending = Path::new(path).extension()?;
    let known = SCRIPTS.iter().find(|(known, _)| ending == *known)?;
    Some(known.1)
}

/// `/usr/bin/python3.12` is `python`; every shell is `sh`.
fn program_name(path: &str) -> String {
    let name = file_name(path);
    let plain = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    match plain {
        "python" | "pypy" => "python".to_owned(),
        shell if SHELLS.contains(&shell) => "sh".to_owned(),
        _ => name.to_owned(),
    }
}

fn file_name(path: &str) -> &str {
    let name = Path::new(path).file_name().and_then(|name| name.to_str());
    name.unwrap_or(path)
}

/// A script with the name of its directory, by which the `train.py` of two projects differ on every host.
fn located(script: &str, directory: Option<&Path>) -> String {
    let path = directory.map_or_else(|| script.into(), |directory| directory.join(script));
    let mut names = Vec::new();
    for component in path.components() {
        match component {
            Component::Normal(name) => names.push(name.to_string_lossy()),
            Component::ParentDir => drop(names.pop()),
            Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
    }
    let from = names.len().saturating_sub(2);
    names[from..].join("/")
}

#[cfg(test)]
mod tests;
