//! Adds the library to a Python program that runs already, and takes it out again.
//!
//! Python 3.14 executes a script that a debugger names (PEP 768). The target's own interpreter knows how to ask for that, so
//! it is the one that asks. The script loads the library and calls it.

mod answer;
mod python_process;

use std::fs::{self, File};
use std::io::Write;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use leveloff_model::process::Pid;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{PidfdFlags, pidfd_open};
use tempfile::TempDir;

use crate::preload::LIBRARY_NAME;
pub use answer::AttachError;
use python_process::PythonProcess;

/// Bytes between two samples on average: as in a program that is started with `--blame`.
const USUAL_PERIOD: u64 = 512 << 10;
/// Another period, for tests; the library reads the same variable.
const PERIOD: &str = "LEVELOFF_BLAME_PERIOD";

/// A running program to which the library can be added.
#[derive(Debug)]
pub struct AttachPlan {
    process: PythonProcess,
    /// Tells the process from a later one with its number.
    pidfd: OwnedFd,
}

/// A request that the program has not answered yet.
#[derive(Debug)]
pub struct Request {
    scripts: TempDir,
}

impl AttachPlan {
    /// Looks at the process, and changes nothing.
    pub fn of(pid: Pid) -> Result<AttachPlan, AttachError> {
        let gone = || AttachError::Gone(pid);
        let process = rustix::process::Pid::from_raw(pid.0).ok_or_else(gone)?;
        let pidfd = pidfd_open(process, PidfdFlags::empty()).map_err(|_| gone())?;
        let about = fs::metadata(format!("/proc/{}", pid.0)).map_err(|_| gone())?;
        if about.uid() != rustix::process::geteuid().as_raw() {
            return Err(AttachError::OtherUser(pid, about.uid()));
        }
        let process = PythonProcess::find(pid)?;
        Ok(AttachPlan { process, pidfd })
    }

    /// What asks the program.
    pub fn interpreter(&self) -> &Path {
        &self.process.interpreter
    }

    /// Python's version: 3 and 14.
    pub fn version(&self) -> (u32, u32) {
        self.process.version
    }

    /// Whether the process still runs.
    pub fn is_alive(&self) -> bool {
        let mut ended = [PollFd::new(&self.pidfd, PollFlags::IN)];
        poll(&mut ended, Some(&Timespec::default())) == Ok(0)
    }

    /// Asks the program to load the library from `directory`, where its segments are to be.
    pub fn attach(&self, directory: &Path) -> Result<Request, AttachError> {
        let seen_there = Path::new(&format!("/proc/{}/root", self.process.pid.0))
            .join(directory.strip_prefix("/").unwrap_or(directory));
        let identity = |path: &Path| fs::metadata(path).map(|it| (it.dev(), it.ino())).ok();
        if identity(&seen_there).is_none() || identity(&seen_there) != identity(directory) {
            return Err(AttachError::OtherFiles(self.process.pid));
        }
        let period = std::env::var(PERIOD).ok().and_then(|it| it.parse().ok());
        let period = period.unwrap_or(USUAL_PERIOD);
        let place = directory.as_os_str().as_bytes();
        self.ask(
            &format!(
                "function = library.leveloff_blame_attach\n        \
             function.argtypes = [ctypes.c_char_p, ctypes.c_uint64]\n        \
             answer = str(function({}, {period}))",
                python_bytes(place)
            ),
            directory,
        )
    }

    /// Asks it to put everything back.
    pub fn detach(&self, directory: &Path) -> Result<Request, AttachError> {
        self.ask("answer = str(library.leveloff_blame_detach())", directory)
    }

