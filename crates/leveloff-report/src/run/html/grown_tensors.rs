//! Which tensors became more, where the training tells.

use leveloff_text::number::more_or_less;

use crate::html::markup::Markup;
use crate::run_report::RunReport;

/// Writes it, if there is anything to write.
pub fn write(report: &RunReport, page: &mut Markup) {
    if report.grown.is_empty() {
        return;
    }
    page.section("grown-heading", "Tensors that became more");
    page.raw(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-labelledby=\"grown-heading\">",
    );
    page.raw(
        "<table><caption>Since the training first counted them, as it told last: those whose memory \
         grew most.</caption>\n<thead><tr><th scope=\"col\">Type, shape and device</th>",
    );
    for name in ["More", "More memory"] {
        page.element("th scope=\"col\" class=\"n\"", name);
    }
    page.raw("</tr></thead>\n<tbody>\n");
    for grown in &report.grown {
        page.raw("<tr><th scope=\"row\">")
            .element("code", &grown.what)
            .raw("</th>");
        page.element("td class=\"n\"", &more_or_less(grown.more as f64));
        page.element("td class=\"n\"", &format!("+{}", grown.more_bytes));
        page.raw("</tr>\n");
    }
    page.raw("</tbody></table></div>\n");
    page.end_section();
}
