//! What the HTTP transport shows: exchanges, headers, streams.

mod auth;
mod endpoints;
mod event;
mod exchange;
mod exchanges;
mod header_list;
mod headers;
mod legacy_sse;
mod requests;
mod responses;
mod sessions;
mod streams;
mod url;

use mcp_core::{Era, Side};
use serde::{Deserialize, Serialize};

pub(crate) use event::Observation;
pub use event::{HttpEvent, HttpPart, SseEvent};
pub(crate) use exchange::Exchange;
pub(crate) use header_list::HeaderName;
pub use header_list::Headers;
pub use headers::{HeaderMismatch, header_mismatches};

use self::endpoints::Endpoints;
use crate::{
    RuleMeta,
    conversation::{Bounded, Known, Notes},
};

/// The rules about HTTP.
pub(crate) static FAMILIES: [&[&RuleMeta]; 7] = [
    requests::RULES,
    headers::RULES,
    sessions::RULES,
    responses::RULES,
    streams::RULES,
    legacy_sse::RULES,
    auth::RULES,
];

/// Whether a message on a stream is news.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Delivery {
    Fresh,
    /// It was delivered before: it counts once.
    Again,
}

/// A part of the rules about HTTP, with what it remembers for itself.
trait HttpFamily {
    /// Judges an observation and takes it in.
    fn follow(
        &mut self,
        event: &Observation<'_>,
        exchange: &mut Exchange,
        known: &Known<'_>,
        notes: &mut Notes,
    );
}

/// What is remembered of the HTTP traffic of a session.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Http {
    /// Boxed: they are large, and every event puts its own back at the end.
    exchanges: Bounded<u64, Box<Exchange>>,
    endpoints: Endpoints,
    posts: u64,
    requests: requests::Requests,
    sessions: sessions::Sessions,
    responses: responses::Responses,
    streams: streams::Streams,
    legacy_sse: legacy_sse::LegacySse,
    auth: auth::Auth,
}

impl Http {
    /// The exchange of this number, unless it is forgotten.
    pub(crate) fn exchange(&self, number: u64) -> Option<&Exchange> {
        self.exchanges.get(&number).map(|exchange| &**exchange)
    }

    pub(super) fn exchange_mut(&mut self, number: u64) -> Option<&mut Exchange> {
        self.exchanges.get_mut(&number).map(|exchange| &mut **exchange)
    }

    /// Whether an address is not one that messages are posted to.
    pub(crate) fn is_elsewhere(&self, url: &str) -> bool {
        self.endpoints.are_elsewhere(url)
    }

    /// How many POSTs of the client were seen.
    pub(crate) fn posts(&self) -> u64 {
        self.posts
    }

    /// Whether the request of this exchange names the session that is being used. An id of another
    /// one, or of one that has ended, is no reason to take a new session for the old.
    pub(crate) fn names_session(&self, stream: Option<u64>) -> bool {
        let exchange = stream.and_then(|number| self.exchange(number));
        let id = exchange.and_then(|exchange| exchange.session_id.as_deref());
        id.is_some_and(|id| self.sessions.is_current(id))
    }

    /// Whether the request of this exchange belongs to a session that was begun before.
    pub(crate) fn is_in_session(&self, stream: Option<u64>) -> bool {
        let exchange = stream.and_then(|number| self.exchange(number));
        exchange.is_some_and(|exchange| {
            !exchange.seen || exchange.session_id.is_some() || exchange.names_version
        })
    }

    /// Whether a response of this exchange may still come, or might have if the client had stayed.
    pub(crate) fn is_under_way(&self, stream: Option<u64>) -> bool {
        let exchange = stream.and_then(|number| self.exchange(number));
        exchange.is_some_and(|exchange| exchange.is_sse && (!exchange.ended || exchange.was_left))
    }

    /// Whether nothing more can come on this exchange.
    pub(crate) fn has_ended(&self, stream: Option<u64>) -> bool {
        let exchange = stream.and_then(|number| self.exchange(number));
        exchange.is_some_and(|exchange| exchange.ended)
    }

    /// Whether the request of this exchange was not seen, or is forgotten.
    pub(crate) fn is_unseen(&self, stream: Option<u64>) -> bool {
        stream.is_some_and(|number| !self.exchange(number).is_some_and(|exchange| exchange.seen))
    }

    /// Whether a response on this exchange can only be for a request that was not seen. On a stream
    /// it may be for another: HTTP+SSE has one for all.
    pub(super) fn answers_unseen(&self, stream: Option<u64>) -> bool {
        let exchange = stream.and_then(|number| self.exchange(number));
        exchange.is_some_and(|exchange| !exchange.seen && !exchange.is_sse)
    }

