//! Follows a conversation and judges what only the conversation reveals.
//!
//! A [`Session`] is the shared [`Memory`] (revision, handshake, capabilities, requests, listings)
//! and the families of rules, each with its own state. For every valid message the families judge
//! it against the memory as it was before; then the memory records the message. What they note is
//! reported when the message is judged.
//!
//! All state is bounded, and what was forgotten or never observed causes no findings.

mod families;
mod lanes;
mod memory;
mod over_http;
mod versions;

use mcp_core::{Era, Revision, Side};
use mcp_json::Node;
use mcp_jsonrpc::{Envelope, MessageKind};
use mcp_schema::{Method, MethodKind, Sender};
use serde::{Deserialize, Serialize};

use self::{families::Families, memory::Memory, versions::Versions};
use crate::{
    Answered, Context, Layer, Limits,
    conversation::{
        Answer, Change, Event, Exchanges, Fate, Lifecycle, META_SERVER_INFO, META_VERSION, Moment,
        Negotiation, Notes, Remembered, Request, Topic, What,
    },
    criteria::Criteria,
    features::{capabilities, ids, tasks},
    http::{self, CarriedMessage, Http},
};

/// The state of one conversation. Can be saved and restored with `serde`.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Session {
    memory: Memory,
    families: Families,
    http: Option<Box<Http>>,
    /// Other sessions on the same endpoint, if there are any.
    lanes: Option<Box<lanes::Lanes>>,
    /// Whether a result that does not name its server was reported; once is enough.
    server_info_missed: bool,
    /// The number of calls of unknown methods so far, up to the limit.
    unknown_names: u8,
    unmatched_results: u32,
}

/// Maximum number of unknown names per conversation for which a known one is suggested, as a peer
/// may send nothing else.
const MAX_SUGGESTIONS: u8 = 100;

impl Session {
    /// The version of the serialized form. Increment it whenever that changes, so that other builds do
    /// not misread saved sessions.
    pub const SAVED_VERSION: u32 = 1;

    /// Creates a session for a conversation of which nothing is known. `forced` overrides whatever
    /// the peers say about the revision.
    pub fn new(forced: Option<Revision>) -> Session {
        let mut session = Session::default();
        session.memory.versions = Versions::new(forced);
        session
    }

    /// Marks what follows as the start of the conversation. Otherwise that is inferred
    /// conservatively from the traffic.
    pub fn begin(&mut self) {
        self.memory.lifecycle = Lifecycle::from_start();
        self.memory.is_all_seen = true;
    }

    /// Takes back [`Session::begin`]: nothing is known of what came before. `forced` is as for
    /// [`Session::new`]. Nothing may have been followed yet.
    pub(crate) fn join(&mut self, forced: Option<Revision>) {
        self.memory.lifecycle = Lifecycle::default();
        self.memory.is_all_seen = false;
        self.memory.versions = Versions::new(forced);
    }

    /// Marks the conversation as recorded from one side only.
    pub(crate) fn hear_one_side(&mut self) {
        self.memory.lifecycle.hear_one_side();
    }

    /// The current revision, and whether it is certain.
    pub fn revision(&self) -> (Revision, bool) {
        self.memory.versions.current()
    }

    /// How many results had no observed request, so that no definition could be chosen.
    pub fn unmatched_results(&self) -> u64 {
        self.unmatched_results.into()
    }

    /// Whether the conversation has ended: the client has ended its HTTP session, and all exchanges
    /// are complete.
    pub(crate) fn is_over(&self) -> bool {
        self.lanes.as_deref().is_none_or(lanes::Lanes::is_single)
            && self.http.as_deref().is_some_and(Http::is_over)
    }

    /// Records that `from` sent something unreadable.
    pub(crate) fn note_unreadable(&mut self, from: Option<Side>) {
        self.memory.note_unreadable(from);
    }

    /// Records one message, in wire order, and returns what is known about it.
    pub(crate) fn follow(
        &mut self,
        criteria: &Criteria,
        from: Option<Side>,
        message: &CarriedMessage<'_>,
        at: Moment,
    ) -> Context {
        let envelope = &message.envelope;
        let has_version = || envelope.jsonrpc.is_some_and(|version| version.str_eq("2.0"));
        // A valid message has one; an invalid one may have one as well.
        let kind = message.sound.or_else(|| envelope.kind().filter(|_| has_version()));
        match kind {
            Some(MessageKind::Response) => self.follow_response(criteria, from, message, at),
            Some(kind) => self.follow_call(criteria, from, kind, message, at),
            None => self.void(criteria, self.context(from), message),
        }
    }

