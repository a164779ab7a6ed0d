//! Training progress from what the training prints.

mod ansi;
mod facts_cache;
mod last_reported;
mod line_counters;
mod pieces;
mod rising_lines;
mod rivalry;
mod seen_lines;

use std::borrow::Cow;

use leveloff_model::progress::{Phase, StepUnit};
use leveloff_model::training_counters::TrainingCounter;
use leveloff_model::units::Step;

use self::facts_cache::FactsCache;
use self::last_reported::LastReported;
use self::line_counters::{counter_beside_step, tensors};
use self::pieces::{Cut, Pieces};
use self::rivalry::Rivalry;
use self::seen_lines::SeenLines;
use crate::clock::{Clock, ClockStep};
use crate::formats::bar;
use crate::formats::bar_purpose::BarPurpose;
use crate::formats::metrics::{self, Metrics};
use crate::line::ScannedLine;
use crate::line_facts::LineFacts;
use crate::step_regex::StepRegex;
use crate::steps::bar_tracker::{BarCount, BarTracker, BarUpdate, EpochProgress};
use crate::steps::step_counter::{Count, StepChange, StepCounter};
use crate::update::{Plan, ProgressUpdate};

pub use self::seen_lines::SeenOutput;

/// Reads a training's output as it comes, in chunks of any size, from a terminal, a pipe or a log.
///
/// What it yields depends on the bytes alone and never on how they were cut into chunks.
#[derive(Debug, Default)]
pub struct OutputParser {
    pieces: Pieces,
    reader: Reader,
}

impl OutputParser {
    /// A parser at the start of an output.
    pub fn new() -> OutputParser {
        OutputParser::default()
    }

    /// A parser that takes steps from lines that match the user's pattern, and from nothing else.
    pub fn with_step_regex(step_regex: StepRegex) -> OutputParser {
        let mut parser = OutputParser::default();
        parser.reader.step_regex = Some(step_regex);
        parser
    }

    /// What the output calls its steps, such as `iter`; `None` while there are none.
    pub fn clock_name(&self) -> Option<&str> {
        match self.reader.source? {
            StepSource::Lines => self.reader.clock.name(),
            StepSource::Bar | StepSource::Epochs => Some(PROGRESS_BAR),
        }
    }

    /// How much output there was, for a message about missing steps.
    pub fn seen(&self) -> SeenOutput {
        self.reader.seen.summary(self.pieces.is_inside_line())
    }

    /// Parses the next bytes and returns the updates in them, oldest first.
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<ProgressUpdate> {
        self.pieces
            .feed(bytes, |piece, cut| self.reader.see(piece, cut));
        std::mem::take(&mut self.reader.updates)
    }

    /// Parses the last line, which may lack its line end, when the output has ended.
    pub fn finish(&mut self) -> Vec<ProgressUpdate> {
        self.pieces.finish(|piece, cut| self.reader.see(piece, cut));
        std::mem::take(&mut self.reader.updates)
    }

    /// Drops the unfinished line, because bytes were skipped and the next ones do not continue it.
    pub fn forget_line(&mut self) {
        self.pieces.clear();
        self.reader.is_behind_bar = false;
    }
}

/// Where the steps come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StepSource {
    Lines,
    Bar,
    /// A bar that counts whole epochs.
    Epochs,
}

/// The name of a bar as a clock.
const PROGRESS_BAR: &str = "progress bar";

/// What Lightning prints at the end of a training.
const LIGHTNING_END: &[u8] = b"`Trainer.fit` stopped";

#[derive(Debug, Default)]
struct Reader {
    updates: Vec<ProgressUpdate>,
    bars: BarTracker,
    /// The previous piece was a bar.
    is_behind_bar: bool,
    source: Option<StepSource>,
    clock: Clock,
    scanned: ScannedLine,
    facts: FactsCache,
    /// Steps of lines that match the user's pattern.
    matched: StepCounter,
    rivalry: Rivalry,
    last_reported: LastReported,
    seen: SeenLines,
    step_regex: Option<StepRegex>,
}

