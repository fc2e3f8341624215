//! Probes: the unit of a test.

use std::{
    borrow::Cow, collections::BTreeMap, fmt, future::Future, pin::Pin, str::FromStr, sync::Arc,
};

use mcp_core::{Revision, Revisions};

use crate::{ConversationError, Stage, wire::WireKind};

/// A single test, with a name by which it can be repeated.
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_structs, reason = "probes are written as literals")]
pub struct Probe {
    /// A stable name in lower case, with `/` between the group and the rest: `ids/negative`.
    pub name: Cow<'static, str>,
    /// The phase it belongs to.
    pub phase: Phase,
    /// The expected behaviour, as one line without a full stop.
    pub about: Cow<'static, str>,
    /// The revisions that it applies to.
    pub revisions: Revisions,
    /// The transports that it applies to.
    pub wires: &'static [WireKind],
    /// What the server must offer for it to run.
    pub needs: Needs,
    /// Whether it runs at every revision that the server speaks rather than at the newest of each
    /// era.
    pub everywhere: bool,
    /// The steps to run.
    pub steps: Steps,
    /// The messages it would send, for a dry run; empty if the description says enough.
    pub preview: Vec<String>,
    /// The messages at revisions where they differ.
    pub preview_at: BTreeMap<Revision, Vec<String>>,
}

impl Probe {
    /// The messages it would send at a revision.
    pub fn preview(&self, revision: Revision) -> &[String] {
        self.preview_at.get(&revision).unwrap_or(&self.preview)
    }
}

/// What a server must offer for a probe to run; otherwise the probe is skipped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Needs {
    /// Nothing.
    Nothing,
    /// This capability, as a pointer: `/resources/subscribe`.
    Capability(&'static str),
    /// A tool that may be called.
    Tool,
    /// At least one list.
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
    /// Random walks through everything that is offered.
    Stateful,
}

impl Phase {
    /// All phases, in order.
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
            .ok_or_else(|| format!("`{text}` is not a phase; use protocol, tools or stateful"))
    }
}

/// The future of running a probe.
pub type StepsFuture<'s> = Pin<Box<dyn Future<Output = Result<(), Stop>> + Send + 's>>;

/// The steps of a probe. Failures are reported with [`Stage::fail`]; an `Err` ends the probe.
#[derive(Clone)]
#[expect(clippy::exhaustive_enums, reason = "known before the run, or made from what was found")]
pub enum Steps {
    /// The same steps for every server.
    Fixed(for<'s> fn(&'s mut Stage) -> StepsFuture<'s>),
    /// Steps generated for this server.
    Generated(Arc<dyn for<'s> Fn(&'s mut Stage) -> StepsFuture<'s> + Send + Sync>),
}

impl Steps {
    /// Runs the steps.
    pub fn run<'s>(&self, stage: &'s mut Stage) -> StepsFuture<'s> {
        match self {
            Steps::Fixed(steps) => steps(stage),
            Steps::Generated(steps) => steps(stage),
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
    /// The probe does not apply, for this reason.
    Skip(String),
    /// The conversation failed, which is reported as a failure.
    Failed(ConversationError),
}

impl From<ConversationError> for Stop {
    fn from(error: ConversationError) -> Stop {
        Stop::Failed(error)
    }
}

/// How a probe ended.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "these are the ways to end")]
pub enum Outcome {
    /// The server behaved as expected.
    Passed,
    /// The probe reported failures.
    Failed,
    /// Not run, or not completed, for this reason.
    Skipped(String),
    /// Not run, since this is a dry run.
    Planned,
}
