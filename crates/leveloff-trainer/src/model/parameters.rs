//! The variables of a model, by name.

use std::collections::BTreeMap;

use candle_core::{DType, Device, Result, Tensor, Var};

use crate::random::{Purpose, Random};

/// The variables of a model, in the order of their names.
#[derive(Debug)]
pub struct Parameters {
    variables: BTreeMap<String, (Var, Start)>,
    device: Device,
}

/// What a variable is before anything was learned.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Start {
    /// All zero.
    Zero,
    /// All one.
    One,
    /// Random, this far around zero at most.
    Within(f32),
}

impl Parameters {
    pub(super) fn new(device: &Device) -> Parameters {
        Parameters {
            variables: BTreeMap::new(),
            device: device.clone(),
        }
    }

    /// A new variable, as the tensor that a layer computes with; it changes as the variable does.
    pub(super) fn variable(&mut self, name: &str, shape: &[usize], start: Start) -> Result<Tensor> {
        let variable = match start {
            Start::One => Var::ones(shape, DType::F32, &self.device)?,
            Start::Zero | Start::Within(_) => Var::zeros(shape, DType::F32, &self.device)?,
        };
        let tensor = variable.as_tensor().clone();
        let before = self.variables.insert(name.to_owned(), (variable, start));
        debug_assert!(before.is_none(), "two variables have the name {name}");
        Ok(tensor)
    }

    /// Gives the random ones their values, in the order of names: candle has no seed for the CPU.
    pub(super) fn fill(&self, seed: u64) -> Result<()> {
        let mut random = Random::new(seed, Purpose::Parameters, 0);
        for (variable, start) in self.variables.values() {
            if let Start::Within(bound) = *start {
                let values: Vec<f32> = (0..variable.elem_count())
                    .map(|_| random.between(-bound, bound))
                    .collect();
                variable.set(&Tensor::from_vec(values, variable.shape(), &self.device)?)?;
            }
        }
        Ok(())
    }

    /// Each with its name, in the order of names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Var)> {
        self.variables
            .iter()
            .map(|(name, (variable, _))| (name.as_str(), variable))
    }
}
