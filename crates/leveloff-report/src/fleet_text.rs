//! A fleet for people: a line for each run, worst first, then what was found.

use leveloff_classifier::observation::XUnit;
use leveloff_classifier::verdict::{RunVerdict, Verdict};
use leveloff_model::process::printable;
use leveloff_model::units::Seconds;

use crate::fleet::{Fleet, Member};
use crate::judge_text::{Page, Paint, Tally, columns};
use crate::place::{Place, thousands};
use crate::words::{bytes, finding_words, is_from_the_start, short_reason, verdict_words};

/// Of those that are level, so many are listed; nobody reads a thousand lines that say the same.
const LEVEL_LISTED: usize = 8;

/// Runs whose findings are told below the table.
const TOLD: usize = 5;

/// Names up to this long stand in a column.
const LONGEST_NAME: usize = 40;

/// The headings.
const HEADINGS: [&str; 6] = ["RUN", "VERDICT", "GROWTH", "CEILING IN", "WHO GROWS", "NOW"];

/// How much of it is told.
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
    text += &format!("\n{}", tally(fleet));
    text
}

/// `1,000 runs: 12 leak, 988 level`
pub fn tally(fleet: &Fleet) -> String {
    let mut tally = Tally::default();
    for member in &fleet.members {
        tally.add(member.verdict.verdict);
    }
    let line = tally.line();
    let line = line.replacen(
        " inputs: ",
        if tally.all() == 1 {
            " run: "
        } else {
            " runs: "
        },
        1,
    );
    match fleet.is_partial() {
        true => line.replacen(": ", ", and some could not be fetched: ", 1),
        false => line,
    }
}

/// Runs as rows: what nobody has anything to say of has no column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sheet {
    /// What the columns are called.
    pub headings: Vec<&'static str>,
    /// A row for each run; its name is the first cell, its verdict the second.
    pub rows: Vec<Vec<String>>,
}

impl Sheet {
    /// Of these runs.
    pub fn of<'a>(members: impl Iterator<Item = &'a Member>) -> Sheet {
        let rows: Vec<[String; 6]> = members.map(cells).collect();
        let is_told = |place: &usize| *place < 2 || rows.iter().any(|row| row[*place] != NOTHING);
        let told: Vec<usize> = (0..HEADINGS.len()).filter(is_told).collect();
        Sheet {
            headings: told.iter().map(|&place| HEADINGS[place]).collect(),
            rows: rows
                .iter()
                .map(|row| told.iter().map(|&place| row[place].clone()).collect())
                .collect(),
        }
    }

    /// How wide each column is, of which a name takes at most `longest`.
    pub fn widths(&self, longest: usize) -> Vec<usize> {
        let width = |place: usize| {
            let cells = self.rows.iter().map(|row| columns(&row[place]));
            let heading = columns(self.headings[place]);
            let widest = cells.fold(heading, usize::max);
            if place == 0 {
                widest.min(longest)
            } else {
                widest
            }
        };
        (0..self.headings.len()).map(width).collect()
    }
}

/// What stands where there is nothing to say.
const NOTHING: &str = "–";

fn cells(member: &Member) -> [String; 6] {
    let or_nothing = |text: Option<String>| text.unwrap_or_else(|| NOTHING.to_owned());
    [
        printable(member.name.as_bytes()),
        verdict_words(member.verdict.verdict).to_owned(),
        or_nothing(member.growth()),
        or_nothing(member.to_ceiling().map(|time| time.to_string())),
        or_nothing(member.blamed()),
        now(member),
    ]
}

fn shown(fleet: &Fleet, listed: Listed) -> usize {
    let all = fleet.members.len();
    let level = |member: &&Member| member.verdict.verdict == Verdict::Level;
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
        .all(|member| member.verdict.verdict == Verdict::Level)
    {
        true => "all level; --verbose lists them",
        false => "--verbose lists them",
    }
}

fn table(members: &[Member], paint: Paint) -> String {
    let sheet = Sheet::of(members.iter());
    let widths = sheet.widths(LONGEST_NAME);
    let headings: Vec<String> = sheet.headings.iter().map(|&name| name.to_owned()).collect();
    let mut text = line(&headings, &widths, |_, cell| cell.to_owned());
    for (row, member) in sheet.rows.iter().zip(members) {
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

/// `17.4 GiB, level since step 88`, `2.1 GiB, level for 3 h, ended 20 min ago`
fn now(member: &Member) -> String {
    let run = &member.verdict;
    let judgement = &run.judgement;
    let about = match run.verdict {
        Verdict::Level if is_from_the_start(judgement) => Some("level from the start".to_owned()),
        Verdict::Level => (judgement.level_since_x).map(|x| format!("level {}", since(run, x))),
        Verdict::Leak(_) => judgement.onset_x.map(|x| since(run, x)),
        Verdict::WarmingUp => (judgement.decide_by).map(|by| until(run, by.if_it_goes_on)),
        Verdict::Undecided => Some(short_reason(judgement.because).to_owned()),
    };
    let ended = member.ended.map(|time| format!("ended {time} ago"));
    let now = Some(bytes(member.now.0 as f64).to_string());
    let parts: Vec<String> = [now, about, ended].into_iter().flatten().collect();
    parts.join(", ")
}

/// A step has a number that means something elsewhere; a second of a window has not.
fn since(run: &RunVerdict, x: f64) -> String {
    match (run.x_unit, run.span) {
        (XUnit::Second, Some((_, last))) => format!("for {}", Seconds(last - x)),
        (unit, _) => format!("since {}", Place::new(x, unit)),
    }
}

fn until(run: &RunVerdict, x: f64) -> String {
    match (run.x_unit, run.span) {
        (XUnit::Second, Some((_, last))) => {
            format!("open for {} more", Seconds((x - last).max(0.0)))
        }
        (unit, _) => format!("open until {}", Place::new(x, unit)),
    }
}

/// Findings and notes of the worst: why, and what next.
fn findings(fleet: &Fleet) -> String {
    let mut page = Page::new();
    let leaks = fleet
        .members
        .iter()
        .filter(|member| matches!(member.verdict.verdict, Verdict::Leak(_)));
    for member in leaks.take(TOLD) {
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
    use crate::fleet::tests::{fleet, member};

    #[test]
    fn the_table_has_what_was_asked_for() {
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
