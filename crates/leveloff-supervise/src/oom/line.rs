//! The lines of the kernel's log that belong to an OOM kill: bytes in, values out.

use leveloff_model::process::{Pid, printable};
use leveloff_model::units::Bytes;

/// A line that is understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// Somebody found no memory; what follows is about that.
    Begin,
    /// The limit of the control group that is full.
    GroupLimit(Bytes),
    /// Why, and who was chosen.
    Chosen(Chosen),
    /// This one was killed.
    Killed {
        /// Its number, in the first pid namespace.
        pid: Pid,
        /// Its name, safe to print.
        name: String,
        /// What it held in memory of its own and shared memory.
        memory: Bytes,
        /// Whether the line itself says that a control group was full.
        in_group: bool,
    },
}

/// The line that begins with `oom-kill:`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chosen {
    /// What was full.
    pub constraint: Constraint,
    /// The last name of the control group whose limit it was.
    pub full_group: Option<String>,
    /// The last name of the one that the process is in.
    pub task_group: Option<String>,
}

/// What was full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Constraint {
    /// The machine.
    Machine,
    /// A control group.
    Group,
    /// The memory nodes that the process may use.
    Nodes,
}

/// What a post-mortem wants to see of the log.
pub fn is_telling(text: &[u8]) -> bool {
    let starts = [&b"oom-kill:"[..], b"oom_reaper:", b"memory: usage "];
    starts.iter().any(|start| text.starts_with(start))
        || [&b"ut of memory: "[..], KILLED, BEGIN]
            .iter()
            .any(|words| memchr::memmem::find(text, words).is_some())
}

const BEGIN: &[u8] = b" invoked oom-killer:";
const KILLED: &[u8] = b"Killed process ";

impl Line {
    /// Understands a line; `None` for all others.
    pub fn parse(text: &[u8]) -> Option<Line> {
        if let Some(facts) = text.strip_prefix(b"oom-kill:constraint=") {
            return Some(Line::Chosen(Chosen::parse(facts)));
        }
        if text.starts_with(b"memory: usage ") {
            return amount(text, b" limit ").map(Line::GroupLimit);
        }
        if memchr::memmem::find(text, BEGIN).is_some() {
            return Some(Line::Begin);
        }
        killed(text)
    }
}

impl Chosen {
    /// A name may hold anything, commas as well; so the ends are looked for from the right.
    fn parse(facts: &[u8]) -> Chosen {
        let constraint = match facts.split(|&b| b == b',').next() {
            Some(b"CONSTRAINT_MEMCG") => Constraint::Group,
            Some(b"CONSTRAINT_CPUSET" | b"CONSTRAINT_MEMORY_POLICY") => Constraint::Nodes,
            _ => Constraint::Machine,
        };
        let end = memchr::memmem::rfind(facts, b",task=").unwrap_or(facts.len());
        let facts = &facts[..end];
        Chosen {
            constraint,
            full_group: between(facts, b",oom_memcg=", b",task_memcg=").and_then(last_name),
            task_group: between(facts, b",task_memcg=", b"").and_then(last_name),
        }
    }
}

/// `Memory cgroup out of memory: Killed process 12 (python) total-vm:9kB, anon-rss:5kB, …`; older
/// kernels leave the beginning out, or say `, UID 0,` behind the name.
fn killed(text: &[u8]) -> Option<Line> {
    let start = memchr::memmem::find(text, KILLED)?;
    let rest = &text[start + KILLED.len()..];
    let open = rest.iter().position(|&b| b == b'(')?;
    let numbers = memchr::memmem::rfind(rest, b"total-vm:")?;
    let close = rest[..numbers].iter().rposition(|&b| b == b')')?;
    let pid = std::str::from_utf8(rest[..open].trim_ascii()).ok()?;
    let held = [&b" anon-rss:"[..], b" shmem-rss:"].map(|key| amount(&rest[numbers..], key));
    Some(Line::Killed {
        pid: Pid(pid.trim_end_matches(',').parse().ok()?),
        name: printable(rest.get(open + 1..close)?),
        memory: held.into_iter().flatten().sum(),
        in_group: text.starts_with(b"Memory cgroup out of memory"),
    })
}

/// The number of kB behind a key.
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

fn last_name(path: &[u8]) -> Option<String> {
    let name = path.rsplit(|&b| b == b'/').next()?;
    (!name.is_empty()).then(|| printable(name))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// As Linux 6.18 and 5.15 write them, by hand in parts.
    const CHOSEN: &str = "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,\
        mems_allowed=0,oom_memcg=/docker/f00d,task_memcg=/docker/f00d/job,task=python3,pid=21708,uid=0";

    fn killed_line(text: &str) -> (i32, String, Bytes, bool) {
        match Line::parse(text.as_bytes()) {
            Some(Line::Killed {
                pid,
                name,
                memory,
                in_group,
            }) => (pid.0, name, memory, in_group),
            other => panic!("{text}: {other:?}"),
        }
    }

    fn chosen_line(text: &str) -> Chosen {
        match Line::parse(text.as_bytes()) {
            Some(Line::Chosen(chosen)) => chosen,
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
    fn what_was_full_is_read_with_the_groups() {
        let chosen = chosen_line(CHOSEN);
        assert_eq!(chosen.constraint, Constraint::Group);
        assert_eq!(chosen.full_group.as_deref(), Some("f00d"));
        assert_eq!(chosen.task_group.as_deref(), Some("job"));
        let machine = chosen_line(
            "oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=/,mems_allowed=0,\
             global_oom,task_memcg=/user.slice/a,b,task=x,task=y,pid=1,uid=0",
        );
        assert_eq!(machine.constraint, Constraint::Machine);
        assert_eq!(machine.full_group, None);
        assert_eq!(machine.task_group.as_deref(), Some("a,b,task=x"));
        let nodes = chosen_line("oom-kill:constraint=CONSTRAINT_CPUSET,nodemask=0");
        assert_eq!(nodes.constraint, Constraint::Nodes);
    }

    #[test]
    fn the_limit_and_the_beginning_are_read() {
        let limit = Line::parse(b"memory: usage 97656kB, limit 97656kB, failcnt 135");
        assert_eq!(limit, Some(Line::GroupLimit(Bytes::from_kib(97_656))));
        let begin = Line::parse(b"python3 invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0");
        assert_eq!(begin, Some(Line::Begin));
        for other in [
            "",
            "Killed process",
            "Killed process x (y) total-vm:",
            "usb 1-1: new",
        ] {
            assert_eq!(Line::parse(other.as_bytes()), None, "{other}");
            assert!(!is_telling(other.as_bytes()) || other.contains("process "));
        }
        assert!(is_telling(CHOSEN.as_bytes()));
        assert!(is_telling(b"Out of memory: Killed process 1 (x)"));
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(text in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = (Line::parse(&text), is_telling(&text));
        }

        #[test]
        fn no_words_make_it_panic(
            text in "(oom-kill:constraint=|Killed process |,task=|,task_memcg=|,oom_memcg=|total-vm:|anon-rss:|[()a/0-9, ]){0,9}"
        ) {
            let _ = Line::parse(text.as_bytes());
        }
    }
}
