//! The HTTP transport: exchanges, headers, streams.

mod auth;
mod endpoints;
mod event;
mod exchange;
mod exchanges;
mod header_list;
mod headers;
mod legacy_sse;
mod method;
mod requests;
mod responses;
mod sessions;
mod streams;
mod url;

use mcp_core::{Era, RequestId, Side};
use serde::{Deserialize, Serialize};

pub(crate) use event::{CarriedMessage, Observation};
pub use event::{HttpEvent, HttpPart, SseEvent};
pub(crate) use exchange::{Exchange, session_id};
pub(crate) use header_list::HeaderName;
pub use header_list::Headers;
pub use headers::{HeaderMismatch, header_mismatches};

use self::endpoints::Endpoints;
use crate::{
    RuleMeta,
    conversation::{Bounded, Known, Notes, Request},
};

/// Maximum number of answers that are not yet placed on an exchange. The oldest are forgotten.
const MAX_UNPLACED: usize = 256;

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

/// Whether a message on a stream is new.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Delivery {
    Fresh,
    /// Delivered before; counted only once.
    Again,
}

/// A family of rules about HTTP and the state it keeps for itself.
trait HttpFamily {
    /// Judges and records an observation.
    fn follow(
        &mut self,
        event: &Observation<'_>,
        exchange: &mut Exchange,
        known: &Known<'_>,
        notes: &mut Notes,
    );
}

/// The HTTP state of a session.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Http {
    /// The exchange observed last, and its number: the next event often belongs to it.
    current: Option<(u64, Box<Exchange>)>,
    /// The others, least recently observed first.
    exchanges: Bounded<u64, Box<Exchange>>,
    endpoints: Endpoints,
    posts: u64,
    /// Whether the order of POSTs means nothing: live they arrive on unordered connections, so one
    /// may have overtaken another.
    is_unordered: bool,
    /// Whether a client began a session while another's may still be open.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    may_be_shared: bool,
    /// Requests whose answers were judged, but not yet placed on an exchange.
    unplaced: Bounded<RequestId, Request>,
    requests: requests::Requests,
    sessions: sessions::Sessions,
    responses: responses::Responses,
    streams: streams::Streams,
    legacy_sse: legacy_sse::LegacySse,
    auth: auth::Auth,
}

impl Http {
    /// The exchange with this number, unless it was forgotten.
    pub(crate) fn exchange(&self, number: u64) -> Option<&Exchange> {
        match &self.current {
            Some((current, exchange)) if *current == number => Some(exchange),
            _ => self.exchanges.get(&number).map(|exchange| &**exchange),
        }
    }

    pub(super) fn exchange_mut(&mut self, number: u64) -> Option<&mut Exchange> {
        match &mut self.current {
            Some((current, exchange)) if *current == number => Some(exchange),
            _ => self.exchanges.get_mut(&number).map(|exchange| &mut **exchange),
        }
    }

    /// Makes an exchange the most recent one, so that it need not be looked up.
    pub(crate) fn turn_to(&mut self, number: u64) {
        if self.current.as_ref().is_none_or(|(current, _)| *current != number)
            && let Some(exchange) = self.exchanges.remove(&number)
        {
            // The other takes its place, so there are no more than before.
            self.put_back(number, exchange, usize::MAX);
        }
    }

    fn take(&mut self, number: u64) -> Option<Box<Exchange>> {
        match self.current.take_if(|(current, _)| *current == number) {
            Some((_, exchange)) => Some(exchange),
            None => self.exchanges.remove(&number),
        }
    }

    /// Puts back an exchange removed by [`Http::take`], as the one observed last.
    fn put_back(&mut self, number: u64, exchange: Box<Exchange>, capacity: usize) {
        if let Some((number, exchange)) = self.current.replace((number, exchange)) {
            self.exchanges.insert(number, exchange, capacity);
        }
    }

