//! Reads NVIDIA cards through the library of the driver.

use std::collections::BTreeMap;

use leveloff_model::process::Pid;
use leveloff_model::units::Bytes;
use nvml_wrapper::Device;
use nvml_wrapper::enums::device::UsedGpuMemory;
use nvml_wrapper::error::NvmlError;
use nvml_wrapper::struct_wrappers::device::ProcessInfo;

use super::{GpuDevice, GpuReading};
use crate::gap_log::GapLog;
use crate::proc_root::ProcRoot;

pub(super) use nvml_wrapper::Nvml;

/// Loads NVML, or returns what is missing.
pub(super) fn load() -> Result<Nvml, String> {
    Nvml::init().map_err(|error| match error {
        NvmlError::LibloadingError(_) => "no NVIDIA driver library (libnvidia-ml.so.1)".to_owned(),
        error => format!("NVML did not start ({error})"),
    })
}

pub(super) fn read(nvml: &Nvml, proc: &ProcRoot, pids: &[Pid], gaps: &mut GapLog) -> GpuReading {
    let units = match units(nvml) {
        Ok(units) => units,
        Err(error) => {
            gaps.report(format!("NVML lists no cards: {error}"));
            return GpuReading::default();
        }
    };
    let mut listed = Vec::new();
    for (unit, device) in units.iter().enumerate() {
        let lists = [
            device.running_compute_processes(),
            device.running_graphics_processes(),
        ];
        for list in lists {
            match list {
                Ok(processes) => listed.extend(processes.iter().map(|p| Listed::of(unit, p))),
                // A card for computing only has no list of graphics processes.
                Err(NvmlError::NotSupported) => {}
                Err(error) => {
                    gaps.report(format!("NVML does not list a card's processes: {error}"));
                }
            }
        }
    }
    let folded = fold(&listed, pids);
    if folded.unknown {
        gaps.report("NVML lists GPU processes without their memory".into());
    }
    if folded.per_process.is_empty() && none_visible(&listed, proc) {
        gaps.report(
            "NVML lists processes by the host's pids, which this container does not see; \
             run leveloff in the host's pid namespace (docker run --pid=host)"
                .into(),
        );
    }
    GpuReading {
        per_process: folded.per_process,
        devices: units.iter().map(describe).collect(),
    }
}

/// A process in one of NVML's lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Listed {
    /// The card or partition.
    pub unit: usize,
    /// The partition, where the list is of a whole card.
    pub instance: Option<u32>,
    pub pid: Pid,
    /// Its memory, if NVML reports it.
    pub used: Option<u64>,
}

impl Listed {
    fn of(unit: usize, process: &ProcessInfo) -> Listed {
        Listed {
            unit,
            instance: process.gpu_instance_id,
            pid: Pid(i32::try_from(process.pid).unwrap_or(-1)),
            used: match process.used_gpu_memory {
                UsedGpuMemory::Used(bytes) => Some(bytes),
                UsedGpuMemory::Unavailable => None,
            },
        }
    }
}

/// The memory of the requested processes.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Folded {
    pub per_process: Vec<(Pid, Bytes)>,
    /// The memory of some process is unknown.
    pub unknown: bool,
}

/// Adds up the memory of a process over the cards. A process that computes and draws is in both lists of a
/// card with the same amount, so the larger counts for a card, not the sum.
pub(super) fn fold(listed: &[Listed], pids: &[Pid]) -> Folded {
    let mut on_unit: BTreeMap<(Pid, usize, Option<u32>), Option<u64>> = BTreeMap::new();
    for entry in listed.iter().filter(|entry| pids.contains(&entry.pid)) {
        let most = on_unit
            .entry((entry.pid, entry.unit, entry.instance))
            .or_default();
        *most = (*most).max(entry.used);
    }
    let unknown = on_unit.values().any(Option::is_none);
    let mut sums: BTreeMap<Pid, Bytes> = BTreeMap::new();
    for ((pid, ..), used) in on_unit {
        if let Some(bytes) = used {
            *sums.entry(pid).or_default() += Bytes(bytes);
        }
    }
    Folded {
        per_process: sums.into_iter().collect(),
        unknown,
    }
}

/// Whether processes are listed and none of them is in this /proc.
pub(super) fn none_visible(listed: &[Listed], proc: &ProcRoot) -> bool {
    !listed.is_empty() && listed.iter().all(|entry| !proc.process(entry.pid).exists())
}

/// `NVML_DEVICE_MIG_ENABLE` of nvml.h.
const MIG_ENABLED: u32 = 1;

/// The cards; of a card that is shared out (MIG) its slices, because only a slice lists its
/// processes to those without privileges.
fn units(nvml: &Nvml) -> Result<Vec<Device<'_>>, NvmlError> {
    let mut units = Vec::new();
    for index in 0..nvml.device_count()? {
        // A card that fell off the bus must not hide the others.
        let Ok(card) = nvml.device_by_index(index) else {
            continue;
        };
        let slices = slices(&card);
        if slices.is_empty() {
            units.push(card);
        } else {
            units.extend(slices);
        }
    }
    Ok(units)
}

fn slices<'n>(card: &Device<'n>) -> Vec<Device<'n>> {
    if !card
        .mig_mode()
        .is_ok_and(|mode| mode.current == MIG_ENABLED)
    {
        return Vec::new();
    }
    (0..card.mig_device_count().unwrap_or(0))
        .filter_map(|index| card.mig_device_by_index(index).ok())
        .collect()
}

fn describe(device: &Device<'_>) -> GpuDevice {
    let memory = device.memory_info().ok();
    GpuDevice {
        name: device.name().unwrap_or_else(|_| "NVIDIA GPU".into()),
        used: memory.as_ref().map(|memory| Bytes(memory.used)),
        total: memory.as_ref().map(|memory| Bytes(memory.total)),
    }
}
