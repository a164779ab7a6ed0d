//! What happened, newest last, in words.

use std::collections::VecDeque;

use leveloff_classifier::verdict::{Grade, RunVerdict};
use leveloff_model::process::{ProcessIndex, Role};
use leveloff_model::progress::{MarkKind, Phase};
use leveloff_model::sample::{Event, Gap, Sample, Tick};
use leveloff_model::training_counters::{TrainingCounter, TrainingCounters};
use leveloff_model::units::{Seconds, Step};
use leveloff_text::verdict::trimmed_words;

use super::people::People;

/// Entries that are kept.
const KEPT: usize = 1000;

/// What happened.
#[derive(Debug, Clone, Default)]
pub struct EventLog {
    entries: VecDeque<LogEntry>,
    /// When mappings were last read: that stops a large process for a moment.
    mappings_at: Option<Seconds>,
}

/// One thing that happened.
#[derive(Debug, Clone, PartialEq)]
pub struct LogEntry {
    /// When.
    pub t: Seconds,
    /// How far the training was.
    pub step: Option<Step>,
    /// What sort of thing.
    pub kind: LogKind,
    /// In words.
    pub text: String,
}

/// What sort of thing happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogKind {
    /// The verdict is another.
    Verdict,
    /// The training said something.
    Training,
    /// Processes came or went.
    Processes,
    /// Something could not be measured.
    Gap,
    /// The user or the dashboard did something.
    Own,
}

impl EventLog {
    /// All entries that are kept, oldest first.
    pub fn all(&self) -> impl DoubleEndedIterator<Item = &LogEntry> + ExactSizeIterator {
        self.entries.iter()
    }

    /// Something that the dashboard did.
    pub fn note(&mut self, sample: Option<&Sample>, text: String) {
        let t = sample.map_or(Seconds(0.0), |sample| sample.t);
        let step = sample.and_then(|sample| sample.progress.step);
        self.push(LogEntry {
            t,
            step,
            kind: LogKind::Own,
            text,
        });
    }

    pub(super) fn take(&mut self, tick: &Tick, people: &People) {
        let mut came: Vec<Role> = Vec::new();
        let mut went: Vec<Role> = Vec::new();
        for event in &tick.events {
            match event {
                Event::Appeared(info) => came.push(info.role),
                Event::Exited(index) => went.extend(role(people, *index)),
                Event::Changed(_) | Event::Software(_) => {}
                Event::Mark(mark) => {
                    if let Some(text) = told(&mark.kind, &tick.sample.progress.counters) {
                        self.push(LogEntry {
                            t: mark.t,
                            step: mark.step,
                            kind: LogKind::Training,
                            text,
                        });
                    }
                }
                Event::Gap(gap) => self.at(&tick.sample, LogKind::Gap, gap_text(gap)),
            }
        }
        self.take_mappings(&tick.sample, people);
        for (roles, verb) in [(came, "started"), (went, "ended")] {
            for text in counted(roles, verb) {
                self.at(&tick.sample, LogKind::Processes, text);
            }
        }
    }

    fn take_mappings(&mut self, sample: &Sample, people: &People) {
        let Some(mappings) = &sample.mappings else {
            return;
        };
        if self.mappings_at.replace(mappings.at) != Some(mappings.at) {
            let who = role(people, mappings.process).map_or("a process", Role::name);
            let text = format!("memory detail of {who} read");
            self.at(sample, LogKind::Own, text);
        }
    }

    pub(super) fn compare(
        &mut self,
        before: Option<&RunVerdict>,
        now: &RunVerdict,
        sample: &Sample,
    ) {
        if before.is_some_and(|before| before.verdict == now.verdict) {
            return;
        }
        let words = |verdict: &RunVerdict| {
            let grade = verdict.verdict.grade().map(Grade::name);
            let name = verdict.verdict.name().replace('_', " ");
            grade.map_or(name.clone(), |grade| format!("{name} ({grade})"))
        };
        let text = match before {
            Some(before) => format!("verdict: {} → {}", words(before), words(now)),
            None => format!("verdict: {}", words(now)),
        };
        self.at(sample, LogKind::Verdict, text);
    }

