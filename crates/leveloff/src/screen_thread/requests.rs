//! Handles what the user asks the dashboard for.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, SyncSender};
use std::time::Duration;

use anyhow::Result;
use leveloff_dashboard::event::{Event, ReplayRequest, Request};
use leveloff_dashboard::event_loop::Reply;
use leveloff_model::recording::StatedFacts;
use leveloff_supervise::launch;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::Signal;

use crate::csv_export::{self, ExportScope};
use crate::outputs::{self, Existing};
use crate::report_files::{self, ReportFormat};
use crate::run_reader::RunReader;

/// How often a job in the background looks whether it has come to the front again.
const JOB_PACE: Duration = Duration::from_millis(250);

/// Handles what the user asks the dashboard for.
#[derive(Debug, Default)]
pub(crate) struct RequestHandler {
    recording: Option<PathBuf>,
    /// The name of tables and reports, without extension.
    table: Option<PathBuf>,
    /// What the user stated.
    stated: StatedFacts,
    player: Option<Sender<ReplayRequest>>,
    command: Option<StartedCommand>,
    /// Whether a signal asks to leave.
    pub(super) is_leaving: Arc<AtomicBool>,
    farewell: Vec<String>,
}

/// A command that leveloff started, with a handle that can never mean another process.
#[derive(Debug)]
pub(crate) struct StartedCommand {
    pub name: String,
    /// Readable when it has ended.
    pub handle: Option<OwnedFd>,
    /// Where its output goes.
    pub log: PathBuf,
}

impl RequestHandler {
    /// For a run that is recorded there, or played from there.
    pub(crate) fn about(recording: Option<&Path>) -> RequestHandler {
        RequestHandler {
            recording: recording.map(Path::to_owned),
            table: recording.map(|path| path.with_extension("")),
            ..RequestHandler::default()
        }
    }

    /// Reports use the facts that the user stated.
    pub(crate) fn with_facts(mut self, stated: StatedFacts) -> RequestHandler {
        self.stated = stated;
        self
    }

    /// Tables and reports get this name instead of the recording's.
    pub(crate) fn exporting_to(mut self, stem: PathBuf) -> RequestHandler {
        self.table = Some(stem);
        self
    }

    /// Requests about playing go to this sender.
    pub(crate) fn with_player(mut self, player: Sender<ReplayRequest>) -> RequestHandler {
        self.player = Some(player);
        self
    }

    /// The command can be stopped from the dashboard.
    pub(crate) fn with_command(mut self, command: StartedCommand) -> RequestHandler {
        self.command = Some(command);
        self
    }

    /// Handles a request; what takes longer is reported by an event later.
    pub(crate) fn handle(&mut self, request: Request, events: &SyncSender<Event>) -> Reply {
        match request {
            Request::Export => self.export(events),
            Request::Report => self.report(events),
            Request::Replay(request) => {
                // The player is gone only when the screen is about to be left.
                let _ = self.player.as_ref().map(|player| player.send(request));
                Reply::Done
            }
            Request::Leave => self.leave(),
            Request::StopRun => self.stop_run(),
            Request::Suspend => self.suspend(),
        }
    }

    /// Messages for the terminal after the screen was left.
    pub(crate) fn farewell(&self) -> &[String] {
        &self.farewell
    }

    fn export(&self, events: &SyncSender<Event>) -> Reply {
        self.write("exporting…", events, |recording, stem| {
            let table = free_name(stem, "csv");
            let rows =
                csv_export::to_file(recording, ExportScope::Process, &table, Existing::Keep)?;
            Ok(format!("{rows} rows in {}", table.display()))
        })
    }

    fn report(&self, events: &SyncSender<Event>) -> Reply {
        let stated = self.stated.clone();
        self.write("writing a report…", events, move |recording, stem| {
            let page = free_name(stem, "html");
            let reader = RunReader {
                stated,
                ..RunReader::default()
            };
            let mut report = reader.read(recording)?;
            // A temporary recording gets the name of its report.
            if recording.with_extension("") != stem {
                report.input = stem.display().to_string();
            }
            let contents = report_files::written(&report, ReportFormat::Html)?;
            outputs::write(&page, &contents, Existing::Keep)?;
            Ok(format!("wrote {}, of all that is recorded", page.display()))
        })
    }

