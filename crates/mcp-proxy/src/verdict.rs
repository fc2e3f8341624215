use mcp_core::Refusal;

use crate::bad_tools::BadPlaces;

/// The decision about an observation under enforcement.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Verdict {
    /// Its line in the recording; 0 if unknown.
    pub line: u64,
    /// The reasons for holding it back, one for each rejected entry of a batch; empty if it passes
    /// unchanged.
    pub refusals: Vec<Refusal>,
    /// The tools to remove so that rejected lists of tools may pass.
    pub(crate) bad_tools: BadPlaces,
}

impl Verdict {
    /// Holds it back for a single reason.
    pub(crate) fn refusing(refusal: Refusal) -> Verdict {
        Verdict { refusals: vec![refusal], ..Verdict::default() }
    }

    /// Whether it passes unchanged.
    pub fn passes(&self) -> bool {
        self.refusals.is_empty()
    }
}
