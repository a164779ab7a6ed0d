//! Which sites are recorded, and when: those that grow again and again, so that what a program loads at its start, and
//! keeps, takes no room in the recording.

use std::cmp::Reverse;
use std::collections::{HashMap, VecDeque};
use std::fs;
use std::path::Path;

use leveloff_model::allocation::{
    AllocationReading, AllocationSite, MissedBlocks, SiteId, SiteReading, own_frame,
};
use leveloff_model::sample::Event;
use leveloff_model::units::{Bytes, Seconds};

use crate::site_table::{Held, NamedSite, Site};

/// Sampled blocks that a site must have gained to be recorded: a block stands for half a MiB.
const LEAST_GAIN: u64 = 4;
/// Readings in which it must have gained some.
const FEWEST_RISES: u32 = 3;
/// Readings over which it is looked at what grows now.
const RECENT_READINGS: usize = 4;
/// Of all that grows now, a site must have gained at least one part in this many.
const LEAST_PART: u64 = 32;
/// What grows only for so long after the first reading is not recorded: imports.
const START_UP: f64 = 8.0;
/// The same for what an `import` allocates: on a busy machine it takes longer.
const IMPORTING: f64 = 60.0;
/// Sites of a recording, at most.
const MOST_SITES: usize = 32;
/// A smaller change of what a site holds is not written, in percent.
const LEAST_CHANGE_PERCENT: u64 = 2;
/// A source file beyond this size is generated; its lines say nothing.
const LARGEST_SOURCE: u64 = 4 << 20;
/// Characters of a source line that are kept.
const LONGEST_SOURCE_LINE: usize = 80;

/// What the recording knows of sites.
#[derive(Debug, Default)]
pub struct RecordedSites {
    /// By their number in the table.
    sites: HashMap<usize, Known>,
    recorded: u32,
    /// Sites that are to be recorded as soon as they have names.
    wanted: Vec<usize>,
    first_t: Option<Seconds>,
    /// Time and total of the last reading, recorded or not.
    last: Option<(Seconds, Bytes)>,
}

#[derive(Debug)]
struct Known {
    /// The least that it held.
    lowest: Held,
    /// What it held at the last readings, oldest first.
    recent: VecDeque<Held>,
    /// Readings at which it had gained blocks.
    rises: u32,
    /// Of these, readings after the start.
    late_rises: u32,
    /// Its number in the recording, and what was written last.
    recorded: Option<(SiteId, Held)>,
}

impl RecordedSites {
    /// Makes events of a reading. The last one of a run is written exactly.
    pub fn record(
        &mut self,
        t: Seconds,
        sites: &[Site],
        missed: Option<MissedBlocks>,
        is_last: bool,
    ) -> Vec<Event> {
        let live = Bytes(sites.iter().map(|site| site.held.bytes).sum());
        let before = self.last.replace((t, live)).unwrap_or((t, live));
        let first_t = *self.first_t.get_or_insert(t);
        let age = t.0 - first_t.0;
        let gains = self.look_at(sites, age >= START_UP);
        let mut events = Vec::new();
        let mut lowest = Vec::new();
        for (id, held, site) in self.begin(sites, gains, age >= IMPORTING) {
            events.push(Event::Site(site));
            lowest.push(reading(id, &held));
        }
        let changed = self.changed(sites, is_last);
        // What a new site held before it grew is its first point.
        for ((t, live), sites) in [(before, lowest), ((t, live), changed)] {
            if !sites.is_empty() {
                events.push(Event::Allocations(AllocationReading {
                    t,
                    live,
                    missed,
                    sites,
                }));
            }
        }
        events
    }

    /// Sites that are to be named until the next reading.
    pub fn wanted(&self) -> Vec<usize> {
        self.wanted.clone()
    }

    /// Looks at all sites, and returns what each gained lately.
    fn look_at(&mut self, sites: &[Site], has_started: bool) -> Vec<(usize, u64)> {
        let mut gains = Vec::with_capacity(sites.len());
        for (n, site) in sites.iter().enumerate() {
            let known = self.sites.entry(n).or_insert_with(|| Known::new(site.held));
            gains.push((n, known.take(&site.held, has_started)));
        }
        gains
    }

