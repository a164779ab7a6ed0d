//! Where tensors are: in main memory, or on a CUDA device.

use candle_core::Device;
use clap::ValueEnum;

/// Where a user wants to train.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum DeviceChoice {
    /// On the processor.
    #[default]
    Cpu,
    /// On the first CUDA device.
    Cuda,
}

/// A device that cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum DeviceError {
    /// CUDA was not compiled in.
    #[error("this build has no CUDA: cargo build --release -p leveloff-trainer --features cuda")]
    NotBuilt,
    /// The driver has no device, or there is no driver.
    #[error(
        "there is no CUDA device to train on: {0}; `nvidia-smi` lists them, --device cpu needs none"
    )]
    NoDevice(Box<candle_core::Error>),
}

/// The device at this choice.
pub fn open(choice: DeviceChoice) -> Result<Device, DeviceError> {
    match choice {
        DeviceChoice::Cpu => Ok(Device::Cpu),
        DeviceChoice::Cuda if !candle_core::utils::cuda_is_available() => {
            Err(DeviceError::NotBuilt)
        }
        DeviceChoice::Cuda => {
            Device::new_cuda(0).map_err(|error| DeviceError::NoDevice(Box::new(error)))
        }
    }
}

/// Bytes that are taken on the device, if it is one and says so. The driver counts all processes on
/// it together; a training that has the device to itself is what this is right for.
#[cfg(feature = "cuda")]
pub fn bytes_in_use(device: &Device) -> Option<u64> {
    let cuda = device.as_cuda_device().ok()?;
    let (free, total) = cuda.cuda_stream().context().mem_get_info().ok()?;
    u64::try_from(total.checked_sub(free)?).ok()
}

/// Main memory is what others measure.
#[cfg(not(feature = "cuda"))]
pub fn bytes_in_use(_device: &Device) -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(not(feature = "cuda"))]
    fn without_the_feature_the_message_is_the_command_that_builds_it() {
        let message = open(DeviceChoice::Cuda)
            .map(|_| ())
            .unwrap_err()
            .to_string();
        assert!(message.contains("--features cuda"), "{message}");
        assert!(open(DeviceChoice::Cpu).is_ok());
        assert_eq!(bytes_in_use(&Device::Cpu), None);
    }
}
