//! Training progress from what the training prints.

use leveloff_model::progress::Phase;
use leveloff_model::training_counters::TrainingCounter;
use leveloff_model::units::Step;

use super::ansi;
use super::bar;
use super::bar_book::{BarBook, BarCount, BarNews};
use super::counter::{Count, Heard, StepCounter};
use super::hint;
use super::metrics::{self, Metrics};
use super::phrase::{self, Phrase, StepName};
use super::pieces::{Cut, Pieces};
use super::told::Told;
use super::update::{Plan, ProgressUpdate};

/// Reads a training's output as it comes, in chunks of any size, from a terminal, a pipe or a log.
///
/// What it yields depends on the bytes alone and never on how they were cut into chunks.
#[derive(Debug, Default)]
pub struct OutputParser {
    pieces: Pieces,
    reader: Reader,
}

impl OutputParser {
    /// A parser that has seen nothing.
    pub fn new() -> OutputParser {
        OutputParser::default()
    }

    /// Takes in the next bytes; gives what they told, oldest first.
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<ProgressUpdate> {
        let (first, whole_lines, last) = around_whole_lines(bytes);
        self.read(first);
        // Lines that neither end nor begin here can be passed over together.
        if hint::are_interesting(whole_lines) {
            self.read(whole_lines);
        }
        self.read(last);
        std::mem::take(&mut self.reader.updates)
    }

    /// The output has ended: reads the last line, which may lack its end.
    pub fn finish(&mut self) -> Vec<ProgressUpdate> {
        self.pieces.finish(|piece, cut| self.reader.see(piece, cut));
        std::mem::take(&mut self.reader.updates)
    }

    /// Bytes were skipped: what is held of a line does not go on with what comes next.
    pub fn forget_line(&mut self) {
        self.pieces.clear();
        self.reader.is_behind_bar = false;
    }

    fn read(&mut self, bytes: &[u8]) {
        self.pieces
            .feed(bytes, |piece, cut| self.reader.see(piece, cut));
    }
}

/// The rest of the line that came before, the whole lines, and the start of one to come.
fn around_whole_lines(bytes: &[u8]) -> (&[u8], &[u8], &[u8]) {
    let Some(first) = memchr::memchr2(b'\n', b'\r', bytes) else {
        return (bytes, &[], &[]);
    };
    let (first, rest) = bytes.split_at(first + 1);
    let last = memchr::memrchr2(b'\n', b'\r', rest).map_or(0, |at| at + 1);
    let (whole, last) = rest.split_at(last);
    (first, whole, last)
}

/// Who counts the steps, best last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Teller {
    Text(StepName),
    Bar,
}

/// Rising counts in a row after which log lines take over from a bar that has ended: the bar was
/// something before the training.
const TEXT_EVIDENCE: u32 = 3;

