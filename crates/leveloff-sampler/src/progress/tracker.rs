//! The run's progress, from whichever source tells it best.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use leveloff_model::process::{Pid, ProcessIndex, Rank};
use leveloff_model::progress::{Mark, Progress, ProgressSource};
use leveloff_model::sample::{Gap, Subject};
use leveloff_model::units::Seconds;
use leveloff_progress::{
    OutputParser, ProgressUpdate, RunProgress, SourceId, UnixSeconds, UpdateContext,
};

use self::marks_source::{LOOK_EVERY, MarksSource};
use super::error::ProgressError;
use super::log_follower::LogFollower;
use super::marks::StopRequest;
use super::stdout_log::stdout_logs_of;
use crate::proc_root::ProcRoot;

mod marks_source;

/// Events and phases that are taken at a time.
const MOST_MARKS: usize = 1000;

/// What the user said about progress.
#[derive(Debug, Clone, Default)]
pub struct ProgressOptions {
    /// The log to follow, instead of the file that the training's output goes to.
    pub log: Option<PathBuf>,
    /// The training's output is going to be fed in, as under `run`.
    pub has_output: bool,
}

/// Which of a child's outputs bytes came from. A terminal has only the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputStream {
    /// Standard output, or the terminal.
    Stdout,
    /// Standard error.
    Stderr,
}

/// What a poll found.
#[derive(Debug, Default, PartialEq)]
pub struct ProgressNews {
    /// What the training said, oldest first.
    pub marks: Vec<Mark>,
    /// What could not be learned, each said once.
    pub gaps: Vec<Gap>,
}

/// Listens to marks, output and logs, and keeps the run's progress.
///
/// Marks outrank the output, and the output a log: once the better source has told a step, the
/// others are ignored. Of several trainers the one with the lowest rank is listened to.
#[derive(Debug)]
pub struct ProgressTracker {
    options: ProgressOptions,
    run_progress: RunProgress,
    trainers: Vec<Trainer>,
    lead: Option<ProcessIndex>,
    outputs: [OutputParser; 2],
    /// What the output told since the last poll.
    heard: Vec<(SourceId, ProgressUpdate)>,
    logs: Vec<(SourceId, LogFollower)>,
    next_source: u32,
    /// When to look again for a log, while there is none.
    next_look: Seconds,
    /// When was last polled.
    now: Seconds,
    said: HashSet<String>,
    gaps: Vec<Gap>,
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
    /// What it marked before this is no event of the run: another one was listened to.
    listened_to_since: Seconds,
    /// It is gone, and its last words are still to be read.
    is_gone: bool,
}

impl ProgressTracker {
    /// Fails when the log that was asked for cannot be followed.
    pub fn new(options: ProgressOptions) -> Result<ProgressTracker, ProgressError> {
        let mut tracker = ProgressTracker {
            run_progress: RunProgress::default(),
            trainers: Vec::new(),
            lead: None,
            outputs: Default::default(),
            heard: Vec::new(),
            logs: Vec::new(),
            next_source: 0,
            next_look: Seconds(f64::NEG_INFINITY),
            now: Seconds(f64::NEG_INFINITY),
            said: HashSet::new(),
            gaps: Vec::new(),
            options,
        };
        if let Some(path) = tracker.options.log.clone() {
            tracker.follow_log(LogFollower::open(&path)?);
        }
        Ok(tracker)
    }

