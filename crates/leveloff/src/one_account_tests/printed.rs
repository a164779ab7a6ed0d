//! The numbers that a page, Markdown and the metrics show, read back from their text.

use std::collections::BTreeMap;

use serde_json::Value;

/// The data that a page draws its chart from.
pub(super) fn data_of_page(html: &str) -> Value {
    let start = "<script type=\"application/json\" id=\"data\">";
    serde_json::from_str(between(html, start, "</script>").unwrap()).unwrap()
}

/// The verdict at the top of a page, with what follows it.
pub(super) fn headline_of_page(html: &str) -> String {
    let headline = between(html, "<span class=\"verdict\">", "</h1>").unwrap();
    headline.replace("</span>", "")
}

/// The cells of the row with this name, in the first table that has it.
pub(super) fn row_of_page(html: &str, name: &str) -> Option<Vec<String>> {
    let start = format!("<tr><th scope=\"row\">{name}</th>");
    let row = between(html, &start, "</tr>")?;
    let cells = row.split("<td class=\"n\">").skip(1);
    Some(cells.map(|cell| cell.replace("</td>", "")).collect())
}

/// The rows of the table below a heading of Markdown, by the names of its columns.
pub(super) fn table_of_markdown(markdown: &str, heading: &str) -> Vec<BTreeMap<String, String>> {
    let start = format!("### {heading}\n");
    let Some((_, below)) = markdown.split_once(&start) else {
        return Vec::new();
    };
    let cells = |line: &str| -> Vec<String> {
        let line = line.trim_matches('|');
        line.split('|').map(|cell| cell.trim().to_owned()).collect()
    };
    let is_row = |line: &&str| line.starts_with('|');
    let mut rows = below
        .lines()
        .skip_while(|line| !is_row(line))
        .take_while(is_row);
    let head = cells(rows.next().unwrap_or_default());
    let rows = rows.skip(1).map(cells);
    rows.map(|row| head.iter().cloned().zip(row).collect())
        .collect()
}

/// What the metrics say of a run.
#[derive(Debug)]
pub(super) struct Published {
    pub memory_by_role: BTreeMap<String, u64>,
    pub verdict: Option<String>,
    pub growth_per_step: Option<f64>,
}

impl Published {
    /// `None` before anything was published.
    pub(super) fn read(text: &str) -> Option<Published> {
        let mut memory_by_role = BTreeMap::new();
        for (labels, value) in family(text, "leveloff_memory_bytes") {
            let role = between(labels, "role=\"", "\"").unwrap();
            *memory_by_role.entry(role.to_owned()).or_default() += value as u64;
        }
        let mut states = family(text, "leveloff_verdict").filter(|(_, value)| *value == 1.0);
        let verdict = states.find_map(|(labels, _)| between(labels, "leveloff_verdict=\"", "\""));
        let mut growth = family(text, "leveloff_growth_bytes_per_step");
        (!memory_by_role.is_empty()).then(|| Published {
            memory_by_role,
            verdict: verdict.map(str::to_owned),
            growth_per_step: growth.next().map(|(_, value)| value),
        })
    }
}

/// The labels and values of a family.
fn family<'a>(text: &'a str, name: &str) -> impl Iterator<Item = (&'a str, f64)> {
    let start = format!("{name}{{");
    let points = text
        .lines()
        .filter_map(move |line| line.strip_prefix(start.as_str()));
    points.map(|point| {
        let (labels, value) = point.rsplit_once("} ").unwrap();
        (labels, value.parse().unwrap())
    })
}

fn between<'a>(text: &'a str, start: &str, end: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(start)?;
    Some(rest.split_once(end)?.0)
}
