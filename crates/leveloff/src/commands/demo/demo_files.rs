//! The files of a demo: the recording, and the checkpoints of the trainer.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// A new directory of our own among the temporary files. Checkpoints go with the demo; the recording
/// stays.
#[derive(Debug)]
pub(crate) struct DemoFiles {
    directory: PathBuf,
    recording: PathBuf,
}

impl DemoFiles {
    /// Makes it. The recording goes to `output` if the user named one.
    pub(crate) fn create(output: Option<&Path>, pattern: &str) -> Result<DemoFiles> {
        let directory = new_directory(&std::env::temp_dir())?;
        let recording = match output {
            Some(output) => output.to_owned(),
            None => directory.join(format!("{pattern}.jsonl")),
        };
        Ok(DemoFiles {
            directory,
            recording,
        })
    }

    /// Where the run is recorded.
    pub(crate) fn recording(&self) -> &Path {
        &self.recording
    }

    /// Where the trainer may save.
    pub(crate) fn checkpoints(&self) -> PathBuf {
        self.directory.join("checkpoints")
    }
}

impl Drop for DemoFiles {
    fn drop(&mut self) {
        // What cannot be removed is among the temporary files, which the system cleans up.
        let _ = std::fs::remove_dir_all(self.checkpoints());
        // Only if nothing was recorded in it.
        let _ = std::fs::remove_dir(&self.directory);
    }
}

/// Others choose names there too, so creating the directory is the only test whether a name is free.
fn new_directory(parent: &Path) -> Result<PathBuf> {
    let pid = std::process::id();
    let mut number = 1_u64;
    loop {
        let directory = parent.join(format!("leveloff-demo-{pid}-{number}"));
        match DirBuilder::new().mode(0o700).create(&directory) {
            Ok(()) => return Ok(directory),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
            Err(error) => {
                return Err(error).with_context(|| {
                    let parent = parent.display();
                    format!("cannot make a directory in {parent}; choose another one with TMPDIR")
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_taken_is_not_used_again() {
        let parent = tempfile::tempdir().unwrap();
        let first = new_directory(parent.path()).unwrap();
        let second = new_directory(parent.path()).unwrap();
        assert_ne!(first, second);
        let missing = new_directory(&parent.path().join("none")).unwrap_err();
        assert!(missing.to_string().contains("TMPDIR"), "{missing}");
    }

    #[test]
    fn what_was_recorded_stays_and_the_rest_goes() {
        let empty = DemoFiles::create(None, "story").unwrap();
        let directory = empty.directory.clone();
        std::fs::create_dir(empty.checkpoints()).unwrap();
        drop(empty);
        assert!(!directory.exists());
        let used = DemoFiles::create(None, "story").unwrap();
        let recording = used.recording().to_owned();
        std::fs::write(&recording, "").unwrap();
        drop(used);
        assert!(recording.exists());
        std::fs::remove_dir_all(recording.parent().unwrap()).unwrap();
    }
}
