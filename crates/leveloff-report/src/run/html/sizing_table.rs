//! How much memory a machine for this run needs.

use leveloff_classifier::verdict::{Subject, Verdict};
use leveloff_text::sizing::{Sizing, whole};
use leveloff_text::subject::words;
use leveloff_text::verdict::{bytes, is_from_the_start, risk_words, settling};
use leveloff_text::x_position::XPosition;

use crate::html::markup::Markup;
use crate::run_report::RunReport;

/// Writes it.
pub fn write(report: &RunReport, page: &mut Markup) {
    page.section("sizing-heading", "How much memory it needs");
    if report.host_sizing.is_none() {
        write_no_answer(report, page);
    }
    let rows = [("Host", report.host_sizing), ("GPU", report.gpu_sizing)];
    let rows: Vec<(&str, Sizing)> = rows
        .into_iter()
        .filter_map(|(name, sizing)| Some((name, sizing?)))
        .collect();
    if !rows.is_empty() {
        write_table(&rows, report, page);
    }
    page.end_section();
}

fn write_table(rows: &[(&str, Sizing)], report: &RunReport, page: &mut Markup) {
    page.raw(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-labelledby=\"sizing-heading\">",
    );
    page.raw("<table class=\"sizing\"><caption>Needed: a tenth more than the peak, as samples miss what \
              lies between them. Comfortable: half as much again as the peak, in a size that is sold.</caption>\n\
              <thead><tr><th scope=\"col\">Memory</th>");
    let names = [
        "Baseline (model loaded)",
        "End of warmup",
        "Level",
        "Peak",
        "Needed",
        "Comfortable",
    ];
    for name in names {
        page.element("th scope=\"col\" class=\"n\"", name);
    }
    page.raw("</tr></thead>\n<tbody>\n");
    for (name, sizing) in rows {
        page.raw("<tr>").element("th scope=\"row\"", name);
        let end = sizing.warmup_end_x;
        let end = end.map(|x| match is_from_the_start(&report.verdict.memory) {
            true => "none seen".to_owned(),
            false => XPosition::new(x, report.verdict.x_unit).to_string(),
        });
        let cells = [
            bytes(sizing.baseline).to_string(),
            end.unwrap_or_else(|| "not judged".to_owned()),
            bytes(sizing.level).to_string(),
            bytes(sizing.peak).to_string(),
        ];
        for cell in cells {
            page.element("td class=\"n\"", &cell);
        }
        page.element("td class=\"n strong\"", &whole(sizing.needed));
        page.element("td class=\"n strong\"", &whole(sizing.comfortable));
        page.raw("</tr>\n");
    }
    page.raw("</tbody></table></div>\n");
}

/// For what does not level off there is no size.
fn write_no_answer(report: &RunReport, page: &mut Markup) {
    let run = &report.verdict;
    let answer = match run.verdict {
        Verdict::Leak(_) if run.decisive != Subject::Memory => format!(
            "No amount is enough for what grows without end: {}.",
            words(run.decisive)
        ),
        Verdict::Leak(_) => "No amount is enough: it grows without end.".to_owned(),
        Verdict::WarmingUp => "Not known before it levels off.".to_owned(),
        Verdict::Level | Verdict::Undecided => "Not known: no level was seen.".to_owned(),
    };
    page.element("p", &answer);
    if let Some(risk) = &run.risk {
        page.element("p", &sentence_of(&risk_words(risk, run)));
    } else if matches!(run.verdict, Verdict::WarmingUp | Verdict::Undecided)
        && let Some(line) = settling(run, &report.stated).first()
    {
        page.element("p", &sentence_of(&format!("decided {line}")));
    }
}

fn sentence_of(words: &str) -> String {
    let mut letters = words.chars();
    let first = letters.next().map(|first| first.to_ascii_uppercase());
    let rest = letters.as_str();
    first.map_or_else(String::new, |first| format!("{first}{rest}."))
}
