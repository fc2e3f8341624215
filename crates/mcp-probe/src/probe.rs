//! What a probe is.

use std::{
    borrow::Cow, collections::BTreeMap, fmt, future::Future, pin::Pin, str::FromStr, sync::Arc,
};

use mcp_core::{Revision, Revisions};

use crate::{Stage, Trouble, wire::WireKind};

/// One question to the server, under a name by which it can be repeated.
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_structs, reason = "probes are written as literals")]
pub struct Probe {
    /// Stable; lower case, with `/` between the phase's subject and the rest: `ids/negative`.
    pub name: Cow<'static, str>,
    /// The phase it belongs to.
    pub phase: Phase,
    /// What it finds out, as one line without a full stop.
    pub about: Cow<'static, str>,
    /// The revisions at which it makes sense.
    pub revisions: Revisions,
    /// The transports over which it does.
    pub wires: &'static [WireKind],
    /// What the server must offer.
    pub needs: Needs,
    /// Whether it runs at every revision that the server speaks rather than at the newest of each
    /// era.
    pub everywhere: bool,
    /// What it does.
    pub steps: Steps,
    /// What it would send, for a dry run; empty if that is what the description says.
    pub preview: Vec<String>,
    /// The same at revisions at which it is something else.
    pub preview_at: BTreeMap<Revision, Vec<String>>,
}

impl Probe {
    /// What it would send at a revision.
    pub fn preview(&self, revision: Revision) -> &[String] {
        self.preview_at.get(&revision).unwrap_or(&self.preview)
    }
}

/// What a probe needs of the server, else it is skipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Needs {
    /// Nothing.
    Nothing,
    /// This capability, as a pointer into the declared ones: `/resources/subscribe`.
    Capability(&'static str),
    /// A tool that may be called.
    Tool,
    /// Something to page through.
    Lists,
}

/// The phases, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::exhaustive_enums, reason = "these are the phases there are")]
pub enum Phase {
    /// Handshake, envelopes, ids, transports.
    Protocol,
    /// Every tool, prompt and resource, with values from its schema.
    Tools,
    /// Walks through everything that is offered.
    Stateful,
}

impl Phase {
    /// All, in order.
    pub const ALL: [Phase; 3] = [Phase::Protocol, Phase::Tools, Phase::Stateful];

    /// Its name on the command line.
    pub const fn as_str(self) -> &'static str {
        match self {
            Phase::Protocol => "protocol",
            Phase::Tools => "tools",
            Phase::Stateful => "stateful",
        }
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for Phase {
    type Err = String;

    fn from_str(text: &str) -> Result<Phase, String> {
        Phase::ALL
            .into_iter()
            .find(|phase| phase.as_str() == text)
            .ok_or_else(|| format!("`{text}` is not a phase: protocol, tools, stateful"))
    }
}

/// What running a probe returns.
pub type StepsFuture<'s> = Pin<Box<dyn Future<Output = Result<(), Stop>> + Send + 's>>;

/// What a probe does with its stage. Failures go to [`Stage::fail`]; an `Err` ends the probe.
#[derive(Clone)]
#[expect(clippy::exhaustive_enums, reason = "known before the run, or made from what was found")]
pub enum Steps {
    /// The same for every server.
    Fixed(for<'s> fn(&'s mut Stage) -> StepsFuture<'s>),
    /// Made for this server.
    Made(Arc<dyn for<'s> Fn(&'s mut Stage) -> StepsFuture<'s> + Send + Sync>),
}

impl Steps {
    /// Runs the steps.
    pub fn run<'s>(&self, stage: &'s mut Stage) -> StepsFuture<'s> {
        match self {
            Steps::Fixed(steps) => steps(stage),
            Steps::Made(steps) => steps(stage),
        }
    }
}

impl fmt::Debug for Steps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Steps")
    }
}

/// Why a probe ends before its last step.
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_enums, reason = "these are the ways to end")]
pub enum Stop {
    /// It does not apply, for this reason.
    Skip(String),
    /// The server did not do its part; reported as a failure.
    Trouble(Trouble),
}

impl From<Trouble> for Stop {
    fn from(trouble: Trouble) -> Stop {
        Stop::Trouble(trouble)
    }
}

/// How a probe ended.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "these are the ways to end")]
pub enum Outcome {
    /// As expected.
    Passed,
    /// With failures.
    Failed,
    /// Not run, or not to its end, for this reason.
    Skipped(String),
    /// Not run, since this is a dry run.
    Planned,
}
