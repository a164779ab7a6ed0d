//! Restarts a run after the guard stopped it, so that a run that leaks can go on.
//!
//! The command is started by a `wrapper`, a small process inside the run's tree, so that every restart has the terminal, the
//! pipes and the recording of the first start. When its command has ended, the wrapper connects to our `socket` and waits for
//! an answer; without one, it exits as its command did. [`Restarts`] decides on the answer.

mod socket;
mod wrapper;

use std::ffi::OsString;
use std::time::{Duration, Instant};

use anyhow::Result;
use leveloff_model::units::{Seconds, Step};

use socket::RestartSocket;

pub use wrapper::wrapper_entry;

/// Decides whether and when to restart.
#[derive(Debug)]
pub struct Restarts {
    socket: RestartSocket,
    command: String,
    most: u32,
    done: u32,
    pause: Duration,
    state: State,
    attempt: Attempt,
}

/// The command that runs now.
#[derive(Debug)]
struct Attempt {
    began: Instant,
    first_step: Option<Step>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// A command runs.
    Running,
    /// It has ended, and the wrapper waits for an answer.
    Ended,
    /// The restart is due then.
    Due(Instant),
    /// No more restarts.
    Over,
}

/// The part that the guard had in the end of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopState {
    /// None: the command ended by itself.
    NotStopped,
    /// A stop is in progress: other processes of the run are still alive.
    Stopping,
    /// The guard stopped the run; this was the newest step.
    Stopped(Option<Step>),
}

/// What the caller has to do now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RestartAction {
    /// Nothing.
    Wait,
    /// Say that there is no restart, and why.
    Refuse(String),
    /// Say that the restart follows after a pause.
    Pause(String),
    /// Say that the run was restarted now, and begin to watch a new run.
    Restarted(String),
}

/// How often to check whether the wrapper has connected.
const POLL_EVERY: Duration = Duration::from_millis(200);

/// The pause before the first restart.
const FIRST_PAUSE: Duration = Duration::from_secs(5);

/// The longest pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(300);

/// After an attempt that lasted this long, the pause is short again.
const LONG_ATTEMPT: Duration = Duration::from_secs(600);

impl Restarts {
    /// Restarts by running `command` with the shell, at most `most` times.
    pub fn new(command: &str, most: u32) -> Result<Restarts> {
        Ok(Restarts {
            socket: RestartSocket::open()?,
            command: command.to_owned(),
            most,
            done: 0,
            pause: FIRST_PAUSE,
            state: State::Running,
            attempt: Attempt::begin(),
        })
    }

    /// The command to launch in place of the user's.
    pub fn wrap(&self, command: &[OsString]) -> Result<Vec<OsString>> {
        wrapper::command(self.socket.address(), &self.command, command)
    }

    /// When [`Restarts::advance`] is due.
    pub fn next_turn_at(&self) -> Option<Instant> {
        match self.state {
            State::Due(at) => Some(at),
            State::Ended | State::Running => Some(Instant::now() + POLL_EVERY),
            State::Over => None,
        }
    }

    /// Does what is due. `stop_state` is called only when a command has ended.
    pub fn advance(
        &mut self,
        step: Option<Step>,
        stop_state: impl FnOnce() -> StopState,
    ) -> RestartAction {
        if self.state == State::Running {
            self.attempt.first_step = self.attempt.first_step.or(step);
            if self.socket.is_connected() {
                self.state = State::Ended;
            }
        }
        match self.state {
            State::Ended => self.decide(stop_state()),
            State::Due(at) if Instant::now() >= at => self.start(),
            _ => RestartAction::Wait,
        }
    }

    fn decide(&mut self, stop_state: StopState) -> RestartAction {
        let refusal = match stop_state {
            StopState::Stopping => return RestartAction::Wait,
            StopState::NotStopped => None,
            StopState::Stopped(_) if self.done == self.most => Some(format!(
                "not restarted: {} restarts are the most allowed (--max-restarts)",
                self.done
            )),
            StopState::Stopped(step) if !self.attempt.made_progress(step) => {
                Some("not restarted: it made no step since it was started".to_owned())
            }
            StopState::Stopped(_) => return self.pause(),
        };
        self.state = State::Over;
        self.socket.answer(false);
        refusal.map_or(RestartAction::Wait, RestartAction::Refuse)
    }

