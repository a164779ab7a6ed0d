//! Which lines allocated the memory that is not freed, if the run was started with `--blame`: a table and a flame graph.

use leveloff_model::allocation::StackFrame;
use leveloff_text::allocation::{caution, place, source};
use leveloff_text::rate::MemoryRate;

use crate::html::markup::Markup;
use crate::lines::frame_tree::{FrameNode, depth, frame_tree};
use crate::run_report::RunReport;

/// Lines that are listed, at most.
const LINES_LISTED: usize = 10;
/// Width of the flame graph in units of its own; the page scales it.
const WIDTH: f64 = 1000.0;
const ROW: f64 = 18.0;
/// A narrower frame is not drawn.
const NARROWEST: f64 = 1.5;
/// Width of a character of its labels.
const CHARACTER: f64 = 6.4;
/// More frames above each other are cut off at the inner end, which is inside of libraries.
const DEEPEST: usize = 40;

/// Writes it, if there is anything to write.
pub fn write(report: &RunReport, page: &mut Markup) {
    let Some(first) = report.lines.first() else {
        return;
    };
    page.section(
        "lines-heading",
        "Which lines allocated the memory that is not freed",
    );
    page.table(
        "lines-heading",
        "Estimated from sampled blocks; ± is half of the 95 % interval.",
        &[
            ("", "Line"),
            ("", "Certainty"),
            ("n", "Share"),
            ("n", "Grown"),
            ("n", "Rate"),
            ("n", "Blocks"),
        ],
    );
    for line in report.lines.iter().take(LINES_LISTED) {
        page.raw("<tr><th scope=\"row\">")
            .element("code", &place(line));
        if let Some(source) = source(line) {
            page.raw("<br>").element("code", &source);
        }
        page.raw("</th>").element("td", line.certainty.name());
        let (share, margin) = (line.share * 100.0, line.share_margin * 100.0);
        page.element("td class=\"n\"", &format!("{share:.0} % ±{margin:.0}"));
        page.element("td class=\"n\"", &line.growth.byte_delta().to_string());
        let rate = line
            .rate
            .map(|rate| MemoryRate::new(rate, report.verdict.x_unit).alone());
        page.element("td class=\"n\"", &rate.unwrap_or_default());
        page.element("td class=\"n\"", &line.blocks.to_string());
        page.raw("</tr>\n");
    }
    page.end_table();
    page.raw("<p class=\"note\">")
        .text(caution(first))
        .raw("</p>\n");
    write_graph(report, page);
    page.end_section();
}

fn write_graph(report: &RunReport, page: &mut Markup) {
    let tree = frame_tree(&report.lines);
    let total: f64 = tree.iter().map(|node| node.bytes).sum();
    if total <= 0.0 {
        return;
    }
    let height = depth(&tree).min(DEEPEST) as f64 * ROW;
    page.raw("<h3>What grew, by stack</h3>\n");
    page.raw("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Flame graph\">");
    page.raw("<svg class=\"flame\" role=\"img\" aria-label=\"Flame graph of the memory that grew, outermost call on top\" viewBox=\"0 0 1000 ");
    page.text(&number(height)).raw("\">\n");
    let scale = WIDTH / total;
    write_row(&tree, 0.0, 0, scale, page);
    page.raw("</svg></div>\n");
}

fn write_row(nodes: &[FrameNode], x: f64, row: usize, scale: f64, page: &mut Markup) {
    if row >= DEEPEST {
        return;
    }
    let mut x = x;
    for node in nodes {
        let width = node.bytes * scale;
        if width >= NARROWEST {
            write_frame(node, (x, row as f64 * ROW), width, page);
            write_row(&node.calls, x, row + 1, scale, page);
        }
        x += width;
    }
}

fn write_frame(node: &FrameNode, (x, y): (f64, f64), width: f64, page: &mut Markup) {
    let name = label(node.frame);
    page.raw("<g class=\"")
        .raw(class(node.frame))
        .raw("\"><title>");
    let bytes = leveloff_model::units::Bytes(node.bytes.max(0.0) as u64);
    page.text(&format!("{name}: {bytes}")).raw("</title>");
    page.raw("<rect x=\"").text(&number(x));
    page.raw("\" y=\"").text(&number(y));
    page.raw("\" width=\"").text(&number(width - 1.0));
    page.raw("\" height=\"17\"/>");
    let room = ((width - 6.0) / CHARACTER) as usize;
    if room >= 4 {
        let short: String = match name.chars().count() > room {
            true => name.chars().take(room - 1).chain(['…']).collect(),
            false => name,
        };
        page.raw("<text x=\"").text(&number(x + 3.0));
        page.raw("\" y=\"").text(&number(y + 12.5)).raw("\">");
        page.text(&short).raw("</text>");
    }
    page.raw("</g>\n");
}

fn label(frame: &StackFrame) -> String {
    match frame.line {
        Some(_) => format!("{} {}", frame.place(), frame.function),
        None => frame.place(),
    }
}

fn class(frame: &StackFrame) -> &'static str {
    match (frame.is_python, frame.is_library()) {
        (true, false) => "own",
        (true, true) => "library",
        (false, _) => "native",
    }
}

/// A coordinate with as many digits as matter.
fn number(value: f64) -> String {
    format!("{value:.1}")
}
