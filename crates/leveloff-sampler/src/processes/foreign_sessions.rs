//! Sessions that no process of the run can be in.
//!
//! A process is in the session of its parent, or in one that it created. So a process of the run can be in a session that
//! existed before the run's first process only if a process of the run, or an ancestor of one, was in it. A process that starts
//! in any other such session is not of the run, and asking for the session is much cheaper than reading the process.

use std::collections::HashSet;

use leveloff_model::process::Pid;

/// Sessions by their numbers.
#[derive(Debug, Default)]
pub struct ForeignSessions {
    foreign: HashSet<Pid>,
    /// Sessions of the run's processes, exited ones included, and of their ancestors.
    own: HashSet<Pid>,
}

impl ForeignSessions {
    /// Whether no process of the run is in it.
    pub fn contains(&self, session: Pid) -> bool {
        self.foreign.contains(&session)
    }

    /// A process that is older than the run and not of it is in this session.
    pub fn add(&mut self, session: Pid) {
        if !self.own.contains(&session) {
            self.foreign.insert(session);
        }
    }

    /// A process of the run, or an ancestor of one, is in this session.
    pub fn add_own(&mut self, session: Pid) {
        self.foreign.remove(&session);
        self.own.insert(session);
    }

    /// A process with this number has started: if there is a session of this number, it is another one.
    pub fn started(&mut self, pid: Pid) {
        self.foreign.remove(&pid);
    }

    /// Forgets all but the run's own.
    pub fn clear(&mut self) {
        self.foreign.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_of_the_run_is_never_foreign_and_a_number_that_is_used_again_is_not() {
        let (shell, build, old) = (Pid(10), Pid(20), Pid(30));
        let mut sessions = ForeignSessions::default();
        sessions.add_own(shell);
        for session in [shell, build, old] {
            sessions.add(session);
        }
        assert!(!sessions.contains(shell), "a sibling is in it as well");
        assert!(sessions.contains(build) && sessions.contains(old));
        sessions.started(old);
        sessions.add_own(build);
        assert!(!sessions.contains(build) && !sessions.contains(old));
    }
}
