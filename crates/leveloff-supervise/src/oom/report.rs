//! What is told of an OOM kill.

use leveloff_model::units::Bytes;

use super::kill::{Full, Kill};

/// The kernel ended processes of the run, and how that is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OomReport {
    evidence: Evidence,
}

/// How it is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Evidence {
    /// The kernel's log names the process.
    Log {
        /// The largest of those killed.
        kill: Kill,
        /// How many beside it.
        others: usize,
        /// The limit of the run's own group, where it has one.
        own_limit: Option<Bytes>,
    },
    /// The run's own group counts it.
    OwnGroup {
        /// Its limit.
        limit: Bytes,
    },
    /// The group that the run is in counts it.
    Group {
        /// Its limit, if it has one.
        limit: Option<Bytes>,
        /// Whether the run ended as a kill ends it; others may be in the group.
        is_certain: bool,
    },
    /// The machine counts it, and the run was ended by signal 9.
    Machine,
}

/// What to do the next time; a share, so that it is right for whatever limit there is then.
const NEXT: &str =
    "next time: leveloff run --limit 90% -- … stops it with a checkpoint before that";

impl OomReport {
    /// From what the log told.
    pub fn from_log(kills: &[Kill], own_limit: Option<Bytes>) -> Option<OomReport> {
        let kill = kills.iter().max_by_key(|kill| kill.memory)?.clone();
        Some(OomReport {
            evidence: Evidence::Log {
                kill,
                others: kills.len() - 1,
                own_limit,
            },
        })
    }

    /// From what a counter told.
    pub fn counted(evidence: Evidence) -> OomReport {
        OomReport { evidence }
    }

    /// How it is known.
    pub fn evidence(&self) -> &Evidence {
        &self.evidence
    }

    /// In a few words, for a place that has a line.
    pub fn brief(&self) -> &'static str {
        match self.evidence {
            Evidence::Log { .. } | Evidence::OwnGroup { .. } => "by the kernel's OOM killer",
            Evidence::Group {
                is_certain: true, ..
            } => "by the kernel's OOM killer",
            Evidence::Group { .. } | Evidence::Machine => "probably by the kernel's OOM killer",
        }
    }

    /// For people: who, why, what next.
    pub fn words(&self) -> String {
        match &self.evidence {
            Evidence::Log {
                kill,
                others,
                own_limit,
            } => {
                let more = match others {
                    0 => String::new(),
                    others => format!(" and {others} more"),
                };
                let who = format!(
                    "process {} ({}, {}){more}",
                    kill.pid, kill.name, kill.memory
                );
                told("ended", &who, &why(kill, *own_limit))
            }
            Evidence::OwnGroup { limit } => told("ended", A_PROCESS, &own_was_reached(*limit)),
            Evidence::Group { limit, is_certain } => {
                let limit =
                    limit.map_or_else(String::new, |limit| format!(", limited to {limit},"));
                let why = format!("its control group{limit} counts one more kill");
                told(ended(*is_certain), A_PROCESS, &why)
            }
            Evidence::Machine => told(
                ended(false),
                A_PROCESS,
                "the machine counts one more kill, and the kernel's log cannot be read to know \
                 whose (as root it can)",
            ),
        }
    }
}

const A_PROCESS: &str = "a process of this run";

fn ended(is_certain: bool) -> &'static str {
    if is_certain {
        "ended"
    } else {
        "probably ended"
    }
}

fn told(ended: &str, who: &str, why: &str) -> String {
    format!("the kernel's OOM killer {ended} {who}: {why}; {NEXT}")
}

fn own_was_reached(limit: Bytes) -> String {
    format!("the limit of --isolate ({limit}) was reached")
}

fn why(kill: &Kill, own_limit: Option<Bytes>) -> String {
    match (&kill.full, own_limit) {
        (Full::Machine, _) => "the machine's memory was full".to_owned(),
        (Full::Nodes, _) => "the memory nodes that it may use were full".to_owned(),
        // The group that was full is the one it was in.
        (Full::Group { name, .. }, Some(limit)) if name.is_some() && *name == kill.group => {
            own_was_reached(limit)
        }
        (
            Full::Group {
                limit: Some(limit), ..
            },
            _,
        ) => {
            format!("its control group's limit of {limit} was reached")
        }
        (Full::Group { limit: None, .. }, _) => "its control group's limit was reached".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use leveloff_model::process::Pid;

    use super::*;

    fn kill(full: Full) -> Kill {
        Kill {
            pid: Pid(4312),
            name: "python".to_owned(),
            memory: Bytes(28 << 30),
            full,
            group: Some("job".to_owned()),
        }
    }

    fn check(full: Full, own_limit: Option<Bytes>, expected: &str) {
        let small = Kill {
            memory: Bytes(1),
            ..kill(Full::Machine)
        };
        let report = OomReport::from_log(&[small, kill(full)], own_limit).unwrap();
        let start = "the kernel's OOM killer ended process 4312 (python, 28.0 GiB) and 1 more: ";
        assert_eq!(report.words(), format!("{start}{expected}; {NEXT}"));
    }

    #[test]
    fn the_largest_is_named_with_the_reason() {
        let group = |name: &str, limit| Full::Group {
            name: Some(name.to_owned()),
            limit,
        };
        let limit = Some(Bytes(30 << 30));
        check(Full::Machine, None, "the machine's memory was full");
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
    fn what_is_only_likely_is_said_to_be() {
        let words = |evidence| OomReport::counted(evidence).words();
        assert!(words(Evidence::Machine).contains("probably"));
        for is_certain in [true, false] {
            let limit = Some(Bytes(1 << 30));
            let words = words(Evidence::Group { limit, is_certain });
            assert_eq!(words.contains("probably"), !is_certain, "{words}");
            assert!(words.contains("limited to 1.0 GiB"), "{words}");
        }
    }
}
