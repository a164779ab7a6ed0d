//! What the evidence shows, what to do about it, and what it is not.

use leveloff_classifier::verdict::{Judgement, RunVerdict, Shape, Subject, Verdict};

use super::markup::Markup;
use crate::run_report::RunReport;
use crate::subject::{things, words};
use crate::words::{bytes, what_to_try};

/// Things ruled out that are told at most: one process after the other is no news.
const MOST_RULED_OUT: usize = 8;

/// Writes both.
pub fn write(report: &RunReport, page: &mut Markup) {
    write_findings(&report.verdict, page);
    write_ruled_out(&report.verdict, page);
}

fn write_findings(run: &RunVerdict, page: &mut Markup) {
    page.section("findings-heading", "Findings and next steps");
    let to_try = what_to_try(run).filter(|_| run.findings.is_empty());
    if run.findings.is_empty() && to_try.is_none() {
        page.raw("<p>Nothing that asks for a next step.</p>\n");
    }
    for finding in &run.findings {
        page.raw("<article class=\"finding\">")
            .element("h3", finding.name);
        page.element("p", &finding.text);
        if !finding.next.is_empty() {
            page.element("p class=\"next\"", &finding.next);
        }
        page.raw("</article>\n");
    }
    if let Some(to_try) = to_try {
        page.element("p class=\"next\"", to_try).raw("\n");
    }
    page.end_section();
}

fn write_ruled_out(run: &RunVerdict, page: &mut Markup) {
    let lines = ruled_out(run);
    if lines.is_empty() {
        return;
    }
    page.section("ruled-out-heading", "Ruled out");
    page.raw("<ul class=\"ruled-out\">\n");
    for line in lines {
        page.element("li", &line).raw("\n");
    }
    page.raw("</ul>\n");
    page.end_section();
}

/// What was judged on its own and found level, where something else is not.
fn ruled_out(run: &RunVerdict) -> Vec<String> {
    if run.verdict == Verdict::Level {
        return Vec::new();
    }
    let is_ruled_out = |(subject, judgement): &&(Subject, Judgement)| {
        let is_one_of_many = matches!(subject, Subject::Process(..) | Subject::RoleKind(..));
        judgement.verdict == Verdict::Level && *subject != run.decisive && !is_one_of_many
    };
    let told = run.subjects.iter().filter(is_ruled_out);
    let told = told.map(|(subject, judgement)| ruled_out_words(*subject, judgement));
    told.take(MOST_RULED_OUT).collect()
}

fn ruled_out_words(subject: Subject, judgement: &Judgement) -> String {
    let what = words(subject);
    let does = match judgement.shape {
        Shape::Shrinking => "shrank",
        _ => "level",
    };
    match (judgement.level, things(subject)) {
        (Some(level), None) => format!("{what}: {does}, at {}", bytes(level)),
        (Some(level), Some(_)) => format!("{what}: {does}, at {level:.0}"),
        (None, _) => format!("{what}: {does}"),
    }
}
