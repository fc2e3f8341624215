//! Takes HTTP traffic into a session: the messages it carries, and what it shows beside them.

use mcp_core::{Revision, Side};
use mcp_json::Node;

use super::{
    Delivery, Exchange, HeaderName, Headers, HttpEvent, HttpPart, Observation, is_media_type,
};
use crate::{
    Engine, Findings, Followed, Session,
    findings::{Fault, Scene},
    rules::json::SSE_DATA_INVALID,
    session::Notes,
};

/// What a session says about an [`HttpEvent`]: about the message it carries, if there is one, and
/// about everything around it. To be judged with [`Engine::judge_http`].
#[derive(Debug)]
pub struct FollowedHttp {
    /// What it says about the message. `None` if there is no message, or if it was delivered
    /// before: it counts once.
    pub message: Option<Followed>,
    /// What HTTP shows; with a message it is among the notes of that.
    notes: Notes,
    revision: Revision,
}

impl Engine {
    /// Takes one observation of HTTP into the session: the message that it carries, as
    /// [`Engine::follow`] does, and what HTTP itself shows. Observations come in the order in which
    /// they are made; with [`Session::begin`] the session knows that nothing was before the first.
    ///
    /// A body that could not be parsed is given as [`HttpEvent::body`]; report it with
    /// [`Engine::judge_unreadable`] if it was meant as a message.
    ///
    /// ```
    /// use mcp_json::Tape;
    /// use mcp_rules::{Engine, Findings, Headers, HttpEvent, Settings};
    /// use mcp_schema::Schemas;
    ///
    /// let engine = Engine::new(Schemas::embedded(), Settings::default());
    /// let mut session = engine.session(None);
    /// session.begin();
    ///
    /// // A server receives a request. The body was parsed when it arrived.
    /// let body = br#"{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{
    ///     "io.modelcontextprotocol/protocolVersion":"2026-07-28",
    ///     "io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},
    ///     "io.modelcontextprotocol/clientCapabilities":{}}}}"#;
    /// let mut tape = Tape::new();
    /// let document = tape.parse(body, engine.settings().limits.json())?;
    /// let headers: Headers = [
    ///     ("accept", "application/json, text/event-stream"),
    ///     ("content-type", "application/json"),
    ///     ("mcp-protocol-version", "2026-07-28"),
    ///     ("mcp-method", "tools/list"),
    /// ]
    /// .into_iter()
    /// .collect();
    /// let event = HttpEvent::request(1, "POST", "/mcp", &headers).with_message(document.root());
    ///
    /// let followed = engine.follow_http(&mut session, &event);
    /// let mut findings = Findings::new(engine.settings());
    /// engine.judge_http(&event, &followed, &mut findings);
    /// let [finding] = findings.as_slice() else { panic!("{findings:?}") };
    /// assert_eq!(finding.rule.name, "mcp-method-header-mismatch");
    ///
    /// // What it answers is one exchange with it.
    /// let headers: Headers = [("content-type", "text/html")].into_iter().collect();
    /// let event = HttpEvent::response(1, 200, &headers).with_body(b"<p>hello");
    /// let followed = engine.follow_http(&mut session, &event);
    /// let mut findings = Findings::new(engine.settings());
    /// engine.judge_http(&event, &followed, &mut findings);
    /// assert_eq!(findings.as_slice()[0].rule.name, "http-response-content-type");
    /// # Ok::<(), mcp_json::SyntaxError>(())
    /// ```
    pub fn follow_http(&self, session: &mut Session, event: &HttpEvent<'_>) -> FollowedHttp {
        let mut event = *event;
        if let Some(value) = event.message
            && !is_message(&event, value, session)
        {
            event.message = None;
            event.body = Some(value.raw());
        }
        self.follow_http_event(session, &event)
    }

    /// Judges what [`Engine::follow_http`] was given by what it said about it. Needs no session: it
    /// may run elsewhere.
    pub fn judge_http(
        &self,
        event: &HttpEvent<'_>,
        followed: &FollowedHttp,
        findings: &mut Findings<'_>,
    ) {
        if let Some(line) = event.line {
            findings.set_line(line);
        }
        match (&followed.message, event.message) {
            (Some(followed), Some(message)) => self.judge(message, followed, findings),
            _ => followed.report(event.from, findings),
        }
    }

    /// As [`Engine::follow_http`], where it is beyond doubt that the message is one.
    pub(crate) fn follow_http_event(
        &self,
        session: &mut Session,
        event: &HttpEvent<'_>,
    ) -> FollowedHttp {
        let mut notes = Notes::default();
        let mut message = None;
        if let HttpPart::Request { .. } = event.part {
            session.open_exchange(self, &observed(event, session));
            message = self.follow_message(session, event);
            let mut observed = observed(event, session);
            if let Some(Followed::One(context) | Followed::Batch(context, _)) = &message {
                (observed.revision, observed.settled) = (context.revision, context.settled);
            }
            session.follow_http(self, &observed, &mut notes);
        } else {
            let observed = observed(event, session);
            let delivery = session.follow_http(self, &observed, &mut notes);
            if delivery == Delivery::Fresh && !matches!(event.part, HttpPart::End) {
                message = self.follow_message(session, event);
            }
            match event.status() {
                Some(300..=399 | 401 | 407 | 429 | 503) => session.send_back(event.exchange),
                Some(400..) => session.close_refused(self, event.exchange),
                _ => {}
            }
        }
        if let Some(Followed::One(context)) = &mut message {
            context.http_error_body = event.is_refusal();
        }
        let (revision, _) = session.revision_of(event.exchange);
        let mut followed = FollowedHttp { message, notes: Notes::default(), revision };
        followed.add(notes);
        followed
    }

