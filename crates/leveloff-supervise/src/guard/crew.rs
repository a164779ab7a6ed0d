//! Who is there to be stopped, and who of them is told first.

use std::collections::HashMap;

use leveloff_model::process::{Pid, ProcessInfo, ProcessKey, Role};
use leveloff_model::sample::Tick;
use leveloff_sampler::proc_root::ProcRoot;
use leveloff_sampler::roles::is_shell_name;
use leveloff_sampler::sampler::Sampler;
use leveloff_sampler::signalling::{Disposition, StopSignal, disposition};

/// A living process of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Member {
    /// Who.
    pub key: ProcessKey,
    /// Its parent.
    pub parent: Pid,
    /// Its part.
    pub role: Role,
    /// Whether it is a shell, which hands nothing on.
    pub is_shell: bool,
}

/// All living processes of the run.
#[derive(Debug, Clone, Default)]
pub struct Crew {
    members: Vec<Member>,
}

impl Crew {
    /// Those of a tick. Who has ended and was not taken note of by its parent holds nothing and hears
    /// nothing; `spared` is not told anything.
    pub fn of(tick: &Tick, sampler: &Sampler, spared: Option<Pid>) -> Crew {
        let infos: HashMap<_, &ProcessInfo> =
            sampler.infos().map(|info| (info.index, info)).collect();
        let living = tick
            .sample
            .processes
            .iter()
            .filter(|it| !it.state.is_gone());
        let members = living.filter_map(|reading| {
            let info = infos.get(&reading.process)?;
            Some(Member {
                key: info.key,
                parent: info.parent,
                role: info.role,
                is_shell: is_shell_name(&info.comm),
            })
        });
        Crew {
            members: members
                .filter(|member| Some(member.key.pid) != spared)
                .collect(),
        }
    }

    /// Everyone.
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// Whether nobody is left.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Whether somebody still trains.
    pub fn trains(&self) -> bool {
        self.members
            .iter()
            .any(|member| member.role == Role::Trainer)
    }

    /// Whom to send the signal that trainings know.
    ///
    /// A lone rank must not be ended, the others would wait for it for ever. So it goes to the launcher that
    /// hands it on, nearest to the trainers. A wrapper that would just die of it is passed over, and so is a shell:
    /// its trap waits until the command in front has ended. Where there is none, all trainers get it; where nobody
    /// is known to train, who stands above all others but shells.
    pub fn addressees(
        &self,
        signal: StopSignal,
        does: impl Fn(ProcessKey) -> Option<Disposition>,
    ) -> Vec<ProcessKey> {
        let trainers = self
            .members
            .iter()
            .filter(|member| member.role == Role::Trainer);
        let mut told: Vec<ProcessKey> = Vec::new();
        for trainer in trainers {
            let launcher = signal
                .is_handed_on()
                .then(|| self.launcher_of(trainer, &does))
                .flatten();
            let whom = launcher.unwrap_or(trainer.key);
            if !told.contains(&whom) {
                told.push(whom);
            }
        }
        if told.is_empty() {
            told = self.heads();
        }
        told
    }

    fn launcher_of(
        &self,
        trainer: &Member,
        does: &impl Fn(ProcessKey) -> Option<Disposition>,
    ) -> Option<ProcessKey> {
        let mut above = trainer.parent;
        // Bounded by how many there are: parents that were read at different moments could form a circle.
        for _ in 0..self.members.len() {
            let parent = self.members.iter().find(|member| member.key.pid == above)?;
            if parent.role == Role::Launcher
                && !parent.is_shell
                && does(parent.key) == Some(Disposition::Caught)
            {
                return Some(parent.key);
            }
            above = parent.parent;
        }
        None
    }

    /// Those whose parent is none of them. In place of a shell, or of a launcher that hands nothing on, those
    /// whom it started.
    fn heads(&self) -> Vec<ProcessKey> {
        let is_member = |pid: Pid| self.members.iter().any(|member| member.key.pid == pid);
        let mut heads: Vec<&Member> = self
            .members
            .iter()
            .filter(|member| !is_member(member.parent))
            .collect();
        // Bounded: parents that were read at different moments could form a circle.
        for _ in 0..self.members.len() {
            let children = |of: &Member| {
                let pid = of.key.pid;
                self.members
                    .iter()
                    .filter(move |member| member.parent == pid)
            };
            let is_passed_over =
                |member: &&Member| member.is_shell && children(member).next().is_some();
            let Some(place) = heads.iter().position(is_passed_over) else {
                break;
            };
            let shell = heads.swap_remove(place);
            heads.extend(children(shell));
        }
        heads.iter().map(|member| member.key).collect()
    }
}

