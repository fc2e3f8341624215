//! Follows a conversation: which revision is spoken, which requests are open.
//!
//! The session remembers, rules only read. What it remembers is bounded, and what it has
//! forgotten is not held against anybody.

use std::collections::{HashMap, VecDeque};

use mcp_core::{Era, RequestId, Revision, Side};
use mcp_json::Node;
use mcp_jsonrpc::{Envelope, MessageKind};
use mcp_schema::{Method, MethodKind, Sender};

use crate::{Answered, Context};

/// The member of a modern request's `_meta` that names its revision.
pub(crate) const META_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
/// The member of a modern request's `_meta` that declares the client's capabilities.
pub(crate) const META_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
/// The member of a modern request's `_meta` that names the client.
pub(crate) const META_CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
/// The member of a modern result's `_meta` that names the server.
pub(crate) const META_SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

/// What is remembered of one conversation.
#[derive(Debug)]
pub struct Session {
    forced: Option<Revision>,
    /// From the `initialize` request, until its result names the real one.
    requested: Option<Revision>,
    negotiated: Option<Revision>,
    /// The last revision a modern request declared.
    modern: Option<Revision>,
    open: OpenRequests,
    /// Whether declared capabilities leave room for unknown names. Until a declaration was
    /// seen, they do.
    declared: Option<Extensible>,
    /// Whether a result has lacked the name of its server; once is enough to say so.
    server_info_missed: bool,
    /// Whether that side has sent something unreadable, by `Side as usize`.
    unreadable: [bool; 2],
    unmatched_results: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Extensible {
    Yes,
    No,
}

impl Session {
    /// A conversation of which nothing is known. `forced` overrides whatever the peers say.
    pub fn new(forced: Option<Revision>, max_pending: usize) -> Session {
        Session {
            forced,
            requested: None,
            negotiated: None,
            modern: None,
            open: OpenRequests::new(max_pending),
            declared: None,
            server_info_missed: false,
            unreadable: [false; 2],
            unmatched_results: 0,
        }
    }

    /// The revision in force now, and whether it is certain.
    pub fn revision(&self) -> (Revision, bool) {
        if let Some(forced) = self.forced {
            return (forced, true);
        }
        match (self.negotiated, self.requested, self.modern) {
            (Some(negotiated), _, _) => (negotiated, true),
            (None, Some(requested), _) => (requested, false),
            (None, None, Some(modern)) => (modern, true),
            (None, None, None) => (Revision::LATEST_LEGACY, false),
        }
    }

    /// Notes the revision that an HTTP request names in its header. What the message itself says
    /// counts more, and so does a handshake.
    pub fn note_header(&mut self, version: &str) {
        let nothing_known = self.negotiated.or(self.requested).or(self.modern).is_none();
        if nothing_known
            && let Ok(revision) = version.parse::<Revision>()
            && revision.era() == Era::Modern
        {
            self.modern = Some(revision);
        }
    }

    /// How many results came whose request was not seen, so that no definition could be chosen.
    pub fn unmatched_results(&self) -> u64 {
        self.unmatched_results
    }

    /// Notes that `from` sent something from which no message could be read.
    pub fn note_unreadable(&mut self, from: Option<Side>) {
        for side in Side::BOTH {
            self.unreadable[side as usize] |= from.is_none_or(|from| from == side);
        }
    }

    /// Takes in one message, in wire order, and says what is known about it.
    pub fn follow(&mut self, from: Option<Side>, envelope: &Envelope<'_>) -> Context {
        let valid_version = envelope.jsonrpc.is_some_and(|version| version.str_eq("2.0"));
        match envelope.kind() {
            Some(MessageKind::Response) if valid_version => self.follow_response(from, envelope),
            Some(_) if valid_version => self.follow_call(from, envelope),
            _ => {
                let context = self.context(from);
                self.note_unreadable(from);
                context
            }
        }
    }

