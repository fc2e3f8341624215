//! The gate for live traffic over HTTP: messages, and the HTTP around them.

use std::{fmt, sync::Arc};

use mcp_core::{Refusal, Side};
use mcp_json::{Parsed, SyntaxError};
use mcp_jsonrpc::{Gate, Verdict};

use super::{Found, SessionGate, Strictness, beyond_limits, refusal::Kinds};
use crate::{Findings, HttpEvent, HttpPart, Layer, conversation::Moment, http::CarriedMessage};

/// Observes HTTP traffic as it passes.
pub type HttpTap = Arc<dyn Fn(&HttpEvent<'_>) + Send + Sync>;

/// Follows the HTTP traffic of one conversation and judges it: methods, status codes, headers, event
/// streams, sessions, authorization, and the messages.
///
/// It sees requests, responses and events in the order in which they are sent and received, like a
/// recording. Incoming traffic is judged together with its message. Outgoing traffic is judged in two
/// steps within the same session: the message first, by the [`Gate`] methods, before its exchange is
/// chosen; then the HTTP around it, when it is sent.
///
/// ```
/// use std::sync::Arc;
/// use mcp_core::Side;
/// use mcp_rules::{Carrier, Engine, Headers, HttpEvent, HttpGate, SessionGate, Settings, Strictness};
/// use mcp_schema::Schemas;
///
/// let engine = Arc::new(Engine::new(Schemas::embedded(), Settings::default()));
/// let messages = SessionGate::new(engine, Strictness::Enforce, Carrier::HttpBody);
/// let mut gate = HttpGate::new(messages.joining().guarding(Side::Server));
///
/// let headers: Headers = [("mcp-protocol-version", "2025-11-25")].into_iter().collect();
/// let verdict = gate.judge_http(&HttpEvent::request(1, "GET", "/mcp", &headers));
/// assert_eq!(verdict.http.refusals[0].message, "the request has no `Accept`");
/// ```
pub struct HttpGate {
    pub(super) messages: SessionGate,
    scope: Scope,
    tap: Option<HttpTap>,
}

/// What a gate judges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scope {
    /// A conversation over any number of exchanges.
    Conversation,
    /// An exchange that is a conversation of its own, with its number once that is known.
    Exchange(Option<u64>),
}

/// The verdict on one observation of HTTP traffic.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct HttpVerdict {
    /// Whether the HTTP around the message may pass, and the message with it.
    pub http: Verdict,
    /// Why the message in it is rejected; empty if it passes, `None` if it was not judged here.
    pub message: Option<Vec<Refusal>>,
}

impl HttpGate {
    /// Creates a gate for a conversation; `messages` judges its messages.
    pub fn new(mut messages: SessionGate) -> HttpGate {
        messages.session.follow_live_http();
        HttpGate { messages, scope: Scope::Conversation, tap: None }
    }

    /// Limits the conversation to a single exchange.
    #[must_use]
    pub fn for_one_exchange(mut self) -> HttpGate {
        self.scope = Scope::Exchange(None);
        self
    }

    /// Passes every observation to `tap` before it is judged, for example to record it.
    #[must_use]
    pub fn with_tap(mut self, tap: HttpTap) -> HttpGate {
        self.tap = Some(tap);
        self
    }

    /// Judges and records one observation.
    pub fn judge_http(&mut self, event: &HttpEvent<'_>) -> HttpVerdict {
        if let Some(tap) = &self.tap {
            tap(event);
        }
        if self.messages.is_open() {
            return HttpVerdict::default();
        }
        if let Scope::Exchange(number) = &mut self.scope {
            number.get_or_insert(event.exchange);
        }
        self.messages.seen += 1;
        let event = &event.on_line(self.messages.seen);
        // An outgoing message was judged before.
        let verdict = if self.messages.guarded == Some(event.from) {
            self.judge_placed(event)
        } else {
            self.judge_arrived(event)
        };
        if is_last(event) {
            self.messages.session.forget_exchange(event.exchange);
        }
        verdict
    }

    /// Judges outgoing traffic that is already sent, and so cannot be blocked.
    fn judge_placed(&mut self, event: &HttpEvent<'_>) -> HttpVerdict {
        let SessionGate { engine, session, .. } = &mut self.messages;
        let followed = engine.place_http(session, event);
        if followed.has_notes() {
            let mut findings = Findings::new(engine.settings());
            engine.judge_http(event, &followed, &mut findings);
            let (around, _) = Found::of(findings).by_layer();
            self.messages.report(&around.findings);
        }
        HttpVerdict::default()
    }

