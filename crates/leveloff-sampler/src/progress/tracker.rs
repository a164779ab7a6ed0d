//! Polls all sources and keeps the progress of the run.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use leveloff_model::process::{Pid, ProcessIndex, Rank};
use leveloff_model::progress::{Mark, Progress, ProgressSource};
use leveloff_model::sample::{Gap, Subject};
use leveloff_model::units::Seconds;
use leveloff_progress::{
    OutputParser, ProgressUpdate, RunProgress, SourceId, UnixSeconds, UpdateContext,
};

use self::marks_source::{MarksSource, SEARCH_EVERY};
use super::error::ProgressError;
use super::log_follower::LogFollower;
use super::marks::StopRequest;
use super::stdout_log::stdout_logs_of;
use crate::gap_log::GapLog;
use crate::proc_root::ProcRoot;

mod marks_source;

/// How many marks one poll returns at most.
const MOST_MARKS: usize = 1000;

/// Options for reading progress.
#[derive(Debug, Clone, Default)]
pub struct ProgressOptions {
    /// The log to follow, instead of the file that the training's output goes to.
    pub log: Option<PathBuf>,
    /// The training's output comes through [`ProgressTracker::feed_output`], as under `run`.
    pub has_output: bool,
}

/// The output stream of a child that bytes came from. A terminal has only the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputStream {
    /// Standard output, or the terminal.
    Stdout,
    /// Standard error.
    Stderr,
}

/// What a poll found.
#[derive(Debug, Default, PartialEq)]
pub struct ProgressPoll {
    /// New marks, oldest first.
    pub marks: Vec<Mark>,
    /// What could not be read, each once.
    pub gaps: Vec<Gap>,
}

/// Reads marks, output and logs, and keeps the run's progress.
///
/// Marks outrank the output, and the output a log: once a better source has a step, the others are ignored.
/// Of several trainers only the one with the lowest rank is read.
#[derive(Debug)]
pub struct ProgressTracker {
    options: ProgressOptions,
    run_progress: RunProgress,
    trainers: Vec<Trainer>,
    lead: Option<ProcessIndex>,
    outputs: [OutputParser; 2],
    /// The updates of the output since the last poll.
    pending: Vec<(SourceId, ProgressUpdate)>,
    logs: Vec<(SourceId, LogFollower)>,
    next_source: u32,
    /// When to search again for a log, while there is none.
    next_search: Seconds,
    /// Time of the last poll.
    now: Seconds,
    gaps: GapLog,
}

#[derive(Debug)]
struct Trainer {
    index: ProcessIndex,
    pid: Pid,
    rank: Option<Rank>,
    proc_root: ProcRoot,
    marks: Option<MarksSource>,
    /// When it was found.
    joined: Seconds,
    /// Its earlier marks are no events of the run, because another trainer was the lead.
    lead_since: Seconds,
    /// It has exited, and its last marks are still to be read.
    has_exited: bool,
}

impl ProgressTracker {
    /// Fails when the log in `options` cannot be followed.
    pub fn new(options: ProgressOptions) -> Result<ProgressTracker, ProgressError> {
        let mut tracker = ProgressTracker {
            run_progress: RunProgress::default(),
            trainers: Vec::new(),
            lead: None,
            outputs: Default::default(),
            pending: Vec::new(),
            logs: Vec::new(),
            next_source: 0,
            next_search: Seconds(f64::NEG_INFINITY),
            now: Seconds(f64::NEG_INFINITY),
            gaps: GapLog::about(Subject::Progress),
            options,
        };
        if let Some(path) = tracker.options.log.clone() {
            tracker.follow_log(LogFollower::open(&path)?);
        }
        Ok(tracker)
    }

    /// Follows the marks and the output of a trainer.
    pub fn watch_process(
        &mut self,
        proc_root: &ProcRoot,
        index: ProcessIndex,
        pid: Pid,
        rank: Option<Rank>,
    ) {
        self.trainers.retain(|trainer| trainer.index != index);
        self.trainers.push(Trainer {
            index,
            pid,
            rank,
            proc_root: proc_root.clone(),
            // A process that has already exited has no marks.
            marks: MarksSource::of(proc_root, pid).ok(),
            joined: self.now,
            lead_since: Seconds(f64::NEG_INFINITY),
            has_exited: false,
        });
        self.choose_lead();
    }

    /// Stops following a trainer that exited. The next poll still reads its last marks.
    pub fn forget_process(&mut self, index: ProcessIndex) {
        for trainer in &mut self.trainers {
            trainer.has_exited |= trainer.index == index;
        }
    }

    /// Reads bytes that the child printed.
    pub fn feed_output(&mut self, stream: OutputStream, bytes: &[u8]) {
        let number = stream as u32;
        for update in self.outputs[number as usize].feed(bytes) {
            let source_id = SourceId {
                source: ProgressSource::Output,
                number,
            };
            match self.pending.last_mut() {
                Some((before, last)) if *before == source_id && last.is_only_a_step() => {
                    last.merge_later(update);
                }
                _ => self.pending.push((source_id, update)),
            }
        }
    }

    /// Reads what is new in all sources. Costs a few system calls when nothing is new.
    pub fn poll(&mut self, now: Seconds, wall_now: SystemTime) -> ProgressPoll {
        let mut marks = Vec::new();
        self.now = now;
        if self.logs.is_empty() && now >= self.next_search {
            self.next_search = Seconds(now.0 + SEARCH_EVERY.0);
            self.follow_logs_of_lead();
        }
        self.read_marks(now, wall_now.into(), &mut marks);
        let context = UpdateContext {
            t: now,
            process: self.lead,
            is_history: false,
        };
        for (source_id, update) in std::mem::take(&mut self.pending) {
            self.run_progress
                .apply(update, source_id, context, &mut marks);
        }
        self.read_logs(context, &mut marks);
        self.run_progress.mark_changes(context, &mut marks);
        self.limit_marks(&mut marks);
        self.report_missing_sources();
        self.trainers.retain(|trainer| !trainer.has_exited);
        self.choose_lead();
        ProgressPoll {
            marks,
            gaps: self.gaps.take(),
        }
    }