    pub(crate) fn context(&self, from: Option<Side>) -> Context {
        let (revision, settled) = self.revision();
        Context {
            from,
            revision,
            settled,
            foreign: self.memory.versions.is_foreign(),
            approximate: false,
            forbidden: false,
            method: None,
            answers: None,
            extensible: self.memory.is_extensible(),
            lacks_server_info: false,
            refuses_probe: false,
            http_error_body: false,
            unreadable_before: self.memory.unreadable_before(from),
            undecided: false,
            suggests: self.unknown_names < MAX_SUGGESTIONS,
            negotiated: None,
            notes: Notes::default(),
        }
    }

    /// Whether a batch is allowed. While a revision without batches is requested but not confirmed,
    /// that is unknown, and the batch is ignored.
    pub(crate) fn takes_batches(
        &mut self,
        from: Option<Side>,
        at: Moment,
        whole: &mut Context,
    ) -> bool {
        let (revision, settled) = self.revision();
        let known = revision == Revision::V2025_03_26;
        if settled {
            return known;
        }
        self.memory.note_batch(from, at);
        // A peer that does not support it may say so without naming a request.
        self.memory.note_unreadable(from);
        let asked_for_another = !known && !self.memory.versions.is_unknown();
        whole.undecided = asked_for_another;
        !asked_for_another
    }

    /// Records a batch where none are allowed: it is ignored with all its entries.
    pub(crate) fn note_void_batch(
        &mut self,
        criteria: &Criteria,
        from: Option<Side>,
        batch: Node<'_>,
    ) {
        for entry in batch.elements().take(criteria.settings().limits.batch) {
            self.void(criteria, self.context(from), &CarriedMessage::of(entry));
        }
    }

    /// Records an invalid message: it was so broken that the other side may not have been able to
    /// read it, and an answer to it is not a fault.
    #[cold]
    fn void(
        &mut self,
        criteria: &Criteria,
        context: Context,
        message: &CarriedMessage<'_>,
    ) -> Context {
        self.memory.note_unreadable(context.from);
        if let Some(id) = &message.id {
            for asker in Side::BOTH {
                if context.from.is_none_or(|from| from == asker) {
                    self.memory.requests.note_void(asker, id, &criteria.settings().limits);
                }
            }
        }
        context
    }

    fn follow_call(
        &mut self,
        criteria: &Criteria,
        from: Option<Side>,
        kind: MessageKind,
        message: &CarriedMessage<'_>,
        at: Moment,
    ) -> Context {
        let CarriedMessage { envelope, id, .. } = message;
        let mut context = self.context(from);
        let Some(name) = envelope.method.and_then(Node::str_bytes).filter(|name| !name.is_empty())
        else {
            return self.void(criteria, context, message);
        };
        let meta = envelope.params.and_then(|params| params.get("_meta"));
        let declared = match from {
            Some(Side::Server) => None,
            _ => meta.and_then(|meta| meta.get(META_VERSION)),
        };
        let versions = &mut self.memory.versions;
        (context.revision, context.settled) = versions.of_call(&name, declared, envelope);
        context.approximate = versions.is_unknown_to(declared);
        // These name a revision themselves.
        context.foreign &= *name != *b"initialize" && !declared.is_some_and(Node::is_string);
        context.method = mcp_schema::method(context.revision, &name);
        if context.method.is_none() && context.suggests {
            self.unknown_names += 1;
        }
        context.from = from.or_else(|| infer_sender(context.method, &name));

        let is_notification = match context.method {
            Some(method) => method.kind == MethodKind::Notification,
            None if kind == MessageKind::Notification => true,
            None => name.starts_with(b"notifications/"),
        };
        if is_notification != (kind == MessageKind::Notification) {
            return self.void(criteria, context, message);
        }
        if envelope.id.is_some() && id.is_none() {
            return self.void(criteria, context, message);
        }
        let Some(from) = context.from else {
            return context;
        };
        if from == Side::Server && context.revision.era() == Era::Modern && id.is_some() {
            if *name != *b"ping" || self.memory.modern_server.is_some() {
                context.forbidden = context.settled;
                return context;
            }
            // So far only the client is known to be modern: it may be probing an old server.
            (context.revision, context.settled) = (Revision::LATEST_LEGACY, false);
            context.method = mcp_schema::method(context.revision, &name);
        }
        let name = match context.method {
            Some(method) => method.name.into(),
            None => String::from_utf8_lossy(&name),
        };
        if name == "initialize" && from == Side::Client {
            self.begin_again(at, &mut context.notes);
        }
        let what = match id {
            Some(id) => What::Request(id),
            None => What::Notification,
        };
        let event = Event {
            at,
            from,
            revision: context.revision,
            settled: context.settled,
            approximate: context.approximate,
            name: &name,
            topic: Topic::of(&name),
            method: context.method,
            envelope,
            meta,
            what,
        };
        let mut asked = Remembered::default();
        self.judge(criteria, &event, &mut asked, &mut context);
        let in_session = self.http.as_ref().is_some_and(|http| http.is_in_session(at.stream()));
        self.memory.take_in_call(&event, asked, in_session, criteria);
        self.apply(&mut context.notes, &criteria.settings().limits);
        context.extensible = self.memory.is_extensible();
        context
    }

