//! Judges process CSV files (a row for each process and sample) with everything they tell, and
//! prints the verdict, the blame and the findings; `--looks N` also what was said on the way, and
//! `--table` one line for each file: the verdict at the end, since when, and where a leak was said
//! at any observation.
//!
//! cargo run --release -p leveloff-classifier --example judge_trace -- [--level-by N] [--looks N | --table] FILE…

#[path = "../tests/run_judge/trace.rs"]
mod trace;

use std::time::{Duration, Instant};

use leveloff_classifier::observation::XUnit;
use leveloff_classifier::run::RunJudge;
use leveloff_classifier::verdict::RunVerdict;
use leveloff_model::recording::StatedFacts;
use leveloff_model::units::Step;

fn main() {
    let mut stated = StatedFacts::default();
    let mut looks = 0;
    let mut as_table = false;
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut number = || arguments.next().and_then(|text| text.parse().ok());
        match argument.as_str() {
            "--level-by" => stated.level_by = number().map(Step),
            "--epoch-steps" => stated.epoch_steps = number().map(Step),
            "--looks" => looks = number().unwrap_or(0),
            "--table" => as_table = true,
            file if as_table => line(file, &stated),
            file => judge(file, &stated, looks),
        }
    }
}

fn judge(file: &str, stated: &StatedFacts, looks: u64) {
    let text = match std::fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) => return println!("{file}: {error}"),
    };
    let observations = trace::observations(&text);
    let mut judge = RunJudge::new(XUnit::Step, stated);
    let every = (observations.len() as u64 / looks.max(1)).max(1);
    let mut said = String::new();
    println!("{file}");
    for (index, observation) in observations.iter().enumerate() {
        judge.observe(observation);
        if looks > 0 && (index as u64 + 1).is_multiple_of(every) {
            let verdict = judge.verdict();
            let short = short(&verdict);
            if short != said {
                println!("  at {:?}: {short}", observation.count);
            }
            said = short;
        }
    }
    print(&judge.verdict());
}

/// Looks at every observation.
fn line(file: &str, stated: &StatedFacts) {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let mut judge = RunJudge::new(XUnit::Step, stated);
    let (mut said, mut leaks, mut looks) = (Vec::new(), 0, 0);
    let mut spent = Duration::ZERO;
    for observation in trace::observations(&text) {
        judge.observe(&observation);
        let asked = Instant::now();
        let verdict = judge.verdict();
        spent += asked.elapsed();
        looks += 1;
        if verdict.verdict.grade().is_some() {
            leaks += 1;
            said.push(observation.count.unwrap_or(-1.0));
        }
    }
    let verdict = judge.verdict();
    let name = file.rsplit('/').next().unwrap_or(file);
    let blame: Vec<String> = verdict
        .blame
        .iter()
        .map(|part| {
            let role = part.role.map_or("nobody", |role| role.name());
            format!("{role} {} {:.2}", part.kind.name(), part.share)
        })
        .collect();
    let findings: Vec<&str> = verdict.findings.iter().map(|found| found.name).collect();
    let first = said.first().map_or(String::new(), |x| format!("from {x}"));
    println!(
        "{name:32} {:60} leak said {leaks} of {looks} {first}; {} ({}) {:?}",
        short(&verdict),
        blame.join(", "),
        findings.join(" "),
        spent / looks.max(1)
    );
}

fn short(verdict: &RunVerdict) -> String {
    let grade = verdict.verdict.grade().map_or("", |grade| grade.name());
    format!(
        "{} {grade} {} by {:?}",
        verdict.verdict.name(),
        verdict.shape.name(),
        verdict.decisive
    )
}

fn print(verdict: &RunVerdict) {
    println!("  {} ({:?})", short(verdict), verdict.judgement.because);
    let memory = &verdict.memory;
    println!(
        "  memory {} {} share {:?} onset {:?} rate {:?} period {:?}",
        memory.verdict.name(),
        memory.shape.name(),
        memory.healthy_share,
        memory.onset_x,
        memory
            .rate
            .map(|rate| (rate.value / 1e6, rate.low / 1e6, rate.high / 1e6)),
        memory.period,
    );
    for part in &verdict.blame {
        let role = part.role.map_or("nobody", |role| role.name());
        let (kind, share, growth) = (part.kind.name(), part.share, part.growth / 1e6);
        println!(
            "  blame {role} {:?} {kind} {share:.3} {growth:.1} MB",
            part.pid
        );
    }
    for (subject, judgement) in &verdict.subjects {
        println!(
            "  . {subject:?}: {} {} ({:?}) share {:?} onset {:?} rate {:?}",
            judgement.verdict.name(),
            judgement.shape.name(),
            judgement.because,
            judgement.healthy_share,
            judgement.onset_x,
            judgement.rate.map(|rate| rate.value),
        );
    }
    println!(
        "  clock {:?} pace {:?} risk {:?}",
        verdict.clock, verdict.pace, verdict.risk
    );
    for finding in &verdict.findings {
        println!(
            "  * {}: {}\n      → {}",
            finding.name, finding.text, finding.next
        );
    }
}
