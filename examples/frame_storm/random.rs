//! Random numbers that are the same for a seed on every machine: the generator SplitMix64.
//!
//! Not for secrets.

/// A stream of numbers.
#[derive(Debug, Clone)]
pub(crate) struct Random {
    state: u64,
}

const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The stream number `number` of a seed; streams have nothing in common that shows.
    pub(crate) fn stream(seed: u64, number: u64) -> Self {
        let mut random = Self::new(seed ^ number.wrapping_mul(STEP).rotate_left(17));
        Self::new(random.next())
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(STEP);
        let mixed = (self.state ^ (self.state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// From 0 to below `n`, which is above 0. Not quite even, by less than `n` in 2^64.
    pub(crate) fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.next()) * n as u128) >> 64) as usize
    }

    /// From 0 to below 1.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// From `low` to below `high`.
    pub(crate) fn between(&mut self, low: f64, high: f64) -> f64 {
        low + self.unit() * (high - low)
    }

    /// Whether something happens that does so in a part `share` of all cases.
    pub(crate) fn chance(&mut self, share: f64) -> bool {
        self.unit() < share
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_numbers() {
        // The published first numbers of SplitMix64 for this seed.
        let mut random = Random::new(1_234_567);
        let numbers = [random.next(), random.next(), random.next()];
        assert_eq!(
            numbers,
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]
        );
    }

    #[test]
    fn ranges_are_kept_and_filled() {
        let mut random = Random::new(5);
        let mut seen = [0; 6];
        for _ in 0..600 {
            seen[random.below(6)] += 1;
            assert!((2.0..3.0).contains(&random.between(2.0, 3.0)));
        }
        assert!(seen.iter().all(|&count| count > 60), "{seen:?}");
    }

    #[test]
    fn streams_differ() {
        let first = |seed, number| Random::stream(seed, number).next();
        let firsts = [first(1, 0), first(1, 1), first(2, 0), first(2, 1)];
        let mut distinct = firsts.to_vec();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), 4, "{firsts:?}");
        assert_eq!(first(1, 1), firsts[1]);
    }
}
