//! The dashboard of `run --watch`: the screen is ours, so what the command prints goes to a file.

use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use leveloff_dashboard::event::{Event, Mode, Subject};
use leveloff_dashboard::theme::Look;
use leveloff_model::recording::StatedFacts;
use leveloff_supervise::launch::{self, Entrance, Launch};

use crate::notice::notice;
use crate::show::{Answers, Programme, Show, StartedCommand};
use crate::watch::short_command;

/// What is ready before the command is started.
pub struct Stage {
    look: Look,
    log: PathBuf,
    file: File,
}

impl Stage {
    /// Makes the log beside the recording: `x.log` for `x.jsonl`. An existing one is never touched.
    pub fn prepare(look: Look, recording: &Path) -> Result<Stage> {
        let log = recording.with_extension("log");
        let file = File::options()
            .append(true)
            .create_new(true)
            .open(&log)
            .with_context(|| {
                let log = log.display();
                format!("cannot create {log} for the command's output; choose a place with -o")
            })?;
        Ok(Stage { look, log, file })
    }

    /// Starts the command with its output there. If nothing ran, no log stays.
    pub fn launch(&self, command: &[OsString], entrance: Option<&Entrance>) -> Result<Launch> {
        launch::launch_into(command, entrance, &self.file)
            .inspect_err(|_| drop(std::fs::remove_file(&self.log)))
    }

    /// Shows the dashboard. A screen that cannot be shown is said, and the command goes on.
    pub fn open(
        self,
        command: &[String],
        recording: &Path,
        stated: &StatedFacts,
        launch: &mut Launch,
    ) -> Option<Show> {
        let log = self.log.display().to_string();
        let opened = Show::open(Programme {
            subject: Subject {
                title: short_command(command),
                recording: Some(recording.to_owned()),
                mode: Mode::Command,
            },
            stated: stated.clone(),
            look: self.look,
            answers: Answers::about(Some(recording)).with_command(StartedCommand {
                name: command.first().cloned().unwrap_or_default(),
                handle: launch.handle(),
                log: self.log,
            }),
        });
        match opened {
            Ok(show) => {
                show.send(Event::Answer(format!("the command's output is in {log}")));
                Some(show)
            }
            Err(error) => {
                launch.join_jobs();
                notice(&format!(
                    "{error:#}; the command goes on, its output is in {log}"
                ));
                None
            }
        }
    }
}
