//! A real child in a real group of this machine.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};

use super::*;

const ALLOCATION: u64 = 96 * MIB;
const LIMIT: u64 = 400 * MIB;
const CHILD_TEST: &str = "system::cgroup::tests::live::a_child_that_allocates_on_request";
const CHILD_SWITCH: &str = "LEVELOFF_TEST_ALLOCATES";

#[test]
fn a_real_child_is_followed_into_a_real_group() {
    let mut child = AllocatingChild::start();
    let mut reader = CgroupReader::new(&ProcRoot::live(), "/", child.pid());
    let Some(before) = reader.read(true) else {
        leveloff_testkit::cannot_run_here(&format!("{:?}", texts(&mut reader)));
        return;
    };
    println!("this machine: {before:?}");
    let Some(group) = TestGroup::of_our_own(&reader, before.version) else {
        leveloff_testkit::cannot_run_here("not permitted to make a control group");
        return;
    };
    fs::write(group.0.join("cgroup.procs"), child.pid().to_string()).unwrap();
    fs::write(group.limit_file(before.version), LIMIT.to_string()).unwrap();
    assert_eq!(reader.read(false).unwrap().path, before.path);

    let moved = reader.read(true).unwrap();
    assert!(moved.path.ends_with(group.name()), "{}", moved.path);
    assert_eq!(moved.limit, Some(Bytes(LIMIT)));

    child.allocate();
    let fast = reader.read(false).unwrap().current.unwrap();
    assert!(
        fast.0 >= ALLOCATION,
        "{fast} charged, {ALLOCATION} allocated"
    );
    let full = reader.read(true).unwrap();
    let anon = full.anon.unwrap();
    assert!(
        (ALLOCATION..ALLOCATION + 16 * MIB).contains(&(anon.0 + 4 * MIB)),
        "{anon} anonymous, {ALLOCATION} allocated"
    );
    let ceiling = reader.ceiling().unwrap();
    assert_eq!(ceiling.limit, Bytes(LIMIT));
    assert!(
        (ALLOCATION..LIMIT / 2).contains(&ceiling.used.0),
        "{ceiling:?}"
    );
    assert_eq!((full.limit_hits, full.oom_kills), (Some(0), Some(0)));
    println!("followed: {full:?}, {ceiling:?}");

    // The group outlives the process; then it is removed under the reader's hands.
    drop(child);
    assert!(reader.read(true).unwrap().current.unwrap().0 < ALLOCATION);
    drop(group);
    assert_eq!(reader.read(false).unwrap().current, None);
    assert_ne!(texts(&mut reader), Vec::<String>::new());
}

/// Not a test of its own: the test above starts this program again with only this one.
#[test]
#[ignore = "is the child of a_real_child_is_followed_into_a_real_group"]
fn a_child_that_allocates_on_request() {
    if std::env::var_os(CHILD_SWITCH).is_none() {
        return;
    }
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).unwrap();
    let memory = vec![7u8; ALLOCATION as usize];
    println!("allocated {}", std::hint::black_box(&memory).len());
    std::io::stdin().read_line(&mut line).unwrap();
}

struct AllocatingChild(Child);

impl AllocatingChild {
    fn start() -> AllocatingChild {
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", CHILD_TEST, "--ignored", "--nocapture"])
            .env(CHILD_SWITCH, "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        AllocatingChild(child)
    }

    fn pid(&self) -> Pid {
        Pid(self.0.id().try_into().unwrap())
    }

    fn allocate(&mut self) {
        self.0.stdin.as_mut().unwrap().write_all(b"go\n").unwrap();
        let has_allocated = BufReader::new(self.0.stdout.as_mut().unwrap())
            .lines()
            .any(|line| line.unwrap().contains("allocated"));
        assert!(has_allocated, "the child ended before it allocated");
    }
}

impl Drop for AllocatingChild {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

struct TestGroup(PathBuf);

impl TestGroup {
    /// A group of our own, as far up as we may make one: the less it has to do with the group
    /// that the tests themselves run in, the better.
    fn of_our_own(reader: &CgroupReader, version: u8) -> Option<TestGroup> {
        let name = format!("leveloff-test-{}", std::process::id());
        let levels = &reader.group.as_ref()?.levels;
        levels.iter().rev().find_map(|level| {
            let path = level.directory().join(&name);
            fs::create_dir(&path).ok()?;
            let group = TestGroup(path);
            // In version 2 a new group has the controller only if its parent hands it down.
            let limit = fs::OpenOptions::new()
                .write(true)
                .open(group.limit_file(version));
            limit.is_ok().then_some(group)
        })
    }

    fn limit_file(&self, version: u8) -> PathBuf {
        self.0.join(match version {
            1 => "memory.limit_in_bytes",
            _ => "memory.max",
        })
    }

    fn name(&self) -> &str {
        self.0.file_name().unwrap().to_str().unwrap()
    }
}

impl Drop for TestGroup {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir(&self.0) {
            println!("LEFT BEHIND: {}: {error}", self.0.display());
        }
    }
}
