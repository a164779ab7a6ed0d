//! What a column is about, by its name.

mod words;

use leveloff_classifier::observation::XUnit;

use self::words::{COUNTS, FIRST_WEAK, NOT_MEMORY, TIME_UNITS, TIMES};
use crate::size_unit::SizeUnit;

/// A column's name, as written and as words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name {
    /// As written.
    pub raw: String,
    /// In lower case, words set apart by underscores: `RSS (MiB)` is `rss_mib`.
    pub plain: String,
}

/// What a column that counts is worth as x: the smaller rank is the better one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct CountRank(usize);

impl Name {
    /// A name as it stands in a header.
    pub fn new(raw: &[u8]) -> Name {
        let raw = String::from_utf8_lossy(raw).trim().to_owned();
        let plain = plain(&raw);
        Name { raw, plain }
    }

    /// Its words.
    pub fn words(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.plain.split('_')
    }

    /// The unit of memory that it carries: `rss_mb`, `mb_used`.
    pub fn size_unit(&self) -> Option<SizeUnit> {
        self.words()
            .rev()
            .filter(|word| *word != "b" || self.plain.ends_with("_b"))
            .find_map(|word| SizeUnit::of_word(word.as_bytes()))
    }

    /// What it counts, if it does, and how good an x it makes.
    pub fn counts(&self) -> Option<(XUnit, CountRank)> {
        let name = self
            .plain
            .strip_suffix("_global_step")
            .map_or(&*self.plain, |_| "global_step");
        let rank = COUNTS.iter().position(|(known, _)| *known == name)?;
        Some((COUNTS[rank].1, CountRank(rank)))
    }

    /// Whether it is a time. `Some(None)`: one that carries no unit. `Some(Some(n))`: n of it are
    /// a second.
    pub fn time_scale(&self) -> Option<Option<f64>> {
        let (base, unit) = self.plain.rsplit_once('_').unwrap_or(("", &self.plain));
        let scale = TIME_UNITS.iter().find(|(known, _)| *known == unit);
        match scale {
            Some((_, scale)) if base.is_empty() || TIMES.contains(&base) => Some(Some(*scale)),
            _ if TIMES.contains(&&*self.plain) => Some(None),
            _ => None,
        }
    }

    /// How surely it is the memory to judge; 0 is not at all.
    pub fn memory_rank(&self) -> u32 {
        if self.plain == "memory_bytes" {
            return 1000;
        }
        let has = |words: &[&str]| self.words().any(|word| words.contains(&word));
        if has(&NOT_MEMORY) {
            return 0;
        }
        let unit = u32::from(self.size_unit().is_some());
        let rank = if has(&["gpu", "cuda", "vram", "mps", "hbm", "nvidia"]) {
            20
        } else if has(&["peak", "max", "maxrss", "hwm", "highwater", "swap"]) {
            30
        } else if self.plain.starts_with("pss_anon") {
            100
        } else if has(&["uss", "private"]) {
            90
        } else if has(&["pss"]) {
            80
        } else if has(&["rss", "resident", "res", "rssanon", "real", "anon"]) {
            70
        } else if has(&["memory", "mem", "ram", "memusage", "footprint"]) {
            60
        } else if has(&["heap", "used", "usage", "host", "process", "allocated"]) {
            50
        } else if has(&["value", "y"]) {
            40
        } else {
            10 * unit
        };
        rank + unit
    }
}

impl CountRank {
    /// Whether the name alone is not enough: `run` and `index` may be numbers that never rise.
    pub fn is_weak(self) -> bool {
        self.0 >= FIRST_WEAK
    }
}

