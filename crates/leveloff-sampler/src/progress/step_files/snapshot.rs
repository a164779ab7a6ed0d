//! A file that is written as a whole each time: a table of metrics, the state of a trainer.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use leveloff_progress::ProgressUpdate;

use super::usual_places::newest_matches;
use crate::progress::log_follower::LogUpdates;
use crate::progress::marks::trust::Owners;
use crate::regular_file;

/// Bytes of the start and of the end that are read.
const PART: usize = 16 * 1024;

/// Reads the progress from the start and the end of a file.
pub type SnapshotReader = fn(&[u8], &[u8]) -> Option<ProgressUpdate>;

/// Such a file.
#[derive(Debug)]
pub struct Snapshot {
    path: PathBuf,
    owners: Owners,
    reader: SnapshotReader,
    /// Whether a later file of the same name lies in a directory beside its own.
    has_successors: bool,
    /// Its length and time when it was last read.
    read_at: Option<(u64, SystemTime)>,
    last: ProgressUpdate,
}

impl Snapshot {
    pub fn new(path: PathBuf, owners: Owners, reader: SnapshotReader) -> Snapshot {
        Snapshot {
            path,
            owners,
            reader,
            has_successors: false,
            read_at: None,
            last: ProgressUpdate::default(),
        }
    }

    /// A file of a checkpoint: the next checkpoint has one of its own.
    pub fn of_checkpoint(path: PathBuf, owners: Owners, reader: SnapshotReader) -> Snapshot {
        Snapshot {
            has_successors: true,
            ..Snapshot::new(path, owners, reader)
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads it if it changed. A file that cannot be read, because it is being replaced, is read later.
    pub fn poll(&mut self) -> LogUpdates {
        let is_history = self.read_at.is_none();
        if self.has_successors
            && let Some(newest) = newest_beside(&self.path)
        {
            self.path = newest;
        }
        let update = self.read_changed().ok().flatten();
        let news = update.filter(|update| *update != self.last);
        if let Some(update) = &news {
            self.last.clone_from(update);
        }
        LogUpdates {
            updates: news.into_iter().collect(),
            is_history,
            trouble: None,
        }
    }

    fn read_changed(&mut self) -> io::Result<Option<ProgressUpdate>> {
        let about = self.path.symlink_metadata()?;
        let state = (about.len(), about.modified()?);
        if self.read_at == Some(state) {
            return Ok(None);
        }
        let file = regular_file::open_owned(&self.path, |owner| self.owners.include(owner))
            .map_err(|_| io::Error::from(io::ErrorKind::PermissionDenied))?
            .0;
        self.read_at = Some(state);
        let (mut head, mut tail) = ([0; PART], [0; PART]);
        let head = part(&file, &mut head, 0)?;
        let tail = part(&file, &mut tail, about.len().saturating_sub(PART as u64))?;
        Ok((self.reader)(head, tail))
    }
}

/// The newest file of this name in `checkpoint-*` beside the directory of `path`.
fn newest_beside(path: &Path) -> Option<PathBuf> {
    let (name, checkpoints) = (path.file_name()?, path.parent()?.parent()?);
    let newest = newest_matches(checkpoints, ("checkpoint-", "")).into_iter();
    newest
        .map(|checkpoint| checkpoint.join(name))
        .find(|file| file.symlink_metadata().is_ok_and(|it| it.is_file()))
}

fn part<'a>(file: &File, buffer: &'a mut [u8], from: u64) -> io::Result<&'a [u8]> {
    let read = file.read_at(buffer, from)?;
    Ok(&buffer[..read])
}
