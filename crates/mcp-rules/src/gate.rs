use std::{fmt, sync::Arc};

use mcp_core::{Gate, Json, Refusal, RefusalReason, Revision, Side, Verdict};
use mcp_json::{Node, Tape};
use mcp_jsonrpc::{Envelope, MessageKind};

use crate::{
    Carrier, Engine, Finding, Findings, Session, Severity, conversation::Moment, wire::framing,
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
    tape: Tape,
    /// Messages seen. Findings count them as they would count the lines of a recording.
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
            tape: Tape::new(),
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

impl Gate for SessionGate {
    fn judge(&mut self, from: Side, message: &[u8]) -> Verdict {
        if self.strictness == Strictness::Off {
            return Verdict::PASS;
        }
        self.seen += 1;
        let at = self.moment(from);
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
                let followed = engine.follow_at(&mut self.session, Some(from), root, at);
                engine.judge(root, &followed, &mut findings);
                if !findings.as_slice().is_empty() {
                    kinds = Kinds::of(root);
                }
            }
        }
        let mut findings = findings.take();
        if findings.is_empty() {
            return Verdict::PASS;
        }
        let arrives = self.guarded.is_some_and(|side| side != from);
        let verdict = match self.strictness {
            Strictness::Enforce => {
                let number = self.seen;
                let serious = |finding: &&mut Finding| {
                    is_serious(from, number, finding) && !(arrives && is_borne(finding))
                };
                refuse(findings.iter_mut().filter(serious), &kinds)
            }
            Strictness::Off | Strictness::Observe => Verdict::PASS,
        };
        if let Some(sink) = &self.sink {
            let leaves = arrives && self.has_contracts;
            let is_left = |finding: &&Finding| {
                let passes = verdict.refusal(finding.index).is_none();
                leaves && passes && is_contract(finding)
            };
            findings.iter().filter(|finding| !is_left(finding)).for_each(|finding| sink(finding));
        }
        verdict
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
            for finding in &findings.take() {
                sink(finding);
            }
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

/// One refusal for each entry that has something serious against it. What does not let a message pass
/// is an error, whatever level its rule has elsewhere.
fn refuse<'a>(serious: impl Iterator<Item = &'a mut Finding>, kinds: &Kinds) -> Verdict {
    let mut refusals: Vec<Refusal> = Vec::new();
    for finding in serious {
        finding.severity = Severity::Error;
        // The other side does not count messages as we do.
        let shown = Finding { line: None, related: None, ..finding.clone() };
        let Ok(shown) = Json::of(&shown) else { continue };
        match refusals.iter_mut().find(|refusal| refusal.index == finding.index) {
            Some(refusal) => refusal.findings.push(shown),
            None => refusals.push(Refusal {
                index: finding.index,
                reason: reason_of(finding, kinds.is_response(finding.index)),
                message: sentence(finding),
                findings: vec![shown],
            }),
        }
    }
    Verdict { refusals }
}

/// What is wrong, and where.
fn sentence(finding: &Finding) -> String {
    match finding.pointer.as_deref() {
        Some(place) if finding.schema.is_some() && !place.is_empty() => {
            format!("{place}: {}", finding.message)
        }
        _ => finding.message.clone(),
    }
}

/// A message does not pass for a mistake of its sender; what it tells about the other side, or
/// about an earlier message, is no reason to hold it back. A call that breaks the contract of its
/// tool never passes, although the specification only warns, nor does an answer that breaks its form.
fn is_serious(from: Side, number: u64, finding: &Finding) -> bool {
    let is_own = finding.at_fault.is_none_or(|side| side == from);
    let is_serious = finding.severity == Severity::Error || is_contract(finding);
    is_own && is_serious && finding.line == Some(number)
}

/// Whether a contract is broken: the schema of a tool, or a form.
fn is_contract(finding: &Finding) -> bool {
    finding.rule.name == NEVER_PASSES || BROKEN_FORMS.contains(&finding.rule.name)
}

