//! The place of the chart. What is drawn into it is made in the browser.

use leveloff_classifier::observation::XUnit;
use leveloff_text::number::thousands;

use super::curve_table;
use crate::html::markup::Markup;
use crate::run::chart;
use crate::run_report::RunReport;

/// Writes it, with a table for those who cannot see it.
pub fn write(report: &RunReport, page: &mut Markup) {
    page.section("chart-heading", "Memory over the run");
    page.raw("<div id=\"controls\" class=\"controls js\" hidden></div>\n");
    page.raw("<div id=\"chart\" class=\"chart js\" hidden></div>\n");
    page.raw("<div id=\"legend\" class=\"legend js\" hidden></div>\n");
    page.raw(
        "<p class=\"hint js\" hidden>Drag to zoom, double click for all. In focus: wheel or \
         <kbd>+</kbd> <kbd>−</kbd> zoom, <kbd>←</kbd> <kbd>→</kbd> move the cursor, with \
         <kbd>Shift</kbd> the view.</p>\n",
    );
    write_without_script(report, page);
    page.element("p class=\"note\"", &folding(report));
    curve_table::write(report, page);
    page.end_section();
}

/// Without JavaScript, a still picture.
fn write_without_script(report: &RunReport, page: &mut Markup) {
    page.raw("<noscript>").picture(&chart::svg(report));
    page.raw(
        "<p class=\"note\">With JavaScript, this chart can be hovered and zoomed. The numbers below \
              are complete without it.</p></noscript>\n",
    );
}

/// How much of the run each point of the chart stands for, and what it does not show.
fn folding(report: &RunReport) -> String {
    let curves = &report.curves;
    let samples = thousands(curves.samples());
    let mut text = match curves.stride() {
        1 => format!("Every one of {samples} samples is drawn."),
        stride => format!(
            "{samples} samples; each point stands for {} in a row and is drawn from the lowest to \
             the highest of them, so no spike is lost.",
            thousands(stride)
        ),
    };
    if begins_uncounted(report) {
        let unit = report.verdict.x_unit.name();
        text += &format!(" What came before the first {unit} is on the time axis only.");
    }
    if curves.events_are_thinned() {
        text += " More happened in the training than is marked.";
    }
    text
}

fn begins_uncounted(report: &RunReport) -> bool {
    let counted = report.verdict.x_unit != XUnit::Second;
    let first = report.curves.spans().next();
    counted && first.is_some_and(|span| span.x.is_none() && span.t.is_some())
}
