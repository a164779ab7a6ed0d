//! Stacks, added up by the line of the program that stands for them.

use std::collections::HashMap;

use leveloff_model::allocation::{BlockKind, StackFrame, own_frame};
use leveloff_model::process::Pid;

use crate::segment::StackCounts;

/// Frames that a recording keeps of a stack.
const FRAMES_KEPT: usize = 9;
/// Of these, frames in front of the one that stands for the stack.
const INNER_FRAMES_KEPT: usize = 3;

/// The sites that were seen, in order of their first sight.
#[derive(Debug, Clone, Default)]
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

/// A line, and what it holds now.
#[derive(Debug, Clone)]
pub struct Site {
    /// The process in which it was first seen.
    pub pid: Pid,
    /// What it allocates.
    pub kind: BlockKind,
    /// Its heaviest stack, shortened.
    pub stack: Vec<StackFrame>,
    /// What it holds in all processes.
    pub held: Held,
    heaviest: u64,
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

impl SiteTable {
    /// The number of the site that a stack belongs to.
    pub fn site_of(&mut self, pid: Pid, kind: BlockKind, stack: &[StackFrame]) -> usize {
        let own = own_frame(stack);
        let key = SiteKey {
            frame: own.and_then(|at| stack.get(at)).cloned(),
            kind,
        };
        *self.by_key.entry(key).or_insert_with(|| {
            self.sites.push(Site {
                pid,
                kind,
                stack: shortened(stack, own.unwrap_or(0)),
                held: Held::default(),
                heaviest: 0,
            });
            self.sites.len() - 1
        })
    }

    /// Begins a reading: what the sites hold is added up again.
    pub fn clear(&mut self) {
        for site in &mut self.sites {
            site.held = Held::default();
        }
    }

    /// Adds a stack's counters to its site. True if it is the heaviest stack of the site so far.
    pub fn add(&mut self, site: usize, counts: &StackCounts) -> bool {
        let site = &mut self.sites[site];
        site.held.bytes += counts.live_bytes;
        site.held.blocks += counts.live_blocks;
        site.held.variance += counts.variance;
        site.held.freed += counts.freed_blocks;
        let is_heaviest = counts.live_bytes > site.heaviest;
        site.heaviest = site.heaviest.max(counts.live_bytes);
        is_heaviest
    }

    /// Shows a site by this stack from now on.
    pub fn show_by(&mut self, site: usize, stack: &[StackFrame]) {
        self.sites[site].stack = shortened(stack, own_frame(stack).unwrap_or(0));
    }

    /// All sites.
    pub fn sites(&self) -> &[Site] {
        &self.sites
    }

    /// Bytes that are alive in all.
    pub fn live_bytes(&self) -> u64 {
        self.sites.iter().map(|site| site.held.bytes).sum()
    }
}

/// The frames around the one that stands for the stack.
fn shortened(stack: &[StackFrame], own: usize) -> Vec<StackFrame> {
    let leaf = stack.iter().position(|frame| frame.is_python).unwrap_or(0);
    // The innermost Python frame stays: it says what was called for memory.
    let first = own.saturating_sub(INNER_FRAMES_KEPT);
    let mut kept: Vec<StackFrame> = Vec::with_capacity(FRAMES_KEPT);
    if leaf < first {
        kept.push(stack[leaf].clone());
    }
    kept.extend(
        stack
            .iter()
            .skip(first)
            .take(FRAMES_KEPT - kept.len())
            .cloned(),
    );
    kept
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

    fn counts(bytes: u64) -> StackCounts {
        StackCounts {
            index: 0,
            live_bytes: bytes,
            live_blocks: 1,
            variance: 4,
            freed_blocks: 2,
        }
    }

    #[test]
    fn stacks_that_lead_to_one_line_are_one_site() {
        let mut table = SiteTable::default();
        let line = python("step", "train.py", 8);
        let linear = python("forward", "/x/site-packages/torch/linear.py", 1);
        let relu = python("forward", "/x/site-packages/torch/relu.py", 2);
        let first = [linear, line.clone()];
        let second = [relu, line.clone()];
        let site = table.site_of(Pid(7), BlockKind::Heap, &first);
        assert_eq!(table.site_of(Pid(8), BlockKind::Heap, &second), site);
        assert_ne!(
            table.site_of(Pid(8), BlockKind::PythonObject, &second),
            site
        );
        assert!(table.add(site, &counts(10)));
        assert!(table.add(site, &counts(20)));
        table.show_by(site, &second);
        assert_eq!(table.sites()[site].held.bytes, 30);
        assert_eq!(table.sites()[site].stack, second);
        table.clear();
        assert_eq!(table.live_bytes(), 0);
    }

    #[test]
    fn a_long_stack_keeps_its_leaf_and_the_frames_around_the_line() {
        let library = |n| python("f", "/x/site-packages/a.py", n);
        let mut stack: Vec<StackFrame> = (0..20).map(library).collect();
        stack.extend((0..20).map(|n| python("g", "train.py", 100 + n)));
        let kept = shortened(&stack, 20);
        assert_eq!(kept.len(), FRAMES_KEPT);
        assert_eq!(kept[0], stack[0]);
        assert_eq!(kept[1], stack[17]);
        assert!(kept.contains(&stack[20]));
    }
}
