//! A transformer block that normalises before it computes.

use candle_core::{D, Result, Tensor};
use candle_nn::ops::softmax;

use super::layers::{LayerNorm, Linear};
use super::parameters::Parameters;

/// How much wider the inside of the second half is.
const EXPANSION: usize = 4;

/// Attention, then two layers; each added to what came in.
#[derive(Debug)]
pub(super) struct Block {
    heads: usize,
    attention_norm: LayerNorm,
    /// Without a bias: on the keys it would change nothing, and so get no gradient.
    queries_keys_values: Linear,
    attended: Linear,
    feed_norm: LayerNorm,
    expand: Linear,
    contract: Linear,
}

impl Block {
    pub(super) fn new(
        own: &mut Parameters,
        name: &str,
        width: usize,
        heads: usize,
    ) -> Result<Block> {
        let named = |part: &str| format!("{name}.{part}");
        let inside = EXPANSION * width;
        Ok(Block {
            heads,
            attention_norm: LayerNorm::new(own, &named("attention_norm"), width)?,
            queries_keys_values: Linear::without_bias(own, &named("qkv"), width, 3 * width)?,
            attended: Linear::new(own, &named("attended"), width, width)?,
            feed_norm: LayerNorm::new(own, &named("feed_norm"), width)?,
            expand: Linear::new(own, &named("expand"), width, inside)?,
            contract: Linear::new(own, &named("contract"), inside, width)?,
        })
    }

    pub(super) fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let x = (x + self.attend(&self.attention_norm.forward(x)?)?)?;
        let wide = self.expand.forward(&self.feed_norm.forward(&x)?)?.relu()?;
        x + self.contract.forward(&wide)?
    }

    fn attend(&self, x: &Tensor) -> Result<Tensor> {
        let (size, length, width) = x.dims3()?;
        let per_head = width / self.heads;
        let all = self
            .queries_keys_values
            .forward(x)?
            .reshape((size, length, 3, self.heads, per_head))?
            .permute((2, 0, 3, 1, 4))?
            .contiguous()?;
        let (queries, keys, values) = (all.get(0)?, all.get(1)?, all.get(2)?);
        let scores = (queries.matmul(&keys.t()?)? * (per_head as f64).powf(-0.5))?;
        let mixed = softmax(&scores, D::Minus1)?.matmul(&values)?;
        self.attended
            .forward(&mixed.transpose(1, 2)?.reshape((size, length, width))?)
    }
}
