//! How much memory is available for a job, and how large its limit may be.

use anyhow::{Result, bail};
use leveloff_model::process::Pid;
use leveloff_model::sample::{Ceiling, CeilingKind, MachineReading};
use leveloff_model::units::{Bytes, Limit};
use leveloff_sampler::proc_root::ProcRoot;
use leveloff_sampler::system::ceiling::{Limits, nearest};
use leveloff_sampler::system::cgroup::CgroupReader;
use leveloff_sampler::system::machine::MachineReader;

/// The nearest ceiling of the job; `None` if none is known.
#[derive(Debug, Clone, Copy)]
pub struct AvailableMemory(Option<Ceiling>);

/// Without a stated size, this share of the ceiling is left to the rest of the machine: the kernel begins to reclaim from all
/// processes at two or three percent free, and a login needs a few hundred MiB. Of 32 GiB it is 1.6.
const RESERVE: f64 = 0.05;

/// No training fits in less; an interpreter would be killed while it starts.
const SMALLEST: Bytes = Bytes(16 << 20);

impl AvailableMemory {
    /// The memory of this machine, for a process in our own control group.
    ///
    /// Swap does not count: isolation has to keep the machine from swapping.
    pub fn here() -> AvailableMemory {
        let proc = ProcRoot::live();
        let here = Pid(rustix::process::getpid().as_raw_pid());
        let machine = MachineReader::new(&proc, "/dev/shm").read(false);
        let mut group = CgroupReader::new(&proc, "/", here);
        group.read(true);
        AvailableMemory::between(group.ceiling(), &machine)
    }

    fn between(cgroup: Option<Ceiling>, machine: &MachineReading) -> AvailableMemory {
        let without_swap = MachineReading {
            swap_total: None,
            swap_used: None,
            ..*machine
        };
        AvailableMemory(nearest(&Limits {
            stated: None,
            cgroup,
            rlimit: None,
            machine: &without_swap,
            tree: Bytes::ZERO,
        }))
    }

    /// The stated size, if it can protect anything; without one, the free memory less a reserve. A share refers to the
    /// whole ceiling, as everywhere else.
    pub fn size(&self, stated: Option<Limit>) -> Result<Bytes> {
        let size = match (stated, self.0) {
            (Some(Limit::Size(size)), _) => size,
            (Some(Limit::Share(share)), Some(ceiling)) => ceiling.limit.share(share),
            (None, Some(ceiling)) => free_less_reserve(&ceiling)?,
            (_, None) => bail!(
                "cannot tell how much memory there is here, so --isolate needs a size, such as \
                 --isolate 28GiB"
            ),
        };
        if let Some(ceiling) = self.0.filter(|ceiling| size >= ceiling.limit) {
            bail!(
                "--isolate {size} would protect nothing, because {} is not more than that; give \
                 less, such as --isolate 90%, or no size for what is free",
                named(&ceiling)
            );
        }
        if size < SMALLEST {
            bail!("--isolate {size} is too little for any command; give at least {SMALLEST}");
        }
        Ok(size)
    }

    /// A warning about a limit that is larger than the free memory.
    pub fn caveat(&self, size: Bytes) -> Option<String> {
        let ceiling = self.0.filter(|ceiling| size > ceiling.headroom())?;
        Some(format!(
            "only {} of {} are free, so it may be full before that",
            ceiling.headroom(),
            named(&ceiling)
        ))
    }
}

fn free_less_reserve(ceiling: &Ceiling) -> Result<Bytes> {
    let left = ceiling
        .headroom()
        .saturating_sub(ceiling.limit.share(RESERVE));
    if left < SMALLEST {
        bail!(
            "only {} of {} are free, which leaves nothing to isolate a job in; free some, or give \
             a size, such as --isolate 80%",
            ceiling.headroom(),
            named(ceiling)
        );
    }
    Ok(left)
}

fn named(ceiling: &Ceiling) -> String {
    match ceiling.kind {
        CeilingKind::Cgroup => format!("the control group's limit of {}", ceiling.limit),
        _ => format!("the machine's memory of {}", ceiling.limit),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: u64 = 1 << 30;

    /// A machine of 32 GiB and 8 GiB of swap with this much available, and perhaps a control group of 8 GiB that is half full.
    fn memory(available: u64, in_cgroup: bool) -> AvailableMemory {
        let machine = MachineReading {
            total: Some(Bytes(32 * GIB)),
            available: Some(Bytes(available)),
            swap_total: Some(Bytes(8 * GIB)),
            swap_used: Some(Bytes::ZERO),
            ..MachineReading::default()
        };
        let group = in_cgroup.then_some(Ceiling {
            kind: CeilingKind::Cgroup,
            limit: Bytes(8 * GIB),
            used: Bytes(4 * GIB),
        });
        AvailableMemory::between(group, &machine)
    }

    fn refusal(memory: AvailableMemory, stated: Option<Limit>) -> String {
        memory.size(stated).unwrap_err().to_string()
    }

    #[test]
    fn without_a_size_it_is_the_free_memory_less_a_reserve_and_no_swap() {
        let size = memory(20 * GIB, false).size(None).unwrap();
        assert_eq!(size, Bytes(20 * GIB - Bytes(32 * GIB).share(RESERVE).0));
        let size = memory(20 * GIB, true).size(None).unwrap();
        assert_eq!(size, Bytes(4 * GIB - Bytes(8 * GIB).share(RESERVE).0));
        assert!(refusal(memory(GIB, false), None).contains("only 1.0 GiB of the machine"));
    }

    #[test]
    fn a_share_refers_to_the_ceiling() {
        let half = Some(Limit::Share(0.5));
        assert_eq!(memory(20 * GIB, false).size(half).unwrap(), Bytes(16 * GIB));
        assert_eq!(memory(20 * GIB, true).size(half).unwrap(), Bytes(4 * GIB));
    }

    #[test]
    fn a_size_that_protects_nothing_is_refused() {
        for stated in [Limit::Size(Bytes(33 * GIB)), Limit::Share(1.0)] {
            let said = refusal(memory(20 * GIB, false), Some(stated));
            assert!(said.contains("machine's memory of 32.0 GiB"), "{said}");
        }
        let said = refusal(memory(20 * GIB, true), Some(Limit::Size(Bytes(9 * GIB))));
        assert!(said.contains("control group's limit of 8.0 GiB"), "{said}");
        let said = refusal(memory(20 * GIB, false), Some(Limit::Size(Bytes::ZERO)));
        assert!(said.contains("at least 16 MiB"), "{said}");
    }

    #[test]
    fn a_size_that_is_not_free_is_taken_with_a_warning() {
        let memory = memory(20 * GIB, false);
        let size = memory.size(Some(Limit::Size(Bytes(28 * GIB)))).unwrap();
        assert!(
            memory
                .caveat(size)
                .unwrap()
                .contains("only 20.0 GiB of the machine")
        );
        assert_eq!(memory.caveat(Bytes(19 * GIB)), None);
    }

    #[test]
    fn without_a_known_ceiling_a_size_is_needed() {
        let unknown = AvailableMemory::between(None, &MachineReading::default());
        assert!(refusal(unknown, None).contains("needs a size"));
        assert!(refusal(unknown, Some(Limit::Share(0.5))).contains("needs a size"));
        let size = unknown.size(Some(Limit::Size(Bytes(GIB)))).unwrap();
        assert_eq!((size, unknown.caveat(size)), (Bytes(GIB), None));
    }
}
