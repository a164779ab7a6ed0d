//! Parses the lines of the kernel's log that belong to an OOM kill.

use leveloff_model::process::{Pid, printable};
use leveloff_model::units::Bytes;

/// A line about an OOM kill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LogLine {
    /// An allocation failed; the following lines belong to it.
    Invoked,
    /// The limit of the full control group.
    CgroupLimit(Bytes),
    /// The reason, and the process that the kernel chose.
    Victim(Victim),
    /// The process that was killed.
    Killed {
        /// Its pid, in the first pid namespace.
        pid: Pid,
        /// Its name, safe to print.
        name: String,
        /// Its anonymous and shared memory.
        memory: Bytes,
        /// Whether the line names a full control group.
        in_cgroup: bool,
    },
}

/// The line that begins with `oom-kill:`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Victim {
    /// What was full.
    pub constraint: Constraint,
    /// The last part of the full control group's path.
    pub full_cgroup: Option<String>,
    /// The last part of the path of the process's control group.
    pub task_cgroup: Option<String>,
}

/// What was full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Constraint {
    /// The machine.
    Machine,
    /// A control group.
    Cgroup,
    /// The memory nodes that the process may use.
    Nodes,
}

/// Whether a line belongs into a bundle.
pub fn is_about_oom(text: &[u8]) -> bool {
    let starts = [&b"oom-kill:"[..], b"oom_reaper:", b"memory: usage "];
    starts.iter().any(|start| text.starts_with(start))
        || [&b"ut of memory: "[..], KILLED, INVOKED]
            .iter()
            .any(|words| memchr::memmem::find(text, words).is_some())
}

const INVOKED: &[u8] = b" invoked oom-killer:";
const KILLED: &[u8] = b"Killed process ";

impl LogLine {
    /// Parses a line; `None` for all others.
    pub fn parse(text: &[u8]) -> Option<LogLine> {
        if let Some(facts) = text.strip_prefix(b"oom-kill:constraint=") {
            return Some(LogLine::Victim(Victim::parse(facts)));
        }
        if text.starts_with(b"memory: usage ") {
            return amount(text, b" limit ").map(LogLine::CgroupLimit);
        }
        if memchr::memmem::find(text, INVOKED).is_some() {
            return Some(LogLine::Invoked);
        }
        killed(text)
    }
}

impl Victim {
    /// A name may contain anything, also commas, so the ends are searched from the right.
    fn parse(facts: &[u8]) -> Victim {
        let constraint = match facts.split(|&b| b == b',').next() {
            Some(b"CONSTRAINT_MEMCG") => Constraint::Cgroup,
            Some(b"CONSTRAINT_CPUSET" | b"CONSTRAINT_MEMORY_POLICY") => Constraint::Nodes,
            _ => Constraint::Machine,
        };
        let end = memchr::memmem::rfind(facts, b",task=").unwrap_or(facts.len());
        let facts = &facts[..end];
        Victim {
            constraint,
            full_cgroup: between(facts, b",oom_memcg=", b",task_memcg=").and_then(last_part),
            task_cgroup: between(facts, b",task_memcg=", b"").and_then(last_part),
        }
    }
}

/// `Memory cgroup out of memory: Killed process 12 (python) total-vm:9kB, anon-rss:5kB, …`; older
/// kernels omit the beginning, or print `, UID 0,` after the name.
fn killed(text: &[u8]) -> Option<LogLine> {
    let start = memchr::memmem::find(text, KILLED)?;
    let rest = &text[start + KILLED.len()..];
    let open = rest.iter().position(|&b| b == b'(')?;
    let numbers = memchr::memmem::rfind(rest, b"total-vm:")?;
    let close = rest[..numbers].iter().rposition(|&b| b == b')')?;
    let pid = std::str::from_utf8(rest[..open].trim_ascii()).ok()?;
    let held = [&b" anon-rss:"[..], b" shmem-rss:"].map(|key| amount(&rest[numbers..], key));
    Some(LogLine::Killed {
        pid: Pid(pid.trim_end_matches(',').parse().ok()?),
        name: printable(rest.get(open + 1..close)?),
        memory: held.into_iter().flatten().sum(),
        in_cgroup: text.starts_with(b"Memory cgroup out of memory"),
    })
}

/// The number of kB after a key.
fn amount(text: &[u8], key: &[u8]) -> Option<Bytes> {
    let start = memchr::memmem::find(text, key)? + key.len();
    let digits = text[start..].split(|b| !b.is_ascii_digit()).next()?;
    let kib = std::str::from_utf8(digits).ok()?.parse().ok()?;
    Some(Bytes::from_kib(kib))
}

