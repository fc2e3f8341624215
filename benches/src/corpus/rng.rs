//! Pseudo-random numbers that are the same on every run and machine.

/// `SplitMix64`: one multiplication chain, no state but a counter.
#[derive(Debug, Clone)]
pub struct Rng(u64);

impl Rng {
    /// Creates a generator; equal seeds give equal corpora.
    pub fn new(seed: u64) -> Rng {
        Rng(seed)
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number in `0..end`; `end` must not be 0.
    pub fn below(&mut self, end: usize) -> usize {
        let end = u64::try_from(end).unwrap_or(u64::MAX);
        usize::try_from(self.bits() % end).unwrap_or(0)
    }

    /// A number in `first..=last`.
    pub fn between(&mut self, first: usize, last: usize) -> usize {
        first + self.below(last - first + 1)
    }

    /// Like [`between`](Rng::between), for numbers in messages.
    pub fn integer(&mut self, first: i64, last: i64) -> i64 {
        let width = last.abs_diff(first).saturating_add(1);
        first.saturating_add_unsigned(self.bits() % width)
    }

    /// `true` in `percent` of a hundred cases.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of `choices`, which must not be empty.
    pub fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    /// A reference to one of `choices`, which must not be empty.
    pub fn pick_from<'a, T>(&mut self, choices: &'a [T]) -> &'a T {
        &choices[self.below(choices.len())]
    }

    /// One of `choices`, weighted by the numbers beside them.
    pub fn weighted<T: Copy>(&mut self, choices: &[(usize, T)]) -> T {
        let total: usize = choices.iter().map(|(weight, _)| weight).sum();
        let mut left = self.below(total);
        for &(weight, choice) in choices {
            if left < weight {
                return choice;
            }
            left -= weight;
        }
        unreachable!("`left` starts below the sum of the weights")
    }
}

#[cfg(test)]
mod tests {
    use super::Rng;

    #[test]
    fn equal_seeds_give_equal_numbers() {
        let (mut one, mut other) = (Rng::new(7), Rng::new(7));
        assert!((0..100).all(|_| one.bits() == other.bits()));
    }

    #[test]
    fn weights_are_proportions() {
        let mut rng = Rng::new(1);
        let heavy = (0..10_000).filter(|_| rng.weighted(&[(9, true), (1, false)])).count();
        assert!((8_700..9_300).contains(&heavy), "{heavy}");
    }
}
