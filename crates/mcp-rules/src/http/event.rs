//! Observations of HTTP traffic.

use mcp_core::{RequestId, Revision, Side};
use mcp_json::{Node, SyntaxError};
use mcp_jsonrpc::{Envelope, MessageKind};

use super::Headers;
use crate::{
    Carrier,
    conversation::{Moment, digest::digest, request_id},
};

/// One observation of HTTP traffic: a request, the head of a response, an event of a stream, or the
/// end of one. Borrows everything; created from a line of a recording or from live traffic, and
/// passed to [`Engine::follow_http`](crate::Engine::follow_http).
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct HttpEvent<'a> {
    /// A number shared by a request and everything that answers it.
    pub exchange: u64,
    /// Who sent it; for [`HttpPart::End`], who closed the stream.
    pub from: Side,
    /// What was observed.
    pub part: HttpPart<'a>,
    /// The JSON it carries, parsed: a message or a batch. If it turns out to be neither (the
    /// metadata of an authorization server, for example), it is treated like `body`.
    pub message: Option<Node<'a>>,
    /// The text of a body, or of an event's data, that is not JSON.
    pub body: Option<&'a [u8]>,
    /// Why that is not JSON, if parsing was attempted. It is a fault where a message is expected.
    pub error: Option<SyntaxError>,
    /// Its line in a recording, or the number of earlier observations. Findings refer to each other
    /// by it.
    pub line: Option<u64>,
    /// When it was observed, in milliseconds since 1970. Rules about time need it.
    pub millis: Option<i64>,
    /// The message, if its envelope was read before.
    pub(crate) read: Option<&'a CarriedMessage<'a>>,
}

/// The part of an exchange that an [`HttpEvent`] shows.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::exhaustive_enums, reason = "HTTP has no more to show")]
pub enum HttpPart<'a> {
    /// A request, with its whole body.
    Request {
        /// `POST`, `GET` and so on.
        method: &'a str,
        /// The full URL, or just path and query.
        url: &'a str,
        /// Its headers.
        headers: &'a Headers<'a>,
    },
    /// A response: its head, and its body unless that is an event stream.
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

/// The fields present in one event of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(clippy::exhaustive_structs, reason = "event streams have these fields")]
pub struct SseEvent<'a> {
    /// `id`. An empty one is not the same as none.
    pub id: Option<&'a str>,
    /// `event`: its name.
    pub event: Option<&'a str>,
    /// `data`. May be omitted where the message is given.
    pub data: Option<&'a [u8]>,
    /// `retry`, in milliseconds.
    pub retry: Option<u64>,
}

impl<'a> HttpEvent<'a> {
    /// Creates an observation without message, body, line and time.
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
            read: None,
        }
    }

    /// Creates the observation of a client's request.
    pub fn request(
        exchange: u64,
        method: &'a str,
        url: &'a str,
        headers: &'a Headers<'a>,
    ) -> HttpEvent<'a> {
        HttpEvent::new(exchange, Side::Client, HttpPart::Request { method, url, headers })
    }

    /// Creates the observation of a server's response.
    pub fn response(exchange: u64, status: u16, headers: &'a Headers<'a>) -> HttpEvent<'a> {
        HttpEvent::new(exchange, Side::Server, HttpPart::Response { status, headers })
    }

    /// Creates the observation of an event on the stream of a response.
    pub fn event(exchange: u64, event: SseEvent<'a>) -> HttpEvent<'a> {
        HttpEvent::new(exchange, Side::Server, HttpPart::Event(event))
    }

    /// Creates the observation that `from` closed the stream of a response.
    pub fn end(exchange: u64, from: Side) -> HttpEvent<'a> {
        HttpEvent::new(exchange, from, HttpPart::End)
    }

    /// Sets the JSON that it carries.
    #[must_use]
    pub fn with_message(self, message: Node<'a>) -> HttpEvent<'a> {
        HttpEvent { message: Some(message), read: None, ..self }
    }

    /// Sets the JSON that it carries, with its envelope if it is a single message.
    pub(crate) fn with_read(
        self,
        message: Node<'a>,
        read: Option<&'a CarriedMessage<'a>>,
    ) -> HttpEvent<'a> {
        self.with_message(message).with_envelope(read)
    }

    /// Sets the envelope of its message, which was already read.
    pub(crate) fn with_envelope(self, read: Option<&'a CarriedMessage<'a>>) -> HttpEvent<'a> {
        HttpEvent { read, ..self }
    }

    /// Sets a body that is not meant to be JSON.
    #[must_use]
    pub fn with_body(self, body: &'a [u8]) -> HttpEvent<'a> {
        HttpEvent { body: Some(body), ..self }
    }

    /// Sets a body that should be JSON but is not.
    #[must_use]
    pub fn with_unreadable(self, body: &'a [u8], error: SyntaxError) -> HttpEvent<'a> {
        HttpEvent { body: Some(body), error: Some(error), ..self }
    }

    /// Sets its line in the recording, or its number in the traffic.
    #[must_use]
    pub fn on_line(self, line: u64) -> HttpEvent<'a> {
        HttpEvent { line: Some(line), ..self }
    }

    /// Sets the time it was observed, in milliseconds since 1970.
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

    /// How its text was carried.
    pub(crate) fn carrier(&self) -> Carrier {
        match self.part {
            HttpPart::Event(_) => Carrier::SseEvent,
            HttpPart::Request { .. } | HttpPart::Response { .. } | HttpPart::End => {
                Carrier::HttpBody
            }
        }
    }

    /// Whether it is an event whose data is empty.
    pub(crate) fn has_empty_data(&self) -> bool {
        match self.part {
            HttpPart::Event(sse) => {
                self.message.is_none() && sse.data.or(self.body).is_some_and(<[u8]>::is_empty)
            }
            HttpPart::Request { .. } | HttpPart::Response { .. } | HttpPart::End => false,
        }
    }

    /// Whether it is a response with an error status.
    pub(crate) fn is_refusal(&self) -> bool {
        self.status().is_some_and(|status| status >= 400)
    }

    /// When and where it was observed; `posts` is the number of earlier POSTs.
    pub(crate) fn moment(&self, posts: u64) -> Moment {
        Moment::on_line(self.line)
            .on_stream(Some(self.exchange))
            .after_posts(posts)
            .at_millis(self.millis)
    }
}

