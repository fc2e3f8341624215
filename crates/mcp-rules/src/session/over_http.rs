//! The parts of a session that only HTTP has.

use mcp_core::{Era, Revision, Side};

use super::{Moment, Notes, Session, http};
use crate::Engine;

impl Session {
    /// A new `initialize` over HTTP that names no session begins a new one. The old one may go on
    /// beside it, if requests name it.
    pub(super) fn begin_again(&mut self, at: Moment, notes: &mut Notes) {
        let Some(http) = &mut self.http else { return };
        let Some(exchange) = at.stream.filter(|_| !http.names_session(at.stream)) else { return };
        if !self.memory.lifecycle.has_begun() {
            self.lanes.get_or_insert_default().keep(exchange);
            return;
        }
        let mut last_words = Notes::default();
        http.finish(&mut last_words);
        last_words.under(self.memory.versions.current().0);
        notes.append(last_words);
        http.restart();
        let fresh = self.memory.restarted();
        let families = self.families.restarted();
        let memory = std::mem::replace(&mut self.memory, fresh);
        let families = std::mem::replace(&mut self.families, families);
        self.lanes.get_or_insert_default().begin(exchange, memory, families);
    }

    /// Goes over to the session that an exchange belongs to.
    fn switch_lane(&mut self, exchange: u64) {
        let Some(lanes) = &mut self.lanes else { return };
        let known = self.http.as_ref().and_then(|http| http.exchange(exchange));
        let session_id = known.and_then(|exchange| exchange.session_id.as_deref());
        if let Some(lane) = lanes.of(exchange, session_id)
            && lanes.is_parked(lane)
        {
            lanes.switch(lane, &mut self.memory, &mut self.families);
        }
    }

    /// How many POSTs were seen before now.
    pub(crate) fn posts(&self) -> u64 {
        self.http.as_ref().map_or(0, |http| http.posts())
    }

    /// The revision and certainty that an exchange was made with.
    pub(crate) fn revision_of_exchange(&self, number: u64) -> Option<(Revision, bool)> {
        let shown = http::revision_of(self.http.as_deref()?, number);
        shown.or_else(|| self.stated(Moment { stream: Some(number), ..Moment::default() }))
    }

    /// What the headers of an exchange say about the revision. That is asked where a session may be
    /// going on, begun before anybody looked, beside requests of another era.
    pub(super) fn stated(&self, at: Moment) -> Option<(Revision, bool)> {
        let exchange = self.exchange(at.stream?)?;
        exchange.stated.filter(|_| self.memory.versions.is_only_modern())
    }

    /// Whether an address is not one that messages are posted to.
    pub(crate) fn is_elsewhere(&self, url: &str) -> bool {
        self.http.as_deref().is_some_and(|http| http.is_elsewhere(url))
    }

    pub(crate) fn exchange(&self, number: u64) -> Option<&http::Exchange> {
        self.http.as_deref()?.exchange(number)
    }

    /// A client's request comes in, before its message is followed.
    pub(crate) fn open_exchange(&mut self, engine: &Engine, event: &http::HttpEvent<'_>) {
        self.http.get_or_insert_default().open(event, engine.settings().limits.remembered);
        self.switch_lane(event.exchange);
        let http::Part::Request { headers, .. } = event.part else { return };
        if let Some(id) = headers.get("mcp-session-id") {
            self.lanes.get_or_insert_default().adopt(&id);
        }
        if let Some(version) = headers.get("mcp-protocol-version") {
            self.memory.versions.note_header(&version);
        }
    }

    /// The requests of an exchange were refused, in whatever words: no other answer is due.
    pub(crate) fn close_refused(&mut self, engine: &Engine, number: u64) {
        let exchange = self.http.as_deref().and_then(|http| http.exchange(number));
        for posted in exchange.into_iter().flat_map(http::Exchange::requests) {
            if let Some(id) = &posted.id
                && self.memory.requests.open(Side::Client, id).is_some()
            {
                self.memory.requests.close(Side::Client, id, &engine.settings().limits);
            }
        }
    }

    /// The requests of an exchange were sent elsewhere, or back, before anybody read them: they may
    /// come again under the same ids.
    pub(crate) fn send_back(&mut self, number: u64) {
        let exchange = self.http.as_deref().and_then(|http| http.exchange(number));
        for posted in exchange.into_iter().flat_map(http::Exchange::requests) {
            if let Some(id) = &posted.id {
                self.memory.requests.forget(Side::Client, id);
            }
        }
    }

    /// Judges what an HTTP line shows beside its message.
    pub(crate) fn follow_http(
        &mut self,
        engine: &Engine,
        event: &http::HttpEvent<'_>,
        notes: &mut Notes,
    ) -> http::Delivery {
        self.switch_lane(event.exchange);
        if let http::Part::Response { headers, .. } = event.part
            && let Some(id) = headers.get("mcp-session-id")
        {
            self.lanes.get_or_insert_default().name(&id);
        }
        let known = self.memory.known(engine, None);
        let delivery = self.http.get_or_insert_default().follow(event, &known, notes);
        if matches!(event.part, http::Part::End)
            && event.revision.era() == Era::Modern
            && let Some(exchange) =
                self.http.as_deref().and_then(|http| http.exchange(event.exchange))
        {
            let ids = exchange.requests().filter_map(|posted| posted.id.as_ref());
            self.families.follow_stream_end(ids, event.from, event.at);
        }
        self.apply(notes, &engine.settings().limits);
        delivery
    }
}
