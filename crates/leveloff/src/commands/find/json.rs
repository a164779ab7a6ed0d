//! The runs as JSON. These types are what programs read; the sampler's may change without them.

use leveloff_model::process::printable;
use leveloff_sampler::find::{Found, Member, Run};
use serde::Serialize;

/// All runs as one array, empty when there is none.
pub(super) fn runs(found: &Found) -> serde_json::Result<String> {
    let runs: Vec<RunRow> = found.runs.iter().map(RunRow::of).collect();
    serde_json::to_string_pretty(&runs).map(|text| text + "\n")
}

#[derive(Serialize)]
struct RunRow {
    job: Option<String>,
    root: i32,
    why: String,
    trainers: Vec<TrainerRow>,
    processes: Vec<ProcessRow>,
}

#[derive(Serialize)]
struct TrainerRow {
    pid: i32,
    start_ticks: u64,
    rank: Option<u32>,
}

#[derive(Serialize)]
struct ProcessRow {
    pid: i32,
    start_ticks: u64,
    ppid: i32,
    role: &'static str,
    rank: Option<u32>,
    trainer: Option<i32>,
    rss_bytes: Option<u64>,
    pss_bytes: Option<u64>,
    memory_bytes: Option<u64>,
    memory_is_estimate: bool,
    age_s: Option<f64>,
    comm: String,
    command: Vec<String>,
    why: String,
    notes: Vec<String>,
}

impl RunRow {
    fn of(run: &Run) -> RunRow {
        RunRow {
            job: run.job.clone(),
            root: run.root.0,
            why: run.why.clone(),
            trainers: run.trainers().into_iter().map(TrainerRow::of).collect(),
            processes: run.members.iter().map(ProcessRow::of).collect(),
        }
    }
}

impl TrainerRow {
    fn of(member: &Member) -> TrainerRow {
        TrainerRow {
            pid: member.facts.pid().0,
            start_ticks: member.facts.key.start.0,
            rank: member.assignment.rank.map(|rank| rank.0),
        }
    }
}

impl ProcessRow {
    fn of(member: &Member) -> ProcessRow {
        let (facts, memory) = (&member.facts, &member.memory);
        ProcessRow {
            pid: facts.pid().0,
            start_ticks: facts.key.start.0,
            ppid: facts.parent.0,
            role: member.assignment.role.name(),
            rank: member.assignment.rank.map(|rank| rank.0),
            trainer: member.trainer.map(|pid| pid.0),
            rss_bytes: memory.rss.map(|bytes| bytes.0),
            pss_bytes: memory.pss.map(|bytes| bytes.0),
            memory_bytes: memory.memory.map(|bytes| bytes.0),
            memory_is_estimate: memory.is_estimate,
            age_s: facts.age.map(|age| age.0),
            comm: printable(&facts.comm),
            command: facts
                .command
                .iter()
                .map(|argument| printable(argument))
                .collect(),
            why: member.assignment.reason.to_string(),
            notes: facts.notes.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::saved;
    use super::*;

    #[test]
    fn every_process_is_there_with_its_numbers() {
        let value: serde_json::Value =
            serde_json::from_str(&runs(&saved("torchrun")).unwrap()).unwrap();
        let run = &value[0];
        assert_eq!(run["trainers"].as_array().unwrap().len(), 2);
        assert_eq!(run["trainers"][1]["rank"], 1);
        let processes = run["processes"].as_array().unwrap();
        assert_eq!(processes.len(), 7);
        for process in processes {
            assert!(
                process["memory_bytes"].as_u64().unwrap() < process["rss_bytes"].as_u64().unwrap(),
                "{process}"
            );
            assert!(!process["why"].as_str().unwrap().is_empty());
        }
    }

    #[test]
    fn no_run_is_an_empty_array() {
        let mut found = saved("plain");
        found.runs.clear();
        assert_eq!(runs(&found).unwrap(), "[]\n");
    }
}
