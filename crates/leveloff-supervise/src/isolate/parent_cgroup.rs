//! Finds the control group in which a new one may be made.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use leveloff_sampler::system::cgroup::CgroupLocation;
use rustix::fs::{Access, access};

/// A control group in which we may make another one with the memory controller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParentCgroup {
    directory: PathBuf,
    version: u8,
    /// Whether it has to enable the memory controller for its children first.
    has_to_enable: bool,
}

/// The file of a version 2 group with the controllers of its children.
const SUBTREE_CONTROL: &str = "cgroup.subtree_control";

impl ParentCgroup {
    /// The candidates for a process at `location`, nearest first, or why there is none.
    ///
    /// In version 1 a group may hold processes and groups, so the candidate is our own group. In version 2 a group whose
    /// children have controllers holds no processes, except the root: the candidate is our own group only there, and
    /// otherwise an ancestor, as in a subtree that was delegated to us. The search ends at a group that has a limit: outside
    /// of it, the job would escape that limit.
    pub fn candidates(location: &CgroupLocation) -> Result<Vec<ParentCgroup>, String> {
        // The group is not visible here, and the directories in `location` are another's.
        if let Some(caveat) = &location.caveat {
            return Err(caveat.clone());
        }
        match location.version {
            1 => version_1(location).map(|parent| vec![parent]),
            _ => version_2(location),
        }
    }

    /// Its directory.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// 1 or 2.
    pub fn version(&self) -> u8 {
        self.version
    }

    /// Enables the memory controller for its children. The kernel refuses where that is not possible. It is not disabled
    /// afterwards: other groups may rely on it by then.
    pub fn enable_memory(&self) -> io::Result<()> {
        if !self.has_to_enable {
            return Ok(());
        }
        fs::write(self.directory.join(SUBTREE_CONTROL), "+memory")
    }
}

fn version_1(location: &CgroupLocation) -> Result<ParentCgroup, String> {
    let own = location.directories.first().ok_or("it is not mounted")?;
    if !is_writable(own) {
        return Err(not_allowed(location));
    }
    // Before Linux 5.11 a group could be set not to count its children, which would then escape its limit.
    let counts_children = first_word(own, "memory.use_hierarchy").as_deref() != Some("0");
    if !counts_children && location.directories.len() > 1 {
        return Err(format!(
            "control group {} does not count its children (memory.use_hierarchy is 0)",
            location.path
        ));
    }
    Ok(ParentCgroup {
        directory: own.clone(),
        version: 1,
        has_to_enable: false,
    })
}

fn version_2(location: &CgroupLocation) -> Result<Vec<ParentCgroup>, String> {
    let mut found = Vec::new();
    for (height, directory) in location.directories.iter().enumerate() {
        let is_enabled = has_memory(directory, SUBTREE_CONTROL);
        // Only in our own group: in any other, this would change all its children.
        let has_to_enable =
            !is_enabled && height == 0 && has_memory(directory, "cgroup.controllers");
        if (is_enabled || has_to_enable) && is_writable(directory) {
            found.push(ParentCgroup {
                directory: directory.clone(),
                version: 2,
                has_to_enable,
            });
        }
        if has_limit(directory) {
            break;
        }
    }
    match found.is_empty() {
        true => Err(not_allowed(location)),
        false => Ok(found),
    }
}

fn not_allowed(location: &CgroupLocation) -> String {
    format!(
        "no permission to make a control group at {} (version {})",
        location.path, location.version
    )
}

/// Making a group needs the directory; moving a process into it needs the parent's `cgroup.procs`.
fn is_writable(directory: &Path) -> bool {
    let may_write = |path: &Path| access(path, Access::WRITE_OK).is_ok();
    may_write(directory) && may_write(&directory.join("cgroup.procs"))
}

fn has_memory(directory: &Path, file: &str) -> bool {
    fs::read_to_string(directory.join(file))
        .is_ok_and(|text| text.split_ascii_whitespace().any(|name| name == "memory"))
}

