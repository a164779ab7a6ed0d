//! The lines of one kill, put together.

use leveloff_model::process::Pid;
use leveloff_model::units::Bytes;

use super::line::{Chosen, Constraint, Line};

/// A process that the kernel killed to have memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kill {
    /// Its number, in the first pid namespace.
    pub pid: Pid,
    /// Its name, safe to print.
    pub name: String,
    /// What it held.
    pub memory: Bytes,
    /// What was full.
    pub full: Full,
    /// The last name of the control group that it was in.
    pub group: Option<String>,
}

/// What was full.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Full {
    /// The machine.
    Machine,
    /// The memory nodes that it may use.
    Nodes,
    /// A control group of this last name, with this limit.
    Group {
        /// `None` when it is not told.
        name: Option<String>,
        /// Likewise.
        limit: Option<Bytes>,
    },
}

/// What was said so far of the kill that is being told. Between two looks the kernel may have told
/// half of it.
#[derive(Debug, Default)]
pub struct Story {
    limit: Option<Bytes>,
    chosen: Option<Chosen>,
}

impl Story {
    /// Takes the next line; the kill, when it is told to its end. Where a group is killed as a whole,
    /// several are told after one reason.
    pub fn hear(&mut self, line: Line) -> Option<Kill> {
        match line {
            Line::Begin => *self = Story::default(),
            Line::GroupLimit(limit) => self.limit = Some(limit),
            Line::Chosen(chosen) => self.chosen = Some(chosen),
            Line::Killed {
                pid,
                name,
                memory,
                in_group,
            } => {
                return Some(Kill {
                    pid,
                    name,
                    memory,
                    full: self.full(in_group),
                    group: self.chosen.as_ref().and_then(|c| c.task_group.clone()),
                });
            }
        }
        None
    }

    fn full(&self, in_group: bool) -> Full {
        match self.chosen.as_ref().map(|chosen| chosen.constraint) {
            Some(Constraint::Nodes) => Full::Nodes,
            Some(Constraint::Group) => self.full_group(),
            None if in_group => self.full_group(),
            Some(Constraint::Machine) | None => Full::Machine,
        }
    }

    fn full_group(&self) -> Full {
        Full::Group {
            name: self.chosen.as_ref().and_then(|c| c.full_group.clone()),
            limit: self.limit,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The kills that these lines tell.
    pub fn told(lines: &[&str]) -> Vec<Kill> {
        let mut story = Story::default();
        let lines = lines.iter().filter_map(|text| Line::parse(text.as_bytes()));
        lines.filter_map(|line| story.hear(line)).collect()
    }

    #[test]
    fn a_group_that_is_killed_as_a_whole_has_one_reason() {
        let kills = told(&[
            "python invoked oom-killer: gfp_mask=0xcc0",
            "memory: usage 1048576kB, limit 1048576kB, failcnt 135",
            "oom-kill:constraint=CONSTRAINT_MEMCG,oom_memcg=/a/job,task_memcg=/a/job,task=python,pid=5,uid=0",
            "Memory cgroup out of memory: Killed process 5 (python) total-vm:9kB, anon-rss:8kB",
            "Tasks in /a/job are going to be killed due to memory.oom.group set",
            "Memory cgroup out of memory: Killed process 6 (sh) total-vm:9kB, anon-rss:1kB",
        ]);
        let full = Full::Group {
            name: Some("job".to_owned()),
            limit: Some(Bytes(1 << 30)),
        };
        assert_eq!(kills.len(), 2);
        for (kill, pid) in kills.iter().zip([5, 6]) {
            assert_eq!((kill.pid, &kill.full), (Pid(pid), &full));
            assert_eq!(kill.group.as_deref(), Some("job"));
        }
    }

    #[test]
    fn one_story_does_not_explain_the_next() {
        let kills = told(&[
            "memory: usage 1048576kB, limit 1048576kB, failcnt 1",
            "Memory cgroup out of memory: Killed process 5 (python) total-vm:9kB, anon-rss:8kB",
            "sh invoked oom-killer: gfp_mask=0xcc0",
            "oom-kill:constraint=CONSTRAINT_NONE,global_oom,task_memcg=/b,task=sh,pid=7,uid=0",
            "Out of memory: Killed process 7 (sh) total-vm:9kB, anon-rss:8kB",
        ]);
        let unnamed = Full::Group {
            name: None,
            limit: Some(Bytes(1 << 30)),
        };
        assert_eq!(kills[0].full, unnamed);
        assert_eq!(kills[1].full, Full::Machine);
    }
}
