//! Records HTTP traffic in a session: the messages it carries, and the HTTP around them.

use mcp_core::Revision;
use mcp_json::Node;
use mcp_jsonrpc::Envelope;

use crate::{
    Engine, Findings, Followed, Headers, HttpEvent, HttpPart, Session,
    conversation::Notes,
    findings::{Fault, Scene},
    http::{CarriedMessage, Delivery, Exchange, HeaderName, Observation, is_media_type},
    wire::{framing, json::SSE_DATA_INVALID},
};

/// What a session knows about an [`HttpEvent`]: about its message, if there is one, and about
/// everything around it. To be judged with [`Engine::judge_http`].
#[derive(Debug)]
pub struct FollowedHttp {
    /// The context of the message. `None` if there is no message, or if it was delivered before, as
    /// it counts only once.
    pub message: Option<Followed>,
    /// Faults of HTTP itself; if there is a message, they are among its notes.
    notes: Notes,
    /// Whether its text should have been a message and is unreadable.
    is_unreadable: bool,
    /// Whether its message was delivered before.
    pub(crate) is_repeated: bool,
    revision: Revision,
}

impl Engine {
    /// Records one observation of HTTP in the session: the message it carries, as
    /// [`Engine::follow`] does, and HTTP itself. Observations must come in the order they are made;
    /// after [`Session::begin`] the session knows that nothing came before the first.
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
        self.follow_text(session, event, Messages::New)
    }

    /// Like [`Engine::follow_http`], for traffic that this side sends: its messages were followed when
    /// they were judged, before their exchange was chosen, so only the HTTP around them is recorded.
    pub(crate) fn place_http(&self, session: &mut Session, event: &HttpEvent<'_>) -> FollowedHttp {
        self.follow_text(session, event, Messages::Followed)
    }

    fn follow_text(
        &self,
        session: &mut Session,
        event: &HttpEvent<'_>,
        messages: Messages,
    ) -> FollowedHttp {
        session.turn_to_exchange(event.exchange);
        let meant = Meant::of(event, session);
        match event.message {
            Some(value) if !meant.includes(value, event) => {
                let event = HttpEvent { message: None, ..event.with_body(value.raw()) };
                self.follow_parts(session, &event, meant, messages)
            }
            _ => self.follow_parts(session, event, meant, messages),
        }
    }

    /// Judges an event in the context from [`Engine::follow_http`]. Needs no session, so it may run
    /// elsewhere.
    pub fn judge_http(
        &self,
        event: &HttpEvent<'_>,
        followed: &FollowedHttp,
        findings: &mut Findings<'_>,
    ) {
        if let Some(line) = event.line {
            findings.set_line(line);
        }
        match (&followed.message, event.message, event.read) {
            (Some(Followed::One(context)), Some(_), Some(read)) => {
                self.judge_read(read, context, findings);
            }
            (Some(followed), Some(message), _) => self.judge(message, followed, findings),
            _ => followed.report(event, findings),
        }
    }

    /// Like [`Engine::follow_http`], where it is already known whether the text is a message, or meant
    /// to be one.
    pub(crate) fn follow_http_event(
        &self,
        session: &mut Session,
        event: &HttpEvent<'_>,
        meant: Meant,
    ) -> FollowedHttp {
        self.follow_parts(session, event, meant, Messages::New)
    }

    fn follow_parts(
        &self,
        session: &mut Session,
        event: &HttpEvent<'_>,
        meant: Meant,
        messages: Messages,
    ) -> FollowedHttp {
        let mut notes = Notes::default();
        if event.has_empty_data() && meant == Meant::Message {
            judge_empty_data(event, session, &mut notes);
        }
        let mut message = None;
        let mut is_repeated = false;
        let just_read = single_in(event);
        let single = event.message.and(event.read).or(just_read.as_ref());
        if let HttpPart::Request { .. } = event.part {
            session.open_exchange(self.criteria(), &observed(event, single, session));
            let made_with = match messages {
                Messages::New => {
                    message = self.follow_carried(session, event, single);
                    message.as_ref().map(|message| {
                        let (Followed::One(context) | Followed::Batch(context, _)) = message;
                        (context.revision, context.settled)
                    })
                }
                Messages::Followed => session.place_requests(event.exchange),
            };
            let mut observed = observed(event, single, session);
            if let Some(made_with) = made_with {
                (observed.revision, observed.settled) = made_with;
            }
            session.follow_http(self.criteria(), &observed, &mut notes);
        } else {
            let observed = observed(event, single, session);
            let delivery = session.follow_http(self.criteria(), &observed, &mut notes);
            let is_new = messages == Messages::New && delivery == Delivery::Fresh;
            is_repeated = event.message.is_some() && delivery == Delivery::Again;
            if is_new && !matches!(event.part, HttpPart::End) {
                message = self.follow_carried(session, event, single);
            }
            match event.status() {
                Some(300..=399 | 401 | 407 | 429 | 503) => session.send_back(event.exchange),
                Some(400..) => session.close_refused(self.criteria(), event.exchange),
                _ => {}
            }
        }
        if let Some(Followed::One(context)) = &mut message {
            context.http_error_body = event.is_refusal();
        }
        let is_unreadable =
            event.error.is_some() && !event.has_empty_data() && meant == Meant::Message;
        if is_unreadable {
            session.note_unreadable(Some(event.from));
        }
        let (revision, _) = session.revision_of(event.exchange);
        let mut followed =
            FollowedHttp { message, notes: Notes::default(), is_unreadable, is_repeated, revision };
        followed.add(notes);
        followed
    }

    /// Records only the message that an event carries.
    pub(crate) fn follow_message(
        &self,
        session: &mut Session,
        event: &HttpEvent<'_>,
    ) -> Option<Followed> {
        let just_read = single_in(event);
        let single = event.message.and(event.read).or(just_read.as_ref());
        self.follow_carried(session, event, single)
    }

    fn follow_carried(
        &self,
        session: &mut Session,
        event: &HttpEvent<'_>,
        single: Option<&CarriedMessage<'_>>,
    ) -> Option<Followed> {
        let (at, from) = (event.moment(session.posts()), Some(event.from));
        Some(match single {
            Some(read) => Followed::One(session.follow(self.criteria(), from, read, at)),
            None => self.follow_at(session, from, event.message?, at),
        })
    }
}