    /// Takes in the message that an event carries, and nothing else.
    pub(crate) fn follow_message(
        &self,
        session: &mut Session,
        event: &HttpEvent<'_>,
    ) -> Option<Followed> {
        let at = event.moment(session.posts());
        Some(self.follow_at(session, Some(event.from), event.message?, at))
    }
}

impl FollowedHttp {
    /// What is said about a message of which HTTP shows nothing else.
    pub(crate) fn of_message(message: Option<Followed>, revision: Revision) -> FollowedHttp {
        FollowedHttp { message, notes: Notes::default(), revision }
    }

    /// Adds what another observation of the same line shows.
    pub(crate) fn append(&mut self, other: FollowedHttp) {
        self.add(other.notes);
    }

    fn add(&mut self, notes: Notes) {
        match &mut self.message {
            Some(Followed::One(context) | Followed::Batch(context, _)) => {
                context.notes.append(notes);
            }
            None => self.notes.append(notes),
        }
    }

    /// Reports what HTTP shows without a message.
    pub(crate) fn report(&self, from: Side, findings: &mut Findings<'_>) {
        let line = findings.scene().line;
        *findings.scene() =
            Scene { from: Some(from), revision: Some(self.revision), line, ..Scene::default() };
        self.notes.report(true, findings);
    }
}

/// The event, with what the session knows before it.
fn observed<'a>(event: &HttpEvent<'a>, session: &Session) -> Observation<'a> {
    let (revision, settled) = session.revision_of(event.exchange);
    Observation {
        at: event.moment(session.posts()),
        from: event.from,
        exchange: event.exchange,
        part: event.part,
        message: event.message,
        body: event.body,
        revision,
        settled,
    }
}

/// What a text is meant as, as far as that can be told without reading it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Meant {
    Message,
    /// A message if it says so.
    Either,
    Other,
}

impl Meant {
    /// What the text of an event is meant as. Metadata, forms and tokens are no messages.
    pub(crate) fn of(event: &HttpEvent<'_>, session: &Session) -> Meant {
        let exchange = session.exchange(event.exchange);
        match event.part {
            HttpPart::Request { headers, .. } if is_form(headers) => Meant::Other,
            HttpPart::Request { url, .. } if session.is_elsewhere(url) => Meant::Either,
            HttpPart::Request { .. } => Meant::Message,
            HttpPart::Event(sse) => {
                let names_endpoint =
                    sse.event == Some("endpoint") && !exchange.is_some_and(Exchange::is_post);
                // A stream whose beginning was missed may be one of another transport.
                let is_unknown =
                    !exchange.is_some_and(|exchange| exchange.seen) && !session.revision().1;
                let beside = exchange.is_some_and(Exchange::is_beside_endpoint);
                if names_endpoint || is_unknown || beside { Meant::Either } else { Meant::Message }
            }
            HttpPart::Response { .. } | HttpPart::End => {
                if is_receipt(event, session) || exchange.is_some_and(Exchange::is_elsewhere) {
                    Meant::Either
                } else {
                    Meant::Message
                }
            }
        }
    }
}

/// Whether a JSON value that was parsed from a body is to be taken for a message. Whoever refuses a
/// request need not speak JSON-RPC: OAuth has errors of its own.
pub(crate) fn is_message(event: &HttpEvent<'_>, value: Node<'_>, session: &Session) -> bool {
    match Meant::of(event, session) {
        Meant::Other => false,
        Meant::Message if !event.is_refusal() => true,
        Meant::Message | Meant::Either => claims_json_rpc(value),
    }
}

/// Whether it is the answer to messages that need none.
pub(crate) fn is_receipt(event: &HttpEvent<'_>, session: &Session) -> bool {
    let accepted = event.status().is_some_and(|status| (200..300).contains(&status));
    let exchange = session.exchange(event.exchange);
    accepted && exchange.is_some_and(Exchange::needs_no_answer)
}

/// Whether a value, or one of several, says that it is a message.
pub(crate) fn claims_json_rpc(value: Node<'_>) -> bool {
    let claims = |value: Node<'_>| value.get("jsonrpc").is_some();
    claims(value) || value.elements().any(claims)
}

/// What is wrong with an event that has no data, if anything: since 2025-11-25 such an event gives
/// the client an id to resume from.
pub(crate) fn empty_data(event: &HttpEvent<'_>, session: &Session) -> Option<Fault> {
    let HttpPart::Event(sse) = event.part else { return None };
    let has_id = sse.id.is_some_and(|id| !id.is_empty());
    let (revision, settled) = session.revision_of(event.exchange);
    let primes = has_id && (revision == Revision::V2025_11_25 || !settled);
    let other_transport = session.exchange(event.exchange).is_some_and(Exchange::is_http_sse);
    (!primes && !other_transport && SSE_DATA_INVALID.applies.contains(revision)).then(|| {
        Fault::new(&SSE_DATA_INVALID, "the event has empty data, which is no message")
            .help("keep a stream open with comment lines")
    })
}

fn is_form(headers: &Headers<'_>) -> bool {
    let kind = headers.value(HeaderName::ContentType).unwrap_or_default();
    is_media_type(&kind, "application/x-www-form-urlencoded")
        || is_media_type(&kind, "multipart/form-data")
}
