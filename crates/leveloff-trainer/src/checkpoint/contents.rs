//! What is in a checkpoint.

use std::collections::HashMap;
use std::io::{self, Write};

use candle_core::{Device, Tensor};
use safetensors::tensor::{Metadata, TensorInfo};
use safetensors::{Dtype, SafeTensors, View};
use serde::{Deserialize, Serialize};

use crate::optimiser::{AdamW, Part};

/// The one entry of the file's metadata that is ours.
const KEY: &str = "leveloff-trainer";

/// Which training a checkpoint is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// Steps that were done.
    pub step: u64,
    /// Where its randomness began.
    pub seed: u64,
    /// Questions in a batch.
    pub batch_size: u64,
}

/// A checkpoint that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    /// It cannot be read.
    #[error("{0}")]
    Unreadable(#[from] std::io::Error),
    /// It is no safetensors file, or not all of one.
    #[error("it is damaged ({0})")]
    Damaged(String),
    /// It is a safetensors file of another program.
    #[error("it is no checkpoint of leveloff-trainer")]
    Foreign,
    /// It is of a training with other settings, which it would not continue.
    #[error(
        "it is from a training with {what} {theirs}, and this one has {ours}; pass {flag} {theirs}"
    )]
    OtherTraining {
        /// The setting.
        what: &'static str,
        /// Its value in the checkpoint.
        theirs: u64,
        /// Its value here.
        ours: u64,
        /// What sets it.
        flag: &'static str,
    },
    /// It is of another model.
    #[error("it is of another model: {0}")]
    OtherModel(String),
}

impl CheckpointError {
    /// Whether an older checkpoint may be better. One of another training is not passed over: the
    /// user named the wrong directory or the wrong setting, and wants to know.
    pub fn is_damage(&self) -> bool {
        !matches!(
            self,
            CheckpointError::OtherTraining { .. } | CheckpointError::OtherModel(_)
        )
    }
}

/// Writes a checkpoint, tensor by tensor: all of it in one piece would be the largest thing that the
/// training ever allocates, and its memory would not go back to where it was.
pub(super) fn pack(optimiser: &AdamW, origin: &Origin, to: &mut impl Write) -> io::Result<()> {
    let header = header(optimiser, origin)?;
    to.write_all(&(header.len() as u64).to_le_bytes())?;
    to.write_all(&header)?;
    for (_, tensor) in optimiser.parts().iter().flat_map(roles) {
        to.write_all(&View::data(&tensor))?;
    }
    Ok(())
}

/// What the tensors are called and where they begin, as safetensors wants it.
fn header(optimiser: &AdamW, origin: &Origin) -> io::Result<Vec<u8>> {
    let mut end = 0;
    let place = |(name, tensor): (String, &Tensor)| {
        let begin = end;
        end += View::data_len(&tensor);
        let info = TensorInfo {
            dtype: Dtype::F32,
            shape: tensor.dims().to_vec(),
            data_offsets: (begin, end),
        };
        (name, info)
    };
    let tensors = optimiser
        .parts()
        .iter()
        .flat_map(roles)
        .map(place)
        .collect();
    let about = HashMap::from([(KEY.to_owned(), serde_json::to_string(origin)?)]);
    let header = Metadata::new(Some(about), tensors).map_err(io::Error::other)?;
    let mut header = serde_json::to_vec(&header)?;
    // The numbers behind it shall begin at a multiple of eight.
    header.resize(header.len().next_multiple_of(8), b' ');
    Ok(header)
}

/// Sets the optimiser and its parameters to what these bytes say, if they are of this training.
/// Nothing is set unless all can be.
pub(super) fn unpack(
    bytes: &[u8],
    optimiser: &mut AdamW,
    expected: &Origin,
) -> Result<Origin, CheckpointError> {
    let origin = origin(bytes)?;
    check(&origin, expected)?;
    let damaged = |error: &dyn std::fmt::Display| CheckpointError::Damaged(error.to_string());
    let stored = SafeTensors::deserialize(bytes).map_err(|e| damaged(&e))?;
    let mut found = Vec::new();
    for part in optimiser.parts() {
        for (name, tensor) in roles(part) {
            found.push(tensor_like(tensor, &name, &stored)?);
        }
    }
    let mut found = found.iter();
    for part in optimiser.parts() {
        for variable in [&part.parameter, &part.first, &part.second] {
            if let Some(value) = found.next() {
                variable.set(value).map_err(|e| damaged(&e))?;
            }
        }
    }
    optimiser.resume_at(origin.step);
    Ok(origin)
}

