//! Finds the files that a process's output goes to.

use std::path::{Path, PathBuf};

use leveloff_model::process::Pid;
use rustix::fs::FileType;

use crate::proc_root::ProcRoot;
use crate::regular_file::FileId;

/// The regular files that a process's standard output and error go to, each once. None for a
/// terminal, a pipe, or a file that was removed.
///
/// The Trainer prints its metrics to one stream and its bar to the other, so both are followed.
pub fn stdout_logs_of(proc_root: &ProcRoot, pid: Pid) -> Vec<PathBuf> {
    let mut logs: Vec<(FileId, PathBuf)> = Vec::new();
    for fd in ["1", "2"] {
        if let Some(log) = log_behind(&proc_root.process(pid), fd)
            && !logs.iter().any(|(id, _)| *id == log.0)
        {
            logs.push(log);
        }
    }
    logs.into_iter().map(|(_, path)| path).collect()
}

/// Whether a process's standard output goes to `/dev/null`.
pub fn goes_to_null(proc_root: &ProcRoot, pid: Pid) -> bool {
    let device = |path: &Path| {
        let stat = rustix::fs::stat(path).ok()?;
        let is_device = FileType::from_raw_mode(stat.st_mode) == FileType::CharacterDevice;
        is_device.then_some(stat.st_rdev)
    };
    let stdout = device(&proc_root.process(pid).join("fd/1"));
    stdout.is_some() && stdout == device(Path::new("/dev/null"))
}

/// The regular file behind a descriptor; `None` if it was removed.
pub(super) fn file_behind(process: &Path, fd: &str) -> Option<PathBuf> {
    log_behind(process, fd).map(|(_, path)| path)
}

fn log_behind(process: &Path, fd: &str) -> Option<(FileId, PathBuf)> {
    let link = process.join("fd").join(fd);
    let stat = rustix::fs::stat(&link).ok()?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile || stat.st_nlink == 0 {
        return None;
    }
    let id = FileId::of(&stat);
    Some((id, path_to(id, process, &link)?))
}

/// A path to the file in leveloff's mount namespace. The name in the link may belong to another namespace,
/// and be another file here, or none.
fn path_to(id: FileId, process: &Path, link: &Path) -> Option<PathBuf> {
    let name = std::fs::read_link(link).ok()?;
    let through_root = process.join("root").join(name.strip_prefix("/").ok()?);
    [name, through_root, link.to_owned()]
        .into_iter()
        .find(|path| FileId::at(path).is_ok_and(|found| found == id))
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::process::{Child, Command, Stdio};

    use super::*;

    /// A child that waits for its standard input to end.
    fn child(stdout: Stdio, stderr: Stdio) -> Child {
        Command::new("cat")
            .stdin(Stdio::piped())
            .stdout(stdout)
            .stderr(stderr)
            .spawn()
            .unwrap()
    }

    fn logs_of(mut child: Child) -> Vec<PathBuf> {
        let logs = stdout_logs_of(&ProcRoot::live(), Pid(child.id() as i32));
        drop(child.stdin.take());
        child.wait().unwrap();
        logs
    }

    #[test]
    fn both_outputs_are_found_and_one_file_only_once() {
        let dir = tempfile::tempdir().unwrap();
        let (out, err) = (dir.path().join("out"), dir.path().join("err"));
        let create = |path: &Path| Stdio::from(File::create(path).unwrap());
        assert_eq!(
            logs_of(child(create(&out), create(&err))),
            [out.clone(), err]
        );
        let both = File::create(&out).unwrap();
        let again = both.try_clone().unwrap();
        assert_eq!(logs_of(child(both.into(), again.into())), [out]);
    }

    #[test]
    fn pipes_devices_and_removed_files_are_no_logs() {
        let dir = tempfile::tempdir().unwrap();
        let removed = File::create(dir.path().join("removed")).unwrap();
        std::fs::remove_file(dir.path().join("removed")).unwrap();
        assert!(logs_of(child(Stdio::piped(), Stdio::null())).is_empty());
        assert!(logs_of(child(removed.into(), Stdio::null())).is_empty());
    }

    #[test]
    fn a_process_that_is_gone_has_none() {
        let dir = tempfile::tempdir().unwrap();
        assert!(stdout_logs_of(&ProcRoot::at(dir.path()), Pid(1)).is_empty());
    }
}
