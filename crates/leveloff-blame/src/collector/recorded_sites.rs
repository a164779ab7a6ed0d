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
/// Sites that are recorded whatever they cost: as many lines are shown.
const FIRST_SITES: u32 = 3;
/// Bytes that there has to be room for before a further site is recorded: about what its line takes.
const ROOM_FOR_SITE: usize = 150;
/// A smaller change of what a site holds is not written, in percent.
const LEAST_CHANGE_PERCENT: u64 = 2;
/// A site that holds less than half of what the first one does is written when it moved by more standard errors than this.
const LEAST_CHANGE_ERRORS: u64 = 2;
/// What a sampled block stands for at least. What is in no recorded site is not written while it moved by less than the
/// standard error that follows from this.
const USUAL_WEIGHT: u64 = 512 << 10;
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
    /// What was in no recorded site when that was last written.
    rest: Option<Bytes>,
}

/// How much of a reading is recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// What changed by more than a little.
    Changes {
        /// Bytes of the recording that new sites may take.
        room: usize,
    },
    /// All that changed: the last reading of a run.
    Exact,
}

#[derive(Debug)]
struct Known {
    /// The least that it held.
    lowest: Held,
    /// What it held at the last readings, oldest first.
    recent: VecDeque<Held>,
    /// It with its whole stack, if it is recorded.
    whole: Option<AllocationSite>,
    /// Readings at which it had gained blocks.
    rises: u32,
    /// Of these, readings after the start.
    late_rises: u32,
    recorded: Option<Recorded>,
}

/// What the recording has of a site.
#[derive(Debug, Clone, Copy)]
struct Recorded {
    id: SiteId,
    /// The last reading with bytes and error of its own; later ones follow from it by their blocks.
    base: SiteReading,
    last: SiteReading,
    has_stack: bool,
}

impl Recorded {
    /// A reading to write, which is shorter if it can follow from the base.
    fn write(&mut self, exact: SiteReading) -> SiteReading {
        let exact = exact.in_kib();
        let short = self.base.in_proportion(exact.blocks, exact.freed);
        self.last = match short.is_as_good_as(&exact) {
            true => short,
            false => {
                self.base = exact;
                exact
            }
        };
        self.last
    }
}

impl RecordedSites {
    /// Makes events of a reading.
    pub fn record(
        &mut self,
        t: Seconds,
        sites: &[Site],
        missed: Option<MissedBlocks>,
        extent: Extent,
    ) -> Vec<Event> {
        let all = |sites: &[Site]| Bytes(sites.iter().map(|site| site.held.bytes).sum());
        let live = all(sites);
        let before = self.last.replace((t, live)).unwrap_or((t, live));
        let first_t = *self.first_t.get_or_insert(t);
        let age = t.0 - first_t.0;
        let gains = self.look_at(sites, age >= START_UP);
        let mut events = Vec::new();
        let mut lowest = Vec::new();
        for (held, site) in self.begin(sites, gains, age >= IMPORTING, extent) {
            events.push(Event::Site(site));
            lowest.push(held);
        }
        // What a new site held before it grew is its first point.
        events.extend(self.reading(before.0, before.1, missed, lowest, extent));
        let changed = self.changed(sites, extent);
        events.extend(self.reading(t, live, missed, changed, extent));
        events
    }

    fn reading(
        &mut self,
        t: Seconds,
        live: Bytes,
        missed: Option<MissedBlocks>,
        sites: Vec<SiteReading>,
        extent: Extent,
    ) -> Option<Event> {
        if sites.is_empty() {
            return None;
        }
        let recorded = self.sites.values().filter_map(|known| known.recorded);
        let in_sites: u64 = recorded.map(|recorded| recorded.last.live.0).sum();
        let rest = Bytes(live.0.saturating_sub(in_sites)).in_kib();
        let error = rest.0.saturating_mul(USUAL_WEIGHT).isqrt();
        let before = self.rest.filter(|_| extent != Extent::Exact);
        let rest = before
            .filter(|before| before.0.abs_diff(rest.0) < error)
            .unwrap_or(rest);
        self.rest = Some(rest);
        Some(Event::Allocations(AllocationReading {
            t,
            live: Bytes(in_sites + rest.0),
            missed,
            sites,
        }))
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
        extent: Extent,
    ) -> Vec<(SiteReading, AllocationSite)> {
        let total: u64 = gains.iter().map(|(_, gain)| gain).sum();
        gains.retain(|(n, gain)| self.sites[n].is_growing() && gain * LEAST_PART >= total);
        gains.sort_by_key(|(_, gain)| Reverse(*gain));
        self.wanted.clear();
        let mut began = Vec::new();
        for (n, _) in gains.into_iter().take(self.further_sites(extent)) {
            match &sites[n].named {
                Some(named) if named.is_import && !takes_imports => {}
                Some(named) => began.extend(self.define(n, named)),
                None => self.wanted.push(n),
            }
        }
        began
    }

