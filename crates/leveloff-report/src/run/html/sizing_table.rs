//! How much memory a machine for this run needs.

use leveloff_classifier::verdict::{Grade, Subject, Verdict};
use leveloff_text::subject::words;
use leveloff_text::verdict::{capitalised, risk_words, settling};

use crate::html::markup::Markup;
use crate::run::sizing::{CELLS, LEGEND, cells};
use crate::run_report::RunReport;

/// Writes it.
pub fn write(report: &RunReport, page: &mut Markup) {
    page.section("sizing-heading", "How much memory it needs");
    if report.host_sizing.is_none() {
        write_no_answer(report, page);
    }
    let rows = cells(report);
    if !rows.is_empty() {
        let mut head = vec![("", String::new())];
        head.extend(CELLS.map(|name| ("n", capitalised(name))));
        let head: Vec<_> = head.iter().map(|(class, name)| (*class, &**name)).collect();
        page.table("sizing-heading", LEGEND, &head);
        for (name, cells) in rows {
            page.row(&capitalised(name), &cells);
        }
        page.end_table();
    }
    page.end_section();
}

/// For what does not level off there is no size.
fn write_no_answer(report: &RunReport, page: &mut Markup) {
    let run = &report.verdict;
    let answer = match run.verdict {
        Verdict::Leak(Grade::Suspected) => "Not known: it may grow without end.".to_owned(),
        Verdict::Leak(_) if run.decisive != Subject::Memory => format!(
            "No amount is enough for what grows without end: {}.",
            words(run.decisive)
        ),
        Verdict::Leak(_) => "No amount is enough: it grows without end.".to_owned(),
        Verdict::WarmingUp => "Not known before it levels off.".to_owned(),
        Verdict::Level(_) | Verdict::Undecided => "Not known: no level was seen.".to_owned(),
    };
    page.element("p", &answer);
    if let Some(risk) = &run.risk {
        page.element("p", &format!("{}.", capitalised(&risk_words(risk, run))));
    } else if matches!(run.verdict, Verdict::WarmingUp | Verdict::Undecided)
        && let Some(line) = settling(run, &report.stated).first()
    {
        page.element("p", &format!("Decided {line}."));
    }
}
