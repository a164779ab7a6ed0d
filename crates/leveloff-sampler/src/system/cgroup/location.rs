//! Finds the memory control group of a process in the file system.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use leveloff_model::process::{Pid, printable};

use super::membership::{CgroupMount, membership};
use crate::kernel::keyed::leading_number;

/// Where a process's memory control group is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CgroupLocation {
    /// 1 or 2.
    pub version: u8,
    /// The group's path as `/proc/PID/cgroup` has it, safe to print.
    pub path: String,
    /// The group's directory, then those of its ancestors, as far as they are mounted.
    pub directories: Vec<PathBuf>,
    /// Set when the group itself cannot be reached and `directories` begins with an ancestor.
    pub caveat: Option<String>,
}

/// Finds the group of `pid` with those of its directories that account memory.
///
/// `mounts` are those of leveloff, which opens the files; `fs_root` is `/`, or the root of a saved tree.
pub(super) fn locate(
    cgroup_file: &[u8],
    mounts: &[CgroupMount],
    fs_root: &Path,
    pid: Pid,
) -> Result<CgroupLocation, String> {
    let mut location = mounted(cgroup_file, mounts, fs_root, pid)?;
    location.directories = accounted(location.directories, location.version);
    if location.directories.is_empty() {
        return Err(format!(
            "the memory controller is not enabled for control group {}; \
             with systemd, set MemoryAccounting=yes on its unit",
            location.path
        ));
    }
    Ok(location)
}

/// The same with all its directories, whether or not they account memory.
pub(super) fn mounted(
    cgroup_file: &[u8],
    mounts: &[CgroupMount],
    fs_root: &Path,
    pid: Pid,
) -> Result<CgroupLocation, String> {
    let member = membership(cgroup_file);
    // With both, version 1 has the memory controller: it can be in one hierarchy only.
    let (version, path) = match (member.v1, member.v2) {
        (Some(path), _) => (1, path),
        (None, Some(path)) => (2, path),
        (None, None) => return Err("no control group accounts its memory".into()),
    };
    let mut directories = None;
    for mount in mounts.iter().filter(|mount| mount.version == version) {
        let point = below(fs_root, &mount.point);
        let found = directories_in(&point, &mount.root, path, pid);
        if let Some(found) = found.filter(|(own, _)| own[0].is_dir()) {
            // Of several mounts, the one that shows most ancestors shows most limits.
            let better = |(old, _): &(Vec<PathBuf>, _)| found.0.len() > old.len();
            if directories.as_ref().is_none_or(better) {
                directories = Some(found);
            }
        }
    }
    let path = printable(path);
    let Some((directories, caveat)) = directories else {
        return Err(format!(
            "control group {path} (version {version}) is not mounted here; run where its hierarchy is"
        ));
    };
    Ok(CgroupLocation {
        version,
        path,
        directories,
        caveat,
    })
}

