//! The training itself: a model, its optimiser, and what it learns from.

mod pace;
mod session;

pub use pace::Pace;
pub use session::{Ending, Failure, Session};

use candle_core::{D, Device, Result, Tensor};
use candle_nn::loss::cross_entropy;

use crate::checkpoint::Origin;
use crate::data::{Batch, bytes};
use crate::model::{Evaluation, Model};
use crate::optimiser::AdamW;
use crate::random::Purpose;

/// Batches that are kept back for evaluations.
const HELD_OUT: u64 = 8;

/// A training in progress.
#[derive(Debug)]
pub struct Training {
    model: Model,
    optimiser: AdamW,
    held_out: Vec<Batch>,
    seed: u64,
    batch_size: usize,
    device: Device,
}

impl Training {
    /// That has done no step yet.
    pub fn new(seed: u64, batch_size: u32, device: &Device) -> Result<Training> {
        let batch_size = batch_size as usize;
        let model = Model::new(seed, device)?;
        let held_out = (0..HELD_OUT)
            .map(|number| Batch::make(seed, Purpose::HeldOut, number, batch_size, device))
            .collect::<Result<_>>()?;
        Ok(Training {
            optimiser: AdamW::new(model.parameters())?,
            model,
            held_out,
            seed,
            batch_size,
            device: device.clone(),
        })
    }

    /// Steps done.
    pub fn steps(&self) -> u64 {
        self.optimiser.steps()
    }

    /// What a checkpoint of it must match.
    pub fn origin(&self) -> Origin {
        Origin {
            step: self.steps(),
            seed: self.seed,
            batch_size: self.batch_size as u64,
        }
    }

    /// Where its parameters are, for checkpoints.
    pub fn optimiser_mut(&mut self) -> &mut AdamW {
        &mut self.optimiser
    }

    /// Does a step and returns its loss, with the graph that computed it.
    pub fn step(&mut self) -> Result<Tensor> {
        let next = self.steps();
        let purpose = Purpose::Training;
        let batch = Batch::make(self.seed, purpose, next, self.batch_size, &self.device)?;
        let loss = cross_entropy(&self.model.answers(&batch)?, &batch.answers)?;
        self.optimiser.step(&loss.backward()?)?;
        Ok(loss)
    }

    /// Answers what was kept back; halfway through, `midway` is called.
    pub fn evaluate<E: From<candle_core::Error>>(
        &self,
        midway: impl FnOnce() -> std::result::Result<(), E>,
    ) -> std::result::Result<Evaluation, E> {
        let (first, second) = self.held_out.split_at(self.held_out.len() / 2);
        let mut sum = (0.0, 0.0);
        for batch in first {
            self.add_evaluation(batch, &mut sum)?;
        }
        midway()?;
        for batch in second {
            self.add_evaluation(batch, &mut sum)?;
        }
        let batches = self.held_out.len() as f32;
        Ok(Evaluation {
            loss: sum.0 / batches,
            accuracy: sum.1 / batches,
        })
    }

    fn add_evaluation(&self, batch: &Batch, sum: &mut (f32, f32)) -> Result<()> {
        let favoured = self.model.answers(batch)?.detach();
        let loss = cross_entropy(&favoured, &batch.answers)?.to_scalar::<f32>()?;
        let right = favoured.argmax(D::Minus1)?.eq(&batch.answers)?;
        let right = right.to_dtype(candle_core::DType::F32)?.mean_all()?;
        *sum = (sum.0 + loss, sum.1 + right.to_scalar::<f32>()?);
        Ok(())
    }

    /// Tensors that are held between steps: parameters, their moments, and what was kept back.
    pub fn tensors(&self) -> u64 {
        3 * self.optimiser.parts().len() as u64 + Batch::TENSORS * self.held_out.len() as u64
    }

    /// Bytes in them.
    pub fn tensor_bytes(&self) -> u64 {
        let parameters = self.optimiser.parts().iter().map(|p| bytes(&p.parameter));
        3 * parameters.sum::<u64>() + self.held_out.iter().map(Batch::bytes).sum::<u64>()
    }

    /// Where its tensors are.
    pub fn device(&self) -> &Device {
        &self.device
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn losses(training: &mut Training, steps: usize) -> Vec<f32> {
        (0..steps)
            .map(|_| {
                training
                    .step()
                    .and_then(|loss| loss.to_scalar())
                    .expect("a loss")
            })
            .collect()
    }

    fn evaluation(training: &Training) -> Evaluation {
        training
            .evaluate(|| Ok::<(), candle_core::Error>(()))
            .expect("an evaluation")
    }

    #[test]
    fn it_learns_what_needs_both_picture_and_text() {
        let mut training = Training::new(1, 8, &Device::Cpu).expect("a training");
        let chance = (crate::data::ANSWERS as f32).ln();
        assert!(losses(&mut training, 1)[0] > 0.8 * chance);
        losses(&mut training, 449);
        let Evaluation { loss, accuracy } = evaluation(&training);
        assert!(loss < 0.2 * chance, "loss {loss}, with chance {chance}");
        assert!(accuracy > 0.9, "accuracy {accuracy}");
    }

    #[test]
    fn evaluating_changes_nothing() {
        let mut one = Training::new(2, 4, &Device::Cpu).expect("a training");
        let mut other = Training::new(2, 4, &Device::Cpu).expect("a training");
        losses(&mut one, 3);
        losses(&mut other, 3);
        assert_eq!(evaluation(&one), evaluation(&one));
        assert_eq!(losses(&mut one, 2), losses(&mut other, 2));
        assert_eq!(one.tensors(), other.tensors());
    }
}
