//! Decides which progress bar counts the training.
//!
//! Descriptions decide where there are any. The bars of Hugging Face's Trainer have none, nor have those
//! of `for batch in tqdm(loader)`. Among these the first that advances is taken for the training bar;
//! [`BarTracker::rival`] has the rules for all others.

use std::hash::{DefaultHasher, Hasher as _};

use leveloff_model::progress::StepUnit;

use super::epoch_passes::{EpochBefore, Passes};
use super::other_bars::{OtherBar, OtherBars};
use super::step_counter::{Count, StepChange, StepCounter};
use crate::formats::bar::{Bar, Style, Unit};
use crate::formats::bar_purpose::{BarPurpose, EpochNumber};

/// What a drawing of a bar means.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum BarUpdate {
    /// Nothing.
    Nothing,
    /// The training bar was drawn.
    Count(BarCount),
    /// This many whole epochs are done.
    Epochs(EpochProgress),
    /// An evaluation is running.
    Evaluating,
    /// An evaluation has ended.
    Evaluated,
}

/// Whole epochs, as a bar of their own counts them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EpochProgress {
    /// How many are done.
    pub done: u64,
    /// Of how many.
    pub of: Option<u64>,
    /// The bar was drawn with a lower count before.
    pub has_advanced: bool,
}

/// What the training bar shows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BarCount {
    /// Its count.
    pub change: StepChange,
    /// What it counts.
    pub unit: StepUnit,
    /// Its description says that it is the training bar.
    pub is_described: bool,
    /// The bar replaced another one, whose counts were not steps.
    pub took_over: bool,
    /// The epoch, where a bar shows it.
    pub epoch: Option<f64>,
    /// The steps of an epoch, where known.
    pub epoch_steps: Option<u64>,
    /// The steps of the run, where known or probable.
    pub planned: Option<u64>,
}

/// All bars seen so far.
#[derive(Debug, Default)]
pub struct BarTracker {
    training: Option<TrainingBar>,
    others: OtherBars,
    /// Whole epochs that a bar of their own counts: done, and of how many.
    epochs: Option<(u64, Option<u64>)>,
    /// An epoch was numbered 0.
    epochs_from_zero: bool,
    /// The first epoch was numbered 1.
    epochs_from_one: bool,
    /// The total of the bar drawn last, if it may be the training bar.
    last_total: Option<Option<u64>>,
}

/// How strongly a bar's description suggests that it is the training bar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Unclear,
    Undescribed,
    Described,
}

#[derive(Debug)]
struct TrainingBar {
    level: Level,
    total: Option<u64>,
    counter: StepCounter,
    n: u64,
    /// How often it started.
    starts: u64,
    /// It is drawn below another bar.
    nested: bool,
    /// It filled up and restarted, so it counts an epoch.
    is_epoch: bool,
    /// The epoch in its description.
    epoch: Option<u64>,
    /// The names of the metrics in its description, as a hash.
    metrics: Option<u64>,
    /// What it counts if it names an epoch.
    passes: Passes,
}

impl BarTracker {
    /// Processes a drawing.
    pub fn draw(&mut self, bar: &Bar<'_>) -> BarUpdate {
        self.last_total = None;
        let purpose = BarPurpose::of(bar.description);
        match purpose {
            _ if bar.unit == Unit::Other => return BarUpdate::Nothing,
            BarPurpose::Preparation => return BarUpdate::Nothing,
            BarPurpose::Evaluation => return evaluation(bar),
            BarPurpose::EpochCounter => return self.count_epochs(bar),
            BarPurpose::Epoch(epoch) if counts_described_epochs(bar, epoch) => {
                return self.count_epochs(bar);
            }
            _ if bar.unit == Unit::Epochs => return self.count_epochs(bar),
            _ => self.last_total = Some(bar.total),
        }
        // Data preparation counts samples too, with any description or none.
        let is_training = matches!(
            purpose,
            BarPurpose::Epoch(_) | BarPurpose::Training | BarPurpose::Measured
        );
        if bar.unit == Unit::Samples && !is_training && !bar.shows_loss {
            return BarUpdate::Nothing;
        }
        match purpose {
            BarPurpose::Epoch(epoch) => self.epoch_bar(bar, epoch),
            BarPurpose::Training => self.described(bar),
            BarPurpose::Measured => self.measured(bar),
            _ if bar.shows_loss => self.described(bar),
            BarPurpose::Unclear => self.weak(bar, Level::Unclear),
            _ => self.weak(bar, Level::Undescribed),
        }
    }

