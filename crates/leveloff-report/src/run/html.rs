//! A run as one page that needs nothing else: no network, no library, no server.
//!
//! Everything that matters is shown without JavaScript; the chart and the CSV are made in the browser
//! from the data that the page carries. Its names come from untrusted recordings, so text can only get into the
//! page escaped (`markup`), and a policy in its head forbids every script but ours, and any request.

mod chart;
mod curve_table;
pub(crate) mod data;
mod environment;
mod findings;
mod grown_tensors;
mod growth_table;
mod headline;
mod lines;
mod marks;
mod members;
mod method;
mod sizing_table;

use leveloff_text::verdict::Headline;

use crate::html::document::Document;
use crate::html::markup::Markup;
use crate::run_report::RunReport;

/// The whole page.
pub fn page(report: &RunReport) -> String {
    let mut body = Markup::new();
    headline::write(report, &mut body);
    body.raw("<main id=\"main\">\n");
    for write in SECTIONS {
        write(report, &mut body);
    }
    body.raw("</main>\n");
    method::write_footer(report, &mut body);
    let title = format!(
        "{} · {}",
        Headline::of(&report.verdict).whole(),
        report.input
    );
    Document {
        title: &title,
        body,
        data: &data::json(report),
    }
    .into_html()
}

/// In the order of reading: what it looks like, who it is, what to do, what it needs, how it is known.
const SECTIONS: [fn(&RunReport, &mut Markup); 10] = [
    chart::write,
    lines::write,
    growth_table::write,
    grown_tensors::write,
    members::write,
    findings::write,
    sizing_table::write,
    environment::write,
    environment::write_gaps,
    method::write,
];

#[cfg(test)]
mod tests;
