//! Which lines allocated memory that is not freed: the history of allocation sites, and the lines that grew.
//!
//! The amounts are estimates from sampled blocks, so each growth has a standard error. A line is named only if it stands
//! out of that error, and confirmed only if the judge calls its own series a leak.

mod line_growth;

pub use line_growth::{Certainty, LineGrowth, LineWindow};

use std::collections::{BTreeMap, VecDeque};

use leveloff_model::allocation::{
    AllocationReading, AllocationSite, Holder, MissedBlocks, SiteId, SiteReading,
};
use leveloff_model::sample::Event;
use leveloff_model::units::Bytes;

use crate::observation::{Moment, XUnit};
use crate::verdict::RunVerdict;
use line_growth::{Line, Readings, lines};

/// Readings that are kept. A recorder makes fewer in a month.
const MOST_READINGS: usize = 4096;

/// Moments that are kept to find the step of a reading.
const RECENT_MOMENTS: usize = 256;

/// What allocation sites held over a run.
#[derive(Debug, Clone, Default)]
pub struct AllocationHistory {
    sites: BTreeMap<SiteId, SiteHistory>,
    readings: Vec<Reading>,
    /// The newest moments, oldest first.
    recent: VecDeque<Moment>,
}

/// When a reading was made, and all that was alive.
#[derive(Debug, Clone, Copy)]
struct Reading {
    moment: Moment,
    live: Bytes,
    missed: MissedBlocks,
}

#[derive(Debug, Clone)]
struct SiteHistory {
    site: AllocationSite,
    /// The number of a reading, and what the site held from then on.
    points: Vec<(usize, SiteReading)>,
    /// What keeps it, where that was looked for.
    holder: Option<Holder>,
}

impl AllocationHistory {
    /// Takes what events say of allocations. How far the run has come follows with [`AllocationHistory::set_moment`].
    pub fn learn(&mut self, events: &[Event]) {
        for event in events {
            match event {
                Event::Site(site) => self.define(site),
                Event::Allocations(reading) => self.push(reading),
                Event::Holder(found) => {
                    if let Some(history) = self.sites.get_mut(&found.site) {
                        history.holder = Some(found.holder.clone());
                    }
                }
                _ => {}
            }
        }
    }

    /// A site comes again when more of its stack is known.
    fn define(&mut self, site: &AllocationSite) {
        match self.sites.get_mut(&site.id) {
            Some(history) => history.site = site.clone(),
            None => {
                let history = SiteHistory {
                    site: site.clone(),
                    points: Vec::new(),
                    holder: None,
                };
                self.sites.insert(site.id, history);
            }
        }
    }

    /// The run has come to this moment. A reading may be older than the events that it is among.
    pub fn set_moment(&mut self, moment: Moment) {
        if self.recent.len() == RECENT_MOMENTS {
            self.recent.pop_front();
        }
        self.recent.push_back(moment);
        let pending = self.readings.iter_mut().rev();
        for reading in pending.take_while(|reading| reading.moment.count.is_none()) {
            let is_before = |moment: &&Moment| moment.t <= reading.moment.t;
            let before = self.recent.iter().rev().find(is_before);
            reading.moment.count = before.or(self.recent.front()).and_then(|it| it.count);
        }
    }

    fn push(&mut self, reading: &AllocationReading) {
        if self.readings.len() >= MOST_READINGS {
            return;
        }
        let number = self.readings.len();
        self.readings.push(Reading {
            moment: Moment {
                t: Some(reading.t),
                count: None,
            },
            live: reading.live,
            missed: reading.missed.unwrap_or_default(),
        });
        for held in &reading.sites {
            if let Some(history) = self.sites.get_mut(&held.site) {
                history.points.push((number, *held));
            }
        }
    }

    /// Whether no reading was made: the run was not started with `--blame`.
    pub fn is_empty(&self) -> bool {
        self.readings.is_empty()
    }

    /// The lines that grew, most first, since the growth that the verdict names.
    pub fn lines(&self, verdict: &RunVerdict) -> Vec<LineGrowth> {
        self.lines_within(verdict, &LineWindow::default())
    }

    /// The lines that grew between two places on the run's axis, most first.
    pub fn lines_within(&self, verdict: &RunVerdict, window: &LineWindow) -> Vec<LineGrowth> {
        let readings = Readings {
            xs: self.positions(verdict.x_unit),
            live: self.readings.iter().map(|it| it.live.0 as f64).collect(),
            missed: self.readings.iter().map(|it| it.missed).collect(),
        };
        lines(self.by_line(self.readings.len()), readings, verdict, window)
    }

    /// Where each reading is on the axis; the last ones of a run may have no count of their own.
    fn positions(&self, unit: XUnit) -> Vec<f64> {
        let mut last = 0.0;
        let x = |reading: &Reading| {
            last = reading.moment.x(unit).unwrap_or(last).max(last);
            last
        };
        self.readings.iter().map(x).collect()
    }

    /// Sites of one line are one: it may make blocks and objects.
    fn by_line(&self, readings: usize) -> Vec<Line> {
        let mut lines: Vec<Line> = Vec::new();
        for history in self.sites.values() {
            let own = history.site.own_frame();
            let same = lines.iter_mut().find(|line| line.site.own_frame() == own);
            let line = match same {
                Some(line) => line,
                None => {
                    lines.push(Line::new(history.site.clone(), readings));
                    lines.last_mut().expect("just pushed")
                }
            };
            line.add(&history.site, &history.points);
            line.add_holder(history.holder.as_ref());
        }
        lines
    }
}

#[cfg(test)]
mod tests;
