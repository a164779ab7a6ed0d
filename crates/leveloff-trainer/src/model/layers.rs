//! The layers that a model is made of.

use candle_core::{Result, Tensor};
use candle_nn::ops::layer_norm_slow;

use super::parameters::{Parameters, Start};

/// Keeps the root of a layer norm away from zero.
const EPSILON: f32 = 1e-5;

/// A weight, and perhaps a bias.
#[derive(Debug)]
pub(super) struct Linear {
    weight: Tensor,
    bias: Option<Tensor>,
}

impl Linear {
    pub(super) fn new(
        own: &mut Parameters,
        name: &str,
        inputs: usize,
        outputs: usize,
    ) -> Result<Linear> {
        let bias = own.variable(&format!("{name}.bias"), &[outputs], Start::Zero)?;
        Ok(Linear {
            bias: Some(bias),
            ..Linear::without_bias(own, name, inputs, outputs)?
        })
    }

    pub(super) fn without_bias(
        own: &mut Parameters,
        name: &str,
        inputs: usize,
        outputs: usize,
    ) -> Result<Linear> {
        // A variance of one over the inputs: what comes out is about as large as what went in.
        let start = Start::Within((3.0 / inputs as f32).sqrt());
        let weight = own.variable(&format!("{name}.weight"), &[inputs, outputs], start)?;
        Ok(Linear { weight, bias: None })
    }

    /// Applied to the last dimension. The others are taken as one, for one large product instead
    /// of many small ones.
    pub(super) fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let (inputs, outputs) = self.weight.dims2()?;
        let mut shape = x.dims().to_vec();
        let product = x.reshape(((), inputs))?.matmul(&self.weight)?;
        let sum = match &self.bias {
            Some(bias) => product.broadcast_add(bias)?,
            None => product,
        };
        if let Some(last) = shape.last_mut() {
            *last = outputs;
        }
        sum.reshape(shape)
    }

    #[cfg(test)]
    pub(super) fn weight(&self) -> &Tensor {
        &self.weight
    }
}

/// Brings each patch or word to mean zero and variance one, then to what was learned.
#[derive(Debug)]
pub(super) struct LayerNorm {
    scale: Tensor,
    shift: Tensor,
}

impl LayerNorm {
    pub(super) fn new(own: &mut Parameters, name: &str, width: usize) -> Result<LayerNorm> {
        Ok(LayerNorm {
            scale: own.variable(&format!("{name}.scale"), &[width], Start::One)?,
            shift: own.variable(&format!("{name}.shift"), &[width], Start::Zero)?,
        })
    }

    pub(super) fn forward(&self, x: &Tensor) -> Result<Tensor> {
        layer_norm_slow(x, &self.scale, &self.shift, EPSILON)
    }
}