#[derive(Debug, Default)]
struct Reader {
    updates: Vec<ProgressUpdate>,
    bars: BarBook,
    /// The piece before was a bar, and nothing came since.
    is_behind_bar: bool,
    teller: Option<Teller>,
    text: StepCounter,
    /// Rising counts in text since a bar was drawn: the last, and how many.
    text_run: (u64, u32),
    told: Told,
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
        // Our own words about steps, in a log that the next run appends to, are nobody's steps.
        if !hint::is_interesting(piece) || piece.starts_with(b"leveloff: ") {
            return;
        }
        let line = ansi::stripped(piece);
        if let Some(bar) = bar::rich(&line) {
            self.draw(&bar);
        } else if let Some(metrics) = metrics::parse(&line) {
            // The Trainer's last line has its step in front of the metrics. It comes too late to
            // be of use, and would make this output the one that tells the steps.
            self.see_metrics(metrics);
        } else if let Some(phrase) = phrase::parse(&line) {
            self.see_phrase(phrase);
        } else if memchr::memmem::find(&line, hint::LIGHTNING_END).is_some() {
            self.see_end(ProgressUpdate::default());
        }
    }

    fn draw(&mut self, bar: &bar::Bar<'_>) {
        self.text_run = (0, 0);
        match self.bars.draw(bar) {
            BarNews::Nothing => {}
            BarNews::Count(count) => self.see_bar_count(count),
            BarNews::Epochs(done) => self.tell(ProgressUpdate {
                epoch: Some(done as f64),
                ..ProgressUpdate::default()
            }),
            BarNews::Evaluating => self.tell(in_phase(Phase::Eval)),
            BarNews::Evaluated => self.see_evaluation_end(ProgressUpdate::default()),
        }
    }

    fn see_bar_count(&mut self, count: BarCount) {
        // A bar without a word on it may be an evaluation's, beside a training that prints lines.
        if matches!(self.teller, Some(Teller::Text(_))) && !count.is_described {
            return;
        }
        // A drawing that is not believed, such as the one that clears a bar, tells nothing else.
        if count.heard == Heard::Nothing {
            return;
        }
        let is_new_teller = self.teller.replace(Teller::Bar) != Some(Teller::Bar);
        let mut update = self.step_update(count.heard, count.took_over || is_new_teller);
        update.epoch = count.epoch;
        update.epoch_steps = count.epoch_steps.map(Step);
        update.plan = match count.planned {
            Some(planned) => Some(Plan::Steps(Step(planned))),
            None => self.told.planned.map(|_| Plan::Withdrawn),
        };
        self.tell(update);
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
            self.tell(update);
        }
    }

    fn see_phrase(&mut self, phrase: Phrase) {
        let mut update = match phrase.step {
            Some(step) => self.text_step(step.name, step.n, step.total, phrase.epoch),
            None => ProgressUpdate::default(),
        };
        update
            .counters
            .set(TrainingCounter::Tensors, phrase.tensors);
        // A bar knows the fraction of an epoch; a line beside it is the coarser of the two.
        if self.teller != Some(Teller::Bar) {
            update.epoch = phrase.epoch.map(|epoch| epoch as f64);
        }
        if let Some(planned) = phrase.planned {
            update.plan = Some(Plan::Steps(Step(planned)));
        }
        update.event = phrase.is_checkpoint.then(|| "checkpoint".to_owned());
        self.tell(update);
    }

    /// Takes in a step that a line told, if lines are to be believed here.
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
        let is_new_teller = match self.teller {
            None => true,
            Some(Teller::Bar) if self.bars.is_full() && self.text_run.1 >= TEXT_EVIDENCE => true,
            Some(Teller::Bar) => return ProgressUpdate::default(),
            Some(Teller::Text(before)) if name < before => return ProgressUpdate::default(),
            Some(Teller::Text(before)) => name > before,
        };
        if is_new_teller {
            self.teller = Some(Teller::Text(name));
            self.text = StepCounter::default();
        }
        let heard = self.text.hear(Count { n, total, epoch });
        self.step_update(heard, is_new_teller)
    }

    fn step_update(&self, heard: Heard, is_new_teller: bool) -> ProgressUpdate {
        let (step, restarted) = match heard {
            Heard::Nothing => return ProgressUpdate::default(),
            Heard::Restart(step) => (step, true),
            Heard::Step(step) | Heard::NextEpoch(step) => {
                (step, is_new_teller && self.told.step > Some(Step(step)))
            }
        };
        ProgressUpdate {
            step: Some(Step(step)),
            restarted,
            phase: Some(Phase::Train),
            ..ProgressUpdate::default()
        }
    }

    fn see_evaluation_end(&mut self, mut update: ProgressUpdate) {
        if self.told.phase == Some(Phase::Eval) {
            update.phase = Some(Phase::Train);
        }
        self.tell(update);
    }

    fn see_end(&mut self, mut update: ProgressUpdate) {
        if !std::mem::replace(&mut self.told.ended, true) {
            update.event = Some("train-end".to_owned());
        }
        self.see_evaluation_end(update);
    }

    /// Yields what is new in `update`.
    fn tell(&mut self, update: ProgressUpdate) {
        let update = self.told.news_in(update);
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
#[path = "output_tests.rs"]
mod tests;