/// A mistake of the sender for which the receiver knows how to go on: a result without a type
/// counts as complete, a tool whose header cannot be is left out of the list, a call that breaks the
/// contract of its tool is answered by the contract, which says more, and an answer that breaks its
/// form is told to the tool that has asked.
fn is_borne(finding: &Finding) -> bool {
    BORNE.contains(&finding.rule.name) || BROKEN_FORMS.contains(&finding.rule.name)
}

const BORNE: [&str; 6] = [
    "result-type-missing",
    "tool-arguments-invalid",
    "x-mcp-header-duplicate",
    "x-mcp-header-name-invalid",
    "x-mcp-header-type-invalid",
    "x-mcp-header-unreachable",
];
const NEVER_PASSES: &str = "tool-arguments-invalid";
const BROKEN_FORMS: [&str; 2] = ["elicitation-content-invalid", "elicitation-content-missing"];

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

#[cfg(test)]
mod tests {
    use mcp_schema::Schemas;

    use super::*;
    use crate::Settings;

    fn gate() -> SessionGate {
        gate_over(Carrier::HttpBody)
    }

    fn gate_over(carrier: Carrier) -> SessionGate {
        let engine = Arc::new(Engine::new(Schemas::embedded(), Settings::default()));
        SessionGate::new(engine, Strictness::Enforce, carrier)
    }

    #[track_caller]
    fn reasons(gate: &mut SessionGate, from: Side, message: &str) -> Vec<RefusalReason> {
        let verdict = gate.judge(from, message.as_bytes());
        verdict.refusals.into_iter().map(|refusal| refusal.reason).collect()
    }

    #[test]
    fn the_rules_it_treats_apart_exist() {
        for name in BORNE.into_iter().chain(BROKEN_FORMS).chain([NEVER_PASSES]) {
            assert!(crate::rule(name).is_some(), "{name}");
        }
    }

