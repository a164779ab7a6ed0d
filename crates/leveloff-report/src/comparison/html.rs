//! Two sides as one page: what changed, and the curves of all runs in one chart.

use leveloff_classifier::compare::{CONFIDENCE, ChangeFinding, Difference, Outcome};
use leveloff_classifier::observation::XUnit;
use leveloff_classifier::units::X;
use leveloff_text::comparison::{
    because, change_words, finding_words, outcome_words, quantity_words, remarks, value_words,
};
use leveloff_text::rate::{amount, change};
use leveloff_text::verdict::Headline;
use leveloff_text::x_position::XPosition;

use crate::comparison::compared::Compared;
use crate::comparison::text::told;
use crate::html::document::Document;
use crate::html::markup::Markup;
use crate::run::html::data::{PageData, RunData};
use crate::run_report::RunReport;

/// Rows of memory at common places.
const MOST_PLACES: usize = 10;

/// The whole page. `before` and `after` are the runs that were compared.
pub fn page(compared: &Compared, before: &[RunReport], after: &[RunReport]) -> String {
    let mut body = Markup::new();
    write_headline(compared, &mut body);
    body.raw("<main id=\"main\">\n");
    write_chart(&mut body);
    write_differences(compared, &mut body);
    write_places(compared, &mut body);
    write_runs(before, after, &mut body);
    write_notes(compared, &mut body);
    body.raw("</main>\n");
    let tool = after.first().map_or("", |run| run.tool.as_str());
    body.raw("<footer>Made by leveloff ").text(tool);
    body.raw(". This page asks nothing of any network.</footer>\n");
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
    let (befores, afters) = (names("before", before.len()), names("after", after.len()));
    let of = |runs: &'_ [RunReport]| runs.first().map_or(XUnit::Step, |run| run.verdict.x_unit);
    let before = before.iter().zip(&befores);
    let before = before.map(|(run, name)| RunData::of_side(run, name, 0));
    let unit = of(after);
    let after = after.iter().zip(&afters);
    let after = after.map(|(run, name)| RunData::of_side(run, name, 1));
    let page = PageData {
        x_unit: unit.name(),
        runs: before.chain(after).collect(),
    };
    serde_json::to_string(&page).expect("keys are text, and numbers that are none are null")
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
    let comparison = compared.comparison;
    page.section("change-heading", "What changed");
    page.raw(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-labelledby=\"change-heading\">",
    );
    let sure = 100.0 * CONFIDENCE;
    page.raw("<table><caption>In brackets: where the change lies, ");
    page.text(&format!("{sure:.1}"));
    page.raw(" % sure. Noise: it may be none.</caption>\n<thead><tr>");
    for (tag, name) in [
        ("th scope=\"col\"", ""),
        ("th scope=\"col\" class=\"n\"", "before"),
        ("th scope=\"col\" class=\"n\"", "after"),
        ("th scope=\"col\" class=\"n\"", "change"),
        ("th scope=\"col\" class=\"found\"", "more than noise?"),
    ] {
        page.element(tag, name);
    }
    page.raw("</tr></thead>\n<tbody>\n");
    let unit = comparison.unit.unwrap_or(comparison.after.unit);
    for difference in told(comparison) {
        write_difference(difference, unit, page);
    }
    page.raw("</tbody></table></div>\n");
    page.end_section();
}

fn write_difference(difference: &Difference, unit: XUnit, page: &mut Markup) {
    let quantity = difference.quantity;
    let value = |value: f64| value_words(quantity, value, unit);
    page.raw("<tr>");
    page.element("th scope=\"row\"", &quantity_words(quantity, unit));
    page.element("td class=\"n\"", &value(difference.before.mean));
    page.element("td class=\"n\"", &value(difference.after.mean));
    page.element("td class=\"n\"", &change_words(difference, unit));
    let found = finding_words(difference.finding);
    match difference.finding {
        ChangeFinding::More | ChangeFinding::Less => {
            page.element("td class=\"found\"", &format!("{found} ◆"))
        }
        ChangeFinding::Noise | ChangeFinding::Immaterial => {
            page.element("td class=\"found\"", found)
        }
    };
    page.raw("</tr>\n");
}

fn write_places(compared: &Compared, page: &mut Markup) {
    let places = compared.common_places(MOST_PLACES);
    if places.is_empty() {
        return;
    }
    let unit = compared.comparison.after.unit;
    page.section("places-heading", "Memory at the same place");
    page.raw(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-labelledby=\"places-heading\">",
    );
    page.raw(
        "<table><caption>The mean of each side.</caption>\n<thead><tr><th scope=\"col\"></th>",
    );
    page.raw("<th scope=\"col\" class=\"n\">before</th>");
    page.raw("<th scope=\"col\" class=\"n\">after</th><th scope=\"col\" class=\"n\">change</th>");
    page.raw("</tr></thead>\n<tbody>\n");
    for place in places {
        page.raw("<tr>");
        page.element(
            "th scope=\"row\"",
            &XPosition::new(X(place.x), unit).to_string(),
        );
        page.element("td class=\"n\"", &amount(place.before));
        page.element("td class=\"n\"", &amount(place.after));
        page.element("td class=\"n\"", &change(place.after - place.before));
        page.raw("</tr>\n");
    }
    page.raw("</tbody></table></div>\n");
    page.end_section();
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
    let mut notes = compared.notes.iter().chain(&remarks).peekable();
    page.section("notes-heading", "Data and notes");
    if notes.peek().is_some() {
        page.raw("<ul>\n");
        for note in notes {
            page.element("li", note).raw("\n");
        }
        page.raw("</ul>\n");
    }
    page.raw(
        "<p class=\"js\" hidden><button type=\"button\" id=\"csv\">Download CSV</button> \
              <span id=\"csv-done\" role=\"status\"></span></p>\n",
    );
    page.end_section();
}
