//! Files that a process has open for writing.

use std::path::{Path, PathBuf};

use crate::progress::stdout_log::file_behind;

/// Descriptors that are looked at. A training has some dozens; a server may have thousands of sockets.
const MOST_DESCRIPTORS: usize = 1024;

/// The regular files with a wanted name that a process has open for writing, from the descriptor `first` on.
pub fn written_files(
    process: &Path,
    first: u32,
    is_wanted: impl Fn(&Path) -> bool,
) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(process.join("fd")) else {
        return Vec::new();
    };
    let numbers = entries
        .take(MOST_DESCRIPTORS)
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
    numbers
        .filter(|&fd| fd >= first)
        .filter_map(|fd| {
            let fd = fd.to_string();
            let name = std::fs::read_link(process.join("fd").join(&fd)).ok()?;
            let is_it = name.is_absolute() && is_wanted(&name) && is_written(process, &fd);
            is_it.then(|| file_behind(process, &fd)).flatten()
        })
        .collect()
}

/// Whether a descriptor was opened for writing: the last octal digit of `flags` has the access mode.
fn is_written(process: &Path, fd: &str) -> bool {
    let info = std::fs::read(process.join("fdinfo").join(fd)).unwrap_or_default();
    let mut lines = info.split(|&byte| byte == b'\n');
    let flags = lines.find_map(|line| line.strip_prefix(b"flags:"));
    let mode = flags.and_then(|flags| flags.trim_ascii().last());
    mode.is_some_and(|mode| matches!(mode & 3, 1 | 2))
}

#[cfg(test)]
mod tests {
    use std::fs::{File, OpenOptions};

    use super::*;

    #[test]
    fn only_what_is_open_for_writing_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        let _written = File::create(path("train.log")).unwrap();
        let _appended = OpenOptions::new()
            .create(true)
            .append(true)
            .open(path("more.log"))
            .unwrap();
        let _weights = File::create(path("model.pt")).unwrap();
        std::fs::write(path("read.log"), "step 1\n").unwrap();
        let _read = File::open(path("read.log")).unwrap();
        let is_log = |path: &Path| path.extension().is_some_and(|it| it == "log");
        let mut found = written_files(Path::new("/proc/self"), 3, is_log);
        // Other tests of this process have files open, too.
        found.retain(|path| path.starts_with(dir.path()));
        found.sort();
        assert_eq!(found, [path("more.log"), path("train.log")]);
    }
}
