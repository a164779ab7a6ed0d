//! What was looked at on its own, and does not grow.

use leveloff_classifier::run_analysis::SeriesAccount;
use leveloff_classifier::units::Amount;
use leveloff_classifier::verdict::{Judgement, RunVerdict, Subject, Verdict};
use leveloff_model::process::Role;
use leveloff_model::training_counters::TrainingCounter;
use leveloff_text::number::thousands;
use leveloff_text::rate::MemoryRate;
use leveloff_text::subject::{things, words};

use crate::run_report::{ListedProcess, RunReport};

/// The judge does not look at what rises by less than this share of what is material for the whole.
const NO_RISE: f64 = 0.5;

/// What was ruled out, in a line each. What was not looked at is not named.
pub fn ruled_out(report: &RunReport) -> Vec<String> {
    let run = &report.verdict;
    let grows = matches!(run.verdict, Verdict::Leak(_) | Verdict::WarmingUp);
    let parts = report.series.iter().filter(|_| grows);
    parts.filter_map(|part| item(part, report)).collect()
}

/// `live tensors: 6,529 at the start, 6,529 at the end`; `None` for what grows, or may.
fn item(part: &SeriesAccount, report: &RunReport) -> Option<String> {
    let run = &report.verdict;
    let subject = part.subject().filter(|subject| !is_blamed(*subject, run))?;
    if !explains_growth(subject) {
        return None;
    }
    let judged = run.subjects.iter().find(|(of, _)| *of == subject);
    let text = match judged {
        Some((_, judgement)) => level(subject, judgement, run)?,
        None => unchanged(subject, part, run)?,
    };
    let whose = match subject {
        Subject::Counter(_) if has_ranks(report) => " (in the rank that counts)",
        _ => "",
    };
    Some(format!("{}{whose}: {text}", words(subject)))
}

/// Whether growth could have been there, and would have shown. Of what is counted inside, some is part of
/// another, some is not in host memory, and a few Python objects can hold much: their number rules
/// nothing out.
fn explains_growth(subject: Subject) -> bool {
    match subject {
        Subject::Counter(fact) => matches!(
            fact,
            TrainingCounter::Tensors
                | TrainingCounter::MallocUsed
                | TrainingCounter::MallocFree
                | TrainingCounter::CudaReserved
                | TrainingCounter::Pinned
        ),
        _ => true,
    }
}

/// Only one rank reports its counters, which say nothing about the others.
fn has_ranks(report: &RunReport) -> bool {
    let is_trainer = |process: &&ListedProcess| process.account.role == Role::Trainer;
    report.processes.iter().filter(is_trainer).count() > 1
}

fn is_blamed(subject: Subject, run: &RunVerdict) -> bool {
    let has_a_share = run.blame.iter().any(|blame| {
        let is_its_role = |role| subject == Subject::Role(role);
        blame.role.is_some_and(is_its_role) && blame.share > 0.0
    });
    has_a_share || subject == run.decisive
}

/// Of what rose, and was judged level.
fn level(subject: Subject, judgement: &Judgement, run: &RunVerdict) -> Option<String> {
    let level = judgement.level.filter(|_| judgement.verdict.is_level())?;
    let rate = judgement.rate.filter(|_| things(subject).is_none());
    let at_most = rate.and_then(|rate| MemoryRate::new(rate, run.x_unit).at_most());
    let bound = at_most.map_or_else(String::new, |most| {
        format!(", no growth faster than {most}")
    });
    Some(format!("level at {}{bound}", written(subject, level)))
}

/// Of what the judge saw no rise in.
fn unchanged(subject: Subject, part: &SeriesAccount, run: &RunVerdict) -> Option<String> {
    let most = match things(subject) {
        Some(_) => 0.0,
        None => NO_RISE * run.memory.material.0,
    };
    let [begun, ended] = [part.base, part.end].map(|amount| written(subject, amount));
    (part.growth() <= Amount(most)).then(|| format!("{begun} at the start, {ended} at the end"))
}

fn written(subject: Subject, amount: Amount) -> String {
    match things(subject) {
        Some(_) => thousands(amount.0.max(0.0).round() as u64),
        None => amount.bytes().to_string(),
    }
}
