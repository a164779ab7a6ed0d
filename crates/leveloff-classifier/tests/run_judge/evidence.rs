//! What series beside the total add to a verdict, and what they must not.

use leveloff_classifier::finding::{Finding, NativeEvidence};
use leveloff_classifier::observation::{Observation, XUnit};
use leveloff_classifier::run::RunJudge;
use leveloff_classifier::verdict::{Grade, Kind, Subject, Verdict};
use leveloff_model::process::{Pid, Role};
use leveloff_model::progress::{MarkKind, Phase};
use leveloff_model::recording::StatedFacts;
use leveloff_model::training_counters::TrainingCounter;
use leveloff_model::units::{Bytes, Step};

use crate::made_up::{MIB, finding, first_leak, judged, moment, process, trainer, wobble};

#[test]
fn shares_that_go_to_and_fro_between_a_fork_and_its_parent_are_no_leak() {
    // At each restart of the workers more of the same pages are counted for the trainer.
    let run = (0..400).map(|step| {
        let moved = f64::from(step / 60) * 15.0;
        let workers = (1..5).map(|n| {
            let pid = n + 4 * (step / 60);
            process(pid, Role::DataloaderWorker, 80.0 - moved / 4.0)
        });
        let trainer = process(0, Role::Trainer, 120.0 + moved + wobble(step));
        moment(step, [trainer].into_iter().chain(workers).collect())
    });
    assert_eq!(first_leak(run), None);
}

/// Four workers, new ones every 100 steps; the trainer's memory is given.
fn with_restarts(trainer: impl Fn(u32) -> f64) -> impl Iterator<Item = Observation> {
    (0..900).map(move |step| {
        let workers = (1..5).map(|n| process(n + 4 * (step / 100), Role::DataloaderWorker, 80.0));
        let trainer = process(0, Role::Trainer, trainer(step) + wobble(step));
        moment(step, [trainer].into_iter().chain(workers).collect())
    })
}

#[test]
fn growth_that_ends_with_its_workers_is_none_past_the_horizon() {
    let within_an_epoch = |step: u32| 400.0 + 0.6 * f64::from(step % 100);
    let ever_after = |step: u32| 400.0 + 0.6 * f64::from(step);
    let leaks_after = |run: &dyn Fn(u32) -> f64| {
        let stated = StatedFacts {
            level_by: Some(Step(90)),
            ..StatedFacts::default()
        };
        let mut judge = RunJudge::new(XUnit::Step, &stated);
        with_restarts(run).find_map(|observation| {
            judge.observe(&observation);
            let leaks = judge.verdict().verdict.is_alarm();
            leaks.then_some(observation.count)
        })
    };
    assert_eq!(leaks_after(&within_an_epoch), None);
    assert!(leaks_after(&ever_after).is_some());
}

/// A helper that lives for 100 of 300 steps beside a level trainer; what it holds is given.
fn with_helper(helper: impl Fn(f64) -> f64) -> impl Iterator<Item = Observation> {
    (0..300).map(move |step| {
        let mut processes = vec![process(0, Role::Trainer, 400.0 + wobble(step))];
        if (50..150).contains(&step) {
            processes.push(process(1, Role::Helper, helper(f64::from(step - 50))));
        }
        // Exited and not collected yet.
        if (150..153).contains(&step) {
            processes.push(process(1, Role::Helper, 0.0));
        }
        moment(step, processes)
    })
}

#[test]
fn a_process_that_grew_until_it_exited_is_reported() {
    let verdict = judged(with_helper(|age| 20.0 + 6.0 * age));
    let found = finding(&verdict, "exited-growth");
    let Some(Finding::ExitedGrowth {
        role,
        growth,
        exited,
        others,
        ..
    }) = found
    else {
        panic!("{found:?}");
    };
    assert_eq!((*role, *others), (Role::Helper, 0));
    assert!((590.0..=600.0).contains(&(growth.bytes.0 as f64 / MIB)));
    assert!((145.0..=150.0).contains(&exited.x.0), "{exited:?}");
    let while_it_lives = judged(with_helper(|age| 20.0 + 6.0 * age).take(149));
    assert!(finding(&while_it_lives, "exited-growth").is_none());
}

