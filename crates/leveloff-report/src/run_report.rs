//! Everything that a report of a run tells, in whatever format.
//!
//! A [`Chronicle`] goes along while the run is read and keeps what is needed, in bounded memory; with
//! the verdict it becomes a [`RunReport`]. HTML, Markdown, JSON and the charts only read that.

mod background;
mod crew;
mod discretion;
mod parts;

pub use background::{Background, BackgroundCheck, Group};
pub use crew::Member;
pub use parts::Part;

use leveloff_classifier::observation::Observation;
use leveloff_classifier::run_curves::{RunCurves, Series};
use leveloff_classifier::verdict::RunVerdict;
use leveloff_model::recording::{End, Header, StatedFacts};
use leveloff_model::sample::Tick;
use leveloff_model::training_counters::{GrownTensors, TrainingCounter};
use leveloff_model::units::Bytes;
use leveloff_text::judged::Judged;
use leveloff_text::sizing::Sizing;

use crew::Crew;

/// What there is to tell of one run.
#[derive(Debug, Clone)]
pub struct RunReport {
    /// What the user calls the input.
    pub input: String,
    /// What kind of file it is: `leveloff recording`, `mprof`.
    pub format: String,
    /// The version of leveloff that reports.
    pub tool: String,
    /// The verdict, with all its evidence.
    pub verdict: RunVerdict,
    /// What the user stated.
    pub stated: StatedFacts,
    /// What was left out, guessed or torn while reading.
    pub notes: Vec<String>,
    /// The curves, folded to at most some thousand spans with their extremes kept.
    pub curves: RunCurves,
    /// What each role and kind holds and how it grew: the whole first.
    pub parts: Vec<Part>,
    /// Which tensors became more, most bytes first, where the training tells.
    pub grown: Vec<GrownTensors>,
    /// Who ran, parents before their children. Empty when the source knows one number only.
    pub members: Vec<Member>,
    /// Processes that were too small or too short to be listed.
    pub members_left_out: u64,
    /// What a machine for this run needs.
    pub host_sizing: Option<Sizing>,
    /// What a GPU for this run needs.
    pub gpu_sizing: Option<Sizing>,
    /// Where it ran, and on what.
    pub background: Background,
}

/// Goes along while a run is read. Ticks and observations come from two sides of the reader, so they
/// are kept by two.
#[derive(Debug, Clone, Default)]
pub struct Chronicle {
    /// Takes observations.
    pub run: RunChronicle,
    /// Takes ticks.
    pub background: BackgroundCheck,
}

/// What observations tell.
#[derive(Debug, Clone, Default)]
pub struct RunChronicle {
    curves: RunCurves,
    crew: Crew,
    grown: Vec<GrownTensors>,
    /// How high memory was at the step before the newest.
    before: Option<Bytes>,
    /// What was seen at the newest step. A run that shuts down gives its memory back at its last step, and
    /// that is not what it looked like; whether it is the last shows only with the next.
    held: Vec<Observation>,
}

/// More than this are not held: a step that takes so long is no shutdown.
const MOST_HELD: usize = 256;

/// Memory that falls below this share of what it was gives itself back.
const GIVEN_BACK: f64 = 0.98;

/// What is known besides, when all is read.
#[derive(Debug, Clone)]
pub struct Circumstances {
    /// What the user calls the input.
    pub input: String,
    /// What kind of file it is.
    pub format: String,
    /// The version of leveloff that reports.
    pub tool: String,
    /// What the user stated.
    pub stated: StatedFacts,
    /// What was left out, guessed or torn while reading.
    pub notes: Vec<String>,
    /// A recording's header.
    pub header: Option<Header>,
    /// How a recording ended.
    pub end: Option<End>,
}

impl RunChronicle {
    /// Takes the next observation.
    pub fn observe(&mut self, observation: Observation) {
        // One number alone does not tell a shutdown from a fall, and where nothing is counted there is
        // no step that could be the last.
        if observation.count.is_none() || observation.processes.is_empty() {
            self.take_held();
            return self.take(&observation);
        }
        let goes_on = |held: &Observation| held.count != observation.count;
        if self.held.last().is_some_and(goes_on) || self.held.len() == MOST_HELD {
            self.take_held();
        }
        self.held.push(observation);
    }

    fn take_held(&mut self) {
        let mut held = std::mem::take(&mut self.held);
        for observation in &held {
            self.take(observation);
        }
        self.before = held.last().map(|last| last.memory).or(self.before);
        // Its room is used again.
        held.clear();
        self.held = held;
    }

