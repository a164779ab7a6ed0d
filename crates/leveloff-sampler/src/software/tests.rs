//! The software of saved processes, with file systems made up around them.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use leveloff_model::process::{ProcessInfo, ProcessKey, Role, StartTicks};
use rustix::fs::{FileType, Mode, OFlags};

use super::*;

/// Where the saved process maps torch from.
const SITE: &str = "root/opt/venv/lib/python3.11/site-packages";

/// A saved trainer in a directory that a test may change.
struct Saved(tempfile::TempDir);

impl Saved {
    fn new() -> Saved {
        let saved = Saved(tempfile::tempdir().unwrap());
        let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/proc/plain/18250");
        std::fs::copy(fixture.join("maps"), saved.path("maps")).unwrap();
        saved.write("environ", "SECRET_TOKEN=hush\0MALLOC_ARENA_MAX=2\0");
        std::fs::create_dir_all(saved.path(SITE).join("torch")).unwrap();
        saved
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    fn install(&self, entry: &str) {
        std::fs::create_dir_all(self.path(SITE).join(entry)).unwrap();
    }

    fn directory(&self) -> OwnedFd {
        let flags = OFlags::PATH | OFlags::DIRECTORY;
        rustix::fs::open(self.0.path(), flags, Mode::empty()).unwrap()
    }

    fn read(&self) -> Software {
        read(ProcessIndex(3), self.directory()).unwrap()
    }

    #[track_caller]
    fn has_packages(&self, expected: &[(&str, &str)]) {
        let found = self.read().packages.unwrap();
        let found: Vec<(&str, &str)> = found
            .iter()
            .map(|(name, version)| (name.as_str(), version.as_str()))
            .collect();
        assert_eq!(found, expected);
    }
}

#[test]
fn versions_and_variables_of_a_saved_torch_process_are_read() {
    let saved = Saved::new();
    for entry in [
        "torch-2.8.0.dist-info",
        "numpy-2.4.6.dist-info",
        "numpy",
        "hush-1.dist-info",
    ] {
        saved.install(entry);
    }
    saved.has_packages(&[("numpy", "2.4.6"), ("torch", "2.8.0")]);
    let software = saved.read();
    assert_eq!(software.process, ProcessIndex(3));
    assert_eq!(software.python.as_deref(), Some("3.11"));
    assert_eq!(
        software.variables.as_ref().unwrap()["MALLOC_ARENA_MAX"],
        "2"
    );
    assert!(!format!("{software:?}").contains("hush"));
}

#[test]
fn torchs_own_word_comes_before_the_wheels() {
    let saved = Saved::new();
    saved.write(
        &format!("{SITE}/torch/version.py"),
        "__version__ = '2.8.0+cu128'\n",
    );
    saved.has_packages(&[("torch", "2.8.0+cu128")]);
    saved.install("torch-2.8.0.dist-info");
    saved.has_packages(&[("torch", "2.8.0+cu128")]);
}

#[test]
fn two_versions_of_one_package_are_both_reported() {
    let saved = Saved::new();
    saved.install("trl-0.9.dist-info");
    saved.install("trl-0.10.dist-info");
    saved.has_packages(&[("trl", "0.10 or 0.9")]);
}

#[test]
fn no_link_leads_out_of_the_targets_files() {
    let saved = Saved::new();
    let outside = tempfile::tempdir().unwrap();
    std::fs::create_dir(outside.path().join("numpy-6.6.6.dist-info")).unwrap();
    std::fs::write(outside.path().join("version.py"), "__version__ = '6.6.6'").unwrap();
    let version_file = saved.path(SITE).join("torch/version.py");
    symlink(outside.path().join("version.py"), &version_file).unwrap();
    saved.has_packages(&[]);
    std::fs::remove_dir_all(saved.path(SITE)).unwrap();
    symlink(outside.path(), saved.path(SITE)).unwrap();
    assert_eq!(saved.read().packages, None);
}

/// Opening a pipe to read from it would wait for a writer, for ever.
#[test]
fn a_pipe_in_the_place_of_a_file_is_not_waited_for() {
    let saved = Saved::new();
    let pipe = saved.path(SITE).join("torch/version.py");
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, FileType::Fifo, 0o600.into(), 0).unwrap();
    saved.has_packages(&[]);
}

