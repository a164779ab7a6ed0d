//! The dashboard of `run --watch`: it needs the screen, so the output of the command goes to a file.

use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use leveloff_dashboard::event::{Event, Mode, Subject};
use leveloff_dashboard::theme::Styles;
use leveloff_model::recording::StatedFacts;
use leveloff_supervise::launch::{self, ChildLimit, Launch};

use crate::commands::run_title::short_command;
use crate::notice::notice;
use crate::screen_thread::{RequestHandler, ScreenOptions, ScreenThread, StartedCommand};

/// The log file, which is ready before the command is started.
pub(crate) struct RunScreen {
    styles: Styles,
    log: PathBuf,
    file: File,
}

impl RunScreen {
    /// Creates the log beside the recording: `x.log` for `x.jsonl`. An existing one is never touched.
    pub(crate) fn prepare(styles: Styles, recording: &Path) -> Result<RunScreen> {
        let log = recording.with_extension("log");
        let file = File::options()
            .append(true)
            .create_new(true)
            .open(&log)
            .with_context(|| {
                let log = log.display();
                format!("cannot create {log} for the command's output; choose a place with -o")
            })?;
        Ok(RunScreen { styles, log, file })
    }

    /// Starts the command with its output there. If nothing ran, no log stays.
    pub(crate) fn launch(
        &self,
        command: &[OsString],
        variables: &[(OsString, OsString)],
        limit: Option<&ChildLimit>,
    ) -> Result<Launch> {
        launch::launch_into(command, variables, limit, &self.file)
            .inspect_err(|_| drop(std::fs::remove_file(&self.log)))
    }

    /// Shows the dashboard. If that fails, the failure is reported and the command goes on.
    pub(crate) fn open(
        self,
        command: &[String],
        recording: &Path,
        stated: &StatedFacts,
        launch: &mut Launch,
    ) -> Option<ScreenThread> {
        let log = self.log.display().to_string();
        let opened = ScreenThread::open(ScreenOptions {
            subject: Subject {
                title: short_command(command),
                recording: Some(recording.to_owned()),
                mode: Mode::Command,
                is_machine: false,
            },
            stated: stated.clone(),
            styles: self.styles,
            requests: RequestHandler::about(Some(recording)).with_command(StartedCommand {
                name: command.first().cloned().unwrap_or_default(),
                handle: launch.handle(),
                log: self.log,
            }),
        });
        match opened {
            Ok(screen) => {
                screen.send(Event::Answer(format!("the command's output is in {log}")));
                Some(screen)
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
