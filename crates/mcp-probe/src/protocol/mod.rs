//! The phase `protocol`: probes for every server, whatever it offers.

/// Defines the steps of a probe.
macro_rules! steps {
    ($(#[$doc:meta])* $name:ident, $stage:ident => $body:block) => {
        $(#[$doc])*
        fn $name($stage: &mut crate::Stage) -> crate::StepsFuture<'_> {
            Box::pin(async move {
                $body
                Ok(())
            })
        }
    };
}

mod calls;
mod codes;
mod features;
mod framing;
mod handshake;
mod http;
mod ids;
mod listen;
mod lists;
mod load;
mod requests;

use std::{borrow::Cow, collections::BTreeMap};

use mcp_core::Revisions;

pub(crate) use self::{http::SESSIONS, listen::changes};
use crate::{Needs, Phase, Probe, Stage, Steps, StepsFuture, Stop, WireKind};

/// The probes, in order.
pub(crate) fn probes() -> Vec<Probe> {
    let groups = [
        handshake::PROBES,
        ids::PROBES,
        requests::PROBES,
        framing::PROBES,
        lists::PROBES,
        features::PROBES,
        listen::PROBES,
        calls::PROBES,
        http::PROBES,
        http::sessions::PROBES,
        http::streams::PROBES,
        load::PROBES,
    ];
    groups.into_iter().flatten().cloned().collect()
}

/// The pseudo-probe under which findings of discovery are reported.
pub(crate) fn discovery() -> Probe {
    probe("discover", "the server states what it offers", nothing)
}

/// The pseudo-probe under which differences from a lock are reported.
pub(crate) fn locked() -> Probe {
    probe("lock", "the server offers what was locked", nothing)
}

/// The pseudo-probe under which findings at the end of shared conversations are reported.
pub(crate) fn ending() -> Probe {
    probe("end", "shared conversations end cleanly", nothing)
}

fn nothing(_stage: &mut Stage) -> StepsFuture<'_> {
    Box::pin(async { Ok::<(), Stop>(()) })
}

/// A probe for all revisions and transports, without requirements.
const fn probe(
    name: &'static str,
    about: &'static str,
    steps: for<'s> fn(&'s mut Stage) -> StepsFuture<'s>,
) -> Probe {
    Probe {
        name: Cow::Borrowed(name),
        phase: Phase::Protocol,
        about: Cow::Borrowed(about),
        revisions: Revisions::ALL,
        wires: WireKind::ALL,
        needs: Needs::Nothing,
        everywhere: false,
        steps: Steps::Fixed(steps),
        preview: Vec::new(),
        preview_at: BTreeMap::new(),
    }
}

impl Probe {
    const fn at(mut self, revisions: Revisions) -> Probe {
        self.revisions = revisions;
        self
    }

    const fn over(mut self, wires: &'static [WireKind]) -> Probe {
        self.wires = wires;
        self
    }

    const fn needing(mut self, capability: &'static str) -> Probe {
        self.needs = Needs::Capability(capability);
        self
    }

    const fn everywhere(mut self) -> Probe {
        self.everywhere = true;
        self
    }
}