impl Reader {
    fn see(&mut self, piece: &[u8], cut: Cut) -> bool {
        if cut == Cut::LineEnd {
            self.seen.count(piece);
        }
        match cut {
            _ if self.step_regex.is_some() => self.match_step_regex(piece),
            Cut::Bracket => self.see_bar(piece),
            Cut::LineEnd => {
                self.see_line(piece);
                false
            }
        }
    }

    /// Reads a piece by the user's pattern; returns whether it matched.
    fn match_step_regex(&mut self, piece: &[u8]) -> bool {
        let line = ansi::stripped(piece);
        let found = self.step_regex.as_ref().and_then(|regex| regex.read(&line));
        let Some(mut update) = found else {
            return false;
        };
        let change = self.matched.observe(Count {
            n: update.step.map_or(0, |step| step.0),
            total: None,
            epoch: update.epoch.map(|epoch| epoch as u64),
        });
        let step = step_update(change);
        (update.step, update.restarted, update.phase) = (step.step, step.restarted, step.phase);
        self.report(update);
        true
    }

    fn see_bar(&mut self, piece: &[u8]) -> bool {
        if !bar::may_be_tqdm(piece) {
            return false;
        }
        let text = ansi::stripped(piece);
        let Some(bar) = bar::tqdm(&text) else {
            return false;
        };
        self.draw(&bar);
        self.is_behind_bar = true;
        true
    }

    fn see_line(&mut self, piece: &[u8]) {
        if piece.is_empty() {
            return;
        }
        if std::mem::take(&mut self.is_behind_bar) && piece.starts_with(ansi::CURSOR_UP) {
            self.bars.last_was_nested();
        }
        if let Some(skeleton) = self.facts.barren_skeleton(piece) {
            // Nearly all lines of nearly all logs.
            return self.pass_over(piece, skeleton);
        }
        // leveloff's own messages mention steps too, in a log that the next run appends to.
        if piece.starts_with(b"leveloff: ") {
            return;
        }
        let line = ansi::stripped(piece);
        if let Some(bar) = bar::rich(&line) {
            return self.draw(&bar);
        }
        if let Some(bar) = bar::cut_tqdm(&line) {
            return self.draw(&bar);
        }
        if memchr::memchr(LIGHTNING_END[0], &line).is_some()
            && memchr::memmem::find(&line, LIGHTNING_END).is_some()
        {
            return self.see_end(ProgressUpdate::default());
        }
        if let Some(metrics) = metrics::parse(&line) {
            self.see_metrics(metrics);
            // The Trainer's last line has its step in front of the metrics. It comes too late to be
            // of use, and would make this output the source of the steps.
            if metrics.is_end {
                return;
            }
        }
        self.read_numbers(&line, matches!(line, Cow::Borrowed(_)));
    }

    fn draw(&mut self, bar: &bar::Bar<'_>) {
        if self.bars.is_unknown()
            && bar.description.is_empty()
            && self.clock.is_evaluation_announced()
        {
            return self.report(in_phase(Phase::Eval));
        }
        if self.is_other_work(bar) {
            return;
        }
        match self.bars.draw(bar) {
            BarUpdate::Nothing => {}
            BarUpdate::Count(count) => self.see_bar_count(count),
            BarUpdate::Epochs(epochs) => self.see_epochs(epochs),
            BarUpdate::Evaluating => self.report(in_phase(Phase::Eval)),
            BarUpdate::Evaluated => self.see_evaluation_end(ProgressUpdate::default()),
        }
    }

    /// Whole epochs are the steps as long as nothing finer was counted by the end of the first one.
    fn see_epochs(&mut self, epochs: EpochProgress) {
        let mut update = ProgressUpdate::default();
        let is_source = match self.source {
            None => epochs.has_advanced,
            Some(StepSource::Bar) if self.bars.counts_nothing() => epochs.has_advanced,
            source => source == Some(StepSource::Epochs),
        };
        if is_source {
            self.source = Some(StepSource::Epochs);
            update = step_update(StepChange::Step(epochs.done));
            update.unit = Some(StepUnit::Epochs);
            update.plan = self.plan(epochs.of);
        }
        update.epoch = Some(epochs.done as f64);
        self.report(update);
    }