    fn take(&mut self, observation: &Observation) {
        self.curves.observe(observation);
        self.crew.observe(observation);
        if self.grown != observation.grown {
            self.grown.clone_from(&observation.grown);
        }
    }

    /// Takes what is held up to where memory is given back.
    fn finish(mut self) -> RunChronicle {
        let held = std::mem::take(&mut self.held);
        // The only step of a run is all that there is of it.
        let mut highest = self.before.unwrap_or_default();
        for observation in &held {
            if (observation.memory.0 as f64) < GIVEN_BACK * highest.0 as f64 {
                break;
            }
            highest = highest.max(observation.memory);
            self.take(observation);
        }
        self
    }
}

impl Chronicle {
    /// The report, when all is read and judged.
    pub fn finish(self, verdict: RunVerdict, about: Circumstances) -> RunReport {
        let Chronicle { run, background } = self;
        let run = run.finish();
        let (members, members_left_out) = run.crew.listed(background.names());
        let report = RunReport {
            parts: parts::parts(&run.curves, &verdict, &members),
            host_sizing: Sizing::of_run(&verdict),
            gpu_sizing: Sizing::of_gpu(&run.curves),
            background: background.finish(about.header, about.end),
            curves: run.curves,
            grown: run.grown,
            members,
            members_left_out,
            verdict,
            input: about.input,
            format: about.format,
            tool: about.tool,
            stated: about.stated,
            notes: about.notes,
        };
        report.without_secrets()
    }
}

impl BackgroundCheck {
    /// Takes the next tick.
    pub fn take(&mut self, tick: &Tick) {
        self.look(tick);
    }
}

impl RunReport {
    /// The verdict as `judge` tells it.
    pub fn judged(&self) -> Judged<'_> {
        Judged {
            input: &self.input,
            verdict: &self.verdict,
            stated: &self.stated,
            notes: &self.notes,
            looks: &[],
        }
    }

    /// The part that is this series, if it is known.
    pub fn part(&self, series: Series) -> Option<&Part> {
        self.parts.iter().find(|part| part.series == series)
    }

    /// What a `malloc_trim` gave back, if the training tried one.
    pub fn trimmed(&self) -> Option<Bytes> {
        let trimmed = self
            .curves
            .peak(Series::Counter(TrainingCounter::Trimmed))?;
        Some(Bytes(trimmed as u64))
    }
}

#[cfg(test)]
mod tests {
    use leveloff_classifier::observation::ProcessShare;
    use leveloff_model::process::{Pid, ProcessIndex, Role};

    use super::*;

    /// Memory at each sample of a run, as it is kept.
    fn kept(samples: &[(f64, u64)], processes: &[ProcessShare]) -> Vec<f64> {
        let mut run = RunChronicle::default();
        for &(count, memory) in samples {
            run.observe(Observation {
                count: Some(count),
                memory: Bytes(memory),
                processes: processes.to_vec(),
                ..Observation::default()
            });
        }
        let run = run.finish();
        let spans = run.curves.spans();
        spans
            .filter_map(|span| span.value(Series::Memory))
            .map(|reach| reach.high)
            .collect()
    }

    fn trainer() -> ProcessShare {
        ProcessShare {
            index: ProcessIndex(0),
            pid: Pid(1),
            role: Role::Trainer,
            rank: None,
            memory: Bytes(1),
            shared: Bytes::ZERO,
            swapped: Bytes::ZERO,
            rss: Bytes(1),
            private: None,
            gpu: None,
            cpu: None,
            fds: None,
            is_read: true,
        }
    }

    #[test]
    fn a_shutdown_at_the_last_step_is_not_kept() {
        let run = [(1.0, 500), (2.0, 500), (2.0, 505), (2.0, 300), (2.0, 400)];
        assert_eq!(kept(&run, &[trainer()]), [500.0, 500.0, 505.0]);
        let run = [(1.0, 500), (2.0, 500), (3.0, 300), (3.0, 1)];
        assert_eq!(kept(&run, &[trainer()]), [500.0, 500.0]);
    }

    #[test]
    fn a_fall_within_a_run_is_kept() {
        let run = [(1.0, 500), (1.0, 300), (2.0, 500), (3.0, 500)];
        assert_eq!(kept(&run, &[trainer()]), [500.0, 300.0, 500.0, 500.0]);
    }

    #[test]
    fn one_step_alone_is_kept_and_so_is_the_last_number_of_a_table() {
        assert_eq!(
            kept(&[(1.0, 500), (1.0, 510)], &[trainer()]),
            [500.0, 510.0]
        );
        assert_eq!(kept(&[(1.0, 500), (2.0, 100)], &[]), [500.0, 100.0]);
    }
}
