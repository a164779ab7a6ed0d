use std::fs;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt, symlink};
use std::path::PathBuf;

use super::*;

/// The user `nobody` of every distribution.
const OTHER_USER: u32 = 65_534;

/// A directory that holds a trusted marks file.
struct Scene {
    dir: tempfile::TempDir,
    owners: Owners,
}

impl Scene {
    fn new() -> Scene {
        let scene = Scene {
            dir: tempfile::tempdir().unwrap(),
            owners: Owners {
                target: rustix::process::geteuid().as_raw(),
                ours: rustix::process::geteuid().as_raw(),
            },
        };
        fs::DirBuilder::new()
            .mode(0o700)
            .create(scene.marks_dir())
            .unwrap();
        fs::write(scene.file(), "{}\n").unwrap();
        set_mode(&scene.file(), 0o600);
        scene
    }

    fn marks_dir(&self) -> PathBuf {
        self.dir.path().join("leveloff-1")
    }

    fn file(&self) -> PathBuf {
        self.marks_dir().join("7.jsonl")
    }

    fn open(&self, is_stated: bool) -> Result<bool, String> {
        let place = MarksLocation {
            root: PathBuf::from("/"),
            file: self.file(),
            is_stated,
        };
        open(&place, self.owners)
            .map(|file| file.is_some())
            .map_err(|distrust| distrust.to_string())
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
fn a_file_of_our_own_is_opened_and_a_missing_one_is_none() {
    let scene = Scene::new();
    assert_eq!(scene.open(false), Ok(true));
    fs::remove_file(scene.file()).unwrap();
    assert_eq!(scene.open(false), Ok(false));
    fs::remove_dir(scene.marks_dir()).unwrap();
    assert_eq!(scene.open(false), Ok(false));
}

#[test]
fn links_pipes_and_directories_are_refused_and_not_waited_for() {
    let scene = Scene::new();
    fs::rename(scene.file(), scene.dir.path().join("elsewhere")).unwrap();
    symlink(scene.dir.path().join("elsewhere"), scene.file()).unwrap();
    assert!(scene.open(false).unwrap_err().contains("symbolic link"));
    assert!(scene.open(true).unwrap_err().contains("symbolic link"));
    fs::remove_file(scene.file()).unwrap();
    rustix::fs::mknodat(
        CWD,
        scene.file(),
        FileType::Fifo,
        Mode::RUSR | Mode::WUSR,
        0,
    )
    .unwrap();
    assert!(scene.open(false).unwrap_err().contains("a pipe"));
    fs::remove_file(scene.file()).unwrap();
    fs::create_dir(scene.file()).unwrap();
    assert!(scene.open(false).unwrap_err().contains("a directory"));
    assert_eq!(
        scene.open(true),
        Ok(false),
        "a directory without a file yet"
    );
}

#[test]
fn what_others_may_write_is_not_believed() {
    let scene = Scene::new();
    set_mode(&scene.file(), 0o620);
    assert!(scene.open(false).unwrap_err().contains("mode 620"));
    set_mode(&scene.file(), 0o644);
    set_mode(&scene.marks_dir(), 0o777);
    assert!(scene.open(false).unwrap_err().contains("chmod 700"));
    assert_eq!(
        scene.open(true),
        Ok(true),
        "the user named it; the file is still theirs"
    );
}

#[test]
fn a_directory_that_is_a_link_is_not_entered() {
    let scene = Scene::new();
    let real = scene.dir.path().join("real");
    fs::rename(scene.marks_dir(), &real).unwrap();
    symlink(&real, scene.marks_dir()).unwrap();
    assert!(
        scene
            .open(false)
            .unwrap_err()
            .contains("its directory is a symbolic link")
    );
    assert_eq!(scene.open(true), Ok(true));
}

#[test]
fn a_file_or_directory_of_another_user_is_not_trusted() {
    let scene = Scene::new();
    if !give_away(&scene.file()) {
        return;
    }
    assert!(
        scene
            .open(false)
            .unwrap_err()
            .contains("belongs to user 65534")
    );
    assert!(
        scene
            .open(true)
            .unwrap_err()
            .contains("belongs to user 65534")
    );
    give_away(&scene.marks_dir());
    assert!(
        scene
            .open(false)
            .unwrap_err()
            .contains("its directory belongs to")
    );
}

#[test]
fn root_reads_a_users_marks_but_not_roots_own_files_for_them() {
    let mut scene = Scene::new();
    scene.owners = Owners {
        target: OTHER_USER,
        ours: 0,
    };
    assert!(scene.owners.may_read());
    if rustix::process::geteuid().is_root() {
        assert!(scene.open(true).unwrap_err().contains("belongs to user 0"));
    }
    if give_away(&scene.file()) && give_away(&scene.marks_dir()) {
        assert_eq!(scene.open(false), Ok(true));
    }
    assert!(
        !Owners {
            target: OTHER_USER,
            ours: 1000
        }
        .may_read()
    );
}

#[test]
fn a_link_within_a_containers_root_does_not_lead_out_of_it() {
    let scene = Scene::new();
    let root = scene.dir.path().join("root");
    fs::create_dir_all(root.join("data")).unwrap();
    // In there, /marks is a link to an absolute path that exists out here only.
    symlink(scene.marks_dir(), root.join("marks")).unwrap();
    let place = MarksLocation {
        root: root.clone(),
        file: PathBuf::from("/marks/7.jsonl"),
        is_stated: true,
    };
    assert!(matches!(open(&place, scene.owners), Ok(None)));
    fs::write(root.join("data/7.jsonl"), "{}\n").unwrap();
    set_mode(&root.join("data/7.jsonl"), 0o600);
    fs::remove_file(root.join("marks")).unwrap();
    symlink("/data", root.join("marks")).unwrap();
    assert!(matches!(open(&place, scene.owners), Ok(Some(_))));
}
