//! What can be read about processes.

use std::fs;
use std::io;
use std::time::Instant;

use leveloff_model::process::Pid;
use leveloff_model::units::Bytes;
use leveloff_sampler::kernel::{keyed, rollup, status};

use super::{Check, Machine};

pub(super) fn checks(machine: &Machine) -> Vec<Check> {
    let own_rollup = read_rollup(machine, machine.pid);
    vec![
        kernel(machine),
        proc(machine),
        hidepid(machine),
        own_pss(&own_rollup),
        others_pss(machine),
        ptrace(machine),
        descriptors(machine),
        open_files(machine),
        pidfd(machine),
    ]
}

/// What came with which kernel, and what leveloff does without it.
const SINCE: [((u32, u32), &str); 4] = [
    (
        (4, 14),
        "smaps_rollup (PSS is then added up from smaps, at about twice the cost)",
    ),
    ((5, 3), "pidfd_open (signals then go to pids)"),
    (
        (5, 9),
        "the parts of PSS (file pages are then counted as used)",
    ),
    ((6, 2), "a cheap count of descriptors (each is then listed)"),
];

fn kernel(machine: &Machine) -> Check {
    let name = "kernel";
    let Some(version) = machine.kernel() else {
        let text = format!(
            "'{}' is not a Linux release that leveloff knows",
            machine.release
        );
        return Check::gap(name, text, "the checks below show what works");
    };
    let lacking: Vec<&str> = SINCE
        .iter()
        .filter(|(since, _)| version < *since)
        .map(|(_, what)| *what)
        .collect();
    let text = format!("Linux {}", machine.release);
    if lacking.is_empty() {
        Check::ok(name, format!("{text} has everything that leveloff reads"))
    } else {
        Check::gap(
            name,
            format!("{text} lacks {}", lacking.join(", ")),
            "Linux 6.2 or newer has all of it",
        )
    }
}

fn proc(machine: &Machine) -> Check {
    match machine.proc.pids() {
        Ok(pids) if !pids.is_empty() => {
            Check::ok("proc", format!("{} processes are listed", pids.len()))
        }
        _ => Check::missing(
            "proc",
            format!("no processes in {}", machine.proc.path().display()),
            "mount -t proc proc /proc",
        ),
    }
}

fn hidepid(machine: &Machine) -> Check {
    let name = "hidepid";
    let mounts = fs::read_to_string(machine.proc.path().join("self/mountinfo")).unwrap_or_default();
    match hidepid_of(&mounts) {
        None | Some("0" | "off") => Check::ok(name, "processes of all users are listed"),
        Some(value) => Check::gap(
            name,
            format!("/proc hides other users' processes (hidepid={value})"),
            "run as the user of the training, or in the group of the mount's gid= option",
        ),
    }
}

/// The option of the last mount on /proc, which is the one that is seen.
fn hidepid_of(mountinfo: &str) -> Option<&str> {
    let line = mountinfo
        .lines()
        .rfind(|line| line.contains(" - proc ") && line.split(' ').nth(4) == Some("/proc"))?;
    line.split([' ', ','])
        .find_map(|option| option.strip_prefix("hidepid="))
}

struct TimedRollup {
    pss: Bytes,
    millis: f64,
}

fn read_rollup(machine: &Machine, pid: Pid) -> io::Result<TimedRollup> {
    let start = Instant::now();
    let text = fs::read(machine.proc.process(pid).join("smaps_rollup"))?;
    let millis = start.elapsed().as_secs_f64() * 1e3;
    let read = rollup::parse(&text).ok_or(io::ErrorKind::InvalidData)?;
    Ok(TimedRollup {
        pss: read.pss,
        millis,
    })
}

fn own_pss(own: &io::Result<TimedRollup>) -> Check {
    let name = "pss";
    match own {
        Ok(read) => Check::ok(
            name,
            format!(
                "smaps_rollup: {:.2} ms for our own {}; expect 15 to 30 ms for each GiB of a \
                 trainer, taken on a budget (--pss-budget)",
                read.millis, read.pss
            ),
        ),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Check::gap(
            name,
            "no smaps_rollup; PSS is added up from smaps, at about twice the cost",
            "Linux 4.14 or newer",
        ),
        Err(error) => Check::missing(
            name,
            format!("cannot read our own smaps_rollup: {error}; shared pages would count twice"),
            "a container's security profile may forbid it: try --security-opt seccomp=unconfined",
        ),
    }
}

