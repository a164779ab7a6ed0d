//! Who was measured: a process's identity, and the part it plays in a training run.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A process number as this machine's /proc shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Pid(pub i32);

/// When a process started, in clock ticks since boot (field 22 of its `stat`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct StartTicks(pub u64);

/// What makes a process this one and no other. A pid alone is reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProcessKey {
    /// Its number.
    pub pid: Pid,
    /// When it started.
    pub start: StartTicks,
}

/// A process's number within one recording: small, never reused, stable under pid reuse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ProcessIndex(pub u32);

/// A trainer's rank within its job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Rank(pub u32);

/// The part a process plays in a training run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Starts the trainers: torchrun, accelerate, a shell, uv.
    Launcher,
    /// Runs the training loop.
    Trainer,
    /// Parent of torch's compile workers.
    CompilePool,
    /// One of torch's compile workers.
    CompileWorker,
    /// Loads batches.
    DataloaderWorker,
    /// A compiler that torch.compile started: g++, cc1plus, ld.
    Compiler,
    /// Resource tracker, shared-memory manager, fork server.
    Helper,
    /// Anything else in the tree.
    Other,
}

/// Everything about a process that is known once and seldom changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessInfo {
    /// Its number within the recording.
    pub index: ProcessIndex,
    /// Its identity.
    pub key: ProcessKey,
    /// Its parent at the moment it was last looked at.
    pub parent: Pid,
    /// Its part in the run. May be learned late: a spawned worker renames itself after seconds.
    pub role: Role,
    /// Which of the job's trainers it is, or belongs to.
    pub rank: Option<Rank>,
    /// The kernel's name for it, control characters and invalid UTF-8 escaped.
    pub comm: String,
    /// Its command line, likewise escaped. Empty for a kernel thread or a zombie.
    pub command: Vec<String>,
    /// Why it has this role.
    pub why: String,
}

impl Role {
    /// Every role, in the order of reading a tree.
    pub const ALL: [Role; 8] = [
        Role::Launcher,
        Role::Trainer,
        Role::CompilePool,
        Role::CompileWorker,
        Role::DataloaderWorker,
        Role::Compiler,
        Role::Helper,
        Role::Other,
    ];

    /// Its name in files and on screens.
    pub fn name(self) -> &'static str {
        match self {
            Role::Launcher => "launcher",
            Role::Trainer => "trainer",
            Role::CompilePool => "compile-pool",
            Role::CompileWorker => "compile-worker",
            Role::DataloaderWorker => "dataloader-worker",
            Role::Compiler => "compiler",
            Role::Helper => "helper",
            Role::Other => "other",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl fmt::Display for Pid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0.to_string())
    }
}

impl fmt::Display for Rank {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0.to_string())
    }
}

/// Bytes from the kernel as text that is safe to print: valid UTF-8 stays, control characters
/// and invalid bytes become escapes, so a hostile process name cannot drive a terminal.
pub fn printable(raw: &[u8]) -> String {
    let mut text = String::with_capacity(raw.len());
    for chunk in raw.utf8_chunks() {
        for c in chunk.valid().chars() {
            if c.is_control() || turns_text_around(c) {
                text.extend(c.escape_default());
            } else {
                text.push(c);
            }
        }
        for byte in chunk.invalid() {
            text.push_str(&format!("\\x{byte:02x}"));
        }
    }
    text
}

/// Signs that no eye sees and that let text read backwards, so that a name can pass for another.
pub fn turns_text_around(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn role_names_are_the_serialised_ones() {
        for role in Role::ALL {
            assert_eq!(serde_json::to_value(role).unwrap(), role.name());
        }
    }

    #[test]
    fn hostile_names_are_escaped_and_plain_ones_kept() {
        assert_eq!(printable(b"pt_data_worker"), "pt_data_worker");
        assert_eq!(printable("größe".as_bytes()), "größe");
        assert_eq!(printable(b"a\x1b[2Jb\n\xff"), "a\\u{1b}[2Jb\\n\\xff");
        assert_eq!(printable("a\u{202e}b".as_bytes()), "a\\u{202e}b");
    }
}
