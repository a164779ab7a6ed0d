//! Follows the segments of a running program on a thread of its own, and makes events of a recording from them.

mod follower;
mod reading_schedule;
mod recorded_sites;

use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use leveloff_model::sample::{Event, Gap, Subject};
use leveloff_model::units::Seconds;

use crate::site_table::SiteTable;
use follower::Follower;
use reading_schedule::ReadingSchedule;
use recorded_sites::RecordedSites;

/// Segments are read this often.
const PACE: Duration = Duration::from_secs(1);
/// What the newest readings held; the last of a run is chosen among them.
const READINGS_KEPT: usize = 5;

/// Collects what a program allocates.
#[derive(Debug)]
pub struct Collector {
    shared: Arc<Mutex<Shared>>,
    /// The thread ends when this is dropped.
    _stop: Sender<()>,
    schedule: ReadingSchedule,
    /// Time of the last reading.
    last_t: f64,
    sites: RecordedSites,
}

/// What the thread found.
#[derive(Debug, Default)]
struct Shared {
    /// The newest readings, oldest first. The program's end frees much, so the last one may be too late.
    readings: Vec<Reading>,
    gaps: Vec<Gap>,
}

/// What the sites held at a moment.
#[derive(Debug)]
struct Reading {
    at: Instant,
    table: SiteTable,
}

impl Collector {
    /// Follows the segments that appear in a directory.
    pub fn start(directory: &Path) -> Collector {
        let shared: Arc<Mutex<Shared>> = Arc::default();
        let (stop, stopped) = channel();
        let directory = directory.to_owned();
        let found = Arc::clone(&shared);
        let follow = move || {
            let mut follower = Follower::new(&directory);
            while stopped.recv_timeout(PACE) == Err(RecvTimeoutError::Timeout) {
                let polled = follower.poll();
                let mut shared = found.lock().unwrap_or_else(PoisonError::into_inner);
                shared.gaps.append(&mut follower.gaps);
                if let Some(at) = polled {
                    if shared.readings.len() == READINGS_KEPT {
                        shared.readings.remove(0);
                    }
                    let table = follower.table().clone();
                    shared.readings.push(Reading { at, table });
                }
            }
        };
        // Without a thread there are no lines, and nothing else is missing.
        let _ = std::thread::Builder::new()
            .name("allocations".to_owned())
            .spawn(follow);
        Collector {
            shared,
            _stop: stop,
            schedule: ReadingSchedule::default(),
            last_t: 0.0,
            sites: RecordedSites::default(),
        }
    }

    /// What is to be recorded at `t`: nothing most of the time.
    pub fn events(&mut self, t: Seconds) -> Vec<Event> {
        if !self.schedule.is_due(t) {
            return Vec::new();
        }
        self.read(t, false, <[Reading]>::last)
    }

    /// The last reading of a run that has ended: before processes left and freed what they held.
    pub fn last_events(&mut self, t: Seconds) -> Vec<Event> {
        self.read(t, true, |readings| {
            readings
                .iter()
                .max_by_key(|reading| reading.table.live_bytes())
        })
    }

    fn read(
        &mut self,
        t: Seconds,
        is_last: bool,
        choose: impl FnOnce(&[Reading]) -> Option<&Reading>,
    ) -> Vec<Event> {
        let shared = Arc::clone(&self.shared);
        let mut shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
        let mut events: Vec<Event> = shared.gaps.drain(..).map(Event::Gap).collect();
        if let Some(reading) = choose(&shared.readings) {
            // Names are looked up after a reading, so it may be some seconds old.
            let t = Seconds((t.0 - reading.at.elapsed().as_secs_f64()).max(self.last_t));
            let t = Seconds((t.0 * 1000.0).round() / 1000.0);
            self.last_t = t.0;
            events.extend(self.sites.record(t, &reading.table, is_last));
        }
        events
    }
}

/// A gap of this subject.
fn gap(text: String) -> Gap {
    Gap {
        subject: Subject::Allocations,
        process: None,
        text,
    }
}