    /// Whether the exchange is a request of the modern era that was refused.
    pub(crate) fn is_refused_probe(&self, stream: Option<u64>) -> bool {
        let exchange = stream.and_then(|number| self.exchange(number));
        exchange.is_some_and(|exchange| {
            exchange.revision.is_some_and(|revision| revision.era() == Era::Modern)
                && exchange.status.is_some_and(|status| status >= 400)
        })
    }

    /// A client's request comes in: makes room for what is to be known about it.
    pub(super) fn open(&mut self, event: &Observation<'_>, capacity: usize) {
        let mut exchange = Box::new(Exchange::open(event));
        if let HttpPart::Request { headers, .. } = event.part {
            exchange.aim = self.endpoints.take_in(&exchange, headers);
        }
        self.posts += u64::from(exchange.is_post() && !exchange.is_elsewhere());
        self.exchanges.insert(event.exchange, exchange, capacity);
    }

    /// Judges an observation and takes it in. Says whether the message it carries is news.
    pub(super) fn follow(
        &mut self,
        event: &Observation<'_>,
        known: &Known<'_>,
        notes: &mut Notes,
    ) -> Delivery {
        let mut exchange = self.exchanges.remove(&event.exchange).unwrap_or_default();
        match event.part {
            HttpPart::Request { .. } => {
                exchange.revision = Some(event.revision);
                exchange.settled = event.settled;
            }
            HttpPart::Response { status, headers } => {
                exchange.status = Some(status);
                let kind = headers.value(HeaderName::ContentType).unwrap_or_default();
                exchange.is_sse = is_media_type(&kind, "text/event-stream");
            }
            HttpPart::Event(_) => exchange.is_sse = true,
            HttpPart::End => {
                exchange.ended = true;
                exchange.was_left = event.from == Side::Client;
            }
        }
        let delivery = self.judge(event, &mut exchange, known, notes);
        if event.from == Side::Server {
            exchange.note_answers(event.message);
        }
        close_given_up(&exchange, event, notes);
        if matches!(event.part, HttpPart::Request { .. }) && exchange.is_delete() {
            self.close_running(notes);
        }
        self.exchanges.insert(event.exchange, exchange, known.limits.remembered);
        delivery
    }

    fn judge(
        &mut self,
        event: &Observation<'_>,
        exchange: &mut Exchange,
        known: &Known<'_>,
        notes: &mut Notes,
    ) -> Delivery {
        if exchange.is_elsewhere() {
            self.auth.follow(event, exchange, known, notes);
            return Delivery::Fresh;
        }
        if matches!(event.part, HttpPart::Request { .. }) {
            exchange.session.is_of_another = self.sessions.is_of_another(exchange);
        }
        self.legacy_sse.follow(event, exchange, known, notes);
        self.requests.follow(event, exchange, known, notes);
        headers::follow(event, exchange, known, notes);
        self.sessions.follow(event, exchange, known, notes);
        self.responses.follow(event, exchange, known, notes);
        self.auth.follow(event, exchange, known, notes);
        self.streams.deliver(event, exchange, known, notes)
    }

    /// A client that ends its session waits for nothing any more.
    fn close_running(&self, notes: &mut Notes) {
        let running =
            self.exchanges.iter().filter(|(_, exchange)| exchange.is_sse && !exchange.ended);
        for posted in running.flat_map(|(_, exchange)| exchange.requests()) {
            if let Some(id) = &posted.id {
                notes.close(Side::Client, id.clone());
            }
        }
    }

    pub(super) fn finish(&mut self, notes: &mut Notes) {
        self.streams.finish(notes);
        self.auth.finish(notes);
    }

    /// A new session begins on the same endpoint; exchanges under way go on.
    pub(super) fn restart(&mut self) {
        self.requests.restart();
        self.streams.restart();
        self.auth.restart();
    }
}

/// A request that its client has given up needs no answer: since 2026-07-28 closing the stream says
/// that.
fn close_given_up(exchange: &Exchange, event: &Observation<'_>, notes: &mut Notes) {
    let modern = event.revision.era() == Era::Modern;
    if matches!(event.part, HttpPart::End) && event.from == Side::Client && modern {
        for id in exchange.requests().filter_map(|posted| posted.id.clone()) {
            notes.cancel(Side::Client, id, event.at);
        }
    }
}

/// Whether a `Content-Type` is this type, whatever its parameters.
pub(crate) fn is_media_type(value: &str, media_type: &str) -> bool {
    let bare = value.split(';').next().unwrap_or_default().trim();
    bare.eq_ignore_ascii_case(media_type)
}
