//! Polls all sources and keeps the progress of the run.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use leveloff_model::process::{Pid, ProcessIndex, Rank};
use leveloff_model::progress::{Mark, MissingSteps, Progress, ProgressSource};
use leveloff_model::sample::{Gap, Subject};
use leveloff_model::units::Seconds;
use leveloff_progress::{
    OutputParser, ProgressUpdate, RunProgress, SourceId, StepRegex, UnixSeconds, UpdateContext,
};

use self::marks_source::{LATE, MarksSource, SEARCH_EVERY};
use self::step_watch::StepWatch;
use super::error::ProgressError;
use super::log_follower::{LogFollower, output_parser};
use super::marks::StopRequest;
use super::stdout_log::{goes_to_null, stdout_logs_of};
use super::step_files::StepFiles;
use crate::gap_log::GapLog;
use crate::proc_root::ProcRoot;

mod marks_source;
mod step_watch;

/// How many marks one poll returns at most.
const MOST_MARKS: usize = 1000;

/// How often a file that the lead's output goes to is searched for after [`LATE`], while there is none.
const LATE_LOG_SEARCH_EVERY: Seconds = Seconds(15.0);

/// Options for reading progress.
#[derive(Debug, Clone, Default)]
pub struct ProgressOptions {
    /// The log to follow, instead of the file that the training's output goes to.
    pub log: Option<PathBuf>,
    /// The training's output comes through [`ProgressTracker::feed_output`], as under `run`.
    pub has_output: bool,
    /// The user's pattern for the lines that hold the step.
    pub step_regex: Option<StepRegex>,
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
    /// No steps were read for a while; said once for each lead.
    pub missing: Option<MissingSteps>,
}

