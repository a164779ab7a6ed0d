//! The directory that checkpoints are in.

use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

use anyhow::Context;

use super::contents::{CheckpointError, Origin, pack, unpack};
use crate::optimiser::AdamW;

/// What a checkpoint's name begins with, before the step.
const BEFORE_STEP: &str = "step-";
/// What it ends with.
const AFTER_STEP: &str = ".safetensors";
/// What the name ends with while it is being written.
const UNFINISHED: &str = ".unfinished";

/// The directory that checkpoints are in.
#[derive(Debug)]
pub struct Directory {
    path: PathBuf,
    keep: usize,
}

/// A checkpoint that was passed over, and why.
#[derive(Debug)]
pub struct Skipped {
    /// The file.
    pub path: PathBuf,
    /// What is wrong with it.
    pub why: CheckpointError,
}

impl Directory {
    /// Makes it if it is not there, and tries whether it can be written to: better to fail now than
    /// after an hour of training. Keeps the last `keep` checkpoints.
    pub fn open(path: &Path, keep: usize) -> anyhow::Result<Directory> {
        let directory = Directory {
            path: path.to_owned(),
            keep,
        };
        directory.prepare().map_err(|error| {
            anyhow::anyhow!(
                "cannot save checkpoints in {}: {error}; pass a --checkpoint-dir that you may \
                 write to",
                path.display()
            )
        })?;
        Ok(directory)
    }

    fn prepare(&self) -> io::Result<()> {
        fs::create_dir_all(&self.path)?;
        // Left by a training that was killed while it saved.
        for name in self.names()?.iter().filter(|name| is_unfinished(name)) {
            let _ = fs::remove_file(self.path.join(name));
        }
        let probe = self
            .path
            .join(format!("{BEFORE_STEP}probe{AFTER_STEP}{UNFINISHED}"));
        File::create(&probe)?;
        fs::remove_file(&probe)
    }

    /// Saves a checkpoint and removes those that are older than the last few. If it cannot
    /// be written, there is nothing new in the directory.
    pub fn save(&self, optimiser: &AdamW, origin: &Origin) -> anyhow::Result<Saved> {
        let path = self.path.join(name_of(origin.step));
        let unfinished = self
            .path
            .join(format!("{}{UNFINISHED}", name_of(origin.step)));
        let bytes = write_synced(&unfinished, optimiser, origin)
            .and_then(|bytes| fs::rename(&unfinished, &path).map(|()| bytes))
            .inspect_err(|_| drop(fs::remove_file(&unfinished)))
            .with_context(|| format!("cannot save {}", path.display()))?;
        File::open(&self.path)
            .and_then(|directory| directory.sync_all())
            .with_context(|| format!("cannot sync {}", self.path.display()))?;
        self.forget_old();
        Ok(Saved { path, bytes })
    }

    /// Sets the optimiser to the newest checkpoint that is good, and says which were passed over.
    pub fn resume(
        &self,
        optimiser: &mut AdamW,
        expected: &Origin,
    ) -> anyhow::Result<(PathBuf, Vec<Skipped>)> {
        self.resume_no_later_than(u64::MAX, optimiser, expected)
    }

    /// The same with those only that are of this step or before it.
    pub fn resume_no_later_than(
        &self,
        last: u64,
        optimiser: &mut AdamW,
        expected: &Origin,
    ) -> anyhow::Result<(PathBuf, Vec<Skipped>)> {
        let mut skipped = Vec::new();
        for step in self.steps().into_iter().rev().filter(|&step| step <= last) {
            let path = self.path.join(name_of(step));
            match resume_from(&path, optimiser, expected) {
                Ok(_) => return Ok((path, skipped)),
                Err(why) if why.is_damage() => skipped.push(Skipped { path, why }),
                Err(why) => anyhow::bail!("cannot resume from {}: {why}", path.display()),
            }
        }
        let mut message = format!(
            "there is no checkpoint to resume from in {}",
            self.path.display()
        );
        for Skipped { path, why } in &skipped {
            message.push_str(&format!("\n  {}: {why}", path.display()));
        }
        anyhow::bail!("{message}\nleave out --resume to start over")
    }

    /// The newest `keep` stay. One that cannot be removed costs space and is no reason to stop.
    fn forget_old(&self) {
        let steps = self.steps();
        for &step in steps.iter().rev().skip(self.keep) {
            let _ = fs::remove_file(self.path.join(name_of(step)));
        }
    }

    /// The steps that there are checkpoints of, in order.
    fn steps(&self) -> Vec<u64> {
        let mut steps: Vec<u64> = self
            .names()
            .unwrap_or_default()
            .iter()
            .filter_map(|name| step_of(name))
            .collect();
        steps.sort_unstable();
        steps
    }

    fn names(&self) -> io::Result<Vec<String>> {
        let entries = fs::read_dir(&self.path)?;
        Ok(entries
            .flatten()
            .filter_map(|entry| entry.file_name().into_string().ok())
            .collect())
    }
}

