//! The living processes of the run, and which of them get the first signal.

use std::collections::HashMap;

use leveloff_model::process::{Pid, ProcessInfo, ProcessKey, Role};
use leveloff_model::sample::Tick;
use leveloff_sampler::proc_root::ProcRoot;
use leveloff_sampler::roles::is_shell_name;
use leveloff_sampler::sampler::Sampler;
use leveloff_sampler::signalling::{Disposition, StopSignal, disposition};

/// A living process of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunProcess {
    /// Pid and start time.
    pub key: ProcessKey,
    /// Its parent.
    pub parent: Pid,
    /// Its role.
    pub role: Role,
    /// Whether it is a shell. Shells do not forward signals.
    pub is_shell: bool,
}

/// All living processes of the run.
#[derive(Debug, Clone, Default)]
pub struct RunProcesses(Vec<RunProcess>);

impl RunProcesses {
    /// Those of a tick, without zombies, without `excluded`, and without the processes of a Ray cluster that was there before: others
    /// may use it, and it ends the actors of a program that exits.
    pub fn of(tick: &Tick, sampler: &Sampler, excluded: Option<Pid>) -> RunProcesses {
        let infos: HashMap<_, &ProcessInfo> =
            sampler.infos().map(|info| (info.index, info)).collect();
        let readings = tick.sample.processes.iter();
        let living = readings.filter(|it| !it.state.is_gone());
        let processes = living.filter_map(|reading| {
            let info = infos.get(&reading.process)?;
            if sampler.is_outside_tree(reading.process) {
                return None;
            }
            Some(RunProcess {
                key: info.key,
                parent: info.parent,
                role: info.role,
                is_shell: is_shell_name(&info.comm),
            })
        });
        RunProcesses(
            processes
                .filter(|process| Some(process.key.pid) != excluded)
                .collect(),
        )
    }

    /// Every process.
    pub fn keys(&self) -> impl Iterator<Item = ProcessKey> {
        self.0.iter().map(|process| process.key)
    }

    /// Whether all have exited.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a trainer is alive.
    pub fn has_trainer(&self) -> bool {
        self.trainers().next().is_some()
    }

    /// The processes that get the stop signal.
    ///
    /// If a single rank is stopped, the others wait for it for ever. So the signal goes to the launcher that forwards it,
    /// the one nearest to the trainers. A wrapper that would die of the signal is skipped, and so is a shell: its trap
    /// runs only after its foreground command has ended. Without a launcher, all trainers get the signal; without a known
    /// trainer, the topmost processes that are no shells.
    pub fn recipients(
        &self,
        signal: StopSignal,
        disposition: impl Fn(ProcessKey) -> Option<Disposition>,
    ) -> Vec<ProcessKey> {
        let mut recipients: Vec<ProcessKey> = Vec::new();
        for trainer in self.trainers() {
            let launcher = signal
                .is_handed_on()
                .then(|| self.launcher_of(trainer, &disposition))
                .flatten();
            let recipient = launcher.unwrap_or(trainer.key);
            if !recipients.contains(&recipient) {
                recipients.push(recipient);
            }
        }
        match recipients.is_empty() {
            true => self.topmost(),
            false => recipients,
        }
    }

    /// A shell that waits for a command is none, although it may count as one while the command has not been examined.
    fn trainers(&self) -> impl Iterator<Item = &RunProcess> {
        let waits = |shell: &RunProcess| self.0.iter().any(|it| it.parent == shell.key.pid);
        self.0
            .iter()
            .filter(move |it| it.role == Role::Trainer && !(it.is_shell && waits(it)))
    }

    fn by_pid(&self, pid: Pid) -> Option<&RunProcess> {
        self.0.iter().find(|it| it.key.pid == pid)
    }

    fn launcher_of(
        &self,
        trainer: &RunProcess,
        disposition: &impl Fn(ProcessKey) -> Option<Disposition>,
    ) -> Option<ProcessKey> {
        let mut above = trainer.parent;
        // Bounded: parents that were read at different moments could form a cycle.
        for _ in 0..self.0.len() {
            let parent = self.by_pid(above)?;
            if parent.role == Role::Launcher
                && !parent.is_shell
                && disposition(parent.key) == Some(Disposition::Caught)
            {
                return Some(parent.key);
            }
            above = parent.parent;
        }
        None
    }