    fn ask(&self, call: &str, directory: &Path) -> Result<Request, AttachError> {
        let prepare = || -> std::io::Result<(TempDir, PathBuf)> {
            let scripts = tempfile::Builder::new()
                .prefix("leveloff-blame-")
                .permissions(fs::Permissions::from_mode(0o700))
                .tempdir_in(directory.parent().unwrap_or(directory))?;
            let path = scripts.path().join(Request::SCRIPT);
            let mut file = File::create_new(&path)?;
            let library = directory.join(LIBRARY_NAME);
            file.write_all(script(&library, scripts.path(), call).as_bytes())?;
            Ok((scripts, path))
        };
        let (scripts, path) = prepare().map_err(AttachError::NoScript)?;
        if !self.is_alive() {
            return Err(AttachError::Gone(self.process.pid));
        }
        let asked = Command::new(&self.process.interpreter)
            .args(["-I", "-S", "-c"])
            .arg("import sys; sys.remote_exec(int(sys.argv[1]), sys.argv[2])")
            .arg(self.process.pid.0.to_string())
            .arg(path)
            .stdin(Stdio::null())
            .output()
            .map_err(|error| AttachError::Refused(error.to_string()))?;
        match asked.status.success() {
            true => Ok(Request { scripts }),
            false => Err(AttachError::refused(&asked.stderr)),
        }
    }
}

impl Request {
    const SCRIPT: &str = "script.py";
    const ANSWER: &str = "answer";

    /// Whether the program has done what it was asked for; `None` as long as it has not.
    pub fn answer(&self) -> Option<Result<(), AttachError>> {
        let text = fs::read_to_string(self.scripts.path().join(Request::ANSWER)).ok()?;
        Some(answer::result_of(&text))
    }

    /// Takes an unanswered request back. The program cannot be informed, and would complain about a missing script, so an empty
    /// one stays. Returns its directory.
    pub fn withdraw(self) -> PathBuf {
        let directory = self.scripts.keep();
        let empty = directory.join("empty.py");
        // A script that is being read stays what it is.
        let _ = fs::write(&empty, "")
            .and_then(|()| fs::rename(&empty, directory.join(Request::SCRIPT)));
        directory
    }
}

/// What the program executes. Names are passed as bytes, so that nothing has to be quoted. Nothing stays in its namespace.
fn script(library: &Path, scripts: &Path, call: &str) -> String {
    let library = python_bytes(library.as_os_str().as_bytes());
    let answer = scripts.join(Request::ANSWER);
    let answer_path = python_bytes(answer.as_os_str().as_bytes());
    format!(
        "def leveloff_blame():
    import os
    try:
        import ctypes
        library = ctypes.PyDLL(os.fsdecode({library}))
        {call}
    except Exception as error:
        answer = f\"{{type(error).__name__}}: {{error}}\"
    path = {answer_path}
    with open(path + b\".new\", \"x\") as file:
        file.write(answer)
    os.rename(path + b\".new\", path)


try:
    leveloff_blame()
except OSError:
    pass
del leveloff_blame
"
    )
}

fn python_bytes(bytes: &[u8]) -> String {
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("bytes.fromhex(\"{digits}\")")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_names_paths_with_any_character() {
        let odd = Path::new("/tmp/a\"b\n'c\\");
        let text = script(odd, odd, "answer = '0'");
        assert!(
            text.contains("fromhex(\"2f746d702f6122620a27635c\")"),
            "{text}"
        );
        assert!(!text.contains("a\"b"), "{text}");
    }

    #[test]
    fn a_process_that_does_not_exist_is_gone() {
        let error = AttachPlan::of(Pid(i32::MAX)).unwrap_err();
        assert!(matches!(error, AttachError::Gone(_)), "{error:?}");
    }

    #[test]
    fn a_program_without_python_is_refused() {
        let mut sleeping = Command::new("sleep").arg("60").spawn().unwrap();
        let pid = Pid(i32::try_from(sleeping.id()).unwrap());
        let error = AttachPlan::of(pid);
        sleeping.kill().unwrap();
        sleeping.wait().unwrap();
        assert!(matches!(error, Err(AttachError::NotPython(_))), "{error:?}");
    }
}
