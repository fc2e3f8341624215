use mcp_core::Revision;

use crate::{Failure, Found, Outcome, Phase, Probe, client::Acquaintance};

/// What happens during a run.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// What the server offers is known.
    Discovered(&'a Found),
    /// What the client does when nothing is unusual is known.
    Met(&'a Acquaintance),
    /// A phase begins, with this many probes.
    PhaseStarted {
        /// Which.
        phase: Phase,
        /// How many runs of probes.
        probes: usize,
    },
    /// A probe begins.
    ProbeStarted {
        /// Which.
        probe: &'a Probe,
        /// At which revision.
        revision: Revision,
    },
    /// A probe has ended.
    ProbeFinished {
        /// Which.
        probe: &'a Probe,
        /// At which revision.
        revision: Revision,
        /// How.
        outcome: &'a Outcome,
        /// What was wrong.
        failures: &'a [Failure],
    },
    /// The server has died or hangs, and the next probe gets a new one.
    Restarted {
        /// Why.
        reason: &'a str,
    },
    /// Something is left out.
    LeftOut {
        /// What.
        what: &'a str,
        /// Why.
        reason: &'a str,
        /// The flag that would include it, or nothing.
        flag: &'a str,
    },
}

/// Hears what happens during a run.
pub trait Reporter: Send {
    /// Called for each event, in order.
    fn event(&mut self, event: &Event<'_>);
}

impl<F: FnMut(&Event<'_>) + Send> Reporter for F {
    fn event(&mut self, event: &Event<'_>) {
        self(event);
    }
}
