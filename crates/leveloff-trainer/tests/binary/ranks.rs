//! Several ranks train in step, stop together, and cannot do without each other.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::fd::OwnedFd;
use std::process::{Child, Stdio};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use serde_json::Value;

use crate::trainer::{Home, Running, losses, stderr};

/// Processes that are to end get this long; they take a few milliseconds.
const PATIENCE: Timespec = Timespec {
    tv_sec: 20,
    tv_nsec: 0,
};

#[test]
fn ranks_train_what_one_trains_and_the_first_tells() {
    let home = Home::new();
    let alone = losses(&home.json_lines("--steps 4"));
    let lines = home.json_lines("--steps 4 --ranks 2 --checkpoint-dir CKPT");
    assert_eq!(losses(&lines), alone);
    for rank in ["rank-0", "rank-1"] {
        let saved = home.path(&format!("ckpt/{rank}/step-00000004.safetensors"));
        assert!(saved.exists(), "{rank}");
    }
}

/// Starts two ranks without end, asks one process to stop, and sees that all did so at the same step
/// and go on from there.
fn check(ask: impl Fn(&Home, &Running, &[RankProcess])) {
    let home = Home::new();
    let mut running = home.start("--steps 1000000 --ranks 2 --checkpoint-dir CKPT");
    running.wait_for_step(3);
    let ranks = ranks_of(running.pid());
    assert_eq!(ranks.iter().map(|it| it.rank).collect::<Vec<_>>(), [0, 1]);
    ask(&home, &running, &ranks);
    let (status, lines) = running.end();
    assert_eq!(status.code(), Some(0), "{status}");
    let step = lines.last().expect("a line")["step"]
        .as_u64()
        .expect("a step");
    for rank in &ranks {
        let (events, last) = events_of(&home.marks(rank.pid));
        assert!(
            events.ends_with(&["stopping", "checkpoint", "stopped"].map(String::from)),
            "{events:?}"
        );
        assert_eq!(last["step"], step, "rank {}", rank.rank);
        let own = format!("/ckpt/rank-{}/step-{step:08}.safetensors", rank.rank);
        let path = last["path"].as_str().expect("a path");
        assert!(path.ends_with(&own), "{path}");
        assert!(!home.path(&format!("marks/{}.stop", rank.pid)).exists());
    }
    let steps = step + 2;
    let more = home.json_lines(&format!(
        "--steps {steps} --ranks 2 --checkpoint-dir CKPT --resume"
    ));
    assert_eq!(
        (&more[0]["event"], &more[0]["step"]),
        (&"resumed".into(), &step.into())
    );
    assert_eq!(losses(&more).len(), 2);
}

#[test]
fn a_request_to_any_rank_stops_all() {
    check(|home, _, ranks| {
        let request = home.path(&format!("marks/{}.stop", ranks[1].pid));
        fs::write(request, "").expect("written");
    });
}

#[test]
fn a_signal_to_any_rank_stops_all() {
    check(|_, _, ranks| ranks[1].send(Signal::TERM));
}

#[test]
fn a_signal_to_the_launcher_stops_all() {
    check(|_, running, _| running.send(Signal::TERM));
}

#[test]
fn a_rank_whose_mate_is_gone_waits_until_the_launcher_is_killed() {
    let home = Home::new();
    let mut launcher = home
        .command("--steps 1000000 --ranks 2 --format json")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut lines = BufReader::new(launcher.stdout.take().expect("piped")).lines();
    lines.next().expect("a step").expect("a line");
    let ranks = ranks_of(launcher.id());
    ranks[1].send(Signal::KILL);
    let said = first_line_of_stderr(&mut launcher);
    assert!(
        said.contains("rank 1") && said.contains("SIGKILL"),
        "{said}"
    );
    // The launcher misses a rank only when those before it have come, and so rank 0 waits by now.
    ranks[0].send(Signal::TERM);
    while state_of(ranks[0].pid) != 'S' {
        std::thread::yield_now();
    }
    assert!(!ranks[0].has_ended(None), "it waits for its mate");
    launcher.kill().expect("killed");
    launcher.wait().expect("its end");
    assert!(
        ranks[0].has_ended(Some(&PATIENCE)),
        "it outlives its launcher"
    );
}

