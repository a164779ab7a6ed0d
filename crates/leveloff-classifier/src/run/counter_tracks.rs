//! What the training counted inside, as series.

use std::collections::BTreeMap;

use leveloff_model::training_counters::{
    GrownObjects, GrownTensors, RecompileReason, TrainingCounter,
};

use super::track::{SeldomTrack, Track};
use crate::observation::Observation;

/// Fewer counts than this say nothing about a trend.
const LEAST_COUNTS: u64 = 3;

/// Counters of the allocators, which are read at once, and how often they were read.
const ALLOCATORS: [TrainingCounter; 4] = [
    TrainingCounter::MallocCounts,
    TrainingCounter::MallocUsed,
    TrainingCounter::MallocFree,
    TrainingCounter::PythonBlocks,
];

/// The counter that says how often this one was counted.
fn numbered_by(fact: TrainingCounter) -> Option<TrainingCounter> {
    match fact {
        TrainingCounter::Tensors
        | TrainingCounter::TensorBytes
        | TrainingCounter::DeviceTensors
        | TrainingCounter::DeviceTensorBytes
        | TrainingCounter::GcObjects => Some(TrainingCounter::TensorCounts),
        TrainingCounter::MallocUsed | TrainingCounter::MallocFree => {
            Some(TrainingCounter::MallocCounts)
        }
        _ => None,
    }
}

/// From one x to another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Stretch {
    /// The first.
    pub(super) from: f64,
    /// The last.
    pub(super) to: f64,
}

impl Stretch {
    fn of(track: &Track, to: f64) -> Option<Stretch> {
        Stretch::between(track, to).filter(|_| track.points() >= LEAST_COUNTS)
    }

    fn between(track: &Track, to: f64) -> Option<Stretch> {
        let from = track.began_at()?;
        (to > from).then_some(Stretch { from, to })
    }
}

/// Classes of objects whose number is followed.
const MOST_CLASSES: usize = 32;

/// Objects of a class, as they became more.
#[derive(Debug, Clone, Copy)]
pub(super) struct ClassTrack<'a> {
    /// The class.
    pub(super) name: &'a str,
    /// How many more there were.
    pub(super) track: &'a Track,
    /// From the first count to the last.
    pub(super) counted: Stretch,
}

/// A series for each fact.
#[derive(Debug, Clone, Default)]
pub(super) struct CounterTracks {
    tracks: [SeldomTrack; TrainingCounter::COUNT],
    grown: Vec<GrownTensors>,
    reasons: Vec<RecompileReason>,
    objects: Vec<GrownObjects>,
    classes: BTreeMap<String, SeldomTrack>,
}

impl CounterTracks {
    /// Takes the next observation.
    pub(super) fn observe(&mut self, x: f64, observation: &Observation) {
        for (fact, value) in observation.counters.known() {
            // No training has no tensors: zero is what counters say before the first count.
            if value == 0 && fact == TrainingCounter::Tensors {
                continue;
            }
            let track = &mut self.tracks[fact as usize];
            match numbered_by(fact).and_then(|numbers| observation.counters.get(numbers)) {
                Some(number) => track.push_counted(x, value as f64, number),
                None => track.push(x, value as f64),
            }
        }
        if self.grown != observation.grown {
            self.grown.clone_from(&observation.grown);
        }
        if self.reasons != observation.recompile_reasons {
            self.reasons.clone_from(&observation.recompile_reasons);
        }
        self.observe_objects(x, observation);
    }

    fn observe_objects(&mut self, x: f64, observation: &Observation) {
        if self.objects != observation.grown_objects {
            self.objects.clone_from(&observation.grown_objects);
        }
        for GrownObjects { what, more } in &self.objects {
            let has_room = self.classes.len() < MOST_CLASSES;
            if !self.classes.contains_key(what) && has_room {
                self.classes.insert(what.clone(), SeldomTrack::default());
            }
            if let Some(track) = self.classes.get_mut(what) {
                track.push(x, *more as f64);
            }
        }
    }

    /// The series of a counter; without points where it is not known.
    pub(super) fn track(&self, fact: TrainingCounter) -> &Track {
        self.tracks[fact as usize].track()
    }

    /// From where to where a counter was really read, and not only repeated; `None` if too seldom to show
    /// a trend.
    pub(super) fn counted(&self, fact: TrainingCounter) -> Option<Stretch> {
        let counted = match fact {
            // Level tensors are the same number again and again, so counts are counted.
            TrainingCounter::Tensors if self.counts().values() > 0 => self.counts(),
            TrainingCounter::Tensors => {
                return Stretch::of(self.tensors(), self.tensors().newest_x()?);
            }
            // Read together, so that one that moves shows when the others were read.
            TrainingCounter::MallocUsed
            | TrainingCounter::MallocFree
            | TrainingCounter::PythonBlocks => {
                let together = ALLOCATORS.map(|fact| &self.tracks[fact as usize]);
                together.into_iter().max_by_key(|track| track.values())?
            }
            _ => &self.tracks[fact as usize],
        };
        let is_known = counted.values() >= LEAST_COUNTS && self.track(fact).points() > 0;
        Stretch::of(counted.track(), counted.changed_at()).filter(|_| is_known)
    }

    /// How many values of a counter were seen, and from the first to the last of them. Two show no trend, but an amount.
    pub(super) fn seen(&self, fact: TrainingCounter) -> Option<(u64, Stretch)> {
        let seldom = &self.tracks[fact as usize];
        Some((
            seldom.values(),
            Stretch::between(seldom.track(), seldom.changed_at())?,
        ))
    }

    fn counts(&self) -> &SeldomTrack {
        &self.tracks[TrainingCounter::TensorCounts as usize]
    }

    /// Live tensors.
    pub(super) fn tensors(&self) -> &Track {
        self.track(TrainingCounter::Tensors)
    }

    /// Why code was compiled again, as last reported.
    pub(super) fn reasons(&self) -> &[RecompileReason] {
        &self.reasons
    }

    /// The classes that were last reported to have become more, in the order of the report.
    pub(super) fn classes(&self) -> impl Iterator<Item = ClassTrack<'_>> {
        self.objects.iter().filter_map(|grown| {
            let (name, seldom) = self.classes.get_key_value(&grown.what)?;
            let counted = Stretch::of(seldom.track(), seldom.changed_at())?;
            (seldom.values() >= LEAST_COUNTS).then(|| ClassTrack {
                name,
                track: seldom.track(),
                counted,
            })
        })
    }

    /// Which tensors became more, as last reported.
    pub(super) fn grown(&self) -> &[GrownTensors] {
        &self.grown
    }
}