    /// The sites that are recorded from now on, most gained first, each with the least that it held.
    fn begin(
        &mut self,
        sites: &[Site],
        mut gains: Vec<(usize, u64)>,
        takes_imports: bool,
    ) -> Vec<(SiteId, Held, AllocationSite)> {
        let total: u64 = gains.iter().map(|(_, gain)| gain).sum();
        gains.retain(|(n, gain)| self.sites[n].is_growing() && gain * LEAST_PART >= total);
        gains.sort_by_key(|(_, gain)| Reverse(*gain));
        gains.truncate(MOST_SITES.saturating_sub(self.recorded as usize));
        self.wanted.clear();
        let mut began = Vec::new();
        for (n, _) in gains {
            match &sites[n].named {
                Some(named) if named.is_import() && !takes_imports => {}
                Some(named) => began.extend(self.define(n, named)),
                None => self.wanted.push(n),
            }
        }
        began
    }

    fn define(&mut self, n: usize, named: &NamedSite) -> Option<(SiteId, Held, AllocationSite)> {
        let known = self.sites.get_mut(&n)?;
        let id = SiteId(self.recorded);
        self.recorded += 1;
        known.recorded = Some((id, known.lowest));
        Some((id, known.lowest, definition(id, named)))
    }

    /// What recorded sites hold, if that is worth writing.
    fn changed(&mut self, sites: &[Site], is_last: bool) -> Vec<SiteReading> {
        let mut changed = Vec::new();
        for (n, site) in sites.iter().enumerate() {
            let known = self.sites.get_mut(&n);
            if let Some((id, written)) = known.and_then(|known| known.recorded.as_mut())
                && is_worth_writing(written, &site.held, is_last)
            {
                *written = site.held;
                changed.push(reading(*id, &site.held));
            }
        }
        changed
    }
}

impl Known {
    /// What a site held when it was first seen may have been loaded at once, so growth counts from there.
    fn new(held: Held) -> Known {
        Known {
            lowest: held,
            recent: VecDeque::new(),
            rises: 0,
            late_rises: 0,
            recorded: None,
        }
    }

    /// Takes a reading. Returns how many bytes more there are than some readings ago.
    fn take(&mut self, held: &Held, has_started: bool) -> u64 {
        let last = self.recent.back().map_or(held.blocks, |last| last.blocks);
        let is_rise = held.blocks > last;
        self.rises += u32::from(is_rise);
        self.late_rises += u32::from(is_rise && has_started);
        if held.blocks < self.lowest.blocks {
            self.lowest = *held;
        }
        if self.recent.len() == RECENT_READINGS {
            self.recent.pop_front();
        }
        self.recent.push_back(*held);
        let first = self.recent.front().map_or(0, |first| first.bytes);
        held.bytes.saturating_sub(first)
    }

    /// Whether it is to be recorded from now on: it has gained again and again, also lately.
    fn is_growing(&self) -> bool {
        let blocks = |held: Option<&Held>| held.map_or(0, |held| held.blocks);
        let (first, last) = (blocks(self.recent.front()), blocks(self.recent.back()));
        self.recorded.is_none()
            && self.rises >= FEWEST_RISES
            && self.late_rises > 0
            && last > first
            && last >= self.lowest.blocks + LEAST_GAIN
    }
}

fn is_worth_writing(written: &Held, held: &Held, is_last: bool) -> bool {
    let change = held.bytes.abs_diff(written.bytes);
    change >> 10 > 0 && (is_last || change * 100 >= written.bytes * LEAST_CHANGE_PERCENT)
}

fn definition(id: SiteId, site: &NamedSite) -> AllocationSite {
    AllocationSite {
        id,
        pid: site.pid,
        kind: site.kind,
        stack: site.stack.clone(),
        source: source_line(site),
    }
}

fn reading(site: SiteId, held: &Held) -> SiteReading {
    SiteReading {
        site,
        live: Bytes(held.bytes),
        blocks: held.blocks,
        error: Bytes(((held.variance as f64).sqrt() * 1024.0) as u64),
        freed: held.freed,
    }
}