    fn pause(&mut self) -> RestartAction {
        if self.attempt.began.elapsed() >= LONG_ATTEMPT {
            self.pause = FIRST_PAUSE;
        }
        let pause = self.pause;
        self.pause = (pause * 2).min(LONGEST_PAUSE);
        self.state = State::Due(Instant::now() + pause);
        let (next, most) = (self.done + 1, self.most);
        let pause = Seconds(pause.as_secs_f64());
        RestartAction::Pause(format!(
            "restarting in {pause} ({next} of {most}): {}",
            self.command
        ))
    }

    fn start(&mut self) -> RestartAction {
        if !self.socket.answer(true) {
            self.state = State::Over;
            return RestartAction::Refuse(
                "cannot restart: the process that would do it is gone".to_owned(),
            );
        }
        self.done += 1;
        self.state = State::Running;
        self.attempt = Attempt::begin();
        RestartAction::Restarted(format!(
            "restarted ({} of {}): {}",
            self.done, self.most, self.command
        ))
    }
}

impl Attempt {
    fn begin() -> Attempt {
        Attempt {
            began: Instant::now(),
            first_step: None,
        }
    }

    /// Whether it made a step; where steps are not known, whether it lasted for a while.
    fn made_progress(&self, step: Option<Step>) -> bool {
        match (self.first_step, step) {
            (Some(first), Some(last)) => last > first,
            _ => self.began.elapsed() >= FIRST_PAUSE,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::os::unix::net::UnixStream;

    use super::*;

    fn connect(restarts: &Restarts) -> UnixStream {
        UnixStream::connect(restarts.socket.address()).unwrap()
    }

    fn answer(mut wrapper: UnixStream) -> String {
        let mut text = String::new();
        wrapper.read_to_string(&mut text).unwrap();
        text
    }

    #[test]
    fn a_command_that_ended_by_itself_is_not_restarted() {
        let mut restarts = Restarts::new("true", 3).unwrap();
        let wrapper = connect(&restarts);
        assert_eq!(
            restarts.advance(None, || StopState::NotStopped),
            RestartAction::Wait
        );
        assert_eq!(answer(wrapper), "end\n");
    }

    #[test]
    fn a_stopped_run_is_restarted_after_a_pause() {
        let mut restarts = Restarts::new("train --resume", 1).unwrap();
        restarts.advance(Some(Step(10)), || StopState::NotStopped);
        let wrapper = connect(&restarts);
        assert_eq!(
            restarts.advance(None, || StopState::Stopping),
            RestartAction::Wait
        );
        let RestartAction::Pause(text) =
            restarts.advance(None, || StopState::Stopped(Some(Step(90))))
        else {
            panic!("no pause");
        };
        assert_eq!(text, "restarting in 5 s (1 of 1): train --resume");
        assert_eq!(
            restarts.advance(None, || StopState::NotStopped),
            RestartAction::Wait,
            "not before its time"
        );
        restarts.state = State::Due(Instant::now());
        assert!(matches!(
            restarts.advance(None, || StopState::NotStopped),
            RestartAction::Restarted(_)
        ));
        assert_eq!(answer(wrapper), "again\n");
        restarts.advance(Some(Step(91)), || StopState::NotStopped);
        let wrapper = connect(&restarts);
        let RestartAction::Refuse(text) =
            restarts.advance(None, || StopState::Stopped(Some(Step(99))))
        else {
            panic!("restarted too often");
        };
        assert!(text.contains("--max-restarts"), "{text}");
        assert_eq!(answer(wrapper), "end\n");
    }

    #[test]
    fn a_run_without_a_step_is_not_restarted() {
        let mut restarts = Restarts::new("true", 9).unwrap();
        restarts.advance(Some(Step(10)), || StopState::NotStopped);
        let wrapper = connect(&restarts);
        let RestartAction::Refuse(text) =
            restarts.advance(None, || StopState::Stopped(Some(Step(10))))
        else {
            panic!("restarted without a step");
        };
        assert!(text.contains("made no step"), "{text}");
        assert_eq!(answer(wrapper), "end\n");
    }

    #[test]
    fn pauses_become_longer() {
        let mut restarts = Restarts::new("true", 99).unwrap();
        let mut pauses = Vec::new();
        for _ in 0..9 {
            pauses.push(restarts.pause.as_secs());
            restarts.pause();
        }
        assert_eq!(pauses, [5, 10, 20, 40, 80, 160, 300, 300, 300]);
    }
}
