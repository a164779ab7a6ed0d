//! The model: a transformer that looks at a picture and reads a question about it.
//!
//! Candle's own layer norm and fused softmax compute no gradient and do not say so; here are the
//! plain forms, and a test that every variable gets one.

mod block;
mod layers;
mod parameters;

pub use parameters::Parameters;

use candle_core::{Device, Result, Tensor};

use crate::data::{ANSWERS, Batch, CHANNELS, SIDE, VOCABULARY, WORDS};
use block::Block;
use layers::{LayerNorm, Linear};
use parameters::Start;

/// Numbers that stand for a patch or a word.
const WIDTH: usize = 64;
/// Transformer blocks.
const DEPTH: usize = 2;
/// Attention heads in each.
const HEADS: usize = 4;
/// Height and width of a patch.
const PATCH: usize = 8;
/// Patches from one edge to the other.
const ACROSS: usize = SIDE / PATCH;
/// Patches in a picture.
const PATCHES: usize = ACROSS * ACROSS;

/// Words and positions begin with variance one, as large as a patch: with a tenth of that, positions
/// go under, and nothing is learned in 600 steps.
const EMBEDDED: Start = Start::Within(1.732);

/// A small vision-language classifier.
#[derive(Debug)]
pub struct Model {
    parameters: Parameters,
    patches: Linear,
    words: Tensor,
    positions: Tensor,
    blocks: Vec<Block>,
    norm: LayerNorm,
    head: Linear,
}

/// How good the model is on what it was not trained on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Evaluation {
    /// The mean loss.
    pub loss: f32,
    /// The share of right answers.
    pub accuracy: f32,
}

impl Model {
    /// With parameters that begin as the seed says.
    pub fn new(seed: u64, device: &Device) -> Result<Model> {
        let mut parameters = Parameters::new(device);
        let own = &mut parameters;
        let patches = Linear::new(own, "patches", PATCH * PATCH * CHANNELS, WIDTH)?;
        let words = own.variable("words", &[VOCABULARY, WIDTH], EMBEDDED)?;
        let positions = own.variable("positions", &[PATCHES + WORDS, WIDTH], EMBEDDED)?;
        let blocks = (0..DEPTH)
            .map(|depth| Block::new(own, &format!("block{depth}"), WIDTH, HEADS))
            .collect::<Result<_>>()?;
        let norm = LayerNorm::new(own, "norm", WIDTH)?;
        let head = Linear::new(own, "head", 2 * WIDTH, ANSWERS)?;
        parameters.fill(seed)?;
        Ok(Model {
            parameters,
            patches,
            words,
            positions,
            blocks,
            norm,
            head,
        })
    }

    /// What it has learned.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// How much each answer is favoured: batch size × answers.
    pub fn answers(&self, batch: &Batch) -> Result<Tensor> {
        let seen = self.patches.forward(&cut_into_patches(&batch.pictures)?)?;
        let read = self.read(&batch.texts)?;
        let mut both = Tensor::cat(&[seen, read], 1)?.broadcast_add(&self.positions)?;
        for block in &self.blocks {
            both = block.forward(&both)?;
        }
        let both = self.norm.forward(&both)?;
        let picture = both.narrow(1, 0, PATCHES)?.mean(1)?;
        let text = both.narrow(1, PATCHES, WORDS)?.mean(1)?;
        self.head.forward(&Tensor::cat(&[picture, text], 1)?)
    }

    /// The words of a question, each as what stands for it.
    fn read(&self, texts: &Tensor) -> Result<Tensor> {
        let (size, words) = texts.dims2()?;
        self.words
            .index_select(&texts.flatten_all()?, 0)?
            .reshape((size, words, WIDTH))
    }
}

/// Size × patches × numbers of a patch.
fn cut_into_patches(pictures: &Tensor) -> Result<Tensor> {
    let size = pictures.dim(0)?;
    // Centred, so that a bright picture is not mistaken for an important one.
    ((pictures - 0.5)? * 2.0)?
        .reshape((size, ACROSS, PATCH, ACROSS, PATCH * CHANNELS))?
        .transpose(2, 3)?
        .reshape((size, PATCHES, PATCH * PATCH * CHANNELS))
}

#[cfg(test)]
mod tests {
    use candle_nn::loss::cross_entropy;

    use super::*;
    use crate::random::Purpose;

    #[test]
    fn every_variable_gets_a_gradient() -> Result<()> {
        let model = Model::new(1, &Device::Cpu)?;
        let batch = Batch::make(1, Purpose::Training, 0, 8, &Device::Cpu)?;
        let loss = cross_entropy(&model.answers(&batch)?, &batch.answers)?;
        let gradients = loss.backward()?;
        for (name, variable) in model.parameters().iter() {
            let gradient = gradients.get(variable).unwrap_or_else(|| panic!("{name}"));
            let size = gradient.sqr()?.sum_all()?.to_scalar::<f32>()?.sqrt();
            assert!(size > 1e-5, "the gradient of {name} is only {size}");
        }
        Ok(())
    }

    #[test]
    fn a_patch_is_a_square_of_the_picture() -> Result<()> {
        // A picture whose numbers say where they are: row, column, channel.
        let places: Vec<f32> = (0..SIDE * SIDE * CHANNELS)
            .map(|i| (i / (SIDE * CHANNELS) * SIDE + i / CHANNELS % SIDE) as f32)
            .collect();
        let picture = Tensor::from_vec(places, (1, SIDE, SIDE, CHANNELS), &Device::Cpu)?;
        let patches = cut_into_patches(&picture)?.squeeze(0)?.to_vec2::<f32>()?;
        let place = |number: f32| (number / 2.0 + 0.5) as usize;
        for (index, patch) in patches.iter().enumerate() {
            for number in patch {
                let (row, column) = (place(*number) / SIDE, place(*number) % SIDE);
                assert_eq!(row / PATCH * ACROSS + column / PATCH, index);
            }
        }
        Ok(())
    }

    #[test]
    fn the_same_seed_begins_the_same() -> Result<()> {
        let head = |seed| -> Result<Vec<f32>> {
            let model = Model::new(seed, &Device::Cpu)?;
            model.head.weight().flatten_all()?.to_vec1()
        };
        assert_eq!(head(1)?, head(1)?);
        assert_ne!(head(1)?, head(2)?);
        Ok(())
    }
}
