use leveloff_model::process::Role;

use super::super::run_processes::tests::{key, run_processes};
use super::*;

const GRACE: u64 = 20;

/// A trainer (2) under a launcher (1), with a worker (3).
const JOB: [(i32, i32, Role); 3] = [
    (1, 0, Role::Launcher),
    (2, 1, Role::Trainer),
    (3, 2, Role::DataloaderWorker),
];

struct Simulation {
    stop: StopSequence,
    begin: Instant,
    takes_requests: bool,
    recipients: Vec<ProcessKey>,
}

impl Simulation {
    fn new(takes_requests: bool) -> Simulation {
        let begin = Instant::now();
        Simulation {
            stop: StopSequence::begin(begin, Duration::from_secs(GRACE), StopSignal::TERM),
            begin,
            takes_requests,
            recipients: vec![key(1)],
        }
    }

    /// The actions at this second, while these processes live.
    fn at(&mut self, second: u64, alive: &[i32], reply: Option<TrainingReply>) -> Vec<Action> {
        let living: Vec<_> = JOB
            .into_iter()
            .filter(|(pid, ..)| alive.contains(pid))
            .collect();
        let processes = run_processes(&living);
        self.stop.next(&StopInput {
            now: self.begin + Duration::from_secs(second),
            processes: &processes,
            takes_requests: self.takes_requests,
            recipients: self.recipients.clone(),
            reply,
        })
    }
}

const ALL: [i32; 3] = [1, 2, 3];

fn send(pid: i32, signal: StopSignal) -> Action {
    Action::Send(key(pid), signal)
}

#[test]
fn a_training_that_takes_requests_gets_no_signal() {
    let mut run = Simulation::new(true);
    assert_eq!(
        run.at(0, &ALL, None),
        [Action::EnterStage(Stage::Request), Action::Request]
    );
    assert_eq!(run.at(5, &ALL, None), []);
    // The trainer is gone, and with it its support for requests. Its launcher needs a moment.
    run.takes_requests = false;
    assert_eq!(run.at(9, &[1, 3], None), []);
    assert_eq!(run.at(10, &[], None), []);
    assert_eq!(run.stop.stage(), Stage::Over);
}

#[test]
fn each_stage_has_its_own_grace_period() {
    let mut run = Simulation::new(true);
    run.at(0, &ALL, None);
    assert_eq!(run.at(19, &ALL, None), []);
    let signalled = [Action::EnterStage(Stage::Signal), send(1, StopSignal::TERM)];
    assert_eq!(run.at(20, &ALL, None), signalled);
    assert_eq!(run.at(39, &ALL, None), []);
    let ended = run.at(40, &ALL, None);
    assert_eq!(ended[0], Action::EnterStage(Stage::Terminate));
    for pid in ALL {
        assert!(ended.contains(&send(pid, StopSignal::TERM)));
        assert!(ended.contains(&send(pid, StopSignal::CONTINUE)));
    }
    let killed = run.at(60, &[2, 3], None);
    let expected = [
        Action::EnterStage(Stage::Kill),
        send(2, StopSignal::KILL),
        send(3, StopSignal::KILL),
    ];
    assert_eq!(killed, expected);
    assert_eq!(run.at(80, &[2], None), []);
    assert_eq!(run.stop.stage(), Stage::Over);
}

#[test]
fn a_reply_restarts_the_grace_period() {
    let mut run = Simulation::new(true);
    run.at(0, &ALL, None);
    assert_eq!(run.at(15, &ALL, Some(TrainingReply::Stopping)), []);
    assert_eq!(run.at(34, &ALL, None), []);
    assert_eq!(run.at(35, &ALL, None)[0], Action::EnterStage(Stage::Signal));
}

#[test]
fn a_refusal_leads_to_the_signal_at_once() {
    let mut run = Simulation::new(true);
    run.at(0, &ALL, None);
    let orders = run.at(2, &ALL, Some(TrainingReply::NotStopping));
    assert_eq!(orders[0], Action::EnterStage(Stage::Signal));
}

