//! Reads AMD, Intel and other cards through the kernel's DRM drivers.
//!
//! Each descriptor of a device in /dev/dri has a file in `/proc/PID/fdinfo` in which the driver
//! reports what its client uses, in the format of the kernel's document on DRM client
//! usage stats.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use leveloff_model::process::{Pid, printable};
use leveloff_model::units::Bytes;

use super::{GpuDevice, GpuReading};
use crate::gap_log::GapLog;
use crate::kernel::keyed::{first_number, leading_number};
use crate::proc_root::ProcRoot;

/// Whether there is a card that can compute.
pub(super) fn present(dev: &Path) -> bool {
    has_entry(&dev.join("dri"), "renderD")
}

pub(super) fn read(proc: &ProcRoot, sys: &Path, pids: &[Pid], gaps: &mut GapLog) -> GpuReading {
    let mut counted = HashSet::new();
    let mut per_process = Vec::new();
    for &pid in pids {
        match process_memory(proc, pid, &mut counted, gaps) {
            Ok(Some(amount)) => per_process.push((pid, amount)),
            Ok(None) => {}
            // It exited since it was listed.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => gaps.report(format!(
                "cannot read the open files of some processes to find GPU devices: {error}; \
                 run as the same user"
            )),
        }
    }
    GpuReading {
        per_process,
        devices: devices(sys),
    }
}

/// The client of one open device file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Client {
    /// The driver's name.
    pub driver: Vec<u8>,
    /// The card's bus address; client numbers are unique on a card only.
    pub card: Vec<u8>,
    /// The client's number, the same for every descriptor that shares it.
    pub id: Option<u64>,
    /// Its memory; `None` when the driver does not report it.
    pub memory: Option<Bytes>,
}

/// Reads an `fdinfo` file; `None` when it is not a DRM client's.
pub(super) fn parse(text: &[u8]) -> Option<Client> {
    let (mut driver, mut card, mut id) = (None, &b""[..], None);
    let mut regions = Regions::default();
    for line in text.split(|&b| b == b'\n') {
        let Some(colon) = line.iter().position(|&b| b == b':') else {
            continue;
        };
        let (key, value) = (&line[..colon], line[colon + 1..].trim_ascii());
        match key {
            b"drm-driver" => driver = Some(value),
            b"drm-pdev" => card = value,
            b"drm-client-id" => id = first_number(value),
            _ => regions.see(key, value),
        }
    }
    Some(Client {
        driver: driver?.to_vec(),
        card: card.to_vec(),
        id,
        memory: regions.memory(),
    })
}

/// The best figure for each memory region, by the region's name.
#[derive(Default)]
struct Regions<'a>(BTreeMap<&'a [u8], (usize, Bytes)>);

/// Best first: what is resident, its older name, and what is allocated, resident or not.
const PREFIXES: [&[u8]; 3] = [b"drm-resident-", b"drm-memory-", b"drm-total-"];

impl<'a> Regions<'a> {
    fn see(&mut self, key: &'a [u8], value: &[u8]) {
        let Some((rank, region)) = PREFIXES
            .iter()
            .enumerate()
            .find_map(|(rank, prefix)| Some((rank, key.strip_prefix(*prefix)?)))
        else {
            return;
        };
        // `drm-total-cycles-…` is engine time, not a region.
        if region.starts_with(b"cycles-") {
            return;
        }
        if let Some(amount) = amount(value)
            && self.0.get(region).is_none_or(|&(best, _)| rank < best)
        {
            self.0.insert(region, (rank, amount));
        }
    }

    /// Memory on the card. An integrated card has its buffers in the host's memory; then those count.
    fn memory(&self) -> Option<Bytes> {
        let sum = |local: bool| {
            self.0
                .iter()
                .filter(|(region, _)| !local || is_on_card(region))
                .map(|(_, &(_, amount))| amount)
                .sum()
        };
        if self.0.keys().any(|region| is_on_card(region)) {
            Some(sum(true))
        } else {
            (!self.0.is_empty()).then(|| sum(false))
        }
    }
}