/// The text of the line that stands for a site, read while the program runs. A relative name counts from the program's
/// directory.
fn source_line(site: &NamedSite) -> Option<String> {
    let frame = site.stack.get(own_frame(&site.stack)?)?;
    let (file, line) = (frame.file.as_ref()?, frame.line?);
    let path = Path::new(&format!("/proc/{}/cwd", site.pid.0)).join(file);
    let about = fs::metadata(&path).ok()?;
    if !about.is_file() || about.len() > LARGEST_SOURCE {
        return None;
    }
    let text = fs::read(path).ok()?;
    let mut lines = text.split(|byte| *byte == b'\n');
    let text = String::from_utf8_lossy(lines.nth(line.checked_sub(1)? as usize)?);
    let text: String = text.trim().chars().take(LONGEST_SOURCE_LINE).collect();
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use leveloff_model::allocation::{BlockKind, StackFrame};
    use leveloff_model::process::Pid;

    use super::*;

    /// A site that holds this many blocks of half a MiB.
    fn site(blocks: u64, is_named: bool) -> Site {
        let frame = StackFrame {
            function: "f".to_owned(),
            file: Some("a.py".to_owned()),
            line: Some(1),
            is_python: true,
        };
        let named = NamedSite {
            pid: Pid(1),
            kind: BlockKind::Heap,
            stack: vec![frame],
        };
        let held = Held {
            bytes: blocks << 19,
            blocks,
            variance: blocks << 18,
            freed: 0,
        };
        Site::holding(held, is_named.then(|| Arc::new(named)))
    }

    /// Events of readings every 3 s of sites that hold these blocks.
    fn events(readings: &[&[u64]]) -> Vec<Event> {
        let mut recorded = RecordedSites::default();
        let mut events = Vec::new();
        for (n, blocks) in (0_u32..).zip(readings) {
            let sites: Vec<Site> = blocks.iter().map(|blocks| site(*blocks, true)).collect();
            events.extend(recorded.record(Seconds(f64::from(3 * n)), &sites, None, false));
        }
        events
    }

    #[test]
    fn what_is_loaded_and_kept_is_not_recorded() {
        assert_eq!(events(&[&[0], &[50], &[200], &[200], &[200], &[200]]), []);
    }

    #[test]
    fn what_grows_only_while_the_program_starts_is_not_recorded() {
        assert_eq!(
            events(&[&[0], &[60], &[120], &[180], &[180], &[180]]).len(),
            3
        );
        assert_eq!(events(&[&[0], &[60], &[120], &[120], &[120], &[120]]), []);
    }

    #[test]
    fn what_grows_is_recorded_from_the_least_that_it_held() {
        let events = events(&[&[50], &[40], &[44], &[48], &[60], &[70]]);
        let [Event::Site(_), Event::Allocations(first), rest @ ..] = &events[..] else {
            panic!("{events:?}");
        };
        assert_eq!((first.t, first.sites[0].blocks), (Seconds(9.0), 40));
        assert_eq!(rest.len(), 2, "{rest:?}");
    }

    #[test]
    fn a_site_is_named_before_it_is_recorded() {
        let mut recorded = RecordedSites::default();
        for n in 0..5_u32 {
            let sites = [site(u64::from(10 * n), false)];
            let events = recorded.record(Seconds(f64::from(3 * n)), &sites, None, false);
            assert_eq!(events, []);
        }
        assert_eq!(recorded.wanted(), [0]);
        let events = recorded.record(Seconds(15.0), &[site(50, true)], None, false);
        assert!(matches!(events[0], Event::Site(_)));
        assert_eq!(recorded.wanted(), [0_usize; 0]);
    }

    #[test]
    fn a_small_part_of_the_growth_is_not_recorded() {
        let readings: Vec<[u64; 2]> = (0..8).map(|n| [100 * n, 2 * n]).collect();
        let readings: Vec<&[u64]> = readings.iter().map(|it| &it[..]).collect();
        let events = events(&readings);
        let sites = events.iter().filter(|it| matches!(it, Event::Site(_)));
        assert_eq!(sites.count(), 1, "{events:?}");
    }
}