    /// The processes whose parent is not one of the run's. A shell is replaced by its children.
    fn topmost(&self) -> Vec<ProcessKey> {
        let is_topmost = |process: &&RunProcess| self.by_pid(process.parent).is_none();
        let mut topmost: Vec<&RunProcess> = self.0.iter().filter(is_topmost).collect();
        let children = |of: &RunProcess| {
            let pid = of.key.pid;
            self.0.iter().filter(move |it| it.parent == pid)
        };
        // Bounded: parents that were read at different moments could form a cycle.
        for _ in 0..self.0.len() {
            let is_replaced = |it: &&RunProcess| it.is_shell && children(it).next().is_some();
            let Some(shell) = topmost.iter().position(is_replaced) else {
                break;
            };
            let shell = topmost.swap_remove(shell);
            topmost.extend(children(shell));
        }
        topmost.iter().map(|process| process.key).collect()
    }
}

/// What a process of this machine does on a signal.
pub fn live_disposition(signal: StopSignal) -> impl Fn(ProcessKey) -> Option<Disposition> {
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

    pub fn run_processes(processes: &[(i32, i32, Role)]) -> RunProcesses {
        let processes = processes.iter().map(|&(pid, parent, role)| RunProcess {
            key: key(pid),
            parent: Pid(parent),
            role,
            is_shell: false,
        });
        RunProcesses(processes.collect())
    }

    /// The recipients of a signal that these processes catch.
    fn recipients(processes: &[(i32, i32, Role)], catching: &[i32], signal: &str) -> Vec<i32> {
        let disposition = |key: ProcessKey| {
            Some(match catching.contains(&key.pid.0) {
                true => Disposition::Caught,
                false => Disposition::Default,
            })
        };
        let recipients = run_processes(processes).recipients(signal.parse().unwrap(), disposition);
        recipients.into_iter().map(|key| key.pid.0).collect()
    }

    #[test]
    fn a_launcher_that_forwards_gets_the_signal_and_its_ranks_do_not() {
        let job = [
            (1, 0, Role::Launcher),
            (2, 1, Role::Trainer),
            (3, 1, Role::Trainer),
        ];
        assert_eq!(recipients(&job, &[1], "TERM"), [1]);
        assert_eq!(recipients(&job, &[1], "USR1"), [2, 3]);
    }

    #[test]
    fn a_launcher_that_would_die_of_it_is_skipped() {
        let job = [
            (1, 0, Role::Launcher),
            (2, 1, Role::Launcher),
            (3, 2, Role::Trainer),
        ];
        assert_eq!(recipients(&job, &[2], "TERM"), [2]);
        assert_eq!(recipients(&job, &[1], "TERM"), [1]);
        assert_eq!(recipients(&job, &[], "TERM"), [3]);
    }

    #[test]
    fn without_a_launcher_all_ranks_get_it_and_workers_do_not() {
        let job = [
            (2, 1, Role::Trainer),
            (3, 1, Role::Trainer),
            (4, 2, Role::DataloaderWorker),
        ];
        assert_eq!(recipients(&job, &[], "TERM"), [2, 3]);
    }

    #[test]
    fn without_a_known_trainer_the_topmost_process_gets_it() {
        let job = [(1, 0, Role::Other), (2, 1, Role::Other)];
        assert_eq!(recipients(&job, &[], "TERM"), [1]);
    }

    #[test]
    fn a_shell_is_skipped_whatever_it_catches() {
        let mut under_a_shell = run_processes(&[(1, 0, Role::Launcher), (2, 1, Role::Trainer)]);
        under_a_shell.0[0].is_shell = true;
        let caught = |_| Some(Disposition::Caught);
        assert_eq!(under_a_shell.recipients(StopSignal::TERM, caught), [key(2)]);
        let mut unknown = run_processes(&[
            (1, 0, Role::Other),
            (2, 1, Role::Other),
            (3, 2, Role::Other),
        ]);
        unknown.0[0].is_shell = true;
        assert_eq!(unknown.recipients(StopSignal::TERM, caught), [key(2)]);
    }

    #[test]
    fn a_shell_in_the_place_of_the_trainer_is_no_recipient_while_its_command_runs() {
        let mut job = run_processes(&[(1, 0, Role::Trainer), (2, 1, Role::Other)]);
        job.0[0].is_shell = true;
        let caught = |_| Some(Disposition::Caught);
        assert_eq!(job.recipients(StopSignal::TERM, caught), [key(2)]);
        job.0.pop();
        assert_eq!(job.recipients(StopSignal::TERM, caught), [key(1)]);
    }

    #[test]
    fn a_cycle_of_parents_is_no_endless_loop() {
        let job = [
            (1, 2, Role::Launcher),
            (2, 1, Role::Launcher),
            (3, 1, Role::Trainer),
        ];
        assert_eq!(recipients(&job, &[], "TERM"), [3]);
    }
}