/// Whether a version 2 group limits the memory, CPU time or cores of its processes.
pub fn has_limit(directory: &Path) -> bool {
    let is_set = |file| first_word(directory, file).is_some_and(|word| word != "max");
    ["memory.max", "memory.high", "cpu.max", "cpuset.cpus"]
        .into_iter()
        .any(is_set)
}

fn first_word(directory: &Path, file: &str) -> Option<String> {
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

        /// The candidates, relative to the hierarchy's root; `+` where the controller has to be enabled.
        fn parents(&self, version: u8, own: &str) -> Result<Vec<String>, String> {
            let parents = ParentCgroup::candidates(&self.place(version, own))?;
            let named = |parent: &ParentCgroup| {
                let relative = parent.directory.strip_prefix(self.0.path()).unwrap();
                let mark = if parent.has_to_enable { "+" } else { "" };
                format!("{mark}/{}", relative.display())
            };
            Ok(parents.iter().map(named).collect())
        }
    }

    const ENABLED: (&str, &str) = (SUBTREE_CONTROL, "cpu memory pids\n");
    const HAS_MEMORY: (&str, &str) = ("cgroup.controllers", "cpu memory\n");

    #[test]
    fn in_a_delegated_subtree_the_parent_is_an_ancestor() {
        let tree = Tree::new().with("", &[]).with("user", &[ENABLED]).with(
            "user/shell",
            &[("memory.max", "max\n"), ("cpu.max", "max 100000\n")],
        );
        assert_eq!(tree.parents(2, "user/shell"), Ok(vec!["/user".into()]));
    }

    #[test]
    fn a_group_with_a_limit_is_not_left() {
        for limit in [
            ("memory.max", "8589934592\n"),
            ("memory.high", "8589934592\n"),
            ("cpu.max", "200000 100000\n"),
            ("cpuset.cpus", "0-3\n"),
        ] {
            let tree = Tree::new()
                .with("job", &[ENABLED])
                .with("job/step", &[limit]);
            let refused = tree.parents(2, "job/step").unwrap_err();
            assert!(refused.contains("/own"), "{refused}");
        }
        // A group may be made inside a group with a limit.
        let tree = Tree::new()
            .with("job", &[ENABLED, ("memory.max", "8589934592\n")])
            .with("job/step", &[("cpuset.cpus", "\n")]);
        assert_eq!(tree.parents(2, "job/step"), Ok(vec!["/job".into()]));
    }

    #[test]
    fn the_root_enables_the_controller_itself() {
        let tree = Tree::new().with("", &[HAS_MEMORY, (SUBTREE_CONTROL, "\n")]);
        assert_eq!(tree.parents(2, ""), Ok(vec!["+/".into()]));
        let parents = ParentCgroup::candidates(&tree.place(2, "")).unwrap();
        parents[0].enable_memory().unwrap();
        let written = fs::read_to_string(tree.0.path().join(SUBTREE_CONTROL)).unwrap();
        assert_eq!(written, "+memory");
    }

    #[test]
    fn no_other_group_enables_the_controller() {
        let tree = Tree::new()
            .with("", &[HAS_MEMORY, (SUBTREE_CONTROL, "cpu\n")])
            .with("shell", &[("cgroup.controllers", "cpu\n")]);
        assert!(tree.parents(2, "shell").is_err());
    }

    #[test]
    fn in_version_1_the_parent_is_our_own_group() {
        let tree = Tree::new().with("", &[]).with("a", &[]).with("a/b", &[]);
        assert_eq!(tree.parents(1, "a/b"), Ok(vec!["/a/b".into()]));
        let flat = Tree::new()
            .with("", &[])
            .with("a", &[("memory.use_hierarchy", "0\n")]);
        assert!(flat.parents(1, "a").unwrap_err().contains("use_hierarchy"));
    }

    #[test]
    fn a_group_that_is_missing_or_hidden_is_refused() {
        assert!(Tree::new().parents(1, "gone").is_err());
        assert!(Tree::new().parents(2, "gone").is_err());
        let hidden = CgroupLocation {
            caveat: Some("it has no name here".to_owned()),
            ..Tree::new().place(2, "")
        };
        assert_eq!(
            ParentCgroup::candidates(&hidden),
            Err("it has no name here".to_owned())
        );
    }
}
