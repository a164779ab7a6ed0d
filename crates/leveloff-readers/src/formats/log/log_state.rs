//! What the lines of a log said so far.

use leveloff_classifier::observation::{Observation, XUnit};
use leveloff_model::progress::{MarkKind, Progress, ProgressSource};
use leveloff_model::training_counters::TrainingCounter;
use leveloff_model::units::Seconds;
use leveloff_progress::{OutputParser, RunProgress, SourceId, StepRegex, UpdateContext};

use super::XSource;
use super::counter::{Counter, Counts};
use crate::clock::{Timeline, stamp};
use crate::observation_sink::ObservationSink;

/// Reads lines as `leveloff run` does.
pub struct LogState {
    parser: OutputParser,
    progress: RunProgress,
    source_id: SourceId,
    timeline: Timeline,
    /// The newest moment.
    pub observation: Observation,
    lines: u64,
    /// Lines that count tensors.
    tensor_counts: u64,
}

impl LogState {
    /// Before the first line.
    pub fn new(step_regex: Option<&StepRegex>) -> LogState {
        let source_id = SourceId::direct(ProgressSource::Log, 0);
        let mut progress = RunProgress::default();
        let pattern = step_regex.map(|regex| regex.pattern().to_owned());
        progress.describe(source_id, None, pattern);
        LogState {
            parser: match step_regex {
                Some(step_regex) => OutputParser::with_step_regex(step_regex.clone()),
                None => OutputParser::new(),
            },
            progress,
            source_id,
            timeline: Timeline::default(),
            observation: Observation::default(),
            lines: 0,
            tensor_counts: 0,
        }
    }

    /// Takes a line without its end.
    pub fn read(&mut self, line: &[u8]) {
        if let Some(time) = stamp(line) {
            self.observation.t = Some(Seconds(self.timeline.seconds(time)));
        }
        let mut marks = Vec::new();
        let context = UpdateContext {
            t: self.observation.t.unwrap_or(Seconds(0.0)),
            process: None,
            is_history: false,
        };
        for bytes in [line, b"\n"] {
            for update in self.parser.feed(bytes) {
                self.progress
                    .apply(update, self.source_id, context, &mut marks);
            }
        }
        let kinds = marks.into_iter().map(|mark| mark.kind);
        self.observation.marks.extend(kinds);
        bound(&mut self.observation.marks);
    }

    /// Whether the lines so far held a step.
    pub fn has_step(&self) -> bool {
        self.progress.progress().step.is_some()
    }

    /// What a step counts.
    pub fn unit(&self) -> XUnit {
        let unit = self.progress.progress().unit;
        unit.map_or(XUnit::Step, XUnit::from)
    }

    /// A pattern for the step, if lines of one format hold a number that rises.
    pub fn suggestion(&self) -> Option<String> {
        self.parser.seen().pattern
    }

    /// Sets the count of the newest moment, which `line` has the memory of.
    pub fn count(&mut self, line: &[u8], x_source: XSource) {
        let counts = Counts::of(line);
        self.lines += 1;
        let (observation, progress) = (&mut self.observation, self.progress.progress());
        observation.counters = observation.counters.updated_by(&progress.counters);
        if counts.tensors.is_some() {
            self.tensor_counts += 1;
            let counters = &mut observation.counters;
            counters.set(TrainingCounter::Tensors, counts.tensors);
            counters.set(TrainingCounter::TensorCounts, self.tensor_counts);
        }
        observation.phase.clone_from(&progress.phase);
        observation.epoch = progress.epoch;
        observation.planned = progress.planned_steps.map(|step| step.0 as f64);
        observation.epoch_length = progress.epoch_steps.map(|step| step.0 as f64);
        observation.count_unit = None;
        match x_source {
            XSource::Progress(_) => {
                observation.count = progress.step.map(|step| step.0 as f64);
                observation.count_unit = progress.unit;
            }
            // A line without its counter belongs to the step before.
            XSource::Counter(counter) => {
                observation.count = counts.get(counter).or(observation.count);
                observation.epoch = counts.get(Counter::Epoch).or(observation.epoch);
            }
            XSource::Timestamp => observation.count = None,
            XSource::LineNumber => observation.count = Some(self.lines as f64),
        }
        if x_source.unit() == XUnit::Epoch {
            // Where epochs are x, they are not also the length of something.
            observation.epoch = None;
        }
    }

    /// Hands the newest moment on. One before the first step has no place, unless it has a time.
    pub fn offer(&mut self, sink: &mut ObservationSink<'_>) {
        if self.observation.count.is_none() && self.observation.t.is_none() {
            sink.left_out.no_x += 1;
            return;
        }
        sink.offer(&mut self.observation);
        self.observation.marks.clear();
    }

    /// How far the training came.
    pub fn into_progress(mut self) -> Progress {
        if let Some(name) = self.parser.clock_name() {
            self.progress.name_counter(self.source_id, name);
        }
        self.progress.progress().clone()
    }
}

/// Marks on lines without memory must not pile up forever.
fn bound(marks: &mut Vec<MarkKind>) {
    const MOST: usize = 1000;
    if marks.len() > MOST {
        marks.drain(..MOST / 2);
    }
}
