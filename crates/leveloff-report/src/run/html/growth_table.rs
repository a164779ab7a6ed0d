//! What each role and each kind holds, and how it grew.

use leveloff_classifier::observation::Moment;
use leveloff_classifier::run_analysis::SeriesAccount;
use leveloff_classifier::run_curves::Series;
use leveloff_classifier::units::Amount;
use leveloff_classifier::verdict::Kind;
use leveloff_model::training_counters::TrainingCounter;
use leveloff_text::number::{more_or_less, thousands};
use leveloff_text::rate::{CountRate, MemoryRate};
use leveloff_text::subject::series_words;
use leveloff_text::verdict::{blame_words, blamed_since};
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
    page.table("growth-heading", &caption(report), &columns.head());
    for (name, is_in) in GROUPS {
        let parts: Vec<&SeriesAccount> = report
            .series
            .iter()
            .filter(|part| is_in(part.series))
            .collect();
        if parts.is_empty() {
            continue;
        }
        if let Some(name) = name {
            page.raw(
                "</tbody>\n<tbody>\n<tr class=\"group\"><th scope=\"rowgroup\" colspan=\"9\">",
            );
            page.text(name).raw("</th></tr>\n");
        }
        for part in parts {
            write_part(part, report, columns, page);
        }
    }
    page.end_table();
    if let Some(trim) = trim_words(report) {
        page.raw("<p>").sentence(&trim).raw("</p>\n");
    }
    page.end_section();
}

fn caption(report: &RunReport) -> String {
    let words = |moment: Moment| moment_words(moment, report.verdict.x_unit);
    format!(
        "Growth counts from {} to {}, {}. Peak: the highest of any sample.",
        words(report.account.since.moment),
        words(report.account.now),
        match report.account.is_over {
            true => "the last sample before processes exited or memory was freed",
            false => "the newest sample",
        }
    )
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

    fn head(self) -> Vec<(&'static str, &'static str)> {
        let mut names = vec!["At the onset", "At the end", "Peak", "Growth"];
        names.extend(self.rate.then_some("Rate (interval)"));
        names.extend(self.share.then_some("Share"));
        names.extend(self.processes.then_some("RSS now"));
        names.extend(self.processes.then_some("Processes"));
        let names = names.into_iter().map(|name| ("n", name));
        std::iter::once(("", "Part")).chain(names).collect()
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
    page.list("blame", blamed);
}

fn write_part(part: &SeriesAccount, report: &RunReport, columns: Columns, page: &mut Markup) {
    let amounts = [part.base, part.end, part.peak];
    let mut cells: Vec<String> = amounts
        .map(|amount| amount_words(part.series, amount))
        .into();
    cells.push(growth(part));
    if columns.rate {
        cells.push(rate(part, report).unwrap_or_default());
    }
    if columns.share {
        let share = part.share.map(|share| format!("{:.0} %", share * 100.0));
        cells.push(share.unwrap_or_default());
    }
    if columns.processes {
        cells.push(part.rss.map_or_else(String::new, |rss| rss.to_string()));
        let processes = part.processes.map(|count| thousands(count.into()));
        cells.push(processes.unwrap_or_default());
    }
    page.row(series_words(part.series), &cells);
}

fn amount_words(series: Series, amount: Amount) -> String {
    if series.is_bytes() {
        amount.bytes().to_string()
    } else {
        thousands(amount.0.max(0.0).round() as u64)
    }
}

fn growth(part: &SeriesAccount) -> String {
    if part.series.is_bytes() {
        part.growth().byte_delta().to_string()
    } else {
        more_or_less(part.growth().0)
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