#[test]
fn what_cannot_be_read_is_unknown_and_not_empty() {
    let saved = Saved::new();
    std::fs::remove_dir_all(saved.path("root")).unwrap();
    std::fs::remove_file(saved.path("environ")).unwrap();
    let software = saved.read();
    assert_eq!(software.python.as_deref(), Some("3.11"));
    assert_eq!((software.packages, software.variables), (None, None));
    std::fs::remove_file(saved.path("maps")).unwrap();
    assert_eq!(read(ProcessIndex(3), saved.directory()), Err(Errno::NOENT));
}

fn trainer(reason: RoleReason) -> RoleChange {
    RoleChange {
        info: ProcessInfo {
            index: ProcessIndex(3),
            key: ProcessKey {
                pid: Pid(18250),
                start: StartTicks(1),
            },
            parent: Pid(1),
            role: Role::Trainer,
            unknown_role: None,
            rank: None,
            comm: "python".to_owned(),
            command: vec!["python".to_owned()],
            why: reason.to_string(),
        },
        reason,
        first: false,
        fork_copy: false,
    }
}

fn framework() -> RoleReason {
    RoleReason::Framework("libtorch_python.so".to_owned())
}

/// What is reported when a trainer has its role for this reason.
fn reported(reader: &mut SoftwareReader, saved: &Saved, reason: RoleReason) -> Vec<Event> {
    reader.follow(&trainer(reason), || Some(saved.directory()));
    reader.wait();
    reader.events()
}

#[test]
fn software_is_reported_once_and_again_when_a_framework_shows() {
    let saved = Saved::new();
    let maps = std::fs::read_to_string(saved.path("maps")).unwrap();
    saved.write("maps", maps.lines().next().unwrap());
    let mut reader = SoftwareReader::default();
    let first = reported(&mut reader, &saved, RoleReason::Largest);
    assert!(
        matches!(&first[..], [Event::Software(s)] if s.packages.is_none()),
        "{first:?}"
    );
    assert_eq!(reported(&mut reader, &saved, RoleReason::Largest), []);
    assert_eq!(
        reported(&mut reader, &saved, RoleReason::Root),
        [],
        "nothing is new"
    );

    // Meanwhile a title was written over the environment.
    saved.write("maps", &maps);
    saved.write("environ", "\0\0");
    saved.install("torch-2.8.0.dist-info");
    let second = reported(&mut reader, &saved, framework());
    let [Event::Software(software)] = &second[..] else {
        panic!("{second:?}");
    };
    assert_eq!(software.packages.as_ref().unwrap()["torch"], "2.8.0");
    assert_eq!(
        software.variables.as_ref().unwrap()["MALLOC_ARENA_MAX"],
        "2"
    );
}

#[test]
fn a_reading_of_a_process_that_exited_meanwhile_is_reported() {
    let saved = Saved::new();
    let mut reader = SoftwareReader::default();
    reader.follow(&trainer(framework()), || Some(saved.directory()));
    reader.forget(ProcessIndex(3));
    reader.wait();
    assert!(matches!(&reader.events()[..], [Event::Software(_)]));
}

#[test]
fn a_process_that_changes_all_the_time_is_not_read_for_ever() {
    let saved = Saved::new();
    let mut reader = SoftwareReader::default();
    let mut reports = 0;
    for title in 0..100 {
        saved.write("environ", &format!("OMP_NUM_THREADS={title}\0"));
        reports += reported(&mut reader, &saved, RoleReason::Program(title.to_string())).len();
    }
    assert_eq!(reports, MOST_READS as usize);
}
