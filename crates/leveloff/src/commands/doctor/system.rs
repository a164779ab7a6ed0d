//! What can be read about the machine.

use leveloff_model::sample::{Gap, MachineReading};
use leveloff_model::units::Bytes;
use leveloff_sampler::gpu::{GpuDevice, GpuReader};
use leveloff_sampler::system::cgroup::CgroupReader;
use leveloff_sampler::system::machine::MachineReader;

use super::{Check, Machine};

pub(super) fn checks(machine: &Machine) -> Vec<Check> {
    let reading = MachineReader::new(&machine.proc, machine.root.join("dev/shm")).read(true);
    vec![
        memory(&reading),
        swap(&reading),
        pressure(&reading),
        oom_kills(&reading),
        shared_memory(&reading),
        control_group(machine),
        gpu(machine),
    ]
}

fn memory(machine: &MachineReading) -> Check {
    match (machine.total, machine.available) {
        (Some(total), Some(available)) => {
            Check::ok("memory", format!("{available} of {total} is available"))
        }
        _ => Check::missing(
            "memory",
            "meminfo has no MemAvailable; the host then counts as no ceiling",
            "state one with --limit",
        ),
    }
}

fn swap(machine: &MachineReading) -> Check {
    let name = "swap";
    match (machine.swap_total, machine.swap_used) {
        (Some(Bytes::ZERO), _) => Check::ok(name, "none; only physical memory can be used"),
        (Some(total), Some(used)) => Check::ok(name, format!("{used} of {total} in use")),
        _ => Check::gap(
            name,
            "not known; it is left out of the ceiling",
            "state a ceiling with --limit",
        ),
    }
}

fn pressure(machine: &MachineReading) -> Check {
    let name = "pressure";
    match machine.pressure_some {
        Some(some) => Check::ok(name, format!("tasks waited for memory {some:.1} % of 10 s")),
        None => Check::gap(
            name,
            "no PSI; leveloff cannot measure whether tasks wait for memory",
            "boot with psi=1 (a kernel with CONFIG_PSI)",
        ),
    }
}

fn oom_kills(machine: &MachineReading) -> Check {
    let name = "oom kills";
    match machine.oom_kills {
        Some(kills) => Check::ok(name, format!("{kills} since boot")),
        None => Check::gap(name, "not counted", "Linux 4.13 or newer counts them"),
    }
}

/// Data loaders of a usual batch size fill less; Docker's default of 64 MiB they do fill.
const ROOMY_SHARED_MEMORY: Bytes = Bytes(1 << 30);

fn shared_memory(machine: &MachineReading) -> Check {
    let name = "shared memory";
    let (Some(used), Some(size)) = (machine.devshm_used, machine.devshm_size) else {
        return Check::gap(
            name,
            "/dev/shm is not a tmpfs with a size; batches in it cannot be counted",
            "mount -t tmpfs -o size=8g tmpfs /dev/shm",
        );
    };
    let text = format!("/dev/shm: {used} of {size} in use");
    if size < ROOMY_SHARED_MEMORY {
        let text = format!("{text}; data loader workers die of a bus error when it is full");
        Check::gap(name, text, "in a container: docker run --shm-size=8g")
    } else {
        Check::ok(name, text)
    }
}

fn control_group(machine: &Machine) -> Check {
    let name = "control group";
    let mut reader = CgroupReader::new(&machine.proc, &machine.root, machine.pid);
    let Some(reading) = reader.read(true) else {
        return Check::gap(
            name,
            joined(&reader.take_gaps()),
            "only the host's memory is a ceiling; state another with --limit",
        );
    };
    let limit = match (reading.limit, reader.ceiling()) {
        (Some(_), Some(near)) => format!("{} of its limit of {} used", near.used, near.limit),
        (Some(limit), None) => format!("limit {limit}"),
        (None, _) => "no limit".to_owned(),
    };
    let text = format!("version {}, {}: {limit}", reading.version, reading.path);
    let gaps = reader.take_gaps();
    if gaps.is_empty() {
        Check::ok(name, text)
    } else {
        let text = format!("{text}; {}", joined(&gaps));
        Check::gap(name, text, "run where the group's files can be read")
    }
}

fn gpu(machine: &Machine) -> Check {
    let name = "gpu";
    let mut reader = GpuReader::on(
        &machine.proc,
        machine.root.join("dev"),
        machine.root.join("sys"),
    );
    let reading = reader.read(&[machine.pid]);
    let gaps = reader.take_gaps();
    let next = "install the card's driver; in a container: docker run --gpus all, \
                or --device /dev/dri for AMD and Intel";
    match reader.source() {
        None => Check::missing(name, joined(&gaps), next),
        Some(source) if gaps.is_empty() => {
            Check::ok(name, format!("{source}: {}", described(&reading.devices)))
        }
        Some(source) => Check::gap(name, format!("{source}: {}", joined(&gaps)), next),
    }
}

fn described(devices: &[GpuDevice]) -> String {
    let cards: Vec<String> = devices
        .iter()
        .map(|card| match (card.used, card.total) {
            (Some(used), Some(total)) => format!("{} ({used} of {total} in use)", card.name),
            _ => format!("{} (memory of the whole card is unknown)", card.name),
        })
        .collect();
    cards.join(", ")
}

fn joined(gaps: &[Gap]) -> String {
    let texts: Vec<&str> = gaps.iter().map(|gap| gap.text.as_str()).collect();
    texts.join("; ")
}
