//! Which of the bars counts the training.
//!
//! Descriptions tell it where there are any. The bars of Hugging Face's Trainer have none, nor
//! have those of `for batch in tqdm(loader)`. Among these the first that advances is taken for
//! the training's; [`BarBook::rival`] has the rules for all others.

use super::bar::{Bar, Style, Unit};
use super::counter::{Count, Heard, StepCounter};
use super::other_bars::{OtherBar, OtherBars};
use super::purpose::{EpochNumber, Purpose};

/// What a drawing of a bar told.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum BarNews {
    /// Nothing.
    Nothing,
    /// The training bar was drawn.
    Count(BarCount),
    /// This many whole epochs are done.
    Epochs(u64),
    /// An evaluation is going on.
    Evaluating,
    /// An evaluation has ended.
    Evaluated,
}

/// What the training bar told.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BarCount {
    /// Its count.
    pub heard: Heard,
    /// The bar says that it is the training's.
    pub is_described: bool,
    /// The bar took over from another one: what was counted so far were not steps.
    pub took_over: bool,
    /// The epoch, where bars tell it.
    pub epoch: Option<f64>,
    /// An epoch's steps, where that is known.
    pub epoch_steps: Option<u64>,
    /// The run's steps, where that is known or seems so.
    pub planned: Option<u64>,
}

/// Every bar seen so far.
#[derive(Debug, Default)]
pub struct BarBook {
    training: Option<TrainingBar>,
    others: OtherBars,
    /// Whole epochs that a bar of their own counts: done, and of how many.
    epochs: Option<(u64, Option<u64>)>,
    /// The first epoch has been seen to be called 0.
    epochs_from_zero: bool,
    /// The total of the bar drawn last, if it may be the training's.
    last_total: Option<Option<u64>>,
}

/// How much a bar's description says for its being the training's.
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
    /// How often it began.
    starts: u64,
    /// It is drawn below another bar.
    nested: bool,
    /// It filled up and began anew, so it counts an epoch.
    is_epoch: bool,
}

impl BarBook {
    /// Takes in a drawing.
    pub fn draw(&mut self, bar: &Bar<'_>) -> BarNews {
        self.last_total = None;
        let purpose = Purpose::of(bar.description);
        match purpose {
            _ if bar.unit == Unit::Other => return BarNews::Nothing,
            Purpose::Preparation => return BarNews::Nothing,
            Purpose::Evaluation => return evaluation(bar),
            Purpose::EpochCounter => return self.count_epochs(bar),
            _ if bar.unit == Unit::Epochs => return self.count_epochs(bar),
            _ => self.last_total = Some(bar.total),
        }
        match purpose {
            Purpose::Epoch(epoch) => self.epoch_bar(bar, epoch),
            Purpose::Training => self.described(bar),
            _ if bar.shows_loss => self.described(bar),
            Purpose::Unclear => self.weak(bar, Level::Unclear),
            _ => self.weak(bar, Level::Undescribed),
        }
    }

    /// The cursor went up after the last drawing: that bar stands below another one. tqdm tells
    /// it only afterwards, which is why no bar takes over with its first drawing at 0.
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

    /// Whether the training bar is at its end.
    pub fn is_full(&self) -> bool {
        self.training
            .as_ref()
            .is_some_and(|bar| bar.counter.is_full())
    }

    fn count_epochs(&mut self, bar: &Bar<'_>) -> BarNews {
        self.epochs = Some((bar.n, bar.total));
        BarNews::Epochs(bar.n)
    }

    /// `Epoch 3: 2%|▎  | 1/40 […]`: the count begins anew with each epoch.
    fn epoch_bar(&mut self, bar: &Bar<'_>, epoch: EpochNumber) -> BarNews {
        let epoch_index = self.epoch_index(bar, epoch);
        let Some(total) = bar.total else {
            return self.described(bar);
        };
        let took_over = match &self.training {
            Some(training) if training.level == Level::Described => false,
            Some(_) if bar.n == 0 => return BarNews::Nothing,
            Some(_) => self.start(bar, Level::Described),
            None => self.start(bar, Level::Described),
        };
        let Some(training) = &mut self.training else {
            return BarNews::Nothing;
        };
        (training.total, training.n) = (bar.total, bar.n);
        let heard = training.counter.hear(Count {
            n: epoch_index.saturating_mul(total).saturating_add(bar.n),
            total: None,
            epoch: None,
        });
        let epochs = match (bar.style, epoch.of) {
            // Lightning's rich bar shows the last epoch's number.
            (Style::Rich, Some(last)) => Some(last + 1),
            (_, of) => of,
        };
        BarNews::Count(BarCount {
            heard,
            is_described: true,
            took_over,
            epoch: (total > 0).then(|| epoch_index as f64 + bar.n as f64 / total as f64),
            epoch_steps: bar.total,
            planned: epochs.map(|epochs| epochs.saturating_mul(total)),
        })
    }

