//! Where it ran, and what could not be measured there.

use leveloff_text::number::thousands;

use crate::html::markup::Markup;
use crate::run::environment::{FactKind, facts};
use crate::run_report::{Background, RunReport};

/// Writes where it ran.
pub fn write(report: &RunReport, page: &mut Markup) {
    page.section("environment-heading", "Environment");
    page.raw("<dl class=\"facts\">\n");
    for fact in facts(report) {
        match fact.kind {
            FactKind::Command => {
                page.raw("<div class=\"wide\">").element("dt", fact.name);
                page.raw("<dd>").element("code", &fact.value);
                page.raw("</dd></div>\n");
            }
            FactKind::Foreign | FactKind::Own => {
                page.term(fact.name, Some(&fact.value));
            }
        }
    }
    page.raw("</dl>\n").end_section();
}

/// Writes what is missing and what was guessed.
pub fn write_gaps(report: &RunReport, page: &mut Markup) {
    let Background {
        gaps,
        gaps_left_out,
        ..
    } = &report.background;
    if gaps.is_empty() && report.notes.is_empty() {
        return;
    }
    let more = match *gaps_left_out {
        0 => None,
        more => Some(format!("{} more gaps of this kind", thousands(more))),
    };
    page.section("gaps-heading", "Gaps and notes");
    page.list("gaps", report.notes.iter().chain(gaps).chain(&more));
    page.end_section();
}