/// Reads marks, output and logs, and keeps the run's progress.
///
/// Marks outrank the output, the output a log, and a log what leveloff finds by itself: once a better source has a
/// step, the others are ignored.
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
    files: StepFiles,
    step_watch: StepWatch,
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
            outputs: [(); 2].map(|()| output_parser(options.step_regex.as_ref())),
            pending: Vec::new(),
            logs: Vec::new(),
            files: StepFiles::default(),
            step_watch: StepWatch::default(),
            next_source: 0,
            next_search: Seconds(f64::NEG_INFINITY),
            now: Seconds(f64::NEG_INFINITY),
            gaps: GapLog::about(Subject::Progress),
            options,
        };
        let pattern = tracker.pattern();
        for stream in [OutputStream::Stdout, OutputStream::Stderr] {
            let source_id = SourceId::direct(ProgressSource::Output, stream as u32);
            tracker
                .run_progress
                .describe(source_id, None, pattern.clone());
        }
        if let Some(path) = tracker.options.log.clone() {
            tracker.follow_log(tracker.open_log(&path)?);
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
        let source_id = SourceId::direct(ProgressSource::Output, stream as u32);
        for update in self.outputs[stream as usize].feed(bytes) {
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
            self.next_search = Seconds(now.0 + self.log_search_interval().0);
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
        self.read_files(context, &mut marks);
        self.name_counters();
        self.run_progress.mark_changes(context, &mut marks);
        self.limit_marks(&mut marks);
        self.report_other_trainers();
        let missing = self.missing_steps(now, wall_now.into());
        self.trainers.retain(|trainer| !trainer.has_exited);
        self.choose_lead();
        ProgressPoll {
            marks,
            gaps: self.gaps.take(),
            missing,
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

    /// A shell redirects the output before the program begins; few programs do it themselves, and hardly one late.
    fn log_search_interval(&self) -> Seconds {
        // One that was there from the start joined before the first poll.
        let joined = |trainer: &Trainer| Seconds(trainer.joined.0.max(0.0));
        match self.lead_trainer().map(joined) {
            Some(joined) if self.now - joined >= LATE => LATE_LOG_SEARCH_EVERY,
            _ => SEARCH_EVERY,
        }
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
        let source_id = SourceId::direct(ProgressSource::Marks, trainer.pid.0.unsigned_abs());
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

    /// Reads files that leveloff finds by itself, while no better source has steps.
    fn read_files(&mut self, context: UpdateContext, marks: &mut Vec<Mark>) {
        let lead = self.lead;
        let Some(lead) = self.trainers.iter().find(|it| Some(it.index) == lead) else {
            return;
        };
        let step_source = self.run_progress.step_source();
        let is_searching =
            self.options.log.is_none() && step_source.is_none_or(|source| source.is_found);
        let process = (&lead.proc_root, lead.pid);
        let step_regex = self.options.step_regex.as_ref();
        let found = self
            .files
            .poll(context.t, process, is_searching, step_regex);
        for file in found {
            if let Some(path) = file.opened {
                let pattern = self.pattern();
                self.run_progress.describe(file.id, Some(path), pattern);
            }
            let context = UpdateContext {
                is_history: file.updates.is_history,
                ..context
            };
            let is_of_earlier_run = file.updates.is_history && self.options.has_output;
            for update in file
                .updates
                .updates
                .into_iter()
                .filter(|_| !is_of_earlier_run)
            {
                self.run_progress.apply(update, file.id, context, marks);
            }
        }
        if let Some(current) = step_source.filter(|source| source.is_found)
            && self.files.give_up_stale(current, context.t)
        {
            self.run_progress.give_up_step_source();
        }
    }

    fn name_counters(&mut self) {
        for (number, output) in (0..).zip(&self.outputs) {
            if let Some(name) = output.clock_name() {
                let source_id = SourceId::direct(ProgressSource::Output, number);
                self.run_progress.name_counter(source_id, name);
            }
        }
        let logs = self.logs.iter();
        let logs = logs.filter_map(|(id, log)| Some((*id, log.clock_name()?)));
        for (source_id, name) in logs.chain(self.files.clock_names()) {
            self.run_progress.name_counter(source_id, name);
        }
    }

    /// What to say about missing steps, if it is time for that.
    fn missing_steps(&mut self, now: Seconds, wall_now: UnixSeconds) -> Option<MissingSteps> {
        let lead = self.lead?;
        let marks = self.lead_trainer()?.marks.as_ref();
        let started = marks.and_then(MarksSource::started);
        let age = started.map_or(0.0, |started| wall_now.0 - started.0);
        let logs = self.logs.iter().filter_map(|(_, log)| log.seen());
        let seen = self.outputs.iter().map(OutputParser::seen).chain(logs);
        let seen = seen.chain(self.files.seen());
        let has_step = self.run_progress.progress().step.is_some();
        let missing = self
            .step_watch
            .missing(lead, (now, Seconds(age)), has_step, seen)?;
        let trainer = self.lead_trainer();
        Some(MissingSteps {
            goes_to_null: trainer.is_some_and(|it| goes_to_null(&it.proc_root, it.pid)),
            ..missing
        })
    }

    fn pattern(&self) -> Option<String> {
        let step_regex = self.options.step_regex.as_ref();
        step_regex.map(|regex| regex.pattern().to_owned())
    }

    fn open_log(&self, path: &Path) -> Result<LogFollower, ProgressError> {
        LogFollower::open_by(path, self.options.step_regex.as_ref())
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
                match self.open_log(&path) {
                    Ok(log) => self.follow_log(log),
                    Err(error) => self.gaps.report_of(self.lead, error.to_string()),
                }
            }
        }
    }

    fn follow_log(&mut self, log: LogFollower) {
        let source_id = SourceId::direct(ProgressSource::Log, self.next_source);
        self.next_source += 1;
        let path = log.path().to_string_lossy().into_owned();
        self.run_progress
            .describe(source_id, Some(path), self.pattern());
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

    fn report_other_trainers(&mut self) {
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
