//! Tensors whose number grew, where the training reports them.

use leveloff_text::number::more_or_less;

use crate::html::markup::Markup;
use crate::run_report::RunReport;

/// Writes it, if there is anything to write.
pub fn write(report: &RunReport, page: &mut Markup) {
    if report.grown.is_empty() {
        return;
    }
    page.section("grown-heading", "Tensors that grew in number");
    page.table(
        "grown-heading",
        "Since the training first counted them, as of its last count: those whose memory grew most.",
        &[("", "Type, shape and device"), ("n", "More"), ("n", "More memory")],
    );
    for grown in &report.grown {
        page.raw("<tr><th scope=\"row\">")
            .element("code", &grown.what)
            .raw("</th>");
        page.element("td class=\"n\"", &more_or_less(grown.more as f64));
        page.element("td class=\"n\"", &format!("+{}", grown.more_bytes));
        page.raw("</tr>\n");
    }
    page.end_table().end_section();
}
