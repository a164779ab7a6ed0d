//! What is compared with what: how full a run, its control group or the machine is.

use std::fmt;

use leveloff_model::sample::{Ceiling, CeilingKind};
use leveloff_model::units::{Bytes, Limit};
use leveloff_sampler::sampler::MemoryUsage;
use leveloff_sampler::system::Ceilings;

/// An amount, and what it must not reach.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gauge {
    /// What is compared.
    pub measure: Measure,
    /// How much there is of it.
    pub used: Bytes,
    /// What it must not reach.
    pub limit: Bytes,
}

/// What is compared. Never a sum of RSS, which counts shared pages once for each process; never the whole
/// machine's use inside a container, where it is mostly other people's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Measure {
    /// What the run's processes really hold.
    Tree,
    /// What is charged to its control group, less what the kernel can take back.
    Cgroup,
    /// The addresses of the trainer, which RLIMIT_AS or RLIMIT_DATA bound.
    Rlimit,
    /// What can no longer be had on this machine.
    Host,
    /// What the run holds on GPUs.
    GpuOfRun,
    /// What anyone holds on the fullest GPU.
    GpuCard,
}

/// Every gauge of one look.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Gauges {
    /// What the stated limit is about.
    pub limit: Option<Gauge>,
    /// Whether this run is what fills that. A machine that others fill is no fault of it, and is only warned of.
    pub limit_is_ours: bool,
    /// The same against the amount at which to warn.
    pub warn: Option<Gauge>,
    /// What the kernel itself enforces, where the run has to fear it.
    pub ceiling: Option<Gauge>,
    /// The stated limit on GPU memory.
    pub gpu: Option<Gauge>,
}

/// What was stated that a gauge needs to know.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Stated {
    /// `--limit`
    pub limit: Option<Limit>,
    /// `--warn-at`
    pub warn_at: Option<Limit>,
    /// `--gpu-limit`
    pub gpu: Option<Limit>,
}

/// Where a warning comes if nobody says: nine tenths of the limit.
const USUAL_WARNING: f64 = 0.9;

/// A run that holds less than this share of what is used on the machine is not what fills it, and ending it
/// would help nobody.
const MAIN_USER: f64 = 0.5;

impl Gauges {
    /// What this look says.
    pub fn of(stated: &Stated, standing: &MemoryUsage, is_contained: bool) -> Gauges {
        let nearest = nearest(standing, is_contained);
        let limit = stated
            .limit
            .and_then(|limit| against(limit, nearest, standing.tree));
        Gauges {
            limit,
            limit_is_ours: limit.is_some_and(|limit| {
                threatens(&limit, standing) || limit.measure == Measure::Rlimit
            }),
            warn: limit.map(|limit| warning(stated, limit, nearest)),
            ceiling: nearest.filter(|nearest| threatens(nearest, standing)),
            gpu: stated.gpu.and_then(|limit| gpu(limit, standing)),
        }
    }
}

impl Gauge {
    /// How much is left.
    pub fn headroom(&self) -> Bytes {
        self.limit.saturating_sub(self.used)
    }

    /// Whether the limit is reached.
    pub fn is_over(&self) -> bool {
        self.used >= self.limit
    }

    /// How full it is; 1.0 is the limit.
    pub fn fill(&self) -> f64 {
        self.used.0 as f64 / (self.limit.0 as f64).max(1.0)
    }

    fn at(self, limit: Bytes) -> Gauge {
        Gauge { limit, ..self }
    }
}

impl From<Ceiling> for Gauge {
    fn from(ceiling: Ceiling) -> Gauge {
        let measure = match ceiling.kind {
            CeilingKind::Cgroup => Measure::Cgroup,
            CeilingKind::Rlimit => Measure::Rlimit,
            CeilingKind::Host => Measure::Host,
            CeilingKind::Stated | CeilingKind::Other => Measure::Tree,
        };
        Gauge {
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
            Measure::Host => "memory of this machine that cannot be had any more",
            Measure::GpuOfRun => "GPU memory of the run",
            Measure::GpuCard => "memory of the fullest GPU",
        })
    }
}

/// The nearest limit that the kernel enforces. TrainingCounters a container only the run's own memory is held against
/// the machine's.
pub fn nearest(standing: &MemoryUsage, is_contained: bool) -> Option<Gauge> {
    let Ceilings {
        cgroup,
        rlimit,
        host,
    } = standing.ceilings;
    let host = host.map(Gauge::from).map(|host| match is_contained {
        true => Gauge {
            measure: Measure::Tree,
            used: standing.tree,
            ..host
        },
        false => host,
    });
    let others = [cgroup, rlimit].into_iter().flatten().map(Gauge::from);
    others.chain(host).min_by_key(Gauge::headroom)
}

/// A part of an amount.
pub fn share_of(whole: Bytes, share: f64) -> Bytes {
    Bytes((whole.0 as f64 * share) as u64)
}

fn against(limit: Limit, nearest: Option<Gauge>, tree: Bytes) -> Option<Gauge> {
    match limit {
        Limit::Size(limit) => Some(Gauge {
            measure: Measure::Tree,
            used: tree,
            limit,
        }),
        Limit::Share(share) => nearest.map(|gauge| gauge.at(share_of(gauge.limit, share))),
    }
}

