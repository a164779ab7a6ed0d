//! A training with its pattern, marks, checkpoints and stop requests.

use std::path::PathBuf;

use candle_core::Tensor;

use super::{Pace, Training};
use crate::checkpoint::Directory;
use crate::device::bytes_in_use;
use crate::marks::{Mark, Marks, mark_path};
use crate::pattern::{Pattern, PatternError, Schedule, StepDone};
use crate::progress::Progress;
use crate::ranks::{Arrival, RankGroup, RanksError};
use crate::stop::{StopCause, StopRequests};

/// A training with its pattern, marks, checkpoints and stop requests.
pub struct Session {
    /// The training itself.
    pub training: Training,
    /// What memory does.
    pub pattern: Box<dyn Pattern>,
    /// Steps of evaluations, checkpoints and the end.
    pub schedule: Schedule,
    /// The marks file.
    pub marks: Marks,
    /// Directory of checkpoints, if any.
    pub checkpoints: Option<Directory>,
    /// Output for the user.
    pub progress: Progress,
    /// Requests to stop.
    pub stop: StopRequests,
    /// The ranks that train in step with it.
    pub ranks: RankGroup,
    /// Highest speed.
    pub pace: Pace,
    /// The last saved step, and its path.
    pub last_saved: Option<(u64, PathBuf)>,
}

/// How a training ended that did not fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// All steps were done.
    Finished,
    /// It was stopped.
    Stopped(StopCause),
}

