use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

use super::*;

/// A real `cat`, gone when this is dropped.
struct Waiting(Child);

impl Waiting {
    /// Returns once it has echoed: between `exec` and that moment a process has no arguments.
    fn start(command: &mut Command) -> Waiting {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.as_mut().unwrap().write_all(b"up\n").unwrap();
        let mut echo = [0; 3];
        child
            .stdout
            .as_mut()
            .unwrap()
            .read_exact(&mut echo)
            .unwrap();
        Waiting(child)
    }

    fn pid(&self) -> Pid {
        Pid(self.0.id() as i32)
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let _ = (self.0.kill(), self.0.wait());
    }
}

fn read_full(pid: Pid) -> ProcessFacts {
    read(&ProcRoot::live(), pid).unwrap()
}

#[test]
fn a_real_child_is_read_with_its_rank_and_without_its_secrets() {
    let child = Waiting::start(
        Command::new("/bin/cat")
            .arg0("cat with a space")
            .arg("-")
            .env("RANK", "5")
            .env("SECRET_TOKEN", "hush"),
    );
    let facts = read_full(child.pid());
    assert_eq!(facts.pid(), child.pid());
    assert_eq!(facts.parent, Pid(std::process::id() as i32));
    assert_eq!(facts.command, [&b"cat with a space"[..], b"-"]);
    assert_eq!(facts.environment.as_ref().unwrap().any_rank().unwrap().0, 5);
    assert_eq!(facts.libraries, Some(Libraries::default()));
    assert_eq!(facts.gpu, Some(GpuDevices::default()));
    assert!(facts.rss().unwrap() > Bytes(0) && facts.age.is_some() && facts.stack_start.is_some());
    assert_eq!(facts.notes, [""; 0]);
    assert!(!format!("{facts:?}").contains("hush"));
}

#[test]
fn a_process_that_is_gone_is_an_error() {
    let mut child = Waiting::start(&mut Command::new("/bin/cat"));
    let pid = child.pid();
    let _ = (child.0.kill(), child.0.wait());
    let error = read(&ProcRoot::live(), pid).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::NotFound);
}

#[test]
fn a_zombie_has_a_name_and_no_memory() {
    let mut child = Waiting::start(&mut Command::new("/bin/cat"));
    child.0.kill().unwrap();
    // Dead but not waited for: the wait below is for its death only, and leaves the zombie.
    let pid = rustix::process::Pid::from_child(&child.0);
    let options = rustix::process::WaitIdOptions::EXITED | rustix::process::WaitIdOptions::NOWAIT;
    rustix::process::waitid(rustix::process::WaitId::Pid(pid), options).unwrap();
    let facts = read_full(child.pid());
    assert_eq!((facts.state, facts.memory), (ProcessState::Zombie, None));
    assert_eq!(facts.comm, b"cat");
    assert!(facts.command.is_empty());
}

#[test]
fn forbidden_files_are_unknown_and_noted() {
    let root = tempfile::tempdir().unwrap();
    let directory = root.path().join("42");
    std::fs::create_dir(&directory).unwrap();
    for name in ["stat", "status", "cmdline"] {
        std::fs::copy(format!("/proc/self/{name}"), directory.join(name)).unwrap();
    }
    // A directory in its place: unreadable as a file, even for root, who may read anything else.
    std::fs::create_dir(directory.join("maps")).unwrap();
    let facts = read(&ProcRoot::at(root.path()), Pid(42)).unwrap();
    assert_eq!(
        (&facts.libraries, &facts.environment, &facts.gpu),
        (&None, &None, &None)
    );
    assert!(
        facts.notes.iter().any(|note| note.starts_with("maps: ")),
        "{:?}",
        facts.notes
    );
    assert_eq!(facts.framework(), None);
}

#[test]
fn another_users_process_is_read_as_far_as_it_may_be() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("NOT TESTED: needs root to become another user");
        return;
    }
    // Process 1 is root's; read it as the user nobody, in a child of this test program.
    let test = "facts::tests::reads_process_1_as_the_current_user";
    let output = Command::new(std::env::current_exe().unwrap())
        .args([test, "--exact", "--ignored", "--nocapture"])
        .uid(65_534)
        .gid(65_534)
        .current_dir("/")
        .output();
    match output {
        Ok(output) => {
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(text.contains("maps: Permission denied"), "{output:?}");
        }
        Err(error) => {
            eprintln!("NOT TESTED: the user nobody may not run the test program: {error}");
        }
    }
}

#[test]
#[ignore = "run by the test above, as another user"]
fn reads_process_1_as_the_current_user() {
    let facts = read_full(Pid(1));
    assert!(facts.libraries.is_none() && facts.environment.is_none() && facts.gpu.is_none());
    println!("{:?}", facts.notes);
}

#[test]
fn a_title_padded_with_blanks_is_one_argument() {
    assert_eq!(arguments(b"my run (seed 7)   \0\0\0"), [b"my run (seed 7)"]);
    assert_eq!(arguments(b"a\0\0b\0"), [&b"a"[..], b"", b"b"]);
    assert!(arguments(b"").is_empty() && arguments(b"  \0").is_empty());
}
