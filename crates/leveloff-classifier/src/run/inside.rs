//! What the training counted inside, as series.

use leveloff_model::inside::{GrownTensors, InsideFact};

use super::track::{SeldomTrack, Track};
use crate::observation::Observation;

/// A series for each fact.
#[derive(Debug, Clone, Default)]
pub(super) struct InsideTracks {
    tracks: [SeldomTrack; InsideFact::COUNT],
    grown: Vec<GrownTensors>,
}

impl InsideTracks {
    /// Takes the next observation.
    pub(super) fn observe(&mut self, x: f64, observation: &Observation) {
        for (fact, value) in observation.inside.known() {
            // No training has no tensors: zero is what counters say before the first count.
            if value > 0 || fact != InsideFact::Tensors {
                self.tracks[fact as usize].push(x, value as f64);
            }
        }
        if self.grown != observation.grown {
            self.grown.clone_from(&observation.grown);
        }
    }

    /// The series of a fact; without points where nobody told it.
    pub(super) fn track(&self, fact: InsideFact) -> &Track {
        self.tracks[fact as usize].track()
    }

    /// Live tensors.
    pub(super) fn tensors(&self) -> &Track {
        self.track(InsideFact::Tensors)
    }

    /// Which tensors became more, as last told.
    pub(super) fn grown(&self) -> &[GrownTensors] {
        &self.grown
    }
}
