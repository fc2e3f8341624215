use mcp_core::{RequestId, Revision, Side};
use mcp_json::Node;
use mcp_jsonrpc::Envelope;
use serde::{Deserialize, Serialize};

use super::versions::Versions;
use crate::{
    conversation::{
        Capabilities, Declared, Event, Exchanges, Known, Lifecycle, Listings, META_CAPABILITIES,
        MethodRef, Moment, Name, Notes, Remembered, Request, Requests, Topic, What, digest::kept,
        request_id,
    },
    criteria::Criteria,
    wire::jsonrpc::batch_not_supported,
};

/// The shared memory of a conversation, which all rules may read.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Memory {
    pub(super) versions: Versions,
    pub(super) lifecycle: Lifecycle,
    pub(super) declared: Declared,
    pub(super) requests: Requests,
    listings: Listings,
    /// Whether declared capabilities allow unknown names. Assumed until a declaration is observed.
    extensible: Option<bool>,
    /// Whether the traffic is known to be observed from its start, not only the session.
    pub(super) is_all_seen: bool,
    /// The first answer that only a server without a handshake gives.
    pub(super) modern_server: Option<Box<Moment>>,
    /// Whether each side has sent something unreadable, by `Side as usize`.
    unreadable: [bool; 2],
    /// Batches that arrived during the handshake.
    batches: Vec<(Side, Moment)>,
}

