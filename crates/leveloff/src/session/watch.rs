//! Turn after turn, until the run ends or the watching does.

use std::time::Instant;

use anyhow::Result;
use leveloff_model::recording::EndReason;
use leveloff_supervise::termination_signals::TerminationSignals;

use super::Session;

impl Session {
    /// Watches until the run ends, the time is over or a signal asks to stop.
    pub(crate) fn watch(
        &mut self,
        stop: &TerminationSignals,
        until: Option<Instant>,
    ) -> Result<(EndReason, &'static str)> {
        loop {
            if self.is_over() {
                return Ok((EndReason::TargetGone, "the run ended"));
            }
            let next = self.next_turn_at();
            // A stop that has begun is completed.
            let is_due = |until: &Instant| *until <= next && !self.is_stopping();
            if let Some(until) = until.filter(is_due) {
                return Ok(if stop.wait_until(until)? {
                    (EndReason::Stopped, "stopped; the run goes on")
                } else {
                    (EndReason::Duration, "time is over; the run goes on")
                });
            }
            if stop.wait_until(next)? {
                return Ok((EndReason::Stopped, "stopped; the run goes on"));
            }
            self.turn()?;
        }
    }
}
