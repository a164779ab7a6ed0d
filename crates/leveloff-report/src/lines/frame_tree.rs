//! Stacks that grew, merged into a tree: what a flame graph draws.

use leveloff_classifier::allocation_history::LineGrowth;
use leveloff_model::allocation::StackFrame;

/// A frame, and what was allocated below it.
#[derive(Debug, Clone, PartialEq)]
pub struct FrameNode<'a> {
    /// The frame.
    pub frame: &'a StackFrame,
    /// Growth of all lines below it, in bytes.
    pub bytes: f64,
    /// The frames that it called, in the order of the lines' growth.
    pub calls: Vec<FrameNode<'a>>,
}

/// The outermost frames of all lines.
pub fn frame_tree(lines: &[LineGrowth]) -> Vec<FrameNode<'_>> {
    let mut roots = Vec::new();
    for line in lines {
        let mut level = &mut roots;
        for frame in line.site.stack.iter().rev() {
            level = &mut add(level, frame, line.growth.0).calls;
        }
    }
    roots
}

/// How many frames lie above each other.
pub fn depth(nodes: &[FrameNode]) -> usize {
    let deepest = nodes.iter().map(|node| 1 + depth(&node.calls)).max();
    deepest.unwrap_or(0)
}

fn add<'a, 'b>(
    level: &'b mut Vec<FrameNode<'a>>,
    frame: &'a StackFrame,
    bytes: f64,
) -> &'b mut FrameNode<'a> {
    let at = level.iter().position(|node| node.frame == frame);
    let at = at.unwrap_or_else(|| {
        level.push(FrameNode {
            frame,
            bytes: 0.0,
            calls: Vec::new(),
        });
        level.len() - 1
    });
    level[at].bytes += bytes;
    &mut level[at]
}
