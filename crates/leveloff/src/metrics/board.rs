//! Where the newest numbers hang: put up by the sampler, read by everybody else.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;

use super::exposition::{classic, openmetrics};
use super::families::families;
use super::snapshot::Snapshot;

/// The newest page. The lock is held for as long as it takes to copy a pointer.
#[derive(Debug)]
pub struct Board {
    state: Mutex<State>,
    news: Condvar,
}

#[derive(Debug)]
struct State {
    page: Arc<Page>,
    /// How many were put up before it.
    number: u64,
    is_closed: bool,
}

/// A snapshot, written down when somebody asks for it, and once for all who do.
#[derive(Debug)]
pub struct Page {
    snapshot: Snapshot,
    openmetrics: OnceLock<String>,
    classic: OnceLock<String>,
}

impl Board {
    /// A board with a first page.
    pub fn new(snapshot: Snapshot) -> Board {
        Board {
            state: Mutex::new(State {
                page: Arc::new(Page::new(snapshot)),
                number: 0,
                is_closed: false,
            }),
            news: Condvar::new(),
        }
    }

    /// Puts a newer page in place of the last.
    pub fn show(&self, snapshot: Snapshot) {
        let page = Arc::new(Page::new(snapshot));
        let mut state = self.state();
        let old = std::mem::replace(&mut state.page, page);
        state.number += 1;
        drop(state);
        // Outside of the lock: freeing it takes longer than anything else here.
        drop(old);
        self.news.notify_all();
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
                    .news
                    .wait(state)
                    .unwrap_or_else(PoisonError::into_inner),
                false => {
                    let woken = self.news.wait_timeout(state, early);
                    woken.unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
    }

    /// There will be no more pages.
    pub fn close(&self) {
        self.state().is_closed = true;
        self.news.notify_all();
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
