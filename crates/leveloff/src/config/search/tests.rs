use std::os::unix::fs::{PermissionsExt, chown, symlink};

use super::*;

/// A directory with files, and ourselves in it.
struct Project(tempfile::TempDir);

impl Project {
    fn new() -> Project {
        Project(tempfile::tempdir().unwrap())
    }

    fn file(&self, path: &str, text: &str) -> PathBuf {
        let path = self.0.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        path
    }

    fn repository(self) -> Project {
        self.file(".git/HEAD", "");
        self
    }

    fn search(&self, below: &str) -> ConfigSearch {
        let directory = self.0.path().join(below);
        fs::create_dir_all(&directory).unwrap();
        ConfigSearch {
            directory,
            ..ConfigSearch::live()
        }
    }

    fn find(&self, below: &str) -> Finding {
        self.search(below).find(&ConfigChoice::Nearest).unwrap()
    }

    /// The file that applies, seen from the project.
    #[track_caller]
    fn applies(&self, below: &str) -> Option<String> {
        let finding = self.find(below);
        assert_eq!(finding.passed_over, []);
        let file = self.0.path().join(below).join(finding.config?.file());
        let file = file.strip_prefix(self.0.path()).unwrap();
        Some(file.to_str().unwrap().to_owned())
    }
}

/// The user, and the group, that own nothing.
const NOBODY: u32 = 65534;

const OWN: &str = "level_by = 90\n";
const SHARED: &str = "[tool.leveloff]\nlevel_by = 90\n";

#[test]
fn the_nearest_file_up_to_the_root_of_the_repository_applies() {
    let project = Project::new();
    project.file("leveloff.toml", OWN);
    project.file("repository/.git/HEAD", "");
    assert_eq!(project.applies("repository/a/b"), None);
    project.file("repository/pyproject.toml", SHARED);
    let root = Some("repository/pyproject.toml".to_owned());
    assert_eq!(project.applies("repository/a/b"), root);
    project.file("repository/leveloff.toml", OWN);
    let root = Some("repository/leveloff.toml".to_owned());
    assert_eq!(project.applies("repository"), root);
    assert_eq!(project.applies("repository/a/b"), root);
    // A table of others in between is none.
    project.file("repository/a/pyproject.toml", "[tool.black]\n");
    assert_eq!(project.applies("repository/a/b"), root);
    project.file("repository/a/pyproject.toml", SHARED);
    let nearer = Some("repository/a/pyproject.toml".to_owned());
    assert_eq!(project.applies("repository/a/b"), nearer);
}

#[test]
fn a_worktree_whose_git_is_a_file_is_a_repository() {
    let project = Project::new();
    project.file("leveloff.toml", OWN);
    project.file(".git", "gitdir: elsewhere\n");
    assert_eq!(project.applies("a").as_deref(), Some("leveloff.toml"));
}

#[test]
fn outside_of_a_repository_nothing_above_is_looked_at() {
    let project = Project::new();
    project.file("leveloff.toml", OWN);
    assert_eq!(project.applies("").as_deref(), Some("leveloff.toml"));
    assert_eq!(project.applies("below"), None);
}

#[test]
fn a_file_here_is_called_by_its_name_and_one_above_by_its_path() {
    let project = Project::new().repository();
    let path = project.file("leveloff.toml", OWN);
    let here = project.find("").config.unwrap();
    assert_eq!(here.file(), Path::new("leveloff.toml"));
    assert_eq!(project.find("a").config.unwrap().file(), path);
}

#[test]
fn a_mistake_in_the_file_that_applies_is_an_error_and_none_in_those_above() {
    let project = Project::new().repository();
    project.file("leveloff.toml", "level_by = \n");
    let error = project.search("").find(&ConfigChoice::Nearest).unwrap_err();
    assert!(error.to_string().starts_with("leveloff.toml, line 1"));
    project.file("a/leveloff.toml", OWN);
    assert_eq!(project.applies("a").as_deref(), Some("a/leveloff.toml"));
}

#[test]
fn a_named_file_is_read_whatever_it_is_called_and_must_be_there() {
    let project = Project::new();
    project.file("leveloff.toml", "broken");
    let named = project.file("ci/strict.conf", OWN);
    let search = project.search("");
    for name in [Path::new("ci/strict.conf"), &named] {
        let choice = ConfigChoice::Named(name.to_owned());
        assert_eq!(search.find(&choice).unwrap().config.unwrap().file(), name);
    }
    let missing = ConfigChoice::Named("missing.toml".into());
    let error = search.find(&missing).unwrap_err().to_string();
    assert!(error.contains("missing.toml: No such file"), "{error}");
    project.file("pyproject.toml", "[tool.black]\n");
    let foreign = ConfigChoice::Named("pyproject.toml".into());
    let error = search.find(&foreign).unwrap_err().to_string();
    assert_eq!(error, "pyproject.toml has no [tool.leveloff]");
    assert!(
        search
            .find(&ConfigChoice::Nothing)
            .unwrap()
            .config
            .is_none()
    );
}

