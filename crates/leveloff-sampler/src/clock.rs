//! Clocks, passed in. The recording's clock counts from its start and never steps back, independently of the
//! wall clock; it includes suspended time, which is known separately.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use leveloff_model::units::Seconds;
use rustix::time::{ClockId, clock_gettime};

/// A source of time.
pub trait Clock {
    /// The current moment.
    fn now(&self) -> Moment;
}

/// One moment on several clocks.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Moment {
    /// Since boot, including suspended time.
    pub boot: Duration,
    /// Since boot, without suspended time.
    pub awake: Duration,
    /// Seconds since 1970. May step; used for nothing but labels and marks.
    pub unix: f64,
}

impl Moment {
    /// Time since an earlier moment, to the millisecond, which is the precision of a recording.
    pub fn since(&self, earlier: &Moment) -> Seconds {
        let elapsed = self.boot.saturating_sub(earlier.boot);
        Seconds((elapsed.as_secs_f64() * 1000.0).round() / 1000.0)
    }

    /// The wall clock's time.
    pub fn wall(&self) -> SystemTime {
        UNIX_EPOCH + Duration::try_from_secs_f64(self.unix).unwrap_or_default()
    }
}

/// This machine's clocks.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Moment {
        let unix = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        Moment {
            boot: duration(ClockId::Boottime),
            awake: duration(ClockId::Monotonic),
            unix: unix.as_secs_f64(),
        }
    }
}

/// CPU time that this thread has used.
pub fn thread_cpu() -> Duration {
    duration(ClockId::ThreadCPUTime)
}

/// CPU time that this whole process has used.
pub fn process_cpu() -> Duration {
    duration(ClockId::ProcessCPUTime)
}

fn duration(clock: ClockId) -> Duration {
    let time = clock_gettime(clock);
    Duration::new(
        u64::try_from(time.tv_sec).unwrap_or_default(),
        u32::try_from(time.tv_nsec).unwrap_or_default(),
    )
}