#[test]
fn a_process_that_loads_something_and_exits_is_not() {
    let loads = judged(with_helper(|age| 20.0 + (30.0 * age).min(600.0)));
    assert!(finding(&loads, "exited-growth").is_none());
    let small = judged(with_helper(|age| 20.0 + 0.3 * age));
    assert!(finding(&small, "exited-growth").is_none());
}

#[test]
fn one_loader_worker_stands_out_from_its_siblings() {
    let run = (0..900).map(|step| {
        let workers = (1..5).map(|n| {
            let leak = if n == 3 { 0.3 * f64::from(step) } else { 0.0 };
            process(n, Role::DataloaderWorker, 80.0 + leak + wobble(step + n))
        });
        let trainer = process(0, Role::Trainer, 600.0 + 4.0 * wobble(step));
        moment(step, [trainer].into_iter().chain(workers).collect())
    });
    let verdict = judged(run);
    assert_eq!(verdict.verdict.name(), "leak");
    let guilty = verdict.blame[0];
    assert_eq!(guilty.role, Some(Role::DataloaderWorker));
    assert_eq!(guilty.pid, Some(Pid(1003)));
    let found = finding(&verdict, "one-process");
    let is_guilty = matches!(
        found,
        Some(Finding::OneProcess {
            pid: Pid(1003),
            of_role: 4,
            ..
        })
    );
    assert!(is_guilty, "{found:?}");
}

#[test]
fn descriptors_that_pile_up_are_a_leak_of_their_own() {
    let run = (0..400).map(|step| {
        let mut observation = trainer(step, 500.0 + wobble(step));
        observation.processes[0].fds = Some(20 + step);
        observation
    });
    let verdict = judged(run);
    assert_eq!(verdict.verdict.name(), "leak");
    assert_eq!(verdict.decisive, Subject::Descriptors);
    assert!(verdict.memory.verdict.is_level());
    let found = finding(&verdict, "fd-growth");
    let trainers = matches!(
        found,
        Some(Finding::DescriptorGrowth {
            role: Role::Trainer,
            ..
        })
    );
    assert!(trainers, "{found:?}");
    let guilty = verdict.blame[0];
    let who = (guilty.role, guilty.kind);
    assert_eq!(who, (Some(Role::Trainer), Kind::Descriptors));
}

#[test]
fn descriptors_are_not_explained_by_what_the_first_step_allocated() {
    let run = (0..400).map(|step| {
        let memory = if step < 2 { 300.0 } else { 500.0 };
        let mut observation = trainer(step, memory + wobble(step));
        observation.processes[0].fds = Some(20 + step);
        observation.counters.set(TrainingCounter::Tensors, 114);
        observation
    });
    let verdict = judged(run);
    assert_eq!(verdict.decisive, Subject::Descriptors);
    assert!(verdict.memory.verdict.is_level());
    assert_eq!(verdict.blame[0].kind, Kind::Descriptors);
    assert_eq!(finding(&verdict, "native-growth"), None);
}

#[test]
fn descriptors_of_a_data_set_opened_once_are_none() {
    let run = (0..600).map(|step| {
        let mut observation = trainer(step, 500.0 + wobble(step));
        observation.processes[0].fds = Some(20 + step.min(24));
        observation
    });
    assert_eq!(first_leak(run), None);
}

#[test]
fn an_unreadable_descriptor_count_is_not_zero() {
    let run = (0..400).map(|step| {
        let mut observation = trainer(step, 500.0 + wobble(step));
        // Every other count fails: as a zero it would be a sawtooth.
        observation.processes[0].fds = step.is_multiple_of(2).then_some(20 + step);
        observation
    });
    assert_eq!(judged(run).decisive, Subject::Descriptors);
}