    /// Inference draws bars with strange words, or with none. Without anything about a training in the output, a bar with
    /// strange words counts nothing; a bar without words does not if there is something about inference.
    fn is_other_work(&self, bar: &bar::Bar<'_>) -> bool {
        let log = self.clock.evidence();
        let is_training = log.has_training() || log.has_epochs || self.bars.has_epochs();
        !is_training
            && !bar.shows_loss
            && match BarPurpose::of(bar.description) {
                BarPurpose::Unclear => true,
                BarPurpose::Undescribed => log.is_inference,
                _ => false,
            }
    }

    fn see_bar_count(&mut self, count: BarCount) {
        // A rejected drawing, such as the one that clears a bar, carries no other information.
        if count.change == StepChange::Unchanged {
            return;
        }
        self.rivalry.bar_advanced();
        if self.source == Some(StepSource::Lines)
            && !self.rivalry.bar_takes_over(count.is_described)
            && !self.clock.counts_epochs()
        {
            return;
        }
        let before = self.source.replace(StepSource::Bar);
        let was_other = before.is_some_and(|before| before != StepSource::Bar);
        let mut update = step_update(count.change);
        if count.took_over || was_other {
            self.mark_new_clock(&mut update, PROGRESS_BAR);
        }
        update.epoch = count.epoch;
        let epoch_steps = count.epoch_steps.or_else(|| {
            let (planned, epochs) = (count.planned?, self.clock.planned_epochs()?);
            (planned % epochs == 0).then(|| planned / epochs)
        });
        update.epoch_steps = epoch_steps.map(Step);
        update.unit = Some(count.unit);
        update.plan = self.plan(count.planned);
        self.report(update);
    }

    fn plan(&self, planned: Option<u64>) -> Option<Plan> {
        match planned {
            Some(planned) => Some(Plan::Steps(Step(planned))),
            None => self.last_reported.planned.map(|_| Plan::Withdrawn),
        }
    }

    fn see_metrics(&mut self, metrics: Metrics) {
        let mut update = ProgressUpdate {
            epoch: metrics.epoch,
            ..ProgressUpdate::default()
        };
        if metrics.is_end {
            self.see_end(update);
        } else if metrics.is_evaluation {
            update.event = Some("evaluation".to_owned());
            self.see_evaluation_end(update);
        } else {
            update.phase = metrics.has_loss.then_some(Phase::Train);
            self.report(update);
        }
    }

    /// Follows the numbers of a line. `is_whole`: nothing was taken out of it.
    fn read_numbers(&mut self, line: &[u8], is_whole: bool) {
        self.scanned.scan(line);
        // What follows the last digits was cut off, and so may be digits.
        if bar::open_bracket(line).is_some()
            && (self.scanned.numbers.last()).is_some_and(|last| last.end == line.len())
        {
            self.scanned.numbers.pop();
        }
        let facts = match self.facts.of(line, &self.scanned) {
            None => {
                self.keep_example(line, is_whole);
                return self.pass_over(line, self.scanned.skeleton);
            }
            Some(facts) => facts,
        };
        self.note_number(line, &facts);
        if self.scanned.numbers.iter().all(|number| number.is_glued) {
            if self.clock.observe_words(line, &facts) {
                self.facts = FactsCache::default();
            }
            return;
        }
        let reading = self.clock.observe(line, &self.scanned, &facts);
        if reading.is_barren {
            self.facts.mark_barren(self.scanned.skeleton);
        }
        let mut update = match reading.step {
            Some(step) => self.line_step(step),
            None => ProgressUpdate::default(),
        };
        if update.step.is_some() {
            update.counters.set(TrainingCounter::Tensors, tensors(line));
        }
        for (unit, n) in reading.beside {
            if let Some(counter) = counter_beside_step(unit) {
                update.counters.set(counter, Some(n));
            }
        }
        // A bar has the fraction of an epoch; a log line beside it has the whole number only.
        if self.source != Some(StepSource::Bar) {
            update.epoch = update.epoch.or(reading.epoch);
        }
        // The last setting before the first step counts: scripts print their defaults first.
        let is_open = self.last_reported.planned.is_none() || self.source.is_none();
        if let Some(length) = reading.length.filter(|_| is_open) {
            update.plan = Some(Plan::Steps(Step(length)));
        }
        if reading.is_evaluation && update.phase.is_none() {
            update.phase = Some(Phase::Eval);
        }
        update.event = facts.is_checkpoint.then(|| "checkpoint".to_owned());
        self.report(update);
    }

