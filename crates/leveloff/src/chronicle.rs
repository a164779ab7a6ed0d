//! One file, read once: judged, and kept for charts and tables.

use std::path::Path;

use anyhow::Result;
use leveloff_classifier::observation::Observation;
use leveloff_classifier::run::RunJudge;
use leveloff_model::units::Step;
use leveloff_report::run_report::{Chronicle, Circumstances, RunReport};

use crate::cli::{ColumnArgs, FactArgs};
use crate::intake::{self, Input};

/// How a file is read.
#[derive(Debug, Clone, Default)]
pub struct Reading<'a> {
    /// What the user says of its columns.
    pub columns: Option<&'a ColumnArgs>,
    /// What the user knows of the run.
    pub facts: Option<&'a FactArgs>,
    /// By when memory must have levelled off, if neither the user nor the recording states it.
    pub usual_level_by: Option<Step>,
    /// Only what lies at or before this count (or time, where nothing is counted).
    pub until: Option<f64>,
}

impl Reading<'_> {
    /// Reads and judges a file.
    pub fn read(&self, path: &Path) -> Result<RunReport> {
        let asked = self.columns.map(ColumnArgs::asked).unwrap_or_default();
        let opened = intake::open(&Input::from(path), &asked)?;
        let mut stated = match self.facts {
            Some(facts) => facts.over(&opened.stated),
            None => opened.stated.clone(),
        };
        stated.level_by = stated.level_by.or(self.usual_level_by);
        let (header, format) = (opened.header().cloned(), opened.format.to_owned());
        let mut judge = RunJudge::new(opened.unit, &stated);
        let mut chronicle = Chronicle::default();
        let (run, background) = (&mut chronicle.run, &mut chronicle.background);
        let reading = opened.read_with_ticks(
            &mut |observation| {
                if self.takes(observation) {
                    judge.observe(observation);
                    run.observe(observation);
                }
            },
            &mut |tick| background.take(tick),
        )?;
        let about = Circumstances {
            input: path.to_string_lossy().into_owned(),
            format,
            tool: env!("CARGO_PKG_VERSION").to_owned(),
            stated,
            notes: reading.notes,
            header,
            end: reading.end,
        };
        Ok(chronicle.finish(judge.verdict(), about))
    }

    fn takes(&self, observation: &Observation) -> bool {
        let place = observation.count.or(observation.t.map(|t| t.0));
        match (self.until, place) {
            (Some(until), Some(place)) => place <= until,
            _ => true,
        }
    }
}
