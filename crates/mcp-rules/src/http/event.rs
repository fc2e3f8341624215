//! What can be seen of HTTP, one observation at a time.

use mcp_core::{Revision, Side};
use mcp_json::{Node, SyntaxError};

use super::{Headers, exchange::messages};
use crate::{Carrier, conversation::Moment};

/// One observation of HTTP traffic: a request, the head of a response, an event of a stream, or
/// the end of one. Borrows everything; made from a line of a recording or by whoever handles live
/// traffic, and given to [`Engine::follow_http`](crate::Engine::follow_http).
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct HttpEvent<'a> {
    /// A number that a request and everything that answers it have in common.
    pub exchange: u64,
    /// Who sent it; for [`HttpPart::End`], who closed the stream.
    pub from: Side,
    /// What is seen.
    pub part: HttpPart<'a>,
    /// The JSON it carries, parsed: a message or a batch. If the body turns out to be none (the
    /// metadata of an authorization server, say), it is treated like `body`.
    pub message: Option<Node<'a>>,
    /// The text of a body that is not JSON, or of the data of such an event.
    pub body: Option<&'a [u8]>,
    /// Why that is not JSON, if somebody tried to parse it. It is a fault where a message is due.
    pub error: Option<SyntaxError>,
    /// The line it has in a recording, or how many observations were made before it. Findings
    /// refer to each other by it.
    pub line: Option<u64>,
    /// When it was seen, in milliseconds since 1970. Rules about time are silent without it.
    pub millis: Option<i64>,
}

/// The part of an exchange that an [`HttpEvent`] shows.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::exhaustive_enums, reason = "HTTP has no more to show")]
pub enum HttpPart<'a> {
    /// A request, with its whole body.
    Request {
        /// `POST`, `GET` and so on.
        method: &'a str,
        /// The whole address, or just path and query.
        url: &'a str,
        /// Its headers.
        headers: &'a Headers<'a>,
    },
    /// A response: its head, and the body unless that is an event stream.
    Response {
        /// The status code.
        status: u16,
        /// Its headers.
        headers: &'a Headers<'a>,
    },
    /// One event of an event stream.
    Event(SseEvent<'a>),
    /// The end of an event stream.
    End,
}

/// The fields of one event of a stream, as far as they are there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(clippy::exhaustive_structs, reason = "event streams have these fields")]
pub struct SseEvent<'a> {
    /// `id`. An empty one is something else than none.
    pub id: Option<&'a str>,
    /// `event`: its name.
    pub event: Option<&'a str>,
    /// `data`. May be left out where the message is given.
    pub data: Option<&'a [u8]>,
    /// `retry`, in milliseconds.
    pub retry: Option<u64>,
}

impl<'a> HttpEvent<'a> {
    /// An observation without message, body, line and time.
    pub fn new(exchange: u64, from: Side, part: HttpPart<'a>) -> HttpEvent<'a> {
        HttpEvent {
            exchange,
            from,
            part,
            message: None,
            body: None,
            error: None,
            line: None,
            millis: None,
        }
    }

    /// A client sends a request.
    pub fn request(
        exchange: u64,
        method: &'a str,
        url: &'a str,
        headers: &'a Headers<'a>,
    ) -> HttpEvent<'a> {
        HttpEvent::new(exchange, Side::Client, HttpPart::Request { method, url, headers })
    }

    /// A server responds.
    pub fn response(exchange: u64, status: u16, headers: &'a Headers<'a>) -> HttpEvent<'a> {
        HttpEvent::new(exchange, Side::Server, HttpPart::Response { status, headers })
    }

    /// A server sends an event on the stream of a response.
    pub fn event(exchange: u64, event: SseEvent<'a>) -> HttpEvent<'a> {
        HttpEvent::new(exchange, Side::Server, HttpPart::Event(event))
    }

    /// The stream of a response is closed by this side.
    pub fn end(exchange: u64, from: Side) -> HttpEvent<'a> {
        HttpEvent::new(exchange, from, HttpPart::End)
    }

    /// With the JSON that it carries.
    #[must_use]
    pub fn with_message(self, message: Node<'a>) -> HttpEvent<'a> {
        HttpEvent { message: Some(message), ..self }
    }

    /// With a body that is not meant to be JSON.
    #[must_use]
    pub fn with_body(self, body: &'a [u8]) -> HttpEvent<'a> {
        HttpEvent { body: Some(body), ..self }
    }

    /// With a body that should be JSON and is not.
    #[must_use]
    pub fn with_unreadable(self, body: &'a [u8], error: SyntaxError) -> HttpEvent<'a> {
        HttpEvent { body: Some(body), error: Some(error), ..self }
    }

    /// With its line in the recording, or its number in the traffic.
    #[must_use]
    pub fn on_line(self, line: u64) -> HttpEvent<'a> {
        HttpEvent { line: Some(line), ..self }
    }

    /// With the time it was seen at, in milliseconds since 1970.
    #[must_use]
    pub fn at_millis(self, millis: i64) -> HttpEvent<'a> {
        HttpEvent { millis: Some(millis), ..self }
    }

    /// The status, if it is a response.
    pub(crate) fn status(&self) -> Option<u16> {
        match self.part {
            HttpPart::Response { status, .. } => Some(status),
            HttpPart::Request { .. } | HttpPart::Event(_) | HttpPart::End => None,
        }
    }

    /// How its text travelled.
    pub(crate) fn carrier(&self) -> Carrier {
        match self.part {
            HttpPart::Event(_) => Carrier::SseEvent,
            HttpPart::Request { .. } | HttpPart::Response { .. } | HttpPart::End => {
                Carrier::HttpBody
            }
        }
    }

    /// Whether it is an event that has data, but nothing in it.
    pub(crate) fn has_empty_data(&self) -> bool {
        match self.part {
            HttpPart::Event(sse) => {
                self.message.is_none() && sse.data.or(self.body).is_some_and(<[u8]>::is_empty)
            }
            HttpPart::Request { .. } | HttpPart::Response { .. } | HttpPart::End => false,
        }
    }

    /// Whether it is the answer to a request that was not granted.
    pub(crate) fn is_refusal(&self) -> bool {
        self.status().is_some_and(|status| status >= 400)
    }

    /// When and where it was seen; `posts` says how many POSTs there were before.
    pub(crate) fn moment(&self, posts: u64) -> Moment {
        Moment { line: self.line, stream: Some(self.exchange), posts, millis: self.millis }
    }
}

/// An event with what the session knows about it. This is what rules look at.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Observation<'a> {
    pub(crate) at: Moment,
    pub(crate) from: Side,
    pub(crate) exchange: u64,
    pub(crate) part: HttpPart<'a>,
    /// The message it carries, or a batch.
    pub(crate) message: Option<Node<'a>>,
    /// The text of a body that is no message.
    pub(crate) body: Option<&'a [u8]>,
    /// The revision to judge by, and whether that is certain.
    pub(crate) revision: Revision,
    pub(crate) settled: bool,
}

impl<'a> Observation<'a> {
    /// The messages it carries: one, or those of a batch.
    pub(crate) fn messages(&self) -> impl Iterator<Item = Node<'a>> {
        self.message.into_iter().flat_map(messages)
    }

    /// Whether there is anything to an event. A block that has only `retry` is none.
    pub(crate) fn is_dispatched(&self, sse: SseEvent<'_>) -> bool {
        self.message.is_some() || self.body.is_some() || sse.data.is_some() || sse.id.is_some()
    }
}
