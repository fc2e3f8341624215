//! The context of a running probe, in which it opens conversations and reports failures.

use std::{
    collections::BTreeSet,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use mcp_core::{Revision, Side};
use mcp_json::{Span, Tape};
use mcp_rules::{Engine, Finding, RuleMeta, behaviour};
use tokio::time::{Instant, timeout_at};

use crate::{
    Conversation, ConversationError, Discovery, Failure, Limits, Offer, Opening, Random, Recording,
    Settings, Stop, Target,
    conversation::Inbox,
    leaks::{self, Leak},
    wire::{Processes, Wire, WireKind},
};

/// What all probes of a run share.
#[derive(Debug)]
pub(crate) struct RunContext {
    pub(crate) target: Target,
    pub(crate) engine: Arc<Engine>,
    pub(crate) settings: Settings,
    pub(crate) recordings: Mutex<Vec<Arc<Recording>>>,
    pub(crate) calls: AtomicU64,
    /// Tools that did not answer in time.
    pub(crate) endless: Mutex<BTreeSet<String>>,
    pub(crate) processes: Arc<Processes>,
    /// Whether the server is known to keep running after its input was closed.
    pub(crate) stays: AtomicBool,
}

impl RunContext {
    /// Connects to the server, without sending anything.
    pub(crate) async fn connect(
        &self,
        name: &str,
        opening: &Opening,
        limits: Limits,
    ) -> Result<Conversation, ConversationError> {
        let recording = {
            let mut recordings = self.recordings.lock().unwrap_or_else(PoisonError::into_inner);
            let number = recordings.len() + 1;
            let name = name.replace(|c: char| !c.is_ascii_alphanumeric() && c != '-', "-");
            let name = format!("{number:03}-{name}-{}", opening.revision);
            let recording = Arc::new(Recording::new(name, Arc::clone(&self.engine)));
            recordings.push(Arc::clone(&recording));
            recording
        };
        let inbox = Arc::new(Inbox::default());
        let wire =
            Wire::connect(&self.target, &self.processes, &recording, &inbox, opening, &limits)
                .await?;
        Ok(Conversation::new(wire, inbox, recording, opening, limits))
    }
}

/// The context of one probe at one revision: it opens conversations and collects failures.
#[derive(Debug)]
pub struct Stage {
    context: Arc<RunContext>,
    found: Arc<Discovery>,
    revision: Revision,
    name: String,
    shared: Option<Conversation>,
    uses_shared: bool,
    /// A conversation left clean by another probe.
    clean: Option<Conversation>,
    /// Whether this probe has used that conversation.
    is_second_hand: bool,
    opened: Vec<Conversation>,
    failures: Vec<Failure>,
    limits: Limits,
    until: Instant,
    /// Rules whose findings the probe reports itself.
    spoken_for: Vec<&'static str>,
    /// Why the shared conversation was abandoned.
    pub(crate) lost: Option<String>,
}

impl Stage {
    pub(crate) fn new(
        context: &Arc<RunContext>,
        found: &Arc<Discovery>,
        revision: Revision,
        name: &str,
        shared: Option<Conversation>,
    ) -> Stage {
        Stage {
            context: Arc::clone(context),
            found: Arc::clone(found),
            revision,
            name: name.to_owned(),
            shared,
            uses_shared: false,
            clean: None,
            is_second_hand: false,
            opened: Vec::new(),
            failures: Vec::new(),
            limits: context.settings.limits,
            until: Instant::now() + context.settings.limits.time,
            spoken_for: Vec::new(),
            lost: None,
        }
    }

    /// Offers the probe a conversation that another one left clean.
    pub(crate) fn with_clean(self, clean: Option<Conversation>) -> Stage {
        Stage { clean, ..self }
    }

    /// Takes the conversation that this probe leaves for the next.
    pub(crate) fn take_clean(&mut self) -> Option<Conversation> {
        self.clean.take()
    }

    /// Whether the failures may be due to an earlier probe that shared the conversation. The death
    /// of the server is reported in any case.
    pub(crate) fn is_in_doubt(&self) -> bool {
        let died = |failure: &Failure| failure.finding.rule.name == behaviour::SERVER_DIED.name;
        self.is_second_hand && self.has_failures() && !self.failures.iter().any(died)
    }

    /// Another stage for the same probe, with other limits. Failures there do not count here.
    pub(crate) fn aside(&self, limits: Limits) -> Stage {
        let stage = Stage::new(&self.context, &self.found, self.revision, &self.name, None);
        Stage { limits, ..stage }
    }

    /// Sets the deadline of the probe.
    pub(crate) fn end_at(&mut self, until: Instant) {
        self.until = until;
    }

    /// The deadline of the probe, at which it is cancelled.
    pub(crate) fn until(&self) -> Instant {
        self.until
    }

    /// Notes that the probe was cancelled, so open requests are no fault.
    pub(crate) fn note_cut(&mut self) {
        let shared = self.shared.iter().filter(|_| self.uses_shared);
        for conversation in self.opened.iter().chain(shared) {
            conversation.note_slow_call();
        }
    }

    /// Adds failures from another stage.
    pub(crate) fn adopt(&mut self, failures: impl IntoIterator<Item = Failure>) {
        self.failures.extend(failures);
    }

    /// The revision that is tested.
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// The transport of the server.
    pub fn wire(&self) -> WireKind {
        self.context.target.wire()
    }

    /// The server under test.
    pub fn target(&self) -> &Target {
        &self.context.target
    }

    /// The settings of the run.
    pub fn settings(&self) -> &Settings {
        &self.context.settings
    }

    /// The engine that judges messages.
    pub fn engine(&self) -> &Arc<Engine> {
        &self.context.engine
    }

    /// What the server offers at this revision.
    pub fn offer(&self) -> Offer {
        self.found.offers.get(&self.revision).cloned().unwrap_or_default()
    }

    /// What the server offers at all revisions.
    pub fn found(&self) -> &Arc<Discovery> {
        &self.found
    }

    /// The stream of random numbers of this probe.
    pub fn random(&self) -> Random {
        self.context.settings.seed.stream(&self.name)
    }

    /// Returns the conversation that probes share, opened.
    ///
    /// # Errors
    ///
    /// If it cannot be opened.
    pub async fn shared(&mut self) -> Result<Conversation, Stop> {
        self.uses_shared = true;
        if let Some(shared) = &self.shared
            && shared.ended().is_none()
        {
            return Ok(shared.clone());
        }
        let opening = Opening::at(self.revision);
        let conversation = self.context.connect("shared", &opening, self.limits).await?;
        self.shared = Some(conversation.clone());
        conversation.open(&opening).await?;
        Ok(conversation)
    }

    /// Opens a conversation for this probe alone.
    ///
    /// # Errors
    ///
    /// If it cannot be opened.
    pub async fn fresh(&mut self) -> Result<Conversation, Stop> {
        self.fresh_as(&Opening::at(self.revision)).await
    }

    /// Opens a conversation for this probe alone, in a given way.
    ///
    /// # Errors
    ///
    /// If it cannot be opened.
    pub async fn fresh_as(&mut self, opening: &Opening) -> Result<Conversation, Stop> {
        let conversation = self.connect(opening).await?;
        conversation.open(opening).await?;
        Ok(conversation)
    }

    /// Like [`Stage::fresh`], but over stdio a conversation left clean by an earlier probe will do,
    /// since starting a server takes longer than most probes. A probe that fails there is run again
    /// in a new conversation.
    ///
    /// # Errors
    ///
    /// If it cannot be opened.
    pub async fn clean(&mut self) -> Result<Conversation, Stop> {
        if self.wire() != WireKind::Stdio {
            return self.fresh().await;
        }
        let left = self.clean.take().filter(|left| left.ended().is_none());
        let conversation = match left {
            Some(left) => {
                self.is_second_hand = true;
                self.opened.push(left.clone());
                left
            }
            None => self.fresh().await?,
        };
        conversation.hand_on();
        Ok(conversation)
    }

    /// Connects without opening a conversation.
    ///
    /// # Errors
    ///
    /// If that fails.
    pub async fn connect(&mut self, opening: &Opening) -> Result<Conversation, Stop> {
        let conversation = self.context.connect(&self.name, opening, self.limits).await?;
        self.opened.push(conversation.clone());
        Ok(conversation)
    }

    /// Counts a tool call, prompt request or resource read.
    ///
    /// # Errors
    ///
    /// If the limit is reached.
    pub fn spend_call(&self) -> Result<(), Stop> {
        let before = self.context.calls.fetch_add(1, Ordering::Relaxed);
        if before < self.context.settings.limits.calls {
            return Ok(());
        }
        Err(Stop::Skip(format!("the limit of {} calls is reached", self.settings().limits.calls)))
    }

    /// Remembers that a tool does not finish in time, so that not every probe waits for it.
    pub(crate) fn note_endless(&self, tool: &str) {
        let mut endless = self.context.endless.lock().unwrap_or_else(PoisonError::into_inner);
        endless.insert(tool.to_owned());
    }

    /// Whether a tool is known not to finish in time.
    pub(crate) fn is_endless(&self, tool: &str) -> bool {
        self.context.endless.lock().unwrap_or_else(PoisonError::into_inner).contains(tool)
    }

    /// Remembers that the server keeps running after its input was closed.
    pub(crate) fn note_stays(&self) {
        self.context.stays.store(true, Ordering::Relaxed);
    }

    /// Whether the server is known to keep running after its input was closed.
    pub(crate) fn stays(&self) -> bool {
        self.context.stays.load(Ordering::Relaxed)
    }

    /// Reports that the server broke `rule`, on this line of a conversation. `message` says what it
    /// did, `help` what it should do.
    pub fn fail(
        &mut self,
        rule: &'static RuleMeta,
        on: &Conversation,
        line: u64,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        let Some(severity) = self.context.engine.settings().level(rule).severity(self.revision)
        else {
            return;
        };
        if !rule.applies.contains(self.revision) {
            return;
        }
        let mut finding = Finding::new(rule, severity, message);
        finding.revision = Some(self.revision);
        finding.from = Some(Side::Server);
        finding.at_fault = Some(Side::Server);
        finding.line = (line > 0).then_some(line);
        let help = help.into();
        finding.help = (!help.is_empty()).then_some(help);
        let stderr = (rule.name == behaviour::SERVER_DIED.name
            || rule.name == behaviour::SERVER_WEDGED.name)
            .then(|| on.stderr())
            .filter(|text| !text.trim().is_empty());
        self.failures.push(Failure { finding, recording: Arc::clone(on.recording()), stderr });
    }

    /// Drops findings of this rule, which the probe reports itself.
    pub(crate) fn speak_for(&mut self, rule: &'static RuleMeta) {
        self.spoken_for.push(rule.name);
    }

    /// The number of failures reported.
    pub(crate) fn failure_count(&self) -> usize {
        self.failures.len()
    }

    /// Points the last failure at a place in the message of its line, if the place exists.
    pub(crate) fn point_at(&mut self, pointer: String) {
        let Some(Failure { finding, recording, .. }) = self.failures.last_mut() else { return };
        let Some(text) = finding.line.and_then(|line| recording.line(line)) else { return };
        let mut tape = Tape::new();
        let limits = mcp_json::Limits { max_bytes: usize::MAX, ..mcp_json::Limits::default() };
        let Ok(document) = tape.parse(&text, limits) else { return };
        let Some(message) = mcp_rules::message_of(document.root()) else { return };
        let Some(node) = message.pointer(&pointer) else { return };
        // Spans are relative to the message.
        let (start, end) = (message.span().start, node.span());
        finding.span = Some(Span { start: end.start - start, end: end.end - start });
        finding.pointer = Some(pointer);
    }

    /// Reports a conversation error as a failure.
    pub fn fail_for(&mut self, on: &Conversation, error: &ConversationError) {
        let last = on.recording().len() as u64;
        let message = error.to_string();
        match error {
            ConversationError::Unanswered { line, .. }
            | ConversationError::Exchange { line, .. } => {
                let help = "answer every request, with an error if need be";
                self.fail(&behaviour::REQUEST_UNANSWERED, on, *line, message, help);
            }
            ConversationError::Ended(_) | ConversationError::Unreachable(_) => {
                let help = "keep running, whatever a client sends";
                self.fail(&behaviour::SERVER_DIED, on, last, message, help);
            }
            ConversationError::Refused(_) => {
                let help = "open every conversation at the revisions that you support";
                self.fail(&behaviour::OPENING_REFUSED, on, last, message, help);
            }
        }
    }

    /// The conversation that an error is most likely about.
    pub(crate) fn current(&self) -> Option<Conversation> {
        self.opened.last().or(self.shared.as_ref()).cloned()
    }

    /// Checks that the server is still alive, ends the conversations of the probe, and takes their
    /// findings. Requests still open at `until` are not held against the server.
    pub(crate) async fn settle(&mut self, until: Instant) {
        for conversation in std::mem::take(&mut self.opened) {
            if !conversation.is_closed() && conversation.is_open() {
                let _ = timeout_at(until, self.check_alive(&conversation)).await;
            }
            if self.clean.is_none() && conversation.may_be_handed_on() {
                self.take_findings(&conversation);
                if !self.has_failures() {
                    self.clean = Some(conversation);
                    continue;
                }
            }
            conversation.close_until(until).await;
            self.take_findings(&conversation);
        }
        if self.uses_shared
            && let Some(shared) = self.shared.clone()
        {
            if timeout_at(until, self.check_alive(&shared)).await == Ok(false) {
                self.lost = Some(shared.ended().unwrap_or_else(|| "it does not answer".to_owned()));
                shared.close_until(until).await;
                self.shared = None;
            }
            self.take_findings(&shared);
        }
    }

    /// Takes the findings of a conversation.
    pub(crate) fn take_findings(&mut self, conversation: &Conversation) {
        if conversation.is_disregarded() {
            return;
        }
        let says = |failures: &[Failure], rule: &RuleMeta| {
            failures.iter().any(|failure| failure.finding.rule.name == rule.name)
        };
        self.take_leaks(conversation);
        for finding in conversation.recording().take_findings() {
            // A slow call was cancelled while its answer was on the way.
            if finding.rule.name == "response-after-cancel" && self.name.starts_with("tools/") {
                continue;
            }
            if finding.rule.name == "request-unanswered" && conversation.has_slow_call() {
                continue;
            }
            // The test client answers at once, so it may have been cancelled before the answer
            // arrived.
            if finding.rule.name == "cancel-completed-request" {
                continue;
            }
            // Similar calls show the same fault repeatedly.
            let is_same = |known: &Failure| {
                let known = &known.finding;
                known.rule.name == finding.rule.name
                    && known.message == finding.message
                    && known.pointer == finding.pointer
            };
            if self.spoken_for.contains(&finding.rule.name) || self.failures.iter().any(is_same) {
                continue;
            }
            // The probe has reported the same more precisely.
            if finding.rule.name == "request-unanswered"
                && (says(&self.failures, &behaviour::REQUEST_UNANSWERED)
                    || says(&self.failures, &behaviour::SERVER_DIED)
                    || says(&self.failures, &behaviour::BATCH_REFUSED)
                    || says(&self.failures, &behaviour::ID_NOT_ECHOED)
                    || says(&self.failures, &behaviour::CANCELLATION_HITS_OTHERS)
                    || says(&self.failures, &behaviour::SERVER_WEDGED))
            {
                continue;
            }
            let recording = Arc::clone(conversation.recording());
            self.failures.push(Failure { finding, recording, stderr: None });
        }
    }

    pub(crate) fn has_failures(&self) -> bool {
        !self.failures.is_empty()
    }

    /// Searches new errors for leaks, and reports the first of each kind.
    fn take_leaks(&mut self, conversation: &Conversation) {
        let (mut has_trace, mut has_path, mut has_password) = (false, false, false);
        for message in conversation.unread() {
            let (seen, what) = match leaks::leak(&message.value) {
                None => continue,
                Some(Leak::Trace(frame)) => (&mut has_trace, format!("a stack trace: {frame}")),
                Some(Leak::Path(path)) if self.is_known(conversation, &path) => continue,
                Some(Leak::Path(path)) => (&mut has_path, format!("a path of the server: {path}")),
                Some(Leak::Password(url)) => {
                    (&mut has_password, format!("a URL with a password: {url}"))
                }
            };
            if std::mem::replace(seen, true) {
                continue;
            }
            let message_text = format!("an error reveals {}", mcp_core::excerpt(&what, 200));
            let help = "log such details, and answer with a sentence about what was wrong with the request";
            let rule = &behaviour::INTERNALS_LEAKED;
            self.fail(rule, conversation, message.line, message_text, help);
        }
    }

    /// Whether a path is no secret: it was sent, was requested, or is on the server's command line.
    fn is_known(&self, conversation: &Conversation, path: &str) -> bool {
        let is_argument = match &self.context.target {
            Target::Command(launch) => launch.arguments.iter().any(|argument| {
                let argument = argument.to_string_lossy();
                argument.len() > 1 && (path.contains(&*argument) || argument.contains(path))
            }),
            _ => false,
        };
        is_argument || conversation.recording().has_sent(|sent| leaks::is_about(path, sent))
    }

    /// Returns the conversation left for the next probe, and the failures.
    pub(crate) fn into_parts(self) -> (Option<Conversation>, Vec<Failure>) {
        (self.shared, self.failures)
    }

    async fn check_alive(&mut self, conversation: &Conversation) -> bool {
        let Err(error) = conversation.check_alive().await else { return true };
        let knows = |rule: &RuleMeta| {
            self.failures.iter().any(|failure| failure.finding.rule.name == rule.name)
        };
        let line = conversation.recording().len() as u64;
        let died = &behaviour::SERVER_DIED;
        match &error {
            ConversationError::Ended(_) | ConversationError::Unreachable(_) if knows(died) => {}
            ConversationError::Ended(_) | ConversationError::Unreachable(_) => {
                self.fail_for(conversation, &error);
            }
            _ => {
                let message = format!("after the probe, {error}");
                let help = "keep serving, whatever a client has sent before";
                self.fail(&behaviour::SERVER_WEDGED, conversation, line, message, help);
            }
        }
        false
    }
}
