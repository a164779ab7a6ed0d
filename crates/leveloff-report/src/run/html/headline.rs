//! The answer first: the verdict, how fast it grows, and when the limit is reached.

use leveloff_classifier::verdict::ClockTick;
use leveloff_text::evidence;
use leveloff_text::verdict::{Headline, clock_words, risk_words};

use crate::html::markup::{Markup, verdict_class};
use crate::run_report::RunReport;

/// Writes it.
pub fn write(report: &RunReport, page: &mut Markup) {
    let run = &report.verdict;
    let headline = Headline::of(run);
    page.raw("<header class=\"").raw(verdict_class(run.verdict));
    page.raw("\">\n<div class=\"top\"><p class=\"input\">");
    page.element("code", &report.input);
    for fact in headline.facts() {
        page.raw(" <span class=\"dot\" aria-hidden=\"true\">·</span> ");
        page.text(&fact);
    }
    page.raw(
        "</p>\n<button type=\"button\" id=\"theme\" class=\"js\" hidden>Dark</button></div>\n",
    );
    page.raw("<h1><span class=\"verdict\">")
        .text(headline.words());
    page.raw("</span>").text(&headline.rest).raw("</h1>\n");
    page.raw("<dl class=\"evidence\">\n");
    write_rows(page, evidence::rows(&report.judged()));
    let risk = run.risk.as_ref().map(|risk| risk_words(risk, run));
    page.term("risk", risk.as_deref());
    let clock = run
        .clock
        .as_ref()
        .filter(|clock| clock.tick != ClockTick::Step);
    page.term(
        "when",
        clock.map(|clock| clock_words(clock, run)).as_deref(),
    );
    page.term("speed", report.speed_words().as_deref());
    page.raw("</dl>\n</header>\n");
}

/// Rows without a label go on with the one above.
fn write_rows(page: &mut Markup, rows: Vec<evidence::Row>) {
    let mut is_open = false;
    for (label, text) in rows {
        if !label.is_empty() || !is_open {
            if is_open {
                page.raw("</div>\n");
            }
            page.raw("<div>").element("dt", label);
            is_open = true;
        }
        page.element("dd", &text);
    }
    if is_open {
        page.raw("</div>\n");
    }
}