#[test]
fn workers_that_are_never_ended_are_named() {
    let run = (0..900).map(|step| {
        let alive = 4 * (step / 60 + 1);
        let workers = (1..=alive).map(|n| process(n, Role::DataloaderWorker, 20.0));
        let trainer = process(0, Role::Trainer, 600.0 + wobble(step));
        moment(step, [trainer].into_iter().chain(workers).collect())
    });
    let verdict = judged(run);
    assert_eq!(verdict.verdict.name(), "leak");
    assert_eq!(verdict.blame[0].role, Some(Role::DataloaderWorker));
    assert_eq!(verdict.blame[0].pid, None);
    let found = finding(&verdict, "process-growth");
    let Some(Finding::ProcessGrowth { role, of_role, .. }) = found else {
        panic!("{:?}", verdict.findings);
    };
    assert_eq!((*role, *of_role), (Role::DataloaderWorker, 60));
}

#[test]
fn a_worker_that_each_evaluation_leaves_behind_is_the_cause_and_the_evaluation_is_not() {
    let run = (0..420_u32).map(|step| {
        let workers = (1..=step / 60).map(|n| process(n, Role::DataloaderWorker, 40.0));
        let trainer = process(0, Role::Trainer, 100.0 + 0.1 * wobble(step));
        let mut observation = moment(step, [trainer].into_iter().chain(workers).collect());
        if step > 0 && step.is_multiple_of(60) {
            observation.marks.push(MarkKind::Phase(Phase::Eval));
        }
        observation
    });
    let stated = StatedFacts {
        level_by: Some(Step(90)),
        ..StatedFacts::default()
    };
    let mut judge = RunJudge::new(XUnit::Step, &stated);
    run.for_each(|observation| judge.observe(&observation));
    let verdict = judge.verdict();
    assert_eq!(verdict.verdict.name(), "leak");
    assert!(finding(&verdict, "process-growth").is_some());
    assert_eq!(finding(&verdict, "evaluation-growth"), None);
}

#[test]
fn a_cache_of_the_first_epoch_holds_tensors_and_is_no_leak() {
    let run = (0..450_u32).map(|step| {
        let filled = f64::from(step.min(200));
        let mut observation = trainer(step, 350.0 + 2.5 * filled + wobble(step));
        let tensors = 100 + 16 * u64::from(step.min(200) / 10 * 10);
        observation.counters.set(TrainingCounter::Tensors, tensors);
        observation
    });
    assert_eq!(first_leak(run), None);
}

#[test]
fn tensors_that_rise_with_memory_decide_earlier_than_memory_alone() {
    let with = |is_counted: bool| {
        (0..300_u32).map(move |step| {
            let mut observation = trainer(step, 350.0 + 2.0 * f64::from(step) + 3.0 * wobble(step));
            let tensors = is_counted.then_some(50 + u64::from(step / 10 * 10));
            observation.counters.set(TrainingCounter::Tensors, tensors);
            observation
        })
    };
    assert_eq!(judged(with(false)).verdict, Verdict::Leak(Grade::Suspected));
    let verdict = judged(with(true));
    assert_eq!(verdict.verdict, Verdict::Leak(Grade::Early));
    assert_eq!(verdict.decisive, Subject::Memory);
    assert!(finding(&verdict, "held-references").is_some());
    assert!(finding(&verdict, "native-growth").is_none());
}

#[test]
fn level_tensors_decide_nothing_and_point_at_native_code() {
    let run = (0..300).map(|step| {
        let mut observation = trainer(step, 350.0 + 2.0 * f64::from(step) + wobble(step));
        observation.counters.set(TrainingCounter::Tensors, 6529);
        observation
    });
    let verdict = judged(run);
    assert_eq!(verdict.verdict, Verdict::Leak(Grade::Suspected));
    let found = finding(&verdict, "native-growth");
    let Some(Finding::NativeGrowth { evidence, .. }) = found else {
        panic!("{:?}", verdict.findings);
    };
    assert_eq!(*evidence, NativeEvidence::LevelTensors { tensors: 6529 });
}

