//! A file for node_exporter's textfile collector, for machines on which no port may be opened.

use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use super::Notify;
use super::latest::Latest;
use crate::error::SetupError;

/// A path at which the file can be written.
#[derive(Debug)]
pub struct TextFilePath {
    path: PathBuf,
    notify: Notify,
}

/// A file that holds the newest numbers, until it is dropped: then it is removed.
#[derive(Debug)]
pub struct TextFile {
    path: PathBuf,
    latest: Arc<Latest>,
    /// Disconnected when the file is removed.
    removed: Receiver<()>,
    notify: Notify,
}

/// Collectors look every 15 seconds or more seldom; a file that is never older than this is fresh.
const REWRITTEN_EVERY: Duration = Duration::from_secs(2);

/// How long the end of a run may wait for the file to be removed, on a file system that hangs.
const PATIENCE: Duration = Duration::from_secs(2);

/// What every file of ours begins with.
const FIRST_WORDS: &[u8] = b"# HELP leveloff_";

/// Readable by all: the collector runs as another user.
const MODE: u32 = 0o644;

impl TextFilePath {
    /// Refuses a path that cannot or must not be written.
    pub fn check(path: &Path, notify: Notify) -> Result<TextFilePath, SetupError> {
        match refusal(path) {
            Some(reason) => Err(SetupError::File {
                path: path.to_owned(),
                reason,
            }),
            None => Ok(TextFilePath {
                path: path.to_owned(),
                notify,
            }),
        }
    }

    /// Writes every newer snapshot from now on. A failure is reported, and the run goes on.
    pub fn keep(self, latest: &Arc<Latest>) -> Option<TextFile> {
        let (removing, removed) = channel();
        let (path, notify, source) = (self.path.clone(), self.notify, Arc::clone(latest));
        let spawned = thread::Builder::new()
            .name("metrics-file".to_owned())
            .stack_size(256 << 10)
            .spawn(move || keep(&self.path, &source, notify, removing));
        match spawned {
            Ok(_) => Some(TextFile {
                path,
                latest: Arc::clone(latest),
                removed,
                notify,
            }),
            Err(error) => {
                notify(&failure(&path, &error));
                None
            }
        }
    }
}

fn refusal(path: &Path) -> Option<String> {
    if path.extension().is_none_or(|ending| ending != "prom") {
        return Some("does not end in .prom, and node_exporter reads no other files".to_owned());
    }
    if path.is_dir() {
        return Some("is a directory; name a file in it, such as leveloff.prom".to_owned());
    }
    if path.symlink_metadata().is_ok() && !is_ours(path) {
        return Some("exists and was not written by leveloff; choose another name".to_owned());
    }
    let unfinished = unfinished_name(path);
    let tried = write_new(&unfinished, "").and_then(|()| std::fs::remove_file(&unfinished));
    let error = tried.err()?;
    Some(format!(
        "cannot be written: {error}; choose a directory that you may write to"
    ))
}

impl Drop for TextFile {
    fn drop(&mut self) {
        self.latest.close();
        // Nothing is ever sent: it is over when the other end is gone.
        if self.removed.recv_timeout(PATIENCE) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
            (self.notify)(&format!(
                "{0} is not removed yet; if it remains, it describes a run that is over: rm {0}",
                self.path.display()
            ));
        }
    }
}

fn keep(path: &Path, latest: &Latest, notify: Notify, _removing: Sender<()>) {
    let mut seen = 0;
    let mut due = Instant::now();
    let mut is_reported = false;
    while let Some((number, page)) = latest.next(seen, due) {
        (seen, due) = (number, Instant::now() + REWRITTEN_EVERY);
        if let Err(error) = replace(path, page.classic())
            && !std::mem::replace(&mut is_reported, true)
        {
            notify(&failure(path, &error));
        }
    }
    let _ = std::fs::remove_file(path);
}

fn failure(path: &Path, error: &io::Error) -> String {
    let path = path.display();
    format!(
        "cannot write metrics to {path}, the run goes on: {error}; free some space, or choose another file"
    )
}

/// A reader sees the old file or the new one, never a part.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    let unfinished = unfinished_name(path);
    write_new(&unfinished, text)
        .and_then(|()| std::fs::rename(&unfinished, path))
        .inspect_err(|_| drop(std::fs::remove_file(&unfinished)))
}

/// Not synchronised with the disk: after a crash of the machine the run is over.
fn write_new(path: &Path, text: &str) -> io::Result<()> {
    // Left by an earlier one of us that was killed and had our number.
    let _ = std::fs::remove_file(path);
    let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
    file.set_permissions(Permissions::from_mode(MODE))?;
    file.write_all(text.as_bytes())
}

/// In the same directory, so that it can be renamed; not ending in `.prom`, so that node_exporter skips it.
fn unfinished_name(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{}.unfinished", std::process::id()))
}

/// Left by one of us that was killed.
fn is_ours(path: &Path) -> bool {
    let mut beginning = Vec::new();
    let opened = File::open(path).map(|file| file.take(FIRST_WORDS.len() as u64));
    let read = opened.and_then(|mut file| file.read_to_end(&mut beginning));
    read.is_ok() && beginning == FIRST_WORDS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_sees_a_whole_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.prom");
        let texts = ["short\n".to_owned(), "long\n".repeat(100_000)];
        replace(&path, &texts[0]).unwrap();
        let (written, reads) = (path.clone(), texts.clone());
        let writer = thread::spawn(move || {
            for text in texts.iter().cycle().take(200) {
                replace(&written, text).unwrap();
            }
        });
        while !writer.is_finished() {
            let read = std::fs::read_to_string(&path).unwrap();
            assert!(reads.contains(&read), "{} bytes", read.len());
        }
        writer.join().unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_symlink_is_not_written_through() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.prom");
        let theirs = folder.path().join("theirs");
        std::fs::write(&theirs, "theirs").unwrap();
        std::os::unix::fs::symlink(&theirs, unfinished_name(&path)).unwrap();
        replace(&path, "ours").unwrap();
        assert_eq!(std::fs::read_to_string(theirs).unwrap(), "theirs");
        assert_eq!(std::fs::read_to_string(path).unwrap(), "ours");
    }
}