/// Why the file is passed over, after `prepare` did something to it.
fn passed_over(prepare: impl FnOnce(&Path)) -> String {
    let project = Project::new().repository();
    project.file("leveloff.toml", OWN);
    prepare(&project.file("a/leveloff.toml", OWN));
    let finding = project.find("a");
    // It is as if it were not there.
    let applies = finding.config.unwrap();
    assert_eq!(applies.file(), project.0.path().join("leveloff.toml"));
    let said: Vec<String> = finding
        .passed_over
        .iter()
        .map(ToString::to_string)
        .collect();
    said.join("\n")
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn what_others_may_write_is_said_and_not_used() {
    let open = passed_over(|path| set_mode(path, 0o666));
    assert_eq!(
        open,
        "leveloff.toml is not used: every user may write it; if you trust it, name it with --config"
    );
    // Broken or not, it has no say.
    passed_over(|path| {
        fs::write(path, "broken").unwrap();
        set_mode(path, 0o646);
    });
}

#[test]
fn a_group_of_ones_own_is_no_stranger() {
    let project = Project::new();
    let path = project.file("leveloff.toml", OWN);
    set_mode(&path, 0o664);
    let mut search = project.search("");
    let finding = search.find(&ConfigChoice::Nearest).unwrap();
    assert!(finding.config.is_some());
    // Only root can give the file to another group; others can only be in another themselves.
    if is_root() {
        chown(&path, None, Some(NOBODY)).unwrap();
    } else {
        search.gid += 1;
    }
    let finding = search.find(&ConfigChoice::Nearest).unwrap();
    assert_eq!(finding.passed_over[0].why, "its group may write it");
}

#[test]
fn what_belongs_to_another_user_is_said_and_not_used() {
    let project = Project::new();
    project.file("leveloff.toml", OWN);
    if is_root() {
        let given_away = passed_over(|path| chown(path, Some(NOBODY), None).unwrap());
        assert!(given_away.contains("another user"), "{given_away}");
        let link = passed_over(|path| {
            fs::remove_file(path).unwrap();
            symlink("../leveloff.toml", path).unwrap();
            std::os::unix::fs::lchown(path, Some(NOBODY), None).unwrap();
        });
        assert!(link.contains("another user"), "{link}");
        // A file of root may be used by every user.
        let search = ConfigSearch {
            uid: NOBODY,
            ..project.search("")
        };
        let finding = search.find(&ConfigChoice::Nearest).unwrap();
        assert!(finding.config.is_some());
    } else {
        let stranger = ConfigSearch {
            uid: rustix::process::geteuid().as_raw() + 1,
            ..project.search("")
        };
        let finding = stranger.find(&ConfigChoice::Nearest).unwrap();
        assert!(finding.config.is_none());
        assert_eq!(finding.passed_over[0].why, "it belongs to another user");
    }
}

#[test]
fn an_open_pyproject_of_others_is_not_worth_a_word() {
    let project = Project::new();
    set_mode(&project.file("pyproject.toml", "[tool.black]\n"), 0o666);
    assert_eq!(project.applies(""), None);
    set_mode(&project.file("pyproject.toml", SHARED), 0o666);
    assert_eq!(project.find("").passed_over.len(), 1);
}

#[test]
fn what_is_no_file_never_holds_us_up() {
    let pipe = Project::new();
    let path = pipe.0.path().join("leveloff.toml");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &path,
        rustix::fs::FileType::Fifo,
        0o600.into(),
        0,
    )
    .unwrap();
    fs::create_dir(pipe.0.path().join("pyproject.toml")).unwrap();
    let error = pipe.search("").find(&ConfigChoice::Nearest).unwrap_err();
    assert!(error.to_string().ends_with("it is not a file"), "{error}");
    fs::remove_file(path).unwrap();
    assert_eq!(pipe.find("").passed_over[0].why, "it is not a file");
}

#[test]
fn a_file_too_large_to_be_written_by_hand_is_refused() {
    let project = Project::new();
    project.file("leveloff.toml", &"# padding\n".repeat(200_000));
    let error = project.search("").find(&ConfigChoice::Nearest).unwrap_err();
    assert!(error.to_string().contains("larger than 1 MiB"), "{error}");
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}
