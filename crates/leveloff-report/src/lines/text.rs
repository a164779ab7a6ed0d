//! The lines for people: all of them, with their stacks.

use leveloff_text::allocation;
use leveloff_text::page::Page;

use crate::run_report::RunReport;

/// Lines that are listed, at most.
const LINES_LISTED: usize = 10;

/// The lines that grew, most first.
pub fn text(report: &RunReport) -> String {
    let mut page = Page::new();
    if report.lines.is_empty() {
        page.line(
            "no line's memory grew, or the run was recorded without --blame: start it with `leveloff run --blame -- CMD`"
                .to_owned(),
        );
        return page.into_text();
    }
    for line in report.lines.iter().take(LINES_LISTED) {
        page.row(
            line.certainty.name(),
            &allocation::line_words(line, report.verdict.x_unit),
        );
        if let Some(source) = allocation::source(line) {
            page.hanging("", &source, 2);
        }
        if let Some(holder) = &line.holder {
            page.hanging("", &allocation::holder_words(holder), 2);
        }
        for frame in &line.site.stack {
            page.hanging("", &format!("{} {}", frame.place(), frame.function), 4);
        }
        page.hanging("", &format!("({})", allocation::caution(line)), 2);
        page.gap();
    }
    page.into_text()
}
