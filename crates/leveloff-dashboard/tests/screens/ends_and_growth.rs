//! The numbers on the screen are those of the run's account, at its end as well.

use leveloff_classifier::run_analysis::{GroupAccount, RunAccount};
use leveloff_dashboard::event::Mode;
use leveloff_dashboard::history::Axis;
use leveloff_dashboard::theme::Styles;
use leveloff_model::process::Role;
use leveloff_model::units::{ByteDelta, Bytes};

use crate::screen;
use crate::simulated_run::{MIB, SimulatedProcess, SimulatedRun, noise};

/// A trainer, and four loaders of which one leaks.
fn leaking_worker() -> SimulatedRun {
    let mut processes = vec![SimulatedProcess::new(Role::Trainer, 500, |step| {
        900.0 + noise(step)
    })];
    for worker in 0..4 {
        let leaks = if worker == 1 { 1.0 } else { 0.0 };
        let holds = move |step: f64| 20.0 + leaks * step;
        processes.push(SimulatedProcess::new(
            Role::DataloaderWorker,
            600 + worker,
            holds,
        ));
    }
    let mut run = SimulatedRun::new(processes);
    run.seconds_a_step = 0.5;
    run.play(1..=390);
    run
}

fn shown(run: &mut SimulatedRun) -> String {
    screen(&mut run.dashboard, &Styles::default(), (120, 40)).to_string()
}

/// The screen shows this account, number by number.
#[track_caller]
fn compare(text: &str, account: &RunAccount) {
    let row = |name: String, memory: Bytes, growth: ByteDelta| {
        let line = text.lines().find(|line| line.contains(&name));
        let line = line.unwrap_or_else(|| panic!("no row {name}: {text}"));
        let (memory, growth) = (memory.to_string(), growth.to_string());
        assert!(line.contains(&memory), "{memory}: {line}");
        assert!(line.contains(&growth), "{growth}: {line}");
    };
    for group in &account.groups {
        row(name(group), group.memory.now, group.memory.growth());
    }
    let whole = format!("WHAT  {} since step", account.memory.growth());
    assert!(text.contains(&whole), "{whole}: {text}");
    let held = format!("held {}", account.memory.now);
    assert!(text.contains(&held), "{held}: {text}");
    assert!(text.contains("ENDED the run ended"), "{text}");
}

fn name(group: &GroupAccount) -> String {
    match group.processes {
        1 => format!("{} ", group.role),
        n => format!("{}s ×{n}", group.role.name().replace('-', " ")),
    }
}

#[test]
fn a_leaking_worker_that_exits_before_the_trainer_stays_the_culprit() {
    let mut run = leaking_worker();
    for n in [2, 1, 3, 4] {
        run.exit(n, 390);
    }
    run.end(390);
    run.ended();
    let account = run.analysis.account().unwrap();
    assert!(account.is_over);
    assert_eq!(account.alive().count(), 5);
    let text = shown(&mut run);
    compare(&text, &account);
    let rows = run.dashboard.rows();
    assert_eq!(rows[0].role, Role::DataloaderWorker, "{text}");
    assert!(text.contains("LEAK") && text.contains("601"), "{text}");
    run.press(" j");
    let leaker = &run.dashboard.rows()[1];
    assert_eq!(leaker.pid.map(|pid| pid.0), Some(601));
    let since = account.since.moment.count.unwrap();
    let grown = (390.0 - since) * MIB;
    assert!((leaker.growth().0 as f64 - grown).abs() < 2.0, "{leaker:?}");
}

#[test]
fn memory_that_is_freed_in_the_last_second_is_no_part_of_the_end() {
    let mut run = SimulatedRun::new(vec![SimulatedProcess::new(Role::Trainer, 500, |_| 227.0)]);
    run.seconds_a_step = 1.0;
    run.play(1..=300);
    // Within the same step, 200 MiB are given back, then the trainer exits.
    run.processes[0].holds = Box::new(|_| 27.0);
    for delay in [0.3, 0.6] {
        run.delay = delay;
        run.play([300]);
    }
    run.end(300);
    run.ended();
    let account = run.analysis.account().unwrap();
    assert_eq!(account.memory.now, Bytes(227 << 20));
    let text = shown(&mut run);
    compare(&text, &account);
    let history = &run.dashboard.run().history;
    assert_eq!(history.last().unwrap().memory, 227.0 * MIB);
    assert_eq!(history.extent(Axis::Steps), Some(1.0..300.0));
    assert!(!text.contains(" 27 MiB"), "{text}");
}

#[test]
fn idle_processes_of_a_machine_do_not_grow_when_their_shares_are_read() {
    let idle = |pid| SimulatedProcess::new(Role::Other, pid, |_| 300.0);
    let mut run = SimulatedRun::in_mode(Mode::System, (1..=3).map(idle).collect());
    run.tells_steps = false;
    for process in &mut run.processes {
        (process.is_read, process.inherits) = (false, 290.0);
    }
    run.play(0..2);
    for process in &mut run.processes {
        process.is_read = true;
    }
    run.play(2..20);
    let account = run.dashboard.run().account().unwrap();
    assert_eq!(account.memory.growth(), ByteDelta(0));
    for row in run.dashboard.rows() {
        assert_eq!(
            (row.memory.now, row.growth()),
            (Bytes(300 << 20), ByteDelta(0))
        );
    }
    let text = shown(&mut run);
    assert!(text.contains("nothing grew"), "{text}");
    assert!(text.contains("WHAT  +0 B since the first sample"), "{text}");
}
