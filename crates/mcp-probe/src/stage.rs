//! Where a probe runs: it opens conversations here and reports what is wrong.

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
    Conversation, Failure, Found, Limits, Offer, Opening, Random, Recording, Settings, Stop,
    Target, Trouble,
    conversation::Inbox,
    leaks::{self, Leak},
    wire::{Processes, Wire, WireKind},
};

/// What all probes of a run have in common.
#[derive(Debug)]
pub(crate) struct Scene {
    pub(crate) target: Target,
    pub(crate) engine: Arc<Engine>,
    pub(crate) settings: Settings,
    pub(crate) recordings: Mutex<Vec<Arc<Recording>>>,
    pub(crate) calls: AtomicU64,
    /// Tools that took longer than an answer may take.
    pub(crate) endless: Mutex<BTreeSet<String>>,
    pub(crate) processes: Arc<Processes>,
    /// Whether the server is known to stay after its input was closed.
    pub(crate) stays: AtomicBool,
}

impl Scene {
    /// Connects to the server, without a word.
    pub(crate) async fn connect(
        &self,
        name: &str,
        opening: &Opening,
        limits: Limits,
    ) -> Result<Conversation, Trouble> {
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

/// The stage of one probe at one revision.
#[derive(Debug)]
pub struct Stage {
    scene: Arc<Scene>,
    found: Arc<Found>,
    revision: Revision,
    name: String,
    shared: Option<Conversation>,
    uses_shared: bool,
    /// What another probe has left as it should be.
    clean: Option<Conversation>,
    /// Whether this probe went on with it.
    is_second_hand: bool,
    opened: Vec<Conversation>,
    failures: Vec<Failure>,
    limits: Limits,
    until: Instant,
    /// Rules whose findings the probe puts into words of its own.
    spoken_for: Vec<&'static str>,
    /// Why the shared conversation had to be given up.
    pub(crate) lost: Option<String>,
}

impl Stage {
    pub(crate) fn new(
        scene: &Arc<Scene>,
        found: &Arc<Found>,
        revision: Revision,
        name: &str,
        shared: Option<Conversation>,
    ) -> Stage {
        Stage {
            scene: Arc::clone(scene),
            found: Arc::clone(found),
            revision,
            name: name.to_owned(),
            shared,
            uses_shared: false,
            clean: None,
            is_second_hand: false,
            opened: Vec::new(),
            failures: Vec::new(),
            limits: scene.settings.limits,
            until: Instant::now() + scene.settings.limits.time,
            spoken_for: Vec::new(),
            lost: None,
        }
    }

    /// Lets the probe go on with what another one has left.
    pub(crate) fn with_clean(self, clean: Option<Conversation>) -> Stage {
        Stage { clean, ..self }
    }

    /// What this probe has left for the next.
    pub(crate) fn take_clean(&mut self) -> Option<Conversation> {
        self.clean.take()
    }

    /// Whether what has failed may be due to an earlier probe, with which this one has shared a
    /// conversation. That the server has died is said in any case.
    pub(crate) fn is_in_doubt(&self) -> bool {
        let died = |failure: &Failure| failure.finding.rule.name == behaviour::SERVER_DIED.name;
        self.is_second_hand && self.has_failures() && !self.failures.iter().any(died)
    }

    /// Another stage for the same probe, with limits of its own. What fails there does not count
    /// here.
    pub(crate) fn aside(&self, limits: Limits) -> Stage {
        let stage = Stage::new(&self.scene, &self.found, self.revision, &self.name, None);
        Stage { limits, ..stage }
    }

    /// Says until when the probe may run.
    pub(crate) fn end_at(&mut self, until: Instant) {
        self.until = until;
    }

    /// Until when the probe may run. It is ended then, whatever it is doing.
    pub(crate) fn until(&self) -> Instant {
        self.until
    }

    /// Notes that the probe was ended in the middle: what was not answered yet is no fault.
    pub(crate) fn note_cut(&mut self) {
        let shared = self.shared.iter().filter(|_| self.uses_shared);
        for conversation in self.opened.iter().chain(shared) {
            conversation.note_slow_call();
        }
    }

    /// Takes over what has failed elsewhere.
    pub(crate) fn adopt(&mut self, failures: impl IntoIterator<Item = Failure>) {
        self.failures.extend(failures);
    }

    /// The revision that is tested.
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// How the server is reached.
    pub fn wire(&self) -> WireKind {
        self.scene.target.wire()
    }

    /// The server under test.
    pub fn target(&self) -> &Target {
        &self.scene.target
    }

    /// How to test.
    pub fn settings(&self) -> &Settings {
        &self.scene.settings
    }

    /// What messages are judged by.
    pub fn engine(&self) -> &Arc<Engine> {
        &self.scene.engine
    }

    /// What the server offers at this revision.
    pub fn offer(&self) -> Offer {
        self.found.offers.get(&self.revision).cloned().unwrap_or_default()
    }

    /// What the server offers at all revisions.
    pub fn found(&self) -> &Arc<Found> {
        &self.found
    }

    /// The stream of random numbers of this probe.
    pub fn random(&self) -> Random {
        self.scene.settings.seed.stream(&self.name)
    }

    /// The conversation that probes share as long as it lasts, opened.
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
        let conversation = self.scene.connect("shared", &opening, self.limits).await?;
        self.shared = Some(conversation.clone());
        conversation.open(&opening).await?;
        Ok(conversation)
    }

    /// A conversation for this probe alone, opened.
    ///
    /// # Errors
    ///
    /// If it cannot be opened.
    pub async fn fresh(&mut self) -> Result<Conversation, Stop> {
        self.fresh_as(&Opening::at(self.revision)).await
    }

    /// The same, opened in another way.
    ///
    /// # Errors
    ///
    /// If it cannot be opened.
    pub async fn fresh_as(&mut self, opening: &Opening) -> Result<Conversation, Stop> {
        let conversation = self.connect(opening).await?;
        conversation.open(opening).await?;
        Ok(conversation)
    }

    /// The same, but where it takes a process, what an earlier probe has left as it should be will do:
    /// to start a server takes longer than everything that a probe says to it. A probe that fails
    /// there is run again in a conversation of its own.
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

    /// A connection on which nothing was said yet.
    ///
    /// # Errors
    ///
    /// If there is none.
    pub async fn connect(&mut self, opening: &Opening) -> Result<Conversation, Stop> {
        let conversation = self.scene.connect(&self.name, opening, self.limits).await?;
        self.opened.push(conversation.clone());
        Ok(conversation)
    }

    /// Counts a call of a tool, a prompt or a resource.
    ///
    /// # Errors
    ///
    /// If there were enough.
    pub fn spend_call(&self) -> Result<(), Stop> {
        let before = self.scene.calls.fetch_add(1, Ordering::Relaxed);
        if before < self.scene.settings.limits.calls {
            return Ok(());
        }
        Err(Stop::Skip(format!("the limit of {} calls is reached", self.settings().limits.calls)))
    }

    /// Remembers that a tool does not come to an end in time, so that not every probe waits for it.
    pub(crate) fn note_endless(&self, tool: &str) {
        let mut endless = self.scene.endless.lock().unwrap_or_else(PoisonError::into_inner);
        endless.insert(tool.to_owned());
    }

    /// Whether a tool is known not to come to an end in time.
    pub(crate) fn is_endless(&self, tool: &str) -> bool {
        self.scene.endless.lock().unwrap_or_else(PoisonError::into_inner).contains(tool)
    }

    /// Remembers that the server stays after its input was closed.
    pub(crate) fn note_stays(&self) {
        self.scene.stays.store(true, Ordering::Relaxed);
    }

    /// Whether the server is known to stay after its input was closed.
    pub(crate) fn stays(&self) -> bool {
        self.scene.stays.load(Ordering::Relaxed)
    }

    /// Reports that the server did something else than `rule` wants, on this line of a
    /// conversation. `message` says what it did; `help` what it should have done.
    pub fn fail(
        &mut self,
        rule: &'static RuleMeta,
        on: &Conversation,
        line: u64,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        let Some(severity) = self.scene.engine.settings().level(rule).severity(self.revision)
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

    /// Leaves what this rule finds to the probe, which sums it up.
    pub(crate) fn speak_for(&mut self, rule: &'static RuleMeta) {
        self.spoken_for.push(rule.name);
    }

    /// How many failures were reported.
    pub(crate) fn failure_count(&self) -> usize {
        self.failures.len()
    }

    /// Says where in the message of its line the last failure is, if it is there.
    pub(crate) fn point_at(&mut self, pointer: String) {
        let Some(Failure { finding, recording, .. }) = self.failures.last_mut() else { return };
        let Some(text) = finding.line.and_then(|line| recording.line(line)) else { return };
        let mut tape = Tape::new();
        let limits = mcp_json::Limits { max_bytes: usize::MAX, ..mcp_json::Limits::default() };
        let Ok(document) = tape.parse(&text, limits) else { return };
        let Some(message) = mcp_rules::message_of(document.root()) else { return };
        let Some(node) = message.pointer(&pointer) else { return };
        // Spans count from the beginning of the message.
        let (start, end) = (message.span().start, node.span());
        finding.span = Some(Span { start: end.start - start, end: end.end - start });
        finding.pointer = Some(pointer);
    }

    /// Reports a trouble as the failure that it is.
    pub fn fail_for(&mut self, on: &Conversation, trouble: &Trouble) {
        let last = on.recording().len() as u64;
        let message = trouble.to_string();
        match trouble {
            Trouble::Unanswered { line, .. } | Trouble::Exchange { line, .. } => {
                let help = "answer every request, with an error if need be";
                self.fail(&behaviour::REQUEST_UNANSWERED, on, *line, message, help);
            }
            Trouble::Ended(_) | Trouble::Unreachable(_) => {
                let help = "a server must outlive whatever a client sends";
                self.fail(&behaviour::SERVER_DIED, on, last, message, help);
            }
            Trouble::Refused(_) => {
                let help = "open every conversation at the revisions that you speak";
                self.fail(&behaviour::OPENING_REFUSED, on, last, message, help);
            }
        }
    }

    /// The conversation that a trouble is most likely about.
    pub(crate) fn current(&self) -> Option<Conversation> {
        self.opened.last().or(self.shared.as_ref()).cloned()
    }

    /// Checks that the server is still alive, ends what the probe has opened, and takes what the
    /// rules have found. What is not answered by then is not held against the server.
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

    /// Takes what the rules have found in a conversation.
    pub(crate) fn take_findings(&mut self, conversation: &Conversation) {
        if conversation.is_disregarded() {
            return;
        }
        let says = |failures: &[Failure], rule: &RuleMeta| {
            failures.iter().any(|failure| failure.finding.rule.name == rule.name)
        };
        self.take_leaks(conversation);
        for finding in conversation.recording().take_findings() {
            // A call that took too long was cancelled, and its answer was on the way.
            if finding.rule.name == "response-after-cancel" && self.name.starts_with("tools/") {
                continue;
            }
            if finding.rule.name == "request-unanswered" && conversation.has_slow_call() {
                continue;
            }
            // We answer at once, so it may have been cancelled before the answer arrived.
            if finding.rule.name == "cancel-completed-request" {
                continue;
            }
            // Calls that differ little show the same fault again and again.
            let is_same = |known: &Failure| {
                let known = &known.finding;
                known.rule.name == finding.rule.name
                    && known.message == finding.message
                    && known.pointer == finding.pointer
            };
            if self.spoken_for.contains(&finding.rule.name) || self.failures.iter().any(is_same) {
                continue;
            }
            // The probe has said the same with more precision.
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

    /// Looks for what new errors should not show, and reports the first of each kind.
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
            let message_text = format!("an error shows {}", mcp_core::excerpt(&what, 200));
            let help = "log it, and answer with a sentence about what was wrong with the request";
            let rule = &behaviour::INTERNALS_LEAKED;
            self.fail(rule, conversation, message.line, message_text, help);
        }
    }

    /// Whether a path is no secret: it was sent, belongs to what was asked for, or is on the
    /// server's command line.
    fn is_known(&self, conversation: &Conversation, path: &str) -> bool {
        let is_argument = match &self.scene.target {
            Target::Command(launch) => launch.arguments.iter().any(|argument| {
                let argument = argument.to_string_lossy();
                argument.len() > 1 && (path.contains(&*argument) || argument.contains(path))
            }),
            _ => false,
        };
        is_argument || conversation.recording().has_sent(|sent| leaks::is_about(path, sent))
    }

    /// What is left for the next probe, and what was wrong.
    pub(crate) fn into_parts(self) -> (Option<Conversation>, Vec<Failure>) {
        (self.shared, self.failures)
    }

    async fn check_alive(&mut self, conversation: &Conversation) -> bool {
        let Err(trouble) = conversation.check_alive().await else { return true };
        let knows = |rule: &RuleMeta| {
            self.failures.iter().any(|failure| failure.finding.rule.name == rule.name)
        };
        let line = conversation.recording().len() as u64;
        let died = &behaviour::SERVER_DIED;
        match &trouble {
            Trouble::Ended(_) | Trouble::Unreachable(_) if knows(died) => {}
            Trouble::Ended(_) | Trouble::Unreachable(_) => self.fail_for(conversation, &trouble),
            _ => {
                let message = format!("after the probe, {trouble}");
                let help = "go on serving, whatever a client has sent before";
                self.fail(&behaviour::SERVER_WEDGED, conversation, line, message, help);
            }
        }
        false
    }
}
