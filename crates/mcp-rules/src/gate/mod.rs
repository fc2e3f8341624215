//! The gate for live traffic: follows one conversation and judges every message.

mod http;
#[cfg(test)]
mod http_client_tests;
#[cfg(test)]
mod http_tests;
mod judgement;
mod refusal;
#[cfg(test)]
mod tests;

use std::{fmt, sync::Arc};

use mcp_core::{Revision, Side};
use mcp_json::{Node, Parsed, SyntaxError};
use mcp_jsonrpc::{Gate, Verdict};
use serde::{Deserialize, Serialize};

pub use self::{
    http::{HttpGate, HttpTap, HttpVerdict},
    judgement::{Identity, Judgement},
};
pub(crate) use self::{
    judgement::identities,
    refusal::{Kinds, refuse},
};
use crate::{
    Carrier, Enforcement, Engine, Finding, Findings, Followed, Limits, Session,
    conversation::Moment,
    features::lifecycle::UNSUPPORTED_VERSION,
    findings::{Fault, Unjudged},
    wire::framing,
};

/// How strictly live traffic is judged, which also determines the cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[expect(clippy::exhaustive_enums, reason = "one setting, three positions")]
pub enum Strictness {
    /// Nothing is judged.
    Off,
    /// Everything is judged and reported, and everything passes.
    Observe,
    /// Messages that violate the protocol do not pass.
    #[default]
    Enforce,
}

/// Receives findings of live traffic.
pub type FindingSink = Arc<dyn Fn(&Finding) + Send + Sync>;

/// A gate that follows one conversation and judges every message.
pub struct SessionGate {
    engine: Arc<Engine>,
    /// Boxed: a gate is moved several times while it is set up.
    session: Box<Session>,
    strictness: Strictness,
    carrier: Carrier,
    guarded: Option<Side>,
    has_contracts: bool,
    sink: Option<FindingSink>,
    /// Number of messages, which findings use as line numbers.
    seen: u64,
}

/// The state of a gate, to be stored elsewhere with `serde` and [restored](SessionGate::restored).
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SavedGate {
    session: Session,
    seen: u64,
}

impl SessionGate {
    /// Creates a gate at the start of a conversation.
    pub fn new(engine: Arc<Engine>, strictness: Strictness, carrier: Carrier) -> SessionGate {
        let mut session = Box::new(engine.session(None));
        session.begin();
        SessionGate {
            engine,
            session,
            strictness,
            carrier,
            guarded: None,
            has_contracts: false,
            sink: None,
            seen: 0,
        }
    }

    /// Joins a conversation that may already be running, instead of starting at its beginning.
    #[must_use]
    pub fn joining(mut self) -> Self {
        self.session.join(None);
        self
    }

    /// Guards `side`. Faults that the protocol tells receivers to tolerate then pass to it, but are
    /// blocked when it sends them itself.
    #[must_use]
    pub fn guarding(mut self, side: Side) -> Self {
        self.guarded = Some(side);
        self
    }

    /// Declares that the guarded side itself checks calls against the contracts of its tools, whether
    /// or not the tools were listed, and reports violations. The gate then reports nothing about
    /// arguments and forms that it lets pass. The guarded side also refuses requests that declare an
    /// unsupported revision, as it knows which ones it supports.
    #[must_use]
    pub fn with_contracts(mut self) -> Self {
        self.has_contracts = true;
        self
    }

    /// Fixes the revision where the transport has already determined it, so that messages cannot
    /// change it. Assumes nothing about earlier messages, as each such exchange has its own gate.
    #[must_use]
    pub fn settled(mut self, revision: Revision) -> Self {
        self.session.join(Some(revision));
        self
    }

    /// Also passes every finding to `sink`.
    #[must_use]
    pub fn with_sink(mut self, sink: FindingSink) -> Self {
        self.sink = Some(sink);
        self
    }

    /// Returns its state.
    pub fn save(&self) -> SavedGate {
        SavedGate { session: (*self.session).clone(), seen: self.seen }
    }

    /// Continues from the state of a saved gate.
    #[must_use]
    pub fn restored(mut self, saved: SavedGate) -> Self {
        SavedGate { session: *self.session, seen: self.seen } = saved;
        self
    }

    /// Judges a message and returns everything known about it, whether it passes or not.
    pub fn examine(&mut self, from: Side, message: &Parsed) -> Judgement {
        let document = message.document();
        let (followed, found) = self.look_into(from, document.root());
        let (verdict, findings) = self.settle(from, found, || Kinds::of(document.root()));
        let messages = followed.map(|followed| identities(document.root(), &followed));
        Judgement { verdict, findings, messages: messages.unwrap_or_default(), number: self.seen }
    }

    /// The findings in a message. One that exceeds a limit is not followed.
    fn look_into(&mut self, from: Side, root: Node<'_>) -> (Option<Followed>, Found) {
        self.seen += 1;
        self.look_into_at(self.moment(from), from, root)
    }

    fn look_into_at(
        &mut self,
        at: Moment,
        from: Side,
        root: Node<'_>,
    ) -> (Option<Followed>, Found) {
        let engine = &*self.engine;
        if let Some(fault) = beyond_limits(engine.settings().limits, root) {
            return (None, self.note_beyond(from, fault));
        }
        let mut findings = Findings::new(engine.settings());
        findings.set_line(self.seen);
        let followed = engine.check_at(&mut self.session, Some(from), root, at, &mut findings);
        (Some(followed), Found::of(findings))
    }

    /// Notes that `from` has sent a message that exceeds a limit and is not examined.
    fn note_beyond(&mut self, from: Side, fault: Fault) -> Found {
        self.session.note_unreadable(Some(from));
        let mut findings = Findings::new(self.engine.settings());
        findings.set_line(self.seen);
        findings.scene().from = Some(from);
        findings.report(fault);
        Found::of(findings)
    }

