//! Reads a file once and makes the report of its run.

use std::cell::RefCell;
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use anyhow::{Context, Result, bail};
use leveloff_classifier::allocation_history::LineWindow;
use leveloff_classifier::observation::Observation;
use leveloff_classifier::run_analysis::RunAnalysis;
use leveloff_model::recording::StatedFacts;
use leveloff_model::sample::Event;
use leveloff_model::units::Step;
use leveloff_readers::{ColumnChoice, Input, OpenedInput, ReadResult};
use leveloff_report::run_report::{BackgroundCheck, ReportContext, RunReport};

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
    /// Whether what earlier runs of the same job say does not count.
    pub ignores_history: bool,
    /// Read only up to this count (or time, where nothing is counted).
    pub until: Option<f64>,
    /// The part of the run over which lines are compared.
    pub line_window: LineWindow,
}

impl RunReader {
    /// Reads and judges a file.
    pub(crate) fn read(&self, path: &Path) -> Result<RunReport> {
        let opened = leveloff_readers::open(&Input::from(path), &self.columns)?;
        let mut stated = self.stated.clone().or(&opened.stated);
        if self.ignores_history {
            stated.earlier = None;
        }
        if !stated.has_horizon() && stated.earlier.is_none() {
            stated.level_by = self.usual_level_by;
            stated.level_by_is_assumed = self.usual_level_by.is_some();
        }
        let (header, format) = (opened.header().cloned(), opened.format.to_owned());
        let analysis = RunAnalysis::new(opened.unit, &stated);
        let mut background = BackgroundCheck::default();
        let (read, run) = std::thread::scope(|scope| {
            let (batches, received) = sync_channel(BATCHES_WAITING);
            let analysing = scope.spawn(move || analyse(analysis, &received));
            let read = self.read_in_batches(opened, &mut background, &batches);
            drop(batches);
            (read, analysing.join())
        });
        let reading = read?;
        let Ok(mut run) = run else {
            bail!("leveloff has a bug, please report the lines above with this input");
        };
        if reading.has_run_ended {
            run.end();
        }
        let about = ReportContext {
            input: path.to_string_lossy().into_owned(),
            format,
            tool: env!("CARGO_PKG_VERSION").to_owned(),
            stated,
            notes: reading.notes,
            progress: reading.progress,
            header,
            end: reading.end,
        };
        let finished = run.finish_with_lines_of(&self.line_window);
        let report = finished.and_then(|run| RunReport::new(run, background, about));
        report.with_context(|| format!("{}: there is no sample of a run", path.display()))
    }

    /// Hands the observations over in batches. The receiver is gone only after a panic, which is reported at the
    /// end.
    fn read_in_batches(
        &self,
        opened: OpenedInput,
        background: &mut BackgroundCheck,
        batches: &SyncSender<Vec<Moment>>,
    ) -> Result<ReadResult> {
        let mut batch = Vec::with_capacity(BATCH);
        // What became known of processes before the next observation. Both closures use it, one after the other.
        let known: RefCell<Vec<Event>> = RefCell::default();
        let reading = opened.read_with_ticks(
            &mut |observation| {
                if self.takes(observation) {
                    let (events, observation) = (known.take(), observation.clone());
                    batch.push(Moment {
                        events,
                        observation,
                    });
                }
                if batch.len() == BATCH {
                    let full = std::mem::replace(&mut batch, Vec::with_capacity(BATCH));
                    let _ = batches.send(full);
                }
            },
            &mut |tick| {
                background.take(tick);
                let is_learned = |event: &&Event| {
                    matches!(
                        event,
                        Event::Appeared(_)
                            | Event::Changed(_)
                            | Event::Site(_)
                            | Event::Allocations(_)
                            | Event::Holder(_)
                    )
                };
                let events = tick.events.iter().filter(is_learned).cloned();
                known.borrow_mut().extend(events);
            },
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

/// An observation, and what became known of processes since the one before.
struct Moment {
    events: Vec<Event>,
    observation: Observation,
}

/// Analyses what is read, on the other core: reading takes as long as both.
fn analyse(mut run: RunAnalysis, batches: &Receiver<Vec<Moment>>) -> RunAnalysis {
    for moment in batches.iter().flatten() {
        run.learn(&moment.events);
        run.observe(&moment.observation);
    }
    run
}
