//! Reads the whole machine: RAM, swap, shared memory, pressure, OOM kills.

use std::io;
use std::path::{Path, PathBuf};

use leveloff_model::sample::{Gap, MachineReading, Subject};
use leveloff_model::units::Bytes;
use rustix::fs::{StatFs, statfs};

use crate::gap_log::GapLog;
use crate::kept_file::KeptFile;
use crate::kernel::keyed::{first_number, number_of};
use crate::proc_root::ProcRoot;

/// Reads the machine at two speeds.
///
/// `meminfo` and the size of /dev/shm are cheap enough for every tick. Pressure is an average over ten
/// seconds, and `vmstat` makes the kernel add up the counters of every CPU for a single number, so those are
/// read in a thorough reading only and kept in between.
#[derive(Debug)]
pub struct MachineReader {
    meminfo: Option<KeptFile>,
    pressure: Option<KeptFile>,
    vmstat: Option<KeptFile>,
    devshm: PathBuf,
    last: Option<MachineReading>,
    buffer: Vec<u8>,
    gaps: GapLog,
}

impl MachineReader {
    /// `devshm` is /dev/shm; for a target in a container, `/proc/PID/root/dev/shm` is the one that its data
    /// loaders use.
    pub fn new(proc: &ProcRoot, devshm: impl Into<PathBuf>) -> MachineReader {
        let mut gaps = GapLog::about(Subject::Machine);
        let mut open = |name: &str, without: &str| {
            let path = proc.path().join(name);
            KeptFile::open(&path)
                .map_err(|error| gaps.report(unreadable(&path, &error, without)))
                .ok()
        };
        MachineReader {
            meminfo: open("meminfo", "the host's memory and swap are unknown"),
            pressure: open("pressure/memory", NO_PRESSURE),
            vmstat: open("vmstat", "OOM kills are not counted"),
            devshm: devshm.into(),
            last: None,
            buffer: Vec::new(),
            gaps,
        }
    }

    /// Reads the machine. Values of the last thorough reading stay in a fast one; the first reading is always
    /// thorough.
    pub fn read(&mut self, thorough: bool) -> MachineReading {
        let mut reading = self.read_memory();
        (reading.devshm_used, reading.devshm_size) = self.read_devshm();
        match self.last {
            Some(last) if !thorough => {
                reading.pressure_some = last.pressure_some;
                reading.pressure_full = last.pressure_full;
                reading.oom_kills = last.oom_kills;
            }
            _ => {
                (reading.pressure_some, reading.pressure_full) = self.read_pressure();
                reading.oom_kills = self.read_oom_kills();
            }
        }
        self.last = Some(reading);
        reading
    }

    /// Reads only the use of /dev/shm, which is one system call.
    pub fn read_devshm_used(&mut self) -> Option<Bytes> {
        self.read_devshm().0
    }

    /// What could not be read since the last call, each cause once.
    pub fn take_gaps(&mut self) -> Vec<Gap> {
        self.gaps.take()
    }

    fn read_memory(&mut self) -> MachineReading {
        let Some(file) = &self.meminfo else {
            return MachineReading::default();
        };
        let reading = match file.beginning(&mut self.buffer) {
            Ok(text) => parse_meminfo(text),
            Err(error) => {
                self.gaps.report(format!("cannot read meminfo: {error}"));
                return MachineReading::default();
            }
        };
        if reading.available.is_none() {
            let text =
                "meminfo has no MemAvailable (Linux before 3.14); the host's headroom is unknown";
            self.gaps.report(text.into());
        }
        reading
    }

    fn read_devshm(&mut self) -> (Option<Bytes>, Option<Bytes>) {
        // By path and not on a kept descriptor: an open directory would prevent unmounting /dev/shm, and
        // would show the old one after a remount.
        match statfs(&self.devshm) {
            Ok(found) => match tmpfs_use(&found) {
                Some((used, size)) => (Some(used), Some(size)),
                None => {
                    self.gaps.report(format!(
                        "{} is not a tmpfs with a size; shared memory in files is unknown",
                        self.devshm.display()
                    ));
                    (None, None)
                }
            },
            Err(error) => {
                let without = "shared memory in files is unknown";
                self.gaps
                    .report(unreadable(&self.devshm, &error.into(), without));
                (None, None)
            }
        }
    }

