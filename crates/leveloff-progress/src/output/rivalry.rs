//! How a clock in the lines and a progress bar take turns as the source of the steps.

use leveloff_model::progress::StepUnit;

/// Advances of one source, without one of the other, after which it is the clock.
const TAKE_OVER: u32 = 3;

/// Advances of the training's own bar after which a clock that did not advance is dead. Trainings print every 100th step at times.
const STANDS_STILL: u32 = 300;

/// Which of the two advanced since when.
#[derive(Debug, Default)]
pub(super) struct Rivalry {
    /// Advances of the lines' clock since the bar was drawn.
    lines_alone: u32,
    /// Intervals between two advances of the lines' clock, in a row, in which the bar advanced.
    shared_intervals: u32,
    /// Advances of the bar since the lines' clock advanced.
    bar_alone: u32,
    /// The bar advanced since the lines' clock did.
    has_bar_advanced: bool,
    /// The lines' clock won over a bar once.
    have_lines_won: bool,
}

impl Rivalry {
    pub(super) fn bar_advanced(&mut self) {
        self.has_bar_advanced = true;
        self.bar_alone += 1;
        self.lines_alone = 0;
    }

    pub(super) fn lines_advanced(&mut self) {
        self.lines_alone += 1;
        self.bar_alone = 0;
        self.shared_intervals = match std::mem::take(&mut self.has_bar_advanced) {
            true => self.shared_intervals + 1,
            false => 0,
        };
    }

    pub(super) fn lines_won(&mut self) {
        self.have_lines_won = true;
    }

    /// A bar without a description may be an evaluation's, beside a training that prints lines. The training's own bar is drawn
    /// between all of these lines.
    pub(super) fn bar_takes_over(&self, is_described: bool) -> bool {
        let may_win = !self.have_lines_won || self.bar_alone >= STANDS_STILL;
        is_described && may_win || self.shared_intervals >= TAKE_OVER
    }

    /// Tokens and samples beside a bar are counted by the steps that the bar shows. Python holds the lines back in blocks of
    /// 8 KiB where they go to a pipe, so that dozens come at once.
    pub(super) fn lines_take_over(&self, unit: StepUnit) -> bool {
        match unit {
            StepUnit::Epochs => false,
            StepUnit::Tokens | StepUnit::Samples => self.lines_alone >= STANDS_STILL,
            StepUnit::Steps | StepUnit::Timesteps | StepUnit::Episodes => {
                self.lines_alone >= TAKE_OVER
            }
        }
    }
}
