//! Compares memory with limits: how full the run, its control group or the machine is.

use std::fmt;

use leveloff_model::sample::{Ceiling, CeilingKind};
use leveloff_model::units::{Bytes, Limit};
use leveloff_sampler::sampler::MemoryUsage;
use leveloff_sampler::system::Ceilings;

/// An amount of memory and the limit that it is compared with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LimitUsage {
    /// What `used` is an amount of.
    pub measure: Measure,
    /// The amount in use.
    pub used: Bytes,
    /// The limit.
    pub limit: Bytes,
}

/// What is compared with a limit. Never a sum of RSS, which counts shared pages once for each process. Never the whole
/// machine's use inside a container, where most of it belongs to others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Measure {
    /// The memory of the run's processes, shared pages counted once.
    Tree,
    /// The charge of the run's control group, less reclaimable cache.
    Cgroup,
    /// The trainer's address space, which RLIMIT_AS or RLIMIT_DATA limits.
    Rlimit,
    /// The machine's memory that is not available.
    Host,
    /// The run's GPU memory.
    GpuOfRun,
    /// All memory in use on the fullest GPU.
    GpuCard,
}

/// The usage of every limit at one moment.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct LimitUsages {
    /// `--limit`
    pub limit: Option<LimitUsage>,
    /// Whether this run is the main user of what `limit` measures. If others fill the machine, the guard only warns.
    pub limit_is_ours: bool,
    /// The same amount, against the amount at which to warn.
    pub warn: Option<LimitUsage>,
    /// The nearest limit that the kernel enforces by killing a process of this run.
    pub ceiling: Option<LimitUsage>,
    /// `--gpu-limit`
    pub gpu: Option<LimitUsage>,
}

/// The limits that the user stated.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct StatedLimits {
    /// `--limit`
    pub limit: Option<Limit>,
    /// `--warn-at`
    pub warn_at: Option<Limit>,
    /// `--gpu-limit`
    pub gpu: Option<Limit>,
}

/// The share of `--limit` at which to warn without a `--warn-at`.
const DEFAULT_WARN_AT: f64 = 0.9;

/// A run that holds less than this share of the memory in use on the machine is not its main user: stopping it would
/// free too little.
const MAIN_USER: f64 = 0.5;

impl LimitUsages {
    /// Compares the memory in use now with every limit.
    pub fn of(stated: &StatedLimits, memory: &MemoryUsage, is_contained: bool) -> LimitUsages {
        let nearest = nearest(memory, is_contained);
        let limit = stated
            .limit
            .and_then(|limit| stated_usage(limit, nearest, memory.tree));
        LimitUsages {
            limit,
            limit_is_ours: limit.is_some_and(|limit| {
                kills_this_run(&limit, memory) || limit.measure == Measure::Rlimit
            }),
            warn: limit.map(|limit| warning(stated, limit, nearest)),
            ceiling: nearest.filter(|nearest| kills_this_run(nearest, memory)),
            gpu: stated.gpu.and_then(|limit| gpu(limit, memory)),
        }
    }
}

impl LimitUsage {
    /// The amount below the limit.
    pub fn headroom(&self) -> Bytes {
        self.limit.saturating_sub(self.used)
    }

    /// Whether the limit is reached.
    pub fn is_over(&self) -> bool {
        self.used >= self.limit
    }

    /// The share of the limit in use; 1.0 is the limit.
    pub fn fill(&self) -> f64 {
        self.used.0 as f64 / (self.limit.0 as f64).max(1.0)
    }

    fn at(self, limit: Bytes) -> LimitUsage {
        LimitUsage { limit, ..self }
    }
}

