//! The stages of a stop, from a request to SIGKILL, each with its own grace period.
//!
//! This module only decides; [`super::active_stop`] acts. Time and the living processes are passed in.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use leveloff_model::process::ProcessKey;
use leveloff_sampler::signalling::StopSignal;

use super::run_processes::RunProcesses;

/// A stop in progress.
#[derive(Debug)]
pub struct StopSequence {
    grace: Duration,
    signal: StopSignal,
    stage: Stage,
    /// When the stage began, or when the training replied that it is stopping.
    since: Instant,
    /// Whether a trainer was seen since the stop began.
    had_trainer: bool,
    /// Since when the trainers, or all processes that got the signal, are gone.
    gone_since: Option<Instant>,
    /// The processes that were signalled in this stage.
    signalled: HashSet<ProcessKey>,
    /// The processes that lived when the stage began.
    present: HashSet<ProcessKey>,
    has_entered: bool,
    has_replied: bool,
}

/// The stages, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// A stop request by the marks protocol.
    Request,
    /// The signal that the training saves and stops on.
    Signal,
    /// SIGTERM to every process of the run.
    Terminate,
    /// SIGKILL to every process of the run.
    Kill,
    /// All processes have exited, or even SIGKILL did not help.
    Over,
}

/// What has to be done now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Report that a stage begins.
    EnterStage(Stage),
    /// Write the stop request next to the marks.
    Request,
    /// Send a signal to this process.
    Send(ProcessKey, StopSignal),
}

/// The training's reply to a stop request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrainingReply {
    /// It is going to save and stop.
    Stopping,
    /// It cannot.
    NotStopping,
}

/// The state of the run now.
#[derive(Debug)]
pub struct StopInput<'a> {
    /// The time.
    pub now: Instant,
    /// The living processes.
    pub processes: &'a RunProcesses,
    /// Whether the training reads stop requests.
    pub takes_requests: bool,
    /// The processes that the stop signal would go to.
    pub recipients: Vec<ProcessKey>,
    /// The training's reply since the last call.
    pub reply: Option<TrainingReply>,
}

/// Workers and launchers have this long to exit after the trainers. torchrun gives its ranks 30 s and exits within a second
/// of the last.
const LEFTOVERS: Duration = Duration::from_secs(10);

impl StopSequence {
    /// A stop that begins now.
    pub fn begin(now: Instant, grace: Duration, signal: StopSignal) -> StopSequence {
        StopSequence {
            grace,
            signal,
            stage: Stage::Request,
            since: now,
            had_trainer: false,
            gone_since: None,
            signalled: HashSet::new(),
            present: HashSet::new(),
            has_entered: false,
            has_replied: false,
        }
    }

    /// The current stage.
    pub fn stage(&self) -> Stage {
        self.stage
    }

    /// Advances to the stage that is due, and says what to do in it.
    pub fn next(&mut self, input: &StopInput<'_>) -> Vec<Action> {
        let mut actions = Vec::new();
        if input.processes.is_empty() {
            self.stage = Stage::Over;
            return actions;
        }
        let is_stopping =
            input.reply == Some(TrainingReply::Stopping) && self.stage <= Stage::Signal;
        if is_stopping && !std::mem::replace(&mut self.has_replied, true) {
            // A large checkpoint takes time. The grace period restarts once, so that replies cannot delay a stop for ever.
            self.since = input.now;
        }
        self.note_who_is_gone(input);
        while let Some(next) = self.due(input) {
            self.enter(next, input.now);
        }
        if !std::mem::replace(&mut self.has_entered, true) && self.stage != Stage::Over {
            actions.push(Action::EnterStage(self.stage));
            actions.extend((self.stage == Stage::Request).then_some(Action::Request));
            self.present = input.processes.keys().collect();
        }
        self.signal(input, &mut actions);
        actions
    }

    /// Begins the next stage now, because the user does not want to wait.
    pub fn skip_stage(&mut self, now: Instant) {
        match self.stage {
            Stage::Request => self.enter(Stage::Signal, now),
            Stage::Signal => self.enter(Stage::Terminate, now),
            Stage::Terminate => self.enter(Stage::Kill, now),
            Stage::Kill | Stage::Over => {}
        }
    }

    /// Begins the next stage, because the request could not be written.
    pub fn request_failed(&mut self, now: Instant) {
        if self.stage == Stage::Request {
            self.enter(Stage::Signal, now);
        }
    }

    fn note_who_is_gone(&mut self, input: &StopInput<'_>) {
        let has_trainer = input.processes.has_trainer();
        self.had_trainer |= has_trainer;
        let trainers_are_gone = self.had_trainer && !has_trainer;
        let recipients_are_gone = !self.signalled.is_empty()
            && !input
                .processes
                .keys()
                .any(|key| self.signalled.contains(&key));
        self.gone_since = match trainers_are_gone || recipients_are_gone {
            true => self.gone_since.or(Some(input.now)),
            false => None,
        };
    }

    /// The next stage, if it is due.
    fn due(&self, input: &StopInput<'_>) -> Option<Stage> {
        let is_expired = input.now.duration_since(self.since) >= self.grace;
        let is_refused = input.reply == Some(TrainingReply::NotStopping);
        let patience = self.grace.min(LEFTOVERS);
        let is_leftover = self
            .gone_since
            .is_some_and(|since| input.now.duration_since(since) >= patience);
        match self.stage {
            // After the request, a trainer that obeyed is gone, and with it its support for requests.
            Stage::Request if !self.has_entered && !input.takes_requests => Some(Stage::Signal),
            Stage::Request if self.has_entered && is_refused => Some(Stage::Signal),
            Stage::Request if is_leftover => Some(Stage::Terminate),
            Stage::Request if is_expired => Some(Stage::Signal),
            Stage::Signal if is_leftover || is_expired => Some(Stage::Terminate),
            Stage::Terminate if is_expired => Some(Stage::Kill),
            // A process that survives SIGKILL waits for a device; nothing more can be done.
            Stage::Kill if is_expired => Some(Stage::Over),
            _ => None,
        }
    }

    fn enter(&mut self, stage: Stage, now: Instant) {
        self.stage = stage;
        self.since = now;
        self.signalled.clear();
        self.gone_since = None;
        self.has_entered = false;
    }

    /// Signals each process once in each stage, also those that started since.
    fn signal(&mut self, input: &StopInput<'_>, actions: &mut Vec<Action>) {
        let (keys, signal): (Vec<ProcessKey>, StopSignal) = match self.stage {
            // Trainings exit at once on a second signal, so no process that lived then gets one. A process that a shell
            // has started since, as its next command, gets its first.
            Stage::Signal => {
                let is_first = self.signalled.is_empty();
                let is_new = |key: &ProcessKey| is_first || !self.present.contains(key);
                let recipients = input.recipients.iter().copied();
                (recipients.filter(is_new).collect(), self.signal)
            }
            Stage::Terminate => (input.processes.keys().collect(), StopSignal::TERM),
            Stage::Kill => (input.processes.keys().collect(), StopSignal::KILL),
            Stage::Request | Stage::Over => return,
        };
        for key in keys {
            if self.signalled.insert(key) {
                actions.push(Action::Send(key, signal));
                if self.stage == Stage::Terminate {
                    // A stopped process handles no signal until it is continued.
                    actions.push(Action::Send(key, StopSignal::CONTINUE));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