impl FollowedHttp {
    /// Whether there are notes that judging would report.
    pub(crate) fn has_notes(&self) -> bool {
        let noted = match &self.message {
            Some(Followed::One(context)) => !context.notes.is_empty(),
            Some(Followed::Batch(whole, contexts)) => {
                std::iter::once(whole).chain(contexts).any(|context| !context.notes.is_empty())
            }
            None => false,
        };
        noted || !self.notes.is_empty() || self.is_unreadable
    }

    /// Creates the result for a message without any notes on HTTP.
    pub(crate) fn of_message(message: Option<Followed>, revision: Revision) -> FollowedHttp {
        let notes = Notes::default();
        FollowedHttp { message, notes, is_unreadable: false, is_repeated: false, revision }
    }

    /// Adds the notes of another observation of the same line.
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

    /// Reports faults that need no message.
    fn report(&self, event: &HttpEvent<'_>, findings: &mut Findings<'_>) {
        let (from, revision) = (Some(event.from), Some(self.revision));
        let line = findings.scene().line;
        *findings.scene() = Scene { from, revision, line, ..Scene::default() };
        self.notes.report(true, findings);
        if let Some(error) = event.error.filter(|_| self.is_unreadable) {
            let body = event.body.unwrap_or_default();
            framing::report_unreadable(event.carrier(), from, &error, body, findings);
        }
    }
}

/// Whether messages are followed with the HTTP that carries them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Messages {
    New,
    /// They were followed before.
    Followed,
}

