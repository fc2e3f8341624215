use mcp_core::Refusal;

use crate::bad_tools::BadPlaces;

/// What is decided about something that was about to pass.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Verdict {
    /// Its line in the recording; 0 if that is not known.
    pub line: u64,
    /// Why it does not pass as it is; empty if it does. Each rejected entry of a batch has its own.
    pub refusals: Vec<Refusal>,
    /// The tools without which rejected lists of tools may pass.
    pub(crate) bad_tools: BadPlaces,
}

impl Verdict {
    /// It does not pass, for one reason.
    pub(crate) fn refusing(refusal: Refusal) -> Verdict {
        Verdict { refusals: vec![refusal], ..Verdict::default() }
    }

    /// Whether it passes as it is.
    pub fn passes(&self) -> bool {
        self.refusals.is_empty()
    }
}
