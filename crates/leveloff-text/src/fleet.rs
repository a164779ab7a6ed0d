//! Many runs, worst first: what every format prints about a fleet.

mod table;

pub use table::{FleetTable, counts};

use std::cmp::Ordering;
use std::collections::BTreeMap;

use leveloff_classifier::fleet::{growth_per_second, outliers};
use leveloff_classifier::observation::XUnit;
use leveloff_classifier::verdict::{Grade, RunVerdict, Verdict};
use leveloff_model::recording::StatedFacts;
use leveloff_model::units::{Bytes, Seconds};

use crate::judged::Judged;
use crate::rate::{CountRate, MemoryRate, amount};
use crate::subject::things;

/// A fleet as it was judged.
#[derive(Debug, Clone, Default)]
pub struct Fleet {
    /// Where its series came from.
    pub server: String,
    /// The query, in words.
    pub query: String,
    /// The time of the query, as printed.
    pub at: String,
    /// Its runs; [`Fleet::sort`] brings the worst to the front.
    pub members: Vec<Member>,
    /// What could not be fetched: the list is incomplete then.
    pub failures: Vec<String>,
    /// What else there is to say.
    pub notes: Vec<String>,
    /// Our version.
    pub tool: String,
}

/// One of them.
#[derive(Debug, Clone)]
pub struct Member {
    /// What it is called: `lm-7b rank 3`.
    pub name: String,
    /// The job, whose ranks are held against each other.
    pub job: Option<String>,
    /// What it is known by on the server.
    pub labels: BTreeMap<String, String>,
    /// The verdict.
    pub verdict: RunVerdict,
    /// What was stated of it.
    pub stated: StatedFacts,
    /// What was left out, or happened before.
    pub notes: Vec<String>,
    /// Its newest value.
    pub now: Bytes,
    /// How long ago that was, for one that is gone.
    pub ended: Option<Seconds>,
    /// Its curve, evenly in time, for a picture the size of a word; gaps are `None`.
    pub spark: Vec<Option<f64>>,
}

impl Fleet {
    /// Names those that stand out of their job, and puts the worst first.
    pub fn sort(&mut self) {
        self.name_outliers();
        self.members.sort_by(worst_first);
    }

    /// Whether something is missing.
    pub fn is_partial(&self) -> bool {
        !self.failures.is_empty()
    }

    fn name_outliers(&mut self) {
        let mut jobs: BTreeMap<Option<String>, Vec<usize>> = BTreeMap::new();
        for (place, member) in self.members.iter().enumerate() {
            jobs.entry(member.job.clone()).or_default().push(place);
        }
        for places in jobs.values() {
            let runs: Vec<&RunVerdict> = places
                .iter()
                .map(|&place| &self.members[place].verdict)
                .collect();
            for (place, finding) in outliers(&runs) {
                self.members[places[place]]
                    .verdict
                    .findings
                    .insert(0, finding);
            }
        }
    }
}

impl Member {
    /// The member as an input of its own, for the text of a verdict.
    pub fn judged(&self) -> Judged<'_> {
        Judged {
            progress: None,
            input: &self.name,
            verdict: &self.verdict,
            stated: &self.stated,
            notes: &self.notes,
            looks: &[],
            job: None,
            lines: &[],
        }
    }

    /// How fast it grows, for what does: `2.06 MiB per step`, `1.20 GiB per hour`.
    pub fn growth(&self) -> Option<String> {
        let run = &self.verdict;
        let rate = run.judgement.rate.filter(|_| is_growing(run.verdict))?;
        let memory = MemoryRate::new(rate, run.x_unit);
        Some(match (things(run.decisive), run.x_unit) {
            (Some(things), unit) => CountRate::new(rate, unit, things).alone(),
            // Growth per second is hard to picture; one base for all runs can be compared.
            (None, XUnit::Second) => format!("{} per hour", amount(rate.value.0 * 3600.0)),
            (None, _) => memory.alone(),
        })
    }

    /// Time until the ceiling is met, if it goes on.
    pub fn to_ceiling(&self) -> Option<Seconds> {
        self.verdict.risk.as_ref()?.in_time
    }

    /// Who grew most: `trainer 98 %`.
    pub fn blamed(&self) -> Option<String> {
        let blame = self.verdict.blame.first()?;
        let share = (blame.share * 100.0).round();
        Some(format!("{} {share:.0} %", blame.role?))
    }
}

fn is_growing(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Leak(_) | Verdict::WarmingUp)
}

/// By verdict, then by how near the ceiling is, then by growth, then by name with its numbers as numbers.
fn worst_first(a: &Member, b: &Member) -> Ordering {
    let badness = |member: &Member| match member.verdict.verdict {
        Verdict::Leak(Grade::Confirmed) => 0,
        Verdict::Leak(Grade::Early) => 1,
        Verdict::Leak(Grade::Suspected) => 2,
        Verdict::WarmingUp => 3,
        Verdict::Undecided => 4,
        Verdict::Level(_) => 5,
    };
    let left = |member: &Member| member.to_ceiling().map_or(f64::INFINITY, |time| time.0);
    let growth = |member: &Member| match is_growing(member.verdict.verdict) {
        true => growth_per_second(&member.verdict).map_or(0.0, |rate| rate.0),
        false => 0.0,
    };
    badness(a)
        .cmp(&badness(b))
        .then_with(|| left(a).total_cmp(&left(b)))
        .then_with(|| growth(b).total_cmp(&growth(a)))
        .then_with(|| natural(&a.name).cmp(&natural(&b.name)))
}

/// `rank 10` comes after `rank 9`.
fn natural(name: &str) -> Vec<(String, u64)> {
    let mut parts = vec![(String::new(), 0_u64)];
    for c in name.chars() {
        let Some((word, number)) = parts.last_mut() else {
            continue;
        };
        match c.to_digit(10).map(u64::from) {
            Some(digit) => *number = number.saturating_mul(10).saturating_add(digit),
            None if *number == 0 => word.push(c),
            None => parts.push((c.to_string(), 0)),
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use crate::cases::fleet;
    use crate::finding::finding_words;

    #[test]
    fn the_worst_comes_first_and_numbers_are_numbers() {
        let fleet = fleet();
        let names: Vec<&str> = fleet.members.iter().map(|member| &*member.name).collect();
        assert_eq!(names, ["rank <2>", "rank 1", "rank 9", "rank 10"]);
    }

    #[test]
    fn an_outlier_is_named() {
        let fleet = fleet();
        let finding = &fleet.members[0].verdict.findings[0];
        assert_eq!(finding.name(), "outlier-rank");
        let text = finding_words(finding).text;
        assert!(text.contains("of 4 ranks, 3 are level"), "{text}");
    }
}