    fn read_pressure(&mut self) -> (Option<f32>, Option<f32>) {
        let Some(file) = &self.pressure else {
            return (None, None);
        };
        match file.beginning(&mut self.buffer) {
            Ok(text) => (
                pressure_avg10(text, b"some "),
                pressure_avg10(text, b"full "),
            ),
            Err(error) => {
                // A kernel that was booted without PSI has the file, and fails only here.
                self.gaps.report(format!(
                    "cannot read memory pressure: {error}; {NO_PRESSURE}"
                ));
                (None, None)
            }
        }
    }

    fn read_oom_kills(&mut self) -> Option<u64> {
        let text = self.vmstat.as_ref()?.whole(&mut self.buffer);
        let kills = text.ok().and_then(|text| number_of(text, b"oom_kill"));
        if kills.is_none() {
            self.gaps.report(
                "vmstat has no oom_kill (Linux before 4.13); OOM kills are not counted".into(),
            );
        }
        kills
    }
}

const NO_PRESSURE: &str = "memory pressure is unknown; boot with psi=1 to enable it";

fn unreadable(path: &Path, error: &io::Error, without: &str) -> String {
    format!("cannot read {}: {error}; {without}", path.display())
}

/// Parses the five lines that are used, and stops once it has them: parsing all of meminfo took twice as
/// long as the kernel takes to write it.
fn parse_meminfo(text: &[u8]) -> MachineReading {
    const KEYS: [&[u8]; 5] = [
        b"MemTotal:",
        b"MemAvailable:",
        b"Shmem:",
        b"SwapTotal:",
        b"SwapFree:",
    ];
    let mut found = [None; KEYS.len()];
    let mut start = 0;
    for end in memchr::memchr_iter(b'\n', text) {
        let line = &text[start..end];
        start = end + 1;
        if let Some(at) = KEYS.iter().position(|key| line.starts_with(key)) {
            found[at] = first_number(&line[KEYS[at].len()..]).map(Bytes::from_kib);
            if found.iter().all(Option::is_some) {
                break;
            }
        }
    }
    let [total, available, shmem, swap_total, swap_free] = found;
    MachineReading {
        total,
        available,
        shmem,
        swap_total,
        swap_used: swap_total
            .zip(swap_free)
            .map(|(total, free)| total.saturating_sub(free)),
        ..MachineReading::default()
    }
}

/// The ten-second average of a line such as `some avg10=0.12 avg60=…`.
fn pressure_avg10(text: &[u8], line_start: &[u8]) -> Option<f32> {
    let line = text
        .split(|&b| b == b'\n')
        .find_map(|line| line.strip_prefix(line_start))?;
    let value = line
        .split(|&b| b == b' ')
        .find_map(|field| field.strip_prefix(b"avg10="))?;
    let percent: f32 = std::str::from_utf8(value).ok()?.parse().ok()?;
    (0.0..=100.0).contains(&percent).then_some(percent)
}

/// `f_type` of tmpfs, from linux/magic.h. Where /dev/shm is a plain directory, the numbers would be those of
/// the disk.
const TMPFS_MAGIC: i64 = 0x0102_1994;

fn tmpfs_use(found: &StatFs) -> Option<(Bytes, Bytes)> {
    // The types of these fields differ between architectures.
    #[allow(clippy::unnecessary_cast)]
    let (kind, block) = (found.f_type as i64, found.f_bsize as u64);
    // A tmpfs mounted with size=0 has no limit and reports no blocks at all.
    if kind != TMPFS_MAGIC || found.f_blocks == 0 {
        return None;
    }
    let used = found.f_blocks.saturating_sub(found.f_bfree);
    Some((
        Bytes(used.saturating_mul(block)),
        Bytes(found.f_blocks.saturating_mul(block)),
    ))
}

#[cfg(test)]
mod tests;
