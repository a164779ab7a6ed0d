//! Training progress from what the training prints.

mod ansi;
mod last_reported;
mod pieces;
mod prefilter;

use crate::formats::bar;
use leveloff_model::progress::Phase;
use leveloff_model::training_counters::TrainingCounter;
use leveloff_model::units::Step;

use self::last_reported::LastReported;
use self::pieces::{Cut, Pieces};
use crate::formats::log_line::{self, LogLine, StepName};
use crate::formats::metrics::{self, Metrics};
use crate::steps::bar_tracker::{BarCount, BarTracker, BarUpdate};
use crate::steps::step_counter::{Count, StepChange, StepCounter};
use crate::update::{Plan, ProgressUpdate};

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

    /// Parses the next bytes and returns the updates in them, oldest first.
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<ProgressUpdate> {
        let (first, whole_lines, last) = around_whole_lines(bytes);
        self.read(first);
        // Whole lines can be tested and skipped together; partial lines cannot.
        if prefilter::are_interesting(whole_lines) {
            self.read(whole_lines);
        }
        self.read(last);
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

    fn read(&mut self, bytes: &[u8]) {
        self.pieces
            .feed(bytes, |piece, cut| self.reader.see(piece, cut));
    }
}

/// Splits `bytes` into the end of an earlier line, whole lines, and the start of a later line.
fn around_whole_lines(bytes: &[u8]) -> (&[u8], &[u8], &[u8]) {
    let Some(first) = memchr::memchr2(b'\n', b'\r', bytes) else {
        return (bytes, &[], &[]);
    };
    let (first, rest) = bytes.split_at(first + 1);
    let last = memchr::memrchr2(b'\n', b'\r', rest).map_or(0, |at| at + 1);
    let (whole, last) = rest.split_at(last);
    (first, whole, last)
}

/// Which format the steps are taken from, best last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum StepSource {
    Text(StepName),
    Bar,
}

/// Rising counts in a row after which log lines take over from a bar that has ended: that bar belonged
/// to work before the training.
const TEXT_EVIDENCE: u32 = 3;

#[derive(Debug, Default)]
struct Reader {
    updates: Vec<ProgressUpdate>,
    bars: BarTracker,
    /// The previous piece was a bar.
    is_behind_bar: bool,
    source: Option<StepSource>,
    text: StepCounter,
    /// Rising counts in log lines since the last bar: the latest count, and how many.
    text_run: (u64, u32),
    last_reported: LastReported,
}

impl Reader {
    fn see(&mut self, piece: &[u8], cut: Cut) -> bool {
        match cut {
            Cut::Bracket => self.see_bar(piece),
            Cut::LineEnd => {
                self.see_line(piece);
                false
            }
        }
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
        if std::mem::take(&mut self.is_behind_bar) && piece.starts_with(ansi::CURSOR_UP) {
            self.bars.last_was_nested();
        }
        // leveloff's own messages mention steps too, in a log that the next run appends to.
        if !prefilter::is_interesting(piece) || piece.starts_with(b"leveloff: ") {
            return;
        }
        let line = ansi::stripped(piece);
        if let Some(bar) = bar::rich(&line) {
            self.draw(&bar);
        } else if let Some(metrics) = metrics::parse(&line) {
            // The Trainer's last line has its step in front of the metrics. It comes too late to
            // be of use, and would make this output the source of the steps.
            self.see_metrics(metrics);
        } else if let Some(line) = log_line::parse(&line) {
            self.see_log_line(line);
        } else if memchr::memmem::find(&line, prefilter::LIGHTNING_END).is_some() {
            self.see_end(ProgressUpdate::default());
        }
    }

    fn draw(&mut self, bar: &bar::Bar<'_>) {
        self.text_run = (0, 0);
        match self.bars.draw(bar) {
            BarUpdate::Nothing => {}
            BarUpdate::Count(count) => self.see_bar_count(count),
            BarUpdate::Epochs(done) => self.report(ProgressUpdate {
                epoch: Some(done as f64),
                ..ProgressUpdate::default()
            }),
            BarUpdate::Evaluating => self.report(in_phase(Phase::Eval)),
            BarUpdate::Evaluated => self.see_evaluation_end(ProgressUpdate::default()),
        }
    }

