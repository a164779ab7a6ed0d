//! Which series of a run are judged. Judging costs, so only what moved is.

use super::book::Book;
use super::processes::ProcessTrack;
use super::roles::RoleTrack;
use super::track::Track;
use crate::judge::{Facts, Quantity};
use crate::observation::XUnit;
use crate::verdict::{Judgement, Kind, Subject};

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
    /// Single processes that are judged: those that grew most.
    const PROCESSES: usize = 3;
    /// A series that swings less than this share of what is material for the run's memory is
    /// still looked at: one worker's leak is small beside the whole.
    const WORTH_A_LOOK: f64 = 0.5;
    /// Descriptors that come and go with a queue or a file.
    const SOME_DESCRIPTORS: f64 = 16.0;
    /// Processes that come and go with a compiler.
    const SOME_PROCESSES: f64 = 2.0;
    /// Tensors that come and go with a batch.
    const SOME_TENSORS: f64 = 8.0;

    /// Judges what moved.
    pub(super) fn of(bench: &Bench) -> Jury {
        let Bench { book, unit, facts } = *bench;
        let memory = book.memory.judge(unit, Quantity::Memory, &facts);
        let least = memory.material * Jury::WORTH_A_LOOK;
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
        jury.look_at(bench, Subject::Cuda, &book.cuda, Quantity::Memory, least);
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
        let tensors = book.tensors.track();
        jury.look_at(bench, Subject::Tensors, tensors, count, Jury::SOME_TENSORS);
        jury
    }

    /// What is said of the run's memory.
    pub(super) fn memory(&self) -> &Judgement {
        &self.judged[0].1
    }

    /// What is said of a series, if it moved.
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
        // One role alone is the run's memory itself.
        let moved = |role: &&RoleTrack| role.memory.swing() >= least;
        let several = bench.book.roles.all().filter(moved).count() > 1;
        for role in bench.book.roles.all() {
            if several {
                let subject = Subject::Role(role.role);
                self.look_at(bench, subject, &role.memory, Quantity::Memory, least);
            }
            for (kind, track, quantity) in [
                (Kind::Shared, &role.shared, Quantity::SharedMemory),
                (Kind::Swap, &role.swapped, Quantity::Memory),
            ] {
                let subject = Subject::RoleKind(role.role, kind);
                self.look_at(bench, subject, track, quantity, least);
            }
            // Without the others, all of a role's memory is anonymous.
            if role.shared.swing() >= least || role.swapped.swing() >= least {
                let subject = Subject::RoleKind(role.role, Kind::Anonymous);
                self.look_at(bench, subject, &role.anonymous, Quantity::Memory, least);
            }
        }
    }

    fn judge_processes(&mut self, bench: &Bench, least: f64) {
        let book = bench.book;
        // The only process of a role is the role.
        let has_siblings = |track: &&ProcessTrack| {
            book.roles
                .get(track.role)
                .is_some_and(|role| role.processes > 1)
        };
        let mut risen: Vec<&ProcessTrack> = book
            .processes
            .living()
            .filter(has_siblings)
            .filter(|track| track.memory.rise() >= least)
            .collect();
        risen.sort_by(|a, b| b.memory.rise().total_cmp(&a.memory.rise()));
        for track in risen.into_iter().take(Jury::PROCESSES) {
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
        if track.points() > 0 && track.swing() >= least.max(f64::MIN_POSITIVE) {
            let facts = Facts {
                limit: None,
                ..bench.facts
            };
            let judgement = track.judge(bench.unit, quantity, &facts);
            self.judged.push((subject, judgement));
        }
    }
}