#[test]
fn a_training_without_requests_gets_the_signal_first() {
    let mut run = Simulation::new(false);
    let signalled = [Action::EnterStage(Stage::Signal), send(1, StopSignal::TERM)];
    assert_eq!(run.at(0, &ALL, None), signalled);
}

#[test]
fn a_failed_request_is_followed_by_the_signal() {
    let mut run = Simulation::new(true);
    run.at(0, &ALL, None);
    run.stop.request_failed(run.begin);
    assert_eq!(run.at(0, &ALL, None)[0], Action::EnterStage(Stage::Signal));
}

#[test]
fn leftovers_of_an_ended_training_are_terminated() {
    let mut run = Simulation::new(true);
    run.at(0, &ALL, None);
    assert_eq!(run.at(3, &[1, 3], None), []);
    assert_eq!(run.at(12, &[1, 3], None), []);
    let ended = run.at(13, &[1, 3], None);
    assert_eq!(ended[0], Action::EnterStage(Stage::Terminate));
    assert!(ended.contains(&send(3, StopSignal::TERM)));
}

#[test]
fn a_process_that_starts_during_the_kill_stage_is_killed() {
    let mut run = Simulation::new(false);
    run.at(0, &ALL, None);
    run.at(20, &ALL, None);
    run.at(40, &[1, 2], None);
    assert_eq!(run.at(41, &[1, 2, 3], None), [send(3, StopSignal::KILL)]);
}

#[test]
fn a_run_without_a_known_trainer_has_the_whole_grace_period() {
    let mut run = Simulation::new(false);
    run.at(0, &[1, 3], None);
    assert_eq!(run.at(19, &[1, 3], None), []);
    assert_eq!(
        run.at(20, &[1, 3], None)[0],
        Action::EnterStage(Stage::Terminate)
    );
}

#[test]
fn a_process_that_starts_after_the_signal_gets_it_and_none_gets_it_twice() {
    let mut run = Simulation::new(false);
    run.recipients = vec![key(2)];
    let first = [Action::EnterStage(Stage::Signal), send(2, StopSignal::TERM)];
    assert_eq!(run.at(0, &[1, 2], None), first);
    assert_eq!(run.at(1, &[1, 2], None), []);
    // A shell starts its next command.
    run.recipients = vec![key(3)];
    assert_eq!(run.at(2, &[1, 3], None), [send(3, StopSignal::TERM)]);
    assert_eq!(run.at(3, &[1, 3], None), []);
}

#[test]
fn when_all_recipients_are_gone_the_others_have_less_time() {
    let mut run = Simulation::new(false);
    run.recipients = vec![key(2)];
    run.at(0, &ALL, None);
    run.recipients = vec![key(1)];
    assert_eq!(run.at(1, &[1, 3], None), []);
    assert_eq!(
        run.at(11, &[1, 3], None)[0],
        Action::EnterStage(Stage::Terminate)
    );
}

#[test]
fn skipping_leads_to_the_next_stage() {
    let mut run = Simulation::new(true);
    run.at(0, &ALL, None);
    run.stop.skip_stage(run.begin);
    assert_eq!(run.at(0, &ALL, None)[0], Action::EnterStage(Stage::Signal));
    run.stop.skip_stage(run.begin);
    assert_eq!(
        run.at(0, &ALL, None)[0],
        Action::EnterStage(Stage::Terminate)
    );
}

#[test]
fn the_grace_period_restarts_only_once() {
    let mut run = Simulation::new(true);
    run.at(0, &ALL, None);
    run.at(15, &ALL, Some(TrainingReply::Stopping));
    run.at(30, &ALL, Some(TrainingReply::Stopping));
    assert_eq!(run.at(35, &ALL, None)[0], Action::EnterStage(Stage::Signal));
}
