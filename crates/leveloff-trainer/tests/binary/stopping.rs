//! On a request to stop it finishes the step, saves, and exits with 0.

use std::os::unix::process::ExitStatusExt;

use std::process::ExitStatus;

use rustix::process::Signal;

use crate::trainer::{Home, Running};

/// Starts a training without end, asks it to stop, and sees that it did so in good order.
fn check(ask: impl Fn(&Home, &Running), by: &str) {
    check_saving_every(100, ask, by);
}

fn check_saving_every(steps: u64, ask: impl Fn(&Home, &Running), by: &str) {
    let home = Home::new();
    let every = format!("--checkpoint-every {steps}");
    let mut running = home.start(&format!("--steps 1000000 --checkpoint-dir CKPT {every}"));
    running.wait_for_step(3);
    ask(&home, &running);
    let pid = running.pid();
    let (status, lines) = running.end();
    assert_eq!(status.code(), Some(0), "{status}");
    let last = lines.last().expect("a line");
    assert_eq!(
        (last["event"].as_str(), last["by"].as_str()),
        (Some("stopped"), Some(by))
    );
    let marks = home.marks(pid);
    let stopped = marks.last().expect("a mark");
    assert_eq!(stopped["event"], "stopped");
    let saved = stopped["path"].as_str().expect("a path");
    assert!(std::path::Path::new(saved).exists(), "{saved}");
    let stopping = marks.iter().filter(|mark| mark["event"] == "stopping");
    let at: Vec<_> = stopping.map(|mark| &mark["step"]).collect();
    assert_eq!(at, [&stopped["step"]]);
    // What was saved is what it stopped at, whole: a resume goes on from there.
    let step = last["step"].as_u64().expect("a step");
    let more = home.json_lines(&format!(
        "--steps {} --checkpoint-dir CKPT --resume",
        step + 1
    ));
    assert_eq!(more[0]["step"], step);
    assert!(
        !home.path(&format!("marks/{pid}.stop")).exists(),
        "the request was obeyed"
    );
}

fn request(home: &Home, running: &Running) {
    let request = home.path(&format!("marks/{}.stop", running.pid()));
    std::fs::write(request, "").expect("written");
}

#[test]
fn by_a_request_beside_the_marks() {
    check(request, "a stop request");
}

/// With a checkpoint at every step, the request comes while one is saved.
#[test]
fn while_saving() {
    let ask = |home: &Home, running: &Running| {
        let marks = home.path(&format!("marks/{}.jsonl", running.pid()));
        // The last line may be half written, and is then looked at again.
        let is_saving = || {
            let marks = std::fs::read_to_string(&marks).unwrap_or_default();
            let last = marks.lines().last().unwrap_or_default();
            last.contains(r#""phase":"checkpoint""#)
        };
        while !is_saving() {
            std::thread::yield_now();
        }
        request(home, running);
    };
    check_saving_every(1, ask, "a stop request");
}

#[test]
fn by_an_interrupt() {
    check(|_, running| running.send(Signal::INT), "a signal");
}

#[test]
fn by_a_kind_end() {
    check(|_, running| running.send(Signal::TERM), "a signal");
}

#[test]
fn a_slow_pace_does_not_delay_a_stop() {
    let home = Home::new();
    let mut running = home.start("--steps 10 --pace 0.001");
    running.wait_for_step(1);
    running.send(Signal::TERM);
    assert_eq!(running.end().0.code(), Some(0));
}

#[test]
fn a_second_interrupt_ends_the_trainer_at_once() {
    // The first signal may come just when the trainer looks for one, and is obeyed as a first one; in the
    // middle of a long step, a second one comes before that.
    let ends: Vec<_> = (0..5).map(|_| interrupted_again()).collect();
    let by_signal = |status: &ExitStatus| status.signal() == Some(Signal::INT.as_raw());
    assert!(ends.iter().any(by_signal), "{ends:?}");
    assert!(
        ends.iter().all(|end| by_signal(end) || end.success()),
        "{ends:?}"
    );
}

fn interrupted_again() -> ExitStatus {
    let home = Home::new();
    let mut running = home.start("--steps 1000 --batch-size 512");
    running.wait_for_step(1);
    while !running.has_ended() {
        // Without a pause: those that wait for a busy core together count as one.
        running.send(Signal::INT);
    }
    running.end().0
}
