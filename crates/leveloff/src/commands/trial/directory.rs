//! The directory of a trial: recordings, the output of the job, and what its runs need.

use std::fs::{DirBuilder, OpenOptions};
use std::io::Write;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use rustix::fs::{CWD, FileType, Mode, OFlags};

use super::arms::Arm;
use crate::args::TryArgs;
use crate::recorder::Recorder;

/// What Python runs at its start.
const PYTHON_CHANGES: &str = include_str!("python_changes.py");

#[derive(Debug)]
pub(super) struct TrialDirectory(PathBuf);

impl TrialDirectory {
    /// Makes the directory, for this user alone. One that exists is used only to continue.
    pub(super) fn prepare(args: &TryArgs, command: &[String]) -> Result<TrialDirectory> {
        let path = match &args.output {
            Some(path) => path.clone(),
            None => free_name(&Recorder::stem_named_after(command).replacen(
                "leveloff-",
                "leveloff-try-",
                1,
            )),
        };
        let shown = path.display().to_string();
        if args.resume {
            if !path.join("start").is_dir() {
                bail!("{shown} holds no trial to resume; leave --resume out to begin one there");
            }
        } else {
            let made = DirBuilder::new().mode(0o700).create(&path);
            made.with_context(|| {
                format!("cannot create the directory {shown}; name another with -o, or continue a trial in it with --resume")
            })?;
            DirBuilder::new().mode(0o700).create(path.join("start"))?;
        }
        let directory = TrialDirectory(std::path::absolute(&path)?);
        directory.write_python_changes()?;
        Ok(directory)
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    /// Where Python finds its `sitecustomize.py`.
    pub(super) fn python_start(&self) -> PathBuf {
        self.0.join("start")
    }

    /// What the job uses.
    pub(super) fn facts(&self) -> PathBuf {
        self.0.join("start").join("facts")
    }

    pub(super) fn recording(&self, arm: &Arm, run: u32) -> PathBuf {
        self.0.join(format!("{}-{run}.jsonl", file_name(&arm.name)))
    }

    /// The output of the job.
    pub(super) fn log(&self, arm: &Arm, run: u32) -> PathBuf {
        self.0.join(format!("{}-{run}.log", file_name(&arm.name)))
    }

    /// A FIFO that ends a run when it is closed, and its writing end.
    pub(super) fn end_of_run(&self) -> Result<(PathBuf, OwnedFd)> {
        let path = self.0.join("start").join("end");
        let _ = std::fs::remove_file(&path);
        let mode = Mode::RUSR | Mode::WUSR;
        rustix::fs::mknodat(CWD, &path, FileType::Fifo, mode, 0)
            .with_context(|| format!("cannot create the FIFO {}", path.display()))?;
        // Open for both, so that it does not wait for a reader.
        let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let end = rustix::fs::open(&path, flags, Mode::empty())?;
        Ok((path, end))
    }

    fn write_python_changes(&self) -> Result<()> {
        for (name, text) in [("sitecustomize.py", PYTHON_CHANGES), ("facts", "")] {
            let path = self.python_start().join(name);
            let mut options = OpenOptions::new();
            options.write(true).create(true).mode(0o600);
            // What the control run noted is kept when a trial goes on.
            let file = options.truncate(!text.is_empty()).open(&path);
            file.and_then(|mut file| file.write_all(text.as_bytes()))
                .with_context(|| format!("cannot write {}", path.display()))?;
        }
        Ok(())
    }
}

fn free_name(stem: &str) -> PathBuf {
    let others = (2..).map(|n: u64| PathBuf::from(format!("{stem}-{n}")));
    let mut names = std::iter::once(PathBuf::from(stem)).chain(others);
    let free = names.find(|name| name.symlink_metadata().is_err());
    free.expect("the names are without end")
}

/// The name of a change as that of a file.
fn file_name(name: &str) -> String {
    let plain = |c: char| match c.is_ascii_alphanumeric() || "-_.".contains(c) {
        true => c,
        false => '_',
    };
    let name: String = name.chars().take(60).map(plain).collect();
    name.trim_start_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_change_cannot_leave_the_directory() {
        assert_eq!(file_name("no-compile"), "no-compile");
        assert_eq!(file_name("../../etc/x=1"), "_.._etc_x_1");
    }
}