/// amdgpu has `vram`, xe `vram0`, i915 `local0` and `stolen-local0`.
fn is_on_card(region: &[u8]) -> bool {
    [&b"vram"[..], b"local", b"stolen-local"]
        .iter()
        .any(|name| region.starts_with(name))
}

/// A number of bytes, or of KiB or MiB when it says so.
fn amount(value: &[u8]) -> Option<Bytes> {
    let (number, unit) = leading_number(value)?;
    let factor = match unit.trim_ascii() {
        b"" => 1,
        b"KiB" => 1 << 10,
        b"MiB" => 1 << 20,
        b"GiB" => 1 << 30,
        _ => return None,
    };
    number.checked_mul(factor).map(Bytes)
}

type ClientKey = (Vec<u8>, Option<u64>, Option<Pid>);

/// The memory of all clients of `pid` that were not counted yet: a descriptor that was passed on or
/// inherited shares its client, which counts for the first process only.
fn process_memory(
    proc: &ProcRoot,
    pid: Pid,
    counted: &mut HashSet<ClientKey>,
    gaps: &mut GapLog,
) -> io::Result<Option<Bytes>> {
    let directory = proc.process(pid);
    let mut sum = None;
    for entry in fs::read_dir(directory.join("fd"))? {
        let entry = entry?;
        let is_gpu = fs::read_link(entry.path())
            .is_ok_and(|target| target.as_os_str().as_bytes().starts_with(b"/dev/dri/"));
        if !is_gpu {
            continue;
        }
        // The descriptor may be closed by now.
        let Ok(text) = fs::read(directory.join("fdinfo").join(entry.file_name())) else {
            continue;
        };
        match parse(&text) {
            Some(client) if client.memory.is_some() => {
                let owner = client.id.is_none().then_some(pid);
                if counted.insert((client.card, client.id, owner)) {
                    *sum.get_or_insert(Bytes::ZERO) += client.memory.unwrap_or_default();
                }
            }
            client => gaps.report(silent_driver(client)),
        }
    }
    Ok(sum)
}

fn silent_driver(client: Option<Client>) -> String {
    let name = client.map_or_else(|| "the GPU's".into(), |client| printable(&client.driver));
    format!("{name} driver does not report the memory of a process; a newer kernel may")
}

/// The cards that can compute. Only amdgpu reports the use of the whole card.
fn devices(sys: &Path) -> Vec<GpuDevice> {
    let Ok(entries) = fs::read_dir(sys.join("class/drm")) else {
        return Vec::new();
    };
    let mut cards: Vec<_> = entries
        .flatten()
        .filter(|entry| is_card(entry.file_name().as_bytes()))
        .map(|entry| entry.path().join("device"))
        .filter(|device| has_entry(&device.join("drm"), "renderD"))
        .collect();
    cards.sort();
    cards.iter().map(|device| describe(device)).collect()
}

/// `card0`, but not its connectors such as `card0-HDMI-A-1`.
fn is_card(name: &[u8]) -> bool {
    name.strip_prefix(b"card")
        .is_some_and(|rest| !rest.is_empty() && rest.iter().all(u8::is_ascii_digit))
}

fn describe(device: &Path) -> GpuDevice {
    let number = |file: &str| {
        let text = fs::read(device.join(file)).ok()?;
        first_number(&text).map(Bytes)
    };
    let uevent = fs::read(device.join("uevent")).unwrap_or_default();
    let field = |key: &[u8]| {
        uevent
            .split(|&b| b == b'\n')
            .find_map(|line| line.strip_prefix(key))
            .map(printable)
    };
    let driver = field(b"DRIVER=").unwrap_or_else(|| "GPU".into());
    GpuDevice {
        name: match field(b"PCI_SLOT_NAME=") {
            Some(slot) => format!("{driver} {slot}"),
            None => driver,
        },
        used: number("mem_info_vram_used"),
        total: number("mem_info_vram_total"),
    }
}

fn has_entry(directory: &Path, prefix: &str) -> bool {
    fs::read_dir(directory).is_ok_and(|entries| {
        entries
            .flatten()
            .any(|entry| entry.file_name().as_bytes().starts_with(prefix.as_bytes()))
    })
}
