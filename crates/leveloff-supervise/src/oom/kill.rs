//! Combines the log lines of one kill.

use leveloff_model::process::Pid;
use leveloff_model::units::Bytes;

use super::log_line::{Constraint, LogLine, Victim};

/// A process that the OOM killer killed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kill {
    /// Its pid, in the first pid namespace.
    pub pid: Pid,
    /// Its name, safe to print.
    pub name: String,
    /// Its memory.
    pub memory: Bytes,
    /// What was full.
    pub cause: OomCause,
    /// The last part of its control group's path.
    pub cgroup: Option<String>,
}

/// What was full.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OomCause {
    /// The machine.
    Machine,
    /// The memory nodes that the process may use.
    Nodes,
    /// A control group.
    Cgroup {
        /// The last part of its path, if the log has it.
        name: Option<String>,
        /// Its limit, if the log has it.
        limit: Option<Bytes>,
    },
}

/// The lines of the current kill so far. Between two calls the kernel may have logged half of them.
#[derive(Debug, Default)]
pub struct KillParser {
    limit: Option<Bytes>,
    victim: Option<Victim>,
}

impl KillParser {
    /// Takes the next line; returns the kill when its last line has come. Where a control group is killed as a whole, several
    /// kills follow one reason.
    pub fn push(&mut self, line: LogLine) -> Option<Kill> {
        match line {
            LogLine::Invoked => *self = KillParser::default(),
            LogLine::CgroupLimit(limit) => self.limit = Some(limit),
            LogLine::Victim(victim) => self.victim = Some(victim),
            LogLine::Killed {
                pid,
                name,
                memory,
                in_cgroup,
            } => {
                return Some(Kill {
                    pid,
                    name,
                    memory,
                    cause: self.cause(in_cgroup),
                    cgroup: self.victim.as_ref().and_then(|it| it.task_cgroup.clone()),
                });
            }
        }
        None
    }

    fn cause(&self, in_cgroup: bool) -> OomCause {
        let by_line = match in_cgroup {
            true => Constraint::Cgroup,
            false => Constraint::Machine,
        };
        let victim = self.victim.as_ref();
        match victim.map_or(by_line, |victim| victim.constraint) {
            Constraint::Machine => OomCause::Machine,
            Constraint::Nodes => OomCause::Nodes,
            Constraint::Cgroup => OomCause::Cgroup {
                name: victim.and_then(|it| it.full_cgroup.clone()),
                limit: self.limit,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The kills in these lines.
    fn kills(lines: &[&str]) -> Vec<Kill> {
        let mut parser = KillParser::default();
        let lines = lines
            .iter()
            .filter_map(|text| LogLine::parse(text.as_bytes()));
        lines.filter_map(|line| parser.push(line)).collect()
    }

    #[test]
    fn a_cgroup_that_is_killed_as_a_whole_has_one_cause() {
        let kills = kills(&[
            "python invoked oom-killer: gfp_mask=0xcc0",
            "memory: usage 1048576kB, limit 1048576kB, failcnt 135",
            "oom-kill:constraint=CONSTRAINT_MEMCG,oom_memcg=/a/job,task_memcg=/a/job,task=python,pid=5,uid=0",
            "Memory cgroup out of memory: Killed process 5 (python) total-vm:9kB, anon-rss:8kB",
            "Tasks in /a/job are going to be killed due to memory.oom.group set",
            "Memory cgroup out of memory: Killed process 6 (sh) total-vm:9kB, anon-rss:1kB",
        ]);
        let cause = OomCause::Cgroup {
            name: Some("job".to_owned()),
            limit: Some(Bytes(1 << 30)),
        };
        assert_eq!(kills.len(), 2);
        for (kill, pid) in kills.iter().zip([5, 6]) {
            assert_eq!((kill.pid, &kill.cause), (Pid(pid), &cause));
            assert_eq!(kill.cgroup.as_deref(), Some("job"));
        }
    }

    #[test]
    fn one_kill_does_not_explain_the_next() {
        let kills = kills(&[
            "memory: usage 1048576kB, limit 1048576kB, failcnt 1",
            "Memory cgroup out of memory: Killed process 5 (python) total-vm:9kB, anon-rss:8kB",
            "sh invoked oom-killer: gfp_mask=0xcc0",
            "oom-kill:constraint=CONSTRAINT_NONE,global_oom,task_memcg=/b,task=sh,pid=7,uid=0",
            "Out of memory: Killed process 7 (sh) total-vm:9kB, anon-rss:8kB",
        ]);
        let unnamed = OomCause::Cgroup {
            name: None,
            limit: Some(Bytes(1 << 30)),
        };
        assert_eq!(kills[0].cause, unnamed);
        assert_eq!(kills[1].cause, OomCause::Machine);
    }
}
