//! A process's identity, its role in a training run and its state.

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

/// The identity of a process. A pid alone is reused.
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

/// The role of a process in a training run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
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
    /// A worker of Ray that runs an actor or tasks, and does not train.
    Actor,
    /// Generates text or serves a model beside the training: a process of vLLM or SGLang.
    Engine,
    /// Resource tracker, shared-memory manager, fork server, servers of Ray.
    Helper,
    /// Anything else in the tree.
    Other,
}

/// What a process does at a moment, as the kernel's state letter says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum ProcessState {
    /// On a CPU or ready for one (`R`).
    Running,
    /// Waits, and a signal can wake it (`S`). In a recording: any living state.
    #[default]
    Sleeping,
    /// Waits for a device, and no signal can wake it (`D`).
    DiskSleep,
    /// Stopped by a signal (`T`).
    Stopped,
    /// Stopped by a debugger (`t`).
    Traced,
    /// Exited, not yet reaped by its parent (`Z`): it holds no memory.
    Zombie,
    /// Exited and reaped (`X`).
    Dead,
    /// Any other letter, such as `I` of an idle kernel thread.
    Other(char),
}

/// Everything about a process that is known once and seldom changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessInfo {
    /// Its number within the recording.
    pub index: ProcessIndex,
    /// Its identity.
    pub key: ProcessKey,
    /// Its parent at the last sample.
    pub parent: Pid,
    /// Its role. May become known late: a spawned worker renames itself after seconds.
    pub role: Role,
    /// The name of its role in a recording of a later leveloff, where this version has no such role.
    pub unknown_role: Option<String>,
    /// The rank of the trainer that it is, or belongs to.
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
    pub const ALL: [Role; Role::Other as usize + 1] = [
        Role::Launcher,
        Role::Trainer,
        Role::CompilePool,
        Role::CompileWorker,
        Role::DataloaderWorker,
        Role::Compiler,
        Role::Actor,
        Role::Engine,
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
            Role::Actor => "actor",
            Role::Engine => "engine",
            Role::Helper => "helper",
            Role::Other => "other",
        }
    }

    /// Whether its processes live as long as the run has work for them. Compilers and helpers come and go
    /// at any time.
    pub fn is_lasting(self) -> bool {
        match self {
            Role::Trainer
            | Role::CompilePool
            | Role::CompileWorker
            | Role::DataloaderWorker
            | Role::Engine => true,
            // Ray starts and stops workers as tasks come and go.
            Role::Actor => false,
            Role::Launcher | Role::Compiler | Role::Helper | Role::Other => false,
        }
    }
}

impl ProcessInfo {
    /// The name of its role, also of a role that this version does not know.
    pub fn role_name(&self) -> &str {
        self.unknown_role.as_deref().unwrap_or(self.role.name())
    }
}

impl ProcessState {
    /// Whether it has exited: no memory is left to read.
    pub fn is_gone(self) -> bool {
        matches!(self, ProcessState::Zombie | ProcessState::Dead)
    }

    /// The kernel's letter, as recordings and CSV files have it.
    pub fn letter(self) -> char {
        match self {
            ProcessState::Running => 'R',
            ProcessState::Sleeping => 'S',
            ProcessState::DiskSleep => 'D',
            ProcessState::Stopped => 'T',
            ProcessState::Traced => 't',
            ProcessState::Zombie => 'Z',
            ProcessState::Dead => 'X',
            ProcessState::Other(letter) => letter,
        }
    }
}

impl From<ProcessState> for char {
    fn from(state: ProcessState) -> char {
        state.letter()
    }
}

impl From<char> for ProcessState {
    fn from(letter: char) -> ProcessState {
        match letter {
            'R' => ProcessState::Running,
            'S' => ProcessState::Sleeping,
            'D' => ProcessState::DiskSleep,
            'T' => ProcessState::Stopped,
            't' => ProcessState::Traced,
            'Z' => ProcessState::Zombie,
            // Linux 2.6.33 to 3.13 wrote a lower-case letter for a part of the way out.
            'X' | 'x' => ProcessState::Dead,
            other => ProcessState::Other(other),
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

/// Invisible characters that reverse the direction of text, so that a name can look like another.
pub fn turns_text_around(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_keeps_its_letter() {
        for letter in "RSDTtZXIPW".chars() {
            assert_eq!(ProcessState::from(letter).letter(), letter);
        }
        assert!(ProcessState::from('Z').is_gone() && ProcessState::from('x').is_gone());
        assert!(!ProcessState::from('T').is_gone());
    }

    #[test]
    fn hostile_names_are_escaped_and_plain_ones_kept() {
        assert_eq!(printable(b"pt_data_worker"), "pt_data_worker");
        assert_eq!(printable("größe".as_bytes()), "größe");
        assert_eq!(printable(b"a\x1b[2Jb\n\xff"), "a\\u{1b}[2Jb\\n\\xff");
        assert_eq!(printable("a\u{202e}b".as_bytes()), "a\\u{202e}b");
    }
}