/// The message in an event, unless it is a batch or its envelope was already read.
fn single_in<'a>(event: &HttpEvent<'a>) -> Option<CarriedMessage<'a>> {
    event.message.filter(|_| event.read.is_none()).and_then(CarriedMessage::single)
}

/// The event, with what the session knows before it.
fn observed<'a>(
    event: &HttpEvent<'a>,
    single: Option<&'a CarriedMessage<'a>>,
    session: &Session,
) -> Observation<'a> {
    let (revision, settled) = session.revision_of(event.exchange);
    Observation {
        at: event.moment(session.posts()),
        from: event.from,
        exchange: event.exchange,
        part: event.part,
        message: event.message,
        single,
        body: event.body,
        revision,
        settled,
    }
}

/// What a text is meant to be, as far as can be told without parsing it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Meant {
    Message,
    /// A message if it claims to be one.
    Either,
    Other,
}

impl Meant {
    /// Returns what the text of an event is meant to be. Metadata, forms and tokens are not
    /// messages.
    pub(crate) fn of(event: &HttpEvent<'_>, session: &Session) -> Meant {
        let exchange = session.exchange(event.exchange);
        match event.part {
            HttpPart::Request { headers, .. } if is_form(headers) => Meant::Other,
            HttpPart::Request { url, .. } if session.is_elsewhere(url) => Meant::Either,
            HttpPart::Request { .. } => Meant::Message,
            HttpPart::Event(sse) => {
                let names_endpoint =
                    sse.event == Some("endpoint") && !exchange.is_some_and(Exchange::is_post);
                // A stream whose start was missed may belong to another transport.
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

    /// Whether a JSON value counts as a message, given what the text is meant to be. A refusal need
    /// not be JSON-RPC: OAuth has its own errors.
    pub(crate) fn includes(self, value: Node<'_>, event: &HttpEvent<'_>) -> bool {
        match self {
            Meant::Other => false,
            Meant::Message if !event.is_refusal() => true,
            Meant::Message | Meant::Either => claims_json_rpc(value),
        }
    }
}

/// Whether an event is the response to messages that need no answer.
pub(crate) fn is_receipt(event: &HttpEvent<'_>, session: &Session) -> bool {
    let accepted = event.status().is_some_and(|status| (200..300).contains(&status));
    let exchange = session.exchange(event.exchange);
    accepted && exchange.is_some_and(Exchange::needs_no_answer)
}

/// Whether a value, or one of several, claims to be a message.
pub(crate) fn claims_json_rpc(value: Node<'_>) -> bool {
    let claims = |value: Node<'_>| Envelope::of(value).jsonrpc.is_some();
    claims(value) || value.elements().any(claims)
}

/// Judges an event without data, which is not a message. Since 2025-11-25 one may give the client
/// an id to resume from.
fn judge_empty_data(event: &HttpEvent<'_>, session: &Session, notes: &mut Notes) {
    let HttpPart::Event(sse) = event.part else { return };
    let has_id = sse.id.is_some_and(|id| !id.is_empty());
    let (revision, settled) = session.revision_of(event.exchange);
    let primes = has_id && (revision == Revision::V2025_11_25 || !settled);
    // Such an event only says how long to wait before reconnecting.
    let is_retry = sse.retry.is_some();
    let other_transport = session.exchange(event.exchange).is_some_and(Exchange::is_http_sse);
    if !primes && !is_retry && !other_transport && SSE_DATA_INVALID.applies.contains(revision) {
        notes.always(
            Fault::new(&SSE_DATA_INVALID, "the event has empty data, which is not a message")
                .help("keep a stream open with comment lines"),
        );
    }
}

fn is_form(headers: &Headers<'_>) -> bool {
    let kind = headers.value(HeaderName::ContentType).unwrap_or_default();
    is_media_type(&kind, "application/x-www-form-urlencoded")
        || is_media_type(&kind, "multipart/form-data")
}
