//! Folded stacks: `outer;inner KiB`, one line for each stack, as flame graph programs read them.

use std::fmt::Write as _;

use leveloff_model::allocation::StackFrame;
use leveloff_model::process::printable;

use crate::run_report::RunReport;

/// What grew, in KiB, by stack.
pub fn folded(report: &RunReport) -> String {
    let mut text = String::new();
    for line in &report.lines {
        let frames = line.site.stack.iter().rev().map(name);
        let frames: Vec<String> = frames.collect();
        let kib = (line.growth.0 / 1024.0).round();
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{} {kib:.0}", frames.join(";"));
    }
    text
}

/// A frame as one word of a folded stack: the separators must not be part of it.
fn name(frame: &StackFrame) -> String {
    let place = match frame.line {
        Some(_) => format!("{} ({})", frame.function, frame.place()),
        None => frame.place(),
    };
    printable(place.replace([';', '\n'], ":").as_bytes())
}