fn plain(raw: &str) -> String {
    let mut plain = String::with_capacity(raw.len() + 4);
    let mut previous = ' ';
    for c in raw.chars() {
        let is_new_word = c.is_uppercase() && previous.is_lowercase();
        if is_new_word || !c.is_alphanumeric() {
            break_word(&mut plain);
        }
        if c == '%' {
            plain.push_str("percent");
        } else if c.is_alphanumeric() {
            plain.extend(c.to_lowercase());
        }
        previous = c;
    }
    let plain = plain.trim_matches('_');
    // MiB and kB have capitals of their own.
    for (broken, whole) in [
        ("k_b", "kb"),
        ("ki_b", "kib"),
        ("mi_b", "mib"),
        ("gi_b", "gib"),
        ("ti_b", "tib"),
    ] {
        if let Some(base) = plain.strip_suffix(broken)
            && (base.is_empty() || base.ends_with('_'))
        {
            return format!("{base}{whole}");
        }
    }
    plain.to_owned()
}

fn break_word(plain: &mut String) {
    if !plain.is_empty() && !plain.ends_with('_') {
        plain.push('_');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(raw: &str) -> Name {
        Name::new(raw.as_bytes())
    }

    #[test]
    fn names_are_written_in_many_ways() {
        let plain = |raw: &str| name(raw).plain;
        assert_eq!(plain("RSS (MiB)"), "rss_mib");
        assert_eq!(plain("rssMB"), "rss_mb");
        assert_eq!(plain(" Memory [kB] "), "memory_kb");
        assert_eq!(plain("train/global_step"), "train_global_step");
        assert_eq!(plain("MEM %"), "mem_percent");
        assert_eq!(plain("größe_MB"), "größe_mb");
        assert_eq!(plain("%%%"), "percent_percent_percent");
    }

    #[test]
    fn units_are_in_the_name() {
        assert_eq!(name("rss_mb").size_unit(), Some(SizeUnit::MB));
        assert_eq!(name("Real (MB)").size_unit(), Some(SizeUnit::MB));
        assert_eq!(name("used_gib_host").size_unit(), Some(SizeUnit::GiB));
        assert_eq!(name("memory_bytes").size_unit(), Some(SizeUnit::B));
        assert_eq!(name("b").size_unit(), None);
        assert_eq!(name("memory").size_unit(), None);
    }

    #[test]
    fn counters_and_times_are_known() {
        let unit = |raw| name(raw).counts().map(|(unit, _)| unit);
        assert_eq!(unit("trainer/global_step"), Some(XUnit::Step));
        assert_eq!(unit("Step"), Some(XUnit::Step));
        assert_eq!(unit("x"), Some(XUnit::Iteration));
        assert_eq!(unit("Epoch"), Some(XUnit::Epoch));
        assert_eq!(unit("step_time"), None);
        let is_weak = |raw| name(raw).counts().unwrap().1.is_weak();
        assert!(!is_weak("x") && is_weak("epoch") && is_weak("run"));
        assert_eq!(name("t_s").time_scale(), Some(Some(1.0)));
        assert_eq!(name("t_seconds").time_scale(), Some(Some(1.0)));
        assert_eq!(name("Elapsed (ms)").time_scale(), Some(Some(1e3)));
        assert_eq!(name("Wall time").time_scale(), Some(None));
        assert_eq!(name("minutes").time_scale(), Some(Some(1.0 / 60.0)));
        assert_eq!(name("step_time_s").time_scale(), None);
    }

    #[test]
    fn the_best_memory_wins() {
        let best = |names: &[&'static str]| {
            *names
                .iter()
                .max_by_key(|raw| name(raw).memory_rank())
                .unwrap()
        };
        assert_eq!(best(&["vms_mb", "rss_mb", "mem_percent"]), "rss_mb");
        assert_eq!(
            best(&["rss_bytes", "pss_bytes", "memory_bytes"]),
            "memory_bytes"
        );
        assert_eq!(best(&["gpu_mem_mb", "ram_mb"]), "ram_mb");
        assert_eq!(best(&["peak_rss_mb", "value_mb"]), "value_mb");
        assert_eq!(best(&["loss", "gpu_mem_mb"]), "gpu_mem_mb");
        for not in [
            "available_mb",
            "read_bytes",
            "own_rss_bytes",
            "loss",
            "memory_percent",
        ] {
            assert_eq!(name(not).memory_rank(), 0, "{not}");
        }
    }
}
