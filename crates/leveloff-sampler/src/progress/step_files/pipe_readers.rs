//! The process that reads a training's output from a pipe, such as `tee`, and the files that it writes.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use leveloff_model::process::Pid;

use super::descriptors::written_files;
use crate::proc_root::ProcRoot;
use crate::progress::stdout_log::file_behind;

/// Processes whose standard input is looked at.
const MOST_PROCESSES: usize = 8192;

/// Pipes in a row: `python train.py | ts | tee train.log`.
const MOST_PIPES: usize = 4;

/// The files that the reader of a process's output writes, if the output goes into a pipe: the log in `python train.py
/// | tee train.log`.
pub fn files_behind_pipe(proc_root: &ProcRoot, pid: Pid) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut writer = pid;
    for _ in 0..MOST_PIPES {
        let Some(reader) = reader_of(proc_root, writer) else {
            break;
        };
        let process = proc_root.process(reader);
        files.extend(file_behind(&process, "1"));
        // Its standard error is no copy of what it reads.
        files.extend(written_files(&process, 3, |_| true));
        writer = reader;
    }
    files
}

/// The process whose standard input is the pipe that another one's output goes into. leveloff itself is none: under
/// `run` it has the output already.
fn reader_of(proc_root: &ProcRoot, writer: Pid) -> Option<Pid> {
    let pipes = ["1", "2"].map(|fd| pipe(&proc_root.process(writer), fd));
    if pipes.iter().all(Option::is_none) {
        return None;
    }
    let own = Pid(rustix::process::getpid().as_raw_pid());
    let pids = proc_root.pids().ok()?.into_iter().take(MOST_PROCESSES);
    let mut others = pids.filter(|pid| *pid != own && *pid != writer);
    others.find(|pid| {
        let input = pipe(&proc_root.process(*pid), "0");
        input.is_some() && pipes.contains(&input)
    })
}

/// The pipe behind a descriptor: the kernel calls it `pipe:[4711]`.
fn pipe(process: &Path, fd: &str) -> Option<PathBuf> {
    let name = std::fs::read_link(process.join("fd").join(fd)).ok()?;
    let is_pipe = name.as_os_str().as_bytes().starts_with(b"pipe:[");
    is_pipe.then_some(name)
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn the_log_behind_two_pipes_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("train.log");
        let pipe = || Stdio::piped();
        let mut training = Command::new("cat")
            .stdin(pipe())
            .stdout(pipe())
            // Of this test program it may be a pipe, too.
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut filter = Command::new("cat")
            .stdin(training.stdout.take().unwrap())
            .stdout(pipe())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut tee = Command::new("tee")
            .arg(&log)
            .stdin(filter.stdout.take().unwrap())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let pid = Pid(training.id() as i32);
        // tee has opened its file when the file is there.
        while !log.exists() {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        let found = files_behind_pipe(&ProcRoot::live(), pid);
        drop(training.stdin.take());
        for child in [&mut training, &mut filter, &mut tee] {
            child.wait().unwrap();
        }
        assert_eq!(found, [log]);
    }
}
