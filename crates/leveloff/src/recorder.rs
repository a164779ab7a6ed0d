//! The recording of a run while it goes on: the file, and what to do when it cannot be written.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use leveloff_model::recording::{End, Header, RecordingWriter};
use leveloff_model::sample::Tick;
use rustix::fs::{Mode, OFlags};

use crate::notice::notice;

/// Writes ticks to a file that did not exist before.
#[derive(Debug)]
pub(crate) struct Recorder {
    path: PathBuf,
    writer: RecordingWriter<File>,
    /// Ticks that could not be written since the last one that could.
    lost: u64,
    /// The size at which a recording without a name stops growing.
    most: Option<u64>,
}

/// Where files without a name are: on disks, as opposed to /tmp, which may be memory that the run
/// needs.
const SCRATCH_PLACE: &str = "/var/tmp";

/// What a recording without a name may grow to: a week of a run with some workers, at a sample a second.
const SCRATCH_MOST: u64 = 256 << 20;

impl Recorder {
    /// Creates the file. An existing one is never touched.
    pub(crate) fn create(path: &Path, header: &Header) -> Result<Recorder> {
        if path == Path::new("-") {
            bail!("a recording is a file and cannot go to stdout; name one with -o");
        }
        match Recorder::create_if_free(path, header)? {
            Some(recorder) => Ok(recorder),
            None => bail!(
                "{} exists and is not overwritten; choose another name with -o, or remove it",
                path.display()
            ),
        }
    }

    /// A recording without a name, for what may be exported while it is watched. It is gone with this
    /// process, however that ends; until then, the second file holds it.
    pub(crate) fn scratch(header: &Header) -> io::Result<(Recorder, File)> {
        let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::APPEND | OFlags::CLOEXEC;
        let file = rustix::fs::open(SCRATCH_PLACE, flags, Mode::RUSR | Mode::WUSR)?;
        let file = File::from(file);
        let kept = file.try_clone()?;
        let recorder = Recorder {
            path: PathBuf::from(format!("/proc/self/fd/{}", kept.as_raw_fd())),
            writer: RecordingWriter::new(file, header)?,
            lost: 0,
            most: Some(SCRATCH_MOST),
        };
        Ok((recorder, kept))
    }

    /// A file name that says when and what, without its ending.
    pub(crate) fn stem_named_after(command: &[String]) -> String {
        let now = jiff::Zoned::now().strftime("%Y%m%d-%H%M");
        format!("leveloff-{now}-{}", short_name(command))
    }

    /// Creates a file whose name says when and what: `leveloff-20261116-0135-train.jsonl`. Others
    /// may choose a name at the same moment, so creating the file is the only test whether it is free.
    pub(crate) fn create_named_after(command: &[String], header: &Header) -> Result<Recorder> {
        for path in names(&Recorder::stem_named_after(command)) {
            if let Some(recorder) = Recorder::create_if_free(&path, header)? {
                return Ok(recorder);
            }
        }
        unreachable!("the names are without end")
    }

    fn create_if_free(path: &Path, header: &Header) -> Result<Option<Recorder>> {
        let file = match OpenOptions::new().append(true).create_new(true).open(path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(None),
            opened => opened.with_context(|| {
                let path = path.display();
                format!("cannot create the recording {path}; choose a place with -o")
            })?,
        };
        let writer = RecordingWriter::new(file, header)
            // A file without a header is no recording, and would only be in the way.
            .inspect_err(|_| drop(std::fs::remove_file(path)))
            .with_context(|| {
                let path = path.display();
                format!("cannot write the recording {path}; choose another place with -o")
            })?;
        Ok(Some(Recorder {
            path: path.to_owned(),
            writer,
            lost: 0,
            most: None,
        }))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it has a name that the user knows.
    pub(crate) fn is_named(&self) -> bool {
        self.most.is_none()
    }

    /// Appends a tick. A disk that is full is said once, and tried again at every tick: the run
    /// goes on, and so does the recording when there is room.
    pub(crate) fn write(&mut self, tick: &Tick) {
        if self
            .most
            .is_some_and(|most| self.writer.bytes_written() >= most)
        {
            return;
        }
        match self.writer.write_tick(tick) {
            Ok(()) if self.lost > 0 && self.is_named() => {
                let lost = std::mem::take(&mut self.lost);
                notice(&format!(
                    "recording again; {lost} samples could not be written"
                ));
            }
            Ok(()) => {}
            Err(error) => {
                // The user does not know about a recording without a name.
                if self.lost == 0 && self.is_named() {
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

    /// Ends the recording, and says if it is not whole.
    pub(crate) fn finish(self, end: &End) {
        let path = self.path.display();
        if self.lost > 0 && self.is_named() {
            let lost = self.lost;
            notice(&format!(
                "the last {lost} samples could not be written to {path}"
            ));
        }
        if let Err(error) = self.writer.finish(end) {
            notice(&format!("cannot finish {path}: {error}"));
        }
    }

    /// Takes the file away again, when nothing was recorded in it.
    pub(crate) fn discard(path: &Path) {
        // A file that cannot be removed holds only a header.
        let _ = std::fs::remove_file(path);
    }
}

/// `x.jsonl`, `x-2.jsonl`, `x-3.jsonl` and so on.
fn names(stem: &str) -> impl Iterator<Item = PathBuf> {
    let first = PathBuf::from(format!("{stem}.jsonl"));
    let more = (2_u64..).map(move |n| format!("{stem}-{n}.jsonl"));
    std::iter::once(first).chain(more.map(PathBuf::from))
}

/// What a command is called in a file name and in metrics: its script, else its program.
pub(crate) fn short_name(command: &[String]) -> String {
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
    use leveloff_model::recording::{EndReason, StatedFacts, Target};
    use leveloff_model::units::Seconds;

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
    fn a_recording_without_a_name_can_be_read_while_it_is_held() {
        let header = Header {
            tool: "0".to_owned(),
            started_unix: 0.0,
            host: None,
            kernel: None,
            target: Target::System,
            interval: Seconds(1.0),
            pss_budget_percent: 0.5,
            stated: StatedFacts::default(),
        };
        let (recorder, held) = Recorder::scratch(&header).unwrap();
        assert!(!recorder.is_named());
        let path = recorder.path().to_owned();
        recorder.finish(&End {
            t: Seconds(0.0),
            reason: EndReason::Stopped,
        });
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text.lines().count(), 2, "{text}");
        // Nothing of it has a name, so nothing can be left behind.
        assert_eq!(rustix::fs::fstat(&held).unwrap().st_nlink, 0);
    }

    #[test]
    fn a_taken_name_gets_a_number() {
        let first: Vec<PathBuf> = names("x").take(3).collect();
        assert_eq!(
            first,
            ["x.jsonl", "x-2.jsonl", "x-3.jsonl"].map(PathBuf::from)
        );
    }
}
