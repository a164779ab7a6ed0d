//! Follows the segments of a running program on a thread of its own, and makes events of a recording from them.

mod follower;
mod reading_schedule;
mod recorded_holders;
mod recorded_sites;

use std::collections::HashMap;
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use leveloff_model::allocation::{MissedBlocks, ReportedHolder};
use leveloff_model::process::Pid;
use leveloff_model::recording::AllocationEncoder;
use leveloff_model::sample::{Event, Gap, Subject};
use leveloff_model::units::Seconds;

use crate::site_table::Site;
use follower::Follower;
use reading_schedule::ReadingSchedule;
use recorded_holders::RecordedHolders;
use recorded_sites::{Extent, RecordedSites};

/// Segments are read this often.
const PACE: Duration = Duration::from_secs(1);
/// At the end of a run, the line that grew most gets its stack, if it takes no more bytes than this: a flame graph of lines
/// alone says little.
const LONGEST_LAST_STACK: usize = 150;
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
    /// To know how long what is recorded is.
    encoder: AllocationEncoder,
    holders: RecordedHolders,
}

/// What the thread found.
#[derive(Debug, Default)]
struct Shared {
    /// The newest readings, oldest first. The program's end frees much, so the last one may be too late.
    readings: Vec<Reading>,
    gaps: Vec<Gap>,
    /// Sites whose names are wanted. Few are: looking them up is expensive.
    wanted: Vec<usize>,
    /// Stacks of processes whose sites are wanted, and those that were found.
    wanted_stacks: Vec<(Pid, u32)>,
    sites_of_stacks: HashMap<(Pid, u32), usize>,
}

/// What the sites held at a moment.
#[derive(Debug)]
struct Reading {
    at: Instant,
    sites: Vec<Site>,
    missed: Option<MissedBlocks>,
}

impl Reading {
    fn live_bytes(&self) -> u64 {
        self.sites.iter().map(|site| site.held.bytes).sum()
    }
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
                let wanted = std::mem::take(&mut lock(&found).wanted);
                let polled = follower.poll();
                follower.name(&wanted);
                lock(&found).take(polled, &mut follower);
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
            encoder: AllocationEncoder::default(),
            holders: RecordedHolders::default(),
        }
    }

    /// Takes what the training reports of holders. They are recorded as soon as their lines are.
    pub fn report(&mut self, holders: &[ReportedHolder]) {
        let mut shared = lock(&self.shared);
        shared.wanted_stacks = self.holders.report(holders);
    }

    /// What is to be recorded at `t`: nothing most of the time.
    pub fn events(&mut self, t: Seconds) -> Vec<Event> {
        if !self.schedule.is_due(t) {
            return Vec::new();
        }
        let mut events = self.read(t, false, <[Reading]>::last);
        let lengths = events.iter().map(|event| self.encoder.length(event));
        self.schedule.wrote(lengths.sum());
        if let Some(site) = self.sites.without_stack() {
            let stack = self.stack_of(site, self.schedule.room());
            let lengths = stack.iter().map(|event| self.encoder.length(event));
            self.schedule.wrote(lengths.sum());
            events.extend(stack);
        }
        self.schedule.plan(t);
        events.extend(self.new_holders(false));
        events
    }

    /// The last reading of a run that has ended: before processes left and freed what they held.
    pub fn last_events(&mut self, t: Seconds) -> Vec<Event> {
        let mut events = self.read(t, true, |readings| {
            readings.iter().max_by_key(|reading| reading.live_bytes())
        });
        if let Some(site) = self.sites.grown_most() {
            events.extend(self.stack_of(site, LONGEST_LAST_STACK));
        }
        events.extend(self.new_holders(true));
        events
    }

    fn new_holders(&mut self, is_last: bool) -> Vec<Event> {
        let shared = lock(&self.shared);
        let site_of = |stack: (Pid, u32)| {
            let site = shared.sites_of_stacks.get(&stack)?;
            self.sites.recorded_as(*site)
        };
        let found = self.holders.found(site_of, is_last);
        found.into_iter().map(Event::Holder).collect()
    }

    /// The stack of a line that has only its own frame yet, if its length is at most this.
    fn stack_of(&mut self, site: usize, room: usize) -> Option<Event> {
        let ways = self.sites.with_stack(site);
        let mut events = ways.into_iter().map(Event::Site);
        let event = events.find(|event| self.encoder.clone().length(event) <= room)?;
        self.sites.stack_is_written(site);
        Some(event)
    }

    fn read(
        &mut self,
        t: Seconds,
        is_last: bool,
        choose: impl FnOnce(&[Reading]) -> Option<&Reading>,
    ) -> Vec<Event> {
        let shared = Arc::clone(&self.shared);
        let mut shared = lock(&shared);
        let amount = match is_last {
            true => Extent::Exact,
            false => Extent::Changes {
                room: self.schedule.room(),
            },
        };
        let mut events: Vec<Event> = shared.gaps.drain(..).map(Event::Gap).collect();
        if let Some(reading) = choose(&shared.readings) {
            // Names are looked up after a reading, so it may be some seconds old.
            let t = Seconds((t.0 - reading.at.elapsed().as_secs_f64()).max(self.last_t));
            let t = Seconds((t.0 * 10.0).round() / 10.0);
            self.last_t = t.0;
            events.extend(self.sites.record(t, &reading.sites, reading.missed, amount));
        }
        shared.wanted = self.sites.wanted();
        events
    }
}

impl Shared {
    /// Takes what a poll found.
    fn take(&mut self, polled: Option<Instant>, follower: &mut Follower) {
        self.gaps.append(&mut follower.gaps);
        for stack in self.wanted_stacks.drain(..) {
            if let Some(site) = follower.site_of_stack(stack) {
                self.sites_of_stacks.insert(stack, site);
            }
        }
        if let Some(at) = polled {
            if self.readings.len() == READINGS_KEPT {
                self.readings.remove(0);
            }
            let sites = follower.table().sites().to_vec();
            self.readings.push(Reading {
                at,
                sites,
                missed: follower.missed(),
            });
        }
    }
}

fn lock(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A gap of this subject.
fn gap(text: String) -> Gap {
    Gap {
        subject: Subject::Allocations,
        process: None,
        text,
    }
}
