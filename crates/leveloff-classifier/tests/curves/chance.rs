//! Noise that is the same in every run of the tests.

/// SplitMix64 (Steele and others, 2014).
pub struct Chance(u64);

impl Chance {
    /// Two seeds that are near each other give noise that has nothing in common.
    pub fn new(seed: u64) -> Chance {
        Chance(seed << 32)
    }

    /// Between zero and one, never either.
    pub fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^= mixed >> 31;
        ((mixed >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    /// Around zero with standard deviation one (Box and Muller, 1958).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.uniform().ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }
}