/// A checkpoint that was saved.
#[derive(Debug)]
pub struct Saved {
    /// Its file.
    pub path: PathBuf,
    /// The length of that.
    pub bytes: u64,
}

/// Sets the optimiser to what this file has.
pub fn resume_from(
    path: &Path,
    optimiser: &mut AdamW,
    expected: &Origin,
) -> Result<Origin, CheckpointError> {
    unpack(&read(path)?, optimiser, expected)
}

/// Longer than any checkpoint of this model.
const LONGEST: u64 = 1 << 30;

/// A pipe or a device would keep us waiting, or never end. It is looked at before it is opened.
fn read(path: &Path) -> Result<Vec<u8>, CheckpointError> {
    let about = fs::metadata(path)?;
    if !about.is_file() || about.len() > LONGEST {
        return Err(CheckpointError::Foreign);
    }
    Ok(fs::read(path)?)
}

/// Returns how long the file became.
fn write_synced(path: &Path, optimiser: &AdamW, origin: &Origin) -> io::Result<u64> {
    let mut file = BufWriter::new(File::create(path)?);
    pack(optimiser, origin, &mut file)?;
    let file = file.into_inner()?;
    file.sync_all()?;
    Ok(file.metadata()?.len())
}

fn name_of(step: u64) -> String {
    format!("{BEFORE_STEP}{step:08}{AFTER_STEP}")
}

fn step_of(name: &str) -> Option<u64> {
    let step = name.strip_prefix(BEFORE_STEP)?.strip_suffix(AFTER_STEP)?;
    step.parse().ok().filter(|&step| name_of(step) == name)
}

fn is_unfinished(name: &str) -> bool {
    name.starts_with(BEFORE_STEP) && name.ends_with(&format!("{AFTER_STEP}{UNFINISHED}"))
}

#[cfg(test)]
mod tests {
    use candle_core::Device;
    use tempfile::tempdir;

    use super::*;
    use crate::model::Model;

    fn optimiser() -> AdamW {
        let model = Model::new(1, &Device::Cpu).expect("a model");
        AdamW::new(model.parameters()).expect("an optimiser")
    }

    fn at(step: u64) -> Origin {
        Origin {
            step,
            seed: 1,
            batch_size: 8,
        }
    }

    fn filled(steps: &[u64], keep: usize) -> (tempfile::TempDir, Directory) {
        let place = tempdir().expect("a directory");
        let directory = Directory::open(&place.path().join("made/for/it"), keep).expect("opens");
        for &step in steps {
            directory.save(&optimiser(), &at(step)).expect("saves");
        }
        (place, directory)
    }

    #[test]
    fn the_last_ones_are_kept_and_nothing_else_lies_about() {
        let (_place, directory) = filled(&[20, 40, 60], 2);
        let mut names = directory.names().expect("names");
        names.sort();
        assert_eq!(
            names,
            ["step-00000040.safetensors", "step-00000060.safetensors"]
        );
    }

    #[test]
    fn the_newest_good_one_is_taken_and_damaged_ones_are_listed() {
        let (_place, directory) = filled(&[20, 40], 2);
        let newest = directory.path.join(name_of(40));
        let bytes = fs::read(&newest).expect("bytes");
        fs::write(&newest, &bytes[..bytes.len() / 2]).expect("written");
        let mut resumed = optimiser();
        let (_, skipped) = directory.resume(&mut resumed, &at(0)).expect("resumes");
        assert_eq!(resumed.steps(), 20);
        assert_eq!(skipped.len(), 1);
        assert_eq!(skipped[0].path, newest);
    }

    #[test]
    fn none_or_a_foreign_one_is_an_error_that_says_what_to_do() {
        let (_place, directory) = filled(&[], 2);
        let error = directory.resume(&mut optimiser(), &at(0)).unwrap_err();
        assert!(error.to_string().contains("leave out --resume"), "{error}");
        directory.save(&optimiser(), &at(20)).expect("saves");
        let other = Origin { seed: 9, ..at(0) };
        let error = directory.resume(&mut optimiser(), &other).unwrap_err();
        assert!(error.to_string().contains("--seed 1"), "{error}");
    }

    #[test]
    fn what_a_killed_training_left_is_cleared_away_and_what_is_not_ours_stays() {
        let (_place, directory) = filled(&[20], 2);
        let left = directory.path.join("step-00000040.safetensors.unfinished");
        let other = directory.path.join("notes.unfinished");
        fs::write(&left, b"half").expect("written");
        fs::write(&other, b"mine").expect("written");
        Directory::open(&directory.path, 2).expect("opens");
        assert!(!left.exists());
        assert!(other.exists());
    }

    #[test]
    fn a_directory_that_cannot_be_is_an_error_at_once() {
        let place = tempdir().expect("a directory");
        let file = place.path().join("file");
        fs::write(&file, b"").expect("written");
        let error = Directory::open(&file.join("below"), 2).unwrap_err();
        assert!(
            format!("{error:#}").contains("--checkpoint-dir"),
            "{error:#}"
        );
    }
}
