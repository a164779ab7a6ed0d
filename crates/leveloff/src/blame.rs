//! `--blame`: the preloaded library and the collector of what it writes, for as long as a run is watched.

use std::ffi::OsString;
use std::path::Path;

use leveloff_blame::collector::Collector;
use leveloff_blame::preload::{PreloadDirectory, PreloadError};
use leveloff_model::sample::Event;
use leveloff_model::units::Seconds;

/// What is blamed on lines.
#[derive(Debug)]
pub(crate) struct Blame {
    directory: PreloadDirectory,
    collector: Collector,
}

impl Blame {
    /// Puts the library on disk and waits for segments.
    pub(crate) fn prepare() -> Result<Blame, PreloadError> {
        let directory = PreloadDirectory::create()?;
        let collector = Collector::start(directory.path());
        Ok(Blame {
            directory,
            collector,
        })
    }

    /// Where the library and the segments are.
    pub(crate) fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// The variables that the command has to be started with.
    pub(crate) fn variables(&self) -> Vec<(OsString, OsString)> {
        self.directory.variables()
    }

    /// What is to be recorded at `t`; the last reading if the run is over.
    pub(crate) fn events(&mut self, t: Seconds, is_over: bool) -> Vec<Event> {
        match is_over {
            true => self.collector.last_events(t),
            false => self.collector.events(t),
        }
    }
}
