//! One run of a trial: `leveloff run` as a process of its own, followed through its recording and ended through a FIFO.

use std::ffi::OsString;
use std::fs::OpenOptions;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use leveloff_model::recording::EndReason;
use leveloff_model::units::Limit;
use leveloff_report::run_report::RunReport;
use leveloff_supervise::termination_signals::{TerminationSignals, WaitResult};
use rustix::process::{PidfdFlags, pidfd_open};

use super::arms::{Arm, PYTHON_CHANGE};
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
    /// The user ended the trial.
    Interrupted,
}

/// What a run is worth going on with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    GoOn,
    Enough,
    TooSlow,
}

/// The first look at a run; later ones are further apart, because each reads the whole recording.
const FIRST_LOOK: Duration = Duration::from_millis(500);
const LONGEST_BETWEEN_LOOKS: Duration = Duration::from_secs(5);

/// Time for each stage of the end of a run.
const GRACE: Duration = Duration::from_secs(10);

impl RunPlan<'_> {
    pub(super) fn recording(&self) -> PathBuf {
        self.directory.recording(self.arm, self.number)
    }

    /// A run that an earlier trial in this directory made.
    pub(super) fn earlier(&self) -> Option<EndedRun> {
        let recording = self.recording();
        let report = read(&recording)?;
        let ending = match report.background.end.as_ref()?.reason {
            EndReason::Exited(code) => Ending::Exited(code),
            EndReason::Signalled(_) => Ending::Enough,
            _ => return None,
        };
        Some(EndedRun {
            report: Some(report),
            recording,
            ending,
        })
    }

    /// Runs the job with the change, and looks at the recording until `look` has seen enough or the job ends.
    pub(super) fn run(
        &self,
        stops: &TerminationSignals,
        mut look: impl FnMut(&RunReport, Duration) -> Look,
    ) -> Result<EndedRun> {
        let recording = self.recording();
        let _ = std::fs::remove_file(&recording);
        let (fifo, end) = self.directory.end_of_run()?;
        let mut end = Some(end);
        let mut child = self
            .command(&fifo, &recording)?
            .spawn()
            .context("cannot start leveloff itself")?;
        let pid = rustix::process::Pid::from_child(&child);
        let handle =
            pidfd_open(pid, PidfdFlags::empty()).context("cannot watch a run of the trial")?;
        let started = Instant::now();
        let mut between = FIRST_LOOK;
        let mut ending = None;
        loop {
            match stops.wait_for(&[handle.as_fd()], Instant::now() + between)? {
                WaitResult::Other(_) => break,
                WaitResult::Signal => stop(&mut end, &mut ending, Ending::Interrupted),
                WaitResult::Deadline if end.is_none() => {}
                WaitResult::Deadline => {
                    between = between.mul_f64(1.2).min(LONGEST_BETWEEN_LOOKS);
                    let Some(report) = read(&recording) else {
                        continue;
                    };
                    match look(&report, started.elapsed()) {
                        Look::GoOn => {}
                        Look::Enough => stop(&mut end, &mut ending, Ending::Enough),
                        Look::TooSlow => stop(&mut end, &mut ending, Ending::TooSlow),
                    }
                }
            }
        }
        let status = child.wait()?;
        Ok(EndedRun {
            report: read(&recording),
            recording,
            ending: ending.unwrap_or_else(|| ending_of(status)),
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
        run.arg(match args.limit {
            Limit::Size(bytes) => format!("--limit={}B", bytes.0),
            Limit::Share(share) => format!("--limit={}%", share * 100.0),
        });
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

fn first_in(path: PathBuf, variable: &str) -> OsString {
    let mut paths = path.into_os_string();
    if let Some(others) = std::env::var_os(variable).filter(|others| !others.is_empty()) {
        paths.push(":");
        paths.push(others);
    }
    paths
}

/// Closing the FIFO ends the run.
fn stop(end: &mut Option<OwnedFd>, ending: &mut Option<Ending>, why: Ending) {
    *end = None;
    ending.get_or_insert(why);
}

fn ending_of(status: ExitStatus) -> Ending {
    use std::os::unix::process::ExitStatusExt;
    match (status.code(), status.signal()) {
        (Some(code), _) if code == i32::from(leveloff_supervise::guard::STOPPED) => Ending::Limit,
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