    /// A trainer was found: looks where its marks and its output go to.
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
            // A process that is already gone has nothing to tell.
            marks: MarksSource::of(proc_root, pid).ok(),
            joined: self.now,
            listened_to_since: Seconds(f64::NEG_INFINITY),
            is_gone: false,
        });
        self.choose_lead();
    }

    /// A trainer is gone. The next poll still reads what it said last.
    pub fn forget_process(&mut self, index: ProcessIndex) {
        for trainer in &mut self.trainers {
            trainer.is_gone |= trainer.index == index;
        }
    }

    /// The child printed something.
    pub fn feed_output(&mut self, stream: OutputStream, bytes: &[u8]) {
        let number = stream as u32;
        for update in self.outputs[number as usize].feed(bytes) {
            let source_id = SourceId {
                source: ProgressSource::Output,
                number,
            };
            match self.heard.last_mut() {
                Some((before, last)) if *before == source_id && last.is_only_a_step() => {
                    last.merge_later(update);
                }
                _ => self.heard.push((source_id, update)),
            }
        }
    }

    /// Reads what is new everywhere. Costs a few system calls when nothing is.
    pub fn poll(&mut self, now: Seconds, wall_now: SystemTime) -> ProgressNews {
        let mut marks = Vec::new();
        self.now = now;
        if self.logs.is_empty() && now >= self.next_look {
            self.next_look = Seconds(now.0 + LOOK_EVERY.0);
            self.follow_logs_of_lead();
        }
        self.read_marks(now, wall_now.into(), &mut marks);
        let context = UpdateContext {
            t: now,
            process: self.lead,
            is_history: false,
        };
        for (source_id, update) in std::mem::take(&mut self.heard) {
            self.run_progress
                .apply(update, source_id, context, &mut marks);
        }
        self.read_logs(context, &mut marks);
        self.run_progress.mark_changes(context, &mut marks);
        self.leave_out_a_flood(&mut marks);
        self.say_what_is_not_heard();
        self.trainers.retain(|trainer| !trainer.is_gone);
        self.choose_lead();
        ProgressNews {
            marks,
            gaps: std::mem::take(&mut self.gaps),
        }
    }

    /// The run's progress as of the last poll.
    pub fn progress(&self) -> &Progress {
        self.run_progress.progress()
    }

    /// How to ask the training to save and stop: beside the marks that are read, once there are some.
    pub fn stop_request(&self) -> Option<StopRequest> {
        let lead = self.lead_trainer()?;
        lead.marks.as_ref()?.stop_request(lead.index)
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
        let news = source.poll(now, wall_now);
        let source_id = SourceId {
            source: ProgressSource::Marks,
            number: trainer.pid.0.unsigned_abs(),
        };
        for (heard, update) in news.updates {
            let context = UpdateContext {
                t: heard.t,
                process: Some(lead),
                is_history: heard.is_history || heard.t < trainer.listened_to_since,
            };
            self.run_progress.apply(update, source_id, context, marks);
        }
        for text in news.troubles {
            self.say(Some(lead), text);
        }
    }

    fn read_logs(&mut self, context: UpdateContext, marks: &mut Vec<Mark>) {
        let mut troubles = Vec::new();
        for (source_id, log) in &mut self.logs {
            let news = log.poll();
            let context = UpdateContext {
                is_history: news.is_history,
                ..context
            };
            // A command that has just been started may append to the log of an earlier run.
            let is_anothers = news.is_history && self.options.has_output;
            for update in news.updates.into_iter().filter(|_| !is_anothers) {
                self.run_progress.apply(update, *source_id, context, marks);
            }
            troubles.extend(news.trouble);
        }
        for text in troubles {
            self.say(context.process, text);
        }
    }

    /// Rank 0's steps are the run's; without ranks, the first trainer's that was found.
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
                newer.listened_to_since = self.now;
            }
        }
        self.lead = lead;
        self.follow_logs_of_lead();
    }

    /// Follows what the lead's output goes to, unless a log was asked for.
    fn follow_logs_of_lead(&mut self) {
        // The output of one that is gone may still be read to its end.
        let (None, Some(lead)) = (&self.options.log, self.lead_trainer()) else {
            return;
        };
        let paths = stdout_logs_of(&lead.proc_root, lead.pid);
        // A restarted training goes on in the log of the one before.
        self.logs
            .retain(|(_, log)| paths.iter().any(|path| path == log.path()));
        for path in paths {
            if !self.is_followed(&path) {
                match LogFollower::open(&path) {
                    Ok(log) => self.follow_log(log),
                    Err(error) => self.say(self.lead, error.to_string()),
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

    /// A writer gone mad must not fill the disk by our hands. The newest say how things stand.
    fn leave_out_a_flood(&mut self, marks: &mut Vec<Mark>) {
        let superfluous = marks.len().saturating_sub(MOST_MARKS);
        if superfluous > 0 {
            marks.drain(..superfluous);
            let text = format!(
                "the training tells more than {MOST_MARKS} events and phases at a time; older ones are left out"
            );
            self.say(self.lead, text);
        }
    }

    fn say_what_is_not_heard(&mut self) {
        let Some(trainer) = self.lead_trainer() else {
            return;
        };
        let (lead, pid) = (trainer.index, trainer.pid);
        let has_marks = trainer.marks.as_ref().is_some_and(MarksSource::is_followed);
        if !has_marks && self.logs.is_empty() && !self.options.has_output {
            self.say(
                Some(lead),
                format!(
                    "steps are unknown: process {pid} has written no marks yet, and its output \
                     goes to no file; pass --log FILE, or let it write marks (docs/MARKS.md)"
                ),
            );
        }
        let living = self.trainers.iter().filter(|trainer| !trainer.is_gone);
        if living.count() > 1 {
            self.say(
                None,
                "of several trainers only the one with the lowest rank is asked for steps; marks \
                 and logs of the others are not read"
                    .to_owned(),
            );
        }
    }

    fn say(&mut self, process: Option<ProcessIndex>, text: String) {
        if self.said.insert(text.clone()) {
            self.gaps.push(Gap {
                subject: Subject::Progress,
                process,
                text,
            });
        }
    }
}

#[cfg(test)]
#[path = "tracker/tests.rs"]
mod tests;