    /// The run's progress as of the last poll.
    pub fn progress(&self) -> &Progress {
        self.run_progress.progress()
    }

    /// A request to save and stop, once marks of the lead are read.
    pub fn stop_request(&self) -> Option<StopRequest> {
        self.lead_trainer()?.marks.as_ref()?.stop_request()
    }

    fn read_marks(&mut self, now: Seconds, wall_now: UnixSeconds, marks: &mut Vec<Mark>) {
        let Some(lead) = self.lead else {
            return;
        };
        let mut trainers = self.trainers.iter_mut();
        let Some(trainer) = trainers.find(|trainer| trainer.index == lead) else {
            return;
        };
        let Some(source) = &mut trainer.marks else {
            return;
        };
        let found = source.poll(now, wall_now);
        let source_id = SourceId {
            source: ProgressSource::Marks,
            number: trainer.pid.0.unsigned_abs(),
        };
        for (time, update) in found.updates {
            let context = UpdateContext {
                t: time.t,
                process: Some(lead),
                is_history: time.is_history || time.t < trainer.lead_since,
            };
            self.run_progress.apply(update, source_id, context, marks);
        }
        for text in found.troubles {
            self.gaps.report_of(Some(lead), text);
        }
    }

    fn read_logs(&mut self, context: UpdateContext, marks: &mut Vec<Mark>) {
        for (source_id, log) in &mut self.logs {
            let found = log.poll();
            let context = UpdateContext {
                is_history: found.is_history,
                ..context
            };
            // A command that has just been started may append to the log of an earlier run.
            let is_of_earlier_run = found.is_history && self.options.has_output;
            for update in found.updates.into_iter().filter(|_| !is_of_earlier_run) {
                self.run_progress.apply(update, *source_id, context, marks);
            }
            if let Some(text) = found.trouble {
                self.gaps.report_of(context.process, text);
            }
        }
    }

    /// The steps of rank 0 count for the run; without ranks, those of the trainer that was found first.
    fn choose_lead(&mut self) {
        let lowest = self
            .trainers
            .iter()
            .min_by_key(|trainer| (trainer.rank.unwrap_or(Rank(0)), trainer.index));
        let lead = lowest.map(|trainer| trainer.index);
        if lead == self.lead {
            return;
        }
        self.run_progress.release(ProgressSource::Marks);
        if self.lead.is_some() {
            let newer = self.trainers.iter_mut().find(|it| Some(it.index) == lead);
            if let Some(newer) = newer.filter(|newer| newer.joined < self.now) {
                newer.lead_since = self.now;
            }
        }
        self.lead = lead;
        self.follow_logs_of_lead();
    }

    /// Follows the files that the lead's output goes to, unless the user named a log.
    fn follow_logs_of_lead(&mut self) {
        let (None, Some(lead)) = (&self.options.log, self.lead_trainer()) else {
            return;
        };
        let paths = stdout_logs_of(&lead.proc_root, lead.pid);
        // A restarted training may continue the log of the earlier one.
        self.logs
            .retain(|(_, log)| paths.iter().any(|path| path == log.path()));
        for path in paths {
            if !self.is_followed(&path) {
                match LogFollower::open(&path) {
                    Ok(log) => self.follow_log(log),
                    Err(error) => self.gaps.report_of(self.lead, error.to_string()),
                }
            }
        }
    }

    fn follow_log(&mut self, log: LogFollower) {
        let source_id = SourceId {
            source: ProgressSource::Log,
            number: self.next_source,
        };
        self.next_source += 1;
        self.logs.push((source_id, log));
    }

    fn is_followed(&self, path: &Path) -> bool {
        self.logs.iter().any(|(_, log)| log.path() == path)
    }

    fn lead_trainer(&self) -> Option<&Trainer> {
        let lead = self.lead?;
        self.trainers.iter().find(|trainer| trainer.index == lead)
    }

    /// Keeps the newest marks only, so that a faulty writer does not fill the disk with the recording.
    fn limit_marks(&mut self, marks: &mut Vec<Mark>) {
        let dropped = marks.len().saturating_sub(MOST_MARKS);
        if dropped > 0 {
            marks.drain(..dropped);
            let text = format!(
                "the training writes more than {MOST_MARKS} events and phases at a time; older ones are dropped"
            );
            self.gaps.report_of(self.lead, text);
        }
    }

    fn report_missing_sources(&mut self) {
        let Some(trainer) = self.lead_trainer() else {
            return;
        };
        let (lead, pid) = (trainer.index, trainer.pid);
        let has_marks = trainer.marks.as_ref().is_some_and(MarksSource::is_followed);
        if !has_marks && self.logs.is_empty() && !self.options.has_output {
            self.gaps.report_of(
                Some(lead),
                format!(
                    "steps are unknown: process {pid} has written no marks yet, and its output \
                     goes to no file; pass --log FILE, or let it write marks (docs/MARKS.md)"
                ),
            );
        }
        let living = self.trainers.iter().filter(|trainer| !trainer.has_exited);
        if living.count() > 1 {
            self.gaps.report(
                "steps are read from the trainer with the lowest rank only; marks and logs of the \
                 others are not read"
                    .to_owned(),
            );
        }
    }
}

#[cfg(test)]
#[path = "tracker/tests.rs"]
mod tests;
