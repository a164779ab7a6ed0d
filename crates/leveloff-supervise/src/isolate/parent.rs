//! In which control group another may be made.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use leveloff_sampler::system::cgroup::CgroupLocation;
use rustix::fs::{Access, access};

/// A control group that we may make another one in, which then has the memory controller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parent {
    directory: PathBuf,
    version: u8,
    /// Whether it has to hand the memory controller down first.
    has_to_enable: bool,
}

/// The file of a version 2 group that tells which controllers its children have.
const HANDED_DOWN: &str = "cgroup.subtree_control";

impl Parent {
    /// The directories worth trying for a process that is at `place`, nearest first, or why there is
    /// none.
    ///
    /// Version 1 has groups and processes side by side, so it is our own group. In version 2 a group
    /// that hands controllers down holds no processes, except the root: it is our own group only
    /// there, and otherwise an ancestor, as in a subtree that was delegated to us. No group that
    /// limits anything is left for one beside it: the job would escape what somebody has decided.
    pub fn candidates(place: &CgroupLocation) -> Result<Vec<Parent>, String> {
        // The group has no name here, and what stands in for it is somebody else's.
        if let Some(caveat) = &place.caveat {
            return Err(caveat.clone());
        }
        match place.version {
            1 => version_1(place).map(|parent| vec![parent]),
            _ => version_2(place),
        }
    }

    /// Where it is.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// 1 or 2.
    pub fn version(&self) -> u8 {
        self.version
    }

    /// Has its children get the memory controller. The kernel refuses where that would not do. It is
    /// not taken back: others may rely on it by then.
    pub fn hand_memory_down(&self) -> io::Result<()> {
        if !self.has_to_enable {
            return Ok(());
        }
        fs::write(self.directory.join(HANDED_DOWN), "+memory")
    }
}

fn version_1(place: &CgroupLocation) -> Result<Parent, String> {
    let own = place.directories.first().ok_or("it is not mounted")?;
    if !is_writable(own) {
        return Err(not_ours(place));
    }
    // Before Linux 5.11 a group could be set not to count its children; they would escape it.
    let counts_children = word(own, "memory.use_hierarchy").as_deref() != Some("0");
    if !counts_children && place.directories.len() > 1 {
        return Err(format!(
            "control group {} does not count its children (memory.use_hierarchy is 0)",
            place.path
        ));
    }
    Ok(Parent {
        directory: own.clone(),
        version: 1,
        has_to_enable: false,
    })
}

fn version_2(place: &CgroupLocation) -> Result<Vec<Parent>, String> {
    let mut found = Vec::new();
    for (height, directory) in place.directories.iter().enumerate() {
        let is_handed_down = has_memory(directory, HANDED_DOWN);
        // Only our own may be asked to: the children of any other would all be changed.
        let has_to_enable =
            !is_handed_down && height == 0 && has_memory(directory, "cgroup.controllers");
        if (is_handed_down || has_to_enable) && is_writable(directory) {
            found.push(Parent {
                directory: directory.clone(),
                version: 2,
                has_to_enable,
            });
        }
        if limits(directory) {
            break;
        }
    }
    match found.is_empty() {
        true => Err(not_ours(place)),
        false => Ok(found),
    }
}

fn not_ours(place: &CgroupLocation) -> String {
    format!(
        "no group may be made at control group {} (version {})",
        place.path, place.version
    )
}

/// To make a group takes the directory; to enter it from another below this one, its `cgroup.procs`.
fn is_writable(directory: &Path) -> bool {
    let may_write = |path: &Path| access(path, Access::WRITE_OK).is_ok();
    may_write(directory) && may_write(&directory.join("cgroup.procs"))
}

fn has_memory(directory: &Path, file: &str) -> bool {
    fs::read_to_string(directory.join(file))
        .is_ok_and(|text| text.split_ascii_whitespace().any(|name| name == "memory"))
}

/// Whether a version 2 group holds its processes to less memory, CPU time or fewer cores than its
/// parent does.
pub fn limits(directory: &Path) -> bool {
    let is_set = |file| word(directory, file).is_some_and(|word| word != "max");
    ["memory.max", "memory.high", "cpu.max", "cpuset.cpus"]
        .into_iter()
        .any(is_set)
}