impl From<Ceiling> for LimitUsage {
    fn from(ceiling: Ceiling) -> LimitUsage {
        let measure = match ceiling.kind {
            CeilingKind::Cgroup => Measure::Cgroup,
            CeilingKind::Rlimit => Measure::Rlimit,
            CeilingKind::Host => Measure::Host,
            CeilingKind::Stated | CeilingKind::Other => Measure::Tree,
        };
        LimitUsage {
            measure,
            used: ceiling.used,
            limit: ceiling.limit,
        }
    }
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Measure::Tree => "memory of the run",
            Measure::Cgroup => "memory of its control group, less reclaimable cache",
            Measure::Rlimit => "address space of the trainer",
            Measure::Host => "memory of this machine that is not available",
            Measure::GpuOfRun => "GPU memory of the run",
            Measure::GpuCard => "memory of the fullest GPU",
        })
    }
}

/// The nearest limit that the kernel enforces. Inside a container the run's own memory is compared with the machine's.
pub fn nearest(memory: &MemoryUsage, is_contained: bool) -> Option<LimitUsage> {
    let Ceilings {
        cgroup,
        rlimit,
        host,
    } = memory.ceilings;
    let host = host.map(LimitUsage::from).map(|host| match is_contained {
        true => LimitUsage {
            measure: Measure::Tree,
            used: memory.tree,
            ..host
        },
        false => host,
    });
    let others = [cgroup, rlimit].into_iter().flatten().map(LimitUsage::from);
    others.chain(host).min_by_key(LimitUsage::headroom)
}

fn stated_usage(limit: Limit, nearest: Option<LimitUsage>, tree: Bytes) -> Option<LimitUsage> {
    match limit {
        Limit::Size(limit) => Some(LimitUsage {
            measure: Measure::Tree,
            used: tree,
            limit,
        }),
        Limit::Share(share) => nearest.map(|usage| usage.at(usage.limit.share(share))),
    }
}

/// A `--warn-at` in percent refers to the same amount as `--limit`: `--limit 90% --warn-at 80%` are both of the machine,
/// `--limit 28GiB --warn-at 80%` is 22.4 GiB.
fn warning(stated: &StatedLimits, limit: LimitUsage, nearest: Option<LimitUsage>) -> LimitUsage {
    let whole = match (stated.limit, nearest) {
        (Some(Limit::Share(_)), Some(nearest)) => nearest.limit,
        _ => limit.limit,
    };
    limit.at(match stated.warn_at {
        None => limit.limit.share(DEFAULT_WARN_AT),
        Some(Limit::Share(share)) => whole.share(share),
        Some(Limit::Size(size)) => size,
    })
}

/// Whether the kernel would kill a process of this run when the limit is reached. On a machine that others fill, it kills
/// theirs.
fn kills_this_run(ceiling: &LimitUsage, memory: &MemoryUsage) -> bool {
    match ceiling.measure {
        Measure::Host => memory.tree.0 as f64 >= ceiling.used.0 as f64 * MAIN_USER,
        // Past an rlimit, an allocation fails; the kernel kills nothing.
        Measure::Rlimit => false,
        _ => true,
    }
}

fn gpu(limit: Limit, memory: &MemoryUsage) -> Option<LimitUsage> {
    match limit {
        Limit::Size(limit) => memory.gpu.map(|used| LimitUsage {
            measure: Measure::GpuOfRun,
            used,
            limit,
        }),
        Limit::Share(share) => {
            let cards = memory.cards.iter().filter_map(|card| {
                Some(LimitUsage {
                    measure: Measure::GpuCard,
                    used: card.used?,
                    limit: card.total?.share(share),
                })
            });
            cards.max_by(|a, b| a.fill().total_cmp(&b.fill()))
        }
    }
}

#[cfg(test)]
mod tests {
    use leveloff_sampler::gpu::GpuDevice;

    use super::*;

    const GIB: u64 = 1 << 30;

    fn gib(amount: u64) -> Bytes {
        Bytes(amount * GIB)
    }

    fn ceiling(kind: CeilingKind, limit: u64, used: u64) -> Option<Ceiling> {
        Some(Ceiling {
            kind,
            limit: gib(limit),
            used: gib(used),
        })
    }