    /// Makes a file from the recording on a thread of its own: a long recording takes a while.
    fn write(
        &self,
        meanwhile: &str,
        events: &SyncSender<Event>,
        make: impl FnOnce(&Path, &Path) -> Result<String> + Send + 'static,
    ) -> Reply {
        let (Some(recording), Some(stem)) = (self.recording.clone(), self.table.clone()) else {
            return Reply::Say(
                "nothing is recorded; start with -o FILE, then press e or r".to_owned(),
            );
        };
        let events = events.clone();
        std::thread::spawn(move || {
            let text = make(&recording, &stem).unwrap_or_else(|error| format!("{error:#}"));
            let _ = events.send(Event::Answer(text));
        });
        Reply::Say(meanwhile.to_owned())
    }

    fn leave(&mut self) -> Reply {
        // A signal that asks us to leave reaches the command as well.
        let is_signalled = self.is_leaving.load(Ordering::Relaxed);
        let command = self.command.as_ref().filter(|_| !is_signalled);
        if let Some(command) = command.filter(|command| !command.is_over()) {
            let (name, log) = (&command.name, command.log.display());
            self.farewell.push(format!(
                "{name} goes on and is recorded here until it ends; Ctrl-C stops it; its output is in {log}"
            ));
        }
        Reply::Leave
    }

    /// Stops until we are continued in front of the terminal. In the background sampling goes on, and
    /// the screen waits.
    fn suspend(&self) -> Reply {
        launch::suspend();
        while !launch::is_in_foreground(rustix::stdio::stdin()) {
            if self.is_leaving.load(Ordering::Relaxed) {
                return Reply::Leave;
            }
            std::thread::sleep(JOB_PACE);
        }
        Reply::Done
    }

    fn stop_run(&mut self) -> Reply {
        let Some(command) = &self.command else {
            return Reply::Leave;
        };
        let sent = command
            .handle
            .as_ref()
            .map(|handle| rustix::process::pidfd_send_signal(handle, Signal::TERM));
        let name = &command.name;
        match sent {
            Some(Ok(()) | Err(rustix::io::Errno::SRCH)) => {
                self.farewell
                    .push(format!("sent SIGTERM to {name}; waiting for it to end"));
                Reply::Leave
            }
            Some(Err(errno)) => Reply::Say(format!("cannot stop {name}: {errno}")),
            None => Reply::Say(format!("cannot stop {name}: this kernel has no pidfd_open")),
        }
    }
}

impl StartedCommand {
    fn is_over(&self) -> bool {
        self.handle.as_ref().is_some_and(|handle| {
            let now = Timespec::default();
            let mut fds = [PollFd::new(handle, PollFlags::IN)];
            poll(&mut fds, Some(&now)).is_ok_and(|ready| ready > 0)
        })
    }
}

/// `x.csv`; `x-2.csv` if that is taken.
fn free_name(stem: &Path, ending: &str) -> PathBuf {
    let stem = stem.display();
    let first = PathBuf::from(format!("{stem}.{ending}"));
    let others = (2_u64..).map(|n| PathBuf::from(format!("{stem}-{n}.{ending}")));
    let mut names = std::iter::once(first).chain(others);
    names
        .find(|name| !name.exists())
        .expect("the names are without end")
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::sync_channel;

    use super::*;

    fn request(handler: &mut RequestHandler, request: Request) -> Reply {
        let (events, _waiting) = sync_channel(1);
        handler.handle(request, &events)
    }

    #[test]
    fn without_a_recording_an_export_is_refused_with_advice() {
        let reply = request(&mut RequestHandler::default(), Request::Export);
        assert!(matches!(reply, Reply::Say(text) if text.contains("-o FILE")));
    }

    #[test]
    fn a_failed_export_is_reported() {
        let mut handler = RequestHandler::about(Some(Path::new("/nonexistent/run.jsonl")));
        let (events, waiting) = sync_channel(1);
        handler.handle(Request::Export, &events);
        let Event::Answer(text) = waiting.recv().unwrap() else {
            panic!("no answer");
        };
        assert!(text.contains("/nonexistent/run.jsonl"), "{text}");
    }

    #[test]
    fn stopping_asks_the_command_and_leaves() {
        let mut child = std::process::Command::new("sleep")
            .arg("600")
            .spawn()
            .unwrap();
        let pid = rustix::process::Pid::from_child(&child);
        let flags = rustix::process::PidfdFlags::empty();
        let mut handler = RequestHandler::about(None).with_command(StartedCommand {
            name: "sleep".to_owned(),
            handle: Some(rustix::process::pidfd_open(pid, flags).unwrap()),
            log: PathBuf::from("x.log"),
        });
        assert_eq!(request(&mut handler, Request::StopRun), Reply::Leave);
        let status = child.wait().unwrap();
        assert_eq!(
            std::os::unix::process::ExitStatusExt::signal(&status),
            Some(15)
        );
        assert!(handler.farewell()[0].contains("sent SIGTERM to sleep"));
    }
}
