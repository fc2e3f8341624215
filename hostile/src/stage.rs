use std::path::PathBuf;

/// What every attack is given.
pub(crate) struct Stage {
    /// Where the programs are.
    pub(crate) folder: PathBuf,
    /// Whether the attacks should be short.
    pub(crate) quick: bool,
}

impl Stage {
    /// How often something is done, at full length and in short.
    pub(crate) fn times(&self, full: usize, quick: usize) -> usize {
        if self.quick { quick } else { full }
    }

    /// A text just below the default limit of a message, or a shorter one.
    pub(crate) fn big(&self) -> String {
        "x".repeat(self.times(15 << 20, 4 << 20))
    }
}