    pub(crate) fn context(&self, from: Option<Side>) -> Context {
        let (revision, settled) = self.revision();
        Context {
            from,
            revision,
            settled,
            method: None,
            answers: None,
            extensible: self.declared != Some(Extensible::No),
            lacks_server_info: false,
            http_error_body: false,
            unreadable_before: Side::BOTH
                .into_iter()
                .any(|side| self.unreadable[side as usize] && from != Some(side)),
        }
    }

    fn follow_call(&mut self, from: Option<Side>, envelope: &Envelope<'_>) -> Context {
        let mut context = self.context(from);
        let Some(name) = envelope.method.and_then(Node::str_bytes) else {
            return context;
        };
        let request_meta = match from {
            Some(Side::Server) => None,
            _ => envelope.params.and_then(|params| params.get("_meta")),
        };
        let declared = request_meta.and_then(|meta| meta.get(META_VERSION));
        (context.revision, context.settled) = self.revision_of_call(&name, declared, envelope);
        context.method = mcp_schema::method(context.revision, &name);
        context.from = from.or_else(|| infer_sender(context.method, &name));

        let is_request = envelope.kind() == Some(MessageKind::Request)
            && match context.method {
                Some(method) => method.kind == MethodKind::Request,
                None => !name.starts_with(b"notifications/"),
            };
        if !is_request {
            return context;
        }
        let extensions = request_meta
            .and_then(|meta| meta.get(META_CAPABILITIES))
            .map(|capabilities| self.note_capabilities(capabilities));
        context.extensible = self.declared != Some(Extensible::No);
        if *name == *b"initialize" {
            if let Some(capabilities) =
                envelope.params.and_then(|params| params.get("capabilities"))
            {
                self.note_capabilities(capabilities);
            }
            self.requested = Some(context.revision);
            self.negotiated = None;
        }
        if let Some(id) = readable_request_id(envelope) {
            let answered = Answered {
                method: context.method,
                task: envelope.params.and_then(|params| params.get("task")).is_some(),
                extensions: extensions.unwrap_or(false),
            };
            let open = Open { answered, revision: context.revision, settled: context.settled };
            self.open.insert(context.from.unwrap_or(Side::Client), id, open);
        }
        context
    }

    fn follow_response(&mut self, from: Option<Side>, envelope: &Envelope<'_>) -> Context {
        let mut context = self.context(from);
        let Some(id) = readable_request_id(envelope) else {
            return context;
        };
        let candidates = match from {
            Some(side) => [Some(side.other()), None],
            None => [Some(Side::Client), Some(Side::Server)],
        };
        let found = candidates
            .into_iter()
            .flatten()
            .find_map(|asker| Some((asker, self.open.remove(asker, &id)?)));
        let Some((asker, open)) = found else {
            self.unmatched_results += u64::from(envelope.result.is_some());
            return context;
        };
        context.from = Some(asker.other());
        context.answers = Some(open.answered);
        (context.revision, context.settled) = (open.revision, open.settled);
        if open.revision.era() == Era::Modern && !self.server_info_missed {
            context.lacks_server_info = lacks_server_info(envelope);
            self.server_info_missed = context.lacks_server_info;
        }
        if open.answered.method.is_some_and(|method| method.name == "initialize")
            && let Some(result) = envelope.result
        {
            self.settle(result);
            (context.revision, context.settled) = self.revision();
            context.extensible = self.declared != Some(Extensible::No);
        }
        context
    }

    /// The `initialize` result names the revision that governs everything after it.
    fn settle(&mut self, result: Node<'_>) {
        let version = result.get("protocolVersion").and_then(Node::as_str);
        self.negotiated = match version.map(|version| version.parse::<Revision>()) {
            Some(Ok(revision)) if revision.era() == Era::Legacy => Some(revision),
            // No published revision has this handshake; the newest that has one comes closest.
            _ => Some(Revision::LATEST_LEGACY),
        };
        if let Some(capabilities) = result.get("capabilities") {
            self.note_capabilities(capabilities);
        }
    }