    /// Whether messages are known to be posted only to other URLs.
    pub(crate) fn is_elsewhere(&self, url: &str) -> bool {
        self.endpoints.are_elsewhere(url)
    }

    /// Declares that the order of POSTs means nothing.
    pub(crate) fn overlook_order(&mut self) {
        self.is_unordered = true;
    }

    /// How many POSTs of the client were observed; 0 if their order means nothing.
    pub(crate) fn posts(&self) -> u64 {
        if self.is_unordered { 0 } else { self.posts }
    }

    /// Records a request of the client whose answer was judged but not yet placed on an exchange.
    pub(crate) fn answer_unplaced(&mut self, id: RequestId, request: Request) {
        self.unplaced.insert(id, request, MAX_UNPLACED);
    }

    /// Forgets an exchange that is complete and not referred to any more.
    pub(crate) fn forget(&mut self, number: u64) {
        self.current = self.current.take().filter(|(current, _)| *current != number);
        self.exchanges.remove(&number);
    }

    /// Whether the request of this exchange names the current session. The id of another session,
    /// or of one that has ended, does not make a new session the old one.
    pub(crate) fn names_session(&self, stream: Option<u64>) -> bool {
        let exchange = stream.and_then(|number| self.exchange(number));
        let id = exchange.and_then(|exchange| exchange.session_id.as_deref());
        id.is_some_and(|id| self.sessions.is_current(id))
    }

    /// Whether the request of this exchange belongs to a session that began earlier.
    pub(crate) fn is_in_session(&self, stream: Option<u64>) -> bool {
        let exchange = stream.and_then(|number| self.exchange(number));
        exchange.is_some_and(|exchange| {
            !exchange.seen || exchange.session_id.is_some() || exchange.names_version
        })
    }

    /// Whether this exchange may belong to any of several clients, because several began a session and
    /// the server assigned no ids.
    pub(crate) fn is_anonymous(&self, stream: Option<u64>) -> bool {
        let exchange = || self.exchange(stream?);
        self.may_be_shared && exchange().is_some_and(|exchange| self.belongs_to_anyone(exchange))
    }

    fn belongs_to_anyone(&self, exchange: &Exchange) -> bool {
        self.may_be_shared
            && self.sessions.are_unnamed()
            && exchange.session_id.is_none()
            && !exchange.initializes()
    }

    /// Whether a response may still come on this exchange, or might have if the client had stayed.
    pub(crate) fn is_under_way(&self, stream: Option<u64>) -> bool {
        let exchange = stream.and_then(|number| self.exchange(number));
        exchange
            .is_some_and(|exchange| exchange.is_sse && (!exchange.ended || exchange.left_by_client))
    }

    /// Whether nothing more can come on this exchange, or it was forgotten.
    pub(crate) fn has_ended(&self, stream: Option<u64>) -> bool {
        stream.is_some_and(|number| self.exchange(number).is_none_or(|exchange| exchange.ended))
    }

    /// Whether the request of this exchange was not observed, or was forgotten.
    pub(crate) fn is_unseen(&self, stream: Option<u64>) -> bool {
        stream.is_some_and(|number| !self.exchange(number).is_some_and(|exchange| exchange.seen))
    }

    /// Whether a response on this exchange can only answer a request that was not observed. On a
    /// stream it may answer another: HTTP+SSE has one stream for all.
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

    /// Opens an exchange for a client's request.
    pub(super) fn open(&mut self, event: &Observation<'_>, capacity: usize) {
        let mut exchange = Box::new(Exchange::open(event));
        if let HttpPart::Request { headers, .. } = event.part {
            exchange.aim = self.endpoints.record(&exchange, headers);
        }
        self.posts += u64::from(exchange.is_post() && !exchange.is_elsewhere());
        self.take(event.exchange);
        self.put_back(event.exchange, exchange, capacity);
    }