    fn see_bar_count(&mut self, count: BarCount) {
        // A bar without a description may be an evaluation's, beside a training that prints lines.
        if matches!(self.source, Some(StepSource::Text(_))) && !count.is_described {
            return;
        }
        // A rejected drawing, such as the one that clears a bar, carries no other information.
        if count.change == StepChange::Unchanged {
            return;
        }
        let is_new_source = self.source.replace(StepSource::Bar) != Some(StepSource::Bar);
        let mut update = self.step_update(count.change, count.took_over || is_new_source);
        update.epoch = count.epoch;
        update.epoch_steps = count.epoch_steps.map(Step);
        update.plan = match count.planned {
            Some(planned) => Some(Plan::Steps(Step(planned))),
            None => self.last_reported.planned.map(|_| Plan::Withdrawn),
        };
        self.report(update);
    }

    fn see_metrics(&mut self, metrics: Metrics) {
        let mut update = match metrics.step {
            Some(n) => self.text_step(StepName::GlobalStep, n, None, None),
            None => ProgressUpdate::default(),
        };
        update.epoch = metrics.epoch;
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

    fn see_log_line(&mut self, line: LogLine) {
        let mut update = match line.step {
            Some(step) => self.text_step(step.name, step.n, step.total, line.epoch),
            None => ProgressUpdate::default(),
        };
        update.counters.set(TrainingCounter::Tensors, line.tensors);
        // A bar has the fraction of an epoch; a log line beside it has the whole number only.
        if self.source != Some(StepSource::Bar) {
            update.epoch = line.epoch.map(|epoch| epoch as f64);
        }
        if let Some(planned) = line.planned {
            update.plan = Some(Plan::Steps(Step(planned)));
        }
        update.event = line.is_checkpoint.then(|| "checkpoint".to_owned());
        self.report(update);
    }

    /// Counts a step from a log line, if log lines are the source of the steps.
    fn text_step(
        &mut self,
        name: StepName,
        n: u64,
        total: Option<u64>,
        epoch: Option<u64>,
    ) -> ProgressUpdate {
        self.text_run = match self.text_run {
            (last, run) if n > last || run == 0 => (n, run + 1),
            _ => (n, 1),
        };
        let is_new_source = match self.source {
            None => true,
            Some(StepSource::Bar) if self.bars.is_full() && self.text_run.1 >= TEXT_EVIDENCE => {
                true
            }
            Some(StepSource::Bar) => return ProgressUpdate::default(),
            Some(StepSource::Text(before)) if name < before => return ProgressUpdate::default(),
            Some(StepSource::Text(before)) => name > before,
        };
        if is_new_source {
            self.source = Some(StepSource::Text(name));
            self.text = StepCounter::default();
        }
        let change = self.text.observe(Count { n, total, epoch });
        self.step_update(change, is_new_source)
    }

    fn step_update(&self, change: StepChange, is_new_source: bool) -> ProgressUpdate {
        let (step, restarted) = match change {
            StepChange::Unchanged => return ProgressUpdate::default(),
            StepChange::Restart(step) => (step, true),
            StepChange::Step(step) | StepChange::NextEpoch(step) => (
                step,
                is_new_source && self.last_reported.step > Some(Step(step)),
            ),
        };
        ProgressUpdate {
            step: Some(Step(step)),
            restarted,
            phase: Some(Phase::Train),
            ..ProgressUpdate::default()
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
    fn report(&mut self, update: ProgressUpdate) {
        let update = self.last_reported.changes_in(update);
        if !update.is_empty() {
            self.updates.push(update);
        }
    }
}

fn in_phase(phase: Phase) -> ProgressUpdate {
    ProgressUpdate {
        phase: Some(phase),
        ..ProgressUpdate::default()
    }
}

#[cfg(test)]
mod tests;
