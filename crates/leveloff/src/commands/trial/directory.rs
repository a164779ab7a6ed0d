//! The directory of a trial: recordings, the output of the job, and what its runs need.

use std::fs::{DirBuilder, OpenOptions};
use std::io::Write;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use rustix::fs::{CWD, FileType, Mode, OFlags};
use sha2::{Digest, Sha256};

use super::arm::Arm;
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
            let job = std::fs::read_to_string(path.join("start").join("command"));
            let Ok(job) = job else {
                bail!("{shown} holds no trial to resume; leave --resume out to begin one there");
            };
            if job != command.join("\n") {
                let job = job.replace('\n', " ");
                bail!("{shown} holds a trial of another command: {job}");
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
        if !args.resume {
            directory.write_start("command", &command.join("\n"))?;
        }
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
        self.0.join(TrialDirectory::stem(arm, run) + ".jsonl")
    }

    /// The output of the job.
    pub(super) fn log(&self, arm: &Arm, run: u32) -> PathBuf {
        self.0.join(TrialDirectory::stem(arm, run) + ".log")
    }

    /// What a run with a change is called in files.
    fn stem(arm: &Arm, run: u32) -> String {
        format!("{}-{run}", file_name(&arm.name))
    }

    /// A FIFO that ends a run when it is closed, and its writing end.
    pub(super) fn end_of_run(&self, arm: &Arm, run: u32) -> Result<(PathBuf, OwnedFd)> {
        let name = format!("{}.end", TrialDirectory::stem(arm, run));
        let path = self.python_start().join(name);
        let _ = std::fs::remove_file(&path);
        let mode = Mode::RUSR | Mode::WUSR;
        rustix::fs::mknodat(CWD, &path, FileType::Fifo, mode, 0)
            .with_context(|| format!("cannot create the FIFO {}", path.display()))?;
        // Open for both, so that it does not wait for a reader.
        let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let end = rustix::fs::open(&path, flags, Mode::empty())?;
        Ok((path, end))
    }

    /// Notes for `--resume` how a run ended, and of what.
    pub(super) fn note_ending(&self, arm: &Arm, run: u32, ending: &str) -> Result<()> {
        let name = format!("{}.ended", TrialDirectory::stem(arm, run));
        self.write_start(&name, &format!("{ending}\n{}", identity(arm)))
    }

    /// How a run ended, if it was one of the same command with the same variables: a change keeps its name when it is corrected.
    pub(super) fn noted_ending(&self, arm: &Arm, run: u32) -> Option<String> {
        let name = format!("{}.ended", TrialDirectory::stem(arm, run));
        let noted = std::fs::read_to_string(self.python_start().join(name)).ok()?;
        let (ending, of) = noted.split_once('\n')?;
        (of == identity(arm)).then(|| ending.to_owned())
    }

    fn write_start(&self, name: &str, text: &str) -> Result<()> {
        let path = self.python_start().join(name);
        std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
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

/// What a run with a change executes, beside the job itself.
fn identity(arm: &Arm) -> String {
    format!("{:?} {:?}", arm.command, arm.variables)
}

fn free_name(stem: &str) -> PathBuf {
    let others = (2..).map(|n: u64| PathBuf::from(format!("{stem}-{n}")));
    let mut names = std::iter::once(PathBuf::from(stem)).chain(others);
    let free = names.find(|name| name.symlink_metadata().is_err());
    free.expect("the names are without end")
}

/// The longest name of a change in a file name.
const LONGEST_NAME: usize = 60;

/// The name of a change as that of a file. Long ones, such as two paths below one directory, may differ in their ends only.
pub(super) fn file_name(name: &str) -> String {
    let plain = |c: char| match c.is_ascii_alphanumeric() || "-_.".contains(c) {
        true => c,
        false => '_',
    };
    let whole: String = name.chars().map(plain).collect();
    let whole = whole.trim_start_matches('.');
    if whole.len() <= LONGEST_NAME {
        return whole.to_owned();
    }
    let digest = Sha256::digest(name.as_bytes());
    let digest: String = digest[..4]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    format!("{}-{digest}", &whole[..LONGEST_NAME - digest.len() - 1])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_change_cannot_leave_the_directory() {
        assert_eq!(file_name("no-compile"), "no-compile");
        assert_eq!(file_name("../../etc/x=1"), "_.._etc_x_1");
    }

    #[test]
    fn long_names_that_end_differently_are_two_files() {
        let place = "/srv/environments/of/a/team/with/long/names/for/projects";
        let [old, new] =
            ["old", "new"].map(|it| file_name(&format!("python {place}/{it}/bin/python")));
        assert_ne!(old, new);
        assert_eq!((old.len(), new.len()), (LONGEST_NAME, LONGEST_NAME));
    }

    #[test]
    fn an_ending_is_that_of_the_same_change_only() {
        let place = tempfile::tempdir().unwrap();
        std::fs::create_dir(place.path().join("start")).unwrap();
        let directory = TrialDirectory(place.path().to_owned());
        let arm = |command: &str| Arm {
            name: "fix".to_owned(),
            command: Some(vec![command.into()]),
            ..Arm::control()
        };
        directory.note_ending(&arm("a.py"), 1, "enough").unwrap();
        let noted = |command| directory.noted_ending(&arm(command), 1);
        assert_eq!(noted("a.py").as_deref(), Some("enough"));
        assert_eq!(noted("b.py"), None);
    }
}
