use leveloff_model::process::Role;

use super::super::crew::tests::{crew, key};
use super::*;

const GRACE: u64 = 20;

/// A trainer (2) under a launcher (1), with a worker (3).
const JOB: [(i32, i32, Role); 3] = [
    (1, 0, Role::Launcher),
    (2, 1, Role::Trainer),
    (3, 2, Role::DataloaderWorker),
];

struct Play {
    stop: Stop,
    begin: Instant,
    obeys: bool,
    addressees: Vec<ProcessKey>,
}

impl Play {
    fn new(obeys: bool) -> Play {
        let begin = Instant::now();
        Play {
            stop: Stop::begin(begin, Duration::from_secs(GRACE), StopSignal::TERM),
            begin,
            obeys,
            addressees: vec![key(1)],
        }
    }

    /// What is done at this second, with these alive.
    fn at(&mut self, second: u64, alive: &[i32], answer: Option<Answer>) -> Vec<Order> {
        let living: Vec<_> = JOB
            .into_iter()
            .filter(|(pid, ..)| alive.contains(pid))
            .collect();
        let crew = crew(&living);
        self.stop.next(&Scene {
            now: self.begin + Duration::from_secs(second),
            crew: &crew,
            obeys_requests: self.obeys,
            addressees: self.addressees.clone(),
            answer,
        })
    }
}

const ALL: [i32; 3] = [1, 2, 3];

fn send(pid: i32, signal: StopSignal) -> Order {
    Order::Send(key(pid), signal)
}

#[test]
fn one_who_obeys_is_asked_and_nothing_else() {
    let mut play = Play::new(true);
    assert_eq!(
        play.at(0, &ALL, None),
        [Order::Enter(Stage::Request), Order::Ask]
    );
    assert_eq!(play.at(5, &ALL, None), []);
    // Who obeyed is gone, and with it the word that it obeys. Its launcher needs a moment.
    play.obeys = false;
    assert_eq!(play.at(9, &[1, 3], None), []);
    assert_eq!(play.at(10, &[], None), []);
    assert_eq!(play.stop.stage(), Stage::Over);
}

#[test]
fn each_stage_has_its_own_time() {
    let mut play = Play::new(true);
    play.at(0, &ALL, None);
    assert_eq!(play.at(19, &ALL, None), []);
    let signalled = [Order::Enter(Stage::Signal), send(1, StopSignal::TERM)];
    assert_eq!(play.at(20, &ALL, None), signalled);
    assert_eq!(play.at(39, &ALL, None), []);
    let ended = play.at(40, &ALL, None);
    assert_eq!(ended[0], Order::Enter(Stage::Terminate));
    for pid in ALL {
        assert!(ended.contains(&send(pid, StopSignal::TERM)));
        assert!(ended.contains(&send(pid, StopSignal::CONTINUE)));
    }
    let killed = play.at(60, &[2, 3], None);
    let expected = [
        Order::Enter(Stage::Kill),
        send(2, StopSignal::KILL),
        send(3, StopSignal::KILL),
    ];
    assert_eq!(killed, expected);
    assert_eq!(play.at(80, &[2], None), []);
    assert_eq!(play.stop.stage(), Stage::Over);
}

#[test]
fn one_who_says_that_it_obeys_gets_its_time_anew() {
    let mut play = Play::new(true);
    play.at(0, &ALL, None);
    assert_eq!(play.at(15, &ALL, Some(Answer::Stopping)), []);
    assert_eq!(play.at(34, &ALL, None), []);
    assert_eq!(play.at(35, &ALL, None)[0], Order::Enter(Stage::Signal));
}

#[test]
fn one_who_cannot_obey_is_sent_the_signal_at_once() {
    let mut play = Play::new(true);
    play.at(0, &ALL, None);
    let orders = play.at(2, &ALL, Some(Answer::NotStopping));
    assert_eq!(orders[0], Order::Enter(Stage::Signal));
}

#[test]
fn one_who_knows_no_requests_is_sent_the_signal_first() {
    let mut play = Play::new(false);
    let signalled = [Order::Enter(Stage::Signal), send(1, StopSignal::TERM)];
    assert_eq!(play.at(0, &ALL, None), signalled);
}

#[test]
fn a_request_that_cannot_be_put_is_followed_by_the_signal() {
    let mut play = Play::new(true);
    play.at(0, &ALL, None);
    play.stop.cannot_ask(play.begin);
    assert_eq!(play.at(0, &ALL, None)[0], Order::Enter(Stage::Signal));
}

#[test]
fn what_is_left_of_a_run_that_trains_no_more_is_swept_up() {
    let mut play = Play::new(true);
    play.at(0, &ALL, None);
    assert_eq!(play.at(3, &[1, 3], None), []);
    assert_eq!(play.at(12, &[1, 3], None), []);
    let swept = play.at(13, &[1, 3], None);
    assert_eq!(swept[0], Order::Enter(Stage::Terminate));
    assert!(swept.contains(&send(3, StopSignal::TERM)));
}

#[test]
fn who_is_born_while_all_are_killed_is_killed_as_well() {
    let mut play = Play::new(false);
    play.at(0, &ALL, None);
    play.at(20, &ALL, None);
    play.at(40, &[1, 2], None);
    assert_eq!(play.at(41, &[1, 2, 3], None), [send(3, StopSignal::KILL)]);
}

#[test]
fn where_nobody_was_known_to_train_the_whole_time_is_given() {
    let mut play = Play::new(false);
    play.at(0, &[1, 3], None);
    assert_eq!(play.at(19, &[1, 3], None), []);
    assert_eq!(
        play.at(20, &[1, 3], None)[0],
        Order::Enter(Stage::Terminate)
    );
}

#[test]
fn who_is_started_after_the_signal_is_sent_it_as_well_and_nobody_twice() {
    let mut play = Play::new(false);
    play.addressees = vec![key(2)];
    let first = [Order::Enter(Stage::Signal), send(2, StopSignal::TERM)];
    assert_eq!(play.at(0, &[1, 2], None), first);
    assert_eq!(play.at(1, &[1, 2], None), []);
    // A shell goes on with its next line.
    play.addressees = vec![key(3)];
    assert_eq!(play.at(2, &[1, 3], None), [send(3, StopSignal::TERM)]);
    assert_eq!(play.at(3, &[1, 3], None), []);
}

#[test]
fn when_all_who_were_told_are_gone_the_others_have_not_the_whole_time() {
    let mut play = Play::new(false);
    play.addressees = vec![key(2)];
    play.at(0, &ALL, None);
    play.addressees = vec![key(1)];
    assert_eq!(play.at(1, &[1, 3], None), []);
    assert_eq!(
        play.at(11, &[1, 3], None)[0],
        Order::Enter(Stage::Terminate)
    );
}

#[test]
fn who_is_in_a_hurry_goes_to_the_next_stage() {
    let mut play = Play::new(true);
    play.at(0, &ALL, None);
    play.stop.hurry(play.begin);
    assert_eq!(play.at(0, &ALL, None)[0], Order::Enter(Stage::Signal));
    play.stop.hurry(play.begin);
    assert_eq!(play.at(0, &ALL, None)[0], Order::Enter(Stage::Terminate));
}

#[test]
fn the_time_is_given_anew_once() {
    let mut play = Play::new(true);
    play.at(0, &ALL, None);
    play.at(15, &ALL, Some(Answer::Stopping));
    play.at(30, &ALL, Some(Answer::Stopping));
    assert_eq!(play.at(35, &ALL, None)[0], Order::Enter(Stage::Signal));
}
