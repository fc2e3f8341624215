//! The gate for live traffic: follows one conversation and judges every message of it.

mod http;
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
    http::{HttpGate, HttpTap},
    judgement::{Identity, Judgement},
};
use self::{judgement::identities, refusal::Kinds};
use crate::{
    Carrier, Enforcement, Engine, Finding, Findings, Followed, Session, conversation::Moment,
    wire::framing,
};

/// How strictly live traffic is judged; what it costs follows from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[expect(clippy::exhaustive_enums, reason = "one setting, three positions")]
pub enum Strictness {
    /// Nothing is looked at.
    Off,
    /// Everything is looked at and reported, everything passes.
    Observe,
    /// What breaks the protocol does not pass.
    #[default]
    Enforce,
}

/// Takes findings of live traffic.
pub type FindingSink = Arc<dyn Fn(&Finding) + Send + Sync>;

/// A gate that follows one conversation and judges every message of it.
pub struct SessionGate {
    engine: Arc<Engine>,
    session: Session,
    strictness: Strictness,
    carrier: Carrier,
    guarded: Option<Side>,
    has_contracts: bool,
    sink: Option<FindingSink>,
    /// Messages seen. Findings count them as they would count the lines of a recording.
    seen: u64,
}

/// What a gate remembers, to be kept elsewhere and [restored](SessionGate::restored) with `serde`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SavedGate {
    session: Session,
    seen: u64,
}

impl SessionGate {
    /// Stands at the beginning of a conversation.
    pub fn new(engine: Arc<Engine>, strictness: Strictness, carrier: Carrier) -> SessionGate {
        let mut session = engine.session(None);
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

    /// Stands in front of `side`. What the protocol tells a receiver to put up with then passes to
    /// it, while it must not send such a thing itself.
    #[must_use]
    pub fn guarding(mut self, side: Side) -> Self {
        self.guarded = Some(side);
        self
    }

    /// What stands behind the gate holds calls to the contracts of their tools, whether the tools
    /// were listed here or not, and reports what breaks them. The gate is silent then about
    /// arguments and forms that it lets pass.
    #[must_use]
    pub fn with_contracts(mut self) -> Self {
        self.has_contracts = true;
        self
    }

    /// Takes it for granted that `revision` is spoken: where what stands around the messages has
    /// settled it, what they say themselves is no longer a choice. What came before is not known:
    /// such messages travel in exchanges of their own, each with its gate.
    #[must_use]
    pub fn settled(mut self, revision: Revision) -> Self {
        self.session = self.engine.session(Some(revision));
        self
    }

    /// Hands every finding to `sink` as well.
    #[must_use]
    pub fn with_sink(mut self, sink: FindingSink) -> Self {
        self.sink = Some(sink);
        self
    }

    /// What it remembers.
    pub fn save(&self) -> SavedGate {
        SavedGate { session: self.session.clone(), seen: self.seen }
    }

    /// Goes on where a gate was that has been saved.
    #[must_use]
    pub fn restored(mut self, saved: SavedGate) -> Self {
        SavedGate { session: self.session, seen: self.seen } = saved;
        self
    }

    /// Judges a message and says everything that is known about it, whether it may pass or not.
    pub fn examine(&mut self, from: Side, message: &Parsed) -> Judgement {
        let document = message.document();
        let (followed, findings) = self.look_into(from, document.root());
        let (verdict, findings) = self.settle(from, findings, || Kinds::of(document.root()));
        let messages = identities(document.root(), &followed);
        Judgement { verdict, findings, messages, number: self.seen }
    }

    fn look_into(&mut self, from: Side, root: Node<'_>) -> (Followed, Vec<Finding>) {
        self.seen += 1;
        let at = self.moment(from);
        let engine = &*self.engine;
        let mut findings = Findings::new(engine.settings());
        findings.set_line(self.seen);
        let followed = engine.follow_at(&mut self.session, Some(from), root, at);
        engine.judge(root, &followed, &mut findings);
        (followed, findings.take())
    }

    /// Decides whether a message passes that has these findings, and reports them. What does not let
    /// it pass is an error from here on, whatever level its rule has elsewhere.
    fn settle(
        &self,
        from: Side,
        mut findings: Vec<Finding>,
        kinds: impl FnOnce() -> Kinds,
    ) -> (Verdict, Vec<Finding>) {
        if findings.is_empty() {
            return (Verdict::PASS, findings);
        }
        let arrives = self.guarded.is_some_and(|side| side != from);
        let verdict = match self.strictness {
            Strictness::Enforce => {
                let number = self.seen;
                let blocks = |finding: &&mut Finding| blocks(from, number, arrives, finding);
                refusal::refuse(findings.iter_mut().filter(blocks), &kinds())
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

    /// When and where the message is seen that comes now. The messages of an HTTP session arrive on
    /// connections that nothing orders: one may have overtaken another. Those that are sent here
    /// leave in the order in which they are seen.
    fn moment(&self, from: Side) -> Moment {
        let over_http = matches!(self.carrier, Carrier::HttpBody | Carrier::SseEvent);
        let leaves = self.guarded == Some(from);
        let stream = (over_http && self.session.has_handshake()).then_some(if leaves {
            OUR_STREAM
        } else {
            self.seen
        });
        Moment { line: Some(self.seen), stream, ..Moment::default() }
    }
}

/// Stands for all that is sent; what arrives has the number of its message, which begins at one.
const OUR_STREAM: u64 = 0;

/// Whether a finding keeps its message from passing. A message does not pass for a mistake of its
/// sender; what it tells about the other side, or about an earlier message, is no reason to hold it
/// back.
fn blocks(from: Side, number: u64, arrives: bool, finding: &Finding) -> bool {
    let is_own = finding.at_fault.is_none_or(|side| side == from);
    is_own
        && finding.line == Some(number)
        && finding.rule.enforcement.blocks(finding.severity, arrives)
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
        let (_, findings) = self.look_into(from, document.root());
        self.settle(from, findings, || Kinds::of(document.root())).0
    }

    fn judge_unreadable(&mut self, from: Side, text: &[u8], error: &SyntaxError) -> Verdict {
        if self.is_open() {
            return Verdict::PASS;
        }
        self.seen += 1;
        let engine = &*self.engine;
        let mut findings = Findings::new(engine.settings());
        findings.set_line(self.seen);
        let (carrier, session) = (self.carrier, &mut self.session);
        engine.judge_unreadable(carrier, session, Some(from), text, error, &mut findings);
        self.settle(from, findings.take(), Kinds::default).0
    }

    fn skipped(&mut self, from: Side, length: u64) {
        if self.is_open() {
            return;
        }
        let mut findings = Findings::new(self.engine.settings());
        findings.scene().from = Some(from);
        let limit = self.engine.settings().limits.message_bytes;
        findings.report(framing::too_long(usize::try_from(length).ok(), limit));
        if let Some(sink) = &self.sink {
            for finding in &findings.take() {
                sink(finding);
            }
        }
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