    /// Judges and records an observation. Returns whether the message it carries is new.
    pub(super) fn follow(
        &mut self,
        event: &Observation<'_>,
        known: &Known<'_>,
        notes: &mut Notes,
    ) -> Delivery {
        let mut exchange = self.take(event.exchange).unwrap_or_default();
        match event.part {
            HttpPart::Request { .. } => {
                exchange.revision = Some(event.revision);
                exchange.settled = event.settled;
            }
            HttpPart::Response { status, headers } => {
                exchange.status = Some(status);
                exchange.is_sse = headers.announce_events();
            }
            HttpPart::Event(_) => exchange.is_sse = true,
            HttpPart::End => {
                exchange.ended = true;
                exchange.left_by_client = event.from == Side::Client;
            }
        }
        let mut unplaced = std::mem::take(&mut self.unplaced);
        let with_unplaced = Known { unplaced: Some(&unplaced), ..*known };
        let delivery = self.judge(event, &mut exchange, &with_unplaced, notes);
        if event.from == Side::Server {
            exchange.note_answers(event, |id| {
                unplaced.remove(id);
            });
        }
        self.unplaced = unplaced;
        close_given_up(&exchange, event, notes);
        if matches!(event.part, HttpPart::Request { .. }) && exchange.is_delete() {
            self.close_running(notes);
        }
        self.put_back(event.exchange, exchange, known.limits.remembered);
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
            exchange.session.is_of_another =
                self.sessions.is_of_another(exchange) || self.belongs_to_anyone(exchange);
        }
        self.legacy_sse.follow(event, exchange, known, notes);
        self.requests.follow(event, exchange, known, notes);
        headers::follow(event, exchange, known, notes);
        self.sessions.follow(event, exchange, known, notes);
        self.responses.follow(event, exchange, known, notes);
        self.auth.follow(event, exchange, known, notes);
        self.streams.deliver(event, exchange, known, notes)
    }

    /// Closes running requests: a client that ends its session no longer waits for answers.
    fn close_running(&self, notes: &mut Notes) {
        let exchanges = self.exchanges.iter().map(|(_, exchange)| exchange);
        let running = exchanges.filter(|exchange| exchange.is_sse && !exchange.ended);
        for posted in running.flat_map(|exchange| exchange.requests()) {
            if let Some(id) = &posted.id {
                notes.close(Side::Client, id.clone());
            }
        }
    }

    /// Whether the client has deleted its session and no exchange is open.
    pub(crate) fn is_over(&self) -> bool {
        let current = self.current.iter().map(|(_, exchange)| exchange);
        let mut exchanges = current.chain(self.exchanges.iter().map(|(_, exchange)| exchange));
        self.sessions.is_deleted() && exchanges.all(|exchange| exchange.is_complete())
    }

    pub(super) fn finish(&mut self, notes: &mut Notes) {
        self.streams.finish(notes);
        self.auth.finish(notes);
    }

    /// Called when a new session begins on the same endpoint; running exchanges continue.
    pub(super) fn restart(&mut self) {
        self.may_be_shared = true;
        self.requests.restart();
        self.streams.restart();
        self.auth.restart();
    }
}

/// Cancels the requests of a closed stream: since 2026-07-28 that is how a client abandons them.
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
    let value = value.trim_ascii_start().as_bytes();
    let Some((bare, rest)) = value.split_at_checked(media_type.len()) else { return false };
    bare.eq_ignore_ascii_case(media_type.as_bytes())
        && matches!(rest.trim_ascii_start().first(), None | Some(b';'))
}

#[cfg(test)]
mod tests {
    use super::is_media_type;

    #[test]
    fn parameters_blanks_and_case_do_not_matter_for_a_media_type() {
        for value in ["text/html", " TEXT/html ;charset=utf-8", "text/html\t; a=b;c"] {
            assert!(is_media_type(value, "text/html"), "{value}");
        }
        for value in ["", "text", "text/htmlx", "text/html, text/html", "text/ht;ml", "téxt/html"]
        {
            assert!(!is_media_type(value, "text/html"), "{value}");
        }
    }
}
