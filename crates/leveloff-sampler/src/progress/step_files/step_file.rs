//! One file that may hold steps, of any kind.

use std::path::Path;

use leveloff_model::progress::ProgressSource;
use leveloff_progress::{EventFile, SeenOutput, StepRegex, metrics_csv, trainer_state};

use super::candidates::{Candidate, FileKind};
use super::snapshot::Snapshot;
use crate::progress::log_follower::{FileReader, LogFollower, LogUpdates};
use crate::progress::marks::trust::Owners;
use crate::regular_file::FileId;

/// A file that is read as it changes.
#[derive(Debug)]
pub struct StepFile {
    id: FileId,
    kind: FileKind,
    content: Content,
}

#[derive(Debug)]
enum Content {
    /// Grows at its end.
    Growing(Box<LogFollower>),
    /// Is written as a whole each time.
    Snapshot(Box<Snapshot>),
}

impl StepFile {
    /// Opens a candidate; `None` if it cannot be opened or is another file by now.
    pub fn open(
        candidate: Candidate,
        owners: Owners,
        step_regex: Option<&StepRegex>,
    ) -> Option<StepFile> {
        let Candidate { path, id, kind, .. } = candidate;
        let growing = |reader| {
            let file = LogFollower::open_owned(&path, reader, owners).ok()?;
            Some(Content::Growing(Box::new(file)))
        };
        let snapshot = |file| Content::Snapshot(Box::new(file));
        let content = match kind {
            FileKind::Text => growing(FileReader::text(step_regex))?,
            FileKind::Events => growing(FileReader::Events(EventFile::new()))?,
            FileKind::MetricsCsv => snapshot(Snapshot::new(path, owners, metrics_csv)),
            FileKind::TrainerState => {
                snapshot(Snapshot::of_checkpoint(path, owners, trainer_state))
            }
        };
        Some(StepFile { id, kind, content })
    }

    /// Which file it is.
    pub fn id(&self) -> FileId {
        self.id
    }

    /// Whether the candidate is an earlier or later state of the same training.
    pub fn succeeds(&self, candidate: &Candidate) -> bool {
        let checkpoints = |path: &Path| path.parent()?.parent().map(Path::to_owned);
        let is_state = |kind| kind == FileKind::TrainerState;
        is_state(self.kind)
            && is_state(candidate.kind)
            && checkpoints(self.path()) == checkpoints(&candidate.path)
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        match &self.content {
            Content::Growing(file) => file.path(),
            Content::Snapshot(file) => file.path(),
        }
    }

    /// The kind of source that it is.
    pub fn source(&self) -> ProgressSource {
        self.kind.source()
    }

    /// Reads what is new.
    pub fn poll(&mut self) -> LogUpdates {
        match &mut self.content {
            Content::Growing(file) => file.poll(),
            Content::Snapshot(file) => file.poll(),
        }
    }

    /// The training's name of the counter that the steps come from, if it is text.
    pub fn clock_name(&self) -> Option<&str> {
        match &self.content {
            Content::Growing(file) => file.clock_name(),
            Content::Snapshot(_) => None,
        }
    }

    /// How much text it held, for a message about missing steps.
    pub fn seen(&self) -> Option<SeenOutput> {
        match &self.content {
            Content::Growing(file) => file.seen(),
            Content::Snapshot(_) => None,
        }
    }
}