    /// 10 GiB of the run on a machine of 32, of which 14 are used; a control group of 20 with 12 in it.
    fn memory() -> MemoryUsage {
        MemoryUsage {
            tree: gib(10),
            ceilings: Ceilings {
                cgroup: ceiling(CeilingKind::Cgroup, 20, 12),
                rlimit: None,
                host: ceiling(CeilingKind::Host, 32, 14),
            },
            ..MemoryUsage::default()
        }
    }

    fn on_host() -> MemoryUsage {
        let mut memory = memory();
        memory.ceilings.cgroup = None;
        memory
    }

    fn stated(limit: &str, warn_at: Option<&str>) -> StatedLimits {
        StatedLimits {
            limit: Some(limit.parse().unwrap()),
            warn_at: warn_at.map(|text| text.parse().unwrap()),
            gpu: None,
        }
    }

    fn check(limit: &str, memory: &MemoryUsage, contained: bool, expected: (Measure, u64, u64)) {
        let usage = LimitUsages::of(&stated(limit, None), memory, contained)
            .limit
            .unwrap();
        let (measure, used, limit) = expected;
        assert_eq!(
            usage,
            LimitUsage {
                measure,
                used: gib(used),
                limit: gib(limit)
            }
        );
    }

    #[test]
    fn a_size_is_compared_with_the_runs_own_memory() {
        check("16GiB", &memory(), false, (Measure::Tree, 10, 16));
    }

    #[test]
    fn a_share_is_of_the_nearest_ceiling_and_by_its_own_measure() {
        check("50%", &memory(), false, (Measure::Cgroup, 12, 10));
        check("50%", &on_host(), false, (Measure::Host, 14, 16));
    }

    #[test]
    fn a_container_ignores_the_machines_total_use() {
        check("50%", &on_host(), true, (Measure::Tree, 10, 16));
        check("50%", &memory(), true, (Measure::Cgroup, 12, 10));
    }

    #[test]
    fn a_warning_and_its_limit_are_shares_of_the_same_amount() {
        let warn = |limit, warn_at| {
            let usages = LimitUsages::of(&stated(limit, warn_at), &on_host(), false);
            usages.warn.unwrap().limit
        };
        assert_eq!(warn("20GiB", None), gib(18));
        assert_eq!(warn("20GiB", Some("80%")), gib(16));
        assert_eq!(warn("100%", Some("50%")), gib(16));
        assert_eq!(warn("75%", Some("50%")), gib(16));
        assert_eq!(warn("20GiB", Some("12GiB")), gib(12));
    }

    #[test]
    fn a_machine_that_others_fill_is_no_ceiling_of_this_run() {
        let mut full = on_host();
        full.ceilings.host = ceiling(CeilingKind::Host, 32, 31);
        assert_eq!(
            LimitUsages::of(&stated("16GiB", None), &full, false).ceiling,
            None
        );
        full.tree = gib(16);
        let usages = LimitUsages::of(&stated("20GiB", None), &full, false);
        assert_eq!(usages.ceiling.unwrap().measure, Measure::Host);
    }

    #[test]
    fn a_gpu_limit_measures_the_run_or_the_fullest_card() {
        let card = |used| GpuDevice {
            name: "GPU".to_owned(),
            used: Some(gib(used)),
            total: Some(gib(24)),
        };
        let memory = MemoryUsage {
            gpu: Some(gib(6)),
            cards: vec![card(3), card(12)],
            ..memory()
        };
        let of = |gpu: &str| {
            let stated = StatedLimits {
                gpu: Some(gpu.parse().unwrap()),
                ..StatedLimits::default()
            };
            LimitUsages::of(&stated, &memory, false).gpu.unwrap()
        };
        assert_eq!((of("8GiB").used, of("8GiB").limit), (gib(6), gib(8)));
        assert_eq!((of("50%").used, of("50%").limit), (gib(12), gib(12)));
        assert!(of("50%").is_over() && !of("8GiB").is_over());
    }
}
