//! How earlier runs of a job ended, kept for each user.
//!
//! [`Job`] recognises a job by its command line, [`PastRun`] is how one run of it ended, [`HistoryFile`] keeps them.
//! Nothing here may fail a run: what cannot be read or written is reported in one line, and the run goes on without it.

mod error;
mod file;
mod format;
mod job;
mod past_run;

use std::path::Path;

use leveloff_classifier::verdict::RunVerdict;
use leveloff_model::recording::{StatedFacts, Target};
use leveloff_sampler::proc_root::ProcRoot;

use crate::notice::notice;
pub(crate) use error::HistoryError;
pub(crate) use file::HistoryFile;
pub(crate) use format::{History, JobRuns};
pub(crate) use job::Job;
pub(crate) use past_run::{PastRun, earlier_runs};

/// The job of a run that is watched, and where its end will be remembered.
#[derive(Debug)]
pub(crate) struct JobMemory {
    file: HistoryFile,
    job: Job,
    is_from_start: bool,
}

impl JobMemory {
    /// Looks up the job of a run and adds what earlier runs of it say to what is known. `None` where there is no history:
    /// for a whole machine, a command that is not known, or a history that cannot be used, which is reported.
    pub(crate) fn recall(
        target: &Target,
        command: &[String],
        stated: &mut StatedFacts,
    ) -> Option<JobMemory> {
        let (directory, is_from_start) = match target {
            Target::System => return None,
            Target::Command(_) => (std::env::current_dir(), true),
            Target::Attached(pid) => {
                let link = ProcRoot::live().process(*pid).join("cwd");
                (std::fs::read_link(link), false)
            }
        };
        let job = Job::of(command, directory.ok().as_deref())?;
        let file = HistoryFile::of_user()?;
        let history = file.read().map_err(|error| report(&file, &error)).ok()?;
        if !stated.has_horizon() {
            stated.earlier = history.runs_of(&job.key).and_then(earlier_runs);
        }
        Some(JobMemory {
            file,
            job,
            is_from_start,
        })
    }

    /// Remembers how the run ended.
    pub(crate) fn remember(self, verdict: &RunVerdict, ended_unix: f64) {
        let Some(run) = PastRun::of(verdict, self.is_from_start, ended_unix) else {
            return;
        };
        let remembered = self.file.update(|history| history.add(&self.job, run));
        if let Err(error) = remembered {
            report(&self.file, &error);
        }
    }
}

fn report(file: &HistoryFile, error: &HistoryError) {
    notice(&unused(file.path(), error));
}

/// `the history FILE is not used: it is cut off`
pub(crate) fn unused(path: &Path, error: &HistoryError) -> String {
    format!("the history {} is not used: {error}", path.display())
}
