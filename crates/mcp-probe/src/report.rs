use std::sync::Arc;

use mcp_core::Revision;

use crate::{Discovery, Failure, Outcome, Phase, Recording, Seed};

/// The results of a run.
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "whoever reports it needs everything")]
pub struct Report {
    /// The seed of random choices.
    pub seed: Seed,
    /// What the server offers.
    pub found: Discovery,
    /// The results of all chosen probes, in order.
    pub results: Vec<ProbeResult>,
    /// The recordings of all conversations, in order.
    pub recordings: Vec<Arc<Recording>>,
    /// Number of times the server had to be started again.
    pub restarts: usize,
    /// Whether the time limit was reached.
    pub out_of_time: bool,
    /// Names given to run that match no probe.
    pub unknown: Vec<String>,
}

/// The result of one probe at one revision.
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_structs, reason = "whoever reports it needs everything")]
pub struct ProbeResult {
    /// The probe's name.
    pub name: String,
    /// Its phase.
    pub phase: Phase,
    /// The revision it ran at.
    pub revision: Revision,
    /// The outcome.
    pub outcome: Outcome,
    /// The failures.
    pub failures: Vec<Failure>,
}

impl Report {
    /// All failures, in order.
    pub fn failures(&self) -> impl Iterator<Item = &Failure> {
        self.results.iter().flat_map(|result| &result.failures)
    }
}
