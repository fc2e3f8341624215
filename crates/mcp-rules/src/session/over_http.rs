//! The parts of a session specific to HTTP.

use mcp_core::{Era, Revision, Side};
use mcp_json::Node;
use mcp_jsonrpc::{Envelope, MessageKind};

use super::{Memory, Session, lanes::Lanes};
use crate::{
    conversation::{META_SUBSCRIPTION, META_VERSION, Moment, Notes},
    criteria::Criteria,
    http::{self, CarriedMessage},
};

impl Session {
    /// Begins a new session at an `initialize` over HTTP that names none. The old one may continue
    /// in parallel, if requests name it.
    pub(super) fn begin_again(&mut self, at: Moment, notes: &mut Notes) {
        let Some(http) = &mut self.http else { return };
        let Some(number) = at.stream().filter(|_| !http.names_session(at.stream())) else { return };
        if !self.memory.lifecycle.has_begun() {
            return;
        }
        http.finish(notes);
        http.restart();
        let fresh = self.memory.restarted();
        let lanes = self.lanes.get_or_insert_default();
        lanes.begin(fresh, &mut self.memory, &mut self.families);
        if let Some(exchange) = http.exchange_mut(number) {
            exchange.lane = Some(lanes.current());
        }
    }

    /// Declares that the session is live over HTTP, where POSTs may overtake each other.
    pub(crate) fn follow_live_http(&mut self) {
        self.http.get_or_insert_default().overlook_order();
    }

    /// Prepares for lookups of this exchange, which the next events are about.
    pub(crate) fn turn_to_exchange(&mut self, number: u64) {
        if let Some(http) = &mut self.http {
            http.turn_to(number);
        }
    }

    /// Forgets an exchange that is complete.
    pub(crate) fn forget_exchange(&mut self, number: u64) {
        if let Some(http) = &mut self.http {
            http.forget(number);
        }
    }

    /// Switches to the lane that an exchange belongs to, given what it carries now.
    fn switch_lane(&mut self, event: &http::Observation<'_>) {
        let exchange = self.http.as_deref().and_then(|http| http.exchange(event.exchange));
        let session_id = exchange.and_then(|exchange| exchange.session_id.as_deref());
        let posted_in = exchange.and_then(|exchange| exchange.lane);
        let is_modern = posted_in.is_none() && self.era_of(event, exchange) == Era::Modern;
        if is_modern {
            let lanes = self.lanes.get_or_insert_default();
            lanes.switch_to_modern(&mut self.memory, &mut self.families);
        } else if let Some(lanes) = &mut self.lanes {
            let named = || lanes.of_session(session_id?);
            let lane = posted_in.or_else(named).unwrap_or(lanes.newest());
            lanes.switch(lane, &mut self.memory, &mut self.families);
        }
    }

    /// Switches to the lane that a message of the client belongs to, before its exchange is chosen.
    pub(crate) fn switch_lane_to_send(&mut self, message: Node<'_>) {
        let entries = message.elements().chain(Some(message).filter(|message| message.is_object()));
        let mut envelopes = entries.map(Envelope::of);
        let mut initializes = false;
        let declares = envelopes.any(|envelope| {
            initializes |= envelope.method.is_some_and(|method| method.str_eq("initialize"));
            declares_version(&envelope)
        });
        let (modern, newest) = self.both_eras();
        let continues = !initializes && modern.is_some() && newest.versions.is_unknown();
        if !self.memory.versions.is_forced() && (declares && !initializes || continues) {
            let lanes = self.lanes.get_or_insert_default();
            lanes.switch_to_modern(&mut self.memory, &mut self.families);
        } else if let Some(lanes) = &mut self.lanes {
            lanes.switch(lanes.newest(), &mut self.memory, &mut self.families);
        }
    }

    /// The era of what an exchange carries. Only a handshake and sessions are certainly legacy,
    /// only what a message says of itself is certainly modern; otherwise it is what was observed
    /// before.
    fn era_of(&self, event: &http::Observation<'_>, exchange: Option<&http::Exchange>) -> Era {
        if self.memory.versions.is_forced() || exchange.is_some_and(http::Exchange::initializes) {
            return Era::Legacy;
        }
        let in_session = exchange.is_some_and(|exchange| exchange.session_id.is_some());
        let shows_modern = match event.from {
            Side::Client => event.any_message(|message| declares_version(&message.envelope)),
            Side::Server => !in_session && event.any_message(|answer| self.is_modern(answer)),
        };
        if shows_modern {
            return Era::Modern;
        }
        if in_session {
            return Era::Legacy;
        }
        let (modern, newest) = self.both_eras();
        let knows_legacy = !newest.versions.is_unknown();
        let is_modern = match exchange.and_then(|exchange| exchange.named_revision) {
            Some(revision) if revision.era() == Era::Legacy => false,
            Some(_) => modern.is_some() || !knows_legacy,
            None => modern.is_some() && !knows_legacy,
        };
        if is_modern { Era::Modern } else { Era::Legacy }
    }

    /// Whether a message of the server is for a client without a session: it names a subscription,
    /// or answers a request made there and not in the newest session.
    fn is_modern(&self, CarriedMessage { envelope, id, .. }: &CarriedMessage<'_>) -> bool {
        let Some(MessageKind::Response) = envelope.kind() else {
            return meta(envelope).is_some_and(|meta| meta.get(META_SUBSCRIPTION).is_some());
        };
        let Some(id) = id else { return false };
        let asked = |memory: &Memory| memory.requests.open(Side::Client, id).is_some();
        let (modern, newest) = self.both_eras();
        modern.is_some_and(asked) && !asked(newest)
    }