    /// The cursor went up after the last drawing: that bar is below another one. tqdm shows that only
    /// afterwards, so no bar takes over with its first drawing at 0.
    pub fn last_was_nested(&mut self) {
        let Some(total) = self.last_total.take() else {
            return;
        };
        if let Some(training) = &mut self.training
            && training.total == total
        {
            training.nested = true;
        } else {
            self.others.nest(total);
        }
    }

    /// Whether no bar was taken for the training bar yet.
    pub fn is_unknown(&self) -> bool {
        self.training.is_none()
    }

    /// Whether the training bar was drawn with a count of nothing only: another bar counts.
    pub fn counts_nothing(&self) -> bool {
        (self.training.as_ref()).is_some_and(|training| training.counter.step() == 0)
    }

    /// Whether a bar counted whole epochs.
    pub fn has_epochs(&self) -> bool {
        self.epochs.is_some()
    }

    fn count_epochs(&mut self, bar: &Bar<'_>) -> BarUpdate {
        let before = self.epochs.replace((bar.n, bar.total));
        BarUpdate::Epochs(EpochProgress {
            done: bar.n,
            of: bar.total,
            has_advanced: before.is_some_and(|(done, _)| bar.n > done),
        })
    }

    /// `Epoch 3: 2%|▎  | 1/40 […]`: the count restarts with each epoch.
    fn epoch_bar(&mut self, bar: &Bar<'_>, epoch: EpochNumber) -> BarUpdate {
        let epoch_index = self.epoch_index(bar, epoch);
        let Some(total) = bar.total else {
            return self.described(bar);
        };
        // An evaluation with the description of the training is shorter.
        let is_evaluation = |training: &TrainingBar| {
            training.level == Level::Described
                && training.total > bar.total
                && training.epoch == Some(epoch.number)
        };
        if self.training.as_ref().is_some_and(is_evaluation) {
            return evaluation(bar);
        }
        let known = (self.training.as_ref()).filter(|training| training.total == bar.total);
        let before = known.and_then(|training| {
            Some(EpochBefore {
                number: training.epoch?,
                n: training.n,
                passes: training.passes,
            })
        });
        let Some(passes) = Passes::of(bar, epoch, before) else {
            return BarUpdate::Nothing;
        };
        let step = match passes {
            Passes::OfEpoch(earlier) => (epoch_index.saturating_add(earlier))
                .saturating_mul(total)
                .saturating_add(bar.n),
            Passes::OfRun => bar.n,
        };
        // The run has a bar of its own, which counts finer: several steps for each item of this one.
        let is_coarser = |training: &TrainingBar| {
            training.level == Level::Described
                && training.epoch.is_none()
                && training.total > bar.total
                && training.counter.step() > step
        };
        if self.training.as_ref().is_some_and(is_coarser) {
            return BarUpdate::Nothing;
        }
        let took_over = match &self.training {
            Some(training) if training.level == Level::Described => false,
            Some(_) if bar.n == 0 => return BarUpdate::Nothing,
            Some(_) => self.start(bar, Level::Described),
            None => self.start(bar, Level::Described),
        };
        let Some(training) = &mut self.training else {
            return BarUpdate::Nothing;
        };
        (training.total, training.n) = (bar.total, bar.n);
        training.epoch = Some(epoch.number);
        training.passes = passes;
        let change = training.counter.observe(Count {
            n: step,
            total: None,
            epoch: None,
        });
        let epochs = match (bar.style, epoch.of) {
            // Lightning's rich bar shows the number of the last epoch.
            (Style::Rich, Some(last)) => Some(last + 1),
            // From 0 to 99 there are a hundred.
            (_, Some(last)) if self.epochs_from_zero && last % 10 == 9 => Some(last + 1),
            (_, of) => of,
        };
        BarUpdate::Count(BarCount {
            change,
            unit: unit_of(bar),
            is_described: true,
            took_over,
            epoch: match passes {
                Passes::OfEpoch(_) => {
                    (total > 0).then(|| epoch_index as f64 + bar.n as f64 / total as f64)
                }
                Passes::OfRun => Some(epoch_index as f64),
            },
            epoch_steps: bar.total.filter(|_| passes != Passes::OfRun),
            planned: match passes {
                Passes::OfEpoch(_) => epochs.map(|epochs| epochs.saturating_mul(total)),
                Passes::OfRun => bar.total,
            },
        })
    }

