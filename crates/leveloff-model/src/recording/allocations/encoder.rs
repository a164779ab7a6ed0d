//! Sites and readings to rows.

use std::collections::{BTreeMap, HashMap};

use serde_json::{Value, json};

use super::{Known, kib};
use crate::allocation::{AllocationReading, AllocationSite, BlockKind, SiteReading, StackFrame};
use crate::recording::v1::{FrameRow, HeldRow, LineRow, Row};
use crate::sample::Event;

/// Makes rows of sites and readings.
#[derive(Debug, Clone, Default)]
pub struct AllocationEncoder {
    known: Known,
    files: HashMap<String, u32>,
}

impl AllocationEncoder {
    /// The length of an event's line in the recording, which is expected to follow those that were asked for before; 0 for one
    /// that has nothing to do with allocations.
    pub fn length(&mut self, event: &Event) -> usize {
        let row = match event {
            Event::Site(site) => self.line(site),
            Event::Allocations(reading) => self.held(reading),
            _ => return 0,
        };
        serde_json::to_vec(&row).map_or(0, |line| line.len() + 1)
    }

    /// From here on nothing rests on what was written before: a part of that is lost.
    pub(in crate::recording) fn write_in_full(&mut self) {
        self.files.clear();
        self.known.pid = None;
        for (base, _) in self.known.held.values_mut() {
            base.blocks = 0;
        }
    }

    /// A site that is defined, or has more of its stack.
    pub(in crate::recording) fn line(&mut self, site: &AllocationSite) -> Row {
        let mut files = BTreeMap::new();
        let frames = site.stack.iter();
        let stack = frames.map(|frame| self.frame(frame, &mut files)).collect();
        let is_new = !self.known.sites.contains_key(&site.id);
        let has_pid = is_new && self.known.pid != Some(site.pid);
        let has_source = is_new && self.known.source_like(site) != site.source.as_ref();
        self.known.pid = Some(site.pid);
        self.known.sites.insert(site.id, site.clone());
        Row::Line(LineRow {
            id: site.id.0,
            pid: has_pid.then_some(site.pid.0),
            kind: (is_new && site.kind != BlockKind::Heap).then(|| site.kind.name().to_owned()),
            files,
            stack,
            source: site.source.clone().filter(|_| has_source),
        })
    }

    fn frame(&mut self, frame: &StackFrame, new: &mut BTreeMap<u32, String>) -> FrameRow {
        let file = frame.file.as_ref().map(|file| self.file(file, new));
        let function = frame.function.clone();
        match frame.is_python {
            true => FrameRow::Python(function, file, frame.line),
            false => FrameRow::Native(function, file, frame.line, 0),
        }
    }

    fn file(&mut self, file: &str, new: &mut BTreeMap<u32, String>) -> u32 {
        if let Some(number) = self.files.get(file) {
            return *number;
        }
        let number = u32::try_from(self.files.len()).unwrap_or(u32::MAX);
        self.files.insert(file.to_owned(), number);
        new.insert(number, file.to_owned());
        number
    }

    /// What sites hold.
    pub(in crate::recording) fn held(&mut self, reading: &AllocationReading) -> Row {
        let lines = reading.sites.iter();
        let lines = lines.map(|held| (held.site.0.to_string(), self.amount(held.in_kib())));
        let lines: BTreeMap<String, Value> = lines.collect();
        let rest = kib(reading.live) - self.known.in_sites();
        let has_rest = rest != self.known.rest;
        self.known.rest = rest;
        Row::Held(HeldRow {
            t: reading.t.0,
            rest: has_rest.then_some(rest),
            missed: reading.missed.map(|it| [it.missed, it.sampled]),
            lines,
        })
    }

    fn amount(&mut self, held: SiteReading) -> Value {
        let before = self.known.held.get(&held.site).copied();
        let follows = |(base, _): &(SiteReading, SiteReading)| {
            base.in_proportion(held.blocks, held.freed) == held
        };
        match before.filter(follows) {
            Some((base, last)) => {
                self.known.held.insert(held.site, (base, held));
                match last.freed == held.freed {
                    true => json!(held.blocks),
                    false => json!([held.blocks, held.freed]),
                }
            }
            None => {
                self.known.held.insert(held.site, (held, held));
                json!([held.blocks, held.freed, kib(held.live), kib(held.error)])
            }
        }
    }
}
