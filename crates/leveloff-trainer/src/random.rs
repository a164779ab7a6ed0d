//! Random numbers that are the same each time, on every machine.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

/// What the numbers are for. Each purpose has its own, so that one more of these changes no other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Where parameters begin.
    Parameters,
    /// What is trained on.
    Training,
    /// What is kept back for evaluations.
    HeldOut,
}

/// A source of numbers.
#[derive(Debug)]
pub struct Random(ChaCha8Rng);

impl Random {
    /// The `number`th source of this seed for this purpose. To get it, none before it has to be
    /// made: that is what lets a resumed run go on with the batch that it would have had.
    pub fn new(seed: u64, purpose: Purpose, number: u64) -> Random {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        key[8] = purpose as u8;
        let mut generator = ChaCha8Rng::from_seed(key);
        generator.set_stream(number);
        Random(generator)
    }

    /// At least zero and below one.
    pub fn unit(&mut self) -> f32 {
        // As many bits as an f32 holds exactly, so that rounding never gives one.
        (self.0.next_u32() >> 8) as f32 / (1 << 24) as f32
    }

    /// At least `low` and below `high`.
    pub fn between(&mut self, low: f32, high: f32) -> f32 {
        low + (high - low) * self.unit()
    }

    /// One of `0..count`, for a small count.
    pub fn below(&mut self, count: usize) -> usize {
        (self.unit() * count as f32) as usize
    }

    /// Puts things in a random order.
    pub fn shuffle<T>(&mut self, things: &mut [T]) {
        for last in (1..things.len()).rev() {
            things.swap(last, self.below(last + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(seed: u64, purpose: Purpose, number: u64) -> Vec<f32> {
        let mut random = Random::new(seed, purpose, number);
        (0..8).map(|_| random.unit()).collect()
    }

    #[test]
    fn the_same_source_says_the_same_and_every_other_differs() {
        let one = first(1, Purpose::Training, 7);
        assert_eq!(one, first(1, Purpose::Training, 7));
        assert_ne!(one, first(2, Purpose::Training, 7));
        assert_ne!(one, first(1, Purpose::HeldOut, 7));
        assert_ne!(one, first(1, Purpose::Training, 8));
    }

    #[test]
    fn orders_are_all_met_about_equally_often() {
        let mut random = Random::new(3, Purpose::Training, 0);
        let mut firsts = [0; 4];
        for _ in 0..4000 {
            let mut order = [0, 1, 2, 3];
            random.shuffle(&mut order);
            firsts[order[0]] += 1;
        }
        assert!(
            firsts.iter().all(|&n| (850..1150).contains(&n)),
            "{firsts:?}"
        );
    }
}
