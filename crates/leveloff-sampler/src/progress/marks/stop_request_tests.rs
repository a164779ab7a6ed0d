use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use leveloff_model::process::StartTicks;

use super::*;

/// The user `nobody` of every distribution.
const OTHER_USER: u32 = 65_534;

/// A training (this very process) with a trusted marks directory.
struct Scene {
    dir: tempfile::TempDir,
    request: StopRequest,
}

impl Scene {
    fn new() -> Scene {
        let dir = tempfile::tempdir().unwrap();
        let marks = dir.path().join("leveloff-1");
        fs::create_dir(&marks).unwrap();
        set_mode(&marks, 0o700);
        let pid = Pid(std::process::id() as i32);
        let target = MarksTarget::read(&ProcRoot::live(), pid).unwrap();
        let owners = Owners {
            target: target.uid,
            ours: target.uid,
        };
        let location = MarksLocation {
            root: PathBuf::from("/"),
            file: marks.join(format!("{pid}.jsonl")),
            is_stated: false,
        };
        let request = StopRequest {
            is_obeyed: true,
            proc_root: ProcRoot::live(),
            target,
            owners,
            location,
        };
        Scene { dir, request }
    }

    fn marks(&self) -> PathBuf {
        self.dir.path().join("leveloff-1")
    }

    fn file(&self) -> PathBuf {
        self.request.path()
    }

    fn refusal(&self) -> String {
        self.request.send("why").unwrap_err().to_string()
    }

