//! How a run is stopped: kindly first, then less so, each stage with its own time.
//!
//! Only what to do is decided here; the guard does it. Time and who lives are passed in.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use leveloff_model::process::ProcessKey;
use leveloff_sampler::signalling::StopSignal;

use super::crew::Crew;

/// A stop that is under way.
#[derive(Debug)]
pub struct Stop {
    grace: Duration,
    signal: StopSignal,
    stage: Stage,
    /// When the stage began, or when the training last said that it is about to obey.
    since: Instant,
    /// Whether anybody was known to train when this began.
    has_trained: bool,
    /// Since when nobody trains any more, or nobody is left of those who were told.
    untrained_since: Option<Instant>,
    told: HashSet<ProcessKey>,
    /// Who was there when the stage began.
    present: HashSet<ProcessKey>,
    has_entered: bool,
    /// Whether the training has had its time anew, which it has once.
    has_answered: bool,
}

/// The stages, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// A request by the marks protocol.
    Request,
    /// The signal that trainings know.
    Signal,
    /// SIGTERM to every process of the tree.
    Terminate,
    /// SIGKILL to every process of the tree.
    Kill,
    /// Nobody is left, or nothing is left to be tried.
    Over,
}

/// What is to be done now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// A stage begins.
    Enter(Stage),
    /// Put the request beside the marks.
    Ask,
    /// Send a signal to this process.
    Send(ProcessKey, StopSignal),
}

/// What the training says about a stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// It is about to obey.
    Stopping,
    /// It cannot obey.
    NotStopping,
}

/// What is the case now.
#[derive(Debug)]
pub struct Scene<'a> {
    /// When.
    pub now: Instant,
    /// Who lives.
    pub crew: &'a Crew,
    /// Whether the training looks for requests.
    pub obeys_requests: bool,
    /// Whom the signal that trainings know would go to.
    pub addressees: Vec<ProcessKey>,
    /// What the training said since the last time.
    pub answer: Option<Answer>,
}

/// What is left of a run that does not train any more has this long to end by itself: workers, launchers.
/// torchrun gives its ranks 30 s and is done within one of their end.
const LEFTOVERS: Duration = Duration::from_secs(10);

impl Stop {
    /// A stop that begins now.
    pub fn begin(now: Instant, grace: Duration, signal: StopSignal) -> Stop {
        Stop {
            grace,
            signal,
            stage: Stage::Request,
            since: now,
            has_trained: false,
            untrained_since: None,
            told: HashSet::new(),
            present: HashSet::new(),
            has_entered: false,
            has_answered: false,
        }
    }

    /// Where it is.
    pub fn stage(&self) -> Stage {
        self.stage
    }

    /// What to do now.
    pub fn next(&mut self, scene: &Scene<'_>) -> Vec<Order> {
        let mut orders = Vec::new();
        if scene.crew.is_empty() {
            self.stage = Stage::Over;
            return orders;
        }
        let answers = scene.answer == Some(Answer::Stopping) && self.stage <= Stage::Signal;
        if answers && !std::mem::replace(&mut self.has_answered, true) {
            // A large checkpoint takes its time, and whoever writes it has understood.
            self.since = scene.now;
        }
        self.has_trained |= scene.crew.trains();
        let all = || scene.crew.members().iter().map(|member| member.key);
        let listens = self.told.is_empty() || all().any(|key| self.told.contains(&key));
        self.untrained_since = match (scene.crew.trains() || !self.has_trained) && listens {
            true => None,
            false => self.untrained_since.or(Some(scene.now)),
        };
        self.advance(scene);
        if !std::mem::replace(&mut self.has_entered, true) && self.stage != Stage::Over {
            orders.push(Order::Enter(self.stage));
            if self.stage == Stage::Request {
                orders.push(Order::Ask);
            }
            self.present = all().collect();
        }
        self.send_to_all(scene, &mut orders);
        orders
    }

    /// The user does not want to wait: the next stage begins.
    pub fn hurry(&mut self, now: Instant) {
        match self.stage {
            Stage::Request => self.enter(Stage::Signal, now),
            Stage::Signal => self.enter(Stage::Terminate, now),
            Stage::Terminate => self.enter(Stage::Kill, now),
            Stage::Kill | Stage::Over => {}
        }
    }

    /// The request could not be put: the next stage begins.
    pub fn cannot_ask(&mut self, now: Instant) {
        if self.stage == Stage::Request {
            self.enter(Stage::Signal, now);
        }
    }

    fn advance(&mut self, scene: &Scene<'_>) {
        while let Some(next) = self.due(scene) {
            self.enter(next, scene.now);
        }
    }

    /// The stage that is due, if another one is.
    fn due(&self, scene: &Scene<'_>) -> Option<Stage> {
        let is_spent = scene.now.duration_since(self.since) >= self.grace;
        let is_refused = scene.answer == Some(Answer::NotStopping);
        let leftovers = self.grace.min(LEFTOVERS);
        let is_left_over = self
            .untrained_since
            .is_some_and(|since| scene.now.duration_since(since) >= leftovers);
        match self.stage {
            // Once it was asked, whoever obeyed is gone and cannot say so any more.
            Stage::Request if !self.has_entered && !scene.obeys_requests => Some(Stage::Signal),
            Stage::Request if self.has_entered && is_refused => Some(Stage::Signal),
            Stage::Request if is_left_over => Some(Stage::Terminate),
            Stage::Request if is_spent => Some(Stage::Signal),
            Stage::Signal if is_left_over || is_spent => Some(Stage::Terminate),
            Stage::Terminate if is_spent => Some(Stage::Kill),
            // Who does not even die of SIGKILL waits for a device; nothing more can be done.
            Stage::Kill if is_spent => Some(Stage::Over),
            _ => None,
        }
    }

    fn enter(&mut self, stage: Stage, now: Instant) {
        self.stage = stage;
        self.since = now;
        self.told.clear();
        self.untrained_since = None;
        self.has_entered = false;
    }

    /// Whoever was born meanwhile is told as well.
    fn send_to_all(&mut self, scene: &Scene<'_>, orders: &mut Vec<Order>) {
        let all = || scene.crew.members().iter().map(|member| member.key);
        let (keys, signal): (Vec<ProcessKey>, StopSignal) = match self.stage {
            // A second one would be taken for impatience: trainings end at once on it. But who was started since,
            // by a shell that goes on with its next line, has not heard any.
            Stage::Signal => {
                let is_first = self.told.is_empty();
                let new = |key: &ProcessKey| is_first || !self.present.contains(key);
                (
                    scene.addressees.iter().copied().filter(new).collect(),
                    self.signal,
                )
            }
            Stage::Terminate => (all().collect(), StopSignal::TERM),
            Stage::Kill => (all().collect(), StopSignal::KILL),
            Stage::Request | Stage::Over => return,
        };
        for key in keys {
            if self.told.insert(key) {
                orders.push(Order::Send(key, signal));
                if self.stage == Stage::Terminate {
                    // Who is stopped hears nothing until it goes on.
                    orders.push(Order::Send(key, StopSignal::CONTINUE));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
