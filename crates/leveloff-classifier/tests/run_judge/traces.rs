//! Recorded torch runs: every look at them, from the first sample to the last.

use std::path::Path;

use leveloff_classifier::finding::Finding;
use leveloff_classifier::observation::XUnit;
use leveloff_classifier::run::RunJudge;
use leveloff_classifier::verdict::{Kind, RunVerdict};
use leveloff_model::process::Role;
use leveloff_model::recording::StatedFacts;

use crate::made_up::finding;
use crate::trace;

/// The verdict at the end, and the steps at which a leak was said.
fn follow(name: &str) -> (RunVerdict, Vec<Option<f64>>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/traces");
    let text =
        std::fs::read_to_string(path.join(format!("{name}.csv"))).expect("the fixture exists");
    let mut judge = RunJudge::new(XUnit::Step, &StatedFacts::default());
    let mut said = Vec::new();
    for observation in trace::observations(&text) {
        judge.observe(&observation);
        if judge.verdict().verdict.is_alarm() {
            said.push(observation.count);
        }
    }
    (judge.verdict(), said)
}

fn check_healthy(name: &str) -> RunVerdict {
    let (verdict, said) = follow(name);
    assert!(said.is_empty(), "{name}: leak said at {said:?}");
    verdict
}

fn check_leak(name: &str, role: Role, kind: Kind, finding: &str) {
    let (verdict, _) = follow(name);
    assert_eq!(verdict.verdict.name(), "leak", "{name}");
    let guilty = verdict.blame[0];
    assert_eq!((guilty.role, guilty.kind), (Some(role), kind), "{name}");
    let names: Vec<&str> = verdict.findings.iter().map(Finding::name).collect();
    assert!(names.contains(&finding), "{name}: {names:?}");
}

#[test]
fn compile_workers_come_and_are_not_what_their_rss_says() {
    let verdict = check_healthy("h05_compile");
    let Some(Finding::WorkerOvercount {
        role: Role::CompileWorker,
        processes: 8,
        rss,
        memory,
    }) = finding(&verdict, "worker-overcount")
    else {
        panic!("{:?}", verdict.findings);
    };
    let printed = (rss.to_string(), memory.to_string());
    assert_eq!(printed, ("2.7 GiB".to_owned(), "303 MiB".to_owned()));
}

#[test]
fn loader_workers_that_restart_every_epoch_are_healthy() {
    check_healthy("h06_dataloader4");
}

#[test]
fn a_cache_that_fills_in_the_first_epoch_is_healthy_and_so_are_foreign_files_in_devshm() {
    check_healthy("h08_epoch1_cache");
}

#[test]
fn tensors_that_wander_with_the_garbage_collector_are_healthy() {
    check_healthy("h11_gc_sawtooth");
}

#[test]
fn outputs_that_are_kept() {
    check_leak(
        "l03_append_outputs",
        Role::Trainer,
        Kind::Anonymous,
        "held-references",
    );
}

#[test]
fn pages_that_loader_workers_copy() {
    let worker = Role::DataloaderWorker;
    check_leak("l05_dl_cow", worker, Kind::Anonymous, "copy-on-write");
}

#[test]
fn tensors_that_every_evaluation_leaves() {
    check_leak(
        "l08_eval_only",
        Role::Trainer,
        Kind::Anonymous,
        "held-references",
    );
}

#[test]
fn batches_that_are_kept_in_shared_memory() {
    check_leak(
        "l10_shm_batches_kept",
        Role::Trainer,
        Kind::Shared,
        "shared-memory-growth",
    );
    check_leak(
        "l10_shm_batches_kept",
        Role::Trainer,
        Kind::Shared,
        "fd-growth",
    );
}

#[test]
fn files_that_are_left_in_devshm() {
    check_leak(
        "l12_devshm_files",
        Role::Trainer,
        Kind::DevShm,
        "devshm-growth",
    );
}

#[test]
fn a_leak_under_a_cache() {
    check_leak(
        "l13_epoch_cache_then_leak",
        Role::Trainer,
        Kind::Anonymous,
        "held-references",
    );
}
