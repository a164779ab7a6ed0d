//! A place for one test: a directory of its own, in which leveloff is started.

use std::ffi::OsStr;
use std::io::Read;
use std::os::fd::AsFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::process::Signal;

pub const LEVELOFF: &str = env!("CARGO_BIN_EXE_leveloff");

/// The user that owns nothing.
pub const NOBODY: u32 = 65534;

/// Only a test that fails anyway waits this long.
const PATIENCE: Duration = Duration::from_secs(60);

/// A directory that is removed in the end.
pub struct Stage {
    directory: tempfile::TempDir,
}

/// A command that has ended.
#[derive(Debug)]
pub struct Ended {
    pub status: ExitStatus,
    pub stdout: String,
    pub stderr: String,
}

impl Stage {
    pub fn new() -> Stage {
        let directory = tempfile::tempdir().unwrap();
        Stage { directory }
    }

    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, content).unwrap();
        path
    }

    /// leveloff with these arguments, in this directory.
    pub fn leveloff<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Command {
        self.start_of(LEVELOFF, arguments)
    }

    fn start_of<S: AsRef<OsStr>>(
        &self,
        program: impl AsRef<OsStr>,
        arguments: impl IntoIterator<Item = S>,
    ) -> Command {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(self.directory());
        command.stdin(Stdio::null());
        // Runs of other tests are no history of this one.
        command.env("LEVELOFF_HISTORY", "0");
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// leveloff, run to its end.
    pub fn ask(&self, arguments: &[&str]) -> Ended {
        ended(&mut self.leveloff(arguments))
    }

    /// leveloff as the user that owns nothing; only root can do that.
    pub fn leveloff_as_nobody(&self, arguments: &[&str]) -> Command {
        let mut command = self.start_of(self.public_leveloff(), arguments);
        command.gid(NOBODY).uid(NOBODY);
        command
    }

    /// A copy of leveloff that every user can reach: the build may lie in a private directory.
    pub fn public_leveloff(&self) -> PathBuf {
        let copy = self.path("leveloff");
        if !copy.exists() {
            // Written by another process: what another test forks meanwhile would inherit our
            // descriptor, and a program that is open for writing cannot be executed.
            let copied = Command::new("cp").arg(LEVELOFF).arg(&copy).status();
            assert!(copied.unwrap().success());
            self.set_mode(0o755);
        }
        copy
    }

    pub fn set_mode(&self, mode: u32) {
        let permissions = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(self.directory(), permissions).unwrap();
    }

    /// The recordings that lie here.
    pub fn recordings(&self) -> Vec<PathBuf> {
        let mut found: Vec<PathBuf> = std::fs::read_dir(self.directory())
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|ending| ending == "jsonl"))
            .collect();
        found.sort();
        found
    }
}

impl Ended {
    pub fn of(child: Child) -> Ended {
        let output = child.wait_with_output().unwrap();
        Ended {
            status: output.status,
            stdout: String::from_utf8_lossy(&output.stdout).into(),
            stderr: String::from_utf8_lossy(&output.stderr).into(),
        }
    }

    /// It ended well.
    #[track_caller]
    pub fn well(self) -> Ended {
        assert_eq!(self.status.code(), Some(0), "{self:?}");
        self.never_panicked()
    }

    /// It was refused as a mistake of the user's, in words that hold all of these.
    #[track_caller]
    pub fn refused(self, words: &[&str]) -> Ended {
        assert_eq!(self.status.code(), Some(2), "{self:?}");
        for word in words {
            assert!(self.stderr.contains(word), "{word:?} is not in {self:?}");
        }
        self.never_panicked()
    }

    #[track_caller]
    pub fn never_panicked(self) -> Ended {
        assert!(!self.stderr.contains("panicked"), "{self:?}");
        self
    }

    /// What leveloff itself said on stderr, without its name.
    pub fn said(&self) -> Vec<&str> {
        let lines = self.stderr.lines();
        lines
            .filter_map(|line| line.strip_prefix("leveloff: "))
            .collect()
    }
}

/// Whether a line of the summary is the verdict; which one depends on more than a test can know.
pub fn is_verdict(line: &str) -> bool {
    let verdicts = ["LEVEL", "LEAK", "WARMING UP", "UNDECIDED"];
    verdicts.iter().any(|verdict| line.starts_with(verdict))
}

pub fn ended(command: &mut Command) -> Ended {
    Ended::of(command.spawn().unwrap())
}

pub fn send(child: &Child, signal: Signal) {
    rustix::process::kill_process(rustix::process::Pid::from_child(child), signal).unwrap();
}

/// Waits for something that has no handshake.
#[track_caller]
pub fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let give_up = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < give_up, "{what} did not happen");
        std::thread::sleep(Duration::from_millis(3));
    }
}

/// Reads up to the end of the first line that holds `text`, and gives up when nothing comes.
#[track_caller]
pub fn read_until(from: &mut (impl Read + AsFd), text: &str) -> String {
    let patience = Timespec::try_from(PATIENCE).unwrap();
    let mut seen = Vec::new();
    let mut byte = [0];
    while rustix::event::poll(&mut [PollFd::new(from, PollFlags::IN)], Some(&patience)) != Ok(0)
        && from.read(&mut byte).unwrap() == 1
    {
        seen.push(byte[0]);
        let so_far = String::from_utf8_lossy(&seen);
        if byte == *b"\n" && so_far.lines().next_back().unwrap().contains(text) {
            return so_far.into();
        }
    }
    panic!(
        "{text:?} did not appear in {:?}",
        String::from_utf8_lossy(&seen)
    );
}

/// The interpreter itself. `python3` may be a script that starts a dozen processes to find it.
pub fn python() -> &'static str {
    static PYTHON: OnceLock<String> = OnceLock::new();
    PYTHON.get_or_init(|| {
        let ask = ["-c", "import sys; print(sys.executable)"];
        let answer = Command::new("python3").args(ask).output().unwrap();
        String::from_utf8(answer.stdout).unwrap().trim().to_owned()
    })
}

pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

pub use leveloff_testkit::cannot_run_here;