/// How a group's path relates to the mounted group, both in the namespace of leveloff.
#[derive(Debug, PartialEq, Eq)]
enum Relation<'a> {
    /// Below it, by these names.
    Below(Vec<&'a [u8]>),
    /// Below it, but the names of the first levels are hidden by the namespace.
    Hidden(usize, Vec<&'a [u8]>),
    /// Somewhere else.
    Outside,
}

fn relation<'a>(path: &'a [u8], root: &'a [u8]) -> Relation<'a> {
    let (path_ups, path) = split_ups(path);
    let (root_ups, root) = split_ups(root);
    match path.strip_prefix(&root[..]) {
        Some(names) if path_ups == root_ups => Relation::Below(names.to_vec()),
        // The mounted group is above the namespace's root (`/../..`), as after unsharing the
        // namespace without a new mount.
        _ if root.is_empty() && root_ups > path_ups => {
            Relation::Hidden(root_ups - path_ups, path.to_vec())
        }
        _ => Relation::Outside,
    }
}

/// The number of leading `..`, and the names after them.
fn split_ups(path: &[u8]) -> (usize, Vec<&[u8]>) {
    let names: Vec<&[u8]> = path
        .split(|&b| b == b'/')
        .filter(|name| !name.is_empty())
        .collect();
    let ups = names.iter().take_while(|&&name| name == b"..").count();
    (ups, names[ups..].to_vec())
}

/// The directories of a location, and its caveat.
type Found = (Vec<PathBuf>, Option<String>);

fn directories_in(point: &Path, root: &[u8], path: &[u8], pid: Pid) -> Option<Found> {
    match relation(path, root) {
        Relation::Below(names) => Some((upwards(point, joined(point, &names)), None)),
        Relation::Hidden(levels, names) => {
            let mut budget = SEARCH_LIMIT;
            let own = search(point, levels, &names, pid, &mut budget);
            let caveat = own.is_none().then(|| {
                "its control group has no name in this cgroup namespace; an ancestor is read instead"
                    .to_owned()
            });
            Some((upwards(point, own.unwrap_or_else(|| point.into())), caveat))
        }
        Relation::Outside => None,
    }
}

/// How many directories are searched for a group whose name is hidden. Done once for a target; a large host
/// has some thousands.
const SEARCH_LIMIT: usize = 10_000;

/// The directory `levels` below `dir`, then `names`, whose `cgroup.procs` lists `pid`.
fn search(
    dir: &Path,
    levels: usize,
    names: &[&[u8]],
    pid: Pid,
    budget: &mut usize,
) -> Option<PathBuf> {
    if levels == 0 {
        let own = joined(dir, names);
        return lists(&own, pid).then_some(own);
    }
    for entry in fs::read_dir(dir).ok()?.flatten() {
        *budget = budget.checked_sub(1)?;
        if entry.file_type().is_ok_and(|kind| kind.is_dir())
            && let Some(own) = search(&entry.path(), levels - 1, names, pid, budget)
        {
            return Some(own);
        }
    }
    None
}

fn lists(group: &Path, pid: Pid) -> bool {
    fs::read(group.join("cgroup.procs")).is_ok_and(|procs| {
        procs
            .split(|&b| b == b'\n')
            .filter_map(leading_number)
            .any(|(number, _)| i64::try_from(number) == Ok(pid.0.into()))
    })
}

fn joined(dir: &Path, names: &[&[u8]]) -> PathBuf {
    names.iter().fold(dir.to_path_buf(), |dir, name| {
        dir.join(OsStr::from_bytes(name))
    })
}

fn upwards(point: &Path, own: PathBuf) -> Vec<PathBuf> {
    own.ancestors()
        .take_while(|dir| dir.starts_with(point))
        .map(Path::to_path_buf)
        .collect()
}

/// The directories that account memory. In version 2 a leaf may have no memory files, and the nearest
/// ancestor that has them accounts for it. The root never has them.
fn accounted(directories: Vec<PathBuf>, version: u8) -> Vec<PathBuf> {
    if version == 1 {
        return directories;
    }
    directories
        .into_iter()
        .filter(|dir| dir.join("memory.current").exists())
        .collect()
}

fn below(fs_root: &Path, absolute: &Path) -> PathBuf {
    fs_root.join(absolute.strip_prefix("/").unwrap_or(absolute))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(path: &str, root: &str, expected: Relation<'_>) {
        assert_eq!(
            relation(path.as_bytes(), root.as_bytes()),
            expected,
            "{path} seen from a mount of {root}"
        );
    }

    #[test]
    fn paths_are_taken_relative_to_what_is_mounted() {
        check("/a/b", "/", Relation::Below(vec![b"a", b"b"]));
        check("/docker/f00d", "/docker/f00d", Relation::Below(vec![]));
        check(
            "/docker/f00d/sub",
            "/docker/f00d",
            Relation::Below(vec![b"sub"]),
        );
        check("/docker/f00dish", "/docker/f00d", Relation::Outside);
        check("/../other", "/", Relation::Outside);
        check("/../../a", "/../..", Relation::Below(vec![b"a"]));
        check("/job", "/../..", Relation::Hidden(2, vec![b"job"]));
        check("/", "/..", Relation::Hidden(1, vec![]));
        check("/", "/../x", Relation::Outside);
    }

    proptest! {
        #[test]
        fn no_paths_make_it_panic(path in "[/.a]{0,30}", root in "[/.a]{0,30}") {
            let _ = relation(path.as_bytes(), root.as_bytes());
        }
    }
}
