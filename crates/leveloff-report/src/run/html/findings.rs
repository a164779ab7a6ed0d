//! What the evidence shows, what to do about it, and what it is not.

use leveloff_text::finding::finding_words;
use leveloff_text::known_bug::bug_words;
use leveloff_text::verdict::what_to_try;

use crate::html::markup::Markup;
use crate::run::ruled_out::ruled_out;
use crate::run_report::RunReport;

/// Writes both.
pub fn write(report: &RunReport, page: &mut Markup) {
    write_findings(report, page);
    write_ruled_out(report, page);
}

fn write_findings(report: &RunReport, page: &mut Markup) {
    let (run, judged) = (&report.verdict, report.judged());
    page.section("findings-heading", "Findings and next steps");
    let to_try = what_to_try(run).filter(|_| run.findings.is_empty());
    if run.findings.is_empty() && to_try.is_none() {
        page.raw("<p>Nothing that asks for a next step.</p>\n");
    }
    for finding in &run.findings {
        page.raw("<article class=\"finding\">")
            .element("h3", finding.name());
        let words = finding_words(finding);
        page.raw("<p>").sentence(&words.text).raw("</p>");
        page.raw("<p class=\"next\">").sentence(&words.next);
        if let Some(experiment) = judged.experiment(finding) {
            page.raw("</p><p>").element("code", &experiment);
        }
        page.raw("</p></article>\n");
    }
    for suspected in &run.known_bugs {
        let words = bug_words(suspected);
        page.raw("<article class=\"finding\"><h3>Known bug</h3><p>")
            .sentence(&words.text)
            .raw("</p><p class=\"next\">")
            .sentence(&words.next);
        page.raw("</p><p>")
            .text(suspected.bug.link)
            .raw("</p></article>\n");
    }
    if let Some(to_try) = to_try {
        page.raw("<p class=\"next\">")
            .sentence(to_try)
            .raw("</p>\n");
    }
    page.end_section();
}

fn write_ruled_out(report: &RunReport, page: &mut Markup) {
    let lines = ruled_out(report);
    if lines.is_empty() {
        return;
    }
    page.section("ruled-out-heading", "Ruled out");
    page.list("ruled-out", lines).end_section();
}
