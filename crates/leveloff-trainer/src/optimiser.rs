//! AdamW, with moments that can be saved.
//!
//! Candle's own keeps its moments to itself, so a run that is resumed with it goes on differently.

use candle_core::backprop::GradStore;
use candle_core::{Result, Var};

use crate::model::Parameters;

/// How large a step is. With twice as much, the question is understood later or not at all.
const LEARNING_RATE: f64 = 1e-3;
/// How slowly the mean of gradients forgets; as in the paper (Loshchilov and Hutter, 2019).
const FIRST_DECAY: f64 = 0.9;
/// How slowly the mean of their squares forgets; likewise.
const SECOND_DECAY: f64 = 0.999;
/// Keeps the quotient finite; likewise.
const EPSILON: f64 = 1e-8;
/// How much a parameter shrinks on its own, in parts of the learning rate; likewise.
const WEIGHT_DECAY: f64 = 0.01;

/// AdamW for the parameters of a model.
#[derive(Debug)]
pub struct AdamW {
    parts: Vec<Part>,
    steps: u64,
}

/// A parameter and what is remembered of its gradients.
#[derive(Debug)]
pub struct Part {
    /// The parameter's name.
    pub name: String,
    /// The parameter.
    pub parameter: Var,
    /// The mean of its gradients.
    pub first: Var,
    /// The mean of their squares.
    pub second: Var,
}

impl AdamW {
    /// That has done no step yet.
    pub fn new(parameters: &Parameters) -> Result<AdamW> {
        let part = |(name, parameter): (&str, &Var)| -> Result<Part> {
            let zeros = || Var::zeros(parameter.shape(), parameter.dtype(), parameter.device());
            Ok(Part {
                name: name.to_owned(),
                parameter: parameter.clone(),
                first: zeros()?,
                second: zeros()?,
            })
        };
        Ok(AdamW {
            parts: parameters.iter().map(part).collect::<Result<_>>()?,
            steps: 0,
        })
    }

    /// Changes each parameter by its gradient.
    pub fn step(&mut self, gradients: &GradStore) -> Result<()> {
        self.steps += 1;
        // Both means begin at zero; this makes up for it.
        let first_scale = 1.0 / (1.0 - FIRST_DECAY.powf(self.steps as f64));
        let second_scale = 1.0 / (1.0 - SECOND_DECAY.powf(self.steps as f64));
        for part in &self.parts {
            if let Some(gradient) = gradients.get(&part.parameter) {
                let Part { first, second, .. } = part;
                first.set(
                    &((first.as_tensor() * FIRST_DECAY)? + (gradient * (1.0 - FIRST_DECAY))?)?,
                )?;
                second.set(
                    &((second.as_tensor() * SECOND_DECAY)?
                        + (gradient.sqr()? * (1.0 - SECOND_DECAY))?)?,
                )?;
                let root = ((second.as_tensor() * second_scale)?.sqrt()? + EPSILON)?;
                let change = ((first.as_tensor() * first_scale)? / root)?;
                let kept = (part.parameter.as_tensor() * (1.0 - LEARNING_RATE * WEIGHT_DECAY))?;
                part.parameter.set(&(kept - (change * LEARNING_RATE)?)?)?;
            }
        }
        Ok(())
    }

    /// Each parameter with its moments, in the order of names.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// Steps done.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Goes on as one that has done `steps` steps, after its parts were set to what they were then.
    pub fn resume_at(&mut self, steps: u64) {
        self.steps = steps;
    }
}

#[cfg(test)]
mod tests {
    use candle_core::Device;
    use candle_nn::loss::cross_entropy;
    use candle_nn::{Optimizer, ParamsAdamW};

    use super::*;
    use crate::data::Batch;
    use crate::model::Model;
    use crate::random::Purpose;

    fn gradients(model: &Model, number: u64) -> Result<GradStore> {
        let batch = Batch::make(1, Purpose::Training, number, 4, &Device::Cpu)?;
        cross_entropy(&model.answers(&batch)?, &batch.answers)?.backward()
    }

    #[test]
    fn it_does_what_candles_own_does() -> Result<()> {
        let (ours, theirs) = (Model::new(1, &Device::Cpu)?, Model::new(1, &Device::Cpu)?);
        let mut our_adamw = AdamW::new(ours.parameters())?;
        let variables = theirs.parameters().iter().map(|(_, v)| v.clone()).collect();
        let settings = ParamsAdamW {
            lr: LEARNING_RATE,
            beta1: FIRST_DECAY,
            beta2: SECOND_DECAY,
            eps: EPSILON,
            weight_decay: WEIGHT_DECAY,
        };
        let mut their_adamw = candle_nn::AdamW::new(variables, settings)?;
        for number in 0..5 {
            our_adamw.step(&gradients(&ours, number)?)?;
            their_adamw.step(&gradients(&theirs, number)?)?;
        }
        for ((name, our), (_, their)) in ours.parameters().iter().zip(theirs.parameters().iter()) {
            let difference = (our.as_tensor() - their.as_tensor())?.abs()?.max_all()?;
            assert!(difference.to_scalar::<f32>()? < 1e-6, "{name}");
        }
        Ok(())
    }
}
