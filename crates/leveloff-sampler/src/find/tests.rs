use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use super::*;

fn saved(case: &str) -> ProcRoot {
    ProcRoot::at(fixture(case))
}

fn fixture(case: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fixtures/proc")
        .join(case)
}

fn find_in(case: &str, options: &FindOptions) -> Vec<Run> {
    find(&saved(case), options).unwrap().runs
}

fn count(run: &Run, role: Role) -> usize {
    run.members
        .iter()
        .filter(|member| member.assignment.role == role)
        .count()
}

/// A copy of a saved tree that a test may damage.
struct Copy(tempfile::TempDir);

impl Copy {
    fn of(cases: &[&str]) -> Copy {
        let directory = tempfile::tempdir().unwrap();
        for case in cases {
            let status = Command::new("cp")
                .arg("-a")
                .arg(fixture(case).join("."))
                .arg(directory.path())
                .status();
            assert!(status.unwrap().success());
        }
        Copy(directory)
    }

    fn root(&self) -> ProcRoot {
        ProcRoot::at(self.0.path())
    }

    fn edit(&self, pid: Pid, name: &str, edit: impl Fn(&str) -> String) {
        let path = self.root().process(pid).join(name);
        let text = String::from_utf8(std::fs::read(&path).unwrap()).unwrap();
        std::fs::write(path, edit(&text)).unwrap();
    }
}

#[test]
fn one_run_with_all_that_belongs_to_it() {
    let runs = find_in("compile", &FindOptions::default());
    let [run] = &runs[..] else { panic!("{runs:?}") };
    assert_eq!(
        (
            count(run, Role::Trainer),
            count(run, Role::CompilePool),
            count(run, Role::CompileWorker)
        ),
        (1, 1, 4)
    );
    let trainer = run.trainers()[0];
    assert_eq!(run.root, trainer.facts.pid());
    assert!(
        run.why.contains("libtorch_python.so")
            && run.why.contains("owns the compile pool (--parent="),
        "{}",
        run.why
    );
    assert!(
        run.members
            .iter()
            .all(|member| member.trainer == Some(run.root))
    );
}

#[test]
fn shared_pages_are_counted_once() {
    let runs = find_in("compile", &FindOptions::default());
    let memory: Bytes = runs[0]
        .members
        .iter()
        .map(|member| member.memory.memory.unwrap())
        .sum();
    assert!(
        memory.0 * 2 < runs[0].rss().0,
        "{memory} of {}",
        runs[0].rss()
    );
    assert!(
        runs[0]
            .members
            .iter()
            .all(|member| !member.memory.is_estimate && member.memory.pss.is_some())
    );
}

#[test]
fn the_ranks_of_a_launcher_are_one_run() {
    let runs = find_in("torchrun", &FindOptions::default());
    let [run] = &runs[..] else { panic!("{runs:?}") };
    let ranks: Vec<u32> = run
        .trainers()
        .iter()
        .map(|trainer| trainer.assignment.rank.unwrap().0)
        .collect();
    assert_eq!(ranks, [0, 1]);
    let root = run
        .members
        .iter()
        .find(|member| member.facts.pid() == run.root)
        .unwrap();
    assert_eq!(root.assignment.role, Role::Launcher);
    assert!(run.why.contains("2 trainers of one job"), "{}", run.why);
}

#[test]
fn a_program_that_spawns_its_ranks_is_one_run_with_them() {
    let runs = find_in("spawned-ranks", &FindOptions::default());
    let [run] = &runs[..] else { panic!("{runs:?}") };
    let counts = [Role::Launcher, Role::Trainer, Role::Helper].map(|role| count(run, role));
    assert_eq!(counts, [1, 2, 1]);
}

#[test]
fn ranks_whose_launcher_is_gone_still_meet_at_their_port() {
    let tree = Copy::of(&["torchrun"]);
    let launcher = find(&tree.root(), &FindOptions::default()).unwrap().runs[0].root;
    std::fs::remove_dir_all(tree.root().process(launcher)).unwrap();
    let runs = find(&tree.root(), &FindOptions::default()).unwrap().runs;
    let [run] = &runs[..] else { panic!("{runs:?}") };
    assert_eq!(
        (
            count(run, Role::Trainer),
            count(run, Role::DataloaderWorker)
        ),
        (2, 4)
    );
    assert!(
        run.job.as_ref().unwrap().starts_with("MASTER="),
        "{:?}",
        run.job
    );
}

#[test]
fn two_runs_stay_two() {
    let tree = Copy::of(&["compile", "loader-fork"]);
    let found = find(&tree.root(), &FindOptions::default()).unwrap();
    assert_eq!(found.runs.len(), 2);
    assert!(found.runs[0].rss() >= found.runs[1].rss());
    assert_eq!(
        found
            .runs
            .iter()
            .map(|run| run.members.len())
            .sum::<usize>(),
        found.looked_at
    );
}

#[test]
fn an_orphaned_compile_worker_still_belongs() {
    let tree = Copy::of(&["compile"]);
    let before = find(&tree.root(), &FindOptions::default())
        .unwrap()
        .runs
        .remove(0);
    let pool = before
        .members
        .iter()
        .find(|member| member.assignment.role == Role::CompilePool)
        .unwrap()
        .facts
        .pid();
    std::fs::remove_dir_all(tree.root().process(pool)).unwrap();
    let after = find(&tree.root(), &FindOptions::default())
        .unwrap()
        .runs
        .remove(0);
    assert_eq!(count(&after, Role::CompileWorker), 4, "{after:?}");
    assert_eq!(after.members.len(), before.members.len() - 1);
}