fn origin(bytes: &[u8]) -> Result<Origin, CheckpointError> {
    let (_, header) = SafeTensors::read_metadata(bytes)
        .map_err(|error| CheckpointError::Damaged(error.to_string()))?;
    header
        .metadata()
        .as_ref()
        .and_then(|metadata| metadata.get(KEY))
        .and_then(|text| serde_json::from_str(text).ok())
        .ok_or(CheckpointError::Foreign)
}

fn check(theirs: &Origin, ours: &Origin) -> Result<(), CheckpointError> {
    let settings = [
        ("seed", theirs.seed, ours.seed, "--seed"),
        (
            "batches of",
            theirs.batch_size,
            ours.batch_size,
            "--batch-size",
        ),
    ];
    match settings
        .into_iter()
        .find(|(_, theirs, ours, _)| theirs != ours)
    {
        None => Ok(()),
        Some((what, theirs, ours, flag)) => Err(CheckpointError::OtherTraining {
            what,
            theirs,
            ours,
            flag,
        }),
    }
}

/// The three tensors of a part, each with its name in the file.
fn roles(part: &Part) -> [(String, &Tensor); 3] {
    [
        ("parameter", &part.parameter),
        ("first_moment", &part.first),
        ("second_moment", &part.second),
    ]
    .map(|(role, variable)| (format!("{role}.{}", part.name), variable.as_tensor()))
}

fn tensor_like(
    ours: &Tensor,
    name: &str,
    stored: &SafeTensors<'_>,
) -> Result<Tensor, CheckpointError> {
    let view = stored
        .tensor(name)
        .map_err(|_| CheckpointError::OtherModel(format!("it has no {name}")))?;
    if view.shape() != ours.dims() || view.dtype() != Dtype::F32 {
        return Err(CheckpointError::OtherModel(format!(
            "{name} is {:?} of {:?}, and here {:?} of F32",
            view.shape(),
            view.dtype(),
            ours.dims()
        )));
    }
    Tensor::from_raw_buffer(view.data(), ours.dtype(), ours.dims(), &Device::Cpu)
        .and_then(|tensor| tensor.to_device(ours.device()))
        .map_err(|error| CheckpointError::Damaged(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Model;

    const ORIGIN: Origin = Origin {
        step: 7,
        seed: 1,
        batch_size: 8,
    };

    fn optimiser() -> AdamW {
        let model = Model::new(1, &Device::Cpu).expect("a model");
        AdamW::new(model.parameters()).expect("an optimiser")
    }

    fn packed(optimiser: &AdamW) -> Vec<u8> {
        let mut bytes = Vec::new();
        pack(optimiser, &ORIGIN, &mut bytes).expect("written");
        bytes
    }

    #[test]
    fn what_was_packed_is_unpacked() {
        let bytes = packed(&optimiser());
        let mut other = optimiser();
        let expected = Origin { step: 0, ..ORIGIN };
        assert_eq!(unpack(&bytes, &mut other, &expected).expect("good"), ORIGIN);
        assert_eq!(other.steps(), 7);
        // The same bytes again, down to the last: nothing in them depends on the moment.
        assert_eq!(packed(&other), bytes);
    }

    #[test]
    fn another_training_is_refused_with_the_setting_that_would_do() {
        let bytes = packed(&optimiser());
        let expected = Origin { seed: 2, ..ORIGIN };
        let error = unpack(&bytes, &mut optimiser(), &expected).unwrap_err();
        assert!(!error.is_damage());
        assert!(error.to_string().contains("pass --seed 1"), "{error}");
    }

    #[test]
    fn bytes_cut_anywhere_are_damaged_and_change_nothing() {
        let bytes = packed(&optimiser());
        let mut target = optimiser();
        for length in [0, 1, 7, 8, 9, 100, bytes.len() / 2, bytes.len() - 1] {
            let error = unpack(&bytes[..length], &mut target, &ORIGIN).unwrap_err();
            assert!(error.is_damage(), "{length}: {error}");
        }
        assert_eq!(target.steps(), 0);
        assert!(
            unpack(&[b'x'; 4096], &mut target, &ORIGIN)
                .unwrap_err()
                .is_damage()
        );
    }
}
