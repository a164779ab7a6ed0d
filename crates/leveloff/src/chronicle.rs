//! One file, read once: judged, and kept for charts and tables.

use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use anyhow::{Result, bail};
use leveloff_classifier::observation::Observation;
use leveloff_classifier::run::RunJudge;
use leveloff_classifier::verdict::RunVerdict;
use leveloff_model::units::Step;
use leveloff_report::run_report::{
    BackgroundCheck, Chronicle, Circumstances, RunChronicle, RunReport,
};

use crate::cli::{ColumnArgs, FactArgs};
use leveloff_readers::{Input, OpenedInput, ReadResult};

/// Observations that are handed over together: one by one, handing over would cost more than it saves.
const BATCH: usize = 512;

/// Batches that may wait, so that neither side waits for the other for long.
const BATCHES_WAITING: usize = 4;

/// How a file is read.
#[derive(Debug, Clone, Default)]
pub struct Reading<'a> {
    /// What the user says of its columns.
    pub columns: Option<&'a ColumnArgs>,
    /// What the user knows of the run.
    pub facts: Option<&'a FactArgs>,
    /// By when memory must have levelled off, if neither the user nor the recording states it.
    pub usual_level_by: Option<Step>,
    /// Only what lies at or before this count (or time, where nothing is counted).
    pub until: Option<f64>,
}

impl Reading<'_> {
    /// Reads and judges a file.
    pub fn read(&self, path: &Path) -> Result<RunReport> {
        let columns = self.columns.map(ColumnArgs::choice).unwrap_or_default();
        let opened = leveloff_readers::open(&Input::from(path), &columns)?;
        let mut stated = match self.facts {
            Some(facts) => facts.over(&opened.stated),
            None => opened.stated.clone(),
        };
        stated.level_by = stated.level_by.or(self.usual_level_by);
        let (header, format) = (opened.header().cloned(), opened.format.to_owned());
        let judge = RunJudge::new(opened.unit, &stated);
        let mut background = BackgroundCheck::default();
        let (read, judged) = std::thread::scope(|scope| {
            let (batches, received) = sync_channel(BATCHES_WAITING);
            let judging = scope.spawn(move || judge_all(judge, &received));
            let read = self.read_in_batches(opened, &mut background, &batches);
            drop(batches);
            (read, judging.join())
        });
        let reading = read?;
        let Ok((verdict, run)) = judged else {
            bail!("leveloff has a bug, please report the lines above with this input");
        };
        let about = Circumstances {
            input: path.to_string_lossy().into_owned(),
            format,
            tool: env!("CARGO_PKG_VERSION").to_owned(),
            stated,
            notes: reading.notes,
            header,
            end: reading.end,
        };
        Ok(Chronicle { run, background }.finish(verdict, about))
    }

    /// Hands the observations on in batches. Whoever takes them is gone only after a panic, which is told
    /// in the end.
    fn read_in_batches(
        &self,
        opened: OpenedInput,
        background: &mut BackgroundCheck,
        batches: &SyncSender<Vec<Observation>>,
    ) -> Result<ReadResult> {
        let mut batch = Vec::with_capacity(BATCH);
        let reading = opened.read_with_ticks(
            &mut |observation| {
                if self.takes(observation) {
                    batch.push(observation.clone());
                }
                if batch.len() == BATCH {
                    let full = std::mem::replace(&mut batch, Vec::with_capacity(BATCH));
                    let _ = batches.send(full);
                }
            },
            &mut |tick| background.take(tick),
        )?;
        let _ = batches.send(batch);
        Ok(reading)
    }

    fn takes(&self, observation: &Observation) -> bool {
        let place = observation.count.or(observation.t.map(|t| t.0));
        match (self.until, place) {
            (Some(until), Some(place)) => place <= until,
            _ => true,
        }
    }
}

/// Judges and keeps what is read, on the other core: reading takes as long as both.
fn judge_all(
    mut judge: RunJudge,
    batches: &Receiver<Vec<Observation>>,
) -> (RunVerdict, RunChronicle) {
    let mut run = RunChronicle::default();
    for observation in batches.iter().flatten() {
        judge.observe(&observation);
        run.observe(observation);
    }
    (judge.verdict(), run)
}
