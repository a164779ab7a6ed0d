//! Rows to sites and readings.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::Known;
use crate::allocation::{
    AllocationReading, AllocationSite, BlockKind, MissedBlocks, SiteId, SiteReading, StackFrame,
};
use crate::process::Pid;
use crate::recording::v1::{FrameRow, HeldAmount, HeldRow, LineRow};
use crate::units::{Bytes, Seconds};

/// Makes sites and readings of rows.
#[derive(Debug, Default)]
pub struct AllocationDecoder {
    known: Known,
    files: BTreeMap<u32, String>,
}

impl AllocationDecoder {
    /// A site that is defined, or has more of its stack.
    pub(in crate::recording) fn site(&mut self, row: LineRow) -> AllocationSite {
        self.files.extend(row.files);
        let stack = row.stack.into_iter().map(|frame| self.frame(frame));
        let stack: Vec<StackFrame> = stack.collect();
        let id = SiteId(row.id);
        let site = match self.known.sites.get(&id) {
            Some(site) => AllocationSite {
                stack,
                ..site.clone()
            },
            None => {
                let pid = row.pid.map(Pid).or(self.known.pid);
                let kind = row.kind.as_deref();
                let mut site = AllocationSite {
                    id,
                    pid: pid.unwrap_or(Pid(0)),
                    kind: kind.map_or(BlockKind::Heap, BlockKind::from_name),
                    stack,
                    source: row.source,
                };
                if site.source.is_none() {
                    site.source = self.known.source_like(&site).cloned();
                }
                site
            }
        };
        self.known.pid = Some(site.pid);
        self.known.sites.insert(id, site.clone());
        site
    }

    fn frame(&self, frame: FrameRow) -> StackFrame {
        let (function, file, line, is_python) = match frame {
            FrameRow::Python(function, file, line) => (function, file, line, true),
            FrameRow::Native(function, file, line, python) => (function, file, line, python == 1),
        };
        StackFrame {
            function,
            file: file.and_then(|number| self.files.get(&number).cloned()),
            line,
            is_python,
        }
    }

    /// What sites hold.
    pub(in crate::recording) fn reading(&mut self, row: &HeldRow) -> AllocationReading {
        let amounts = row.lines.iter();
        let sites = amounts.filter_map(|(id, amount)| self.amount(id, amount));
        let sites = sites.collect();
        self.known.rest = row.rest.unwrap_or(self.known.rest);
        let live = self.known.in_sites().saturating_add(self.known.rest).max(0);
        AllocationReading {
            t: Seconds(row.t),
            live: Bytes(live.unsigned_abs().saturating_mul(1024)),
            missed: row
                .missed
                .map(|[missed, sampled]| MissedBlocks { missed, sampled }),
            sites,
        }
    }

    /// `None` for a field of a later version.
    fn amount(&mut self, id: &str, amount: &Value) -> Option<SiteReading> {
        let site = SiteId(id.parse().ok()?);
        let amount = HeldAmount::deserialize(amount).ok()?;
        let before = self.known.held.get(&site).copied();
        let (base, held) = match (amount, before) {
            (HeldAmount::All(blocks, freed, live, error), _) => {
                let amount = |kib: u64| Bytes(kib.min(u64::MAX >> 24).saturating_mul(1024));
                let held = SiteReading {
                    site,
                    live: amount(live),
                    blocks,
                    error: amount(error),
                    freed,
                };
                (held, held)
            }
            (HeldAmount::Blocks(blocks), Some((base, last))) => {
                (base, base.in_proportion(blocks, last.freed))
            }
            (HeldAmount::Freed(blocks, freed), Some((base, _))) => {
                (base, base.in_proportion(blocks, freed))
            }
            (_, None) => return None,
        };
        self.known.held.insert(site, (base, held));
        Some(held)
    }
}
