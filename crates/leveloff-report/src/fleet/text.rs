//! A fleet for people: a line for each run, worst first, then what was found.

use leveloff_model::process::printable;
use leveloff_text::finding::finding_words;
use leveloff_text::fleet::{Fleet, FleetTable, Member, counts};
use leveloff_text::number::thousands;
use leveloff_text::page::{Page, columns};
use leveloff_text::paint::Paint;

/// Level runs in the table; the rest are counted.
const LEVEL_LISTED: usize = 8;

/// Runs whose findings are printed below the table.
const WITH_FINDINGS: usize = 5;

/// Names up to this long stand in a column.
const LONGEST_NAME: usize = 40;

/// Which runs are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listed {
    /// All that are not level, and some that are.
    Worst,
    /// Every run.
    All,
    /// As many as there is room for.
    Rows(usize),
}

/// The whole screen.
pub fn screen(fleet: &Fleet, listed: Listed, paint: Paint) -> String {
    let shown = shown(fleet, listed);
    let mut text = table(&fleet.members[..shown], paint);
    if shown < fleet.members.len() {
        text += &format!(
            "{} more, {}\n",
            thousands((fleet.members.len() - shown) as u64),
            rest(&fleet.members[shown..])
        );
    }
    text += &findings(fleet);
    text += &format!("\n{}", counts(fleet));
    text
}

fn shown(fleet: &Fleet, listed: Listed) -> usize {
    let all = fleet.members.len();
    let level = |member: &&Member| member.verdict.verdict.is_level();
    let levels = fleet.members.iter().filter(level).count();
    match listed {
        Listed::All => all,
        Listed::Rows(rows) => all.min(rows),
        Listed::Worst => all - levels + levels.min(LEVEL_LISTED),
    }
}

fn rest(members: &[Member]) -> &'static str {
    match members
        .iter()
        .all(|member| member.verdict.verdict.is_level())
    {
        true => "all level; --verbose lists them",
        false => "--verbose lists them",
    }
}

fn table(members: &[Member], paint: Paint) -> String {
    let table = FleetTable::of(members.iter());
    let widths = table.widths(LONGEST_NAME);
    let headings: Vec<String> = table.headings.iter().map(|&name| name.to_owned()).collect();
    let mut text = line(&headings, &widths, |_, cell| cell.to_owned());
    for (row, member) in table.rows.iter().zip(members) {
        let verdict = member.verdict.verdict;
        text += &line(row, &widths, |place, cell| match place {
            1 => paint.verdict(verdict, cell),
            _ => cell.to_owned(),
        });
    }
    text
}

fn line(row: &[String], widths: &[usize], painted: impl Fn(usize, &str) -> String) -> String {
    let mut text = String::new();
    for (place, (cell, width)) in row.iter().zip(widths).enumerate() {
        let space = width.saturating_sub(columns(cell)) + 2;
        text += &painted(place, cell);
        text += &" ".repeat(space);
    }
    text.trim_end().to_owned() + "\n"
}

/// Findings and notes of the worst: why, and what next.
fn findings(fleet: &Fleet) -> String {
    let mut page = Page::new();
    let leaks = fleet
        .members
        .iter()
        .filter(|member| member.verdict.verdict.is_alarm());
    for member in leaks.take(WITH_FINDINGS) {
        let mut label = "found";
        for finding in &member.verdict.findings {
            page.gap();
            let words = finding_words(finding);
            let text = format!("{}: {}", member.name, words.text);
            page.row(label, &printable(text.as_bytes()));
            page.hanging("", &format!("→ {}", printable(words.next.as_bytes())), 2);
            label = "";
        }
        for note in &member.notes {
            page.row(
                "note",
                &printable(format!("{}: {note}", member.name).as_bytes()),
            );
        }
    }
    match page.into_text() {
        text if text.is_empty() => text,
        text => format!("\n{text}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use leveloff_text::cases::{fleet, member};

    #[test]
    fn the_worst_runs_are_listed() {
        insta::assert_snapshot!(screen(&fleet(), Listed::Worst, Paint::Plain));
    }

    #[test]
    fn a_thousand_level_ones_are_counted() {
        let mut large = fleet();
        let level = large.members[3].verdict.clone();
        large
            .members
            .extend((0..1000).map(|i| member(&format!("rank {i}"), level.clone())));
        large.failures.push("gone".to_owned());
        large.sort();
        let text = screen(&large, Listed::Worst, Paint::Plain);
        assert!(
            text.contains("995 more, all level; --verbose lists them\n"),
            "{text}"
        );
        assert!(
            text.contains("1,004 runs, and some could not be fetched: 1 leak, 1,003 level"),
            "{text}"
        );
        assert!(screen(&large, Listed::All, Paint::Plain).lines().count() > 1004);
    }
}
