//! Detects whether a process runs in a container.

use leveloff_model::process::Pid;

use crate::proc_root::ProcRoot;

/// The namespaces that a container has of its own, each with the inode of the initial one, which the kernel
/// fixes (`include/linux/proc_ns.h`).
const FIRST: [(&str, &str); 2] = [
    ("pid", "pid:[4026531836]"),
    ("cgroup", "cgroup:[4026531835]"),
];

/// Whether it has a pid or cgroup namespace of its own. There, processes that are not visible share the
/// machine's memory.
///
/// Where the namespaces of the process may not be read, those of leveloff are used.
pub fn is_contained(proc_root: &ProcRoot, pid: Pid) -> bool {
    let of = |process: &std::path::Path| {
        FIRST.iter().any(|(name, first)| {
            let link = std::fs::read_link(process.join("ns").join(name));
            link.is_ok_and(|link| link.to_str().is_some_and(|link| link != *first))
        })
    };
    of(&proc_root.process(pid)) || of(&proc_root.path().join("self"))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn contained(pid_ns: &str, cgroup_ns: &str) -> bool {
        let tree = tempfile::tempdir().unwrap();
        let ns = tree.path().join("7/ns");
        std::fs::create_dir_all(&ns).unwrap();
        symlink(pid_ns, ns.join("pid")).unwrap();
        symlink(cgroup_ns, ns.join("cgroup")).unwrap();
        is_contained(&ProcRoot::at(tree.path()), Pid(7))
    }

    #[test]
    fn a_namespace_of_its_own_is_a_container() {
        assert!(!contained("pid:[4026531836]", "cgroup:[4026531835]"));
        assert!(contained("pid:[4026532211]", "cgroup:[4026531835]"));
        assert!(contained("pid:[4026531836]", "cgroup:[4026532212]"));
    }

    #[test]
    fn what_cannot_be_looked_at_is_none() {
        let tree = tempfile::tempdir().unwrap();
        assert!(!is_contained(&ProcRoot::at(tree.path()), Pid(7)));
    }
}