    fn judge_arrived(&mut self, event: &HttpEvent<'_>) -> HttpVerdict {
        if let Some(found) = self.messages.beyond_limits(event) {
            let kinds = || event.message.map(Kinds::of).unwrap_or_default();
            let (verdict, _) = self.messages.settle(event.from, found, kinds);
            return HttpVerdict { http: Verdict::PASS, message: Some(verdict.refusals) };
        }
        // The envelope is read once, for following and judging.
        let single = event.message.and_then(CarriedMessage::single);
        let event = &event.with_envelope(single.as_ref());
        let SessionGate { engine, session, .. } = &mut self.messages;
        let followed = engine.follow_http(session, event);
        // A redelivered message was judged the first time.
        let is_judged = followed.message.is_some() || followed.is_repeated;
        let mut verdict = HttpVerdict { http: Verdict::PASS, message: is_judged.then(Vec::new) };
        if followed.message.is_none() && !followed.has_notes() {
            return verdict;
        }
        let mut findings = Findings::new(engine.settings());
        engine.judge_http(event, &followed, &mut findings);
        let found = Found::of(findings);
        if found.is_empty() {
            return verdict;
        }
        let (around, about) = found.by_layer();
        let kinds = || event.message.map(Kinds::of).unwrap_or_default();
        // The conversation judges text that is not a message.
        if let Some(refusals) = &mut verdict.message {
            *refusals = self.messages.settle(event.from, about, kinds).0.refusals;
        }
        // The end of a stream is not a message.
        if self.messages.arrives(event.from) && !matches!(event.part, HttpPart::End) {
            verdict.http = self.messages.settle(event.from, around, kinds).0;
        } else {
            self.messages.report(&around.findings);
        }
        verdict
    }

    /// Reports what is only known at the end of the conversation.
    pub fn finish(&mut self) {
        let SessionGate { engine, session, .. } = &mut self.messages;
        let mut findings = Findings::new(engine.settings());
        engine.finish(session, &mut findings);
        let (around, _) = Found::of(findings).by_layer();
        self.messages.report(&around.findings);
    }
}

/// Whether an exchange is complete, so that it can be forgotten: its response is not a stream, or the
/// server has ended the stream. A stream that the client leaves may still be resumed.
fn is_last(event: &HttpEvent<'_>) -> bool {
    match event.part {
        HttpPart::Response { headers, .. } => !headers.announce_events(),
        HttpPart::End => event.from == Side::Server,
        HttpPart::Request { .. } | HttpPart::Event(_) => false,
    }
}

impl Found {
    /// Splits the findings into those about HTTP and all others.
    fn by_layer(self) -> (Found, Found) {
        let (around, about) =
            self.findings.into_iter().partition(|finding| finding.rule.layer == Layer::Http);
        let (unjudged_around, unjudged_about) =
            self.unjudged.into_iter().partition(|unjudged| unjudged.rule.layer == Layer::Http);
        let around = Found { findings: around, unjudged: unjudged_around };
        (around, Found { findings: about, unjudged: unjudged_about })
    }
}

/// Judges outgoing messages before they are sent, and incoming ones without HTTP around them.
impl Gate for HttpGate {
    fn is_open(&self) -> bool {
        self.messages.is_open()
    }

    fn judge(&mut self, from: Side, message: &Parsed) -> Verdict {
        match self.scope {
            // There is only one exchange to send it on.
            Scope::Exchange(Some(exchange)) if !self.messages.arrives(from) => {
                self.messages.judge_on(exchange, from, message)
            }
            _ => {
                if from == Side::Client && self.messages.guarded == Some(from) && !self.is_open() {
                    self.messages.session.switch_lane_to_send(message.document().root());
                }
                self.messages.judge(from, message)
            }
        }
    }

    fn judge_unreadable(&mut self, from: Side, text: &[u8], error: &SyntaxError) -> Verdict {
        self.messages.judge_unreadable(from, text, error)
    }

    fn skipped(&mut self, from: Side, length: u64) {
        self.messages.skipped(from, length);
    }
}

impl SessionGate {
    /// The findings in an event whose message exceeds a limit. Neither the message nor the event is
    /// followed.
    fn beyond_limits(&mut self, event: &HttpEvent<'_>) -> Option<Found> {
        let fault = beyond_limits(self.engine.settings().limits, event.message?)?;
        Some(self.note_beyond(event.from, fault))
    }

    /// Judges a message that is sent on this exchange.
    fn judge_on(&mut self, exchange: u64, from: Side, message: &Parsed) -> Verdict {
        if self.strictness == Strictness::Off {
            return Verdict::PASS;
        }
        self.seen += 1;
        let at = Moment::on_line(Some(self.seen)).on_stream(Some(exchange));
        let document = message.document();
        let (_, found) = self.look_into_at(at, from, document.root());
        self.settle(from, found, || Kinds::of(document.root())).0
    }
}

impl fmt::Debug for HttpGate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpGate").field("scope", &self.scope).finish_non_exhaustive()
    }
}
