//! Files in /dev/shm: mapped by no process, and not always the run's own.

use leveloff_classifier::finding::{FileOwner, Finding, SharedKind};
use leveloff_classifier::observation::{Observation, SharedMappings};
use leveloff_classifier::verdict::{Kind, Subject};
use leveloff_model::process::Role;
use leveloff_model::sample::SharedNames;
use leveloff_model::units::{Bytes, Seconds};

use crate::made_up::{MIB, finding, first_leak, judged, moment, process, trainer, wobble};

/// Ten seconds of loading, then 300 steps of uneven length.
fn run(devshm: impl Fn(Option<u32>, f64) -> f64) -> Vec<Observation> {
    let bytes = |mib: f64| Some(Bytes((mib * MIB) as u64));
    let mut run = Vec::new();
    for second in 0..10 {
        let t = f64::from(second);
        run.push(Observation {
            count: None,
            devshm: bytes(devshm(None, t)),
            ..trainer(second, 30.0 * t)
        });
    }
    let mut t = 10.0;
    for step in 0..300 {
        t += 1.0 + 0.8 * wobble(step);
        run.push(Observation {
            t: Some(Seconds(t)),
            devshm: bytes(devshm(Some(step), t)),
            ..trainer(step, 400.0 + wobble(step))
        });
    }
    run
}

#[test]
fn files_that_come_with_the_steps_are_the_trainers() {
    let verdict = judged(run(|step, _| f64::from(step.unwrap_or(0))));
    assert_eq!(verdict.verdict.name(), "leak");
    assert_eq!(verdict.decisive, Subject::DevShm);
    let guilty = verdict.blame[0];
    assert_eq!(
        (guilty.role, guilty.kind),
        (Some(Role::Trainer), Kind::DevShm)
    );
    assert_eq!(guilty.share, 1.0);
    let found = finding(&verdict, "devshm-growth");
    let ours = matches!(
        found,
        Some(Finding::DevshmGrowth {
            owner: FileOwner::FollowsSteps,
            ..
        })
    );
    assert!(ours, "{found:?}");
}

#[test]
fn files_that_grow_with_time_belong_to_another_program() {
    let smooth = run(|_, t| 0.5 * t);
    assert_eq!(first_leak(smooth.clone()), None);
    let verdict = judged(smooth);
    let found = finding(&verdict, "devshm-growth");
    let foreign = matches!(
        found,
        Some(Finding::DevshmGrowth {
            owner: FileOwner::Unknown,
            ..
        })
    );
    assert!(foreign, "{found:?}");
}

#[test]
fn memfds_that_the_run_holds_are_its_own_whatever_the_clock() {
    let memfds = |mib_per_s: f64| {
        let held = move |observation: Observation| Observation {
            memfd_own: observation.t.map(|t| Bytes((mib_per_s * t.0 * MIB) as u64)),
            ..observation
        };
        run(|_, _| 0.0).into_iter().map(held)
    };
    let verdict = judged(memfds(0.5));
    assert_eq!(verdict.verdict.name(), "leak");
    assert_eq!(verdict.decisive, Subject::DevShm);
    let guilty = verdict.blame[0];
    assert_eq!(
        (guilty.role, guilty.kind),
        (Some(Role::Trainer), Kind::Memfd)
    );
    assert!(finding(&verdict, "memfd-growth").is_some(), "{verdict:?}");
    assert!(finding(&verdict, "devshm-growth").is_none(), "{verdict:?}");
    assert!(judged(memfds(0.0)).verdict.is_level());
}

#[test]
fn another_runs_jumps_are_no_leak_of_ours() {
    let jumps = run(|_, t| [0.0, 100.0, 145.0, 130.0][(t / 90.0) as usize % 4]);
    assert_eq!(first_leak(jumps), None);
    let stairs = run(|_, t| (t / 30.0).floor() * 40.0);
    assert_eq!(first_leak(stairs), None);
}

