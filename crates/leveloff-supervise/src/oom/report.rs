//! The report of an OOM kill.

use leveloff_model::units::Bytes;

use super::kill::{Kill, OomCause};

/// The OOM killer ended processes of the run, by this evidence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OomReport {
    /// The kernel's log names the process.
    Log {
        /// The largest killed process.
        kill: Kill,
        /// The number of other killed processes.
        others: usize,
        /// The limit of the run's own control group, if it has one.
        job_limit: Option<Bytes>,
    },
    /// The counter of the run's own control group rose.
    JobCgroup {
        /// Its limit.
        limit: Bytes,
    },
    /// The counter of the control group that the run is in rose.
    Cgroup {
        /// Its limit, if it has one.
        limit: Option<Bytes>,
        /// Whether the run ended by signal 9. If not, the killed process may be another one in the control group.
        is_certain: bool,
    },
    /// The machine's counter rose, and the run was ended by signal 9.
    Machine,
}

/// The advice; in percent, so that it fits any limit.
const NEXT: &str =
    "next time: leveloff run --limit 90% -- … stops it with a checkpoint before that";

const A_PROCESS: &str = "a process of this run";

impl OomReport {
    /// From the kills in the log.
    pub fn from_log(kills: &[Kill], job_limit: Option<Bytes>) -> Option<OomReport> {
        Some(OomReport::Log {
            kill: kills.iter().max_by_key(|kill| kill.memory)?.clone(),
            others: kills.len() - 1,
            job_limit,
        })
    }

    /// Who ended the run, in a few words.
    pub fn brief(&self) -> &'static str {
        match self.is_certain() {
            true => "by the kernel's OOM killer",
            false => "probably by the kernel's OOM killer",
        }
    }

    /// Which process, why, and what to do next time.
    pub fn message(&self) -> String {
        let ended = match self.is_certain() {
            true => "ended",
            false => "probably ended",
        };
        let (process, why) = match self {
            OomReport::Log {
                kill,
                others,
                job_limit,
            } => (named(kill, *others), cause(kill, *job_limit)),
            OomReport::JobCgroup { limit } => (A_PROCESS.to_owned(), isolate_limit(*limit)),
            OomReport::Cgroup { limit, .. } => {
                let limit =
                    limit.map_or_else(String::new, |limit| format!(", limited to {limit},"));
                let why = format!("its control group{limit} counts one more kill");
                (A_PROCESS.to_owned(), why)
            }
            OomReport::Machine => (
                A_PROCESS.to_owned(),
                "the machine counts one more kill; only root can read in the kernel's log which process it was"
                    .to_owned(),
            ),
        };
        format!("the kernel's OOM killer {ended} {process}: {why}; {NEXT}")
    }

    fn is_certain(&self) -> bool {
        match self {
            OomReport::Log { .. } | OomReport::JobCgroup { .. } => true,
            OomReport::Cgroup { is_certain, .. } => *is_certain,
            OomReport::Machine => false,
        }
    }
}

fn named(kill: &Kill, others: usize) -> String {
    let more = match others {
        0 => String::new(),
        others => format!(" and {others} more"),
    };
    format!(
        "process {} ({}, {}){more}",
        kill.pid, kill.name, kill.memory
    )
}

fn isolate_limit(limit: Bytes) -> String {
    format!("the limit of --isolate ({limit}) was reached")
}

fn cause(kill: &Kill, job_limit: Option<Bytes>) -> String {
    match (&kill.cause, job_limit) {
        (OomCause::Machine, _) => "the machine's memory was full".to_owned(),
        (OomCause::Nodes, _) => "the memory nodes that it may use were full".to_owned(),
        // The full control group is the one that the process was in.
        (OomCause::Cgroup { name, .. }, Some(limit)) if name.is_some() && *name == kill.cgroup => {
            isolate_limit(limit)
        }
        (OomCause::Cgroup { limit, .. }, _) => {
            let limit = limit.map_or_else(String::new, |limit| format!(" of {limit}"));
            format!("its control group's limit{limit} was reached")
        }
    }
}

#[cfg(test)]
mod tests {
    use leveloff_model::process::Pid;

    use super::*;

    fn kill(cause: OomCause) -> Kill {
        Kill {
            pid: Pid(4312),
            name: "python".to_owned(),
            memory: Bytes(28 << 30),
            cause,
            cgroup: Some("job".to_owned()),
        }
    }

    fn check(cause: OomCause, job_limit: Option<Bytes>, expected: &str) {
        let small = Kill {
            memory: Bytes(1),
            ..kill(OomCause::Machine)
        };
        let report = OomReport::from_log(&[small, kill(cause)], job_limit).unwrap();
        let start = "the kernel's OOM killer ended process 4312 (python, 28.0 GiB) and 1 more: ";
        assert_eq!(report.message(), format!("{start}{expected}; {NEXT}"));
    }

    #[test]
    fn the_largest_process_is_named_with_the_cause() {
        let group = |name: &str, limit| OomCause::Cgroup {
            name: Some(name.to_owned()),
            limit,
        };
        let limit = Some(Bytes(30 << 30));
        check(OomCause::Machine, None, "the machine's memory was full");
        check(
            group("pod", limit),
            None,
            "its control group's limit of 30.0 GiB was reached",
        );
        check(
            group("job", limit),
            limit,
            "the limit of --isolate (30.0 GiB) was reached",
        );
        check(
            group("pod", None),
            limit,
            "its control group's limit was reached",
        );
        assert_eq!(OomReport::from_log(&[], None), None);
    }

    #[test]
    fn weaker_evidence_is_reported_as_probable() {
        assert!(OomReport::Machine.message().contains("probably"));
        for is_certain in [true, false] {
            let limit = Some(Bytes(1 << 30));
            let message = OomReport::Cgroup { limit, is_certain }.message();
            assert_eq!(message.contains("probably"), !is_certain, "{message}");
            assert!(message.contains("limited to 1.0 GiB"), "{message}");
        }
    }
}
