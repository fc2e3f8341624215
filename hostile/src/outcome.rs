use std::fmt;

/// The outcome of an attack.
#[derive(Default)]
pub(crate) struct Outcome {
    checks: Vec<Check>,
}

struct Check {
    is_good: bool,
    text: String,
}

impl Outcome {
    pub(crate) fn new() -> Outcome {
        Outcome::default()
    }

    /// Checks that peak memory is at most `budget` MB.
    pub(crate) fn memory(self, peak: u64, budget: u64) -> Outcome {
        self.check(peak <= budget, format!("{peak} of {budget} MB"))
    }

    /// Checks that well-behaved clients got at least `wanted` answers in time.
    pub(crate) fn answers(self, got: usize, wanted: usize) -> Outcome {
        self.check(got >= wanted, format!("{got} answers to others, {wanted} wanted"))
    }

    /// Adds a condition that must hold.
    pub(crate) fn check(mut self, is_good: bool, text: impl Into<String>) -> Outcome {
        self.checks.push(Check { is_good, text: text.into() });
        self
    }

    pub(crate) fn is_good(&self) -> bool {
        self.checks.iter().all(|check| check.is_good)
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, check) in self.checks.iter().enumerate() {
            let separator = if index == 0 { "" } else { "; " };
            let mark = if check.is_good { "" } else { "NOT " };
            write!(f, "{separator}{mark}{}", check.text)?;
        }
        Ok(())
    }
}
