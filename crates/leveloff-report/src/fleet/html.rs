//! A fleet as one page: what leaks first, every run in a table, each with its curve.

use leveloff_model::units::Bytes;
use leveloff_text::finding::finding_words;
use leveloff_text::fleet::{Fleet, FleetTable, Member, counts};
use leveloff_text::verdict::capitalised;

use crate::html::document::plain_page;
use crate::html::markup::{Markup, verdict_class};

/// Runs whose findings are printed.
const WITH_FINDINGS: usize = 20;

/// The whole page. It has no script at all: a table needs none.
pub fn page(fleet: &Fleet) -> String {
    let mut body = Markup::new();
    write_headline(fleet, &mut body);
    body.raw("<main id=\"main\">\n");
    write_failures(fleet, &mut body);
    write_findings(fleet, &mut body);
    write_table(fleet, &mut body);
    write_notes(fleet, &mut body);
    body.raw("</main>\n<footer>Made by leveloff ")
        .text(&fleet.tool);
    body.raw(". This page makes no network requests.</footer>\n");
    plain_page(counts(fleet).trim(), body)
}

fn write_headline(fleet: &Fleet, page: &mut Markup) {
    page.raw("<header class=\"").raw(colour(fleet));
    page.raw("\">\n<div class=\"top\"><p class=\"input\">");
    page.element("code", &fleet.server);
    for fact in [&fleet.query, &fleet.at] {
        page.raw(" <span class=\"dot\" aria-hidden=\"true\">·</span> ")
            .text(fact);
    }
    page.raw("</p></div>\n<h1>")
        .text(counts(fleet).trim())
        .raw("</h1>\n</header>\n");
}

fn write_failures(fleet: &Fleet, page: &mut Markup) {
    if !fleet.is_partial() {
        return;
    }
    page.section("failures-heading", "Could not be fetched");
    page.list("failures", &fleet.failures).end_section();
}

fn write_findings(fleet: &Fleet, page: &mut Markup) {
    let found: Vec<&Member> = fleet
        .members
        .iter()
        .filter(|member| !member.verdict.findings.is_empty())
        .take(WITH_FINDINGS)
        .collect();
    if found.is_empty() {
        return;
    }
    page.section("findings-heading", "What was found");
    for member in found {
        for finding in &member.verdict.findings {
            page.raw("<div class=\"finding\">")
                .element("h3", &member.name);
            let words = finding_words(finding);
            page.open("p")
                .sentence(&words.text)
                .raw("</p>\n<p class=\"next\">");
            page.sentence(&words.next).raw("</p></div>\n");
        }
    }
    page.end_section();
}

fn write_table(fleet: &Fleet, page: &mut Markup) {
    page.section("runs-heading", "Every run, worst first");
    let table = FleetTable::of(fleet.members.iter());
    let headings: Vec<String> = table
        .headings
        .iter()
        .map(|name| capitalised(&name.to_lowercase()))
        .collect();
    let mut head: Vec<(&str, &str)> = headings.iter().map(|name| ("", name.as_str())).collect();
    head.push(("", "Curve"));
    page.table(
        "runs-heading",
        "Each curve from zero to its own peak.",
        &head,
    );
    for (member, row) in fleet.members.iter().zip(&table.rows) {
        write_member(member, row, page);
    }
    page.end_table().end_section();
}

fn write_member(member: &Member, row: &[String], page: &mut Markup) {
    let [name, verdict, rest @ ..] = row else {
        return;
    };
    page.raw("<tr>").element("th scope=\"row\"", name);
    page.raw("<td class=\"")
        .raw(verdict_class(member.verdict.verdict))
        .raw("\"><span class=\"verdict\">");
    page.text(verdict).raw("</span></td>");
    for cell in rest {
        page.element("td", cell);
    }
    page.raw("<td>")
        .picture(&sparkline(&member.spark))
        .raw("</td></tr>\n");
}

fn write_notes(fleet: &Fleet, page: &mut Markup) {
    let of_members = fleet.members.iter().flat_map(|member| {
        member
            .notes
            .iter()
            .map(|note| format!("{}: {note}", member.name))
    });
    let notes: Vec<String> = fleet.notes.iter().cloned().chain(of_members).collect();
    if notes.is_empty() {
        return;
    }
    page.section("notes-heading", "Notes");
    page.list("notes", &notes).end_section();
}

/// A curve the size of a word: nothing but numbers of ours.
fn sparkline(values: &[Option<f64>]) -> String {
    const WIDTH: f64 = 120.0;
    const HEIGHT: f64 = 24.0;
    let peak = values.iter().flatten().copied().fold(0.0, f64::max);
    let mut path = String::new();
    let mut is_down = false;
    for (place, value) in values.iter().enumerate() {
        let x = WIDTH * place as f64 / (values.len().max(2) - 1) as f64;
        if let Some(value) = value.filter(|_| peak > 0.0) {
            let y = HEIGHT - 1.0 - (HEIGHT - 2.0) * value / peak;
            path += &format!("{}{x:.1} {y:.1}", if is_down { "L" } else { "M" });
        }
        is_down = value.is_some();
    }
    let title = Bytes(peak as u64);
    format!(
        "<svg width=\"{WIDTH}\" height=\"{HEIGHT}\" role=\"img\"><title>peak {title}</title><path d=\"{path}\" \
         fill=\"none\" stroke=\"currentColor\" stroke-width=\"1.3\"/></svg>"
    )
}

fn colour(fleet: &Fleet) -> &'static str {
    fleet
        .members
        .first()
        .map_or("undecided", |worst| verdict_class(worst.verdict.verdict))
}

#[cfg(test)]
mod tests {
    use super::*;
    use leveloff_text::cases::fleet;

    #[test]
    fn strangers_names_stay_text_and_there_is_no_script() {
        let mut fleet = fleet();
        fleet.failures.push("<b>gone</b>".to_owned());
        let page = page(&fleet);
        assert!(page.contains("rank &lt;2&gt;") && !page.contains("<2>"));
        assert!(page.contains("&lt;b&gt;gone") && !page.contains("<script"));
        assert!(page.contains("default-src &#39;none&#39;"));
        assert!(page.contains("of 4 ranks, 3 are level"));
    }

    #[test]
    fn a_gap_breaks_the_line() {
        let picture = sparkline(&[Some(1.0), Some(2.0), None, Some(4.0)]);
        assert!(
            picture.contains("M0.0 17.5L40.0 12.0M120.0 1.0"),
            "{picture}"
        );
    }
}
