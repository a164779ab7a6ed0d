//! The memory of single processes, in bounded memory however many come and go.

use leveloff_model::process::{Pid, ProcessIndex, Rank, Role};

use super::track::Track;
use crate::observation::ProcessShare;

/// The biggest processes of a run, each with its curve.
#[derive(Debug, Clone, Default)]
pub(super) struct ProcessTracks {
    kept: Vec<ProcessTrack>,
    now: u64,
}

/// One process's curve.
#[derive(Debug, Clone)]
pub(super) struct ProcessTrack {
    index: ProcessIndex,
    seen: u64,
    /// Its number on the machine.
    pub(super) pid: Pid,
    /// The part it plays, as last known.
    pub(super) role: Role,
    rank: Option<Rank>,
    /// Its memory.
    pub(super) memory: Track,
    /// Its RSS, which moves only with what it allocates itself.
    pub(super) rss: Track,
    /// Since when its share is known, and not only estimated.
    pub(super) read_since: Option<f64>,
}

impl ProcessTracks {
    /// Processes that have a curve of their own: a node's ranks, loaders and compile workers; the
    /// thousands of short-lived compilers are not among them.
    const KEPT: usize = 32;
    /// A newcomer takes a living process's place only if it is so much bigger, else two of the same
    /// size would push each other out at every observation.
    const MUCH_BIGGER: f64 = 2.0;
    /// A run ends process by process. It went on after one of them if it was observed for this part of that one's life, as one
    /// in so many,
    const WENT_ON: u64 = 10;
    /// and at least so many times.
    const LEAST_WENT_ON: u64 = 3;

    /// Takes the processes of the next observation.
    pub(super) fn observe(&mut self, x: f64, processes: &[ProcessShare]) {
        self.now += 1;
        // One that has exited and is not collected yet holds nothing, and its curve ends with what it held.
        let holds = |process: &&ProcessShare| process.memory.0 > 0 || process.rss.0 > 0;
        for process in processes.iter().filter(holds) {
            let place = self.place_of(process);
            if let Some(track) = place.and_then(|place| self.kept.get_mut(place)) {
                track.seen = self.now;
                (track.role, track.rank) = (process.role, process.rank);
                track.memory.push(x, process.memory.0 as f64);
                track.rss.push(x, process.rss.0 as f64);
                if process.is_read {
                    track.read_since.get_or_insert(x);
                }
            }
        }
    }

    /// Those that are alive.
    pub(super) fn living(&self) -> impl Iterator<Item = &ProcessTrack> {
        self.kept.iter().filter(|track| track.seen == self.now)
    }

    /// Those that exited while the run went on, as far as they are remembered.
    pub(super) fn exited(&self) -> impl Iterator<Item = &ProcessTrack> {
        let went_on = |track: &&ProcessTrack| {
            let least = track.memory.points() / ProcessTracks::WENT_ON;
            self.now - track.seen > least.max(ProcessTracks::LEAST_WENT_ON)
        };
        self.kept.iter().filter(went_on)
    }

    /// The trainer whose marks are listened to, where there are several: that of the lowest rank.
    pub(super) fn counting_process(&self) -> Option<&ProcessTrack> {
        let trainers = || self.living().filter(|track| track.role == Role::Trainer);
        let lowest = trainers().min_by_key(|track| (track.rank.unwrap_or(Rank(0)), track.index));
        lowest.filter(|_| trainers().nth(1).is_some())
    }

    fn place_of(&mut self, process: &ProcessShare) -> Option<usize> {
        let known = self.kept.iter().position(|t| t.index == process.index);
        if known.is_some() {
            return known;
        }
        let newcomer = ProcessTrack {
            index: process.index,
            seen: self.now,
            pid: process.pid,
            role: process.role,
            rank: process.rank,
            memory: Track::default(),
            rss: Track::default(),
            read_since: None,
        };
        if self.kept.len() < ProcessTracks::KEPT {
            self.kept.push(newcomer);
            return Some(self.kept.len() - 1);
        }
        let place = self.place_to_give_up(process.memory.0 as f64)?;
        self.kept[place] = newcomer;
        Some(place)
    }

    /// The longest dead, else the smallest if the newcomer is much bigger.
    fn place_to_give_up(&self, newcomer: f64) -> Option<usize> {
        // Processes of this observation that come later in it still carry the last one's number.
        let is_dead = |track: &ProcessTrack| track.seen + 1 < self.now;
        let places = || self.kept.iter().enumerate();
        let longest_dead = places()
            .filter(|(_, track)| is_dead(track))
            .min_by_key(|(_, track)| track.seen);
        let size = |track: &ProcessTrack| track.memory.newest();
        let smallest = || {
            places()
                .min_by(|(_, a), (_, b)| size(a).total_cmp(&size(b)))
                .filter(|(_, track)| newcomer > size(track) * ProcessTracks::MUCH_BIGGER)
        };
        longest_dead.or_else(smallest).map(|(place, _)| place)
    }
}

#[cfg(test)]
mod tests {
    use leveloff_model::units::Bytes;

    use super::*;

    fn process(index: u32, memory: u64) -> ProcessShare {
        ProcessShare::with_memory(
            ProcessIndex(index),
            Pid(1000 + index as i32),
            Role::Compiler,
            Bytes(memory),
        )
    }

    #[test]
    fn thousands_of_short_lived_processes_leave_the_big_one_its_curve() {
        let mut tracks = ProcessTracks::default();
        for moment in 0..5000_u32 {
            let now = [process(0, 1 << 30), process(moment + 1, 50 << 20)];
            tracks.observe(f64::from(moment), &now);
        }
        assert!(tracks.kept.len() <= ProcessTracks::KEPT);
        let points: Vec<u64> = tracks.living().map(|t| t.memory.points()).collect();
        assert!(points.contains(&5000), "{points:?}");
    }

    #[test]
    fn a_hundred_living_ones_keep_the_biggest_without_churn() {
        let mut tracks = ProcessTracks::default();
        let all: Vec<ProcessShare> = (0..100)
            .map(|i| process(i, 10 + u64::from(i % 7)))
            .chain([process(100, 900)])
            .collect();
        for moment in 0..50 {
            tracks.observe(f64::from(moment), &all);
        }
        let whole = tracks.living().filter(|t| t.memory.points() == 50).count();
        assert!(whole >= ProcessTracks::KEPT - 1, "{whole}");
        assert!(tracks.living().any(|t| t.memory.newest() == 900.0));
    }

    #[test]
    fn a_process_that_exits_with_the_run_did_not_exit_in_it() {
        let mut tracks = ProcessTracks::default();
        let both = [process(0, 100), process(1, 100)];
        (0..100).for_each(|moment| tracks.observe(f64::from(moment), &both));
        (100..110).for_each(|moment| tracks.observe(f64::from(moment), &both[..1]));
        assert_eq!(tracks.exited().count(), 0);
        tracks.observe(110.0, &both[..1]);
        assert_eq!(tracks.exited().count(), 1);
    }
}
