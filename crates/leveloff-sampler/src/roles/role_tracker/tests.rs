//! Saved trees that change while they are watched.

use std::path::Path;

use leveloff_model::process::StartTicks;

use super::*;
use crate::proc_root::key_of;

mod shim;

/// A run under watch, in a copy of a saved tree that a test may change.
struct WatchedTree {
    directory: tempfile::TempDir,
    tracker: RoleTracker,
    now: Seconds,
}

impl WatchedTree {
    fn of(case: &str) -> WatchedTree {
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/proc");
        let directory = tempfile::tempdir().unwrap();
        let copied = std::process::Command::new("cp")
            .arg("-a")
            .arg(fixtures.join(case).join("."))
            .arg(directory.path())
            .status();
        assert!(copied.unwrap().success());
        let mut run = WatchedTree {
            directory,
            tracker: RoleTracker::default(),
            now: Seconds(0.0),
        };
        for pid in run.proc_root().pids().unwrap() {
            let key = key_of(&run.proc_root(), pid).unwrap();
            run.tracker.add(index(pid), key, run.now);
        }
        run
    }

    fn proc_root(&self) -> ProcRoot {
        ProcRoot::at(self.directory.path())
    }

    /// Advances the clock; returns the role of each process with a change.
    fn after(&mut self, seconds: f64) -> Vec<(Pid, Role)> {
        self.now = Seconds(self.now.0 + seconds);
        let news = self
            .tracker
            .update(&self.proc_root(), self.now, runs(self.now));
        news.iter()
            .map(|part| (part.info.key.pid, part.info.role))
            .collect()
    }

    fn edit(&mut self, pid: Pid, name: &str, from: &str, to: &str) {
        let path = self.proc_root().process(pid).join(name);
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{text}");
        std::fs::write(path, text.replacen(from, to, 1)).unwrap();
    }

    fn end(&mut self, pid: Pid) {
        std::fs::remove_dir_all(self.proc_root().process(pid)).unwrap();
        assert!(self.tracker.remove(index(pid)));
    }

    fn roles(&self) -> Vec<(Pid, Role)> {
        self.tracker
            .infos()
            .map(|info| (info.key.pid, info.role))
            .collect()
    }
}

fn index(pid: Pid) -> ProcessIndex {
    ProcessIndex(u32::try_from(pid.0).unwrap())
}

const TRAINER: Pid = Pid(19968);
const COMPILE_WORKER: Pid = Pid(19993);
const LOADER: Pid = Pid(20010);

#[test]
fn orphans_keep_their_role() {
    let mut run = WatchedTree::of("both-fork");
    run.after(0.0);
    let workers = |run: &WatchedTree| -> Vec<(Pid, Role)> {
        let mut roles = run.roles();
        roles.retain(|&(pid, _)| pid != TRAINER);
        roles
    };
    let before = workers(&run);
    assert!(before.contains(&(LOADER, Role::DataloaderWorker)));
    assert!(before.contains(&(COMPILE_WORKER, Role::CompileWorker)));

    run.end(TRAINER);
    for (pid, _) in before.clone() {
        run.edit(pid, "stat", ") S 19968 ", ") S 1 ");
        run.tracker.examine_again(index(pid));
    }
    run.after(1.0);
    assert_eq!(workers(&run), before);
    let adopted = run.tracker.info(index(LOADER)).unwrap();
    assert_eq!(adopted.parent, Pid(1), "its new parent is reported");
}

#[test]
fn zombies_keep_their_role() {
    let mut run = WatchedTree::of("both-fork");
    run.after(0.0);
    run.edit(LOADER, "stat", ") S ", ") Z ");
    std::fs::write(run.proc_root().process(LOADER).join("cmdline"), "").unwrap();
    run.tracker.examine_again(index(LOADER));
    assert_eq!(run.after(1.0), []);
    assert!(run.roles().contains(&(LOADER, Role::DataloaderWorker)));
}

#[test]
fn a_launcher_stays_one_when_its_trainers_have_gone_unless_it_works() {
    let mut run = WatchedTree::of("spawned-ranks");
    run.after(0.0);
    let roles = run.roles();
    let (launcher, _) = *roles
        .iter()
        .find(|(_, role)| *role == Role::Launcher)
        .unwrap();
    let trainers = roles.iter().filter(|(_, role)| *role == Role::Trainer);
    for &(pid, _) in trainers {
        run.end(pid);
    }
    run.after(2.0);
    assert!(run.roles().contains(&(launcher, Role::Launcher)));

    let used = facts::read(&run.proc_root(), launcher).unwrap().cpu_ticks;
    let stat = std::fs::read_to_string(run.proc_root().process(launcher).join("stat")).unwrap();
    let user = stat.split(' ').nth(13).unwrap().to_owned();
    let worked = format!(" {} ", user.parse::<u64>().unwrap() + used + 1000);
    run.edit(launcher, "stat", &format!(" {user} "), &worked);
    run.after(60.0);
    assert!(run.roles().contains(&(launcher, Role::Trainer)));
}

#[test]
fn gone_parents_are_forgotten_with_their_last_child() {
    let mut run = WatchedTree::of("both-fork");
    run.after(0.0);
    for (pid, _) in run.roles() {
        run.end(pid);
    }
    run.tracker.add(
        ProcessIndex(1),
        ProcessKey {
            pid: Pid(1),
            start: StartTicks(1),
        },
        run.now,
    );
    run.tracker.assign();
    assert_eq!(run.tracker.exited_parents.facts().count(), 0);
}

#[test]
fn one_that_has_not_shown_what_it_is_is_looked_at_more_often() {
    let mut run = WatchedTree::of("both-fork");
    // As it is right after the fork: no name, no handlers of its own.
    let handlers = "SigCgt:\t0000000100010000";
    let status = std::fs::read_to_string(run.proc_root().process(LOADER).join("status")).unwrap();
    let own = status
        .lines()
        .find(|line| line.starts_with("SigCgt:"))
        .unwrap()
        .to_owned();
    run.edit(LOADER, "status", &own, handlers);
    assert!(run.after(0.0).contains(&(LOADER, Role::Other)));
    for _ in 0..20 {
        run.after(1.0);
    }
    run.edit(LOADER, "status", handlers, &own);
    let mut waited = 0;
    while !run.roles().contains(&(LOADER, Role::DataloaderWorker)) {
        run.after(1.0);
        waited += 1;
        assert!(waited <= 7, "a third of its age is enough");
    }
}

/// CPU time of processes that run all the time.
fn runs(now: Seconds) -> impl Fn(ProcessIndex) -> CpuMillis {
    move |_| CpuMillis((1000.0 * now.0) as u64)
}
