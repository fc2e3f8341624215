use std::sync::Arc;

use mcp_core::{Revision, Side};
use mcp_json::{Node, SyntaxError};
use mcp_jsonrpc::{Envelope, ErrorCode};
use mcp_schema::{Schemas, ToolSchemas};

use crate::{
    Alone, Carrier, Context, Depth, Findings, Layer, Session, Settings,
    conversation::Moment,
    criteria::Criteria,
    features::{lifecycle, modern::initiative},
    findings::{Fault, Scene},
    http::CarriedMessage,
    lock::Lock,
    payload::{self, PayloadOutcome},
    wire::{
        framing, json,
        jsonrpc::{self, EnvelopeOutcome},
    },
};

/// Judges messages, by schemas and settings. Immutable except for caches.
///
/// Judging is split in two, so that the expensive half can run in parallel. [`Engine::follow`] is
/// cheap, sequential and stateful; [`Engine::judge`] is the rest and only reads.
#[derive(Debug)]
pub struct Engine {
    criteria: Criteria,
}

/// What a session knows about one unit of input: a message, or each entry of a batch.
#[derive(Debug)]
#[expect(clippy::exhaustive_enums, reason = "JSON-RPC knows single messages and batches")]
pub enum Followed {
    /// A message.
    One(Context),
    /// A batch: the context of the whole, and of each entry.
    Batch(Context, Vec<Context>),
}

impl Engine {
    /// Creates an engine with these schemas and settings.
    pub fn new(schemas: Schemas, settings: Settings) -> Engine {
        Engine { criteria: Criteria::new(schemas, settings) }
    }

    /// Also reports where the server's offer differs from this lock, by the rules `lock-drift` and
    /// `lock-resource-drift`, unless the profile leaves out rules that need a conversation.
    #[must_use]
    pub fn with_lock(mut self, lock: Arc<Lock>) -> Engine {
        self.criteria.set_lock(lock);
        self
    }

    /// The settings in use.
    pub fn settings(&self) -> &Settings {
        self.criteria.settings()
    }

    /// The schemas in use.
    pub fn schemas(&self) -> &Schemas {
        self.criteria.schemas()
    }

    /// The tool schemas compiled so far.
    pub fn tool_schemas(&self) -> &ToolSchemas {
        self.criteria.tool_schemas()
    }

    /// Everything that messages are judged by.
    pub(crate) fn criteria(&self) -> &Criteria {
        &self.criteria
    }

    /// Creates a session.
    pub fn session(&self, forced: Option<Revision>) -> Session {
        Session::new(forced)
    }

    /// Records `message` in the session, in wire order.
    pub fn follow(&self, session: &mut Session, from: Option<Side>, message: Node<'_>) -> Followed {
        self.follow_at(session, from, message, Moment::default())
    }

    pub(crate) fn follow_at(
        &self,
        session: &mut Session,
        from: Option<Side>,
        message: Node<'_>,
        at: Moment,
    ) -> Followed {
        if !message.is_array() {
            let read = CarriedMessage::of(message);
            return Followed::One(session.follow(&self.criteria, from, &read, at));
        }
        let mut whole = session.context(from);
        let let_in = match session.revision() {
            (revision, true) => self.settings().judges_batches_in(revision),
            (_, false) => self.settings().lets_batches_in(),
        };
        let batches = let_in || session.takes_batches(from, at, &mut whole);
        if !batches {
            session.note_void_batch(&self.criteria, from, message);
        }
        let entries = if batches { self.settings().limits.batch } else { 0 };
        let contexts = message
            .elements()
            .take(entries)
            .map(|entry| session.follow(&self.criteria, from, &CarriedMessage::of(entry), at))
            .collect();
        Followed::Batch(whole, contexts)
    }

    /// Like [`Engine::follow_at`], for a single message whose envelope was already read.
    pub(crate) fn follow_read(
        &self,
        session: &mut Session,
        from: Option<Side>,
        message: Node<'_>,
        single: Option<&CarriedMessage<'_>>,
        at: Moment,
    ) -> Followed {
        match single {
            Some(read) => Followed::One(session.follow(&self.criteria, from, read, at)),
            None => self.follow_at(session, from, message, at),
        }
    }

    /// Reports what is left at the end of a conversation.
    pub fn finish(&self, session: &mut Session, findings: &mut Findings<'_>) {
        let (revision, _) = session.revision();
        *findings.scene() = Scene { revision: Some(revision), ..Scene::default() };
        session.finish(&self.criteria).report(true, findings);
    }

    /// Records `message` in the session and judges it at once, like [`Engine::follow`] followed by
    /// [`Engine::judge`]. Its envelope is read only once.
    pub fn check(
        &self,
        session: &mut Session,
        from: Option<Side>,
        message: Node<'_>,
        findings: &mut Findings<'_>,
    ) -> Followed {
        self.check_at(session, from, message, Moment::default(), findings)
    }

    pub(crate) fn check_at(
        &self,
        session: &mut Session,
        from: Option<Side>,
        message: Node<'_>,
        at: Moment,
        findings: &mut Findings<'_>,
    ) -> Followed {
        if message.is_array() {
            let followed = self.follow_at(session, from, message, at);
            self.judge(message, &followed, findings);
            return followed;
        }
        let read = CarriedMessage::of(message);
        let context = session.follow(&self.criteria, from, &read, at);
        self.judge_read(&read, &context, findings);
        Followed::One(context)
    }

