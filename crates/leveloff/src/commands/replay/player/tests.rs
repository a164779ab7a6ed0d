//! What a replay shows at a moment is what was known at that moment.

use std::path::Path;

use leveloff_dashboard::dashboard::Dashboard;
use leveloff_dashboard::event::{Event, Mode, SourceEvent, Subject};
use leveloff_dashboard::run::RunState;
use leveloff_model::process::Pid;
use leveloff_model::recording::{StatedFacts, Target};
use leveloff_model::units::Bytes;

use super::*;
use crate::commands::judge::{Case, JudgeOptions};
use crate::one_account_tests::made_up_runs::{record, workers_leave_first};

#[path = "../../../../tests/dashboard_support/story.rs"]
mod story;

const STEPS: u64 = 200;

/// A player on the story, and a dashboard that sees what it plays.
struct Playback {
    directory: tempfile::TempDir,
    player: Player,
    dashboard: Dashboard,
    /// Ticks since the beginning.
    seen: usize,
}

impl Playback {
    fn new(speed: Option<f64>) -> Playback {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("story.jsonl");
        story::write(&path, STEPS);
        let subject = Subject {
            mode: Mode::Replay,
            is_machine: false,
            ..Subject::default()
        };
        Playback {
            player: Player::open(&path, speed).unwrap(),
            dashboard: Dashboard::new(subject, &StatedFacts::default(), (80, 24)),
            directory,
            seen: 0,
        }
    }

    fn ask(&mut self, request: ReplayRequest) {
        if self.player.handle(request).unwrap() {
            self.dashboard.on(Event::Source(SourceEvent::Restarted));
            self.seen = 0;
        }
        self.show();
    }

    fn show(&mut self) {
        while let Some(tick) = self.player.due().unwrap() {
            self.dashboard.on(Event::Tick(Box::new(tick)));
            self.seen += 1;
        }
        self.dashboard.settle();
    }

    fn step(&self) -> Option<u64> {
        let sample = self.dashboard.run().sample()?;
        sample.progress.step.map(|step| step.0)
    }

    /// What `judge` says of the recording as it was after so many samples.
    fn judged(&self) -> String {
        let whole = std::fs::read_to_string(self.directory.path().join("story.jsonl")).unwrap();
        let mut prefix = String::new();
        let mut samples = 0;
        for line in whole.lines() {
            samples += usize::from(line.starts_with("{\"s\":"));
            prefix.push_str(line);
            prefix.push('\n');
            if samples == self.seen {
                break;
            }
        }
        assert_eq!(samples, self.seen);
        let path = self.directory.path().join("prefix.jsonl");
        std::fs::write(&path, prefix).unwrap();
        let case = Case::of(Path::new(&path));
        format!(
            "{:?}",
            case.judge(&JudgeOptions::default()).unwrap().verdict
        )
    }

    #[track_caller]
    fn check(&self, step: u64) {
        assert_eq!(self.step(), Some(step));
        let shown = format!("{:?}", self.dashboard.run().verdict().unwrap());
        assert_eq!(shown, self.judged(), "at step {step}");
    }
}

#[test]
fn at_every_step_it_says_what_judge_says_of_what_was_recorded_so_far() {
    let mut cinema = Playback::new(None);
    for step in [3, 20, 59, 61, 90, 130, 199] {
        cinema.ask(ReplayRequest::JumpToStep(step));
        cinema.check(step);
    }
    let names: Vec<&str> = [20, 199]
        .map(|step| {
            cinema.ask(ReplayRequest::JumpToStep(step));
            cinema.dashboard.run().verdict().unwrap().verdict.name()
        })
        .into();
    assert_eq!(names[1], "level");
    assert_ne!(names[0], names[1], "the story has two parts");
}

#[test]
fn going_back_forgets_what_came_later() {
    let mut cinema = Playback::new(None);
    cinema.ask(ReplayRequest::JumpToEnd);
    cinema.check(STEPS - 1);
    assert!(cinema.player.is_over() && cinema.player.end().is_some());
    cinema.ask(ReplayRequest::JumpToStep(40));
    cinema.check(40);
    assert!(!cinema.player.is_over());
    cinema.ask(ReplayRequest::Skip(-10.0));
    cinema.check(30);
    cinema.ask(ReplayRequest::Skip(-1000.0));
    cinema.check(0);
    cinema.ask(ReplayRequest::Skip(10.0));
    cinema.check(10);
}

#[test]
fn time_passes_at_its_speed_and_not_while_it_is_paused() {
    let mut cinema = Playback::new(Some(10.0));
    cinema.show();
    cinema.check(0);
    cinema.player.pass(Duration::from_millis(1550));
    cinema.show();
    cinema.check(15);
    // Half a second of the recording is missing to the next.
    assert_eq!(cinema.player.wait(), SHORTEST_WAIT);
    cinema.ask(ReplayRequest::TogglePause);
    assert_eq!(cinema.player.wait(), STILL);
    cinema.player.pass(Duration::from_secs(5));
    cinema.show();
    cinema.check(15);
    cinema.ask(ReplayRequest::TogglePause);
    cinema.ask(ReplayRequest::Speed(0.5));
    cinema.player.pass(Duration::from_secs(1));
    cinema.show();
    cinema.check(20);
    let position = cinema.player.position();
    assert_eq!(position.end, Some(Seconds(199.0)));
    assert_eq!((position.speed, position.paused), (5.0, false));
}

#[test]
fn all_of_it_takes_about_a_minute() {
    let cinema = Playback::new(None);
    let speed = cinema.player.position().speed;
    assert!((199.0 / speed - WHOLE).abs() < 1.0, "{speed}");
}

#[test]
fn a_step_that_never_comes_is_the_end() {
    let mut cinema = Playback::new(None);
    cinema.ask(ReplayRequest::JumpToStep(1_000_000));
    cinema.check(STEPS - 1);
    assert!(cinema.player.is_over());
}

/// The workers of this run exit before its trainer does.
#[test]
fn at_the_end_of_a_replay_the_worker_that_leaked_is_named_with_its_memory() {
    let directory = tempfile::tempdir().unwrap();
    let run = workers_leave_first();
    let path = record(&run, Target::Command(vec![]), directory.path(), "workers");
    let mut player = Player::open(&path, None).unwrap();
    player.handle(ReplayRequest::JumpToEnd).unwrap();
    let mut dashboard = RunState::new(&player.header().stated);
    while let Some(tick) = player.due().unwrap() {
        dashboard.take(tick);
    }
    assert!(player.is_over());
    dashboard.end();
    dashboard.settle();
    let account = dashboard.account().unwrap();
    let largest = account.alive().max_by_key(|process| process.growth().0);
    let largest = largest.unwrap();
    assert_eq!(
        (largest.pid, largest.memory.now),
        (Pid(1001), Bytes(619 << 20))
    );
    assert_eq!(
        account.verdict.as_ref().unwrap().blame[0].pid,
        Some(Pid(1001))
    );
}