/// Why a training failed.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The pattern cannot go on.
    #[error(transparent)]
    Pattern(#[from] PatternError),
    /// The loss is no number any more.
    #[error("the loss of step {step} is {loss}: the training diverged; try another --seed")]
    Astray {
        /// The step.
        step: u64,
        /// Its loss.
        loss: f32,
    },
    /// Candle cannot compute.
    #[error("the training cannot go on: {0}")]
    Candle(#[from] candle_core::Error),
    /// The other ranks cannot be trained with.
    #[error(transparent)]
    Ranks(#[from] RanksError),
    /// It ended, and its last state is lost.
    #[error("{0:#}; what was trained since the last checkpoint is lost")]
    NotSaved(anyhow::Error),
}

/// Steps after which the marks say again that requests are obeyed: a watcher that comes late reads
/// the last 64 KiB, which are some 300 steps.
const PROMISE_EVERY: u64 = 100;

/// How far it is saved.
enum Saving {
    Done(PathBuf),
    Failed(anyhow::Error),
    NoDirectory,
}

impl Session {
    /// Trains until all steps are done, a stop is requested, or it fails. In each case it saves a
    /// checkpoint, if there is a directory and the parameters are finite.
    pub fn run(mut self) -> Result<Ending, Failure> {
        self.begin();
        let ended = self.train();
        let ended = match ended {
            Ok(ending) => self
                .save_the_end()
                .map(|saved| self.say_the_end(ending, saved)),
            Err(failure) => Err(self.save_in_spite_of(failure)),
        };
        self.progress.end();
        self.stop.obeyed();
        ended
    }

    fn begin(&mut self) {
        let mark = Mark {
            phase: Some("train"),
            planned_steps: Some(self.schedule.steps),
            epoch_steps: Some(self.schedule.epoch_steps),
            obeys_stop: Some(true),
            ..self.mark()
        };
        self.marks.write(&mark);
    }

    fn train(&mut self) -> Result<Ending, Failure> {
        while self.training.steps() < self.schedule.steps {
            if let Some(cause) = self.agree_to_stop()? {
                self.say_that_it_stops();
                return Ok(Ending::Stopped(cause));
            }
            let step = self.step()?;
            if step.is_multiple_of(self.schedule.evaluate_every) {
                self.evaluate(step)?;
            }
            if step.is_multiple_of(self.schedule.checkpoint_every) {
                self.save_on_the_way(step)?;
            }
            self.pace.wait(|| self.stop.cause().is_some());
        }
        Ok(Ending::Finished)
    }

    /// Ranks stop at the same step or not at all: those that went on would wait for ever.
    fn agree_to_stop(&mut self) -> Result<Option<StopCause>, Failure> {
        let here = Arrival {
            step: self.training.steps(),
            cause: self.stop.cause(),
        };
        Ok(self.ranks.agree_at(here)?.cause)
    }

    /// Marked before saving, which may take long, so that a guard waits for it.
    fn say_that_it_stops(&mut self) {
        let mark = Mark {
            event: Some("stopping"),
            ..self.mark()
        };
        self.marks.write(&mark);
        self.stop.obeyed();
    }

    /// Does a step, lets the pattern follow, and reports both.
    fn step(&mut self) -> Result<u64, Failure> {
        let graph = self.training.step()?;
        let step = self.training.steps();
        let loss = finite(&graph, step)?;
        self.pattern.step(&StepDone { step, loss: &graph })?;
        drop(graph);
        let mark = Mark {
            phase: Some("train"),
            epoch: Some(step as f64 / self.schedule.epoch_steps as f64),
            loss: Some(loss),
            obeys_stop: step.is_multiple_of(PROMISE_EVERY).then_some(true),
            ..self.mark()
        };
        self.marks.write(&mark);
        self.progress.step(step, loss);
        Ok(step)
    }

    fn evaluate(&mut self, step: u64) -> Result<(), Failure> {
        self.enter("eval");
        let pattern = &mut self.pattern;
        let evaluation = self
            .training
            .evaluate(|| pattern.evaluating(step).map_err(Failure::from))?;
        pattern.evaluated(step)?;
        self.progress.evaluated(step, &evaluation);
        let mark = Mark {
            phase: Some("train"),
            accuracy: Some(evaluation.accuracy),
            ..self.mark()
        };
        self.marks.write(&mark);
        Ok(())
    }

    /// A full disk may have room again by the next checkpoint, so the training goes on.
    fn save_on_the_way(&mut self, step: u64) -> Result<(), Failure> {
        match self.save() {
            Saving::NoDirectory => return Ok(()),
            Saving::Done(_) => self.pattern.saved(step)?,
            Saving::Failed(error) => self.progress.notice(&format!(
                "{error:#}; the training goes on without this checkpoint"
            )),
        }
        self.enter("train");
        Ok(())
    }

    fn save_the_end(&mut self) -> Result<Option<PathBuf>, Failure> {
        let step = self.training.steps();
        if let Some((_, path)) = self.last_saved.take_if(|(saved, _)| *saved == step) {
            return Ok(Some(path));
        }
        match self.save() {
            Saving::NoDirectory => Ok(None),
            Saving::Done(path) => Ok(Some(path)),
            Saving::Failed(error) => Err(Failure::NotSaved(error)),
        }
    }

    fn save(&mut self) -> Saving {
        if self.checkpoints.is_none() {
            return Saving::NoDirectory;
        }
        self.enter("checkpoint");
        let Some(directory) = &self.checkpoints else {
            return Saving::NoDirectory;
        };
        let origin = self.training.origin();
        match directory.save(&self.training.optimiser, &origin) {
            Err(error) => Saving::Failed(error),
            Ok(saved) => {
                let mark = Mark {
                    event: Some("checkpoint"),
                    path: mark_path(&saved.path),
                    saved_bytes: Some(saved.bytes),
                    ..self.mark()
                };
                self.marks.write(&mark);
                self.progress.saved(origin.step, &saved.path);
                self.last_saved = Some((origin.step, saved.path.clone()));
                Saving::Done(saved.path)
            }
        }
    }

    /// A failed pattern leaves the training intact. The failure is reported even if nothing could be
    /// saved.
    fn save_in_spite_of(&mut self, failure: Failure) -> Failure {
        if failure.is_worth_saving()
            && let Err(not_saved) = self.save_the_end()
        {
            self.progress.notice(&not_saved.to_string());
        }
        failure
    }

    fn say_the_end(&mut self, ending: Ending, saved: Option<PathBuf>) -> Ending {
        let step = self.training.steps();
        match ending {
            Ending::Finished => self.progress.finished(step),
            Ending::Stopped(cause) => {
                let mark = Mark {
                    event: Some("stopped"),
                    path: saved.as_deref().and_then(mark_path),
                    ..self.mark()
                };
                self.marks.write(&mark);
                self.progress.stopped(step, cause.words(), saved.as_deref());
            }
        }
        ending
    }

    fn enter(&mut self, phase: &'static str) {
        let mark = Mark {
            phase: Some(phase),
            ..self.mark()
        };
        self.marks.write(&mark);
    }

    /// What every mark has. What a pattern's tensors hold is not known, so there are no bytes while
    /// it has some: too few would look like a leak elsewhere.
    fn mark(&self) -> Mark {
        let of_pattern = self.pattern.held_tensors();
        Mark {
            step: self.training.steps(),
            tensors: Some(self.training.tensors() + of_pattern),
            tensor_bytes: (of_pattern == 0).then(|| self.training.tensor_bytes()),
            cuda_bytes: bytes_in_use(self.training.device()),
            ..Mark::default()
        }
    }
}

impl Failure {
    /// Parameters that led to no number would lead there again.
    fn is_worth_saving(&self) -> bool {
        matches!(self, Failure::Pattern(_))
    }
}

fn finite(loss: &Tensor, step: u64) -> Result<f32, Failure> {
    let loss = loss.to_scalar::<f32>()?;
    if loss.is_finite() {
        Ok(loss)
    } else {
        Err(Failure::Astray { step, loss })
    }
}
