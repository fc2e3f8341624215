use std::{fmt, sync::Arc};

use mcp_core::{Gate, Json, Refusal, RefusalReason, Side, Verdict};
use mcp_json::{Node, Tape};
use mcp_jsonrpc::{Envelope, MessageKind};

use crate::{
    Carrier, Engine, Finding, Findings, Session, Severity, rules::framing, session::Moment,
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
    sink: Option<FindingSink>,
    tape: Tape,
    /// Messages seen. Findings count them as they would count the lines of a recording.
    seen: u64,
}

impl SessionGate {
    /// Stands at the beginning of a conversation.
    pub fn new(engine: Arc<Engine>, strictness: Strictness, carrier: Carrier) -> SessionGate {
        let mut session = engine.session(None);
        session.begin();
        SessionGate { engine, session, strictness, carrier, sink: None, tape: Tape::new(), seen: 0 }
    }

    /// Hands every finding to `sink` as well.
    #[must_use]
    pub fn with_sink(mut self, sink: FindingSink) -> Self {
        self.sink = Some(sink);
        self
    }
}

impl Gate for SessionGate {
    fn judge(&mut self, from: Side, message: &[u8]) -> Verdict {
        if self.strictness == Strictness::Off {
            return Verdict::PASS;
        }
        self.seen += 1;
        let engine = &*self.engine;
        let mut findings = Findings::new(engine.settings());
        findings.set_line(self.seen);
        let mut kinds = Kinds::default();
        match self.tape.parse(message, engine.settings().limits.json()) {
            Err(error) => {
                let (session, side) = (&mut self.session, Some(from));
                let carrier = self.carrier;
                engine.judge_unreadable(carrier, session, side, message, &error, &mut findings);
            }
            Ok(document) => {
                let root = document.root();
                let at = Moment { line: Some(self.seen), ..Moment::default() };
                let followed = engine.follow_at(&mut self.session, Some(from), root, at);
                engine.judge(root, &followed, &mut findings);
                if !findings.as_slice().is_empty() {
                    kinds = Kinds::of(root);
                }
            }
        }
        let findings = findings.take();
        if findings.is_empty() {
            return Verdict::PASS;
        }
        if let Some(sink) = &self.sink {
            for finding in &findings {
                sink(finding);
            }
        }
        match self.strictness {
            Strictness::Enforce => refuse(from, self.seen, &findings, &kinds),
            Strictness::Off | Strictness::Observe => Verdict::PASS,
        }
    }

    fn skipped(&mut self, from: Side, length: u64) {
        if self.strictness == Strictness::Off {
            return;
        }
        let mut findings = Findings::new(self.engine.settings());
        findings.scene().from = Some(from);
        let limit = self.engine.settings().limits.message_bytes;
        findings.report(framing::too_long(usize::try_from(length).ok(), limit));
        if let Some(sink) = &self.sink {
            findings.take().iter().for_each(|finding| sink(finding));
        }
    }
}

/// Which entries of a message want no answer.
#[derive(Default)]
struct Kinds(Vec<Option<MessageKind>>);

impl Kinds {
    fn of(root: Node<'_>) -> Kinds {
        if root.is_array() {
            return Kinds(root.elements().map(|entry| Envelope::of(entry).kind()).collect());
        }
        Kinds(vec![Envelope::of(root).kind()])
    }

    fn is_response(&self, index: Option<usize>) -> bool {
        self.0.get(index.unwrap_or(0)) == Some(&Some(MessageKind::Response))
    }
}

/// One refusal for each entry that has something serious against it.
fn refuse(from: Side, number: u64, findings: &[Finding], kinds: &Kinds) -> Verdict {
    let mut refusals: Vec<Refusal> = Vec::new();
    for finding in findings.iter().filter(|finding| is_serious(from, number, finding)) {
        let Ok(shown) = Json::of(finding) else { continue };
        match refusals.iter_mut().find(|refusal| refusal.index == finding.index) {
            Some(refusal) => refusal.findings.push(shown),
            None => refusals.push(Refusal {
                index: finding.index,
                reason: reason_of(finding, kinds.is_response(finding.index)),
                message: finding.message.clone(),
                findings: vec![shown],
            }),
        }
    }
    Verdict { refusals }
}

/// A message does not pass for a mistake of its sender; what it tells about the other side, or
/// about an earlier message, is no reason to hold it back. A call that breaks the contract of its
/// tool never passes, although the specification only warns.
fn is_serious(from: Side, number: u64, finding: &Finding) -> bool {
    let is_own = finding.at_fault.is_none_or(|side| side == from);
    let is_serious =
        finding.severity == Severity::Error || finding.rule.name == "tool-arguments-invalid";
    is_own && is_serious && finding.line == Some(number)
}

fn reason_of(finding: &Finding, is_response: bool) -> RefusalReason {
    match finding.code {
        Some(-32700) => RefusalReason::NotJson,
        _ if is_response => RefusalReason::Invalid,
        Some(-32601) => RefusalReason::UnknownMethod,
        Some(-32602) => RefusalReason::InvalidParams,
        Some(-32020) => RefusalReason::HeaderMismatch,
        Some(-32021) => RefusalReason::MissingCapability,
        Some(-32022) => RefusalReason::UnsupportedRevision,
        _ => RefusalReason::NotAMessage,
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
