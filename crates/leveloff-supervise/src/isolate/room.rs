//! How much memory there is for a job, and how much of it a limit may be.

use anyhow::{Result, bail};
use leveloff_model::process::Pid;
use leveloff_model::sample::{Ceiling, CeilingKind, MachineReading};
use leveloff_model::units::{Bytes, Limit};
use leveloff_sampler::proc_root::ProcRoot;
use leveloff_sampler::system::ceiling::{Limits, nearest};
use leveloff_sampler::system::cgroup::CgroupReader;
use leveloff_sampler::system::machine::MachineReader;

/// The nearest ceiling that the job has to stay below; `None` when nothing is known to limit it.
#[derive(Debug, Clone, Copy)]
pub struct Room(Option<Ceiling>);

/// Left to the rest of the machine when no size is given, as a part of the ceiling: the kernel begins
/// to reclaim from everybody at two or three per cent free, and whoever logs in to see what is wrong
/// needs a few hundred MiB. Of 32 GiB these are 1.6.
const RESERVE: f64 = 0.05;

/// No training fits in less, and an interpreter that is killed while it starts explains nothing.
const SMALLEST: Bytes = Bytes(16 << 20);

impl Room {
    /// Of this machine, for whoever starts from our own control group.
    ///
    /// Swap does not count: a machine that is down to its swap is what isolation is to prevent.
    pub fn here() -> Room {
        let proc = ProcRoot::live();
        let here = Pid(rustix::process::getpid().as_raw_pid());
        let machine = MachineReader::new(&proc, "/dev/shm").read(false);
        let mut group = CgroupReader::new(&proc, "/", here);
        group.read(true);
        Room::between(group.ceiling(), &machine)
    }

    fn between(cgroup: Option<Ceiling>, machine: &MachineReading) -> Room {
        let without_swap = MachineReading {
            swap_total: None,
            swap_used: None,
            ..*machine
        };
        Room(nearest(&Limits {
            stated: None,
            cgroup,
            rlimit: None,
            machine: &without_swap,
            tree: Bytes::ZERO,
        }))
    }

    /// The size that was asked for, if it can protect anything; without one, what is free less a
    /// reserve. A share is one of the whole ceiling, as everywhere else.
    pub fn size(&self, asked: Option<Limit>) -> Result<Bytes> {
        let size = match (asked, self.0) {
            (Some(Limit::Size(size)), _) => size,
            (Some(Limit::Share(share)), Some(ceiling)) => part(ceiling.limit, share),
            (None, Some(ceiling)) => left_of(&ceiling)?,
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

    /// What has to be known about a size that is not all free.
    pub fn caveat(&self, size: Bytes) -> Option<String> {
        let ceiling = self.0.filter(|ceiling| size > ceiling.headroom())?;
        Some(format!(
            "others hold so much of {} that only {} are free, so it may be full before that",
            named(&ceiling),
            ceiling.headroom()
        ))
    }
}

fn left_of(ceiling: &Ceiling) -> Result<Bytes> {
    let left = ceiling
        .headroom()
        .saturating_sub(part(ceiling.limit, RESERVE));
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

fn part(whole: Bytes, share: f64) -> Bytes {
    Bytes((whole.0 as f64 * share) as u64)
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

    /// A machine of 32 GiB and 8 GiB of swap, of which this is available, and perhaps a group of 8
    /// GiB that is half full.
    fn room(available: u64, is_grouped: bool) -> Room {
        let machine = MachineReading {
            total: Some(Bytes(32 * GIB)),
            available: Some(Bytes(available)),
            swap_total: Some(Bytes(8 * GIB)),
            swap_used: Some(Bytes::ZERO),
            ..MachineReading::default()
        };
        let group = is_grouped.then_some(Ceiling {
            kind: CeilingKind::Cgroup,
            limit: Bytes(8 * GIB),
            used: Bytes(4 * GIB),
        });
        Room::between(group, &machine)
    }

    fn refusal(room: Room, asked: Option<Limit>) -> String {
        room.size(asked).unwrap_err().to_string()
    }

    #[test]
    fn without_a_size_it_is_what_is_free_less_a_reserve_and_no_swap() {
        let size = room(20 * GIB, false).size(None).unwrap();
        assert_eq!(size, Bytes(20 * GIB - part(Bytes(32 * GIB), RESERVE).0));
        let size = room(20 * GIB, true).size(None).unwrap();
        assert_eq!(size, Bytes(4 * GIB - part(Bytes(8 * GIB), RESERVE).0));
        assert!(refusal(room(GIB, false), None).contains("only 1.0 GiB of the machine"));
    }

    #[test]
    fn a_share_is_one_of_the_ceiling() {
        let half = Some(Limit::Share(0.5));
        assert_eq!(room(20 * GIB, false).size(half).unwrap(), Bytes(16 * GIB));
        assert_eq!(room(20 * GIB, true).size(half).unwrap(), Bytes(4 * GIB));
    }

    #[test]
    fn a_size_that_protects_nothing_is_refused() {
        for asked in [Limit::Size(Bytes(33 * GIB)), Limit::Share(1.0)] {
            let said = refusal(room(20 * GIB, false), Some(asked));
            assert!(said.contains("machine's memory of 32.0 GiB"), "{said}");
        }
        let said = refusal(room(20 * GIB, true), Some(Limit::Size(Bytes(9 * GIB))));
        assert!(said.contains("control group's limit of 8.0 GiB"), "{said}");
        let said = refusal(room(20 * GIB, false), Some(Limit::Size(Bytes::ZERO)));
        assert!(said.contains("at least 16 MiB"), "{said}");
    }

    #[test]
    fn a_size_that_is_not_free_is_taken_and_said() {
        let room = room(20 * GIB, false);
        let size = room.size(Some(Limit::Size(Bytes(28 * GIB)))).unwrap();
        assert!(
            room.caveat(size)
                .unwrap()
                .contains("only 20.0 GiB are free")
        );
        assert_eq!(room.caveat(Bytes(19 * GIB)), None);
    }

    #[test]
    fn where_nothing_is_known_a_size_is_asked_for() {
        let unknown = Room::between(None, &MachineReading::default());
        assert!(refusal(unknown, None).contains("needs a size"));
        assert!(refusal(unknown, Some(Limit::Share(0.5))).contains("needs a size"));
        let size = unknown.size(Some(Limit::Size(Bytes(GIB)))).unwrap();
        assert_eq!((size, unknown.caveat(size)), (Bytes(GIB), None));
    }
}