    fn follow_response(
        &mut self,
        criteria: &Criteria,
        from: Option<Side>,
        message: &CarriedMessage<'_>,
        at: Moment,
    ) -> Context {
        let CarriedMessage { envelope, id, .. } = message;
        let mut context = self.context(from);
        let unseen = self.http.as_deref().is_some_and(|http| http.answers_unseen(at.stream()));
        let id_asked = id.as_ref().filter(|_| !unseen);
        let found = id_asked.and_then(|id| self.memory.take_open(from, id));
        let (asker, request) = match found {
            Some((asker, request)) => (Some(asker), Some(request)),
            None => (from.map(Side::other), None),
        };
        context.from = from.or(asker.map(Side::other));
        let request = match (asker, id, request) {
            (Some(asker), Some(id), Some(request)) if request.ambiguous => {
                self.memory.note_ambiguous(asker, id.clone(), &request, at);
                return context;
            }
            (_, _, request) => request,
        };
        if let Some(request) = &request {
            (context.revision, context.settled) = (request.revision, request.settled);
            context.approximate = request.approximate;
            context.foreign &= request.revision.era() == Era::Legacy;
            context.answers = Some(Answered {
                method: request.method(),
                task: request.task,
                extensions: request.extensions,
                original: tasks::original(request),
            });
        } else {
            self.memory.note_stray_handshake(context.from, envelope);
            let strayed = self.memory.lifecycle.is_from_start();
            let counts = envelope.result.is_some() && id.is_some() && !strayed;
            self.unmatched_results = self.unmatched_results.saturating_add(counts.into());
        }
        let Some(asker) = asker else { return context };
        if asker == Side::Server && context.revision.era() == Era::Modern {
            context.forbidden = context.settled;
            return context;
        }
        let name = request.as_ref().map_or("", Request::name);
        let event = Event {
            at,
            from: asker.other(),
            revision: context.revision,
            settled: context.settled,
            approximate: context.approximate,
            name,
            topic: Topic::of(name),
            method: request.as_ref().and_then(Request::method),
            envelope,
            meta: None,
            what: What::Answer(Answer { id: id.as_ref(), request: request.as_ref() }),
        };
        if event.name == "initialize" {
            context.negotiated = Negotiation::of(&event);
        }
        let refused = |http: &http::Http| http.is_refused_probe(at.stream());
        context.refuses_probe = self.memory.modern_server.is_none()
            && event.error_code().is_some()
            && (event.name == "server/discover" || self.http.as_deref().is_some_and(refused));
        self.judge(criteria, &event, &mut Remembered::default(), &mut context);
        self.memory.take_in_answer(&event, criteria);
        if event.name == "initialize" && event.result().is_some() {
            self.memory.judge_batches(&mut context.notes);
            (context.revision, context.settled) = self.revision();
            context.extensible = self.memory.is_extensible();
            context.foreign = self.memory.versions.is_foreign();
        }
        if event.is_modern() && request.is_some() && !self.server_info_missed {
            context.lacks_server_info = lacks_server_info(envelope);
            self.server_info_missed = context.lacks_server_info;
        }
        match (id, request) {
            (Some(id), Some(request)) => {
                self.memory.requests.keep(asker, id.clone(), &request, at);
                let leaves = at.is_unplaced() && asker == Side::Client;
                if let Some(http) = self.http.as_deref_mut().filter(|_| leaves) {
                    http.answer_unplaced(id.clone(), request);
                }
            }
            (Some(id), None) => self.memory.requests.answer_void(asker, id),
            (None, _) => {}
        }
        self.apply(&mut context.notes, &criteria.settings().limits);
        context
    }