    /// Judges `message` in the context from the session.
    pub fn judge(&self, message: Node<'_>, followed: &Followed, findings: &mut Findings<'_>) {
        match followed {
            Followed::One(context) => {
                let envelope = Envelope::of(message);
                self.judge_whole(&envelope, envelope.is_valid(), context, findings);
            }
            Followed::Batch(whole, contexts) => {
                let first = findings.len();
                self.judge_batch(message, whole, contexts, findings);
                if findings.len() > first {
                    findings.locate(first, message);
                }
            }
        }
    }

    fn judge_batch(
        &self,
        message: Node<'_>,
        whole: &Context,
        contexts: &[Context],
        findings: &mut Findings<'_>,
    ) {
        set_scene(message, whole, findings);
        json::check(message, findings);
        whole.notes.report(false, findings);
        if whole.undecided {
            // It is reported once the revision is known.
            let message = "whether this is a batch depends on the rest of the handshake";
            let fault = Fault::unjudged(&jsonrpc::BATCH_NOT_SUPPORTED, message);
            return findings.report(fault.code(ErrorCode::InvalidRequest.code()));
        }
        if !whole.settled {
            // Only one revision has batches, so a batch implies it.
            findings.scene().revision = Some(Revision::V2025_03_26);
        }
        let outcome = jsonrpc::check_batch(message, whole.revision, whole.settled, findings);
        if outcome == EnvelopeOutcome::Void {
            return;
        }
        for (index, (entry, context)) in message.elements().zip(contexts).enumerate() {
            set_scene(message, context, findings);
            findings.scene().index = Some(index);
            let envelope = Envelope::of(entry);
            self.judge_one(&envelope, envelope.is_valid(), context, findings);
        }
        findings.scene().index = None;
    }

    /// Judges one message (not a batch) by itself, without a session: `about` takes the place of
    /// the conversation.
    pub fn judge_alone(&self, message: Node<'_>, about: Alone, findings: &mut Findings<'_>) {
        let envelope = Envelope::of(message);
        let context = about.context(&envelope);
        self.judge_whole(&envelope, envelope.is_valid(), &context, findings);
    }

    /// Judges a message whose envelope was already read.
    pub(crate) fn judge_read(
        &self,
        read: &CarriedMessage<'_>,
        context: &Context,
        findings: &mut Findings<'_>,
    ) {
        self.judge_whole(&read.envelope, read.sound.is_some(), context, findings);
    }

    /// Judges a message that is not a batch, including its text. `is_valid` is the result of
    /// [`Envelope::is_valid`].
    fn judge_whole(
        &self,
        envelope: &Envelope<'_>,
        is_valid: bool,
        context: &Context,
        findings: &mut Findings<'_>,
    ) {
        let (first, message) = (findings.len(), envelope.object);
        set_scene(message, context, findings);
        json::check(message, findings);
        self.judge_one(envelope, is_valid, context, findings);
        if findings.len() > first {
            findings.locate(first, message);
        }
    }

    fn judge_one(
        &self,
        envelope: &Envelope<'_>,
        is_valid: bool,
        context: &Context,
        findings: &mut Findings<'_>,
    ) {
        let sound = self.judge_content(envelope, is_valid, context, findings);
        context.notes.report(sound, findings);
    }

    /// Judges everything the message itself shows; returns whether rules about the conversation may
    /// add to it.
    fn judge_content(
        &self,
        envelope: &Envelope<'_>,
        is_valid: bool,
        context: &Context,
        findings: &mut Findings<'_>,
    ) -> bool {
        if jsonrpc::check(envelope, is_valid, context, findings) == EnvelopeOutcome::Void {
            let lists_all = self.settings().profile.envelope().every_fault;
            if lists_all && !self.settings().stops_before(Layer::Schema) {
                payload::check_despite(self.schemas(), envelope, context, findings);
            }
            return false;
        }
        let is_judged = !self.settings().stops_before(Layer::Schema);
        if context.foreign {
            if is_judged {
                findings.leave_unjudged(lifecycle::unknown_revision());
            }
            return true;
        }
        // A server must answer such a request with an error.
        if context.approximate && envelope.error.is_none() && is_judged {
            findings.leave_unjudged(lifecycle::unknown_declaration(envelope));
        }
        if context.forbidden && !self.settings().stops_before(Layer::Session) {
            initiative::report(envelope, findings);
            return false;
        }
        let looks_deeper = self.settings().depth == Depth::Everything;
        match payload::check(self.schemas(), envelope, context, findings) {
            PayloadOutcome::Broken => {
                if looks_deeper {
                    payload::check_sound_tools(&self.criteria, envelope, context, findings);
                }
                false
            }
            PayloadOutcome::Nothing => true,
            PayloadOutcome::Fits(payload) => {
                if looks_deeper {
                    findings.scene().code = payload.code().map(ErrorCode::code);
                    payload::check_deeper(&self.criteria, payload, findings);
                    findings.scene().code = None;
                }
                true
            }
        }
    }

    /// Reports text that is not a JSON value.
    pub fn judge_unreadable(
        &self,
        carrier: Carrier,
        session: &mut Session,
        from: Option<Side>,
        bytes: &[u8],
        error: &SyntaxError,
        findings: &mut Findings<'_>,
    ) {
        session.note_unreadable(from);
        let (revision, _) = session.revision();
        let line = findings.scene().line;
        *findings.scene() = Scene { from, revision: Some(revision), line, ..Scene::default() };
        framing::report_unreadable(carrier, from, error, bytes, findings);
    }
}

fn set_scene(message: Node<'_>, context: &Context, findings: &mut Findings<'_>) {
    let scene = findings.scene();
    scene.from = context.from;
    scene.revision = Some(context.revision);
    scene.index = None;
    scene.method = context
        .method
        .or(context.answers.and_then(|answered| answered.method))
        .map(|method| method.name);
    scene.base = message.span().start;
    scene.extensible = context.extensible;
}
