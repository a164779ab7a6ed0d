//! Reads one file once: judges it, and keeps what charts and tables need.

use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use anyhow::{Result, bail};
use leveloff_classifier::observation::Observation;
use leveloff_classifier::run::RunJudge;
use leveloff_classifier::verdict::RunVerdict;
use leveloff_model::recording::StatedFacts;
use leveloff_model::units::Step;
use leveloff_readers::{ColumnChoice, Input, OpenedInput, ReadResult};
use leveloff_report::run_report::{
    BackgroundCheck, Chronicle, Circumstances, RunChronicle, RunReport,
};

/// Observations that are handed over together: one by one, handing over would cost more than it saves.
const BATCH: usize = 512;

/// Batches that may wait, so that neither side waits for the other for long.
const BATCHES_WAITING: usize = 4;

/// How a file is read.
#[derive(Debug, Clone, Default)]
pub(crate) struct RunReader {
    /// Which columns to read.
    pub columns: ColumnChoice,
    /// What the user knows about the run; it takes precedence over what was recorded.
    pub stated: StatedFacts,
    /// By when memory must have levelled off, if neither the user nor the recording states it.
    pub usual_level_by: Option<Step>,
    /// Read only up to this count (or time, where nothing is counted).
    pub until: Option<f64>,
}

impl RunReader {
    /// Reads and judges a file.
    pub(crate) fn read(&self, path: &Path) -> Result<RunReport> {
        let opened = leveloff_readers::open(&Input::from(path), &self.columns)?;
        let mut stated = self.stated.clone().or(&opened.stated);
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

    /// Hands the observations over in batches. The receiver is gone only after a panic, which is reported at the
    /// end.
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