#[test]
fn ranks_that_were_saved_at_different_steps_go_back_together() {
    let home = Home::new();
    home.json_lines("--steps 6 --checkpoint-every 3 --ranks 2 --checkpoint-dir CKPT");
    fs::remove_file(home.path("ckpt/rank-1/step-00000006.safetensors")).expect("removed");
    let lines = home.json_lines("--steps 8 --ranks 2 --checkpoint-dir CKPT --resume");
    assert_eq!(lines[0]["step"], 3);
    assert_eq!(losses(&lines).len(), 5);
}

#[test]
fn what_all_ranks_fail_of_ends_the_launcher() {
    let home = Home::new();
    let output = home.run("--ranks 2 --checkpoint-dir CKPT --resume");
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("no checkpoint to resume from"));
    let wrong = home.run("--ranks 2 --pattern healthy --rate 1MiB");
    assert_eq!(
        stderr(&wrong).lines().count(),
        1,
        "said once, before there are ranks"
    );
    let lost = home
        .command("--steps 1")
        .env("LEVELOFF_TRAINER_RANK", "nonsense")
        .output()
        .expect("it runs");
    assert!(stderr(&lost).contains("unset it"));
}

/// One rank, held so that its number cannot become another's.
struct RankProcess {
    rank: u32,
    pid: u32,
    handle: OwnedFd,
}

impl RankProcess {
    fn send(&self, signal: Signal) {
        pidfd_send_signal(&self.handle, signal).expect("sent");
    }

    fn has_ended(&self, within: Option<&Timespec>) -> bool {
        let mut ended = [PollFd::new(&self.handle, PollFlags::IN)];
        let now = Timespec::default();
        poll(&mut ended, Some(within.unwrap_or(&now))).expect("polled") > 0
    }
}

/// The ranks that a launcher started, by what their environment says.
fn ranks_of(launcher: u32) -> Vec<RankProcess> {
    let children = fs::read_to_string(format!("/proc/{launcher}/task/{launcher}/children"));
    let children = children.expect("readable");
    let mut ranks: Vec<RankProcess> = children
        .split_whitespace()
        .map(|pid| rank_process(pid.parse().expect("a pid")))
        .collect();
    ranks.sort_by_key(|rank| rank.rank);
    ranks
}

fn rank_process(pid: u32) -> RankProcess {
    let environment = fs::read_to_string(format!("/proc/{pid}/environ")).expect("readable");
    let variable = |name: &str| {
        let mut all = environment.split('\0');
        all.find_map(|one| one.strip_prefix(name)?.strip_prefix('='))
    };
    assert_eq!(variable("WORLD_SIZE"), Some("2"));
    let rank = variable("RANK").and_then(|rank| rank.parse().ok());
    let raw = Pid::from_raw(pid as i32).expect("a pid");
    RankProcess {
        rank: rank.expect("a rank"),
        pid,
        handle: pidfd_open(raw, PidfdFlags::empty()).expect("it lives"),
    }
}

fn events_of(marks: &[Value]) -> (Vec<String>, Value) {
    let events = marks.iter().filter_map(|mark| mark["event"].as_str());
    (
        events.map(str::to_owned).collect(),
        marks.last().expect("a mark").clone(),
    )
}

fn first_line_of_stderr(child: &mut Child) -> String {
    let mut line = String::new();
    let stderr = child.stderr.as_mut().expect("piped");
    BufReader::new(stderr).read_line(&mut line).expect("a line");
    line
}

/// Whether it runs or sleeps, as /proc calls it.
fn state_of(pid: u32) -> char {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).expect("readable");
    let (_, behind) = stat.rsplit_once(") ").expect("a name");
    behind.chars().next().expect("a state")
}
