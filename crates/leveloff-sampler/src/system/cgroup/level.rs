//! One control group of a chain: its open files and their last values.

use std::io;
use std::path::{Path, PathBuf};

use leveloff_model::sample::{Ceiling, CeilingKind};
use leveloff_model::units::Bytes;

use crate::gap_log::GapLog;
use crate::kept_file::{KeptFile, read_once};
use crate::kernel::keyed::{each_number, leading_number, number_of};

/// A group, its limit, and its use.
#[derive(Debug)]
pub(super) struct Level {
    version: u8,
    directory: PathBuf,
    limit_file: Option<KeptFile>,
    usage_file: Option<KeptFile>,
    stat_file: Option<KeptFile>,
    /// The hard limit.
    pub limit: Option<Bytes>,
    /// Everything charged, cache included.
    pub usage: Option<Bytes>,
    /// `memory.stat` as of its last reading.
    pub stat: Option<Stat>,
    usage_at_stat: Option<Bytes>,
}

/// The values of `memory.stat`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Stat {
    pub anon: Option<Bytes>,
    pub file: Option<Bytes>,
    pub shmem: Option<Bytes>,
    pub reclaimable: Option<Bytes>,
    /// Version 1 only: the tightest limit up to the real root, mounted here or not.
    pub limit_above: Option<Bytes>,
}

impl Level {
    pub(super) fn open(version: u8, directory: &Path, gaps: &mut GapLog) -> Level {
        let mut open = |name: &str| {
            let path = directory.join(name);
            KeptFile::open(&path)
                .map_err(|error| gaps.report(unreadable(&path, &error)))
                .ok()
        };
        let (limit, usage) = match version {
            1 => ("memory.limit_in_bytes", "memory.usage_in_bytes"),
            _ => ("memory.max", "memory.current"),
        };
        Level {
            version,
            limit_file: open(limit),
            usage_file: open(usage),
            stat_file: open("memory.stat"),
            directory: directory.into(),
            limit: None,
            usage: None,
            stat: None,
            usage_at_stat: None,
        }
    }

    pub(super) fn directory(&self) -> &Path {
        &self.directory
    }

    pub(super) fn read_limit(&mut self, buffer: &mut Vec<u8>, gaps: &mut GapLog) {
        let value = self.contents(&self.limit_file, buffer, gaps);
        self.limit = value.and_then(limit_value);
    }

    pub(super) fn read_usage(&mut self, buffer: &mut Vec<u8>, gaps: &mut GapLog) {
        let value = self.contents(&self.usage_file, buffer, gaps);
        self.usage = value.and_then(leading_number).map(|(n, _)| Bytes(n));
    }

    /// Reads `memory.stat`, for which the kernel adds up the counters of all CPUs.
    pub(super) fn read_stat(&mut self, buffer: &mut Vec<u8>, gaps: &mut GapLog) {
        let text = self.stat_file.as_ref().and_then(|file| {
            let report =
                |error| gaps.report(unreadable(&self.directory.join("memory.stat"), &error));
            file.whole(buffer).map_err(report).ok()
        });
        self.stat = text.map(|text| parse_stat(text, self.version));
        self.usage_at_stat = self.usage;
    }

    /// Whether use has changed so much since `memory.stat` was read that its reclaimable part may be wrong by
    /// more than a small part of the headroom. Without this, a run that reads its data set into the cache
    /// would seem to reach its limit until the next thorough reading.
    pub(super) fn stat_is_stale(&self) -> bool {
        let (Some(limit), Some(usage), Some(then)) = (self.limit, self.usage, self.usage_at_stat)
        else {
            return false;
        };
        let headroom = limit.0.saturating_sub(self.used(usage).0);
        usage.0.abs_diff(then.0) > headroom / STALE_SHARE_OF_HEADROOM
    }

    /// This group's limit and what of it is in use.
    pub(super) fn ceiling(&self) -> Option<Ceiling> {
        Some(Ceiling {
            kind: CeilingKind::Cgroup,
            limit: self.limit?,
            used: self.used(self.usage?),
        })
    }

