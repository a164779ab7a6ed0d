//! What the evidence shows beside the verdict, each with its numbers and what to try next.

mod counts;
mod growth;
mod inside;
mod workers;

use leveloff_model::process::Role;
use leveloff_model::units::{Bytes, Seconds};

use super::book::Book;
use super::fusion::Decision;
use super::jury::Jury;
use crate::observation::XUnit;
use crate::verdict::{Clock, Finding};

/// Everything that a finding may rest on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Case<'a> {
    /// The series.
    pub(super) book: &'a Book,
    /// What is said of each.
    pub(super) jury: &'a Jury,
    /// What is said of the run.
    pub(super) decision: &'a Decision,
    /// What makes it grow.
    pub(super) clock: Option<&'a Clock>,
    /// Whether growth in /dev/shm follows the run.
    pub(super) devshm_is_ours: bool,
    /// What x counts.
    pub(super) unit: XUnit,
    /// Where the growth began.
    pub(super) onset: f64,
    /// The newest x that is judged.
    pub(super) now: f64,
}

/// All findings, most telling first.
pub(super) fn findings(case: &Case) -> Vec<Finding> {
    let found = [
        growth::at_events(case),
        inside::cause(case),
        workers::copy_on_write(case),
        growth::shared_memory(case),
        counts::devshm(case),
        counts::descriptors(case),
        counts::processes(case),
        workers::one_of_many(case),
        growth::cuda(case),
        inside::pinned(case),
    ];
    let overcounted = Role::ALL
        .into_iter()
        .filter_map(|role| workers::overcounted(case, role));
    found.into_iter().flatten().chain(overcounted).collect()
}

impl Case<'_> {
    /// How much the run's memory grew since the onset, if it is growing by a material amount.
    fn memory_growth(&self) -> Option<f64> {
        let growth = self.book.memory.growth_since(self.onset, self.now);
        let grows = self.decision.is_growth_of_memory();
        (grows && growth > 0.0 && growth >= self.material()).then_some(growth)
    }

    /// What is worth a word in the run's memory.
    fn material(&self) -> f64 {
        self.decision.memory.material
    }

    /// How much the memory grew of the one that tells what it counts inside; of all trainers where
    /// there is one only, and all memory when nobody knows who holds it.
    fn teller_growth(&self, from: f64, to: f64) -> f64 {
        let trainers = self.book.roles.get(Role::Trainer);
        let memory = match (self.book.processes.teller(), trainers) {
            (Some(teller), _) => &teller.memory,
            (None, Some(trainer)) => &trainer.memory,
            (None, None) => &self.book.memory,
        };
        memory.growth_since(from, to)
    }

    /// "since step 40"
    fn since(&self) -> String {
        format!("since {}", self.place(self.onset))
    }

    /// "step 40", or "12 min" where only time is known.
    fn place(&self, x: f64) -> String {
        match self.unit {
            XUnit::Second => Seconds(x).to_string(),
            unit => format!("{} {:.0}", unit.name(), x),
        }
    }
}

/// An amount of a curve as bytes, for printing.
fn amount(bytes: f64) -> Bytes {
    Bytes(bytes.abs() as u64)
}

fn finding(name: &'static str, text: String, next: &str) -> Finding {
    Finding {
        name,
        text,
        next: next.to_owned(),
    }
}

/// "4 dataloader workers"
fn members(role: Role, count: usize) -> String {
    let name = role.name().replace('-', " ");
    match count {
        1 => format!("1 {name}"),
        count if name == "other" => format!("{count} other processes"),
        count => format!("{count} {name}s"),
    }
}