    fn is_sent(&self) -> bool {
        self.request.send("why").unwrap().withdraw().unwrap()
    }
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

/// Gives a file to another user; returns false, with a message, where that is not allowed.
fn give_away(path: &Path) -> bool {
    let given = std::os::unix::fs::chown(path, Some(OTHER_USER), None).is_ok();
    if !given {
        leveloff_testkit::cannot_run_here("only root can give files to another user");
    }
    given
}

#[test]
fn a_request_is_ours_alone_and_says_why() {
    let scene = Scene::new();
    assert!(scene.request.is_obeyed());
    let sent = scene.request.send("28 of 32 \"GB\" used\u{1b}[2J").unwrap();
    assert!(sent.is_ours() && sent.is_waiting());
    assert_eq!(sent.path(), scene.file());
    let text = fs::read_to_string(scene.file()).unwrap();
    assert_eq!(text, "{\"reason\":\"28 of 32 \\\"GB\\\" used[2J\"}\n");
    let found = fs::metadata(scene.file()).unwrap();
    assert_eq!(found.mode() & 0o777, 0o600);
}

/// The shared fixtures of the protocol: trainings are tested to read these texts.
#[test]
fn a_request_is_written_as_the_fixtures_have_it() {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/marks/stop-requests.json");
    let cases: Vec<serde_json::Value> = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    let written: Vec<_> = cases
        .iter()
        .filter(|case| case["is_written"] == true)
        .collect();
    assert!(!written.is_empty());
    for case in written {
        assert_eq!(content(case["reason"].as_str().unwrap()), case["text"]);
    }
}

#[test]
fn a_long_reason_stays_within_what_trainings_read() {
    for reason in ["\"".repeat(10_000), "ü".repeat(10_000)] {
        let text = content(&reason);
        assert!(text.len() <= LONGEST_REQUEST, "{} bytes", text.len());
        let read: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert!(read["reason"].as_str().unwrap().len() > 2000);
    }
}

#[test]
fn a_request_can_be_taken_back_until_it_is_obeyed() {
    let scene = Scene::new();
    let sent = scene.request.send("why").unwrap();
    assert!(sent.withdraw().unwrap());
    assert!(!scene.file().exists());
    let sent = scene.request.send("why").unwrap();
    fs::remove_file(scene.file()).unwrap();
    assert!(!sent.is_waiting(), "the training took it away");
    fs::write(scene.file(), "someone else's").unwrap();
    assert!(!sent.is_waiting());
    assert!(!sent.withdraw().unwrap());
    assert!(scene.file().exists(), "what is not ours stays");
}

#[test]
fn a_request_that_lies_there_already_is_as_good() {
    let scene = Scene::new();
    fs::write(scene.file(), "theirs").unwrap();
    let sent = scene.request.send("why").unwrap();
    assert!(!sent.is_ours() && sent.is_waiting());
    assert!(!sent.withdraw().unwrap());
    assert_eq!(fs::read_to_string(scene.file()).unwrap(), "theirs");
}

#[test]
fn what_was_planted_is_named_and_not_touched() {
    let scene = Scene::new();
    let elsewhere = scene.dir.path().join("elsewhere");
    symlink(&elsewhere, scene.file()).unwrap();
    let refusal = scene.refusal();
    assert!(
        refusal.contains("a symbolic link is in its place"),
        "{refusal}"
    );
    let name = scene.file().display().to_string();
    assert!(refusal.contains(&name), "{refusal}");
    assert!(!elsewhere.exists(), "the link was not followed");
    assert!(scene.file().is_symlink(), "nor removed");
    fs::write(&elsewhere, "kept").unwrap();
    assert!(scene.refusal().contains("a symbolic link is in its place"));
    assert_eq!(fs::read_to_string(&elsewhere).unwrap(), "kept");
    fs::remove_file(scene.file()).unwrap();
    fs::create_dir(scene.file()).unwrap();
    assert!(scene.refusal().contains("a directory is in its place"));
}

#[test]
fn a_file_of_another_user_is_no_request() {
    let scene = Scene::new();
    fs::write(scene.file(), "").unwrap();
    if give_away(&scene.file()) {
        let refusal = scene.refusal();
        assert!(refusal.contains("a file of user 65534"), "{refusal}");
        assert!(scene.file().exists());
    }
}

#[test]
fn a_hostile_directory_is_not_written_to() {
    let mut scene = Scene::new();
    set_mode(&scene.marks(), 0o777);
    assert!(scene.refusal().contains("chmod 700"));
    scene.request.location.is_stated = true;
    assert!(scene.is_sent());
    scene.request.location.is_stated = false;
    set_mode(&scene.marks(), 0o700);
    let real = scene.dir.path().join("real");
    fs::rename(scene.marks(), &real).unwrap();
    symlink(&real, scene.marks()).unwrap();
    assert!(scene.refusal().contains("its directory is a symbolic link"));
    assert_eq!(fs::read_dir(&real).unwrap().count(), 0);
    fs::remove_file(scene.marks()).unwrap();
    assert!(scene.refusal().contains("No such file"));
    fs::rename(&real, scene.marks()).unwrap();
    if give_away(&scene.marks()) {
        assert!(scene.refusal().contains("its directory belongs to"));
    }
}

/// A training of another user, as root's guard sees it.
fn training_of_another_user() -> Option<Scene> {
    let mut scene = Scene::new();
    scene.request.location.is_stated = true;
    scene.request.target.uid = OTHER_USER;
    scene.request.target.own_uid = OTHER_USER;
    scene.request.owners.target = OTHER_USER;
    give_away(&scene.marks()).then_some(scene)
}

#[test]
fn root_writes_only_to_a_directory_of_the_trainings_user() {
    let Some(scene) = training_of_another_user() else {
        return;
    };
    let sent = scene.request.send("why").unwrap();
    let found = fs::metadata(scene.file()).unwrap();
    assert_eq!((found.uid(), found.mode() & 0o777), (0, 0o644));
    assert!(sent.withdraw().unwrap());
    // The user of the training puts a link to a directory of root in its place.
    let of_root = scene.dir.path().join("of-root");
    fs::create_dir(&of_root).unwrap();
    fs::rename(scene.marks(), scene.dir.path().join("moved")).unwrap();
    symlink(&of_root, scene.marks()).unwrap();
    let refusal = scene.refusal();
    assert!(refusal.contains("belongs to user 0"), "{refusal}");
    assert_eq!(fs::read_dir(&of_root).unwrap().count(), 0);
}

#[test]
fn a_directory_that_may_not_be_written_to_is_refused() {
    let scene = Scene::new();
    if scene.request.owners.ours == 0 {
        leveloff_testkit::cannot_run_here("root may write everywhere");
        return;
    }
    set_mode(&scene.marks(), 0o500);
    assert!(scene.refusal().contains("Permission denied"));
}

#[test]
fn a_request_that_would_not_be_accepted_is_refused() {
    let mut scene = Scene::new();
    scene.request.owners = Owners {
        target: 1000,
        ours: 1001,
    };
    scene.request.target.uid = 1000;
    let refusal = scene.refusal();
    assert!(refusal.contains("user 1000"), "{refusal}");
    assert!(!scene.file().exists());
}

/// In a user namespace, root of the host is mapped to `nobody`, and in a sticky directory its file could not be removed.
#[test]
fn roots_request_becomes_the_trainings_own() {
    let mut scene = Scene::new();
    if !give_away(&scene.marks()) {
        return;
    }
    scene.request.owners = Owners {
        target: OTHER_USER,
        ours: 0,
    };
    scene.request.target.uid = OTHER_USER;
    assert!(scene.request.send("why").unwrap().is_ours());
    assert_eq!(fs::metadata(scene.file()).unwrap().uid(), OTHER_USER);
    std::os::unix::fs::chown(scene.file(), Some(0), None).unwrap();
    assert!(
        scene.refusal().contains("a file of user 0"),
        "the file belongs to `nobody` in the namespace"
    );
    scene.request.target.own_uid = OTHER_USER;
    assert!(!scene.request.send("why").unwrap().is_ours());
}

#[test]
fn a_containers_request_is_made_within_its_root() {
    let mut scene = Scene::new();
    let root = scene.dir.path().join("root");
    fs::create_dir_all(root.join("data")).unwrap();
    // In there, /marks is a link to an absolute path that means another directory out here.
    symlink("/data", root.join("marks")).unwrap();
    scene.request.target.own_pid = Pid(17);
    scene.request.location = MarksLocation {
        root: root.clone(),
        file: PathBuf::from("/marks/17.jsonl"),
        is_stated: true,
    };
    scene.request.send("why").unwrap();
    assert!(root.join("data/17.stop").exists());
    fs::remove_file(root.join("marks")).unwrap();
    symlink(scene.marks(), root.join("marks")).unwrap();
    scene.request.send("why").unwrap_err();
    assert_eq!(fs::read_dir(scene.marks()).unwrap().count(), 0);
}

#[test]
fn an_exited_process_gets_no_request() {
    let mut scene = Scene::new();
    scene.request.target.start = StartTicks(1);
    assert!(scene.refusal().contains("has exited"));
    let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
    let pid = Pid(child.id() as i32);
    scene.request.target = MarksTarget::read(&ProcRoot::live(), pid).unwrap();
    assert!(scene.is_sent());
    drop(child.stdin.take());
    child.wait().unwrap();
    assert!(scene.refusal().contains("has exited"));
    assert_eq!(fs::read_dir(scene.marks()).unwrap().count(), 0);
}