/// A sample every 100 ms, two seconds of steps at a hundred a second; so much of /dev/shm is known to be the run's.
fn fast(own: impl Fn(f64) -> f64, all: impl Fn(f64) -> f64) -> Vec<Observation> {
    let bytes = |mib: f64| Some(Bytes((mib * MIB) as u64));
    (0..21)
        .map(|tenth: u32| {
            let t = f64::from(tenth) / 10.0;
            Observation {
                t: Some(Seconds(t)),
                count: Some(f64::from(tenth * 10)),
                devshm: bytes(all(t)),
                devshm_own: bytes(own(t)),
                ..trainer(tenth, 400.0)
            }
        })
        .collect()
}

#[test]
fn new_files_of_the_run_never_stand_under_level() {
    for observed in 2..=21 {
        let run = fast(|t| 88.0 * t, |t| 88.0 * t);
        let verdict = judged(run.into_iter().take(observed));
        assert!(!verdict.verdict.is_level(), "after {observed} samples");
    }
    let verdict = judged(fast(|t| 88.0 * t, |t| 88.0 * t));
    let found = finding(&verdict, "devshm-growth");
    let ours = matches!(
        found,
        Some(Finding::DevshmGrowth {
            owner: FileOwner::Run,
            ..
        })
    );
    assert!(ours, "{found:?}");
}

#[test]
fn known_files_are_the_runs_whatever_the_clock() {
    let mut smooth = run(|_, t| 0.5 * t);
    for observation in &mut smooth {
        observation.devshm_own = observation.devshm;
    }
    let verdict = judged(smooth);
    assert_eq!(verdict.decisive, Subject::DevShm);
    assert_eq!(verdict.verdict.name(), "leak");
    assert_eq!(verdict.blame[0].role, Some(Role::Trainer));
}

/// What a run's shared memory is called that grows by 1 MiB a step, with loader workers or without; `mapped` names what
/// the trainer maps.
fn shared_kind(has_loaders: bool, mapped: impl Fn(Bytes) -> Option<SharedMappings>) -> SharedKind {
    let verdict = judged((0..400).map(|step| {
        let shared = Bytes((f64::from(step) * MIB) as u64);
        let mut trainer = process(0, Role::Trainer, 400.0 + wobble(step));
        trainer.memory += shared;
        trainer.shared = shared;
        trainer.rss = trainer.memory;
        let worker = process(1, Role::DataloaderWorker, 50.0);
        let processes = [trainer].into_iter().chain(has_loaders.then_some(worker));
        Observation {
            shared_mappings: mapped(shared),
            ..moment(step, processes.collect())
        }
    }));
    match finding(&verdict, "shared-memory-growth") {
        Some(Finding::SharedMemoryGrowth { kind, .. }) => *kind,
        other => panic!("{other:?}"),
    }
}

#[test]
fn shared_memory_is_what_its_mappings_are_called() {
    let files = |name: fn(Bytes) -> SharedNames| {
        move |bytes| {
            Some(SharedMappings {
                files: bytes,
                names: Some(name(bytes)),
                ..SharedMappings::default()
            })
        }
    };
    let torch = files(|torch| SharedNames {
        torch,
        ..SharedNames::default()
    });
    let plasma = files(|plasma| SharedNames {
        plasma,
        ..SharedNames::default()
    });
    let unnamed = files(|_| SharedNames::default());
    let anonymous = |names: Option<fn(Bytes) -> SharedNames>| {
        move |bytes| {
            Some(SharedMappings {
                anonymous: bytes,
                names: names.map(|names| names(bytes)),
                ..SharedMappings::default()
            })
        }
    };
    let memfd = anonymous(Some(|memfd| SharedNames {
        memfd,
        ..SharedNames::default()
    }));
    assert_eq!(shared_kind(true, torch), SharedKind::LoaderBatches);
    assert_eq!(shared_kind(false, torch), SharedKind::Files);
    assert_eq!(shared_kind(true, plasma), SharedKind::Plasma);
    assert_eq!(shared_kind(true, unnamed), SharedKind::Files);
    assert_eq!(shared_kind(true, memfd), SharedKind::Memfd);
    assert_eq!(shared_kind(true, anonymous(None)), SharedKind::Anonymous);
    assert_eq!(shared_kind(true, |_| None), SharedKind::LoaderBatches);
    assert_eq!(shared_kind(false, |_| None), SharedKind::Unknown);
}