#[test]
fn pages_copied_by_forked_workers_are_seen_though_their_rss_stands_still() {
    let copying = |step: u32| 80.0 * (1.0 - (-f64::from(step) / 500.0).exp());
    let run = (0..400).map(|step| {
        let workers = (1..5).map(|n| {
            let mut worker = process(n, Role::DataloaderWorker, 150.0 + copying(step));
            worker.rss = Bytes((700.0 * MIB) as u64);
            worker
        });
        let trainer = process(0, Role::Trainer, 200.0 + wobble(step));
        moment(step, [trainer].into_iter().chain(workers).collect())
    });
    let verdict = judged(run);
    assert_eq!(verdict.verdict.name(), "leak");
    let guilty = verdict.blame[0];
    let who = (guilty.role, guilty.kind);
    assert_eq!(who, (Some(Role::DataloaderWorker), Kind::Anonymous));
    assert!(finding(&verdict, "copy-on-write").is_some());
}

#[test]
fn what_workers_share_since_the_fork_is_no_copy_of_theirs() {
    // Until the shares are read, the workers seem to have nothing and the trainer everything.
    let copies = |by_step: f64| {
        let run = (0..400).map(move |step| {
            let is_read = step >= 20;
            let own = if is_read { 100.0 } else { 0.0 } + by_step * f64::from(step);
            let workers = (1..5).map(|n| {
                let mut worker = process(n, Role::DataloaderWorker, own);
                worker.rss = Bytes((700.0 * MIB) as u64);
                worker.is_read = is_read;
                worker
            });
            let rest = if is_read { 140.0 } else { 500.0 };
            let trainer = process(0, Role::Trainer, rest + wobble(step));
            moment(step, [trainer].into_iter().chain(workers).collect())
        });
        let verdict = judged(run);
        finding(&verdict, "copy-on-write").cloned()
    };
    let found = copies(0.05);
    let Some(Finding::CopyOnWrite { workers: 4, copied }) = found else {
        panic!("{found:?}");
    };
    let mib = copied.bytes.0 as f64 / MIB;
    assert!((mib - 0.2 * 379.0).abs() < 1.0, "{mib}");
    assert_eq!(copied.since.x.0, 20.0);
    assert_eq!(copies(0.0), None);
}

#[test]
fn workers_that_only_warm_up_copy_nothing() {
    let run = (0..400).map(|step| {
        let warm = 40.0 * (1.0 - (-f64::from(step) / 30.0).exp());
        let workers = (1..5).map(|n| {
            let mut worker = process(n, Role::DataloaderWorker, 150.0 + warm);
            worker.rss = Bytes((700.0 * MIB) as u64);
            worker
        });
        let trainer = process(0, Role::Trainer, 200.0 + wobble(step));
        moment(step, [trainer].into_iter().chain(workers).collect())
    });
    let run: Vec<_> = run.collect();
    assert_eq!(first_leak(run.clone()), None);
    assert_eq!(finding(&judged(run), "copy-on-write"), None);
}

#[test]
fn shared_workers_are_never_a_sum_of_rss() {
    let run = (0..100).map(|step| {
        let workers = (1..21).map(|n| {
            let mut worker = process(n, Role::CompileWorker, 25.6);
            worker.rss = Bytes((358.4 * MIB) as u64);
            worker
        });
        let trainer = process(0, Role::Trainer, 600.0 + wobble(step));
        moment(step, [trainer].into_iter().chain(workers).collect())
    });
    let verdict = judged(run);
    let Some(Finding::WorkerOvercount { rss, memory, .. }) = finding(&verdict, "worker-overcount")
    else {
        panic!("{:?}", verdict.findings);
    };
    let printed = (rss.to_string(), memory.to_string());
    assert_eq!(printed, ("7.0 GiB".to_owned(), "512 MiB".to_owned()));
}

