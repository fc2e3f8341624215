use std::sync::Arc;

use mcp_core::Revision;

use crate::{Failure, Found, Outcome, Phase, Recording, Seed};

/// What a run has shown.
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "whoever reports it needs everything")]
pub struct Report {
    /// What random choices followed from.
    pub seed: Seed,
    /// What the server offers.
    pub found: Found,
    /// Every probe that was chosen, in order.
    pub results: Vec<ProbeResult>,
    /// Every conversation, in order.
    pub recordings: Vec<Arc<Recording>>,
    /// How often a server had to be started again.
    pub restarts: usize,
    /// Whether the time was up before the end.
    pub out_of_time: bool,
    /// What was to be run, but is the name of no probe.
    pub unknown: Vec<String>,
}

/// How one probe went at one revision.
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_structs, reason = "whoever reports it needs everything")]
pub struct ProbeResult {
    /// The probe's name.
    pub name: String,
    /// Its phase.
    pub phase: Phase,
    /// The revision it ran at.
    pub revision: Revision,
    /// How it ended.
    pub outcome: Outcome,
    /// What was wrong.
    pub failures: Vec<Failure>,
}

impl Report {
    /// Every failure, in order.
    pub fn failures(&self) -> impl Iterator<Item = &Failure> {
        self.results.iter().flat_map(|result| &result.failures)
    }
}
