//! Recorded torch runs, judged as whole files that include the end of the run.

use std::path::Path;

use serde_json::Value;

use crate::stage::Stage;

/// What is said of a recorded run.
struct Said {
    name: &'static str,
    verdict: &'static str,
    /// The role and the kind that most of the growth is put on.
    blamed: Option<(&'static str, &'static str)>,
}

#[test]
fn healthy_runs_are_level() {
    for name in [
        "h05_compile",
        "h06_dataloader4",
        "h08_epoch1_cache",
        "h11_gc_sawtooth",
    ] {
        check(&said(name, "level", None));
    }
}

#[test]
fn leaks_are_found_and_put_on_the_right_one() {
    let trainer = Some(("trainer", "anon"));
    check(&said("l03_append_outputs", "leak", trainer));
    check(&said("l08_eval_only", "leak", trainer));
    check(&said("l13_epoch_cache_then_leak", "leak", trainer));
}

/// Shared memory is given back within the last step, which must not hide the earlier verdict.
#[test]
fn leaks_outside_of_the_heap_are_not_forgotten_in_the_end() {
    check(&said(
        "l10_shm_batches_kept",
        "leak",
        Some(("trainer", "shmem")),
    ));
    check(&said(
        "l12_devshm_files",
        "leak",
        Some(("trainer", "devshm")),
    ));
}

#[test]
fn pages_that_workers_copy_are_theirs() {
    check(&said(
        "l05_dl_cow",
        "leak",
        Some(("dataloader-worker", "anon")),
    ));
}

const fn said(
    name: &'static str,
    verdict: &'static str,
    blamed: Option<(&'static str, &'static str)>,
) -> Said {
    Said {
        name,
        verdict,
        blamed,
    }
}

#[track_caller]
fn check(said: &Said) {
    let row = judged(said.name);
    assert_eq!(row["verdict"], said.verdict, "{row}");
    let blamed = row["blame"]
        .get(0)
        .map(|part| (part["role"].as_str(), part["kind"].as_str()));
    let expected = said.blamed.map(|(role, kind)| (Some(role), Some(kind)));
    assert_eq!(blamed, expected, "{row}");
}

fn judged(name: &str) -> Value {
    let traces = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/traces");
    let trace = traces.join(format!("{name}.csv"));
    let ask = [
        "judge",
        "--format",
        "json",
        "--looks",
        "40",
        trace.to_str().unwrap(),
    ];
    let ended = Stage::new().ask(&ask).never_panicked();
    serde_json::from_str(ended.stdout.trim()).unwrap()
}
