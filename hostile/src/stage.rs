use std::path::PathBuf;

/// The environment of an attack.
pub(crate) struct Stage {
    /// The folder with the programs.
    pub(crate) folder: PathBuf,
    /// Whether the attacks should be short.
    pub(crate) quick: bool,
}

impl Stage {
    /// The number of repetitions, for full and quick runs.
    pub(crate) fn times(&self, full: usize, quick: usize) -> usize {
        if self.quick { quick } else { full }
    }

    /// A text just below the default message limit, or a shorter one in quick runs.
    pub(crate) fn big(&self) -> String {
        "x".repeat(self.times(15 << 20, 4 << 20))
    }
}
