//! A command that leveloff started, with its session, screen, guard and restarts.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use anyhow::Result;
use leveloff_dashboard::event::SourceEvent;
use leveloff_model::recording::EndReason;
use leveloff_model::sample::Tick;
use leveloff_sampler::sampler::{SamplerError, SamplerOptions};
use leveloff_supervise::guard::Guard;
use leveloff_supervise::launch::{Outcome, OutputStream};
use leveloff_supervise::restart::{RestartAction, Restarts, StopState};
use leveloff_supervise::termination_signals::TerminationSignals;

use super::trial_end::TrialEnd;
use crate::notice::notice;
use crate::screen_thread::ScreenThread;
use crate::session::{Session, SessionBuilder};

/// Without anything to sample, the command is still served: keys, sizes, signals.
const SERVE_WITHOUT_SAMPLING: Duration = Duration::from_secs(60);

/// The command with its session, as long as that works, and its screen, as long as that is shown.
pub(crate) struct WatchedCommand {
    /// `None` after a failure.
    session: Option<Box<Session>>,
    pub screen: Option<ScreenThread>,
    /// Until there is a first sample.
    pub guard: Option<Guard>,
    /// Starts the command again, if that is wanted.
    pub restarts: Option<Restarts>,
    /// Says when `leveloff try` has seen enough of the command.
    pub trial: Option<TrialEnd>,
}

impl WatchedCommand {
    pub(crate) fn start(builder: SessionBuilder<'_>, options: SamplerOptions) -> WatchedCommand {
        let session = match builder.start(options) {
            Ok(session) => Some(Box::new(session)),
            Err(error) => {
                notice(&format!(
                    "cannot watch the command, which goes on: {error:#}"
                ));
                None
            }
        };
        WatchedCommand {
            session,
            screen: None,
            guard: None,
            restarts: None,
            trial: None,
        }
    }

    pub(crate) fn next_turn_at(&self) -> Instant {
        let next = match &self.session {
            Some(session) => session.next_turn_at(),
            None => Instant::now() + SERVE_WITHOUT_SAMPLING,
        };
        let restart = self.restarts.as_ref().and_then(Restarts::next_turn_at);
        restart.map_or(next, |restart| next.min(restart))
    }

    pub(crate) fn feed(&mut self, stream: OutputStream, bytes: &[u8]) {
        if let Some(session) = &mut self.session
            && !bytes.is_empty()
        {
            session.sampler().feed_output(stream, bytes);
        }
    }

    pub(crate) fn turn(&mut self) {
        if let (Some(trial), Some(session)) = (&self.trial, &mut self.session)
            && trial.is_over()
        {
            session.end_trial();
        }
        self.step(Session::turn);
    }

    /// A step that fails, or even panics, ends the watch and not the command.
    pub(crate) fn step<T: Into<Option<Tick>>>(
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
                if let Some(screen) = &mut self.screen {
                    screen.offer(&tick);
                }
            }
            // It ended before the first sample; its end is reported like any other.
            Ok(Err(SamplerError::Gone(_))) => {}
            Ok(Err(error)) => self.give_up(&error.to_string()),
            Err(_) => self.give_up("leveloff has a bug, please report the lines above"),
        }
    }

    /// After the first sample. The command already runs, and goes on even if it cannot be guarded.
    fn post_guard(&mut self) {
        if let (Some(session), Some(guard)) = (&mut self.session, self.guard.take())
            && let Err(error) = session.guard_by(guard)
        {
            notice(&format!("NOT GUARDED, the command goes on: {error:#}"));
        }
    }

    /// Starts the command again, or not, when it has ended.
    pub(crate) fn restart_if_due(&mut self) {
        let Some(restarts) = &mut self.restarts else {
            return;
        };
        let session = self.session.as_mut();
        let step = session.as_ref().and_then(|session| session.step());
        let stop_state = || {
            session
                .as_ref()
                .map_or(StopState::NotStopped, |session| session.stop_state())
        };
        match restarts.advance(step, stop_state) {
            RestartAction::Wait => {}
            RestartAction::Refuse(text) => notice(&text),
            RestartAction::Pause(text) => {
                if let Some(session) = &mut self.session {
                    session.report_stop();
                }
                notice(&text);
            }
            RestartAction::Restarted(text) => {
                notice(&text);
                if let Some(session) = &mut self.session {
                    session.restart();
                }
            }
        }
    }

    /// Completes a stop that the guard has begun: the command has ended, and some of its tree may not have. A signal to
    /// leveloff meanwhile skips to the next stage.
    pub(crate) fn finish_stop(&mut self) -> Result<()> {
        let is_stopping =
            |session: &Option<Box<Session>>| session.as_ref().is_some_and(|it| it.is_stopping());
        if !is_stopping(&self.session) {
            return Ok(());
        }
        let stop = TerminationSignals::listen()?;
        while is_stopping(&self.session) {
            if stop.wait_until(self.next_turn_at())?
                && let Some(session) = &mut self.session
            {
                session.hurry_stop();
            }
            self.turn();
        }
        Ok(())
    }

    pub(crate) fn was_stopped_by_guard(&self) -> bool {
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

    /// Whether the screen was left since the last call.
    pub(crate) fn is_screen_left(&mut self) -> Result<bool> {
        let is_left = match &self.screen {
            Some(screen) => screen.is_left_by(Instant::now())?,
            None => false,
        };
        if is_left {
            self.screen = None;
        }
        Ok(is_left)
    }

    pub(crate) fn finish(self, command: &[String], outcome: Outcome, is_checked: bool) {
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
        if let Some(screen) = self.screen {
            let killed = session
                .as_mut()
                .and_then(|session| session.oom_report(reason));
            let was_stopped = session
                .as_ref()
                .is_some_and(|session| session.was_stopped_by_guard());
            let shown = match killed {
                Some(killed) => format!("{ended}, {}", killed.brief()),
                None if was_stopped => format!("{ended}, stopped by the guard"),
                None => ended.clone(),
            };
            screen.show_source(SourceEvent::Ended(shown));
            screen.wait();
        }
        match session {
            Some(session) if is_checked => session.finish_quietly(reason),
            Some(session) => session.finish(reason, &ended, 0),
            None => {}
        }
    }
}
