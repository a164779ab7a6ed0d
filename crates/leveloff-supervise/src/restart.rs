//! Starting a run again after a guard stopped it: the way to keep a run going that leaks and is needed.
//!
//! The command is started by a `starter`, a small process of its own inside the run's tree, so that whatever
//! it starts has the terminal, the pipes and the recording of the first. When its command has ended it asks
//! at our `desk` whether to start again; if nobody answers, it ends as its command ended. [`Restarts`] is
//! what we answer.

mod desk;
mod starter;

pub use starter::starter_entry;

use std::ffi::OsString;
use std::time::{Duration, Instant};

use anyhow::Result;
use leveloff_model::units::{Seconds, Step};

use desk::Desk;

/// Whether and when to start again.
#[derive(Debug)]
pub struct Restarts {
    desk: Desk,
    command: String,
    most: u32,
    done: u32,
    pause: Duration,
    state: State,
    /// When the command that runs now was started, and the first step that it told.
    life: Life,
}

#[derive(Debug)]
struct Life {
    began: Instant,
    first_step: Option<Step>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// A command runs.
    Running,
    /// It has ended, and the starter waits for an answer.
    Asked,
    /// It is started again then.
    Due(Instant),
    /// It is not started again.
    Over,
}

/// What the guard has to say about a command that ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// Nothing: it ended by itself.
    Itself,
    /// It is being stopped, and not all of it has ended.
    BeingStopped,
    /// It was stopped, when this was the newest step.
    Stopped(Option<Step>),
}

/// What is to be done now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Turn {
    /// Nothing.
    Wait,
    /// Say this: it is not started again.
    Say(String),
    /// Say this: it is started again after a while.
    Pause(String),
    /// It is started again in this moment: whoever watches begins anew.
    Again(String),
}

/// How often is looked whether the starter asks.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// The pause before the first restart.
const FIRST_PAUSE: Duration = Duration::from_secs(5);

/// The longest pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(300);

/// A run that lasted this long is worth a short pause again.
const GOOD_LIFE: Duration = Duration::from_secs(600);

impl Restarts {
    /// Starts again with `command` by the shell, at most so many times.
    pub fn new(command: &str, most: u32) -> Result<Restarts> {
        Ok(Restarts {
            desk: Desk::open()?,
            command: command.to_owned(),
            most,
            done: 0,
            pause: FIRST_PAUSE,
            state: State::Running,
            life: Life::begin(),
        })
    }

    /// The command to be launched in place of the user's.
    pub fn wrap(&self, command: &[OsString]) -> Result<Vec<OsString>> {
        starter::command(self.desk.address(), &self.command, command)
    }

    /// How often it was started again.
    pub fn done(&self) -> u32 {
        self.done
    }

    /// How long until the next turn, if one is due by itself.
    pub fn next_turn_at(&self) -> Option<Instant> {
        match self.state {
            State::Due(at) => Some(at),
            State::Asked | State::Running => Some(Instant::now() + LOOK_EVERY),
            State::Over => None,
        }
    }

    /// Does what is due. `ending` is asked only when a command has ended.
    pub fn turn(&mut self, step: Option<Step>, ending: impl FnOnce() -> Ending) -> Turn {
        if self.state == State::Running {
            self.life.first_step = self.life.first_step.or(step);
            if self.desk.is_asked() {
                self.state = State::Asked;
            }
        }
        match self.state {
            State::Asked => self.consider(ending()),
            State::Due(at) if Instant::now() >= at => self.start(),
            _ => Turn::Wait,
        }
    }

    fn consider(&mut self, ending: Ending) -> Turn {
        let refusal = match ending {
            Ending::BeingStopped => return Turn::Wait,
            Ending::Itself => None,
            Ending::Stopped(_) if self.done == self.most => Some(format!(
                "started again {} times by now (--max-restarts), and not once more",
                self.done
            )),
            Ending::Stopped(step) if !self.life.made_progress(step) => {
                Some("not started again: it made no step since it was started".to_owned())
            }
            Ending::Stopped(_) => return self.pause(),
        };
        self.state = State::Over;
        self.desk.answer(false);
        refusal.map_or(Turn::Wait, Turn::Say)
    }

    fn pause(&mut self) -> Turn {
        if self.life.began.elapsed() >= GOOD_LIFE {
            self.pause = FIRST_PAUSE;
        }
        let pause = self.pause;
        self.pause = (pause * 2).min(LONGEST_PAUSE);
        self.state = State::Due(Instant::now() + pause);
        let (next, most) = (self.done + 1, self.most);
        let pause = Seconds(pause.as_secs_f64());
        Turn::Pause(format!(
            "starting again in {pause} ({next} of {most}): {}",
            self.command
        ))
    }

    fn start(&mut self) -> Turn {
        if !self.desk.answer(true) {
            self.state = State::Over;
            return Turn::Say(
                "cannot start again: the process that would do it is gone".to_owned(),
            );
        }
        self.done += 1;
        self.state = State::Running;
        self.life = Life::begin();
        Turn::Again(format!(
            "started again ({} of {}): {}",
            self.done, self.most, self.command
        ))
    }
}

impl Life {
    fn begin() -> Life {
        Life {
            began: Instant::now(),
            first_step: None,
        }
    }

    /// Where no steps are known, time has to do.
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

    fn ask(restarts: &Restarts) -> UnixStream {
        UnixStream::connect(restarts.desk.address()).unwrap()
    }

    fn answer(mut starter: UnixStream) -> String {
        let mut text = String::new();
        starter.read_to_string(&mut text).unwrap();
        text
    }

    #[test]
    fn one_that_ended_by_itself_is_not_started_again() {
        let mut restarts = Restarts::new("true", 3).unwrap();
        let starter = ask(&restarts);
        assert_eq!(restarts.turn(None, || Ending::Itself), Turn::Wait);
        assert_eq!(answer(starter), "end\n");
    }

    #[test]
    fn one_that_was_stopped_is_started_again_after_a_pause() {
        let mut restarts = Restarts::new("train --resume", 1).unwrap();
        restarts.turn(Some(Step(10)), || Ending::Itself);
        let starter = ask(&restarts);
        assert_eq!(restarts.turn(None, || Ending::BeingStopped), Turn::Wait);
        let Turn::Pause(text) = restarts.turn(None, || Ending::Stopped(Some(Step(90)))) else {
            panic!("it is going to be started");
        };
        assert_eq!(text, "starting again in 5 s (1 of 1): train --resume");
        assert_eq!(
            restarts.turn(None, || Ending::Itself),
            Turn::Wait,
            "not before its time"
        );
        restarts.state = State::Due(Instant::now());
        assert!(matches!(
            restarts.turn(None, || Ending::Itself),
            Turn::Again(_)
        ));
        assert_eq!(answer(starter), "again\n");
        restarts.turn(Some(Step(91)), || Ending::Itself);
        let starter = ask(&restarts);
        let Turn::Say(text) = restarts.turn(None, || Ending::Stopped(Some(Step(99)))) else {
            panic!("that was enough");
        };
        assert!(text.contains("--max-restarts"), "{text}");
        assert_eq!(answer(starter), "end\n");
    }

    #[test]
    fn one_that_made_no_step_would_be_stopped_for_ever() {
        let mut restarts = Restarts::new("true", 9).unwrap();
        restarts.turn(Some(Step(10)), || Ending::Itself);
        let starter = ask(&restarts);
        let Turn::Say(text) = restarts.turn(None, || Ending::Stopped(Some(Step(10)))) else {
            panic!("it is not started");
        };
        assert!(text.contains("made no step"), "{text}");
        assert_eq!(answer(starter), "end\n");
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
