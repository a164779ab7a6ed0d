//! Removes the control groups that a killed leveloff has left.

use std::fs;
use std::path::Path;

use leveloff_model::process::{Pid, ProcessKey, StartTicks};
use leveloff_sampler::proc_root::{ProcRoot, key_of};

const PREFIX: &str = "leveloff-";

/// The name of the group that `owner` makes: `leveloff-PID-START`.
pub fn name(owner: ProcessKey) -> String {
    format!("{PREFIX}{}-{}", owner.pid.0, owner.start.0)
}

/// Removes the groups in `parent` that have such a name, whose owner has exited, and that are empty: the kernel refuses to
/// remove any other.
pub fn remove(parent: &Path, proc: &ProcRoot) {
    // A group that cannot be listed or removed does no harm.
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let owner = entry.file_name().to_str().and_then(owner);
        if let Some(owner) = owner
            && !is_alive(owner, proc)
        {
            let _ = fs::remove_dir(entry.path());
        }
    }
}

fn owner(name: &str) -> Option<ProcessKey> {
    let (pid, start) = name.strip_prefix(PREFIX)?.split_once('-')?;
    Some(ProcessKey {
        pid: Pid(pid.parse().ok()?),
        start: StartTicks(start.parse().ok()?),
    })
}

fn is_alive(owner: ProcessKey, proc: &ProcRoot) -> bool {
    key_of(proc, owner.pid).is_ok_and(|now| now == owner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_empty_groups_of_exited_owners_are_removed() {
        let here = Pid(std::process::id().try_into().unwrap());
        let ours = key_of(&ProcRoot::live(), here).unwrap();
        let reused = ProcessKey {
            start: StartTicks(ours.start.0 + 1),
            ..ours
        };
        let place = tempfile::tempdir().unwrap();
        let busy = "leveloff-1-99999999999";
        let stay = [
            name(ours),
            "leveloff-12".into(),
            "leveloff-x-y".into(),
            busy.into(),
        ];
        for group in stay.iter().chain([&name(reused)]) {
            fs::create_dir(place.path().join(group)).unwrap();
        }
        fs::write(place.path().join(busy).join("cgroup.procs"), "1\n").unwrap();
        remove(place.path(), &ProcRoot::live());
        for group in &stay {
            assert!(place.path().join(group).exists(), "{group}");
        }
        assert!(!place.path().join(name(reused)).exists());
    }
}