impl Memory {
    pub(super) fn known<'s>(
        &'s self,
        criteria: &'s Criteria,
        http: Option<&'s dyn Exchanges>,
    ) -> Known<'s> {
        Known {
            criteria,
            limits: &criteria.settings().limits,
            from_start: self.lifecycle.is_from_start(),
            is_all_seen: self.is_all_seen,
            is_revision_given: self.versions.is_forced(),
            lifecycle: &self.lifecycle,
            declared: &self.declared,
            requests: &self.requests,
            listings: &self.listings,
            modern_server: self.modern_server.as_deref(),
            http,
            unplaced: None,
            unreadable: self.unreadable,
        }
    }

    pub(super) fn is_extensible(&self) -> bool {
        self.extensible != Some(false)
    }

    pub(super) fn note_unreadable(&mut self, from: Option<Side>) {
        for side in Side::BOTH.into_iter().filter(|side| from.is_none_or(|from| from == *side)) {
            self.unreadable[side as usize] = true;
            self.requests.note_unreadable_to(side.other());
        }
    }

    /// Remembers a batch until the revision is known.
    pub(super) fn note_batch(&mut self, from: Option<Side>, at: Moment) {
        const MOST: usize = 16;
        if let Some(from) = from.filter(|_| self.batches.len() < MOST) {
            self.batches.push((from, at));
        }
    }

    /// Judges the batches of the handshake, now that the revision is known.
    #[cold]
    pub(super) fn judge_batches(&mut self, notes: &mut Notes) {
        let (revision, settled) = self.versions.current();
        for (from, at) in std::mem::take(&mut self.batches) {
            if settled && revision != Revision::V2025_03_26 {
                notes.always(batch_not_supported(revision).earlier(at.line(), from));
                let void = self.requests.iter_open(from).filter(|(_, request)| request.at == at);
                for (id, _) in void {
                    notes.close(from, id.clone());
                }
            }
        }
    }

    /// Whether the peer of `from` has sent something unreadable.
    pub(super) fn unreadable_before(&self, from: Option<Side>) -> bool {
        Side::BOTH.into_iter().any(|side| self.unreadable[side as usize] && from != Some(side))
    }

    /// The state at the start of a new session on the same endpoint.
    pub(super) fn restarted(&self) -> Memory {
        Memory {
            versions: self.versions.clone(),
            is_all_seen: self.is_all_seen,
            ..Memory::default()
        }
    }

    /// The state for another session on the same endpoint whose start was not observed.
    pub(super) fn beside(&self) -> Memory {
        Memory { is_all_seen: self.is_all_seen, ..Memory::default() }
    }

    /// Removes the request that an answer from `from` is for, and returns it with its asker.
    pub(super) fn take_open(
        &mut self,
        from: Option<Side>,
        id: &RequestId,
    ) -> Option<(Side, Request)> {
        let askers = match from {
            Some(side) => [Some(side.other()), None],
            None => [Some(Side::Client), Some(Side::Server)],
        };
        askers.into_iter().flatten().find_map(|asker| Some((asker, self.requests.take(asker, id)?)))
    }

    /// Records a request or notification after it was judged.
    pub(super) fn take_in_call(
        &mut self,
        event: &Event<'_>,
        mut asked: Remembered,
        in_session: bool,
        criteria: &Criteria,
    ) {
        let limits = &criteria.settings().limits;
        let is_modern_client = event.is_modern() && event.from == Side::Client;
        let meta = if is_modern_client { event.meta() } else { None };
        let declared = meta
            .and_then(|meta| meta.get(META_CAPABILITIES))
            .map(|node| self.note_capabilities(node, event));
        if event.name == "initialize" && event.from == Side::Client {
            self.take_in_initialize(event, &mut asked);
        }
        if event.name == "notifications/cancelled"
            && let Some(id) = event.params().and_then(|params| params.get("requestId"))
            && let Some(id) = request_id(id)
        {
            self.requests.cancel(event.from, &id, event.at);
        }
        if let What::Request(id) = event.what {
            let name = match event.method {
                Some(method) => Name::Known(MethodRef::new(event.revision, method)),
                None => Name::Other((*kept(event.name.into())).into()),
            };
            let request = Request {
                at: event.at,
                number: self.requests.next_number(event.from),
                name,
                revision: event.revision,
                settled: event.settled,
                approximate: event.approximate,
                task: event.params().and_then(|params| params.get("task")).is_some(),
                extensions: declared.as_ref().is_some_and(Capabilities::is_open_ended),
                cancelled: None,
                lost: false,
                repeated: false,
                ambiguous: false,
                sender: event.sender(),
                declared,
                asked,
            };
            self.requests.insert(event.from, id.clone(), request, limits);
        }
        self.listings.take_in(event, criteria);
        self.lifecycle.take_in(event, in_session);
    }

    #[cold]
    fn take_in_initialize(&mut self, event: &Event<'_>, asked: &mut Remembered) {
        let capabilities = event.params().and_then(|params| params.get("capabilities"));
        let capabilities = capabilities.map(|node| self.note_capabilities(node, event));
        self.declared.request(capabilities);
        self.versions.request(event.revision);
        let version = event.params().and_then(|params| params.get("protocolVersion"));
        asked.remember().requested_version =
            version.and_then(Node::as_str).map(|text| (*text).into());
    }

    /// Records an `initialize` result whose request was not recorded: it still names the revision.
    #[cold]
    pub(super) fn note_stray_handshake(&mut self, from: Option<Side>, envelope: &Envelope<'_>) {
        if let Some(result) = envelope.result
            && from == Some(Side::Server)
            && self.versions.is_unknown()
            && result.get("serverInfo").is_some()
            && result.get("protocolVersion").is_some_and(Node::is_string)
        {
            self.versions.settle(result);
        }
    }

    /// Records an answer that may be for any of several messages: it proves nothing. If one of them
    /// was the handshake, its progress is no longer known.
    #[cold]
    pub(super) fn note_ambiguous(
        &mut self,
        asker: Side,
        id: RequestId,
        request: &Request,
        at: Moment,
    ) {
        if asker == Side::Client && self.lifecycle.is_initialize(&id) {
            self.lifecycle.lose_track();
        }
        self.requests.keep(asker, id, request, at);
    }

    /// Records an answer after it was judged.
    pub(super) fn take_in_answer(&mut self, event: &Event<'_>, criteria: &Criteria) {
        if event.is_from_modern_server() {
            self.modern_server.get_or_insert_with(|| Box::new(event.at));
        }
        if event.topic == Topic::Handshake || event.name == "server/discover" {
            self.take_in_declaration(event);
        }
        self.listings.take_in(event, criteria);
        self.lifecycle.take_in(event, false);
    }

    #[cold]
    fn take_in_declaration(&mut self, event: &Event<'_>) {
        match (event.name, event.result()) {
            ("initialize", Some(result)) => {
                self.versions.settle(result);
                let capabilities = result.get("capabilities");
                let capabilities = capabilities.map(|node| self.note_capabilities(node, event));
                self.declared.settle(capabilities);
            }
            ("initialize", None) => {
                self.versions.give_up();
                self.declared.give_up();
            }
            ("server/discover", Some(result)) => {
                if let Some(node) = result.get("capabilities") {
                    let capabilities = self.note_capabilities(node, event);
                    self.declared.note_discovered(capabilities);
                }
            }
            _ => {}
        }
    }

    fn note_capabilities(&mut self, node: Node<'_>, event: &Event<'_>) -> Capabilities {
        let capabilities = Capabilities::of(node, event.at);
        self.extensible = Some(self.extensible == Some(true) || capabilities.is_open_ended());
        capabilities
    }
}
