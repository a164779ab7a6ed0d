//! Everything that a report of a run tells, in whatever format.
//!
//! A [`Chronicle`] goes along while the run is read and keeps what is needed, in bounded memory; with
//! the verdict it becomes a [`RunReport`]. HTML, Markdown, JSON and the charts only read that.

mod background;
mod crew;
mod discretion;
mod parts;

pub use background::{Background, Group};
pub use crew::Member;
pub use parts::Part;

use leveloff_classifier::observation::Observation;
use leveloff_classifier::run_curves::{RunCurves, Series};
use leveloff_classifier::verdict::RunVerdict;
use leveloff_model::recording::{End, Header, StatedFacts};
use leveloff_model::sample::Tick;

use crate::judged::Judged;
use crate::sizing::Sizing;
use background::BackgroundCheck;
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
}

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
    pub fn observe(&mut self, observation: &Observation) {
        self.curves.observe(observation);
        self.crew.observe(observation);
    }

    /// The curves so far.
    pub fn curves(&self) -> &RunCurves {
        &self.curves
    }
}

impl Chronicle {
    /// The report, when all is read and judged.
    pub fn finish(self, verdict: RunVerdict, about: Circumstances) -> RunReport {
        let Chronicle { run, background } = self;
        let (members, members_left_out) = run.crew.listed(background.names());
        let report = RunReport {
            parts: parts::parts(&run.curves, &verdict, &members),
            host_sizing: Sizing::of_run(&verdict),
            gpu_sizing: Sizing::of_gpu(&run.curves),
            background: background.finish(about.header, about.end),
            curves: run.curves,
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
}
