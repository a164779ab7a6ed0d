use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt, symlink};
use std::path::Path;

use leveloff_model::process::Pid;
use leveloff_sampler::proc_root::ProcRoot;
use leveloff_text::paint::Paint;

use super::*;
use crate::config::ConfigSearch;

/// A saved machine: an old kernel in a small container, whose user may read little.
struct Saved(tempfile::TempDir);

impl Saved {
    fn new() -> Saved {
        let saved = Saved(tempfile::tempdir().unwrap());
        saved.file("proc/42/status", "Name:\tleveloff\nUid:\t1000\t1000\t1000\t1000\nRssAnon:\t4 kB\nCapEff:\t0000000000000000\n");
        saved.file("proc/42/cgroup", "0::/\n");
        saved.file("proc/42/fd/0", "");
        saved.file(
            "proc/7/status",
            "Name:\ttrain\nUid:\t0\t0\t0\t0\nRssAnon:\t4 kB\n",
        );
        saved.file(
            "proc/self/mountinfo",
            "22 27 0:21 / /proc rw - proc proc rw,hidepid=2\n",
        );
        saved.file(
            "proc/meminfo",
            "MemTotal: 1048576 kB\nMemAvailable: 524288 kB\nSwapTotal: 0 kB\nSwapFree: 0 kB\n",
        );
        saved
    }

    fn file(&self, path: &str, text: &str) {
        let path = self.0.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn machine(&self) -> Machine {
        Machine {
            proc: ProcRoot::at(self.0.path().join("proc")),
            root: self.0.path().into(),
            pid: Pid(42),
            uid: 1000,
            release: "4.9.0-19-amd64".into(),
            open_files: Some(64),
            pidfd: false,
            terminal: None,
            clock_ns: 4_000_000,
            ticks_per_second: 100,
            config_search: ConfigSearch {
                directory: self.0.path().into(),
                ..ConfigSearch::live()
            },
            config: ConfigChoice::Nearest,
            variables: BTreeMap::new(),
        }
    }
}

fn check<'a>(found: &'a [Check], name: &str) -> &'a Check {
    found
        .iter()
        .find(|check| check.name == name)
        .unwrap_or_else(|| panic!("no check '{name}'"))
}

#[test]
fn on_a_poor_machine_the_missing_parts_are_listed_with_how_to_get_them() {
    let found = checks(&Saved::new().machine());
    for (name, state, word) in [
        ("kernel", State::Gap, "smaps_rollup"),
        ("proc", State::Ok, "2 processes"),
        ("hidepid", State::Gap, "hidepid=2"),
        ("pss", State::Gap, "no smaps_rollup"),
        ("pss of other users", State::Gap, "tried 7"),
        ("descriptor counts", State::Gap, "one by one"),
        ("open files", State::Gap, "limit 64"),
        ("pidfd", State::Gap, "pidfd_open"),
        ("memory", State::Ok, "512 MiB of 1.0 GiB"),
        ("swap", State::Ok, "none"),
        ("pressure", State::Gap, "PSI"),
        ("oom kills", State::Gap, "not counted"),
        ("shared memory", State::Gap, "tmpfs"),
        ("control group", State::Gap, "not mounted"),
        ("terminal", State::Gap, "not a terminal"),
        ("encoding", State::Gap, "unset"),
        ("clock", State::Gap, "4000000 ns"),
    ] {
        let check = check(&found, name);
        assert_eq!(check.state, state, "{check:?}");
        assert!(check.text.contains(word), "{check:?}");
        assert_eq!(check.next.is_some(), state != State::Ok, "{check:?}");
    }
}

