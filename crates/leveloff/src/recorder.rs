//! The recording of a run while it goes on: the file, and what to do when it cannot be written.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use leveloff_model::recording::{End, Header, RecordingWriter};
use leveloff_model::sample::Tick;

use crate::notice::notice;

/// Writes ticks to a file that did not exist before.
#[derive(Debug)]
pub struct Recorder {
    path: PathBuf,
    writer: RecordingWriter<File>,
    /// Ticks that could not be written since the last one that could.
    lost: u64,
}

impl Recorder {
    /// Creates the file. An existing one is never touched.
    pub fn create(path: &Path, header: &Header) -> Result<Recorder> {
        let file = OpenOptions::new().append(true).create_new(true).open(path);
        let file = match file {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => bail!(
                "{} exists and is not overwritten; choose another name with -o, or remove it",
                path.display()
            ),
            Err(error) => {
                return Err(error).with_context(|| {
                    format!(
                        "cannot create the recording {}; choose a place with -o",
                        path.display()
                    )
                });
            }
        };
        let writer = RecordingWriter::new(file, header).with_context(|| {
            format!(
                "cannot write the recording {}; choose another place with -o",
                path.display()
            )
        })?;
        Ok(Recorder {
            path: path.to_owned(),
            writer,
            lost: 0,
        })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends a tick. A disk that is full is said once, and tried again at every tick: the run
    /// goes on, and so does the recording when there is room.
    pub fn write(&mut self, tick: &Tick) {
        match self.writer.write_tick(tick) {
            Ok(()) if self.lost > 0 => {
                let lost = std::mem::take(&mut self.lost);
                notice(&format!(
                    "recording again; {lost} samples could not be written"
                ));
            }
            Ok(()) => {}
            Err(error) => {
                if self.lost == 0 {
                    notice(&format!(
                        "cannot write {}: {error}; the run goes on, recording continues when \
                         there is room",
                        self.path.display()
                    ));
                }
                self.lost += 1;
            }
        }
    }

    /// Ends the recording.
    pub fn finish(self, end: &End) {
        if let Err(error) = self.writer.finish(end) {
            notice(&format!("cannot finish {}: {error}", self.path.display()));
        }
    }
}

/// A name that says when and what, and that is still free: `leveloff-20261116-0135-train.jsonl`.
pub fn default_path(command: &[String]) -> PathBuf {
    let now = jiff::Zoned::now().strftime("%Y%m%d-%H%M");
    let stem = format!("leveloff-{now}-{}", short_name(command));
    free_name(&stem, |path| path.symlink_metadata().is_ok())
}

fn free_name(stem: &str, taken: impl Fn(&Path) -> bool) -> PathBuf {
    let first = PathBuf::from(format!("{stem}.jsonl"));
    std::iter::once(first)
        .chain((2..).map(|n| PathBuf::from(format!("{stem}-{n}.jsonl"))))
        .find(|path| !taken(path))
        .expect("the names are without end")
}

/// What a command is called in a file name: its script, else its program.
fn short_name(command: &[String]) -> String {
    let script = command.iter().find(|argument| argument.ends_with(".py"));
    let word = script.or(command.first()).map_or("run", String::as_str);
    let base = word.rsplit('/').next().unwrap_or(word);
    let base = base.strip_suffix(".py").unwrap_or(base);
    let safe: String = base
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || c == '_' {
                c
            } else {
                '-'
            }
        })
        .take(40)
        .collect();
    let safe = safe.trim_matches('-');
    if safe.is_empty() {
        "run".to_owned()
    } else {
        safe.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name_of(command: &[&str]) -> String {
        short_name(
            &command
                .iter()
                .map(|&word| word.to_owned())
                .collect::<Vec<_>>(),
        )
    }

    #[test]
    fn a_recording_is_named_after_the_script() {
        assert_eq!(
            name_of(&["python", "-u", "src/train.py", "--lr", "1"]),
            "train"
        );
        assert_eq!(name_of(&["/usr/bin/torchrun", "x"]), "torchrun");
        assert_eq!(name_of(&["./../../"]), "run");
        assert_eq!(name_of(&[]), "run");
        assert_eq!(name_of(&["a b;c"]), "a-b-c");
    }

    #[test]
    fn a_taken_name_gets_a_number() {
        let taken = ["x.jsonl", "x-2.jsonl"];
        let free = free_name("x", |path| taken.iter().any(|&t| Path::new(t) == path));
        assert_eq!(free, Path::new("x-3.jsonl"));
    }
}