/// What a process of this machine does on a signal.
pub fn on_this_machine(signal: StopSignal) -> impl Fn(ProcessKey) -> Option<Disposition> {
    let proc_root = ProcRoot::live();
    move |key| disposition(&proc_root, key, signal)
}

#[cfg(test)]
pub(super) mod tests {
    use leveloff_model::process::StartTicks;

    use super::*;

    pub fn key(pid: i32) -> ProcessKey {
        ProcessKey {
            pid: Pid(pid),
            start: StartTicks(1),
        }
    }

    pub fn crew(members: &[(i32, i32, Role)]) -> Crew {
        let members = members.iter().map(|&(pid, parent, role)| Member {
            key: key(pid),
            parent: Pid(parent),
            role,
            is_shell: false,
        });
        Crew {
            members: members.collect(),
        }
    }

    /// Whom SIGTERM is sent to when these catch it.
    fn told(members: &[(i32, i32, Role)], catching: &[i32], signal: &str) -> Vec<i32> {
        let does = |key: ProcessKey| {
            Some(match catching.contains(&key.pid.0) {
                true => Disposition::Caught,
                false => Disposition::Default,
            })
        };
        let told = crew(members).addressees(signal.parse().unwrap(), does);
        told.into_iter().map(|key| key.pid.0).collect()
    }

    #[test]
    fn a_launcher_that_hands_it_on_is_told_and_its_ranks_are_not() {
        let job = [
            (1, 0, Role::Launcher),
            (2, 1, Role::Trainer),
            (3, 1, Role::Trainer),
        ];
        assert_eq!(told(&job, &[1], "TERM"), [1]);
        assert_eq!(told(&job, &[1], "USR1"), [2, 3]);
    }

    #[test]
    fn a_shell_that_would_die_of_it_is_passed_over() {
        let job = [
            (1, 0, Role::Launcher),
            (2, 1, Role::Launcher),
            (3, 2, Role::Trainer),
        ];
        assert_eq!(told(&job, &[2], "TERM"), [2]);
        assert_eq!(told(&job, &[1], "TERM"), [1]);
        assert_eq!(told(&job, &[], "TERM"), [3]);
    }

    #[test]
    fn without_a_launcher_all_ranks_are_told_and_workers_are_not() {
        let job = [
            (2, 1, Role::Trainer),
            (3, 1, Role::Trainer),
            (4, 2, Role::DataloaderWorker),
        ];
        assert_eq!(told(&job, &[], "TERM"), [2, 3]);
    }

    #[test]
    fn where_nobody_is_known_to_train_the_first_is_told() {
        let job = [(1, 0, Role::Other), (2, 1, Role::Other)];
        assert_eq!(told(&job, &[], "TERM"), [1]);
    }

    #[test]
    fn a_shell_is_passed_over_whatever_it_catches() {
        let mut under_a_shell = crew(&[(1, 0, Role::Launcher), (2, 1, Role::Trainer)]);
        under_a_shell.members[0].is_shell = true;
        let caught = |_| Some(Disposition::Caught);
        assert_eq!(under_a_shell.addressees(StopSignal::TERM, caught), [key(2)]);
        let mut unknown = crew(&[
            (1, 0, Role::Other),
            (2, 1, Role::Other),
            (3, 2, Role::Other),
        ]);
        unknown.members[0].is_shell = true;
        assert_eq!(unknown.addressees(StopSignal::TERM, caught), [key(2)]);
    }

    #[test]
    fn a_circle_of_parents_is_no_trap() {
        let job = [
            (1, 2, Role::Launcher),
            (2, 1, Role::Launcher),
            (3, 1, Role::Trainer),
        ];
        assert_eq!(told(&job, &[], "TERM"), [3]);
    }
}