#[test]
fn a_good_machine_has_nothing_to_get() {
    let saved = Saved::new();
    saved.file("proc/self/mountinfo", "22 27 0:21 / /proc rw - proc proc rw\n31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
    saved.file(
        "proc/42/smaps_rollup",
        "0-1 ---p 0 0:0 0 [rollup]\nPss: 4096 kB\n",
    );
    saved.file(
        "proc/7/smaps_rollup",
        "0-1 ---p 0 0:0 0 [rollup]\nPss: 9 kB\n",
    );
    saved.file(
        "proc/pressure/memory",
        "some avg10=1.50 avg60=0.00 avg300=0.00 total=0\n",
    );
    saved.file("proc/vmstat", "oom_kill 3\n");
    saved.file("sys/fs/cgroup/memory.max", "2147483648\n");
    saved.file("sys/fs/cgroup/memory.current", "1073741824\n");
    saved.file(
        "sys/fs/cgroup/memory.stat",
        "anon 1\ninactive_file 0\nactive_file 536870912\n",
    );
    let machine = Machine {
        release: "6.8.0".into(),
        open_files: Some(1024),
        pidfd: true,
        terminal: Some((120, 40)),
        clock_ns: 1,
        variables: [("LANG".to_owned(), "de_DE.UTF-8".to_owned())].into(),
        ..saved.machine()
    };
    let found = checks(&machine);
    for (name, word) in [
        ("kernel", "6.8.0"),
        ("hidepid", "all users"),
        ("pss", "4.0 MiB"),
        ("pss of other users", "tried 7"),
        ("open files", "240 processes"),
        ("pressure", "1.5 %"),
        ("oom kills", "3"),
        ("control group", "512 MiB of its limit of 2.0 GiB used"),
        ("terminal", "120×40"),
        ("encoding", "de_DE.UTF-8"),
    ] {
        let check = check(&found, name);
        assert_eq!((check.state, &check.next), (State::Ok, &None), "{check:?}");
        assert!(check.text.contains(word), "{check:?}");
    }
}

fn marks_state(prepare: impl FnOnce(&Path)) -> Check {
    let root = tempfile::tempdir().unwrap();
    let owner = rustix::process::getuid().as_raw();
    fs::create_dir(root.path().join("tmp")).unwrap();
    prepare(&root.path().join(format!("tmp/leveloff-{owner}")));
    let machine = Machine {
        uid: owner,
        root: root.path().to_owned(),
        // Marks are not there unless /tmp cannot be used.
        variables: [("XDG_RUNTIME_DIR".to_owned(), "/nowhere".to_owned())].into(),
        ..Saved::new().machine()
    };
    check(&checks(&machine), "marks").clone()
}

#[test]
fn marks_that_others_could_write_are_not_believed() {
    let private = |path: &Path| fs::DirBuilder::new().mode(0o700).create(path).unwrap();
    assert_eq!(marks_state(private).state, State::Ok);
    let none = marks_state(|_| {});
    assert!(
        none.state == State::Ok && none.text.contains("none yet"),
        "{none:?}"
    );
    assert!(none.next.unwrap().contains("pip install leveloff"));
    let open = marks_state(|path| {
        private(path);
        fs::set_permissions(path, fs::Permissions::from_mode(0o777)).unwrap();
    });
    assert!(
        open.state == State::Gap && open.text.contains("open to other users"),
        "{open:?}"
    );
    let link = marks_state(|path| symlink("/tmp", path).unwrap());
    assert!(
        link.state == State::Gap && link.text.contains("not a directory"),
        "{link:?}"
    );
}

#[test]
fn marks_are_in_tmp_by_user() {
    let found = checks(&Saved::new().machine());
    assert!(check(&found, "marks").text.contains("tmp/leveloff-1000"));
}

#[test]
fn the_configuration_file_is_named_and_a_mistake_in_it_reported() {
    let saved = Saved::new();
    let checked = |config: ConfigChoice| {
        let machine = Machine {
            config,
            ..saved.machine()
        };
        check(&checks(&machine), "config").clone()
    };
    let none = checked(ConfigChoice::Nearest);
    assert!(none.state == State::Ok && none.text.contains("no leveloff.toml"));
    saved.file("leveloff.toml", "level_by = 90\n");
    assert_eq!(checked(ConfigChoice::Nearest).text, "leveloff.toml applies");
    assert_eq!(checked(ConfigChoice::Nothing).text, "switched off");
    let missing = checked(ConfigChoice::Named("missing.toml".into()));
    assert!(missing.state == State::Gap && missing.text.contains("missing.toml: No such file"));
    saved.file("leveloff.toml", "level_by = 0\n");
    let wrong = checked(ConfigChoice::Nearest);
    assert!(
        wrong.state == State::Gap && wrong.text.contains("line 1"),
        "{wrong:?}"
    );
    let open = fs::Permissions::from_mode(0o666);
    fs::set_permissions(saved.0.path().join("leveloff.toml"), open).unwrap();
    let open = checked(ConfigChoice::Nearest);
    assert!(
        open.state == State::Gap && open.text.contains("every user may write it"),
        "{open:?}"
    );
    assert!(open.next.unwrap().contains("--config"));
}

#[test]
fn text_has_a_line_for_each_check_and_colour_only_when_wanted() {
    let found = checks(&Saved::new().machine());
    let plain = render::text(&found, Paint::Plain);
    assert_eq!(plain.lines().count(), found.len() + 1);
    assert!(!plain.contains('\x1b'));
    assert!(plain.contains("gap      kernel"), "{plain}");
    assert!(render::text(&found, Paint::Coloured).contains("\x1b[33mgap"));
}

#[test]
fn json_has_the_four_fields() {
    let found = checks(&Saved::new().machine());
    let json: serde_json::Value = serde_json::from_str(&render::json(&found).unwrap()).unwrap();
    let first = &json[0];
    assert_eq!(
        (&first["name"], &first["state"]),
        (&"kernel".into(), &"gap".into())
    );
    assert!(first["text"].is_string() && first["next"].is_string());
    assert!(json[1]["next"].is_null());
}

#[test]
fn this_machine_can_be_examined() {
    let machine = Machine::live();
    let found = checks(&machine);
    println!("{}", render::text(&found, Paint::Plain));
    assert_eq!(check(&found, "proc").state, State::Ok);
    assert_eq!(check(&found, "memory").state, State::Ok);
    assert!(machine.kernel().is_some(), "{}", machine.release);
}