fn between<'a>(text: &'a [u8], start: &[u8], end: &[u8]) -> Option<&'a [u8]> {
    let from = memchr::memmem::find(text, start)? + start.len();
    let rest = &text[from..];
    match end {
        b"" => Some(rest),
        end => Some(&rest[..memchr::memmem::rfind(rest, end)?]),
    }
}

fn last_part(path: &[u8]) -> Option<String> {
    let name = path.rsplit(|&b| b == b'/').next()?;
    (!name.is_empty()).then(|| printable(name))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// As Linux 6.18 and 5.15 write it; partly made up.
    const VICTIM: &str = "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,\
        mems_allowed=0,oom_memcg=/docker/f00d,task_memcg=/docker/f00d/job,task=python3,pid=21708,uid=0";

    fn killed_line(text: &str) -> (i32, String, Bytes, bool) {
        match LogLine::parse(text.as_bytes()) {
            Some(LogLine::Killed {
                pid,
                name,
                memory,
                in_cgroup,
            }) => (pid.0, name, memory, in_cgroup),
            other => panic!("{text}: {other:?}"),
        }
    }

    fn victim_line(text: &str) -> Victim {
        match LogLine::parse(text.as_bytes()) {
            Some(LogLine::Victim(victim)) => victim,
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn a_kill_is_read_from_new_and_old_kernels() {
        let numbers = "total-vm:9000kB, anon-rss:4000kB, file-rss:500kB, shmem-rss:96kB";
        let name = |text| killed_line(&format!("{text} {numbers}, UID:0 pgtables:256kB"));
        let memory = Bytes::from_kib(4096);
        assert_eq!(
            name("Memory cgroup out of memory: Killed process 12 (python3)"),
            (12, "python3".into(), memory, true)
        );
        assert_eq!(
            name("Out of memory: Killed process 4312 (pt_main_thread)"),
            (4312, "pt_main_thread".into(), memory, false)
        );
        assert_eq!(name("Killed process 7 (a) (b), UID 1000,").1, "a) (b");
        assert_eq!(name("Killed process 7, (x\n),").1, "x\\n");
    }

    #[test]
    fn the_constraint_and_the_control_groups_are_read() {
        let victim = victim_line(VICTIM);
        assert_eq!(victim.constraint, Constraint::Cgroup);
        assert_eq!(victim.full_cgroup.as_deref(), Some("f00d"));
        assert_eq!(victim.task_cgroup.as_deref(), Some("job"));
        let machine = victim_line(
            "oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=/,mems_allowed=0,\
             global_oom,task_memcg=/user.slice/a,b,task=x,task=y,pid=1,uid=0",
        );
        assert_eq!(machine.constraint, Constraint::Machine);
        assert_eq!(machine.full_cgroup, None);
        assert_eq!(machine.task_cgroup.as_deref(), Some("a,b,task=x"));
        let nodes = victim_line("oom-kill:constraint=CONSTRAINT_CPUSET,nodemask=0");
        assert_eq!(nodes.constraint, Constraint::Nodes);
    }

    #[test]
    fn the_limit_and_the_invocation_are_read() {
        let limit = LogLine::parse(b"memory: usage 97656kB, limit 97656kB, failcnt 135");
        assert_eq!(limit, Some(LogLine::CgroupLimit(Bytes::from_kib(97_656))));
        let begin =
            LogLine::parse(b"python3 invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0");
        assert_eq!(begin, Some(LogLine::Invoked));
        for other in [
            "",
            "Killed process",
            "Killed process x (y) total-vm:",
            "usb 1-1: new",
        ] {
            assert_eq!(LogLine::parse(other.as_bytes()), None, "{other}");
            assert!(!is_about_oom(other.as_bytes()) || other.contains("process "));
        }
        assert!(is_about_oom(VICTIM.as_bytes()));
        assert!(is_about_oom(b"Out of memory: Killed process 1 (x)"));
    }

    proptest! {
        #[test]
        fn any_bytes_are_parsed_without_a_panic(text in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = (LogLine::parse(&text), is_about_oom(&text));
        }

        #[test]
        fn any_fragments_are_parsed_without_a_panic(
            text in "(oom-kill:constraint=|Killed process |,task=|,task_memcg=|,oom_memcg=|total-vm:|anon-rss:|[()a/0-9, ]){0,9}"
        ) {
            let _ = LogLine::parse(text.as_bytes());
        }
    }
}