#[test]
fn blame_adds_up_to_one() {
    let run = (0..900).map(|step| {
        let x = f64::from(step);
        let mut trainer = process(0, Role::Trainer, 400.0 + 1.3 * x);
        trainer.shared = Bytes((0.4 * x * MIB) as u64);
        trainer.swapped = Bytes((0.01 * x * MIB) as u64);
        let worker = process(1, Role::DataloaderWorker, 200.0 + 0.37 * x);
        let helper = process(2, Role::Helper, 60.0 - 0.05 * x);
        moment(step, vec![trainer, worker, helper])
    });
    let verdict = judged(run);
    let parts: Vec<(Option<Role>, Kind)> = verdict
        .blame
        .iter()
        .map(|part| (part.role, part.kind))
        .collect();
    let trainer = Some(Role::Trainer);
    assert_eq!(parts[0], (trainer, Kind::Anonymous), "{parts:?}");
    assert!(parts.contains(&(trainer, Kind::Shared)), "{parts:?}");
    assert!(!parts.contains(&(trainer, Kind::Swap)), "{parts:?}");
    let thousandths = |share: f64| (share * 1000.0).round() as i64;
    let sum: i64 = verdict
        .blame
        .iter()
        .map(|part| thousandths(part.share))
        .sum();
    assert_eq!(sum, 1000);
}

#[test]
fn a_peak_between_two_judged_values_is_reported() {
    let mut judge = RunJudge::new(XUnit::Step, &StatedFacts::default());
    for sample in 0..900_u32 {
        // Three samples at each step, and the middle one of one step is high.
        let spike = if sample == 601 { 700.0 } else { 0.0 };
        let memory = 300.0 + wobble(sample) + spike;
        judge.observe(&trainer(sample / 3, memory));
    }
    let verdict = judge.verdict();
    assert!(verdict.verdict.is_level());
    let peak = verdict.memory.extremes.unwrap().peak.0;
    assert!(peak > 990.0 * MIB, "{}", peak / MIB);
}

#[test]
fn workers_that_leave_one_by_one_are_still_said_to_be_overcounted() {
    let run = (0..300).map(|step| {
        let workers = (1..21).map(|n| {
            let mut worker = process(n, Role::CompileWorker, 18.0);
            worker.rss = Bytes(350 << 20);
            // The last sample sees most of them without their memory.
            if step == 299 && n > 2 {
                (worker.memory, worker.rss) = (Bytes::ZERO, Bytes::ZERO);
            }
            worker
        });
        let trainer = process(0, Role::Trainer, 600.0 + wobble(step));
        moment(step, [trainer].into_iter().chain(workers).collect())
    });
    let verdict = judged(run);
    let found = finding(&verdict, "worker-overcount");
    let all = matches!(found, Some(Finding::WorkerOvercount { processes: 20, .. }));
    assert!(all, "{found:?}");
}

/// Growth of 100 steps is too young for a suspicion while the run goes on.
#[test]
fn growth_until_the_end_of_a_run_is_suspected_earlier() {
    let verdict_of = |ends: bool, memory: &dyn Fn(u32) -> f64| {
        let mut judge = RunJudge::new(XUnit::Step, &StatedFacts::default());
        for step in 0..100 {
            judge.observe(&trainer(step, memory(step) + wobble(step)));
        }
        if ends {
            judge.end();
        }
        judge.verdict().verdict
    };
    let straight = |step: u32| 500.0 + 2.0 * f64::from(step);
    assert_eq!(verdict_of(false, &straight), Verdict::WarmingUp);
    let suspected = Verdict::Leak(Grade::Suspected);
    assert_eq!(verdict_of(true, &straight), suspected);
    let stopped = |step: u32| 500.0 + 2.0 * f64::from(step.min(80));
    assert_ne!(verdict_of(true, &stopped), suspected);
}
