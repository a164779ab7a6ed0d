//! The runs that the screens are checked with.

use leveloff_dashboard::event::Mode;
use leveloff_dashboard::theme::Styles;
use leveloff_model::process::Role;
use leveloff_model::progress::{ProgressSource, StepSource};

use crate::simulated_run::{SimulatedProcess, SimulatedRun, noise};
use crate::{check, screen};

/// The reference story's curve in MiB: 165 a step up to step 88, then level.
fn story(step: f64) -> f64 {
    let grown = 5450.0 + 162.0 * (step.min(88.0) - 10.0);
    grown + 30.0 * noise(step)
}

/// The trainer, its pool of twenty compile workers, four loaders.
pub fn processes(trainer: impl Fn(f64) -> f64 + 'static) -> Vec<SimulatedProcess> {
    let mut processes = vec![
        SimulatedProcess::new(Role::Trainer, 22180, trainer),
        SimulatedProcess::new(Role::CompilePool, 22190, |_| 19.0).sharing(300.0),
    ];
    for worker in 0..20 {
        processes.push(
            SimulatedProcess::new(Role::CompileWorker, 22200 + worker, |_| 19.0).sharing(331.0),
        );
    }
    for worker in 0..4 {
        processes.push(
            SimulatedProcess::new(Role::DataloaderWorker, 22300 + worker, |_| 23.0).sharing(380.0),
        );
    }
    processes
}

/// The story up to a step.
pub fn story_at(step: u64) -> SimulatedRun {
    let mut run = SimulatedRun::new(processes(story)).limited(32.0);
    run.tensors = Some(|_| 6529);
    run.evaluates_every = Some(75);
    run.play(10..=step);
    run
}

/// Two MiB a step, and a tensor with them.
pub fn leak() -> SimulatedRun {
    let mut run =
        SimulatedRun::new(processes(|step| 4200.0 + 2.06 * step + 4.0 * noise(step))).limited(24.0);
    run.tensors = Some(|step| 6529 + step as u64);
    run.evaluates_every = Some(100);
    run.play(1..=900);
    run
}

/// Malloc has ever more in use, and no tensor with it. Counts come after the first ten steps.
pub fn native() -> SimulatedRun {
    let mut run =
        SimulatedRun::new(processes(|step| 4200.0 + 2.06 * step + 4.0 * noise(step))).limited(24.0);
    run.play(1..10);
    run.tensors = Some(|_| 6529);
    run.malloc = Some(|step| (1800.0 + 2.0 * step, 310.0 + step % 5.0));
    run.play(10..=900);
    run
}

/// Too noisy to show growth or its absence.
pub fn undecided() -> SimulatedRun {
    let noisy = |step: f64| 3000.0 + 30.0 * step + 800.0 * noise(step);
    let mut run = SimulatedRun::new(processes(noisy));
    run.play(1..=40);
    run
}

/// Four ranks, of which one leaks.
pub fn ranks() -> SimulatedRun {
    let mut processes = vec![SimulatedProcess::new(Role::Launcher, 500, |_| 60.0)];
    for rank in 0..4 {
        let leaks = if rank == 2 { 6.0 } else { 0.0 };
        let holds = move |step: f64| 9000.0 + leaks * step + 5.0 * noise(step + f64::from(rank));
        processes
            .push(SimulatedProcess::new(Role::Trainer, 600 + rank as i32, holds).of_rank(rank));
        for worker in 0..2 {
            let pid = 700 + 10 * rank as i32 + worker;
            let worker =
                SimulatedProcess::new(Role::DataloaderWorker, pid, |_| 80.0).sharing(900.0);
            processes.push(worker.of_rank(rank));
        }
    }
    let mut run = SimulatedRun::new(processes).limited(64.0);
    run.play(1..=700);
    run
}

/// A machine with a browser that grows.
pub fn machine() -> SimulatedRun {
    let mut processes: Vec<SimulatedProcess> = (0..40)
        .map(|n| {
            let mut process =
                SimulatedProcess::new(Role::Other, 1000 + n, move |_| f64::from(20 + n));
            process.command = "/usr/sbin/some-daemon --foreground";
            process
        })
        .collect();
    processes[7].holds = Box::new(|x| 900.0 + 3.0 * x);
    processes[7].command = "/opt/browser/browser --type=renderer";
    processes[9].holds = Box::new(|x| 300.0 + 0.5 * x);
    processes[9].command = "python -m http.server";
    let mut run = SimulatedRun::in_mode(Mode::System, processes);
    run.tells_steps = false;
    run.play(0..120);
    run
}

#[test]
fn warming_up() {
    check("warming_up", story_at(80).dashboard);
}

#[test]
fn level() {
    check("level", story_at(300).dashboard);
}

#[test]
fn a_leak() {
    check("leak", leak().dashboard);
}

#[test]
fn a_native_leak() {
    check("native", native().dashboard);
}

#[test]
fn undecided_run() {
    check("undecided", undecided().dashboard);
}

#[test]
fn many_workers_expanded() {
    let mut run = story_at(300);
    // The first group is opened, then a row further down is chosen.
    run.press(" jjjjjjjj");
    check("workers_expanded", run.dashboard);
}

#[test]
fn several_ranks() {
    check("ranks", ranks().dashboard);
}

#[test]
fn no_steps() {
    let mut run = SimulatedRun::new(processes(|x| 4000.0 + 3.0 * x));
    run.tells_steps = false;
    run.seconds_a_step = 1.0;
    run.play(0..300);
    check("no_steps", run.dashboard);
}

#[test]
fn the_header_says_where_the_steps_come_from() {
    let mut run = SimulatedRun::new(processes(story));
    run.step_source = Some(StepSource {
        counter: Some("iter".to_owned()),
        ..ProgressSource::Output.into()
    });
    run.play(10..40);
    let wide = screen(&mut run.dashboard, &Styles::default(), (200, 60)).to_string();
    assert!(wide.contains("step 39/1,000"), "{wide}");
    assert!(wide.contains("steps: output 'iter'"), "{wide}");
}

#[test]
fn gaps() {
    use leveloff_model::sample::Subject;
    let mut processes = processes(story);
    for process in &mut processes {
        process.is_read = false;
    }
    let mut run = SimulatedRun::new(processes);
    run.play(10..40);
    let text = "permission denied; run as the same user, or pass --no-pss";
    run.gap(40, Subject::Pss, text);
    run.gap(41, Subject::Gpu, "no NVML on this machine");
    check("gaps", run.dashboard);
}

#[test]
fn a_whole_machine() {
    check("system", machine().dashboard);
}

#[test]
fn too_few_points() {
    let mut run = SimulatedRun::new(processes(story));
    run.play(1..=3);
    check("too_few_points", run.dashboard);
}

#[test]
fn waiting_for_the_first_sample() {
    check("waiting", SimulatedRun::new(Vec::new()).dashboard);
}