    /// Decides whether a message with these findings passes, and reports them. Findings that block
    /// it become errors, whatever the level of their rule.
    fn settle(
        &self,
        from: Side,
        found: Found,
        kinds: impl FnOnce() -> Kinds,
    ) -> (Verdict, Vec<Finding>) {
        let is_empty = found.is_empty();
        let Found { mut findings, unjudged } = found;
        if is_empty {
            return (Verdict::PASS, findings);
        }
        let arrives = self.arrives(from);
        let verdict = match self.strictness {
            Strictness::Enforce => {
                let number = self.seen;
                let blocks = |finding: &&mut Finding| blocks(from, number, arrives, finding);
                let holds = |unjudged: &&Unjudged| !arrives || !self.is_left(unjudged);
                let unjudged = unjudged.iter().filter(holds);
                refuse(findings.iter_mut().filter(blocks), unjudged, &kinds())
            }
            Strictness::Off | Strictness::Observe => Verdict::PASS,
        };
        if let Some(sink) = &self.sink {
            let is_left = |finding: &&Finding| {
                let passes = verdict.refusal(finding.index).is_none();
                let is_contract = finding.rule.enforcement == Enforcement::Contract;
                arrives && self.has_contracts && passes && is_contract
            };
            findings.iter().filter(|finding| !is_left(finding)).for_each(|finding| sink(finding));
        }
        (verdict, findings)
    }

    /// Whether messages from `from` are addressed to the guarded side.
    fn arrives(&self, from: Side) -> bool {
        self.guarded.is_some_and(|side| side != from)
    }

    /// Whether the guarded side decides about this unjudged message itself.
    fn is_left(&self, unjudged: &Unjudged) -> bool {
        let names_revision = unjudged.code == Some(UNSUPPORTED_VERSION);
        unjudged.rule.enforcement == Enforcement::Contract || self.has_contracts && names_revision
    }

    fn report(&self, findings: &[Finding]) {
        if let Some(sink) = &self.sink {
            for finding in findings {
                sink(finding);
            }
        }
    }

    /// When and where the current message is observed. Messages of an HTTP session arrive on
    /// unordered connections, so one may have overtaken another. Outgoing messages are sent in the
    /// order in which they are observed.
    fn moment(&self, from: Side) -> Moment {
        let over_http = matches!(self.carrier, Carrier::HttpBody | Carrier::SseEvent);
        let leaves = self.guarded == Some(from);
        let stream = (over_http && self.session.has_handshake()).then_some(if leaves {
            Moment::UNPLACED
        } else {
            // A unique stream number that belongs to no exchange.
            Moment::UNPLACED - self.seen
        });
        Moment::on_line(Some(self.seen)).on_stream(stream)
    }
}

/// Whether a finding blocks its message. Only its sender's own mistakes do; a finding about the other
/// side, or about an earlier message, does not.
pub(crate) fn blocks(from: Side, number: u64, arrives: bool, finding: &Finding) -> bool {
    let is_own = finding.at_fault.is_none_or(|side| side == from);
    let must_not_pass =
        finding.ambiguous || finding.rule.enforcement.blocks(finding.severity, arrives);
    is_own && finding.line == Some(number) && must_not_pass
}

/// The result of judging a message.
struct Found {
    findings: Vec<Finding>,
    unjudged: Vec<Unjudged>,
}

impl Found {
    fn of(mut findings: Findings<'_>) -> Found {
        Found { unjudged: findings.take_unjudged(), findings: findings.take() }
    }

    fn is_empty(&self) -> bool {
        self.findings.is_empty() && self.unjudged.is_empty()
    }
}

/// The limit that a message exceeds, if any. Usually the parser has already enforced the limits.
fn beyond_limits(limits: Limits, message: Node<'_>) -> Option<Fault> {
    let length = message.raw().len();
    if length > limits.message_bytes {
        return Some(framing::too_long(Some(length), limits.message_bytes));
    }
    message.is_deeper_than(limits.depth).then(|| framing::too_deep(limits.depth))
}

impl Gate for SessionGate {
    fn is_open(&self) -> bool {
        self.strictness == Strictness::Off
    }

    fn judge(&mut self, from: Side, message: &Parsed) -> Verdict {
        if self.is_open() {
            return Verdict::PASS;
        }
        let document = message.document();
        let (_, found) = self.look_into(from, document.root());
        self.settle(from, found, || Kinds::of(document.root())).0
    }

    fn judge_unreadable(&mut self, from: Side, text: &[u8], error: &SyntaxError) -> Verdict {
        if self.is_open() {
            return Verdict::PASS;
        }
        self.seen += 1;
        let engine = &*self.engine;
        let mut findings = Findings::new(engine.settings());
        findings.set_line(self.seen);
        let (carrier, session) = (self.carrier, &mut *self.session);
        engine.judge_unreadable(carrier, session, Some(from), text, error, &mut findings);
        self.settle(from, Found::of(findings), Kinds::default).0
    }

    fn skipped(&mut self, from: Side, length: u64) {
        if self.is_open() {
            return;
        }
        let mut findings = Findings::new(self.engine.settings());
        findings.scene().from = Some(from);
        let limit = self.engine.settings().limits.message_bytes;
        findings.report(framing::too_long(usize::try_from(length).ok(), limit));
        self.report(&findings.take());
    }
}

impl fmt::Debug for SessionGate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionGate")
            .field("strictness", &self.strictness)
            .field("revision", &self.session.revision())
            .finish_non_exhaustive()
    }
}