/// A message in an observation, read once for all rules.
#[derive(Debug)]
pub(crate) struct CarriedMessage<'a> {
    pub(crate) envelope: Envelope<'a>,
    /// Its kind; `None` if it violates JSON-RPC and is ignored.
    pub(crate) sound: Option<MessageKind>,
    /// Its id, if requests may have such an id.
    pub(crate) id: Option<RequestId>,
    /// The digest of its text, if it was computed in advance.
    content: Option<u64>,
}

impl<'a> CarriedMessage<'a> {
    pub(crate) fn of(message: Node<'a>) -> CarriedMessage<'a> {
        let envelope = Envelope::of(message);
        let sound = envelope.kind().filter(|_| envelope.is_valid());
        let id = envelope.id.and_then(request_id);
        CarriedMessage { envelope, sound, id, content: None }
    }

    /// The message in a body that is not a batch.
    pub(crate) fn single(body: Node<'a>) -> Option<CarriedMessage<'a>> {
        (!body.is_array()).then(|| CarriedMessage::of(body))
    }

    /// The same with the digest of its text computed, because messages of a server over HTTP are
    /// compared with earlier ones.
    pub(crate) fn with_content(self) -> CarriedMessage<'a> {
        CarriedMessage { content: Some(self.content()), ..self }
    }

    /// The digest of its text.
    pub(crate) fn content(&self) -> u64 {
        self.content.unwrap_or_else(|| digest(self.envelope.object.raw()))
    }
}

/// An event with what the session knows about it, as seen by the rules.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Observation<'a> {
    pub(crate) at: Moment,
    pub(crate) from: Side,
    pub(crate) exchange: u64,
    pub(crate) part: HttpPart<'a>,
    /// The message it carries, or a batch.
    pub(crate) message: Option<Node<'a>>,
    /// The same, unless it is a batch.
    pub(crate) single: Option<&'a CarriedMessage<'a>>,
    /// The text of a body that is not a message.
    pub(crate) body: Option<&'a [u8]>,
    /// The revision to judge by, and whether that is certain.
    pub(crate) revision: Revision,
    pub(crate) settled: bool,
}

impl<'a> Observation<'a> {
    /// The first result of `look` over its message, or over the entries of a batch.
    #[inline]
    pub(crate) fn find_message<T>(
        &self,
        mut look: impl FnMut(&CarriedMessage<'a>) -> Option<T>,
    ) -> Option<T> {
        // Not an iterator, so that a single message is neither copied nor read again.
        match self.single {
            Some(single) => look(single),
            None => self.message?.elements().find_map(|entry| look(&CarriedMessage::of(entry))),
        }
    }

    /// Whether `is_such` holds for any of its messages.
    #[inline]
    pub(crate) fn any_message(&self, is_such: impl Fn(&CarriedMessage<'a>) -> bool) -> bool {
        self.find_message(|message| is_such(message).then_some(())).is_some()
    }

    /// Whether `is_such` holds for any of its valid messages.
    #[inline]
    pub(crate) fn any_sound_message(
        &self,
        is_such: impl Fn(&CarriedMessage<'a>, MessageKind) -> bool,
    ) -> bool {
        self.any_message(|message| message.sound.is_some_and(|kind| is_such(message, kind)))
    }

    /// Visits every message.
    #[inline]
    pub(crate) fn each_message(&self, mut visit: impl FnMut(&CarriedMessage<'a>)) {
        self.find_message::<()>(|message| {
            visit(message);
            None
        });
    }

    /// Visits every valid message.
    #[inline]
    pub(crate) fn each_sound_message(
        &self,
        mut visit: impl FnMut(&CarriedMessage<'a>, MessageKind),
    ) {
        self.each_message(|message| {
            if let Some(kind) = message.sound {
                visit(message, kind);
            }
        });
    }

    /// The error code, if it is a single message with an error.
    pub(crate) fn error_code(&self) -> Option<i64> {
        self.single?.envelope.error_code()
    }

    /// Whether an event is dispatched. A block with only `retry` is not.
    pub(crate) fn is_dispatched(&self, sse: SseEvent<'_>) -> bool {
        self.message.is_some() || self.body.is_some() || sse.data.is_some() || sse.id.is_some()
    }
}
