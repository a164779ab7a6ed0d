//! One run of a trial: `leveloff run` as a process of its own, followed through its recording and ended through a FIFO.

use std::ffi::OsString;
use std::fs::OpenOptions;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use leveloff_classifier::run_curves::RunEventKind;
use leveloff_model::units::Limit;
use leveloff_report::run_report::RunReport;
use rustix::process::{PidfdFlags, pidfd_open};

use super::arm::{Arm, PYTHON_CHANGE};
use super::directory::TrialDirectory;
use crate::args::TryArgs;
use crate::run_reader::RunReader;

/// Where a run is started and recorded.
#[derive(Debug)]
pub(super) struct RunPlan<'a> {
    pub args: &'a TryArgs,
    pub directory: &'a TrialDirectory,
    pub arm: &'a Arm,
    pub number: u32,
}

/// A run that is going on.
#[derive(Debug)]
pub(super) struct ActiveRun {
    child: Child,
    /// Readable when the run has ended.
    handle: OwnedFd,
    /// Closing it ends the run.
    end: Option<OwnedFd>,
    recording: PathBuf,
    ending: Option<Ending>,
    started: Instant,
    next_look: Instant,
}

/// How a run ended.
#[derive(Debug)]
pub(super) struct EndedRun {
    /// As it was recorded; `None` if nothing could be recorded.
    pub report: Option<RunReport>,
    pub recording: PathBuf,
    pub ending: Ending,
}

/// Why a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// The trial had seen enough of it.
    Enough,
    /// The command ended by itself.
    Exited(i32),
    Signalled(i32),
    /// The guard ended it at the limit.
    Limit,
    /// It made too little progress.
    TooSlow,
    /// The time of the trial was over.
    OutOfTime,
    /// The user ended the trial.
    Interrupted,
}

impl Ending {
    /// Whether the command failed by itself.
    pub(super) fn is_failure(self) -> bool {
        matches!(self, Ending::Exited(..=-1 | 1..) | Ending::Signalled(_))
    }

    /// For the trial that continues; `None` of a run that was cut short and has to be repeated.
    pub(super) fn words(self) -> Option<String> {
        match self {
            Ending::Enough => Some("enough".to_owned()),
            Ending::Exited(code) => Some(format!("exited {code}")),
            Ending::Signalled(signal) => Some(format!("signalled {signal}")),
            Ending::Limit => Some("limit".to_owned()),
            Ending::TooSlow => Some("slow".to_owned()),
            Ending::OutOfTime | Ending::Interrupted => None,
        }
    }

    fn from_words(words: &str) -> Option<Ending> {
        let (name, number) = words.trim().split_once(' ').unwrap_or((words.trim(), ""));
        match name {
            "enough" => Some(Ending::Enough),
            "exited" => number.parse().ok().map(Ending::Exited),
            "signalled" => number.parse().ok().map(Ending::Signalled),
            "limit" => Some(Ending::Limit),
            "slow" => Some(Ending::TooSlow),
            _ => None,
        }
    }
}

/// A look reads the whole recording. At most a twentieth of the time goes into looks, which take it from the job.
const BETWEEN_LOOKS: u32 = 20;
const SHORTEST_BETWEEN_LOOKS: Duration = Duration::from_millis(500);
const LONGEST_BETWEEN_LOOKS: Duration = Duration::from_secs(5);

/// Time for each stage of the end of a run.
const GRACE: Duration = Duration::from_secs(10);

impl RunPlan<'_> {
    pub(super) fn recording(&self) -> PathBuf {
        self.directory.recording(self.arm, self.number)
    }

    /// A run that an earlier trial in this directory made, if it was not cut short and did not fail: what made it fail may be
    /// repaired now.
    pub(super) fn earlier(&self) -> Option<EndedRun> {
        let noted = self.directory.noted_ending(self.arm, self.number)?;
        let ending = Ending::from_words(&noted).filter(|ending| !ending.is_failure())?;
        let recording = self.recording();
        Some(EndedRun {
            report: read(&recording),
            recording,
            ending,
        })
    }

    /// Starts the job with the change.
    pub(super) fn start(&self) -> Result<ActiveRun> {
        let recording = self.recording();
        let _ = std::fs::remove_file(&recording);
        let (fifo, end) = self.directory.end_of_run(self.arm, self.number)?;
        let child = self
            .command(&fifo, &recording)?
            .spawn()
            .context("cannot start leveloff itself")?;
        let pid = rustix::process::Pid::from_child(&child);
        let handle =
            pidfd_open(pid, PidfdFlags::empty()).context("cannot watch a run of the trial")?;
        let started = Instant::now();
        Ok(ActiveRun {
            child,
            handle,
            end: Some(end),
            recording,
            ending: None,
            started,
            next_look: started + SHORTEST_BETWEEN_LOOKS,
        })
    }

    fn command(&self, fifo: &Path, recording: &Path) -> Result<Command> {
        let args = self.args;
        let ourselves = std::env::current_exe().context("cannot find leveloff itself")?;
        let mut run = Command::new(ourselves);
        run.args(["run", "--history=false", "--pss-budget=2"]);
        run.arg("--output").arg(recording).arg("--trial").arg(fifo);
        run.arg(format!("--interval={}ms", args.interval.as_millis()));
        run.arg(format!("--grace={}s", GRACE.as_secs()));
        run.arg(limit(args.limit, args.jobs.get()));
        run.args(
            args.level_by
                .map(|by| by.to_string())
                .map(|by| format!("--level-by={by}")),
        );
        let regex = args.step_regex.as_ref();
        run.args(regex.map(|regex| format!("--step-regex={}", regex.pattern())));
        run.arg("--")
            .args(self.arm.command.as_ref().unwrap_or(&args.command));
        let output = self.output()?;
        run.stdin(Stdio::null())
            .stdout(output.try_clone()?)
            .stderr(output);
        self.set_variables(&mut run);
        Ok(run)
    }

    /// The same for every run, but for the change. Python holds back what it prints to a file, and with that the steps.
    fn set_variables(&self, run: &mut Command) {
        run.env("PYTHONUNBUFFERED", "1");
        run.env(
            "PYTHONPATH",
            first_in(self.directory.python_start(), "PYTHONPATH"),
        );
        run.env("LEVELOFF_TRY_FACTS", self.directory.facts());
        run.env_remove(PYTHON_CHANGE);
        for (name, value) in &self.arm.variables {
            run.env(name, value);
        }
    }

    fn output(&self) -> Result<std::fs::File> {
        let log = self.directory.log(self.arm, self.number);
        let mut options = OpenOptions::new();
        let opened = options
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&log);
        opened.with_context(|| format!("cannot write {}", log.display()))
    }
}

