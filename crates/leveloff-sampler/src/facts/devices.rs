//! GPU devices that a process has open, from the links in its `fd`.

use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// GPU device nodes, each once, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GpuDevices(pub Vec<String>);

/// How many descriptors are read, so that a process that leaks descriptors does not cost much time. Far more
/// than a training process has.
const MOST_DESCRIPTORS: usize = 16_384;

/// Reads the links in a `fd` directory. `each` gets all of them, because other facts show in them as well and
/// reading them is what costs.
pub fn read(directory: &Path, mut each: impl FnMut(&[u8])) -> io::Result<GpuDevices> {
    let mut devices = Vec::new();
    for entry in std::fs::read_dir(directory)?.take(MOST_DESCRIPTORS) {
        // A descriptor that was closed since it was listed is no error.
        let Ok(target) = entry.and_then(|entry| std::fs::read_link(entry.path())) else {
            continue;
        };
        let bytes = target.as_os_str().as_bytes();
        each(bytes);
        if is_gpu(bytes) {
            devices.push(target.to_string_lossy().into_owned());
        }
    }
    devices.sort();
    devices.dedup();
    Ok(GpuDevices(devices))
}

impl GpuDevices {
    /// The device that it computes on: CUDA opens nvidia-uvm and ROCm kfd, monitoring and drawing open
    /// neither. A render node may serve both.
    pub fn compute(&self) -> Option<&str> {
        let computes = |name: &&String| {
            name.starts_with("/dev/nvidia-uvm")
                || name.starts_with("/dev/kfd")
                || name.starts_with("/dev/dri/render")
        };
        self.0.iter().find(computes).map(String::as_str)
    }
}

fn is_gpu(target: &[u8]) -> bool {
    [&b"/dev/nvidia"[..], b"/dev/dri/render", b"/dev/kfd"]
        .iter()
        .any(|prefix| target.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn devices(targets: &[&str]) -> GpuDevices {
        let directory = tempfile::tempdir().unwrap();
        for (number, target) in targets.iter().enumerate() {
            std::os::unix::fs::symlink(target, directory.path().join(number.to_string())).unwrap();
        }
        read(directory.path(), |_| ()).unwrap()
    }

    #[test]
    fn a_computing_process_is_distinguished_from_a_monitor() {
        let cuda = devices(&[
            "/dev/nvidia0",
            "/dev/nvidia-uvm",
            "/dev/nvidia0",
            "pipe:[1]",
            "/dev/null",
        ]);
        assert_eq!(cuda.0, ["/dev/nvidia-uvm", "/dev/nvidia0"]);
        assert_eq!(cuda.compute(), Some("/dev/nvidia-uvm"));
        assert_eq!(devices(&["/dev/nvidiactl", "/dev/nvidia0"]).compute(), None);
        assert_eq!(
            devices(&["/dev/dri/renderD128"]).compute(),
            Some("/dev/dri/renderD128")
        );
        assert_eq!(devices(&["/dev/dri/card0"]), GpuDevices::default());
    }
}