    fn at(&mut self, sample: &Sample, kind: LogKind, text: String) {
        self.push(LogEntry {
            t: sample.t,
            step: sample.progress.step,
            kind,
            text,
        });
    }

    fn push(&mut self, entry: LogEntry) {
        // A training may tell that it begins to save, and again that it has saved.
        if self
            .entries
            .back()
            .is_some_and(|last| last.tells_of(&entry))
        {
            return;
        }
        if self.entries.len() == KEPT {
            self.entries.pop_front();
        }
        self.entries.push_back(entry);
    }
}

impl LogEntry {
    /// Whether this is the training's word about the same thing.
    fn tells_of(&self, other: &LogEntry) -> bool {
        let said = |entry: &LogEntry| (entry.kind, entry.step, entry.text.clone());
        self.kind == LogKind::Training && said(self) == said(other)
    }
}

fn role(people: &People, index: ProcessIndex) -> Option<Role> {
    people.get(index).map(|person| person.info.role)
}

fn told(kind: &MarkKind, inside: &TrainingCounters) -> Option<String> {
    let trimmed = inside.bytes(TrainingCounter::Trimmed);
    match kind {
        // Training is what goes on between the others.
        MarkKind::Phase(Phase::Train) => None,
        MarkKind::Phase(Phase::Eval) => Some("evaluation".to_owned()),
        MarkKind::Phase(phase) => Some(phase.name().to_owned()),
        MarkKind::Epoch(epoch) => Some(format!("epoch {epoch}")),
        MarkKind::Event(name) => match trimmed.filter(|_| name == "trim") {
            Some(trimmed) => Some(trimmed_words(trimmed)),
            None => Some(name.clone()),
        },
    }
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
    use leveloff_model::progress::{Mark, Progress};
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
                }),
                machine: MachineReading::default(),
                cgroup: None,
                ceiling: None,
                cost: OwnCost::default(),
            },
        }
    }

    fn said(step: u64, kind: MarkKind) -> Tick {
        let mut tick = read_at(1.0, None);
        tick.events.push(Event::Mark(Mark {
            t: Seconds(1.0),
            process: None,
            step: Some(Step(step)),
            kind,
            path: None,
            facts: Default::default(),
        }));
        tick
    }

    #[test]
    fn a_checkpoint_that_is_begun_and_done_is_told_once() {
        let mut log = EventLog::default();
        for step in [100, 200] {
            let begun = MarkKind::Phase(Phase::Checkpoint);
            log.take(&said(step, begun), &People::default());
            let done = MarkKind::Event("checkpoint".to_owned());
            log.take(&said(step, done), &People::default());
        }
        let steps: Vec<Option<Step>> = log.all().map(|entry| entry.step).collect();
        assert_eq!(steps, [Some(Step(100)), Some(Step(200))]);
    }

    #[test]
    fn a_trim_is_told_with_what_came_back() {
        let mut log = EventLog::default();
        for (step, trimmed) in [(100, None), (200, Some(310 << 20)), (300, Some(0))] {
            let mut tick = said(step, MarkKind::Event("trim".to_owned()));
            tick.sample
                .progress
                .counters
                .set(TrainingCounter::Trimmed, trimmed);
            log.take(&tick, &People::default());
        }
        let told: Vec<&str> = log.all().map(|entry| entry.text.as_str()).collect();
        let gave = [
            "malloc_trim released 310 MiB",
            "malloc_trim released nothing",
        ];
        assert_eq!(told, ["trim", gave[0], gave[1]]);
    }

    #[test]
    fn a_reading_of_memory_detail_is_told_once() {
        let mut log = EventLog::default();
        for tick in [
            read_at(1.0, None),
            read_at(2.0, Some(2.0)),
            read_at(3.0, Some(2.0)),
        ] {
            log.take(&tick, &People::default());
        }
        let told: Vec<&str> = log.all().map(|entry| entry.text.as_str()).collect();
        assert_eq!(told, ["memory detail of a process read"]);
    }
}
