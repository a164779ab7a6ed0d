//! The newest snapshot: replaced by the sampler, read by the endpoint and the file.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;

use super::exposition::{classic, openmetrics};
use super::families::families;
use super::snapshot::Snapshot;

/// The newest snapshot. The lock is held only while a pointer is copied.
#[derive(Debug)]
pub struct Latest {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    page: Arc<Page>,
    /// How many were published before it.
    number: u64,
    is_closed: bool,
}

/// A snapshot, formatted at most once and only if it is requested.
#[derive(Debug)]
pub struct Page {
    snapshot: Snapshot,
    openmetrics: OnceLock<String>,
    classic: OnceLock<String>,
}

impl Latest {
    /// Begins with a first snapshot.
    pub fn new(snapshot: Snapshot) -> Latest {
        Latest {
            state: Mutex::new(State {
                page: Arc::new(Page::new(snapshot)),
                number: 0,
                is_closed: false,
            }),
            changed: Condvar::new(),
        }
    }

    /// Replaces the snapshot by a newer one.
    pub fn publish(&self, snapshot: Snapshot) {
        let page = Arc::new(Page::new(snapshot));
        let mut state = self.state();
        let old = std::mem::replace(&mut state.page, page);
        state.number += 1;
        drop(state);
        // Outside of the lock: freeing it takes longer than all the rest.
        drop(old);
        self.changed.notify_all();
    }

    /// The newest page.
    pub fn page(&self) -> Arc<Page> {
        Arc::clone(&self.state().page)
    }

    /// Waits for a page after number `seen`, at least until `not_before`; `None` when there will be none.
    pub fn next(&self, seen: u64, not_before: Instant) -> Option<(u64, Arc<Page>)> {
        let mut state = self.state();
        loop {
            if state.is_closed {
                return None;
            }
            let early = not_before.saturating_duration_since(Instant::now());
            if early.is_zero() && state.number > seen {
                return Some((state.number, Arc::clone(&state.page)));
            }
            state = match early.is_zero() {
                true => self
                    .changed
                    .wait(state)
                    .unwrap_or_else(PoisonError::into_inner),
                false => {
                    let woken = self.changed.wait_timeout(state, early);
                    woken.unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
    }

    /// There will be no more pages.
    pub fn close(&self) {
        self.state().is_closed = true;
        self.changed.notify_all();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Page {
    fn new(snapshot: Snapshot) -> Page {
        Page {
            snapshot,
            openmetrics: OnceLock::new(),
            classic: OnceLock::new(),
        }
    }

    /// As OpenMetrics.
    pub fn openmetrics(&self) -> &str {
        self.openmetrics
            .get_or_init(|| openmetrics(families(&self.snapshot)))
    }

    /// In Prometheus' classic text format.
    pub fn classic(&self) -> &str {
        self.classic
            .get_or_init(|| classic(&families(&self.snapshot)))
    }
}