#[test]
fn a_workers_number_finds_the_run_it_is_in() {
    let all = find_in("loader-forkserver", &FindOptions::default()).remove(0);
    let worker = all
        .members
        .iter()
        .find(|member| member.assignment.role == Role::DataloaderWorker)
        .unwrap();
    let pid = Some(worker.facts.pid());
    let run = find_in(
        "loader-forkserver",
        &FindOptions {
            pid,
            ..FindOptions::default()
        },
    )
    .remove(0);
    assert_eq!((run.root, run.members.len()), (all.root, all.members.len()));
    assert!(
        run.why
            .contains(&format!("{} is its dataloader-worker", worker.facts.pid())),
        "{}",
        run.why
    );
}

#[test]
fn an_unused_pid_is_named_in_the_error() {
    let options = FindOptions {
        pid: Some(Pid(999_999_999)),
        ..FindOptions::default()
    };
    let error = find(&saved("plain"), &options).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::NotFound);
    assert!(
        error.to_string().contains("999999999") && error.to_string().contains("leveloff find"),
        "{error}"
    );
}

#[test]
fn leveloff_is_never_a_run() {
    let tree = Copy::of(&["plain"]);
    let pid = find(&tree.root(), &FindOptions::default()).unwrap().runs[0].root;
    for name in ["leveloff", "output-relay"] {
        tree.edit(pid, "stat", |stat| {
            format!("{} ({name}){}", pid, &stat[stat.rfind(')').unwrap() + 1..])
        });
        assert!(
            find(&tree.root(), &FindOptions::default())
                .unwrap()
                .runs
                .is_empty(),
            "{name}"
        );
    }
}

#[test]
fn what_may_not_be_looked_into_is_counted() {
    let tree = Copy::of(&["plain"]);
    let pid = find(&tree.root(), &FindOptions::default()).unwrap().runs[0].root;
    std::fs::remove_file(tree.root().process(pid).join("maps")).unwrap();
    let found = find(&tree.root(), &FindOptions::default()).unwrap();
    assert_eq!((found.runs.len(), found.looked_at, found.hidden), (0, 1, 1));
}

#[test]
fn a_large_process_is_estimated_unless_exact() {
    let tree = Copy::of(&["plain"]);
    let pid = find(&tree.root(), &FindOptions::default()).unwrap().runs[0].root;
    tree.edit(pid, "status", |status| {
        let grown = |line: &str| {
            if line.starts_with("RssAnon:") {
                "RssAnon:\t 9000000 kB".to_owned()
            } else {
                line.to_owned()
            }
        };
        status.lines().map(|line| grown(line) + "\n").collect()
    });
    for (exact, is_estimate) in [(false, true), (true, false)] {
        let options = FindOptions {
            exact,
            ..FindOptions::default()
        };
        let memory = find(&tree.root(), &options).unwrap().runs[0].members[0].memory;
        assert_eq!(
            (memory.is_estimate, memory.pss.is_none()),
            (is_estimate, is_estimate)
        );
    }
}

/// A shell with one child, both of which wait for their stdin; the command line holds `mark`.
struct PlainJob(Child);

impl PlainJob {
    fn start(mark: &str) -> PlainJob {
        // Two commands, so that the shell does not simply become the second one.
        let script = format!("echo up; cat; : {mark}");
        let mut child = Command::new("sh")
            .args(["-c", &script])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let mut stdout = child.stdout.take().unwrap();
        stdin.write_all(b"and cat\n").unwrap();
        let mut said = [0; 11];
        std::io::Read::read_exact(&mut stdout, &mut said).unwrap();
        assert_eq!(&said, b"up\nand cat\n");
        (child.stdin, child.stdout) = (Some(stdin), Some(stdout));
        PlainJob(child)
    }

    fn pid(&self) -> Pid {
        Pid(self.0.id() as i32)
    }
}

impl Drop for PlainJob {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

#[test]
fn a_real_command_without_a_framework_is_found_by_pid_and_by_match() {
    let mark = format!("marked-{}", std::process::id());
    let job = PlainJob::start(&mark);
    let by_pid = FindOptions {
        pid: Some(job.pid()),
        ..FindOptions::default()
    };
    let by_match = FindOptions {
        pattern: Some(Regex::new(&mark).unwrap()),
        ..FindOptions::default()
    };
    for options in [by_pid, by_match] {
        let runs = find(&ProcRoot::live(), &options).unwrap().runs;
        let [run] = &runs[..] else { panic!("{runs:?}") };
        assert_eq!(run.root, job.pid(), "{run:#?}");
        let roles: Vec<(Role, &[u8])> = run
            .members
            .iter()
            .map(|member| (member.assignment.role, member.facts.program()))
            .collect();
        assert_eq!(
            roles,
            [(Role::Launcher, &b"sh"[..]), (Role::Trainer, b"cat")]
        );
        assert!(run.why.contains("largest"), "{}", run.why);
    }
}

#[test]
fn a_pattern_finds_the_run_that_its_match_is_in() {
    let options = |pattern| FindOptions {
        pattern: Some(Regex::new(pattern).unwrap()),
        ..FindOptions::default()
    };
    let runs = find_in("loader-spawn", &options("resource_tracker"));
    let [run] = &runs[..] else { panic!("{runs:?}") };
    assert_eq!(
        (
            count(run, Role::Trainer),
            count(run, Role::DataloaderWorker)
        ),
        (1, 4)
    );
    assert!(find_in("loader-spawn", &options("no such thing")).is_empty());
}