    /// Lightning counts epochs from 0. Loops that print `3/10` count them from 1, unless they
    /// printed a 0.
    fn epoch_index(&mut self, bar: &Bar<'_>, epoch: EpochNumber) -> u64 {
        self.epochs_from_zero |= epoch.number == 0;
        // A first bar at 0 in epoch 1 is the start of the output, and not an epoch that was missed.
        self.epochs_from_one |=
            epoch.is_hashed || self.training.is_none() && epoch.number == 1 && bar.n == 0;
        let from_one = bar.style == Style::Tqdm
            && (epoch.of.is_some() || self.epochs_from_one)
            && !self.epochs_from_zero;
        epoch.number - u64::from(from_one)
    }

    /// `loss: 0.31 ||:  12%|█▏ | 12/100 […]`: an evaluation shows other metrics, and is shorter.
    fn measured(&mut self, bar: &Bar<'_>) -> BarUpdate {
        let metrics = letters(bar.description);
        let is_evaluation = |training: &TrainingBar| {
            training.total > bar.total && training.metrics.is_some_and(|known| known != metrics)
        };
        if self.training.as_ref().is_some_and(is_evaluation) {
            return evaluation(bar);
        }
        let update = self.described(bar);
        if let Some(training) = &mut self.training
            && training.total == bar.total
        {
            training.metrics = Some(metrics);
        }
        update
    }

    fn described(&mut self, bar: &Bar<'_>) -> BarUpdate {
        let Some(training) = &mut self.training else {
            let took_over = self.start(bar, Level::Described);
            return self.count(bar, took_over);
        };
        if training.total == bar.total {
            training.level = Level::Described;
            return self.count(bar, false);
        }
        let (level, nested, step) = (training.level, training.nested, training.counter.step());
        // A bar of the whole run beside those of the epochs, which counts finer.
        let is_of_run = training.epoch.is_some() && bar.total > training.total;
        let other_nested = self.other(bar).nested;
        if level < Level::Described || is_of_run && bar.n > step {
            return self.take_over(bar, Level::Described);
        }
        // Of two open bars one is nested. Neither is, so the earlier one is closed, and this is the next
        // stage of the same training.
        if nested || other_nested || bar.n == 0 {
            return BarUpdate::Nothing;
        }
        self.start(bar, Level::Described);
        if let Some(training) = &mut self.training {
            training.counter = StepCounter::starting_at(step);
        }
        self.count(bar, false)
    }

    /// A bar whose description does not say that it is the training bar.
    fn weak(&mut self, bar: &Bar<'_>, level: Level) -> BarUpdate {
        let Some(training) = &self.training else {
            if bar.n == 0 {
                self.other(bar);
                return BarUpdate::Nothing;
            }
            let took_over = self.start(bar, level);
            return self.count(bar, took_over);
        };
        // A training bar that shows its loss does not do so in its first drawing.
        let same_kind = level == training.level
            || level == Level::Undescribed && training.level == Level::Described;
        if training.total == bar.total && same_kind {
            self.count(bar, false)
        } else if level > training.level {
            self.other(bar);
            self.take_over(bar, level)
        } else if level == training.level {
            self.rival(bar, level)
        } else if level == Level::Undescribed {
            evaluation(bar)
        } else {
            BarUpdate::Nothing
        }
    }