impl ActiveRun {
    /// Readable when the run has ended.
    pub(super) fn handle(&self) -> BorrowedFd<'_> {
        self.handle.as_fd()
    }

    /// When it is to be looked at; `None` if it is ending.
    pub(super) fn next_look(&self) -> Option<Instant> {
        self.end.as_ref().map(|_| self.next_look)
    }

    /// What it has recorded so far; `None` while there is nothing to judge.
    pub(super) fn look(&mut self) -> Option<RunReport> {
        let begun = Instant::now();
        let report = read(&self.recording);
        let between = begun.elapsed() * BETWEEN_LOOKS;
        let between = between.clamp(SHORTEST_BETWEEN_LOOKS, LONGEST_BETWEEN_LOOKS);
        self.next_look = Instant::now() + between;
        report
    }

    pub(super) fn spent(&self) -> Duration {
        self.started.elapsed()
    }

    /// Asks it to end, and returns at once.
    pub(super) fn end(&mut self, why: Ending) {
        self.end = None;
        self.ending.get_or_insert(why);
    }

    /// Waits for its end.
    pub(super) fn finish(mut self) -> Result<EndedRun> {
        let status = self.child.wait()?;
        let report = read(&self.recording);
        let is_stopped = report.as_ref().is_some_and(was_stopped);
        Ok(EndedRun {
            report,
            recording: self.recording,
            ending: self.ending.unwrap_or_else(|| ending_of(status, is_stopped)),
        })
    }
}

/// Runs that go on side by side share what one may have.
fn limit(limit: Limit, jobs: usize) -> String {
    match limit {
        Limit::Size(bytes) => format!("--limit={}B", bytes.0),
        Limit::Share(share) => format!("--limit={}%", share * 100.0 / jobs as f64),
    }
}

fn first_in(path: PathBuf, variable: &str) -> OsString {
    let mut paths = path.into_os_string();
    if let Some(others) = std::env::var_os(variable).filter(|others| !others.is_empty()) {
        paths.push(":");
        paths.push(others);
    }
    paths
}

/// Whether the guard stopped it: a job may have an exit code of 75 of its own.
fn was_stopped(report: &RunReport) -> bool {
    let stop = RunEventKind::Named("guard_stop".to_owned());
    report
        .curves
        .events()
        .iter()
        .any(|event| event.kind == stop)
}

fn ending_of(status: ExitStatus, is_stopped: bool) -> Ending {
    use std::os::unix::process::ExitStatusExt;
    match (status.code(), status.signal()) {
        (Some(_), _) if is_stopped => Ending::Limit,
        (Some(code), _) => Ending::Exited(code),
        (None, signal) => Ending::Signalled(signal.unwrap_or_default()),
    }
}

/// `None` while there is nothing to judge.
fn read(recording: &Path) -> Option<RunReport> {
    if !recording.exists() {
        return None;
    }
    let reader = RunReader {
        ignores_history: true,
        ..RunReader::default()
    };
    reader.read(recording).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_cut_short_is_repeated_and_the_rest_is_not() {
        let endings = [
            Ending::Enough,
            Ending::Exited(3),
            Ending::Signalled(9),
            Ending::Limit,
            Ending::TooSlow,
        ];
        for ending in endings {
            let words = ending.words().unwrap();
            assert_eq!(Ending::from_words(&words), Some(ending));
        }
        assert_eq!(Ending::Interrupted.words(), None);
        assert_eq!(Ending::OutOfTime.words(), None);
        assert_eq!(Ending::from_words("exited"), None);
    }

    #[test]
    fn runs_side_by_side_share_the_limit() {
        assert_eq!(limit(Limit::Share(0.9), 1), "--limit=90%");
        assert_eq!(limit(Limit::Share(0.9), 3), "--limit=30%");
    }
}
