//! Processes that exit while others of their kind go on. Loader workers that end together at the end of an epoch are none.

use leveloff_classifier::observation::ProcessShare;
use leveloff_classifier::run_analysis::RunAnalysis;
use leveloff_model::process::{Pid, ProcessIndex, Rank, Role};
use leveloff_model::sample::{Event, Tick};
use leveloff_model::units::Seconds;
use leveloff_text::voice::ExitedAlone;

/// The others must have gone on for so long.
const ALONE_FOR: f64 = 10.0;

/// So many exits are kept.
const MOST: usize = 64;

/// Exits that may have been alone.
#[derive(Debug, Default)]
pub(super) struct Exits(Vec<Exit>);

#[derive(Debug)]
struct Exit {
    at: Seconds,
    role: Role,
    pid: Pid,
    rank: Option<Rank>,
    /// Those of its kind that were alive then.
    others: Vec<Pid>,
}

impl Exits {
    /// Notes which processes exited in a tick.
    pub(super) fn note(&mut self, tick: &Tick, run: &RunAnalysis) {
        for event in &tick.events {
            if let Event::Exited(index) = event {
                self.note_exit(*index, tick.sample.t, run);
            }
        }
    }

    fn note_exit(&mut self, index: ProcessIndex, at: Seconds, run: &RunAnalysis) {
        let Some(info) = run.info(index).filter(|info| matters(info.role)) else {
            return;
        };
        let exit = Exit {
            at,
            role: info.role,
            pid: info.key.pid,
            rank: info.rank,
            others: Vec::new(),
        };
        let others = exit.alive(run);
        if !others.is_empty() && self.0.len() < MOST {
            self.0.push(Exit { others, ..exit });
        }
    }

    /// An exit after which the others went on. It is returned once.
    pub(super) fn settled(&mut self, now: Seconds, run: &RunAnalysis) -> Option<ExitedAlone> {
        while self
            .0
            .first()
            .is_some_and(|exit| now.0 >= exit.at.0 + ALONE_FOR)
        {
            let exit = self.0.remove(0);
            let alive = exit.alive(run);
            let is_same = |pid: &&Pid| exit.others.contains(pid);
            let others = alive.iter().filter(is_same).count();
            // If new ones came, the pool was filled up again, or is being replaced.
            if others > 0 && alive.len() == others {
                return Some(ExitedAlone {
                    role: exit.role,
                    pid: exit.pid,
                    rank: exit.rank,
                    others,
                });
            }
        }
        None
    }
}

impl Exit {
    /// The living processes of its role; of workers, those of its rank.
    fn alive(&self, run: &RunAnalysis) -> Vec<Pid> {
        let processes = run.observation().map_or(&[][..], |it| &it.processes);
        let is_sibling = |process: &&ProcessShare| {
            let is_of_rank = self.role == Role::Trainer || process.rank == self.rank;
            process.role == self.role && is_of_rank && process.pid != self.pid
        };
        processes
            .iter()
            .filter(is_sibling)
            .map(|it| it.pid)
            .collect()
    }
}

/// Helpers and compilers come and go.
fn matters(role: Role) -> bool {
    matches!(
        role,
        Role::Trainer | Role::DataloaderWorker | Role::Engine | Role::Actor
    )
}
