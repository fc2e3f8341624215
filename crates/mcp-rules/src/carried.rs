//! A recorded HTTP line: what it shows beside its message.

use std::borrow::Cow;

use mcp_core::{Revision, Side};
use mcp_json::Node;

use crate::{
    Content, Engine, Followed, Record, Session,
    conversation::{Moment, Notes},
    findings::Fault,
    http::{Delivery, Exchange, Headers, HttpEvent, Part, Sse, is_media_type},
    wire::json::SSE_DATA_INVALID,
};

/// The `http` member of a record.
#[derive(Debug)]
pub(crate) struct HttpLine<'a> {
    exchange: u64,
    method: Option<Cow<'a, str>>,
    url: Cow<'a, str>,
    headers: Headers<'a>,
    status: Option<u16>,
    sse: Option<Sse<'a>>,
    ends: bool,
}

impl<'a> HttpLine<'a> {
    /// Reads the member; nothing can be said about a line that belongs to no exchange.
    pub(crate) fn read(http: Node<'a>) -> Option<HttpLine<'a>> {
        let text = |name| http.get(name).and_then(Node::as_str);
        let status = http.get("status").and_then(Node::as_u64);
        Some(HttpLine {
            exchange: http.get("exchange")?.as_u64()?,
            method: text("method"),
            url: text("url").unwrap_or_default(),
            headers: Headers { node: http.get("headers") },
            status: status.and_then(|status| u16::try_from(status).ok()),
            sse: http.get("sse").map(|node| Sse { node: Some(node) }),
            ends: http.get("end").and_then(Node::as_bool) == Some(true),
        })
    }

    pub(crate) fn exchange(&self) -> u64 {
        self.exchange
    }

    /// Whether it is the answer to a request that was not granted.
    pub(crate) fn is_refusal(&self) -> bool {
        self.status.is_some_and(|status| status >= 400)
    }

    /// Whether it is the answer to messages that need none.
    pub(crate) fn is_receipt(&self, session: &Session) -> bool {
        let accepted = self.status.is_some_and(|status| (200..300).contains(&status));
        let exchange = session.exchange(self.exchange);
        accepted && self.method.is_none() && exchange.is_some_and(Exchange::needs_no_answer)
    }

    /// What its text is meant as. Metadata, forms and tokens are no messages.
    pub(crate) fn meant(&self, record: &Record<'_>, session: &Session) -> Meant {
        let exchange = session.exchange(self.exchange);
        let is_body = matches!(record.content, Content::Body(_));
        match self.part() {
            Some(Part::Request { url, headers, .. }) => {
                if is_body || is_form(headers) {
                    Meant::Other
                } else if session.is_elsewhere(url) {
                    Meant::Either
                } else {
                    Meant::Message
                }
            }
            Some(Part::Event(sse)) => {
                let names_endpoint = sse.event().as_deref() == Some("endpoint")
                    && !exchange.is_some_and(Exchange::is_post);
                // A stream whose beginning was missed may be one of another transport.
                let is_unknown =
                    !exchange.is_some_and(|exchange| exchange.seen) && !session.revision().1;
                let beside = exchange.is_some_and(Exchange::is_beside_endpoint);
                if names_endpoint || is_unknown || beside { Meant::Either } else { Meant::Message }
            }
            Some(Part::Response { .. } | Part::End) | None => {
                let answers = record.from == Side::Server
                    && exchange.is_some_and(|exchange| !exchange.posted.is_empty());
                if is_body && !answers {
                    Meant::Other
                } else if self.is_receipt(session) || exchange.is_some_and(Exchange::is_elsewhere) {
                    Meant::Either
                } else {
                    Meant::Message
                }
            }
        }
    }

    /// What is wrong with an event that has no data, if anything: since 2025-11-25 such an event
    /// gives the client an id to resume from.
    pub(crate) fn empty_data(&self, session: &Session) -> Option<Fault> {
        let has_id = self.sse.and_then(Sse::id).is_some_and(|id| !id.is_empty());
        let (revision, settled) =
            session.revision_of_exchange(self.exchange).unwrap_or_else(|| session.revision());
        let primes = has_id && (revision == Revision::V2025_11_25 || !settled);
        let other_transport = session.exchange(self.exchange).is_some_and(Exchange::is_http_sse);
        (!primes && !other_transport && SSE_DATA_INVALID.applies.contains(revision)).then(|| {
            Fault::new(&SSE_DATA_INVALID, "the event has empty data, which is no message")
                .help("keep a stream open with comment lines")
        })
    }

    /// What it shows, besides the end of a stream.
    fn part(&self) -> Option<Part<'_>> {
        let headers = self.headers;
        Some(match (&self.method, self.status, self.sse) {
            (Some(method), _, _) => Part::Request { method, url: &self.url, headers },
            (None, _, Some(sse)) => Part::Event(sse),
            (None, Some(status), None) => Part::Response { status, headers },
            (None, None, None) => return None,
        })
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

/// Whether a value, or one of several, says that it is a message.
pub(crate) fn claims_json_rpc(value: Node<'_>) -> bool {
    let claims = |value: Node<'_>| value.get("jsonrpc").is_some();
    claims(value) || value.elements().any(claims)
}

fn is_form(headers: Headers<'_>) -> bool {
    let kind = headers.get("content-type").unwrap_or_default();
    is_media_type(&kind, "application/x-www-form-urlencoded")
        || is_media_type(&kind, "multipart/form-data")
}

/// What one HTTP line carries and how it was seen.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Carried<'a> {
    pub(crate) from: Side,
    pub(crate) at: Moment,
    pub(crate) message: Option<Node<'a>>,
    pub(crate) body: Option<&'a [u8]>,
}

impl Carried<'_> {
    /// Takes the line into the session: its message, and what HTTP shows. Notes that belong to no
    /// message are given back.
    pub(crate) fn follow(
        mut self,
        line: &HttpLine<'_>,
        engine: &Engine,
        session: &mut Session,
    ) -> (Option<Followed>, Notes) {
        let mut notes = Notes::default();
        self.at.stream = Some(line.exchange);
        self.at.posts = session.posts();
        let mut followed = None;
        match line.part() {
            Some(part @ Part::Request { .. }) => {
                session.open_exchange(engine.criteria(), &self.event(line, part, session));
                self.at.posts = session.posts();
                followed = self.follow_message(engine, session);
                let mut event = self.event(line, part, session);
                if let Some(Followed::One(context) | Followed::Batch(context, _)) = &followed {
                    (event.revision, event.settled) = (context.revision, context.settled);
                }
                session.follow_http(engine.criteria(), &event, &mut notes);
            }
            Some(part) => {
                let event = self.event(line, part, session);
                if session.follow_http(engine.criteria(), &event, &mut notes) == Delivery::Fresh {
                    followed = self.follow_message(engine, session);
                }
                match line.status {
                    Some(300..=399 | 401 | 407 | 429 | 503) => session.send_back(line.exchange),
                    Some(400..) => session.close_refused(engine.criteria(), line.exchange),
                    _ => {}
                }
            }
            None => followed = self.follow_message(engine, session),
        }
        if line.ends {
            let mut event = self.event(line, Part::End, session);
            event.message = None;
            session.follow_http(engine.criteria(), &event, &mut notes);
        }
        match &mut followed {
            Some(Followed::One(context)) => {
                context.http_error_body = line.is_refusal();
                context.notes.append(notes);
            }
            Some(Followed::Batch(whole, _)) => whole.notes.append(notes),
            None => return (None, notes),
        }
        (followed, Notes::default())
    }

    fn follow_message(&self, engine: &Engine, session: &mut Session) -> Option<Followed> {
        let message = self.message?;
        Some(engine.follow_at(session, Some(self.from), message, self.at))
    }

    fn event<'e>(
        &'e self,
        line: &'e HttpLine<'_>,
        part: Part<'e>,
        session: &Session,
    ) -> HttpEvent<'e> {
        let (revision, settled) =
            session.revision_of_exchange(line.exchange).unwrap_or_else(|| session.revision());
        HttpEvent {
            at: self.at,
            from: self.from,
            exchange: line.exchange,
            part,
            message: self.message,
            body: self.body,
            revision,
            settled,
        }
    }
}
