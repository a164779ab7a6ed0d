//! The log of events, newest last, in words.

use std::collections::VecDeque;

use leveloff_classifier::run_analysis::RunAnalysis;
use leveloff_classifier::run_curves::RunEventKind;
use leveloff_classifier::verdict::Verdict;
use leveloff_model::process::{ProcessIndex, Role};
use leveloff_model::progress::MarkKind;
use leveloff_model::sample::{Event, Gap, Sample, Tick};
use leveloff_model::training_counters::{TrainingCounter, TrainingCounters};
use leveloff_model::units::{Seconds, Step};
use leveloff_text::steps;
use leveloff_text::verdict::trimmed_words;

/// Entries that are kept.
const KEPT: usize = 1000;

/// The log of events.
#[derive(Debug, Clone, Default)]
pub struct EventLog {
    entries: VecDeque<LogEntry>,
    /// When mappings were last read: that stops a large process for a moment.
    mappings_at: Option<Seconds>,
}

/// One event.
#[derive(Debug, Clone, PartialEq)]
pub struct LogEntry {
    /// When, on the run's clock.
    pub t: Seconds,
    /// The step of the training.
    pub step: Option<Step>,
    /// What sort of event.
    pub kind: LogKind,
    /// In words.
    pub text: String,
}

/// What sort of event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogKind {
    /// The verdict changed.
    Verdict,
    /// A mark of the training.
    Training,
    /// Processes started or ended.
    Processes,
    /// Something could not be measured.
    Gap,
    /// Something that the dashboard did.
    Own,
}

impl EventLog {
    /// All entries that are kept, oldest first.
    pub fn all(&self) -> impl DoubleEndedIterator<Item = &LogEntry> + ExactSizeIterator {
        self.entries.iter()
    }

    pub(super) fn take(&mut self, tick: &Tick, run: &RunAnalysis) {
        let mut started: Vec<Role> = Vec::new();
        let mut ended: Vec<Role> = Vec::new();
        for event in &tick.events {
            match event {
                Event::Appeared(info) => started.push(info.role),
                Event::Exited(index) => ended.extend(role(run, *index)),
                Event::Changed(_)
                | Event::Software(_)
                | Event::Site(_)
                | Event::Allocations(_)
                | Event::Holder(_) => {}
                Event::Mark(mark) => {
                    let text = mark_text(&mark.kind, &tick.sample.progress.counters);
                    let entry = text.map(|text| LogEntry {
                        t: mark.t,
                        step: mark.step,
                        kind: LogKind::Training,
                        text,
                    });
                    entry.into_iter().for_each(|entry| self.push(entry));
                }
                Event::Gap(gap) => self.add(&tick.sample, LogKind::Gap, gap_text(gap)),
            }
        }
        self.take_mappings(&tick.sample, run);
        for (roles, verb) in [(started, "started"), (ended, "ended")] {
            for text in counted(roles, verb) {
                self.add(&tick.sample, LogKind::Processes, text);
            }
        }
    }

    fn take_mappings(&mut self, sample: &Sample, run: &RunAnalysis) {
        let Some(mappings) = &sample.mappings else {
            return;
        };
        if self.mappings_at.replace(mappings.at) != Some(mappings.at) {
            let name = role(run, mappings.process).map_or("a process", Role::name);
            let text = format!("memory detail of {name} read");
            self.add(sample, LogKind::Own, text);
        }
    }

    /// Adds a verdict that differs from the one before.
    pub(super) fn add_verdict(&mut self, before: Option<Verdict>, now: Verdict, sample: &Sample) {
        if before == Some(now) {
            return;
        }
        let words = |verdict: Verdict| {
            let name = verdict.name().replace('_', " ");
            match verdict.grade_name() {
                Some(grade) => format!("{name} ({grade})"),
                None => name,
            }
        };
        let text = match before {
            Some(before) => format!("verdict: {} → {}", words(before), words(now)),
            None => format!("verdict: {}", words(now)),
        };
        self.add(sample, LogKind::Verdict, text);
    }

    fn add(&mut self, sample: &Sample, kind: LogKind, text: String) {
        self.push(LogEntry {
            t: sample.t,
            step: sample.progress.step,
            kind,
            text,
        });
    }

    fn push(&mut self, entry: LogEntry) {
        // A training may report that it begins to save, and again that it has saved.
        let repeats = |last: &LogEntry| {
            (last.kind, last.step, &last.text) == (entry.kind, entry.step, &entry.text)
        };
        if entry.kind == LogKind::Training && self.entries.back().is_some_and(repeats) {
            return;
        }
        if self.entries.len() == KEPT {
            self.entries.pop_front();
        }
        self.entries.push_back(entry);
    }
}

