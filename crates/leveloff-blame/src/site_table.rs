//! Stacks, added up by the line of the program that stands for them.

use std::collections::HashMap;
use std::sync::Arc;

use leveloff_model::allocation::{BlockKind, StackFrame, own_frame};
use leveloff_model::process::Pid;

use crate::segment::StackCounts;

/// Frames that a recording keeps of a stack.
const FRAMES_KEPT: usize = 6;
/// Of these, frames in front of the one that stands for the stack.
const INNER_FRAMES_KEPT: usize = 2;

/// The sites that were seen, in order of their first sight.
#[derive(Debug, Default)]
pub struct SiteTable {
    by_key: HashMap<SiteKey, usize>,
    sites: Vec<Site>,
}

/// What tells sites apart.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct SiteKey {
    frame: Option<StackFrame>,
    kind: BlockKind,
}

/// A line, and what it holds now. A reading has a copy of all of them, so names are shared.
#[derive(Debug, Clone, Default)]
pub struct Site {
    /// What it holds in all processes.
    pub held: Held,
    /// Its stack with names, once somebody wanted it.
    pub named: Option<Arc<NamedSite>>,
    /// What its heaviest stack held.
    heaviest: u64,
    /// Where that is.
    place: Option<StackPlace>,
}

/// A stack of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StackPlace {
    /// Which process.
    pub pid: Pid,
    /// Its number in the segment.
    pub index: usize,
}

/// What is recorded of a site once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedSite {
    /// The process of the stack.
    pub pid: Pid,
    /// What it allocates.
    pub kind: BlockKind,
    /// Its heaviest stack, shortened.
    pub stack: Vec<StackFrame>,
    /// Whether it is an `import`, which loads code and keeps it.
    pub is_import: bool,
}

/// Sums over the stacks of a site.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Held {
    /// Estimated bytes that are alive.
    pub bytes: u64,
    /// Sampled blocks that are alive.
    pub blocks: u64,
    /// Variance of the estimate, in KiB².
    pub variance: u64,
    /// Sampled blocks that were freed.
    pub freed: u64,
}

#[cfg(test)]
impl Site {
    /// A site without stacks.
    pub fn holding(held: Held, named: Option<Arc<NamedSite>>) -> Site {
        Site {
            held,
            named,
            heaviest: 0,
            place: None,
        }
    }
}

impl SiteTable {
    /// The number of the site that a stack belongs to.
    pub fn site_of(&mut self, kind: BlockKind, stack: &[StackFrame]) -> usize {
        let own = own_frame(stack);
        let key = SiteKey {
            frame: own.and_then(|at| stack.get(at)).cloned(),
            kind,
        };
        *self.by_key.entry(key).or_insert_with(|| {
            self.sites.push(Site::default());
            self.sites.len() - 1
        })
    }

    /// Begins a reading: what the sites hold is added up again.
    pub fn clear(&mut self) {
        for site in &mut self.sites {
            site.held = Held::default();
            site.heaviest = 0;
            site.place = None;
        }
    }

    /// Adds a stack's counters to its site.
    pub fn add(&mut self, site: usize, pid: Pid, counts: &StackCounts) {
        let site = &mut self.sites[site];
        site.held.bytes += counts.live_bytes;
        site.held.blocks += counts.live_blocks;
        site.held.variance += counts.variance;
        site.held.freed += counts.freed_blocks;
        if counts.live_bytes > site.heaviest {
            site.heaviest = counts.live_bytes;
            site.place = Some(StackPlace {
                pid,
                index: counts.index,
            });
        }
    }

    /// Where the heaviest stack of a site is, if the site holds anything and has no names yet.
    pub fn unnamed(&self, site: usize) -> Option<StackPlace> {
        let site = self.sites.get(site)?;
        site.place.filter(|_| site.named.is_none())
    }

    /// Sets what is recorded of a site.
    pub fn name(&mut self, site: usize, named: NamedSite) {
        self.sites[site].named = Some(Arc::new(named));
    }

    /// All sites.
    pub fn sites(&self) -> &[Site] {
        &self.sites
    }
}

/// Which frames of a stack a recording keeps: those around the one that stands for the stack.
pub fn frames_kept(stack: &[StackFrame]) -> Vec<usize> {
    let own = own_frame(stack).unwrap_or(0);
    let leaf = stack.iter().position(|frame| frame.is_python).unwrap_or(0);
    // The innermost Python frame stays: it says what was called for memory. The import machinery says nothing.
    let first = own.saturating_sub(INNER_FRAMES_KEPT);
    let is_kept = |at: &usize| {
        *at == own || *at == leaf || (*at >= first && !is_import_machinery(&stack[*at]))
    };
    (0..stack.len()).filter(is_kept).take(FRAMES_KEPT).collect()
}

/// Whether a frame is Python's own, for an `import`.
pub fn is_import_machinery(frame: &StackFrame) -> bool {
    let file = frame.file.as_deref().unwrap_or_default();
    frame.is_python && file.starts_with("<frozen importlib")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn python(function: &str, file: &str, line: u32) -> StackFrame {
        StackFrame {
            function: function.to_owned(),
            file: Some(file.to_owned()),
            line: Some(line),
            is_python: true,
        }
    }

    fn counts(index: usize, bytes: u64) -> StackCounts {
        StackCounts {
            index,
            live_bytes: bytes,
            live_blocks: 1,
            variance: 4,
            freed_blocks: 2,
        }
    }

    #[test]
    fn stacks_that_lead_to_one_line_are_one_site_that_its_heaviest_stack_stands_for() {
        let mut table = SiteTable::default();
        let line = python("step", "train.py", 8);
        let linear = python("forward", "/x/site-packages/torch/linear.py", 1);
        let relu = python("forward", "/x/site-packages/torch/relu.py", 2);
        let second = [relu, line.clone()];
        let site = table.site_of(BlockKind::Heap, &[linear, line]);
        assert_eq!(table.site_of(BlockKind::Heap, &second), site);
        assert_ne!(table.site_of(BlockKind::PythonObject, &second), site);
        table.add(site, Pid(7), &counts(4, 10));
        table.add(site, Pid(8), &counts(5, 20));
        table.add(site, Pid(7), &counts(6, 15));
        assert_eq!(table.sites()[site].held.bytes, 45);
        let heaviest = StackPlace {
            pid: Pid(8),
            index: 5,
        };
        assert_eq!(table.unnamed(site), Some(heaviest));
        table.clear();
        assert_eq!(table.sites()[site].held.bytes, 0);
        assert_eq!(table.unnamed(site), None);
    }

    #[test]
    fn a_long_stack_keeps_its_leaf_and_the_frames_around_the_line() {
        let library = |n| python("f", "/x/site-packages/a.py", n);
        let mut stack: Vec<StackFrame> = (0..20).map(library).collect();
        stack.extend((0..20).map(|n| python("g", "train.py", 100 + n)));
        assert_eq!(frames_kept(&stack), [0, 18, 19, 20, 21, 22]);
    }

    #[test]
    fn the_import_machinery_is_left_out() {
        let stack = [
            python("_call", "<frozen importlib._bootstrap>", 1),
            python("_find", "<frozen importlib._bootstrap>", 2),
            python("<module>", "train.py", 3),
        ];
        assert_eq!(frames_kept(&stack), [0, 2]);
    }
}
