//! Random numbers, the same on every machine (SplitMix64).

pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Random {
        Random(seed ^ 0x6A09_E667_F3BC_C908)
    }

    /// A number from 0 to n − 1; 0 if n is 0.
    pub(super) fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^= z >> 31;
        // The upper half of the product is as uniform as the number itself, and needs no division.
        ((u128::from(z) * n as u128) >> 64) as usize
    }
}