    /// Remembers whether declared capabilities leave room for unknown names, and says whether
    /// these do.
    fn note_capabilities(&mut self, capabilities: Node<'_>) -> bool {
        let open_ended = ["experimental", "extensions"]
            .into_iter()
            .any(|key| capabilities.get(key).is_some_and(|entries| !entries.is_empty()));
        self.declared = match self.declared {
            Some(Extensible::Yes) => Some(Extensible::Yes),
            _ if open_ended => Some(Extensible::Yes),
            _ => Some(Extensible::No),
        };
        open_ended
    }

    fn revision_of_call(
        &mut self,
        name: &[u8],
        declared: Option<Node<'_>>,
        envelope: &Envelope<'_>,
    ) -> (Revision, bool) {
        if let Some(forced) = self.forced {
            return (forced, true);
        }
        if name == b"initialize" {
            let version = envelope.params.and_then(|params| params.get("protocolVersion"));
            let version = version.and_then(Node::as_str);
            return match version.map(|version| version.parse::<Revision>()) {
                Some(Ok(revision)) if revision.era() == Era::Legacy => (revision, false),
                _ => (Revision::LATEST_LEGACY, false),
            };
        }
        if let Some(declared) = declared.and_then(Node::as_str) {
            let revision = match declared.parse::<Revision>() {
                Ok(revision) if revision.era() == Era::Modern => revision,
                _ => Revision::LATEST,
            };
            self.modern = Some(revision);
            return (revision, true);
        }
        let (revision, settled) = self.revision();
        let nothing_known = self.negotiated.or(self.requested).or(self.modern).is_none();
        if nothing_known && mcp_schema::method(revision, name).is_none() {
            // A name only modern revisions have says more than our guess.
            let modern = mcp_schema::method(Revision::LATEST, name).is_some();
            return (if modern { Revision::LATEST } else { revision }, false);
        }
        (revision, settled)
    }
}

/// Whether a message is a modern result, and one that does not name its server.
fn lacks_server_info(envelope: &Envelope<'_>) -> bool {
    let Some(result) = envelope.result else {
        return false;
    };
    let has_type = result.get("resultType").is_some_and(Node::is_string);
    let named = result.get("_meta").is_some_and(|meta| meta.get(META_SERVER_INFO).is_some());
    has_type && !named
}

fn readable_request_id(envelope: &Envelope<'_>) -> Option<RequestId> {
    envelope.readable_id()?.to_request_id()
}

/// Who sends `name`, where only one side may.
fn infer_sender(method: Option<&'static Method>, name: &[u8]) -> Option<Side> {
    let method = method.or_else(|| {
        Revision::ALL.into_iter().rev().find_map(|revision| mcp_schema::method(revision, name))
    })?;
    match method.sender {
        Sender::Client => Some(Side::Client),
        Sender::Server => Some(Side::Server),
        Sender::Both => None,
    }
}

#[derive(Debug, Clone, Copy)]
struct Open {
    answered: Answered,
    revision: Revision,
    settled: bool,
}

/// Requests that wait for their answer; the oldest is forgotten when there are too many.
#[derive(Debug)]
struct OpenRequests {
    by_id: HashMap<(Side, RequestId), Open>,
    /// In order of arrival; answered ones are still in it until the next clean-up.
    arrival: VecDeque<(Side, RequestId)>,
    capacity: usize,
}

impl OpenRequests {
    fn new(capacity: usize) -> OpenRequests {
        OpenRequests { by_id: HashMap::new(), arrival: VecDeque::new(), capacity: capacity.max(1) }
    }

    fn insert(&mut self, asker: Side, id: RequestId, open: Open) {
        while self.by_id.len() >= self.capacity {
            let Some(oldest) = self.arrival.pop_front() else {
                break;
            };
            self.by_id.remove(&oldest);
        }
        if self.arrival.len() >= 2 * self.capacity.max(64) {
            let by_id = &self.by_id;
            self.arrival.retain(|key| by_id.contains_key(key));
        }
        self.arrival.push_back((asker, id.clone()));
        self.by_id.insert((asker, id), open);
    }

    fn remove(&mut self, asker: Side, id: &RequestId) -> Option<Open> {
        let open = self.by_id.remove(&(asker, id.clone()));
        if self.by_id.is_empty() {
            self.arrival.clear();
        }
        open
    }
}