fn word(directory: &Path, file: &str) -> Option<String> {
    let text = fs::read_to_string(directory.join(file)).ok()?;
    text.split_ascii_whitespace().next().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A made-up hierarchy.
    struct Tree(tempfile::TempDir);

    impl Tree {
        fn new() -> Tree {
            Tree(tempfile::tempdir().unwrap())
        }

        fn with(self, group: &str, files: &[(&str, &str)]) -> Tree {
            let directory = self.0.path().join(group);
            fs::create_dir_all(&directory).unwrap();
            fs::write(directory.join("cgroup.procs"), "").unwrap();
            for (name, text) in files {
                fs::write(directory.join(name), text).unwrap();
            }
            self
        }

        fn place(&self, version: u8, own: &str) -> CgroupLocation {
            let own = self.0.path().join(own);
            let directories = own
                .ancestors()
                .take_while(|directory| directory.starts_with(self.0.path()))
                .map(Path::to_path_buf)
                .collect();
            CgroupLocation {
                version,
                path: "/own".to_owned(),
                directories,
                caveat: None,
            }
        }

        /// The parents that are found, as they lie to the hierarchy's root.
        fn parents(&self, version: u8, own: &str) -> Result<Vec<String>, String> {
            let parents = Parent::candidates(&self.place(version, own))?;
            let named = |parent: &Parent| {
                let relative = parent.directory.strip_prefix(self.0.path()).unwrap();
                let mark = if parent.has_to_enable { "+" } else { "" };
                format!("{mark}/{}", relative.display())
            };
            Ok(parents.iter().map(named).collect())
        }
    }

    const HANDS_DOWN: (&str, &str) = (HANDED_DOWN, "cpu memory pids\n");
    const HAS_MEMORY: (&str, &str) = ("cgroup.controllers", "cpu memory\n");

    #[test]
    fn a_delegated_subtree_takes_a_group_beside_our_own() {
        let tree = Tree::new().with("", &[]).with("user", &[HANDS_DOWN]).with(
            "user/shell",
            &[("memory.max", "max\n"), ("cpu.max", "max 100000\n")],
        );
        assert_eq!(tree.parents(2, "user/shell"), Ok(vec!["/user".into()]));
    }

    #[test]
    fn a_group_that_limits_something_is_not_left() {
        for limit in [
            ("memory.max", "8589934592\n"),
            ("memory.high", "8589934592\n"),
            ("cpu.max", "200000 100000\n"),
            ("cpuset.cpus", "0-3\n"),
        ] {
            let tree = Tree::new()
                .with("job", &[HANDS_DOWN])
                .with("job/step", &[limit]);
            let refused = tree.parents(2, "job/step").unwrap_err();
            assert!(refused.contains("/own"), "{refused}");
        }
        // Inside of what limits, a group may be made.
        let tree = Tree::new()
            .with("job", &[HANDS_DOWN, ("memory.max", "8589934592\n")])
            .with("job/step", &[("cpuset.cpus", "\n")]);
        assert_eq!(tree.parents(2, "job/step"), Ok(vec!["/job".into()]));
    }

    #[test]
    fn the_root_may_hand_the_controller_down_itself() {
        let tree = Tree::new().with("", &[HAS_MEMORY, (HANDED_DOWN, "\n")]);
        assert_eq!(tree.parents(2, ""), Ok(vec!["+/".into()]));
        let parents = Parent::candidates(&tree.place(2, "")).unwrap();
        parents[0].hand_memory_down().unwrap();
        let written = fs::read_to_string(tree.0.path().join(HANDED_DOWN)).unwrap();
        assert_eq!(written, "+memory");
    }

    #[test]
    fn no_other_group_is_asked_to_hand_it_down() {
        let tree = Tree::new()
            .with("", &[HAS_MEMORY, (HANDED_DOWN, "cpu\n")])
            .with("shell", &[("cgroup.controllers", "cpu\n")]);
        assert!(tree.parents(2, "shell").is_err());
    }

    #[test]
    fn version_1_makes_it_in_our_own_group() {
        let tree = Tree::new().with("", &[]).with("a", &[]).with("a/b", &[]);
        assert_eq!(tree.parents(1, "a/b"), Ok(vec!["/a/b".into()]));
        let flat = Tree::new()
            .with("", &[])
            .with("a", &[("memory.use_hierarchy", "0\n")]);
        assert!(flat.parents(1, "a").unwrap_err().contains("use_hierarchy"));
    }

    #[test]
    fn a_group_that_is_not_there_or_has_no_name_is_said() {
        assert!(Tree::new().parents(1, "gone").is_err());
        assert!(Tree::new().parents(2, "gone").is_err());
        let hidden = CgroupLocation {
            caveat: Some("it has no name here".to_owned()),
            ..Tree::new().place(2, "")
        };
        assert_eq!(
            Parent::candidates(&hidden),
            Err("it has no name here".to_owned())
        );
    }
}
