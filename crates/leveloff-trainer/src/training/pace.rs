//! Limits the speed of the training.

use std::thread;
use std::time::{Duration, Instant};

/// The longest sleep between two checks for a stop request.
const NAP: Duration = Duration::from_millis(50);

/// The shortest time of a step.
#[derive(Debug)]
pub struct Pace {
    step_takes: Option<Duration>,
    next: Instant,
}

impl Pace {
    /// Of so many steps a second, or as fast as it goes.
    pub fn new(steps_per_second: Option<f64>) -> Pace {
        let seconds = steps_per_second.map(|pace| 1.0 / pace);
        Pace {
            step_takes: seconds.and_then(|s| Duration::try_from_secs_f64(s).ok()),
            next: Instant::now(),
        }
    }

    /// Waits until the next step is due, or until `wants_out`. A late step is not made up for.
    pub fn wait(&mut self, wants_out: impl Fn() -> bool) {
        let Some(step_takes) = self.step_takes else {
            return;
        };
        self.next = (self.next + step_takes).max(Instant::now());
        while !wants_out() {
            match self.next.checked_duration_since(Instant::now()) {
                Some(left) if !left.is_zero() => thread::sleep(left.min(NAP)),
                _ => return,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_waits_for_the_length_of_a_step_unless_a_stop_is_requested() {
        let begin = Instant::now();
        let mut pace = Pace::new(Some(100.0));
        (0..5).for_each(|_| pace.wait(|| false));
        assert!(begin.elapsed() >= Duration::from_millis(50));
        // Would be a thousand seconds.
        Pace::new(Some(0.001)).wait(|| true);
        Pace::new(None).wait(|| false);
    }
}
