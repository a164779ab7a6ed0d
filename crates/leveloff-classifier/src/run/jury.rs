//! Which series of a run are judged. Judging costs, so only what rises is.

use leveloff_model::process::Role;
use leveloff_model::training_counters::TrainingCounter;

use super::book::Book;
use super::processes::ProcessTrack;
use super::roles::RoleTrack;
use super::track::Track;
use crate::judge::{Facts, Quantity};
use crate::observation::XUnit;
use crate::verdict::{Because, Judgement, Kind, Subject};

/// Every series that was judged; the run's memory is always the first.
#[derive(Debug, Clone)]
pub(super) struct Jury {
    judged: Vec<(Subject, Judgement)>,
}

/// How a book's series are judged.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bench<'a> {
    /// The series.
    pub(super) book: &'a Book,
    /// What x counts.
    pub(super) unit: XUnit,
    /// What is known beside them; the limit is the memory's.
    pub(super) facts: Facts,
}

impl Jury {
    /// A series that rises by this share of what is material for the run's memory is looked at: one
    /// worker's leak is small beside the whole.
    const WORTH_A_LOOK: f64 = 0.5;
    /// Descriptors that come and go with a queue or a file.
    const SOME_DESCRIPTORS: f64 = 16.0;
    /// Processes that come and go with a compiler.
    const SOME_PROCESSES: f64 = 2.0;
    /// Tensors that come and go with a batch.
    const SOME_TENSORS: f64 = 8.0;

    /// Judges what rises.
    pub(super) fn of(bench: &Bench) -> Jury {
        let Bench { book, unit, facts } = *bench;
        let memory = book.memory.judge(unit, Quantity::Memory, &facts);
        let memory = book.generations.hold_back(memory);
        let least = memory.material.0 * Jury::WORTH_A_LOOK;
        let mut jury = Jury {
            judged: vec![(Subject::Memory, memory)],
        };
        jury.judge_roles(bench, least);
        jury.judge_processes(bench, least);
        jury.look_at(
            bench,
            Subject::DevShm,
            &book.devshm,
            Quantity::SharedMemory,
            least,
        );
        for fact in [TrainingCounter::CudaReserved, TrainingCounter::Pinned] {
            let track = book.counters.track(fact);
            jury.look_at(
                bench,
                Subject::Counter(fact),
                track,
                Quantity::Memory,
                least,
            );
        }
        let count = Quantity::Count;
        let fds = &book.descriptors;
        jury.look_at(
            bench,
            Subject::Descriptors,
            fds,
            count,
            Jury::SOME_DESCRIPTORS,
        );
        let processes = &book.process_count;
        jury.look_at(
            bench,
            Subject::Processes,
            processes,
            count,
            Jury::SOME_PROCESSES,
        );
        let tensors = book.counters.tensors();
        jury.look_at(
            bench,
            Subject::Counter(TrainingCounter::Tensors),
            tensors,
            count,
            Jury::SOME_TENSORS,
        );
        jury
    }

    /// What is said of the run's memory.
    pub(super) fn memory(&self) -> &Judgement {
        &self.judged[0].1
    }

    /// What is said of a series, if it rises.
    pub(super) fn of_subject(&self, subject: Subject) -> Option<&Judgement> {
        let found = self.judged.iter().find(|(judged, _)| *judged == subject);
        found.map(|(_, judgement)| judgement)
    }

    /// All of it.
    pub(super) fn all(&self) -> &[(Subject, Judgement)] {
        &self.judged
    }

    /// All of it, to keep.
    pub(super) fn into_all(self) -> Vec<(Subject, Judgement)> {
        self.judged
    }

    fn judge_roles(&mut self, bench: &Bench, least: f64) {
        // Young growth of the whole is no older in its parts; workers are asked for what they copy.
        let whole_is_young = self.memory().because == Because::YoungGrowth;
        for role in bench.book.roles.all() {
            // The trainer's share goes to and fro with the forks that it makes: the whole tells it.
            let asked = match role.role {
                Role::Trainer => false,
                Role::DataloaderWorker => true,
                _ => !whole_is_young,
            };
            if asked {
                let subject = Subject::Role(role.role);
                self.look_at(bench, subject, &role.memory, Quantity::Memory, least);
            }
            let subject = Subject::RoleKind(role.role, Kind::Shared);
            self.look_at(bench, subject, &role.shared, Quantity::SharedMemory, least);
        }
    }

    /// Only what stands out from its siblings: else the role says it better.
    fn judge_processes(&mut self, bench: &Bench, least: f64) {
        let book = bench.book;
        let stands_out = |track: &&ProcessTrack| {
            let rise = track.memory.rise();
            let of_role = |role: &RoleTrack| role.processes > 1 && rise >= 0.5 * role.memory.rise();
            rise >= least && book.roles.get(track.role).is_some_and(of_role)
        };
        let most = book
            .processes
            .living()
            .filter(stands_out)
            .max_by(|a, b| a.memory.rise().total_cmp(&b.memory.rise()));
        if let Some(track) = most {
            let subject = Subject::Process(track.pid, track.role);
            self.look_at(bench, subject, &track.memory, Quantity::Memory, least);
        }
    }

    fn look_at(
        &mut self,
        bench: &Bench,
        subject: Subject,
        track: &Track,
        quantity: Quantity,
        least: f64,
    ) {
        if track.rises_by(least) {
            // A cache that the first epoch fills holds memory and tensors, not these.
            let no_cache = matches!(
                subject,
                Subject::DevShm | Subject::Descriptors | Subject::Processes
            );
            let facts = Facts {
                limit: None,
                epoch: bench.facts.epoch.filter(|_| !no_cache),
                ..bench.facts
            };
            let judgement = track.judge(bench.unit, quantity, &facts);
            self.judged.push((subject, judgement));
        }
    }
}
