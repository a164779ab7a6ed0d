//! The runs that the screens are checked with.

use leveloff_dashboard::event::Mode;
use leveloff_model::process::Role;

use crate::check;
use crate::scene::{Actor, Scene, noise};

/// The reference story's curve in MiB: 165 a step up to step 88, then level.
fn story(step: f64) -> f64 {
    let grown = 5450.0 + 162.0 * (step.min(88.0) - 10.0);
    grown + 30.0 * noise(step)
}

/// The trainer, its pool of twenty compile workers, four loaders.
pub fn cast(trainer: impl Fn(f64) -> f64 + 'static) -> Vec<Actor> {
    let mut cast = vec![
        Actor::new(Role::Trainer, 22180, trainer),
        Actor::new(Role::CompilePool, 22190, |_| 19.0).sharing(300.0),
    ];
    for worker in 0..20 {
        cast.push(Actor::new(Role::CompileWorker, 22200 + worker, |_| 19.0).sharing(331.0));
    }
    for worker in 0..4 {
        cast.push(Actor::new(Role::DataloaderWorker, 22300 + worker, |_| 23.0).sharing(380.0));
    }
    cast
}

/// The story up to a step.
pub fn story_at(step: u64) -> Scene {
    let mut scene = Scene::new(cast(story)).limited(32.0);
    scene.tensors = Some(|_| 6529);
    scene.evaluates_every = Some(75);
    scene.play(10..=step);
    scene
}

/// Two MiB a step, and a tensor with them.
pub fn leak() -> Scene {
    let mut scene = Scene::new(cast(|step| 4200.0 + 2.06 * step + 4.0 * noise(step))).limited(24.0);
    scene.tensors = Some(|step| 6529 + step as u64);
    scene.evaluates_every = Some(100);
    scene.play(1..=900);
    scene
}

/// Malloc has ever more in use, and no tensor with it. Counts come after the first ten steps.
pub fn native() -> Scene {
    let mut scene = Scene::new(cast(|step| 4200.0 + 2.06 * step + 4.0 * noise(step))).limited(24.0);
    scene.play(1..10);
    scene.tensors = Some(|_| 6529);
    scene.malloc = Some(|step| (1800.0 + 2.0 * step, 310.0 + step % 5.0));
    scene.play(10..=900);
    scene
}

/// Nobody can tell this from growth, nor from none.
pub fn undecided() -> Scene {
    let noisy = |step: f64| 3000.0 + 30.0 * step + 800.0 * noise(step);
    let mut scene = Scene::new(cast(noisy));
    scene.play(1..=40);
    scene
}

/// Four ranks, of which one leaks.
pub fn ranks() -> Scene {
    let mut cast = vec![Actor::new(Role::Launcher, 500, |_| 60.0)];
    for rank in 0..4 {
        let leaks = if rank == 2 { 6.0 } else { 0.0 };
        let holds = move |step: f64| 9000.0 + leaks * step + 5.0 * noise(step + f64::from(rank));
        cast.push(Actor::new(Role::Trainer, 600 + rank as i32, holds).of_rank(rank));
        for worker in 0..2 {
            let pid = 700 + 10 * rank as i32 + worker;
            let worker = Actor::new(Role::DataloaderWorker, pid, |_| 80.0).sharing(900.0);
            cast.push(worker.of_rank(rank));
        }
    }
    let mut scene = Scene::new(cast).limited(64.0);
    scene.play(1..=700);
    scene
}

/// A machine with a browser that grows.
pub fn machine() -> Scene {
    let mut cast: Vec<Actor> = (0..40)
        .map(|n| {
            let mut actor = Actor::new(Role::Other, 1000 + n, move |_| f64::from(20 + n));
            actor.command = "/usr/sbin/some-daemon --foreground";
            actor
        })
        .collect();
    cast[7].holds = Box::new(|x| 900.0 + 3.0 * x);
    cast[7].command = "/opt/browser/browser --type=renderer";
    cast[9].holds = Box::new(|x| 300.0 + 0.5 * x);
    cast[9].command = "python -m http.server";
    let mut scene = Scene::in_mode(Mode::System, cast);
    scene.tells_steps = false;
    scene.play(0..120);
    scene
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
    let mut scene = story_at(300);
    // The first group is opened, then a row further down is chosen.
    scene.press(" jjjjjjjj");
    check("workers_expanded", scene.dashboard);
}

#[test]
fn several_ranks() {
    check("ranks", ranks().dashboard);
}

#[test]
fn no_steps() {
    let mut scene = Scene::new(cast(|x| 4000.0 + 3.0 * x));
    scene.tells_steps = false;
    scene.seconds_a_step = 1.0;
    scene.play(0..300);
    check("no_steps", scene.dashboard);
}

#[test]
fn gaps() {
    use leveloff_model::sample::Subject;
    let mut cast = cast(story);
    for actor in &mut cast {
        actor.is_read = false;
    }
    let mut scene = Scene::new(cast);
    scene.play(10..40);
    let text = "permission denied; run as the same user, or pass --no-pss";
    scene.gap(40, Subject::Pss, text);
    scene.gap(41, Subject::Gpu, "no NVML on this machine");
    check("gaps", scene.dashboard);
}

#[test]
fn a_whole_machine() {
    check("system", machine().dashboard);
}

#[test]
fn too_few_points() {
    let mut scene = Scene::new(cast(story));
    scene.play(1..=3);
    check("too_few_points", scene.dashboard);
}

#[test]
fn waiting_for_the_first_sample() {
    check("waiting", Scene::new(Vec::new()).dashboard);
}