    /// Notes a line whose number may be the step, while no step is known. Evaluations, tests and the preparation of data have
    /// numbers too.
    fn note_number(&mut self, line: &[u8], facts: &LineFacts) {
        let is_other_work = facts.is_preparation || facts.evaluation_from.is_some();
        if !is_other_work && !self.scanned.numbers.is_empty() {
            self.seen.note_number(self.scanned.skeleton, line);
        }
    }

    /// Passes over a line of a format that is of no use.
    fn pass_over(&mut self, line: &[u8], skeleton: u64) {
        self.seen.follow_number(skeleton, line);
        self.clock.skip_line();
    }

    /// Keeps a line of a format that is of no use as an example of it, unless it holds something whose meaning depends on its digits.
    fn keep_example(&mut self, line: &[u8], is_whole: bool) {
        // Bars and dictionaries are read before the numbers.
        if is_whole
            && memchr::memchr2(b'{', bar::FIRST_OF_GLYPH, line).is_none()
            && bar::open_bracket(line).is_none()
        {
            self.facts.keep_example(line, &self.scanned);
        }
    }

    /// The step of a line, if lines are the clock.
    fn line_step(&mut self, step: ClockStep) -> ProgressUpdate {
        if step.change != StepChange::Unchanged {
            self.rivalry.lines_advanced();
        }
        let was_bar = self.source == Some(StepSource::Bar);
        if was_bar && !self.rivalry.lines_take_over(step.unit) {
            return ProgressUpdate::default();
        }
        let was_epochs = self.source == Some(StepSource::Epochs);
        if was_epochs && step.unit == StepUnit::Epochs {
            return ProgressUpdate::default();
        }
        if was_bar {
            self.rivalry.lines_won();
        }
        self.source = Some(StepSource::Lines);
        let mut update = step_update(step.change);
        if step.replaces_other || was_bar || was_epochs {
            self.mark_new_clock(&mut update, self.clock.name().unwrap_or_default());
        }
        update.epoch = step.epoch;
        update.epoch_steps = step.epoch_steps.map(Step);
        update.unit = Some(step.unit);
        // A plan of 700 steps is none of 700 tokens.
        let counts_other = self
            .last_reported
            .unit
            .is_some_and(|unit| unit != step.unit);
        if step.planned.is_some() || step.epoch_steps.is_some() || counts_other {
            update.plan = self.plan(step.planned);
        }
        update
    }

    /// Says that the steps come from another counter now. Before the first step that is no news.
    fn mark_new_clock(&self, update: &mut ProgressUpdate, name: &str) {
        if update.step.is_some() && self.last_reported.step.is_some() {
            update.new_clock = Some(name.to_owned());
        }
    }

    fn see_evaluation_end(&mut self, mut update: ProgressUpdate) {
        if self.last_reported.phase == Some(Phase::Eval) {
            update.phase = Some(Phase::Train);
        }
        self.report(update);
    }

    fn see_end(&mut self, mut update: ProgressUpdate) {
        if !std::mem::replace(&mut self.last_reported.ended, true) {
            update.event = Some("train-end".to_owned());
        }
        self.see_evaluation_end(update);
    }

    /// Appends what is new in `update`.
    fn report(&mut self, mut update: ProgressUpdate) {
        self.last_reported.keep_changes(&mut update);
        if !update.is_empty() {
            self.seen.has_steps |= update.step.is_some();
            self.updates.push(update);
        }
    }
}

fn step_update(change: StepChange) -> ProgressUpdate {
    let (step, restarted) = match change {
        StepChange::Unchanged => return ProgressUpdate::default(),
        StepChange::Restart(step) => (step, true),
        StepChange::Step(step) | StepChange::NextEpoch(step) => (step, false),
    };
    ProgressUpdate {
        step: Some(Step(step)),
        restarted,
        phase: Some(Phase::Train),
        ..ProgressUpdate::default()
    }
}

fn in_phase(phase: Phase) -> ProgressUpdate {
    ProgressUpdate {
        phase: Some(phase),
        ..ProgressUpdate::default()
    }
}

#[cfg(test)]
mod any_output_tests;
#[cfg(test)]
mod tests;
