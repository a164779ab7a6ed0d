//! The watch over a command that we started, and what goes with it: screen, guard, restarts.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use anyhow::Result;
use leveloff_dashboard::event::SourceNews;
use leveloff_model::recording::{EndReason, StatedFacts};
use leveloff_model::sample::Tick;
use leveloff_prometheus::metrics::Metrics;
use leveloff_sampler::sampler::{SamplerError, SamplerOptions};
use leveloff_supervise::guard::Guard;
use leveloff_supervise::launch::{Outcome, OutputStream};
use leveloff_supervise::oom::OomWatch;
use leveloff_supervise::restart::{Ending, Restarts, Turn};
use leveloff_supervise::stop_requests::StopRequests;

use crate::notice::notice;
use crate::recorder::Recorder;
use crate::session::Session;
use crate::show::Show;

/// Without anything to sample, the command is still served: keys, sizes, signals.
const SERVE_WITHOUT_SAMPLING: Duration = Duration::from_secs(60);

/// The watch over the command, as long as it can be kept up, and the screen, as long as it is shown.
pub struct Watching {
    /// `None` when it could not be kept up.
    session: Option<Box<Session>>,
    pub show: Option<Show>,
    /// Until there is a first sample.
    pub guard: Option<Guard>,
    /// Who starts the command again, if anybody does.
    pub restarts: Option<Restarts>,
}

impl Watching {
    pub fn start(
        recorder: Recorder,
        options: SamplerOptions,
        stated: &StatedFacts,
        oom: OomWatch,
        metrics: Option<Metrics>,
    ) -> Watching {
        let prepared = |session: Session| {
            let session = session.without_status_line().with_oom_watch(oom);
            session.judged_by(stated).publish_to(metrics)
        };
        let session = match Session::start(recorder, options) {
            Ok(session) => Some(Box::new(prepared(session))),
            Err(error) => {
                notice(&format!(
                    "cannot watch the command, which goes on: {error:#}"
                ));
                None
            }
        };
        Watching {
            session,
            show: None,
            guard: None,
            restarts: None,
        }
    }

    pub fn next_turn_at(&self) -> Instant {
        let next = match &self.session {
            Some(session) => session.next_turn_at(),
            None => Instant::now() + SERVE_WITHOUT_SAMPLING,
        };
        let restart = self.restarts.as_ref().and_then(Restarts::next_turn_at);
        restart.map_or(next, |restart| next.min(restart))
    }

    pub fn feed(&mut self, stream: OutputStream, bytes: &[u8]) {
        if let Some(session) = &mut self.session
            && !bytes.is_empty()
        {
            session.sampler().feed_output(stream, bytes);
        }
    }

    /// Does what is due.
    pub fn turn(&mut self) {
        self.step(Session::turn);
    }

    /// A step that fails, or even panics, ends the watch and not the command.
    pub fn step<T: Into<Option<Tick>>>(
        &mut self,
        step: impl FnOnce(&mut Session) -> Result<T, SamplerError>,
    ) {
        let Some(session) = &mut self.session else {
            return;
        };
        match catch_unwind(AssertUnwindSafe(|| step(session).map(Into::into))) {
            Ok(Ok(None)) => {}
            Ok(Ok(Some(tick))) => {
                self.post_guard();
                if let Some(show) = &mut self.show {
                    show.offer(&tick);
                }
            }
            // It was over before the first sample; its end is told like any other.
            Ok(Err(SamplerError::Gone(_))) => {}
            Ok(Err(error)) => self.give_up(&error.to_string()),
            Err(_) => self.give_up("leveloff has a bug, please report the lines above"),
        }
    }

    /// After the first sample. The command runs by now, and goes on also if it cannot be guarded.
    fn post_guard(&mut self) {
        if let (Some(session), Some(guard)) = (&mut self.session, self.guard.take())
            && let Err(error) = session.guard_by(guard)
        {
            notice(&format!("NOT GUARDED, the command goes on: {error:#}"));
        }
    }

    /// Starts the command again, or not, when it has ended.
    pub fn mind_restarts(&mut self) {
        let Some(restarts) = &mut self.restarts else {
            return;
        };
        let session = self.session.as_mut();
        let step = session.as_ref().and_then(|session| session.step());
        let ending = || {
            session
                .as_ref()
                .map_or(Ending::Itself, |session| session.ending())
        };
        match restarts.turn(step, ending) {
            Turn::Wait => {}
            Turn::Say(text) => notice(&text),
            Turn::Pause(text) => {
                if let Some(session) = &mut self.session {
                    session.tell_stop();
                }
                notice(&text);
            }
            Turn::Again(text) => {
                notice(&text);
                if let Some(session) = &mut self.session {
                    session.begin_anew();
                }
            }
        }
    }

    /// The command has ended, and some of its tree may not have: what a guard has begun, it finishes. Whoever asks to
    /// end meanwhile wants the next stage now.
    pub fn see_stop_through(&mut self) -> Result<()> {
        let is_stopping =
            |session: &Option<Box<Session>>| session.as_ref().is_some_and(|it| it.is_stopping());
        if !is_stopping(&self.session) {
            return Ok(());
        }
        let asked = StopRequests::listen()?;
        while is_stopping(&self.session) {
            if asked.wait_until(self.next_turn_at())?
                && let Some(session) = &mut self.session
            {
                session.hurry_stop();
            }
            self.turn();
        }
        Ok(())
    }

    pub fn was_stopped_by_guard(&self) -> bool {
        self.session
            .as_ref()
            .is_some_and(|session| session.was_stopped_by_guard())
    }

    fn give_up(&mut self, why: &str) {
        notice(&format!(
            "no longer watching the command, which goes on: {why}"
        ));
        self.session = None;
    }

    /// Whether the screen was left since this was asked last.
    pub fn is_screen_left(&mut self) -> Result<bool> {
        let is_left = match &self.show {
            Some(show) => show.is_left_by(Instant::now())?,
            None => false,
        };
        if is_left {
            self.show = None;
        }
        Ok(is_left)
    }

    pub fn finish(self, command: &[String], outcome: Outcome, is_checked: bool) {
        let name = command.first().map_or("the command", String::as_str);
        let (reason, ended) = match outcome {
            Outcome::Code(code) => (
                EndReason::Exited(code),
                format!("{name} ended with code {code}"),
            ),
            Outcome::Signal(signal) => (
                EndReason::Signalled(signal),
                format!("{name} was ended by signal {signal}"),
            ),
        };
        let mut session = self.session;
        if let Some(session) = &mut session {
            session.end_recording(reason);
        }
        if let Some(show) = self.show {
            let killed = session
                .as_mut()
                .and_then(|session| session.oom_report(reason));
            let was_stopped = session
                .as_ref()
                .is_some_and(|session| session.was_stopped_by_guard());
            let told = match killed {
                Some(killed) => format!("{ended}, {}", killed.brief()),
                None if was_stopped => format!("{ended}, stopped by the guard"),
                None => ended.clone(),
            };
            show.tell(SourceNews::Ended(told));
            show.wait();
        }
        match session {
            Some(session) if is_checked => session.finish_quietly(reason),
            Some(session) => session.finish(reason, &ended, 0),
            None => {}
        }
    }
}
