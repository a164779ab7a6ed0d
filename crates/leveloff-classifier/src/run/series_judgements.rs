//! The judgements of the series of a run. Judging costs time, so only series that rise are judged.

use leveloff_model::process::Role;
use leveloff_model::training_counters::TrainingCounter;

use super::processes::ProcessTrack;
use super::roles::RoleTrack;
use super::run_series::RunSeries;
use super::track::Track;
use crate::judge::{Facts, Quantity};
use crate::observation::XUnit;
use crate::verdict::{Judgement, Kind, Reason, Subject};

/// Every series that was judged; the run's memory is always the first.
#[derive(Debug, Clone)]
pub(super) struct SeriesJudgements {
    judged: Vec<(Subject, Judgement)>,
}

/// What the series of a run are judged by.
#[derive(Debug, Clone, Copy)]
pub(super) struct JudgeInput<'a> {
    /// The series.
    pub(super) series: &'a RunSeries,
    /// What x counts.
    pub(super) unit: XUnit,
    /// What is known beside them; the limit is the memory's.
    pub(super) facts: Facts,
}

/// A series that rises by this share of what is material for the run's memory is judged: one
/// worker's leak is small beside the whole.
const RISES_NOTABLY: f64 = 0.5;
/// Descriptors that come and go with a queue or a file.
const SOME_DESCRIPTORS: f64 = 16.0;
/// Processes that come and go with a compiler.
const SOME_PROCESSES: f64 = 2.0;
/// Tensors that come and go with a batch.
const SOME_TENSORS: f64 = 8.0;

impl SeriesJudgements {
    /// Of the run's memory, what an earlier look said is shown.
    pub(super) fn show_memory(&mut self, memory: &Judgement) {
        self.judged[0].1 = memory.clone();
    }

    /// Judges what rises.
    pub(super) fn of(input: &JudgeInput) -> SeriesJudgements {
        let JudgeInput {
            series,
            unit,
            facts,
        } = *input;
        let memory = series.memory.judge(unit, Quantity::Memory, &facts);
        let memory = series.generations.hold_back(memory);
        let least = memory.material.0 * RISES_NOTABLY;
        let mut judgements = SeriesJudgements {
            judged: vec![(Subject::Memory, memory)],
        };
        judgements.judge_roles(input, least);
        judgements.judge_processes(input, least);
        let mut judge = |subject, track, quantity, least| {
            judgements.judge_if_rising(input, subject, track, quantity, least);
        };
        judge(
            Subject::DevShm,
            &series.devshm,
            Quantity::SharedMemory,
            least,
        );
        for counter in [TrainingCounter::CudaReserved, TrainingCounter::Pinned] {
            let track = series.counters.track(counter);
            judge(Subject::Counter(counter), track, Quantity::Memory, least);
        }
        let count = Quantity::Count;
        judge(
            Subject::Descriptors,
            &series.descriptors,
            count,
            SOME_DESCRIPTORS,
        );
        judge(
            Subject::Processes,
            &series.process_count,
            count,
            SOME_PROCESSES,
        );
        let tensors = Subject::Counter(TrainingCounter::Tensors);
        judge(tensors, series.counters.tensors(), count, SOME_TENSORS);
        judgements
    }

    /// The judgement of the run's memory.
    pub(super) fn memory(&self) -> &Judgement {
        &self.judged[0].1
    }

    /// The judgement of a series, if it rises.
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

    fn judge_roles(&mut self, input: &JudgeInput, least: f64) {
        // Young growth of the whole is no older in its parts; workers are judged for what they copy.
        let whole_is_young = self.memory().reason == Reason::YoungGrowth;
        for role in input.series.roles.all() {
            // The trainer's share moves with every fork that it makes: its growth shows in the whole.
            let is_judged = match role.role {
                Role::Trainer => false,
                Role::DataloaderWorker => true,
                _ => !whole_is_young,
            };
            if is_judged {
                let subject = Subject::Role(role.role);
                self.judge_if_rising(input, subject, &role.memory, Quantity::Memory, least);
            }
            let subject = Subject::RoleKind(role.role, Kind::Shared);
            self.judge_if_rising(input, subject, &role.shared, Quantity::SharedMemory, least);
        }
    }

    /// Only what stands out from its siblings: else the role says it better.
    fn judge_processes(&mut self, input: &JudgeInput, least: f64) {
        let series = input.series;
        let stands_out = |track: &&ProcessTrack| {
            let rise = track.memory.rise();
            let of_role = |role: &RoleTrack| role.processes > 1 && rise >= 0.5 * role.memory.rise();
            rise >= least && series.roles.get(track.role).is_some_and(of_role)
        };
        let most = series
            .processes
            .living()
            .filter(stands_out)
            .max_by(|a, b| a.memory.rise().total_cmp(&b.memory.rise()));
        if let Some(track) = most {
            let subject = Subject::Process(track.pid, track.role);
            self.judge_if_rising(input, subject, &track.memory, Quantity::Memory, least);
        }
    }

    fn judge_if_rising(
        &mut self,
        input: &JudgeInput,
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
            let is_pool = matches!(
                subject,
                Subject::Counter(TrainingCounter::CudaReserved | TrainingCounter::Pinned)
            );
            let facts = Facts {
                limit: None,
                before: None,
                is_repro: false,
                is_no_cache: no_cache || is_pool,
                reserved: None,
                epoch: input.facts.epoch.filter(|_| !no_cache),
                ..input.facts
            };
            let judgement = track.judge(input.unit, quantity, &facts);
            self.judged.push((subject, judgement));
        }
    }
}
