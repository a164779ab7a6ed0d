//! Tensors that are still referenced: the live count rises with memory.

use std::io;

use candle_core::{DType, Device, Tensor, Var};

use super::{Entry, LEAK_STEPS, USUAL_RATE};
use crate::pattern::{Knob, Knobs, Pattern, PatternError, Schedule, StepDone, Truth};

pub(super) const TENSOR_LEAK: Entry = Entry {
    name: "tensor-leak",
    summary: "a tensor of 1 MiB (--rate) is kept in a list at each step after --onset",
    says: "leak of 1 MiB a step in the trainer; live tensors rise with memory: held references",
    steps: LEAK_STEPS,
    takes: &[Knob::Rate, Knob::Onset],
    needs_checkpoints: false,
    truth: held,
    make: |knobs, _| {
        Box::new(TensorLeak {
            rate: knobs.rate_or(USUAL_RATE),
            onset: knobs.onset_or(0),
            kept: Vec::new(),
        })
    },
};

pub(super) const GRAPH_LEAK: Entry = Entry {
    name: "graph-leak",
    summary: "a loss is kept at each step after --onset, and with it the 1 MiB (--rate) graph that computed it",
    says: "leak of 1 MiB a step in the trainer; live tensors rise with memory: held references",
    steps: LEAK_STEPS,
    takes: &[Knob::Rate, Knob::Onset],
    needs_checkpoints: false,
    truth: held,
    make: |knobs, _| {
        Box::new(GraphLeak {
            rate: knobs.rate_or(USUAL_RATE),
            onset: knobs.onset_or(0),
            weights: None,
            losses: Vec::new(),
            held: 0,
        })
    },
};

/// Bytes of one number.
const NUMBER: u64 = size_of::<f32>() as u64;
/// Tensors as long as the weights that an auxiliary loss keeps alive: the product and its square.
const LONG_TENSORS: u64 = 2;

fn held(knobs: &Knobs, _: &Schedule) -> Truth {
    let (onset, rate) = (knobs.onset_or(0), knobs.rate_or(USUAL_RATE));
    Truth::leak(onset, rate).with(&["held-references"])
}

#[derive(Debug)]
struct TensorLeak {
    rate: u64,
    onset: u64,
    kept: Vec<Tensor>,
}

impl Pattern for TensorLeak {
    fn step(&mut self, done: &StepDone<'_>) -> Result<(), PatternError> {
        if done.step > self.onset {
            let tensor = filled(self.rate / NUMBER).map_err(cannot_keep)?;
            self.kept.push(tensor);
        }
        Ok(())
    }

    fn held_tensors(&self) -> u64 {
        self.kept.len() as u64
    }
}

/// Losses that are appended to a history without being detached.
///
/// The graph of the training's own loss is as large as the model makes it, some ten MB a step. So
/// the loss that is kept is an auxiliary one: computed from the training's loss, through a graph of
/// its own of known size.
#[derive(Debug)]
struct GraphLeak {
    rate: u64,
    onset: u64,
    weights: Option<Var>,
    losses: Vec<Tensor>,
    held: u64,
}

impl GraphLeak {
    fn keep(&mut self, loss: &Tensor) -> candle_core::Result<()> {
        let weights = match &mut self.weights {
            Some(weights) => weights,
            none => {
                let weights = filled(self.rate / (LONG_TENSORS * NUMBER))?;
                none.insert(Var::from_tensor(&weights)?)
            }
        };
        let loss = auxiliary(weights, loss)?;
        // The weights were there before, and are shared by all.
        self.held += loss.sorted_nodes().len() as u64 - 1;
        self.losses.push(loss);
        Ok(())
    }
}

impl Pattern for GraphLeak {
    fn step(&mut self, done: &StepDone<'_>) -> Result<(), PatternError> {
        if done.step > self.onset {
            self.keep(done.loss).map_err(cannot_keep)?;
        }
        Ok(())
    }

    fn held_tensors(&self) -> u64 {
        self.held
    }
}

/// The mean of the squared weights, scaled by the loss.
fn auxiliary(weights: &Var, loss: &Tensor) -> candle_core::Result<Tensor> {
    let scale = loss.detach().to_device(&Device::Cpu)?;
    let scale = scale.to_dtype(DType::F32)?.mean_all()?;
    weights.broadcast_mul(&scale)?.sqr()?.mean_all()
}

/// A tensor in the host's memory, every page of which was written to.
fn filled(length: u64) -> candle_core::Result<Tensor> {
    let length = usize::try_from(length).unwrap_or(usize::MAX).max(1);
    Tensor::full(1_f32, length, &Device::Cpu)
}

fn cannot_keep(error: candle_core::Error) -> PatternError {
    let error = io::Error::other(error);
    PatternError::new(
        "cannot keep a tensor",
        error,
        "lower --rate, or take fewer steps",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kept_loss_keeps_its_graph_and_not_the_training_s() {
        let weights = Var::from_tensor(&filled(1000).unwrap()).unwrap();
        let trained = Var::new(2_f32, &Device::Cpu).unwrap();
        let loss = trained.sqr().unwrap();
        let auxiliary = auxiliary(&weights, &loss).unwrap();
        assert_eq!(auxiliary.to_scalar::<f32>().unwrap(), 16.0);
        let nodes = auxiliary.sorted_nodes();
        let long = nodes
            .iter()
            .filter(|node| node.elem_count() == 1000)
            .count();
        assert_eq!(long as u64, LONG_TENSORS + 1);
        assert!(nodes.iter().all(|node| node.id() != trained.id()));
    }
}