fn role(run: &RunAnalysis, index: ProcessIndex) -> Option<Role> {
    run.info(index).map(|info| info.role)
}

fn mark_text(kind: &MarkKind, counters: &TrainingCounters) -> Option<String> {
    let trimmed = counters.bytes(TrainingCounter::Trimmed);
    RunEventKind::of(kind).map(|kind| match (kind, trimmed) {
        (RunEventKind::Evaluation, _) => "evaluation".to_owned(),
        (RunEventKind::Checkpoint, _) => "checkpoint".to_owned(),
        (RunEventKind::Epoch(epoch), _) => format!("epoch {epoch}"),
        (RunEventKind::Named(name), Some(trimmed)) if name == "trim" => trimmed_words(trimmed),
        (RunEventKind::Named(name), _) => name,
        (RunEventKind::Clock(counter), _) => steps::new_clock(&counter),
    })
}

fn gap_text(gap: &Gap) -> String {
    format!("not measured: {} ({})", gap.subject.name(), gap.text)
}

/// `4 dataloader-workers started`
fn counted(mut roles: Vec<Role>, verb: &str) -> Vec<String> {
    roles.sort_unstable();
    roles
        .chunk_by(|a, b| a == b)
        .map(|same| match same {
            [role] => format!("{role} {verb}"),
            several => format!("{} {}s {verb}", several.len(), several[0]),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use leveloff_model::progress::{Mark, Phase, Progress};
    use leveloff_model::sample::{Kinds, MachineReading, MappingReading, OwnCost};

    use super::*;

    fn read_at(t: f64, at: Option<f64>) -> Tick {
        Tick {
            events: Vec::new(),
            sample: Sample {
                t: Seconds(t),
                progress: Progress::default(),
                processes: Vec::new(),
                mappings: at.map(|at| MappingReading {
                    process: ProcessIndex(0),
                    at: Seconds(at),
                    kinds: Kinds::default(),
                    filling: None,
                }),
                machine: MachineReading::default(),
                cgroup: None,
                ceiling: None,
                cost: OwnCost::default(),
            },
        }
    }

    fn marked(step: u64, kind: MarkKind) -> Tick {
        let mut tick = read_at(1.0, None);
        tick.events.push(Event::Mark(Mark {
            t: Seconds(1.0),
            process: None,
            step: Some(Step(step)),
            kind,
            path: None,
            malloc_used: None,
            facts: Default::default(),
        }));
        tick
    }

    #[test]
    fn a_checkpoint_that_is_begun_and_done_is_logged_once() {
        let mut log = EventLog::default();
        for step in [100, 200] {
            let begun = MarkKind::Phase(Phase::Checkpoint);
            log.take(&marked(step, begun), &RunAnalysis::default());
            let done = MarkKind::Event("save".to_owned());
            log.take(&marked(step, done), &RunAnalysis::default());
        }
        let steps: Vec<Option<Step>> = log.all().map(|entry| entry.step).collect();
        assert_eq!(steps, [Some(Step(100)), Some(Step(200))]);
        assert!(log.all().all(|entry| entry.text == "checkpoint"));
    }

    #[test]
    fn a_trim_is_logged_with_what_came_back() {
        let mut log = EventLog::default();
        for (step, trimmed) in [(100, None), (200, Some(310 << 20)), (300, Some(0))] {
            let mut tick = marked(step, MarkKind::Event("trim".to_owned()));
            tick.sample
                .progress
                .counters
                .set(TrainingCounter::Trimmed, trimmed);
            log.take(&tick, &RunAnalysis::default());
        }
        let texts: Vec<&str> = log.all().map(|entry| entry.text.as_str()).collect();
        let gave = [
            "malloc_trim released 310 MiB",
            "malloc_trim released nothing",
        ];
        assert_eq!(texts, ["trim", gave[0], gave[1]]);
    }

    #[test]
    fn a_reading_of_memory_detail_is_logged_once() {
        let mut log = EventLog::default();
        for tick in [
            read_at(1.0, None),
            read_at(2.0, Some(2.0)),
            read_at(3.0, Some(2.0)),
        ] {
            log.take(&tick, &RunAnalysis::default());
        }
        let texts: Vec<&str> = log.all().map(|entry| entry.text.as_str()).collect();
        assert_eq!(texts, ["memory detail of a process read"]);
    }
}
