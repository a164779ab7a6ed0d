//! `--blame`: the preloaded library and the collector of what it writes, for as long as a run is watched.

use std::ffi::OsString;
use std::path::Path;

use leveloff_blame::collector::Collector;
use leveloff_blame::preload::{PreloadDirectory, PreloadError};
use leveloff_model::allocation::ReportedHolder;
use leveloff_model::sample::Event;
use leveloff_model::units::Seconds;

/// Has the Python package look for holders.
const HOLDERS: &str = "LEVELOFF_BLAME_HOLDERS";

/// What `--blame` is to find.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum BlameExtent {
    /// The lines that allocate.
    Lines,
    /// And what keeps their memory, where the Python package is in the run.
    Holders,
}

/// What is blamed on lines.
#[derive(Debug)]
pub(crate) struct Blame {
    directory: PreloadDirectory,
    collector: Collector,
    looks_for_holders: bool,
}

impl Blame {
    /// Puts the library on disk and waits for segments.
    pub(crate) fn prepare(extent: BlameExtent) -> Result<Blame, PreloadError> {
        let directory = PreloadDirectory::create()?;
        let collector = Collector::start(directory.path());
        Ok(Blame {
            directory,
            collector,
            looks_for_holders: extent == BlameExtent::Holders,
        })
    }

    /// Where the library and the segments are.
    pub(crate) fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// The variables that the command has to be started with.
    pub(crate) fn variables(&self) -> Vec<(OsString, OsString)> {
        let mut variables = self.directory.variables();
        if self.looks_for_holders {
            variables.push((HOLDERS.into(), "1".into()));
        }
        variables
    }

    /// Takes what the training reports of holders.
    pub(crate) fn report(&mut self, holders: &[ReportedHolder]) {
        if !holders.is_empty() {
            self.collector.report(holders);
        }
    }

    /// What is to be recorded at `t`; the last reading if the run is over.
    pub(crate) fn events(&mut self, t: Seconds, is_over: bool) -> Vec<Event> {
        match is_over {
            true => self.collector.last_events(t),
            false => self.collector.events(t),
        }
    }
}