    /// The state of the requests without a session, if there are any, and of the newest session.
    fn both_eras(&self) -> (Option<&Memory>, &Memory) {
        let Some(lanes) = self.lanes.as_deref() else { return (None, &self.memory) };
        let followed = lanes.is_in_modern().then_some(&self.memory);
        (followed.or(lanes.parked_modern()), lanes.parked_newest().unwrap_or(&self.memory))
    }

    /// Whether it began with a handshake, so that its messages use many exchanges over HTTP.
    /// Without one each exchange is independent.
    pub(crate) fn has_handshake(&self) -> bool {
        let versions = &self.memory.versions;
        !versions.is_unknown() && versions.current().0.era() == Era::Legacy
    }

    /// The number of POSTs observed so far.
    pub(crate) fn posts(&self) -> u64 {
        self.http.as_ref().map_or(0, |http| http.posts())
    }

    /// The revision of an exchange, or else the current one, and whether it is certain.
    pub(crate) fn revision_of(&self, exchange: u64) -> (Revision, bool) {
        let made_with = |exchange: &http::Exchange| Some((exchange.revision?, exchange.settled));
        self.exchange(exchange).and_then(made_with).unwrap_or_else(|| self.revision())
    }

    /// Whether messages are known to be posted only to other URLs.
    pub(crate) fn is_elsewhere(&self, url: &str) -> bool {
        self.http.as_deref().is_some_and(|http| http.is_elsewhere(url))
    }

    pub(crate) fn exchange(&self, number: u64) -> Option<&http::Exchange> {
        self.http.as_deref()?.exchange(number)
    }

    /// Opens an exchange for a client's request, before its message is followed.
    pub(crate) fn open_exchange(&mut self, criteria: &Criteria, event: &http::Observation<'_>) {
        self.http.get_or_insert_default().open(event, criteria.settings().limits.remembered);
        self.switch_lane(event);
        let http = self.http.get_or_insert_default();
        let Some(exchange) = http.exchange_mut(event.exchange) else { return };
        if let Some(id) = &exchange.session_id {
            let lanes = self.lanes.get_or_insert_default();
            lanes.adopt(id, &mut self.memory, &mut self.families);
        }
        let lanes = self.lanes.as_deref();
        // Answers come in the exchange of their POST, except over HTTP+SSE.
        exchange.lane = exchange.is_post().then(|| lanes.map_or(0, Lanes::current));
        let in_modern = lanes.is_some_and(Lanes::is_in_modern);
        if let Some(revision) = exchange.named_revision
            && (revision.era() == Era::Modern) == in_modern
        {
            self.memory.versions.note_header(revision);
        }
    }

    /// Records that an exchange carries requests that were followed before. Returns their revision.
    pub(crate) fn place_requests(&mut self, number: u64) -> Option<(Revision, bool)> {
        let exchange = self.http.as_deref().and_then(|http| http.exchange(number))?;
        let mut revision = None;
        for posted in exchange.requests() {
            let request = posted.id.as_ref().and_then(|id| self.memory.requests.place(id, number));
            revision = revision.or(request.map(|request| (request.revision, request.settled)));
        }
        revision
    }

    /// Closes the requests of an exchange that was refused: no other answer is expected.
    pub(crate) fn close_refused(&mut self, criteria: &Criteria, number: u64) {
        let exchange = self.http.as_deref().and_then(|http| http.exchange(number));
        for posted in exchange.into_iter().flat_map(http::Exchange::requests) {
            if let Some(id) = &posted.id
                && self.memory.requests.open(Side::Client, id).is_some()
            {
                self.memory.requests.close(Side::Client, id, &criteria.settings().limits);
            }
        }
    }

    /// Forgets the requests of an exchange that were redirected, or rejected unread: the client may send
    /// them again with the same ids.
    pub(crate) fn send_back(&mut self, number: u64) {
        let exchange = self.http.as_deref().and_then(|http| http.exchange(number));
        for posted in exchange.into_iter().flat_map(http::Exchange::requests) {
            if let Some(id) = &posted.id {
                self.memory.requests.forget(Side::Client, id);
            }
        }
    }

    /// Judges what an HTTP line shows besides its message.
    pub(crate) fn follow_http(
        &mut self,
        criteria: &Criteria,
        event: &http::Observation<'_>,
        notes: &mut Notes,
    ) -> http::Delivery {
        self.switch_lane(event);
        let mut event = *event;
        if self.exchange(event.exchange).is_none_or(|exchange| !exchange.seen) {
            (event.revision, event.settled) = self.revision();
        }
        let event = &event;
        if let http::HttpPart::Response { headers, .. } = event.part
            && let Some(id) = http::session_id(headers)
        {
            self.lanes.get_or_insert_default().name(&id);
        }
        let known = self.memory.known(criteria, None);
        let delivery = self.http.get_or_insert_default().follow(event, &known, notes);
        if matches!(event.part, http::HttpPart::End)
            && event.revision.era() == Era::Modern
            && let Some(exchange) =
                self.http.as_deref().and_then(|http| http.exchange(event.exchange))
        {
            let ids = exchange.requests().filter_map(|posted| posted.id.as_ref());
            self.families.follow_stream_end(ids, event.from, event.at);
        }
        self.apply(notes, &criteria.settings().limits);
        delivery
    }
}

/// Whether a request declares its version, as those without a session do.
fn declares_version(envelope: &Envelope<'_>) -> bool {
    meta(envelope).and_then(|meta| meta.get(META_VERSION)).is_some_and(Node::is_string)
}

fn meta<'a>(envelope: &Envelope<'a>) -> Option<Node<'a>> {
    envelope.params?.get("_meta")
}
