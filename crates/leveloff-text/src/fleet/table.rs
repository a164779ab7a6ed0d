//! The table of a fleet: a row for each run.

use leveloff_classifier::observation::XUnit;
use leveloff_classifier::units::X;
use leveloff_classifier::verdict::{RunVerdict, Verdict};
use leveloff_model::process::printable;
use leveloff_model::units::Seconds;

use super::{Fleet, Member};
use crate::page::columns;
use crate::verdict::{bytes, is_from_the_start, short_reason, verdict_words};
use crate::verdict_counts::VerdictCounts;
use crate::x_position::XPosition;

/// The headings.
const HEADINGS: [&str; 6] = ["RUN", "VERDICT", "GROWTH", "CEILING IN", "WHO GROWS", "NOW"];

/// `1,000 runs: 12 leak, 988 level`
pub fn counts(fleet: &Fleet) -> String {
    let mut counts = VerdictCounts::default();
    for member in &fleet.members {
        counts.add(member.verdict.verdict);
    }
    let runs = if counts.all() == 1 { "run" } else { "runs" };
    match fleet.is_partial() {
        true => counts.line(&format!("{runs}, and some could not be fetched")),
        false => counts.line(runs),
    }
}

/// Runs as rows; a column that is empty for all of them is left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FleetTable {
    /// What the columns are called.
    pub headings: Vec<&'static str>,
    /// A row for each run; its name is the first cell, its verdict the second.
    pub rows: Vec<Vec<String>>,
}

impl FleetTable {
    /// Of these runs.
    pub fn of<'a>(members: impl Iterator<Item = &'a Member>) -> FleetTable {
        let rows: Vec<[String; 6]> = members.map(cells).collect();
        let is_used = |place: &usize| *place < 2 || rows.iter().any(|row| row[*place] != NOTHING);
        let used: Vec<usize> = (0..HEADINGS.len()).filter(is_used).collect();
        FleetTable {
            headings: used.iter().map(|&place| HEADINGS[place]).collect(),
            rows: rows
                .iter()
                .map(|row| used.iter().map(|&place| row[place].clone()).collect())
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

/// `17.4 GiB, level since step 88`, `2.1 GiB, level for 3 h, ended 20 min ago`
fn now(member: &Member) -> String {
    let run = &member.verdict;
    let judgement = &run.judgement;
    let about = match run.verdict {
        Verdict::Level(_) if is_from_the_start(judgement) => {
            Some("level from the start".to_owned())
        }
        Verdict::Level(_) => (judgement.level_since_x).map(|x| format!("level {}", since(run, x))),
        Verdict::Leak(_) => judgement.onset_x.map(|x| since(run, x)),
        Verdict::WarmingUp => (judgement.decide_by).map(|by| until(run, by.if_it_goes_on)),
        Verdict::Undecided => Some(short_reason(judgement.reason).to_owned()),
    };
    let ended = member.ended.map(|time| format!("ended {time} ago"));
    let now = Some(bytes(member.now.0 as f64).to_string());
    let parts: Vec<String> = [now, about, ended].into_iter().flatten().collect();
    parts.join(", ")
}

/// A step has a number that means something elsewhere; a second of a window has not.
fn since(run: &RunVerdict, x: X) -> String {
    match (run.x_unit, run.span) {
        (XUnit::Second, Some((_, last))) => format!("for {}", Seconds((last - x).0)),
        (unit, _) => format!("since {}", XPosition::new(x, unit)),
    }
}

fn until(run: &RunVerdict, x: X) -> String {
    match (run.x_unit, run.span) {
        (XUnit::Second, Some((_, last))) => {
            format!("open for {} more", Seconds((x - last).0.max(0.0)))
        }
        (unit, _) => format!("open until {}", XPosition::new(x, unit)),
    }
}
