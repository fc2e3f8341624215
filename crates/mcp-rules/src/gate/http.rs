//! The HTTP side of live traffic: what stands around the messages.

use std::{fmt, sync::Arc};

use mcp_core::Side;
use mcp_jsonrpc::Verdict;

use super::{
    FindingSink, Strictness, blocks,
    refusal::{self, Kinds},
};
use crate::{Engine, Finding, Findings, HttpEvent, HttpPart, Layer, Session};

/// Sees HTTP traffic as it travels.
pub type HttpTap = Arc<dyn Fn(&HttpEvent<'_>) + Send + Sync>;

/// Follows the HTTP traffic of one conversation and judges everything about it but the messages:
/// methods, status codes, headers, event streams, sessions, authorization.
///
/// It sees requests, responses and events in the order in which they travel, with their messages,
/// as a recording would show them. The messages themselves are judged by a
/// [`SessionGate`](super::SessionGate), before it is decided how they travel; that is why the two
/// are apart. So this gate reports only what the rules of [`Layer::Http`] find.
///
/// ```
/// use std::sync::Arc;
/// use mcp_core::Side;
/// use mcp_rules::{Engine, Headers, HttpEvent, HttpGate, Settings, Strictness};
/// use mcp_schema::Schemas;
///
/// let engine = Arc::new(Engine::new(Schemas::embedded(), Settings::default()));
/// let mut gate = HttpGate::new(engine, Strictness::Enforce).guarding(Side::Server);
///
/// let headers: Headers = [("mcp-protocol-version", "2025-11-25")].into_iter().collect();
/// let verdict = gate.judge(&HttpEvent::request(1, "GET", "/mcp", &headers));
/// assert_eq!(verdict.refusals[0].message, "the request has no `Accept`");
/// ```
pub struct HttpGate {
    engine: Arc<Engine>,
    session: Session,
    strictness: Strictness,
    guarded: Option<Side>,
    sink: Option<FindingSink>,
    tap: Option<HttpTap>,
    /// Observations made. Findings count them as they would count the lines of a recording.
    seen: u64,
}

impl HttpGate {
    /// Joins a conversation of which nothing is known yet.
    pub fn new(engine: Arc<Engine>, strictness: Strictness) -> HttpGate {
        let session = engine.session(None);
        HttpGate { engine, session, strictness, guarded: None, sink: None, tap: None, seen: 0 }
    }

    /// Says that the first observation is the beginning of the conversation.
    #[must_use]
    pub fn from_start(mut self) -> HttpGate {
        self.session.begin();
        self
    }

    /// Stands in front of `side`, see [`SessionGate::guarding`](super::SessionGate::guarding).
    #[must_use]
    pub fn guarding(mut self, side: Side) -> HttpGate {
        self.guarded = Some(side);
        self
    }

    /// Hands every finding to `sink` as well.
    #[must_use]
    pub fn with_sink(mut self, sink: FindingSink) -> HttpGate {
        self.sink = Some(sink);
        self
    }

    /// Shows every observation to `tap` before it is judged, to record it for example.
    #[must_use]
    pub fn with_tap(mut self, tap: HttpTap) -> HttpGate {
        self.tap = Some(tap);
        self
    }

    /// Judges one observation and takes it in.
    pub fn judge(&mut self, event: &HttpEvent<'_>) -> Verdict {
        if let Some(tap) = &self.tap {
            tap(event);
        }
        if self.strictness == Strictness::Off {
            return Verdict::PASS;
        }
        self.seen += 1;
        let event = event.on_line(self.seen);
        let followed = self.engine.follow_http(&mut self.session, &event);
        if !followed.has_notes() {
            return Verdict::PASS;
        }
        let mut findings = Findings::new(self.engine.settings());
        self.engine.judge_http(&event, &followed, &mut findings);
        self.settle(&event, findings)
    }

    /// Reports what can only be said when the conversation has ended.
    pub fn finish(&mut self) {
        let mut findings = Findings::new(self.engine.settings());
        self.engine.finish(&mut self.session, &mut findings);
        self.report(&http_findings(findings));
    }

    fn settle(&self, event: &HttpEvent<'_>, findings: Findings<'_>) -> Verdict {
        let mut findings = http_findings(findings);
        let from = event.from;
        let arrives = self.guarded.is_some_and(|side| side != from);
        // What has left cannot be held back, and the end of a stream is no message.
        let may_refuse = self.strictness == Strictness::Enforce
            && arrives
            && !matches!(event.part, HttpPart::End);
        let verdict = if may_refuse {
            let number = self.seen;
            let blocking =
                findings.iter_mut().filter(|finding| blocks(from, number, arrives, finding));
            refusal::refuse(blocking, &event.message.map(Kinds::of).unwrap_or_default())
        } else {
            Verdict::PASS
        };
        self.report(&findings);
        verdict
    }

    fn report(&self, findings: &[Finding]) {
        if let Some(sink) = &self.sink {
            for finding in findings {
                sink(finding);
            }
        }
    }
}

fn http_findings(mut findings: Findings<'_>) -> Vec<Finding> {
    let mut findings = findings.take();
    findings.retain(|finding| finding.rule.layer == Layer::Http);
    findings
}

impl fmt::Debug for HttpGate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpGate").field("strictness", &self.strictness).finish_non_exhaustive()
    }
}
