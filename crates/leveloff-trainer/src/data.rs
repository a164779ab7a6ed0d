//! What is learned: questions about pictures, made from a seed.
//!
//! A picture has a colour in each quarter, all four different; the text asks for the colour of one
//! quarter. The picture alone leaves four answers, the text alone leaves the colour open: either way,
//! a guess is right once in four times.

use candle_core::{Device, Result, Tensor};

use crate::random::{Purpose, Random};

/// Height and width of a picture.
pub const SIDE: usize = 32;
/// Red, green and blue.
pub const CHANNELS: usize = 3;
/// Words in a question.
pub const WORDS: usize = 6;
/// Different words.
pub const VOCABULARY: usize = 16;
/// Different answers: a colour each.
pub const ANSWERS: usize = 4;
/// Numbers in a picture.
const PICTURE: usize = SIDE * SIDE * CHANNELS;

/// Red, green, blue and yellow.
const COLOURS: [[f32; CHANNELS]; ANSWERS] = [
    [0.9, 0.1, 0.1],
    [0.1, 0.8, 0.2],
    [0.1, 0.2, 0.9],
    [0.9, 0.8, 0.1],
];

/// How far a pixel strays from its colour: the colour stays plain, and no two pictures are equal.
const NOISE: f32 = 0.15;

/// The words 0 to 3 name a quarter. Different ways of asking use different others of the rest.
const WAYS_OF_ASKING: [[usize; WORDS - 1]; 4] = [
    [4, 5, 6, 7, 8],
    [9, 5, 6, 10, 8],
    [11, 12, 7, 5, 13],
    [14, 8, 4, 15, 5],
];

/// Questions with their pictures and answers, as tensors.
#[derive(Debug, Clone)]
pub struct Batch {
    /// Size × height × width × channels, from zero to one.
    pub pictures: Tensor,
    /// Size × words.
    pub texts: Tensor,
    /// Size.
    pub answers: Tensor,
}

impl Batch {
    /// How many tensors it has.
    pub const TENSORS: u64 = 3;

    /// Number `number` of those for `purpose`: a function of its arguments and of nothing else.
    pub fn make(
        seed: u64,
        purpose: Purpose,
        number: u64,
        size: usize,
        device: &Device,
    ) -> Result<Batch> {
        let mut random = Random::new(seed, purpose, number);
        let mut pictures = Vec::with_capacity(size * PICTURE);
        let mut texts = Vec::with_capacity(size * WORDS);
        let mut answers = Vec::with_capacity(size);
        for _ in 0..size {
            let example = Example::make(&mut random);
            example.paint(&mut random, &mut pictures);
            texts.extend(example.text.map(|word| word as u32));
            answers.push(example.answer() as u32);
        }
        Ok(Batch {
            pictures: Tensor::from_vec(pictures, (size, SIDE, SIDE, CHANNELS), device)?,
            texts: Tensor::from_vec(texts, (size, WORDS), device)?,
            answers: Tensor::from_vec(answers, size, device)?,
        })
    }

    /// How many bytes its tensors have.
    pub fn bytes(&self) -> u64 {
        [&self.pictures, &self.texts, &self.answers]
            .map(bytes)
            .iter()
            .sum()
    }
}

/// How many bytes a tensor has.
pub fn bytes(tensor: &Tensor) -> u64 {
    (tensor.elem_count() * tensor.dtype().size_in_bytes()) as u64
}

/// A picture to be painted, and a question about it.
struct Example {
    /// The colour of each quarter.
    colours: [usize; ANSWERS],
    /// The quarter in question.
    quarter: usize,
    /// The question.
    text: [usize; WORDS],
}

impl Example {
    fn make(random: &mut Random) -> Example {
        let mut colours = [0, 1, 2, 3];
        random.shuffle(&mut colours);
        let quarter = random.below(ANSWERS);
        let way = WAYS_OF_ASKING[random.below(WAYS_OF_ASKING.len())];
        let mut text = [quarter; WORDS];
        text[..WORDS - 1].copy_from_slice(&way);
        Example {
            colours,
            quarter,
            text,
        }
    }

    fn answer(&self) -> usize {
        self.colours[self.quarter]
    }

    fn paint(&self, random: &mut Random, pixels: &mut Vec<f32>) {
        for y in 0..SIDE {
            for x in 0..SIDE {
                let quarter = 2 * (y / (SIDE / 2)) + x / (SIDE / 2);
                for level in COLOURS[self.colours[quarter]] {
                    pixels.push((level + random.between(-NOISE, NOISE)).clamp(0.0, 1.0));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANY: usize = 4000;

    #[test]
    fn a_batch_depends_on_its_number_and_not_on_those_before() -> Result<()> {
        let make = |number| Batch::make(5, Purpose::Training, number, 2, &Device::Cpu);
        let pixels = |batch: Batch| batch.pictures.flatten_all()?.to_vec1::<f32>();
        let third = pixels(make(3)?)?;
        make(1)?;
        assert_eq!(third, pixels(make(3)?)?);
        assert_ne!(third, pixels(make(4)?)?);
        assert_eq!(make(0)?.bytes(), 2 * (3072 * 4 + 6 * 4 + 4));
        Ok(())
    }

    /// The most that can be right when only `seen` of an example is known: the most frequent answer
    /// to each thing seen.
    fn best_guess(seen: impl Fn(&Example) -> usize) -> f64 {
        let mut random = Random::new(1, Purpose::Training, 0);
        let mut answers = vec![[0_usize; ANSWERS]; 4 * 4 * 4 * 4 * 4];
        for _ in 0..MANY {
            let example = Example::make(&mut random);
            answers[seen(&example)][example.answer()] += 1;
        }
        let right: usize = answers.iter().filter_map(|a| a.iter().max()).sum();
        right as f64 / MANY as f64
    }

    #[test]
    fn neither_the_picture_nor_the_text_alone_tells_the_answer() {
        let picture = |e: &Example| e.colours.iter().fold(0, |code, colour| code * 4 + colour);
        let text = |e: &Example| e.quarter;
        let both = |e: &Example| picture(e) * 4 + text(e);
        // A little above one in four: with so many pictures, some answers are more frequent by luck.
        assert!(best_guess(picture) < 0.32, "{}", best_guess(picture));
        assert!(best_guess(text) < 0.29, "{}", best_guess(text));
        assert_eq!(best_guess(both), 1.0);
    }
}
