//! Two sides as one page: what changed, and the curves of all runs in one chart.

use leveloff_classifier::compare::Outcome;
use leveloff_classifier::observation::XUnit;
use leveloff_text::comparison::{because, outcome_words, remarks};
use leveloff_text::verdict::{Headline, capitalised};

use crate::comparison::compared::Compared;
use crate::comparison::table::{
    DIFFERENCES, LINES_LEGEND, POSITIONS, differences, legend, lines, lines_head, positions,
};
use crate::html::document::Document;
use crate::html::markup::Markup;
use crate::run::html::data;
use crate::run_report::RunReport;

/// Rows of memory at the same positions.
const MOST_POSITIONS: usize = 10;

/// The whole page. `before` and `after` are the runs that were compared.
pub fn page(compared: &Compared, before: &[RunReport], after: &[RunReport]) -> String {
    let mut body = Markup::new();
    write_headline(compared, &mut body);
    body.raw("<main id=\"main\">\n");
    write_chart(&mut body);
    write_differences(compared, &mut body);
    write_positions(compared, &mut body);
    write_lines(compared, &mut body);
    write_runs(before, after, &mut body);
    write_notes(compared, &mut body);
    body.raw("</main>\n");
    let tool = after.first().map_or("", |run| run.tool.as_str());
    body.raw("<footer>Made by leveloff ").text(tool);
    body.raw(". This page makes no network requests.</footer>\n");
    let comparison = compared.comparison;
    Document {
        title: &format!(
            "{}: {}",
            outcome_words(comparison.outcome),
            because(comparison)
        ),
        body,
        data: &data(before, after),
    }
    .into_html()
}

fn data(before: &[RunReport], after: &[RunReport]) -> String {
    let mut all = Vec::new();
    for (family, (side, runs)) in [("before", before), ("after", after)]
        .into_iter()
        .enumerate()
    {
        let named = runs.iter().zip(names(side, runs.len()));
        all.extend(named.map(|(run, name)| data::run_of_side(run, &name, family)));
    }
    let unit = after.first().map_or(XUnit::Step, |run| run.verdict.x_unit);
    data::page(unit, all)
}

/// `before`, or `before 1`, `before 2` of several.
fn names(side: &str, count: usize) -> Vec<String> {
    match count {
        1 => vec![side.to_owned()],
        _ => (1..=count).map(|n| format!("{side} {n}")).collect(),
    }
}

fn write_headline(compared: &Compared, page: &mut Markup) {
    let comparison = compared.comparison;
    page.raw("<header class=\"").raw(colour(comparison.outcome));
    page.raw("\">\n<div class=\"top\"><p class=\"input\">");
    page.element("code", &compared.before_names.join(", "));
    page.raw(" <span aria-hidden=\"true\">→</span><span class=\"sr\">to</span> ");
    page.element("code", &compared.after_names.join(", "));
    page.raw(
        "</p>\n<button type=\"button\" id=\"theme\" class=\"js\" hidden>Dark</button></div>\n",
    );
    page.raw("<h1><span class=\"verdict\">");
    page.text(outcome_words(comparison.outcome))
        .raw("</span>: ");
    page.text(&because(comparison)).raw("</h1>\n</header>\n");
}

/// What got worse looks like a leak, what is the same or better like a level.
fn colour(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Same | Outcome::Better => "level",
        Outcome::Worse => "leak",
        Outcome::Undecided => "undecided",
    }
}

fn write_chart(page: &mut Markup) {
    page.section("chart-heading", "Memory over the runs");
    page.raw("<div id=\"controls\" class=\"controls js\" hidden></div>\n");
    page.raw("<div id=\"chart\" class=\"chart js\" hidden></div>\n");
    page.raw("<div id=\"legend\" class=\"legend js\" hidden></div>\n");
    page.raw(
        "<noscript><p class=\"note\">The chart is drawn by JavaScript, which is off. The numbers \
              below are complete without it.</p></noscript>\n",
    );
    page.end_section();
}

fn write_differences(compared: &Compared, page: &mut Markup) {
    page.section("change-heading", "What changed");
    let classes = ["", "n", "n", "n", "found"];
    let head: Vec<_> = classes.into_iter().zip(DIFFERENCES).collect();
    page.table(
        "change-heading",
        &format!("{}.", capitalised(&legend())),
        &head,
    );
    for [name, before, after, change, found] in differences(compared.comparison) {
        page.raw("<tr>").element("th scope=\"row\"", &name);
        for cell in [before, after, change] {
            page.element("td class=\"n\"", &cell);
        }
        page.element("td class=\"found\"", &found).raw("</tr>\n");
    }
    page.end_table().end_section();
}

fn write_positions(compared: &Compared, page: &mut Markup) {
    let positions = positions(compared, MOST_POSITIONS);
    if positions.is_empty() {
        return;
    }
    page.section("positions-heading", "Memory at the same position");
    let head: Vec<_> = ["", "n", "n", "n"].into_iter().zip(POSITIONS).collect();
    page.table("positions-heading", "The mean of each side.", &head);
    for [name, cells @ ..] in positions {
        page.row(&name, &cells);
    }
    page.end_table().end_section();
}

fn write_lines(compared: &Compared, page: &mut Markup) {
    let lines = lines(compared);
    if lines.is_empty() {
        return;
    }
    page.section("lines-heading", "Which lines made what stays");
    let head = lines_head(compared);
    let classes = ["", "n", "n", "n", "found"];
    let head: Vec<_> = classes
        .into_iter()
        .zip(head.iter().map(String::as_str))
        .collect();
    let legend = format!("{}.", capitalised(LINES_LEGEND));
    page.table("lines-heading", &legend, &head);
    for [line, before, after, change, found] in lines {
        page.raw("<tr><th scope=\"row\">").element("code", &line);
        page.raw("</th>");
        for cell in [before, after, change] {
            page.element("td class=\"n\"", &cell);
        }
        page.element("td class=\"found\"", &found).raw("</tr>\n");
    }
    page.end_table().end_section();
}

fn write_runs(before: &[RunReport], after: &[RunReport], page: &mut Markup) {
    page.section("runs-heading", "The runs");
    page.raw("<dl class=\"facts\">\n");
    for (side, runs) in [("before", before), ("after", after)] {
        for (run, name) in runs.iter().zip(names(side, runs.len())) {
            let headline = Headline::of(&run.verdict);
            let facts = headline.facts().join(" · ");
            let about = format!("{}: {} ({facts})", run.input, headline.whole());
            page.term(&name, Some(&about));
        }
    }
    page.raw("</dl>\n");
    page.end_section();
}

fn write_notes(compared: &Compared, page: &mut Markup) {
    let remarks = remarks(compared.comparison);
    page.section("notes-heading", "Data and notes");
    page.list("notes", compared.notes.iter().chain(&remarks));
    page.raw(
        "<p class=\"js\" hidden><button type=\"button\" id=\"csv\">Download CSV</button> \
              <span id=\"csv-done\" role=\"status\"></span></p>\n",
    );
    page.end_section();
}