/// Where to warn. A share is of whatever the limit itself is a share of: `--limit 90% --warn-at 80%` are both
/// of the machine, `--limit 28GiB --warn-at 80%` is 22.4 GiB.
fn warning(stated: &Stated, limit: Gauge, nearest: Option<Gauge>) -> Gauge {
    let whole = match (stated.limit, nearest) {
        (Some(Limit::Share(_)), Some(nearest)) => nearest.limit,
        _ => limit.limit,
    };
    limit.at(match stated.warn_at {
        None => share_of(limit.limit, USUAL_WARNING),
        Some(Limit::Share(share)) => share_of(whole, share),
        Some(Limit::Size(size)) => size,
    })
}

/// Whether the kernel would end this run for it. A machine that is full of others is no fault of ours.
fn threatens(ceiling: &Gauge, standing: &MemoryUsage) -> bool {
    match ceiling.measure {
        Measure::Host => standing.tree.0 as f64 >= ceiling.used.0 as f64 * MAIN_USER,
        // Addresses that are refused are an error in the program, and no kill.
        Measure::Rlimit => false,
        _ => true,
    }
}

fn gpu(limit: Limit, standing: &MemoryUsage) -> Option<Gauge> {
    match limit {
        Limit::Size(limit) => standing.gpu.map(|used| Gauge {
            measure: Measure::GpuOfRun,
            used,
            limit,
        }),
        Limit::Share(share) => {
            let cards = standing.cards.iter();
            let gauges = cards.filter_map(|card| {
                Some(Gauge {
                    measure: Measure::GpuCard,
                    used: card.used?,
                    limit: share_of(card.total?, share),
                })
            });
            gauges.max_by(|a, b| a.fill().total_cmp(&b.fill()))
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
    fn standing() -> MemoryUsage {
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
        let mut standing = standing();
        standing.ceilings.cgroup = None;
        standing
    }

    fn stated(limit: &str, warn_at: Option<&str>) -> Stated {
        Stated {
            limit: Some(limit.parse().unwrap()),
            warn_at: warn_at.map(|text| text.parse().unwrap()),
            gpu: None,
        }
    }

    fn check(limit: &str, standing: &MemoryUsage, contained: bool, expected: (Measure, u64, u64)) {
        let gauge = Gauges::of(&stated(limit, None), standing, contained)
            .limit
            .unwrap();
        let (measure, used, limit) = expected;
        assert_eq!(
            gauge,
            Gauge {
                measure,
                used: gib(used),
                limit: gib(limit)
            }
        );
    }

    #[test]
    fn a_size_is_held_against_the_runs_own_memory() {
        check("16GiB", &standing(), false, (Measure::Tree, 10, 16));
    }

    #[test]
    fn a_share_is_of_the_nearest_ceiling_and_by_its_own_measure() {
        check("50%", &standing(), false, (Measure::Cgroup, 12, 10));
        check("50%", &on_host(), false, (Measure::Host, 14, 16));
    }

    #[test]
    fn the_whole_machines_use_means_nothing_in_a_container() {
        check("50%", &on_host(), true, (Measure::Tree, 10, 16));
        check("50%", &standing(), true, (Measure::Cgroup, 12, 10));
    }

    #[test]
    fn a_warning_is_a_share_of_what_the_limit_is_a_share_of() {
        let warn = |limit, warn_at| {
            let gauges = Gauges::of(&stated(limit, warn_at), &on_host(), false);
            gauges.warn.unwrap().limit
        };
        assert_eq!(warn("20GiB", None), gib(18));
        assert_eq!(warn("20GiB", Some("80%")), gib(16));
        assert_eq!(warn("100%", Some("50%")), gib(16));
        assert_eq!(warn("75%", Some("50%")), gib(16));
        assert_eq!(warn("20GiB", Some("12GiB")), gib(12));
    }

    #[test]
    fn a_machine_that_others_fill_is_no_reason_to_end_this_run() {
        let mut full = on_host();
        full.ceilings.host = ceiling(CeilingKind::Host, 32, 31);
        assert_eq!(
            Gauges::of(&stated("16GiB", None), &full, false).ceiling,
            None
        );
        full.tree = gib(16);
        let gauges = Gauges::of(&stated("20GiB", None), &full, false);
        assert_eq!(gauges.ceiling.unwrap().measure, Measure::Host);
    }

    #[test]
    fn gpu_memory_is_the_runs_or_the_fullest_cards() {
        let card = |used| GpuDevice {
            name: "GPU".to_owned(),
            used: Some(gib(used)),
            total: Some(gib(24)),
        };
        let standing = MemoryUsage {
            gpu: Some(gib(6)),
            cards: vec![card(3), card(12)],
            ..standing()
        };
        let of = |gpu: &str| {
            let stated = Stated {
                gpu: Some(gpu.parse().unwrap()),
                ..Stated::default()
            };
            Gauges::of(&stated, &standing, false).gpu.unwrap()
        };
        assert_eq!((of("8GiB").used, of("8GiB").limit), (gib(6), gib(8)));
        assert_eq!((of("50%").used, of("50%").limit), (gib(12), gib(12)));
        assert!(of("50%").is_over() && !of("8GiB").is_over());
    }
}