    fn judge(
        &mut self,
        criteria: &Criteria,
        event: &Event<'_>,
        asked: &mut Remembered,
        context: &mut Context,
    ) {
        if criteria.settings().stops_before(Layer::Session) {
            return;
        }
        // An outgoing message has no exchange yet to look it up by.
        let http = self.http.as_deref().filter(|_| !event.at.is_unplaced());
        let known = self.memory.known(criteria, exchanges(http));
        let notes = &mut context.notes;
        let is_anonymous = known.is_anonymous(event);
        if !is_anonymous {
            self.memory.lifecycle.judge(event, notes);
        }
        ids::judge(event, &known, notes);
        if !context.foreign {
            // Each client declared its own.
            if !(is_anonymous && event.from == Side::Server) {
                capabilities::judge(event, &known, notes);
            }
            self.families.follow(event, asked, &known, notes);
        }
    }

    /// Applies what rules found out about requests.
    pub(super) fn apply(&mut self, notes: &mut Notes, limits: &Limits) {
        if notes.are_blank() {
            return;
        }
        let requests = &mut self.memory.requests;
        for Change { asker, id, to } in notes.take_changes() {
            match to {
                Fate::Closed => requests.close(asker, &id, limits),
                Fate::Cancelled(at) => requests.cancel(asker, &id, at),
                Fate::Lost => requests.lose(asker, &id),
                Fate::Repeated => requests.repeat(asker, &id),
            }
        }
    }

    /// Called at the end of the conversation.
    pub(crate) fn finish(&mut self, criteria: &Criteria) -> Notes {
        let mut notes = Notes::default();
        if criteria.settings().stops_before(Layer::Session) {
            return notes;
        }
        if let Some(http) = &mut self.http {
            http.finish(&mut notes);
        }
        self.finish_lane(criteria, &mut notes);
        for lane in self.lanes.as_mut().map(|lanes| lanes.drain()).unwrap_or_default() {
            (self.memory, self.families) = (lane.memory, lane.families);
            self.finish_lane(criteria, &mut notes);
        }
        notes
    }

    fn finish_lane(&mut self, criteria: &Criteria, notes: &mut Notes) {
        let mut last_words = Notes::default();
        let known = self.memory.known(criteria, exchanges(self.http.as_deref()));
        self.memory.lifecycle.finish(&mut last_words);
        ids::finish(&known, &mut last_words);
        last_words.under(self.memory.versions.current().0);
        notes.append(last_words);
    }
}

fn exchanges(http: Option<&Http>) -> Option<&dyn Exchanges> {
    http.map(|http| http as &dyn Exchanges)
}

/// Whether a message is a modern result that does not name its server.
fn lacks_server_info(envelope: &Envelope<'_>) -> bool {
    let Some(result) = envelope.result else {
        return false;
    };
    let has_type = result.get("resultType").is_some_and(Node::is_string);
    let named = result.get("_meta").is_some_and(|meta| meta.get(META_SERVER_INFO).is_some());
    has_type && !named
}

/// The side that sends `name`, where only one may.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Replicas of different builds read each other's sessions. If this snapshot changes, the serialized
    /// form has changed: increment `SAVED_VERSION` before accepting it.
    #[test]
    fn the_saved_form_has_a_version() {
        let session = Session {
            http: Some(Box::default()),
            lanes: Some(Box::default()),
            ..Session::default()
        };
        let saved = serde_json::to_string_pretty(&session).unwrap();
        insta::assert_snapshot!(format!("version {}\n{saved}", Session::SAVED_VERSION));
    }

    #[test]
    #[cfg(target_pointer_width = "64")]
    fn a_session_stays_small() {
        // Many are followed at once, and cache misses cost more than any rule. Box what is rare
        // rather than raise these.
        assert!(size_of::<Session>() <= 848, "{}", size_of::<Session>());
        assert!(size_of::<Request>() <= 120, "{}", size_of::<Request>());
    }
}