    /// How many more sites may be recorded now.
    fn further_sites(&self, extent: Extent) -> usize {
        let affordable = match extent {
            Extent::Changes { room } => room / ROOM_FOR_SITE,
            Extent::Exact => 0,
        };
        let first = FIRST_SITES.saturating_sub(self.recorded) as usize;
        first
            .max(affordable)
            .min(MOST_SITES.saturating_sub(self.recorded as usize))
    }

    fn define(&mut self, n: usize, named: &NamedSite) -> Option<(SiteReading, AllocationSite)> {
        let known = self.sites.get_mut(&n)?;
        let id = SiteId(self.recorded);
        self.recorded += 1;
        let lowest = reading(id, &known.lowest).in_kib();
        known.recorded = Some(Recorded {
            id,
            base: lowest,
            last: lowest,
            has_stack: named.stack.len() == 1,
        });
        let whole = definition(id, named);
        let site = AllocationSite {
            stack: whole.own_frame().cloned().into_iter().collect(),
            ..whole.clone()
        };
        known.whole = Some(whole);
        Some((lowest, site))
    }

    /// The number of a site in the recording.
    pub fn recorded_as(&self, site: usize) -> Option<SiteId> {
        let recorded = self.sites.get(&site)?.recorded?;
        Some(recorded.id)
    }

    /// The site that gained most of those that have only their own frame in the recording.
    pub fn without_stack(&self) -> Option<usize> {
        self.most_grown(|recorded| !recorded.has_stack)
    }

    /// The recorded site that gained most, if it has only its own frame in the recording.
    pub fn grown_most(&self) -> Option<usize> {
        let most = self.most_grown(|_| true);
        most.filter(|_| most == self.without_stack())
    }

    fn most_grown(&self, is_wanted: impl Fn(&Recorded) -> bool) -> Option<usize> {
        let gained = |(n, known): (&usize, &Known)| {
            let recorded = known.recorded.as_ref().filter(|it| is_wanted(it))?;
            Some((recorded.last.live.0.saturating_sub(known.lowest.bytes), *n))
        };
        let most = self.sites.iter().filter_map(gained).max();
        most.map(|(_, n)| n)
    }

    /// A recorded site with its stack; with Python's frames alone, if it has any, as the shorter way to write it.
    pub fn with_stack(&self, site: usize) -> Vec<AllocationSite> {
        let whole = self.sites.get(&site).and_then(|known| known.whole.clone());
        let short = whole.clone().map(|mut site| {
            if site.stack.iter().any(|frame| frame.is_python) {
                site.stack.retain(|frame| frame.is_python);
            }
            site
        });
        whole.into_iter().chain(short).collect()
    }

    /// The recording has the stack of this site.
    pub fn stack_is_written(&mut self, site: usize) {
        if let Some(recorded) = self
            .sites
            .get_mut(&site)
            .and_then(|it| it.recorded.as_mut())
        {
            recorded.has_stack = true;
        }
    }

    /// What recorded sites hold, if that is worth writing.
    fn changed(&mut self, sites: &[Site], extent: Extent) -> Vec<SiteReading> {
        let is_recorded = |n: &usize| self.sites.get(n).is_some_and(|it| it.recorded.is_some());
        let recorded = (0..sites.len()).filter(is_recorded);
        let most = recorded.map(|n| sites[n].held.bytes).max().unwrap_or(0);
        let mut changed = Vec::new();
        for (n, site) in sites.iter().enumerate() {
            let known = self.sites.get_mut(&n);
            if let Some(recorded) = known.and_then(|known| known.recorded.as_mut()) {
                let exact = reading(recorded.id, &site.held);
                if is_worth_writing(&recorded.last, &exact, most, extent) {
                    changed.push(recorded.write(exact));
                }
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
            whole: None,
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

/// Whether a change is written, where the largest site holds `most`. A small site moves at random by as much as its error.
fn is_worth_writing(last: &SiteReading, now: &SiteReading, most: u64, extent: Extent) -> bool {
    if extent == Extent::Exact {
        return !last.is_as_good_as(&now.in_kib());
    }
    let change = now.live.0.abs_diff(last.live.0);
    let is_minor = now.live.0 * 2 < most;
    let least = match is_minor {
        true => LEAST_CHANGE_ERRORS * now.error.0,
        false => last.live.0 * LEAST_CHANGE_PERCENT / 100,
    };
    change >> 10 > 0 && change >= least
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

    const CHANGES: Extent = Extent::Changes { room: 0 };

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
            is_import: false,
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
            events.extend(recorded.record(Seconds(f64::from(3 * n)), &sites, None, CHANGES));
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
            let events = recorded.record(Seconds(f64::from(3 * n)), &sites, None, CHANGES);
            assert_eq!(events, []);
        }
        assert_eq!(recorded.wanted(), [0]);
        let events = recorded.record(Seconds(15.0), &[site(50, true)], None, CHANGES);
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
