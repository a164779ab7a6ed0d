//! Checks whether a command can be started. Needed where another program starts it, whose error would come too late and in
//! other words.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};
use rustix::io::Errno;

/// The most that the kernel reads of a script to find its interpreter.
const FIRST_LINE: u64 = 256;

/// The error that executing `name` would give: not found, not executable, or a script whose interpreter is not found. `path` is
/// the variable PATH.
pub fn check(name: &OsStr, path: Option<&OsStr>) -> io::Result<()> {
    let mut error = Errno::NOENT;
    for candidate in candidates(name, path) {
        match executable(&candidate) {
            Ok(()) => return has_interpreter(&candidate),
            // Reported only if no other candidate can be executed.
            Err(Errno::ACCESS) => error = Errno::ACCESS,
            Err(_) => {}
        }
    }
    Err(error.into())
}

/// The C library's search path without a PATH.
const DEFAULT_PATH: &str = "/bin:/usr/bin";

fn candidates(name: &OsStr, path: Option<&OsStr>) -> Vec<PathBuf> {
    if name.as_bytes().contains(&b'/') {
        return vec![PathBuf::from(name)];
    }
    std::env::split_paths(path.unwrap_or(OsStr::new(DEFAULT_PATH)))
        .map(|directory| directory.join(name))
        .collect()
}

fn executable(file: &Path) -> Result<(), Errno> {
    access(file, Access::EXEC_OK)?;
    // For a directory, the permission to execute means to enter.
    if file.is_file() {
        Ok(())
    } else {
        Err(Errno::ACCESS)
    }
}

fn has_interpreter(file: &Path) -> io::Result<()> {
    let mut start = Vec::new();
    // A program that cannot be read may still be executed.
    let readable = File::open(file).and_then(|f| f.take(FIRST_LINE).read_to_end(&mut start));
    match readable.ok().and_then(|_| interpreter(&start)) {
        Some(interpreter) if !interpreter.exists() => Err(Errno::NOENT.into()),
        _ => Ok(()),
    }
}

fn interpreter(start: &[u8]) -> Option<PathBuf> {
    let line = start.strip_prefix(b"#!")?.split(|&b| b == b'\n').next()?;
    let word = line.trim_ascii().split(u8::is_ascii_whitespace).next()?;
    (!word.is_empty()).then(|| PathBuf::from(OsStr::from_bytes(word)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(directory: &Path, name: &str, text: &str, mode: &str) -> PathBuf {
        let file = directory.join(name);
        // By another process: a file that a fork of ours still has open for writing cannot be executed.
        let write = "printf %s \"$1\" > \"$2\" && chmod \"$3\" \"$2\"";
        let mut written = std::process::Command::new("sh");
        written.args(["-c", write, "sh", text]).arg(&file);
        assert!(written.arg(mode).status().unwrap().success());
        file
    }

    /// Compares our error with that of executing it.
    fn agree(name: &OsStr) -> Option<io::ErrorKind> {
        let ours = check(name, std::env::var_os("PATH").as_deref());
        let theirs = std::process::Command::new(name).arg("--help").output();
        let ours = ours.err().map(|e| e.kind());
        assert_eq!(ours, theirs.err().map(|e| e.kind()), "{name:?}");
        ours
    }

    #[test]
    fn the_error_is_that_of_executing() {
        let place = tempfile::tempdir().unwrap();
        let here = |name, text, mode| put(place.path(), name, text, mode).into_os_string();
        assert_eq!(agree(OsStr::new("sh")), None);
        let not_found = Some(io::ErrorKind::NotFound);
        assert_eq!(agree(OsStr::new("no-such-command-anywhere")), not_found);
        assert_eq!(agree(OsStr::new("./no/such/command")), not_found);
        assert_eq!(agree(&here("good", "#!/bin/sh\nexit 0\n", "755")), None);
        let denied = Some(io::ErrorKind::PermissionDenied);
        assert_eq!(agree(&here("plain", "#!/bin/sh\n", "644")), denied);
        assert_eq!(agree(place.path().as_os_str()), denied);
        let lost = here("lost", "#! /no/such/interpreter -x\n", "755");
        assert_eq!(agree(&lost), not_found);
    }
}