    /// Lightning counts epochs from 0. Loops that print `3/10` count them from 1, unless they
    /// have been seen to print a 0.
    fn epoch_index(&mut self, bar: &Bar<'_>, epoch: EpochNumber) -> u64 {
        self.epochs_from_zero |= epoch.number == 0;
        let from_one = bar.style == Style::Tqdm && epoch.of.is_some() && !self.epochs_from_zero;
        epoch.number - u64::from(from_one)
    }

    fn described(&mut self, bar: &Bar<'_>) -> BarNews {
        let Some(training) = &mut self.training else {
            let took_over = self.start(bar, Level::Described);
            return self.count(bar, took_over);
        };
        if training.total == bar.total {
            training.level = Level::Described;
            return self.count(bar, false);
        }
        let (level, nested, step) = (training.level, training.nested, training.counter.step());
        let other_nested = self.other(bar).nested;
        if level < Level::Described {
            return self.take_over(bar, Level::Described);
        }
        // Of two open bars one is nested. Neither is, so the one before is closed: the next
        // stage of the same training.
        if nested || other_nested || bar.n == 0 {
            return BarNews::Nothing;
        }
        self.start(bar, Level::Described);
        if let Some(training) = &mut self.training {
            training.counter = StepCounter::starting_at(step);
        }
        self.count(bar, false)
    }

    /// A bar whose description does not say that it is the training's.
    fn weak(&mut self, bar: &Bar<'_>, level: Level) -> BarNews {
        let Some(training) = &self.training else {
            if bar.n == 0 {
                self.other(bar);
                return BarNews::Nothing;
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
            BarNews::Nothing
        }
    }

    /// Another bar than the training's, which nothing but its total and place tells from it.
    fn rival(&mut self, bar: &Bar<'_>, level: Level) -> BarNews {
        let Some(training) = &self.training else {
            return BarNews::Nothing;
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
                BarNews::Nothing
            };
        }
        // Evaluation takes fewer steps than the training around it. So a longer bar, or one that
        // is drawn again and again while the first is not, is the training, and the first was
        // something before it.
        if training_total.is_some() && (bar.total > training_total || rival.began_anew) {
            self.take_over(bar, level)
        } else {
            evaluation(bar)
        }
    }

    /// Makes `bar` the training's, unless it may still turn out to be nested.
    fn take_over(&mut self, bar: &Bar<'_>, level: Level) -> BarNews {
        if bar.n == 0 || self.other(bar).nested {
            return BarNews::Nothing;
        }
        self.start(bar, level);
        self.count(bar, true)
    }

    /// Starts a new count; tells whether there was another.
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
        });
        before.is_some()
    }

    fn count(&mut self, bar: &Bar<'_>, took_over: bool) -> BarNews {
        let Some(training) = &mut self.training else {
            return BarNews::Nothing;
        };
        self.others.training_is_drawn();
        training.starts += u64::from(bar.n < training.n);
        training.n = bar.n;
        let heard = training.counter.hear(Count {
            n: bar.n,
            total: bar.total,
            epoch: None,
        });
        training.is_epoch |= matches!(heard, Heard::NextEpoch(_));
        let total = bar.total.filter(|total| *total > 0);
        let is_epoch = training.is_epoch || self.epochs.is_some();
        BarNews::Count(BarCount {
            heard,
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

    /// What is known of a bar other than the training's.
    fn other(&mut self, bar: &Bar<'_>) -> &mut OtherBar {
        let starts = self.training.as_ref().map(|training| training.starts);
        self.others.get(bar, starts)
    }
}

/// Lightning draws an evaluation bar at its end; so does the Trainer, once more when it is
/// already gone.
fn evaluation(bar: &Bar<'_>) -> BarNews {
    if bar.total == Some(bar.n) {
        BarNews::Evaluated
    } else {
        BarNews::Evaluating
    }
}
