use mcp_core::Revision;

use crate::{Discovery, Failure, Outcome, Phase, Probe, client::ClientOverview};

/// An event during a run.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// Discovery of the server is complete.
    Discovered(&'a Discovery),
    /// Discovery of the client is complete.
    ClientDiscovered(&'a ClientOverview),
    /// A phase begins.
    PhaseStarted {
        /// The phase.
        phase: Phase,
        /// Number of probe runs in it.
        probes: usize,
    },
    /// A probe begins.
    ProbeStarted {
        /// The probe.
        probe: &'a Probe,
        /// The revision.
        revision: Revision,
    },
    /// A probe has ended.
    ProbeFinished {
        /// The probe.
        probe: &'a Probe,
        /// The revision.
        revision: Revision,
        /// The outcome.
        outcome: &'a Outcome,
        /// The failures.
        failures: &'a [Failure],
    },
    /// The server has died or hangs; the next probe gets a new one.
    Restarted {
        /// The reason.
        reason: &'a str,
    },
    /// A tool is not called.
    Skipped {
        /// The name of the tool.
        what: &'a str,
        /// The reason.
        reason: &'a str,
        /// The flag that would include it; empty if there is none.
        flag: &'a str,
    },
}

/// Receives the events of a run.
pub trait Reporter: Send {
    /// Called for each event, in order.
    fn event(&mut self, event: &Event<'_>);
}

impl<F: FnMut(&Event<'_>) + Send> Reporter for F {
    fn event(&mut self, event: &Event<'_>) {
        self(event);
    }
}