    fn used(&self, usage: Bytes) -> Bytes {
        let reclaimable = self.stat.and_then(|stat| stat.reclaimable);
        // Where the cache is unknown, all of it counts: too early a warning is better than none.
        usage.saturating_sub(reclaimable.unwrap_or_default())
    }

    fn contents<'b>(
        &self,
        file: &Option<KeptFile>,
        buffer: &'b mut Vec<u8>,
        gaps: &mut GapLog,
    ) -> Option<&'b [u8]> {
        let report = |error| gaps.report(unreadable(&self.directory, &error));
        file.as_ref()?.beginning(buffer).map_err(report).ok()
    }
}

/// A thirty-second of the headroom: too small to affect a forecast, and at most a handful of extra readings
/// for each gigabyte of cache.
const STALE_SHARE_OF_HEADROOM: u64 = 32;

/// Version 1 writes "no limit" as the largest number of whole pages, which depends on the page size; real
/// limits are far smaller.
const NO_LIMIT: u64 = 1 << 62;

/// A limit file's amount; `None` for no limit, which version 2 writes as `max`.
pub(super) fn limit_value(text: &[u8]) -> Option<Bytes> {
    let (amount, _) = leading_number(text)?;
    (amount < NO_LIMIT).then_some(Bytes(amount))
}

/// Reads a small file by key, such as `oom_kill` in memory.events.
pub(super) fn event(directory: &Path, file: &str, key: &[u8]) -> Option<u64> {
    number_of(&read_once(&directory.join(file)).ok()?, key)
}

fn unreadable(path: &Path, error: &io::Error) -> String {
    format!(
        "cannot read {}: {error}; its numbers are unknown",
        path.display()
    )
}

/// Reads `memory.stat`.
///
/// The active and inactive file pages are reclaimable: the kernel frees all of them before it kills a
/// process. Shared memory needs no subtraction, because tmpfs pages are on the anonymous lists. Reclaimable
/// slab is not counted: a page of it is freed only when all objects on it are.
fn parse_stat(text: &[u8], version: u8) -> Stat {
    let (mut inactive, mut active) = (None, None);
    let mut stat = Stat::default();
    each_number(text, |key, number| {
        let amount = Some(Bytes(number));
        // The totals of version 1 include the groups below, as all of version 2 does.
        match (version, key) {
            (1, b"total_rss") | (2, b"anon") => stat.anon = amount,
            (1, b"total_cache") | (2, b"file") => stat.file = amount,
            (1, b"total_shmem") | (2, b"shmem") => stat.shmem = amount,
            (1, b"total_inactive_file") | (2, b"inactive_file") => inactive = amount,
            (1, b"total_active_file") | (2, b"active_file") => active = amount,
            (1, b"hierarchical_memory_limit") => {
                stat.limit_above = amount.filter(|limit| limit.0 < NO_LIMIT);
            }
            _ => {}
        }
    });
    stat.reclaimable = inactive.zip(active).map(|(a, b)| a + b);
    stat
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn no_limit_is_none_in_both_spellings() {
        assert_eq!(limit_value(b"max\n"), None);
        assert_eq!(limit_value(b"9223372036854771712\n"), None);
        assert_eq!(limit_value(b"9223372036854710272\n"), None);
        assert_eq!(limit_value(b"1073741824\n"), Some(Bytes(1 << 30)));
        assert_eq!(limit_value(b"0\n"), Some(Bytes::ZERO));
        assert_eq!(limit_value(b""), None);
    }

    #[test]
    fn version_1_totals_are_not_mixed_with_the_group_alone() {
        let text = b"rss 1\ncache 2\ninactive_file 3\nactive_file 4\ntotal_rss 10\ntotal_cache 20\ntotal_inactive_file 30\ntotal_active_file 40\n";
        let stat = parse_stat(text, 1);
        assert_eq!((stat.anon, stat.file), (Some(Bytes(10)), Some(Bytes(20))));
        assert_eq!(stat.reclaimable, Some(Bytes(70)));
        assert_eq!(stat.shmem, None);
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(text in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = (parse_stat(&text, 1), parse_stat(&text, 2), limit_value(&text));
        }
    }
}