    /// A bar that differs from the training bar in its total and position only.
    fn rival(&mut self, bar: &Bar<'_>, level: Level) -> BarUpdate {
        let Some(training) = &self.training else {
            return BarUpdate::Nothing;
        };
        let (training_nested, training_total) = (training.nested, training.total);
        let starts = training.starts;
        let rival = self.other(bar).note(bar);
        if rival.nested {
            return evaluation(bar);
        }
        if training_nested || rival.is_older {
            // The outer of two bars. Around epochs, it advances once for each start of the inner
            // one; when it advances on its own, the inner one was an evaluation.
            let advanced = bar.n.saturating_sub(rival.first_n);
            return if advanced > starts.saturating_sub(rival.training_starts) {
                self.take_over(bar, level)
            } else {
                BarUpdate::Nothing
            };
        }
        // Evaluation takes fewer steps than the training around it. So a longer bar, or one that
        // is drawn repeatedly while the first is not, is the training bar, and the first belonged to
        // earlier work.
        if training_total.is_some() && (bar.total > training_total || rival.restarted) {
            self.take_over(bar, level)
        } else {
            evaluation(bar)
        }
    }

    /// Makes `bar` the training bar, unless it may still be nested.
    fn take_over(&mut self, bar: &Bar<'_>, level: Level) -> BarUpdate {
        if bar.n == 0 || self.other(bar).nested {
            return BarUpdate::Nothing;
        }
        self.start(bar, level);
        self.count(bar, true)
    }

    /// Starts a new count; returns whether there was another.
    fn start(&mut self, bar: &Bar<'_>, level: Level) -> bool {
        let nested = self.other(bar).nested;
        self.others.forget(bar.total);
        let epochs_before = self.epochs.map_or(0, |(done, _)| done);
        let base = epochs_before.saturating_mul(bar.total.unwrap_or(0));
        let before = self.training.replace(TrainingBar {
            level,
            total: bar.total,
            counter: StepCounter::starting_at(base),
            n: bar.n,
            starts: 1,
            nested,
            is_epoch: false,
            epoch: None,
            metrics: None,
            passes: Passes::default(),
        });
        before.is_some()
    }

    fn count(&mut self, bar: &Bar<'_>, took_over: bool) -> BarUpdate {
        let Some(training) = &mut self.training else {
            return BarUpdate::Nothing;
        };
        self.others.training_is_drawn();
        training.starts += u64::from(bar.n < training.n);
        training.n = bar.n;
        let change = training.counter.observe(Count {
            n: bar.n,
            total: bar.total,
            epoch: None,
        });
        training.is_epoch |= matches!(change, StepChange::NextEpoch(_));
        let total = bar.total.filter(|total| *total > 0);
        let is_epoch = training.is_epoch || self.epochs.is_some();
        BarUpdate::Count(BarCount {
            change,
            unit: unit_of(bar),
            is_described: training.level == Level::Described,
            took_over,
            epoch: self
                .epochs
                .and_then(|(done, _)| Some(done as f64 + bar.n as f64 / total? as f64)),
            epoch_steps: total.filter(|_| is_epoch),
            planned: match self.epochs {
                Some((_, of)) => of.and_then(|of| Some(of.saturating_mul(total?))),
                None => total.filter(|_| !is_epoch),
            },
        })
    }

    /// What is known of a bar other than the training bar.
    fn other(&mut self, bar: &Bar<'_>) -> &mut OtherBar {
        let starts = self.training.as_ref().map(|training| training.starts);
        self.others.get(bar, starts)
    }
}

/// `Epoch 3 of 5: 40%|████ | 2/5 […]`: the bar counts what its description counts.
fn counts_described_epochs(bar: &Bar<'_>, epoch: EpochNumber) -> bool {
    epoch.of.is_some() && epoch.of == bar.total && (bar.n..=bar.n + 1).contains(&epoch.number)
}

/// A hash of the letters of a text.
fn letters(text: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    for letter in text.iter().filter(|b| b.is_ascii_alphabetic()) {
        hasher.write_u8(*letter);
    }
    hasher.finish()
}

fn unit_of(bar: &Bar<'_>) -> StepUnit {
    match bar.unit {
        Unit::Samples => StepUnit::Samples,
        Unit::Steps | Unit::Epochs | Unit::Other => StepUnit::Steps,
    }
}

/// Lightning draws an evaluation bar at its end; so does the Trainer, once more after it closed it.
fn evaluation(bar: &Bar<'_>) -> BarUpdate {
    if bar.total == Some(bar.n) {
        BarUpdate::Evaluated
    } else {
        BarUpdate::Evaluating
    }
}
