//! How it is known, the data to take along, and who says so.

use leveloff_classifier::units::Amount;
use leveloff_classifier::verdict::{Judgement, Reason};
use leveloff_text::number::thousands;
use leveloff_text::rate::amount;
use leveloff_text::subject::{things, words};
use leveloff_text::verdict::sentence;

use crate::html::markup::Markup;
use crate::run_report::RunReport;

/// Writes the method and the download.
pub fn write(report: &RunReport, page: &mut Markup) {
    page.section("method-heading", "How this is known");
    page.raw("<div class=\"method\">\n");
    page.element("p", &basis(report));
    page.raw(what_memory_is(report));
    page.raw(
        "<p>Rates are slopes of straight lines (least squares), with an interval that stays valid however often one \
         looks.</p>\n",
    );
    page.raw("</div>\n");
    page.end_section();
    page.section("data-heading", "Data");
    write_data(report, page);
    page.raw(
        "<p class=\"js\" hidden><button type=\"button\" id=\"csv\">Download CSV</button> \
              <span id=\"csv-done\" role=\"status\"></span></p>\n",
    );
    page.end_section();
}

/// Writes the last line.
pub fn write_footer(report: &RunReport, page: &mut Markup) {
    page.raw("<footer>Made by leveloff ");
    page.text(&report.tool);
    page.raw(". This page makes no network requests.</footer>\n");
}

/// A file that knows one number only does not say how that was counted.
fn what_memory_is(report: &RunReport) -> &'static str {
    if report.processes.is_empty() {
        "<p>Memory is the number that the file has. If that is a sum of RSS, pages that processes share \
         are in it once for each of them.</p>\n"
    } else {
        "<p>Memory is what the processes really hold, with what is swapped out: a page that several \
         of them share is counted once (PSS), not once for each as in a sum of RSS.</p>\n"
    }
}

/// What the verdict rests on, in numbers.
fn basis(report: &RunReport) -> String {
    let run = &report.verdict;
    let judgement = &run.judgement;
    let why = sentence(run, &report.stated);
    let points = thousands(judgement.points);
    let what = words(run.decisive);
    let rests = format!("The verdict is about {what} and rests on {points} points: {why}.");
    if matches!(judgement.reason, Reason::TooFewPoints { .. }) {
        return rests;
    }
    format!("{rests} {}", noise(judgement, things(run.decisive)))
}

fn noise(judgement: &Judgement, things: Option<&str>) -> String {
    let size = |Amount(value): Amount| match things {
        Some(things) => format!("{value:.1} {things}"),
        None => amount(value),
    };
    format!(
        "It fluctuates by ±{} around its trend, with an autocorrelation of {:.2} from one point \
         to the next; growth below {} in total is not reported.",
        size(judgement.noise),
        judgement.autocorrelation,
        size(judgement.material)
    )
}

/// What the page carries, and how to have more.
fn write_data(report: &RunReport, page: &mut Markup) {
    let curves = &report.curves;
    if curves.stride() == 1 {
        let samples = thousands(curves.samples());
        page.element("p", &format!("This page carries all {samples} samples."));
        return;
    }
    let (rows, stride) = (curves.spans().count() as u64, curves.stride());
    page.raw("<p>").text(&format!(
        "This page carries {} rows; each stands for {} samples in a row, with the lowest and the \
         highest of them. ",
        thousands(rows),
        thousands(stride)
    ));
    page.raw("<code>leveloff export</code> writes every sample of a recording.</p>\n");
}
