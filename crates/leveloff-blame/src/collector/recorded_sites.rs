//! Which sites are recorded, and when: those that grow again and again, so that what a program loads at its start, and
//! keeps, takes no room in the recording.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::fs;
use std::path::Path;

use leveloff_model::allocation::{
    AllocationReading, AllocationSite, SiteId, SiteReading, own_frame,
};
use leveloff_model::sample::Event;
use leveloff_model::units::{Bytes, Seconds};

use crate::site_table::{Held, Site, SiteTable};

/// Sampled blocks that a site must have gained to be recorded: a block stands for half a MiB.
const LEAST_GAIN: u64 = 4;
/// Readings in which it must have gained some.
const FEWEST_RISES: u32 = 3;
/// Sites of a recording, at most.
const MOST_SITES: usize = 64;
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
    /// Time and total of the last reading, recorded or not.
    last: Option<(Seconds, Bytes)>,
}

#[derive(Debug)]
enum Known {
    /// Not recorded yet.
    Watched {
        lowest: Held,
        last_blocks: u64,
        rises: u32,
    },
    Recorded {
        id: SiteId,
        written: Held,
    },
}

impl RecordedSites {
    /// Makes events of a reading. The last one of a run is written exactly.
    pub fn record(&mut self, t: Seconds, table: &SiteTable, is_last: bool) -> Vec<Event> {
        let live = Bytes(table.live_bytes());
        let before = self.last.replace((t, live)).unwrap_or((t, live));
        let mut sites: Vec<(usize, &Site)> = table.sites().iter().enumerate().collect();
        sites.sort_by_key(|(_, site)| Reverse(site.held.bytes));
        let mut events = Vec::new();
        let mut began = Vec::new();
        let mut changed = Vec::new();
        for (n, site) in sites {
            if let Some((id, lowest)) = self.begin(n, site) {
                events.push(Event::Site(definition(id, site)));
                began.push(reading(id, &lowest));
            }
            if let Some(Known::Recorded { id, written }) = self.sites.get_mut(&n)
                && is_worth_writing(written, &site.held, is_last)
            {
                *written = site.held;
                changed.push(reading(*id, &site.held));
            }
        }
        // What a new site held before it grew is its first point.
        for ((t, live), sites) in [(before, began), ((t, live), changed)] {
            if !sites.is_empty() {
                events.push(Event::Allocations(AllocationReading { t, live, sites }));
            }
        }
        events
    }

    /// Looks at a site. If it is to be recorded from now on: its number, and the least that it held.
    fn begin(&mut self, n: usize, site: &Site) -> Option<(SiteId, Held)> {
        // What it held when it was first seen may have been loaded at once, so growth counts from there.
        let known = self.sites.entry(n).or_insert(Known::Watched {
            lowest: site.held,
            last_blocks: site.held.blocks,
            rises: 0,
        });
        let Known::Watched {
            lowest,
            last_blocks,
            rises,
        } = known
        else {
            return None;
        };
        let blocks = site.held.blocks;
        *rises += u32::from(blocks > *last_blocks);
        *last_blocks = blocks;
        if blocks < lowest.blocks {
            *lowest = site.held;
        }
        let is_growing = blocks >= lowest.blocks + LEAST_GAIN && *rises >= FEWEST_RISES;
        if !is_growing || self.recorded as usize >= MOST_SITES {
            return None;
        }
        let (id, lowest) = (SiteId(self.recorded), *lowest);
        self.recorded += 1;
        *known = Known::Recorded {
            id,
            written: lowest,
        };
        Some((id, lowest))
    }
}

fn is_worth_writing(written: &Held, held: &Held, is_last: bool) -> bool {
    let change = held.bytes.abs_diff(written.bytes);
    change >> 10 > 0 && (is_last || change * 100 >= written.bytes * LEAST_CHANGE_PERCENT)
}

fn definition(id: SiteId, site: &Site) -> AllocationSite {
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
fn source_line(site: &Site) -> Option<String> {
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
    use leveloff_model::allocation::{BlockKind, StackFrame};
    use leveloff_model::process::Pid;

    use super::*;
    use crate::segment::StackCounts;

    /// A table of one site that holds this many blocks of half a MiB.
    fn table(blocks: u64) -> SiteTable {
        let mut table = SiteTable::default();
        let frame = StackFrame {
            function: "f".to_owned(),
            file: Some("a.py".to_owned()),
            line: Some(1),
            is_python: true,
        };
        let site = table.site_of(Pid(1), BlockKind::Heap, &[frame]);
        table.add(
            site,
            &StackCounts {
                index: 0,
                live_bytes: blocks << 19,
                live_blocks: blocks,
                variance: blocks << 18,
                freed_blocks: 0,
            },
        );
        table
    }

    fn events(blocks: &[u64]) -> Vec<Event> {
        let mut recorded = RecordedSites::default();
        let mut events = Vec::new();
        for (t, blocks) in (0_u32..).zip(blocks) {
            events.extend(recorded.record(Seconds(f64::from(t)), &table(*blocks), false));
        }
        events
    }

    #[test]
    fn what_is_loaded_and_kept_is_not_recorded() {
        assert_eq!(events(&[0, 50, 200, 200, 200, 200]), []);
    }

    #[test]
    fn what_grows_is_recorded_from_the_least_that_it_held() {
        let events = events(&[50, 40, 44, 48, 60, 70]);
        let [Event::Site(_), Event::Allocations(first), rest @ ..] = &events[..] else {
            panic!("{events:?}");
        };
        assert_eq!((first.t, first.sites[0].blocks), (Seconds(3.0), 40));
        assert_eq!(rest.len(), 2, "{rest:?}");
    }
}
