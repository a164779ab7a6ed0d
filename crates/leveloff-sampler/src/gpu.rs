//! Reads GPU memory, per process and per card.
//!
//! NVIDIA cards are read through NVML, a library that comes with the driver and is loaded at run time; AMD
//! and Intel cards through what the kernel's DRM drivers report for each open device file. A machine without
//! either has a gap, not an error.
//!
//! **Not tested on hardware.** leveloff is built and tested on machines without a GPU. The tests cover the
//! absence of NVML, the merging of its process lists and the DRM files as the kernel documents them, but not
//! the calls into a real driver.

use std::path::PathBuf;

use leveloff_model::process::Pid;
use leveloff_model::sample::{Gap, Subject};
use leveloff_model::units::Bytes;

use crate::gap_log::GapLog;
use crate::proc_root::ProcRoot;

mod drm;
mod nvml;

/// GPU memory at one moment.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GpuReading {
    /// The memory of the given processes. A process that is not listed has none, or could not be read.
    pub per_process: Vec<(Pid, Bytes)>,
    /// The cards, or the partitions of a card (MIG).
    pub devices: Vec<GpuDevice>,
}

/// A card.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GpuDevice {
    /// Its name in the driver.
    pub name: String,
    /// Memory in use on it, by anyone.
    pub used: Option<Bytes>,
    /// Memory on it.
    pub total: Option<Bytes>,
}

/// Reads GPU memory. Costs nothing on a machine without a GPU: a driver is searched for once, and again only
/// every [`READS_BETWEEN_CHECKS`] readings.
///
/// With a GPU, a reading costs some driver calls for each card (NVML) or a read of every open descriptor of
/// every process (DRM), too much for every tick.
#[derive(Debug)]
pub struct GpuReader {
    proc: ProcRoot,
    dev: PathBuf,
    sys: PathBuf,
    source: Source,
    reads_until_check: u32,
    gaps: GapLog,
}

/// Readings between two searches for a driver that was loaded late; at one a second, a quarter of an hour.
pub const READS_BETWEEN_CHECKS: u32 = 900;

#[derive(Debug)]
enum Source {
    // Boxed: the table of its functions takes 12 kB.
    Nvml(Box<nvml::Nvml>),
    Drm,
    Nothing,
}

impl GpuReader {
    /// A reader for this machine's GPUs and the processes of `proc`.
    pub fn new(proc: &ProcRoot) -> GpuReader {
        GpuReader::on(proc, "/dev", "/sys")
    }

    /// The same with /dev and /sys elsewhere, for a saved tree. NVML is always that of this machine.
    pub fn on(proc: &ProcRoot, dev: impl Into<PathBuf>, sys: impl Into<PathBuf>) -> GpuReader {
        let mut reader = GpuReader {
            proc: proc.clone(),
            dev: dev.into(),
            sys: sys.into(),
            source: Source::Nothing,
            reads_until_check: READS_BETWEEN_CHECKS,
            gaps: GapLog::about(Subject::Gpu),
        };
        reader.find_driver();
        reader
    }

    /// Reads the memory of `pids` and the cards.
    pub fn read(&mut self, pids: &[Pid]) -> GpuReading {
        if matches!(self.source, Source::Nothing) {
            self.reads_until_check -= 1;
            if self.reads_until_check > 0 {
                return GpuReading::default();
            }
            self.reads_until_check = READS_BETWEEN_CHECKS;
            self.find_driver();
        }
        match &self.source {
            Source::Nvml(nvml) => nvml::read(nvml, &self.proc, pids, &mut self.gaps),
            Source::Drm => drm::read(&self.proc, &self.sys, pids, &mut self.gaps),
            Source::Nothing => GpuReading::default(),
        }
    }

    /// Where the numbers come from: `NVML`, `DRM`, or nowhere.
    pub fn source(&self) -> Option<&'static str> {
        match self.source {
            Source::Nvml(_) => Some("NVML"),
            Source::Drm => Some("DRM"),
            Source::Nothing => None,
        }
    }

    /// What could not be read since the last call, each cause once.
    pub fn take_gaps(&mut self) -> Vec<Gap> {
        self.gaps.take()
    }

    fn find_driver(&mut self) {
        self.source = match nvml::load() {
            Ok(nvml) => Source::Nvml(Box::new(nvml)),
            Err(_) if drm::present(&self.dev) => Source::Drm,
            Err(why) => {
                self.gaps.report(format!(
                    "no GPU memory: {why}, and no render node in {}/dri",
                    self.dev.display()
                ));
                Source::Nothing
            }
        };
    }
}

#[cfg(test)]
mod tests;