    const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"_meta":{
        "io.modelcontextprotocol/protocolVersion":"2026-07-28",
        "io.modelcontextprotocol/clientCapabilities":{}}}}"#;

    #[test]
    fn a_settled_revision_decides_which_methods_there_are() {
        let invalid = [RefusalReason::InvalidParams];
        assert_eq!(reasons(&mut gate(), Side::Client, INITIALIZE), invalid);
        let mut settled = gate().settled(Revision::LATEST);
        assert_eq!(reasons(&mut settled, Side::Client, INITIALIZE), [RefusalReason::UnknownMethod]);
    }

    /// What a client and a server say until the client is free to work.
    const HANDSHAKE: [(Side, &str); 2] = [
        (
            Side::Client,
            r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":
            "2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#,
        ),
        (
            Side::Server,
            r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":
            {"tools":{}},"serverInfo":{"name":"s","version":"1"}}}"#,
        ),
    ];

    #[test]
    fn a_request_may_overtake_initialized_over_http_alone() {
        let list = r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#;
        let initialized = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        for (carrier, refused) in
            [(Carrier::HttpBody, 0), (Carrier::Stdio, 1), (Carrier::WebSocket, 1)]
        {
            let mut gate = gate_over(carrier).guarding(Side::Server);
            for (from, message) in HANDSHAKE {
                assert_eq!(reasons(&mut gate, from, message), []);
            }
            assert_eq!(reasons(&mut gate, Side::Client, list).len(), refused, "{carrier:?}");
            assert_eq!(reasons(&mut gate, Side::Client, initialized), []);
        }
    }

    #[test]
    fn what_is_sent_over_http_keeps_its_order() {
        let call = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"t",
            "_meta":{"progressToken":7}}}"#;
        let progress = r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{
            "progressToken":7,"progress":1}}"#;
        for (guarded, refused) in [(Side::Server, 1), (Side::Client, 0)] {
            let mut gate = gate().guarding(guarded);
            for (from, message) in HANDSHAKE.into_iter().chain([
                (Side::Client, r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#),
                (Side::Client, call),
                (Side::Server, progress),
            ]) {
                assert_eq!(reasons(&mut gate, from, message), [], "{message}");
            }
            let again = reasons(&mut gate, Side::Server, progress);
            assert_eq!(again.len(), refused, "in front of the {guarded}");
        }
    }

    #[test]
    fn a_byte_order_mark_is_named() {
        let ping = "\u{feff}{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}";
        for (carrier, rule) in [
            (Carrier::Stdio, "stdin-non-json"),
            (Carrier::HttpBody, "http-body-not-json"),
            (Carrier::WebSocket, "message-not-json"),
        ] {
            let verdict = gate_over(carrier).judge(Side::Client, ping.as_bytes());
            let [refusal] = verdict.refusals.as_slice() else { panic!("{verdict:?}") };
            assert_eq!(refusal.reason, RefusalReason::NotJson);
            assert_eq!(refusal.message, "a byte order mark stands before the message");
            let finding = refusal.findings[0].to_value().unwrap();
            assert_eq!(
                (&finding["rule"], &finding["message"]),
                (&rule.into(), &refusal.message.as_str().into())
            );
            assert_eq!(finding["span"], serde_json::json!([0, 3]));
        }
        let banner = "\u{feff}server started".as_bytes();
        let verdict = gate_over(Carrier::Stdio).judge(Side::Server, banner);
        assert_eq!(verdict.refusals[0].message, "not a JSON-RPC message but other text");
    }

    const LISTED: &str = r#"{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"t","inputSchema":{
        "type":"object","properties":{"n":{"type":"integer"}}}}]}}"#;

    #[test]
    fn what_does_not_pass_is_an_error_wherever_it_is_told() {
        for strictness in [Strictness::Enforce, Strictness::Observe] {
            let engine = Arc::new(Engine::new(Schemas::embedded(), Settings::default()));
            let heard = Arc::new(std::sync::Mutex::new(Vec::new()));
            let sink = Arc::clone(&heard);
            let mut gate = SessionGate::new(engine, strictness, Carrier::Stdio)
                .guarding(Side::Client)
                .with_sink(Arc::new(move |finding| sink.lock().unwrap().push(finding.severity)));
            let list = r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#;
            for (from, message) in HANDSHAKE.into_iter().chain([
                (Side::Client, r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#),
                (Side::Client, list),
                (Side::Server, LISTED),
            ]) {
                assert_eq!(reasons(&mut gate, from, message), [], "{message}");
            }
            let call = r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"t",
                "arguments":{"n":"x"}}}"#;
            let verdict = gate.judge(Side::Client, call.as_bytes());
            if strictness == Strictness::Enforce {
                let finding: serde_json::Value = verdict.refusals[0].findings[0].read().unwrap();
                assert_eq!(finding["rule"], NEVER_PASSES);
                assert_eq!(finding["severity"], "error");
                assert_eq!(*heard.lock().unwrap(), [Severity::Error]);
            } else {
                assert_eq!(verdict, Verdict::PASS);
                assert_eq!(*heard.lock().unwrap(), [Severity::Warning]);
            }
        }
    }

    const CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"METHOD","params":{"name":"t","_meta":{
        "io.modelcontextprotocol/protocolVersion":"2026-07-28",
        "io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},
        "io.modelcontextprotocol/clientCapabilities":{}}}}"#;

    #[test]
    fn what_a_receiver_must_put_up_with_arrives_but_is_not_sent() {
        let untyped = r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#;
        let marked = r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","ttlMs":0,
            "cacheScope":"private","tools":[{"name":"t","inputSchema":{"type":"object",
            "properties":{"a":{"type":"number","x-mcp-header":"A"}}}}]}}"#;
        for (method, result) in [("tools/call", untyped), ("tools/list", marked)] {
            for (guarded, refused) in [(Side::Client, 0), (Side::Server, 1)] {
                let mut gate = gate().guarding(guarded);
                assert_eq!(reasons(&mut gate, Side::Client, &CALL.replace("METHOD", method)), []);
                let reasons = reasons(&mut gate, Side::Server, result);
                assert_eq!(reasons.len(), refused, "{method} {guarded:?}");
            }
        }
    }
}
