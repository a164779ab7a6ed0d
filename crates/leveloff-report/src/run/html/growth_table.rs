//! What each role and each kind holds, and how it grew.

use leveloff_classifier::observation::Moment;
use leveloff_classifier::run_analysis::SeriesAccount;
use leveloff_classifier::run_curves::Series;
use leveloff_classifier::verdict::Kind;
use leveloff_model::training_counters::TrainingCounter;
use leveloff_model::units::ByteDelta;
use leveloff_text::number::{more_or_less, thousands};
use leveloff_text::rate::{CountRate, MemoryRate};
use leveloff_text::subject::series_words;
use leveloff_text::verdict::{blame_words, blamed_since, bytes};
use leveloff_text::x_position::moment_words;

use crate::html::markup::Markup;
use crate::run::trim::trim_words;
use crate::run_report::RunReport;

/// A share below this rounds to nothing.
const SHARE_NAMED: f64 = 0.005;

/// Writes it.
pub fn write(report: &RunReport, page: &mut Markup) {
    page.section("growth-heading", "What grew");
    write_blame(report, page);
    let columns = Columns::of(report);
    page.raw(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-labelledby=\"growth-heading\">",
    );
    page.raw("<table><caption>");
    page.text(&format!(
        "Growth counts from {} to {}, the last sample before processes exited. Peak: the highest of any sample.",
        x_words(report.account.since.moment, report),
        x_words(report.account.now, report),
    ));
    page.raw("</caption>\n");
    write_head(columns, page);
    for (name, is_in) in GROUPS {
        let parts: Vec<&SeriesAccount> = report
            .series
            .iter()
            .filter(|part| is_in(part.series))
            .collect();
        if parts.is_empty() {
            continue;
        }
        page.raw("<tbody>\n");
        if let Some(name) = name {
            page.raw("<tr class=\"group\"><th scope=\"rowgroup\" colspan=\"9\">");
            page.text(name).raw("</th></tr>\n");
        }
        for part in parts {
            write_part(part, report, columns, page);
        }
        page.raw("</tbody>\n");
    }
    page.raw("</table></div>\n");
    if let Some(trim) = trim_words(report) {
        page.raw("<p>").sentence(&trim).raw("</p>\n");
    }
    page.end_section();
}

fn x_words(moment: Moment, report: &RunReport) -> String {
    moment_words(moment, report.verdict.x_unit)
}

type Group = (Option<&'static str>, fn(Series) -> bool);

const GROUPS: [Group; 4] = [
    (None, |series| {
        matches!(series, Series::Memory | Series::RssSum)
    }),
    (Some("By role"), |series| matches!(series, Series::Role(_))),
    (
        Some("By kind"),
        |series| matches!(series, Series::Kind(kind) if kind != Kind::Descriptors),
    ),
    (Some("Beside memory"), |series| {
        matches!(
            series,
            Series::Kind(Kind::Descriptors) | Series::Counter(_) | Series::Gpu
        )
    }),
];

/// Columns in which there is anything.
#[derive(Clone, Copy)]
struct Columns {
    rate: bool,
    share: bool,
    processes: bool,
}

impl Columns {
    fn of(report: &RunReport) -> Columns {
        let any = |is: fn(&SeriesAccount) -> bool| report.series.iter().any(is);
        Columns {
            rate: any(|part| part.rate.is_some()),
            share: any(|part| part.share.is_some()),
            processes: any(|part| part.processes.is_some()),
        }
    }
}

fn write_blame(report: &RunReport, page: &mut Markup) {
    let blamed = report.verdict.blame.iter();
    let blamed: Vec<String> = blamed
        .filter(|blame| blame.share.abs() >= SHARE_NAMED)
        .map(blame_words)
        .collect();
    if blamed.is_empty() {
        return;
    }
    if let Some(since) = blamed_since(&report.verdict) {
        page.element("p", &since).raw("\n");
    }
    page.raw("<ul class=\"blame\">\n");
    for line in blamed {
        page.element("li", &line).raw("\n");
    }
    page.raw("</ul>\n");
}

fn write_head(columns: Columns, page: &mut Markup) {
    page.raw("<thead><tr><th scope=\"col\">Part</th>");
    for name in ["At the onset", "At the end", "Peak", "Growth"] {
        page.element("th scope=\"col\" class=\"n\"", name);
    }
    if columns.rate {
        page.element("th scope=\"col\" class=\"n\"", "Rate (interval)");
    }
    if columns.share {
        page.element("th scope=\"col\" class=\"n\"", "Share");
    }
    if columns.processes {
        page.element("th scope=\"col\" class=\"n\"", "RSS now");
        page.element("th scope=\"col\" class=\"n\"", "Processes");
    }
    page.raw("</tr></thead>\n");
}

fn write_part(part: &SeriesAccount, report: &RunReport, columns: Columns, page: &mut Markup) {
    page.raw(if part.series == Series::Memory {
        "<tr class=\"whole\">"
    } else {
        "<tr>"
    });
    page.element("th scope=\"row\"", series_words(part.series));
    let cell = |page: &mut Markup, text: String| {
        page.element("td class=\"n\"", &text);
    };
    for amount in [part.base, part.end, part.peak] {
        cell(page, told(part.series, amount));
    }
    cell(page, growth(part));
    if columns.rate {
        cell(page, rate(part, report).unwrap_or_default());
    }
    if columns.share {
        let share = part.share.map(|share| format!("{:.0} %", share * 100.0));
        cell(page, share.unwrap_or_default());
    }
    if columns.processes {
        cell(
            page,
            part.rss.map_or_else(String::new, |rss| rss.to_string()),
        );
        let processes = part.processes.map(|count| thousands(count.into()));
        cell(page, processes.unwrap_or_default());
    }
    page.raw("</tr>\n");
}

fn told(series: Series, value: f64) -> String {
    if series.is_bytes() {
        bytes(value).to_string()
    } else {
        thousands(value.max(0.0).round() as u64)
    }
}

fn growth(part: &SeriesAccount) -> String {
    if part.series.is_bytes() {
        ByteDelta(part.growth().round() as i64).to_string()
    } else {
        more_or_less(part.growth())
    }
}

fn rate(part: &SeriesAccount, report: &RunReport) -> Option<String> {
    let (rate, unit) = (part.rate?, report.verdict.x_unit);
    Some(match part.series {
        Series::Counter(TrainingCounter::Tensors) => {
            CountRate::new(rate, unit, "tensors").with_interval()
        }
        series if !series.is_bytes() => {
            CountRate::new(rate, unit, series_words(series)).with_interval()
        }
        _ => MemoryRate::new(rate, unit).with_interval(),
    })
}
