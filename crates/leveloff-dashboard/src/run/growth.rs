//! Growth since a moment, by role and kind, so that the parts add up to the whole.

use std::collections::{BTreeMap, HashMap};

use leveloff_classifier::observation::ProcessShare;
use leveloff_classifier::verdict::Kind;
use leveloff_model::process::{ProcessIndex, Role};
use leveloff_model::sample::Sample;
use leveloff_model::training_counters::TrainingCounters;
use leveloff_model::units::{ByteDelta, Bytes, Seconds, Step};

/// The moment since which growth is told.
#[derive(Debug, Clone, PartialEq)]
pub struct Marker {
    /// When.
    pub t: Seconds,
    /// How far the training was.
    pub step: Option<Step>,
    /// What the run held.
    pub memory: Bytes,
    /// What the training counted inside: at the marker, or where it counted first after it.
    pub counters: TrainingCounters,
    parts: BTreeMap<(Role, Kind), Bytes>,
    processes: HashMap<ProcessIndex, Bytes>,
}

/// What one kind of memory of one role did since the marker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grown {
    /// Whose.
    pub role: Role,
    /// What.
    pub kind: Kind,
    /// By how much.
    pub by: ByteDelta,
    /// To what.
    pub to: Bytes,
}

impl Marker {
    /// A marker now.
    pub fn new(sample: &Sample, shares: &[ProcessShare]) -> Marker {
        Marker {
            t: sample.t,
            step: sample.progress.step,
            memory: shares.iter().map(|share| share.memory).sum(),
            counters: sample.progress.counters,
            parts: parts(shares),
            processes: shares
                .iter()
                .map(|share| (share.index, share.memory))
                .collect(),
        }
    }

    /// Hears what is counted inside. A training counts some steps after it began to tell them.
    pub(super) fn learn(&mut self, now: &TrainingCounters) {
        self.counters = now.updated_by(&self.counters);
    }

    /// What each part did since, the one that moved most first. Parts that are gone shrank to nothing.
    pub fn grown(&self, shares: &[ProcessShare]) -> Vec<Grown> {
        let now = parts(shares);
        let mut names: Vec<(Role, Kind)> = self.parts.keys().chain(now.keys()).copied().collect();
        names.sort_unstable();
        names.dedup();
        let amount = |parts: &BTreeMap<(Role, Kind), Bytes>, name| {
            parts.get(name).copied().unwrap_or(Bytes::ZERO)
        };
        let mut grown: Vec<Grown> = names
            .iter()
            .map(|name| {
                let (before, to) = (amount(&self.parts, name), amount(&now, name));
                Grown {
                    role: name.0,
                    kind: name.1,
                    by: to.since(before),
                    to,
                }
            })
            .collect();
        grown.sort_by_key(|grown| (std::cmp::Reverse(grown.by.0.abs()), grown.role));
        grown
    }

    /// What a process gained since; all it has if it came later.
    pub fn process(&self, share: &ProcessShare) -> ByteDelta {
        let before = self.processes.get(&share.index).copied();
        share.memory.since(before.unwrap_or(Bytes::ZERO))
    }
}

fn parts(shares: &[ProcessShare]) -> BTreeMap<(Role, Kind), Bytes> {
    let mut parts: BTreeMap<(Role, Kind), Bytes> = BTreeMap::new();
    for share in shares {
        let kinds = [
            (Kind::Anonymous, share.anonymous()),
            (Kind::Shared, share.shared),
            (Kind::Swap, share.swapped),
        ];
        for (kind, amount) in kinds {
            if amount > Bytes::ZERO {
                *parts.entry((share.role, kind)).or_insert(Bytes::ZERO) += amount;
            }
        }
    }
    parts
}
