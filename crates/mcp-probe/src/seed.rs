//! Reproducible random numbers.

use std::{fmt, num::ParseIntError, str::FromStr};

/// The seed of all random choices of a run, which use `SplitMix64`. Every probe has its own stream,
/// so that skipping some changes nothing for the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Seed(u64);

impl Seed {
    /// The name of the algorithm, to be shown beside the seed.
    pub const ALGORITHM: &'static str = "splitmix64";

    /// A seed with this value.
    pub const fn new(seed: u64) -> Seed {
        Seed(seed)
    }

    /// The number itself.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The stream with this name, which depends only on the seed and the name.
    pub fn stream(self, name: &str) -> Random {
        let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        let name = name.bytes().fold(0xcbf2_9ce4_8422_2325, mix);
        let mut random = Random { state: self.0 ^ name };
        // Mix, so that similar seeds do not give similar streams.
        random.state = random.next_u64();
        random
    }
}

impl fmt::Display for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for Seed {
    type Err = ParseIntError;

    fn from_str(text: &str) -> Result<Seed, ParseIntError> {
        text.parse().map(Seed)
    }
}

/// A stream of random numbers.
#[derive(Debug, Clone)]
pub struct Random {
    state: u64,
}

impl Random {
    /// The next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.state;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// A number below `bound`; 0 if that is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        // The bias is far below anything that matters here.
        let product = u128::from(self.next_u64()) * u128::from(bound);
        u64::try_from(product >> 64).unwrap_or_default()
    }

    /// An index into something with `length` elements.
    pub fn index(&mut self, length: usize) -> usize {
        usize::try_from(self.below(length as u64)).unwrap_or_default()
    }

    /// One of `choices`; `None` if it is empty.
    pub fn choose<'c, T>(&mut self, choices: &'c [T]) -> Option<&'c T> {
        choices.get(self.index(choices.len()))
    }

    /// True with a probability of one in `n`.
    pub fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_and_name_give_the_same_stream() {
        let draw = |seed, name| {
            let mut random = Seed::new(seed).stream(name);
            [random.next_u64(), random.next_u64()]
        };
        assert_eq!(draw(7, "tools/echo"), draw(7, "tools/echo"));
        assert_ne!(draw(7, "tools/echo"), draw(8, "tools/echo"));
        assert_ne!(draw(7, "tools/echo"), draw(7, "tools/add"));
    }

    #[test]
    fn numbers_stay_below_their_bound() {
        let mut random = Seed::new(1).stream("x");
        assert!((0..1000).all(|_| random.below(7) < 7));
        assert_eq!(random.below(0), 0);
        assert_eq!(random.choose::<u8>(&[]), None);
        let drawn: std::collections::BTreeSet<_> = (0..200).map(|_| random.index(5)).collect();
        assert_eq!(drawn.len(), 5);
    }
}