fn others_pss(machine: &Machine) -> Check {
    let name = "pss of other users";
    let next = "run as the user of the training, or: sudo setcap cap_sys_ptrace+ep leveloff";
    match other_users_process(machine) {
        Some(pid) => match read_rollup(machine, pid) {
            Ok(_) => Check::ok(name, format!("readable (tried {pid})")),
            Err(error) => Check::gap(name, format!("not readable (tried {pid}: {error})"), next),
        },
        None if has_ptrace_capability(machine) => Check::ok(
            name,
            "no process of another user runs here; CAP_SYS_PTRACE is held",
        ),
        None => Check::gap(
            name,
            "no process of another user runs here; CAP_SYS_PTRACE is not held",
            next,
        ),
    }
}

/// A process of another user that has memory.
fn other_users_process(machine: &Machine) -> Option<Pid> {
    machine.proc.pids().ok()?.into_iter().find(|&pid| {
        fs::read(machine.proc.process(pid).join("status")).is_ok_and(|text| {
            status::memory(&text).is_some()
                && status::effective_uid(&text).is_some_and(|uid| uid != machine.uid)
        })
    })
}

/// CAP_SYS_PTRACE is capability 19 (linux/capability.h).
const CAP_SYS_PTRACE: u32 = 19;

fn has_ptrace_capability(machine: &Machine) -> bool {
    let path = machine.proc.process(machine.pid).join("status");
    let text = fs::read_to_string(path).unwrap_or_default();
    text.lines()
        .find_map(|line| line.strip_prefix("CapEff:"))
        .and_then(|set| u64::from_str_radix(set.trim(), 16).ok())
        .is_some_and(|set| set & (1 << CAP_SYS_PTRACE) != 0)
}

fn ptrace(machine: &Machine) -> Check {
    let name = "ptrace scope";
    let path = machine.proc.path().join("sys/kernel/yama/ptrace_scope");
    match fs::read(path)
        .ok()
        .and_then(|text| keyed::first_number(&text))
    {
        None | Some(0) => Check::ok(name, "not restricted"),
        // Yama restricts attaching; reading memory maps it leaves alone.
        Some(level) => Check::ok(
            name,
            format!(
                "{level}: leveloff only reads and is not affected; py-spy and memray attach \
                 would need sudo"
            ),
        ),
    }
}

fn descriptors(machine: &Machine) -> Check {
    let name = "descriptor counts";
    let path = machine.proc.process(machine.pid).join("fd");
    let listed = fs::read_dir(&path).map(Iterator::count);
    match (listed, fs::metadata(&path)) {
        // Listing opens one more, and another thread may have opened or closed some.
        (Ok(listed), Ok(directory)) if directory.len().abs_diff(listed as u64) <= 4 => {
            Check::ok(name, "counted by the size of /proc/PID/fd, with one stat")
        }
        (Ok(_), _) => Check::gap(
            name,
            "are listed one by one, so they are counted less often",
            "Linux 6.2 or newer has the number in one stat",
        ),
        (Err(error), _) => Check::missing(
            name,
            format!("cannot list our own descriptors: {error}"),
            "mount -t proc proc /proc",
        ),
    }
}

/// Files that the sampler keeps open for a process, at most, and for itself.
const FILES_PER_PROCESS: u64 = 4;
const OWN_FILES: u64 = 64;

fn open_files(machine: &Machine) -> Check {
    let name = "open files";
    let Some(limit) = machine.open_files else {
        return Check::ok(name, "no limit");
    };
    let room = limit.saturating_sub(OWN_FILES) / FILES_PER_PROCESS;
    let running = machine.proc.pids().map_or(0, |pids| pids.len() as u64);
    let text = format!("limit {limit}: {room} processes can be kept open, {running} run here");
    if running <= room {
        Check::ok(name, text)
    } else {
        Check::gap(
            name,
            format!(
                "{text}; the others are opened again for every sample, which costs several times as much"
            ),
            format!(
                "ulimit -n {}",
                (running * FILES_PER_PROCESS + OWN_FILES).next_power_of_two()
            ),
        )
    }
}

fn pidfd(machine: &Machine) -> Check {
    if machine.pidfd {
        Check::ok("pidfd", "a stop request cannot hit a reused pid")
    } else {
        Check::gap(
            "pidfd",
            "no pidfd_open; a signal could reach another process that got the same pid",
            "Linux 5.3 or newer, or a container profile that allows pidfd_open",
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_visible_mount_of_proc_decides_hidepid() {
        let mounts = "22 27 0:21 / /proc rw,relatime - proc proc rw,hidepid=invisible\n\
                      23 27 0:21 / /other/proc rw - proc proc rw,hidepid=2\n";
        assert_eq!(hidepid_of(mounts), Some("invisible"));
        assert_eq!(hidepid_of("22 27 0:21 / /proc rw - proc proc rw\n"), None);
        let covered = format!("{mounts}24 27 0:22 / /proc rw - proc proc rw\n");
        assert_eq!(hidepid_of(&covered), None);
    }
}
