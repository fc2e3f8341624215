use std::{
    collections::{BTreeMap, HashMap, HashSet, VecDeque},
    time::Duration,
};

use bytes::Bytes;
use mcp_core::TransportError;
use mcp_json::{Limits, Span};
use mcp_jsonrpc::{ErrorCode, JsonRpcId, MessageKind};
use tokio::{
    sync::mpsc,
    time::{Instant, timeout_at},
};

use super::{
    ReplayStep, Target,
    conversation_state::{ConversationState, MAX_ID, Reply},
    peer::{Heard, QUEUE, Said},
    step::What,
    tokens::Named,
};
use crate::{
    Tap,
    bridge::outline::{Outline, Reference, read},
    splice::with_parts,
};

/// Settings of a [`Player`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ReplaySettings {
    /// How long to wait for a message that the recorded server sent. Default: 30 s.
    pub timeout: Duration,
    /// How long to listen at the end if the recorded server sent more messages. Default: 1 s.
    pub settle: Duration,
    /// Whether to pause before each message as long as the recorded client did, at most `timeout`.
    pub keep_pauses: bool,
    /// Maximum number of open conversations; the longest silent one is closed for a new one.
    /// Default: 100.
    pub max_conversations: usize,
    /// Maximum message size in bytes. Default: 16 MiB.
    pub max_message: usize,
}

impl Default for ReplaySettings {
    fn default() -> Self {
        ReplaySettings {
            timeout: Duration::from_secs(30),
            settle: Duration::from_secs(1),
            keep_pauses: false,
            max_conversations: 100,
            max_message: 16 << 20,
        }
    }
}

/// Why a recording could not be replayed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// The server could not be started.
    #[error(transparent)]
    Start(TransportError),
}

/// The result of a replay.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReplaySummary {
    /// Number of messages sent.
    pub sent: u64,
    /// Number of messages not sent, because their conversation had ended or the request that they
    /// answer was not made.
    pub unsent: u64,
    /// Number of recorded answers that did not arrive in time.
    pub unanswered: u64,
    /// Number of conversations.
    pub conversations: usize,
    /// Why the first prematurely ended conversation ended.
    pub ended: Option<String>,
}

/// Replays the client of a recording.
#[derive(Debug)]
pub struct Player {
    target: Target,
    tap: Tap,
    settings: ReplaySettings,
    limits: Limits,
    talks: BTreeMap<usize, ConversationState>,
    /// Conversations closed to make room.
    closed: HashSet<usize>,
    /// Numbers of open conversations, the longest silent first.
    silence: VecDeque<usize>,
    /// The requests in open HTTP exchanges of the recording.
    exchanges: HashMap<(usize, u64), Recorded>,
    heard: mpsc::Receiver<Heard>,
    sender: mpsc::Sender<Heard>,
    /// When the last line was recorded, and when it was replayed.
    last: Option<(i64, Instant)>,
    played: ReplaySummary,
}

/// The id of a recorded request.
#[derive(Debug)]
struct Recorded {
    id: JsonRpcId,
    json: Bytes,
}

/// Number of misses in a row that end a conversation.
const MAX_MISSES: u32 = 20;
/// Maximum number of HTTP exchanges whose requests are remembered.
const MAX_EXCHANGES: usize = 10_000;

impl Player {
    /// A player that sends to `target`, through `tap`.
    pub fn new(target: Target, tap: Tap, settings: ReplaySettings) -> Player {
        let (sender, heard) = mpsc::channel(QUEUE);
        Player {
            target,
            tap,
            limits: Limits { max_bytes: settings.max_message, ..Limits::default() },
            settings,
            talks: BTreeMap::new(),
            closed: HashSet::new(),
            silence: VecDeque::new(),
            exchanges: HashMap::new(),
            heard,
            sender,
            last: None,
            played: ReplaySummary::default(),
        }
    }

    /// Replays the next line of the recording.
    ///
    /// # Errors
    ///
    /// If the server cannot be started.
    pub async fn play(&mut self, step: ReplayStep) -> Result<(), ReplayError> {
        let ReplayStep { conversation, exchange, millis, what } = step;
        if self.settings.keep_pauses && matches!(what, What::Send(_)) {
            self.pause(millis).await;
        }
        match what {
            What::Send(text) => self.send(conversation, exchange, text).await?,
            What::Hear(text) => self.hear(conversation, exchange, &text).await,
            What::Failed => {
                if let Some(request) = self.request_of(conversation, exchange) {
                    self.await_answer(conversation, &request.id, &Named::default()).await;
                }
            }
            What::Left => {
                if let Some(request) = self.request_of(conversation, exchange) {
                    self.say(conversation, cancelled(&request.json)).await;
                    self.forget(conversation, &request.id);
                }
            }
        }
        self.last = millis.map(|millis| (millis, Instant::now())).or(self.last);
        Ok(())
    }

    /// Listens as long as the recorded client waited after the last line.
    async fn pause(&mut self, millis: Option<i64>) {
        let (Some(millis), Some((last, then))) = (millis, self.last) else { return };
        let pause = u64::try_from(millis.saturating_sub(last)).unwrap_or_default();
        let deadline = then + Duration::from_millis(pause).min(self.settings.timeout);
        while self.listen(deadline).await {}
    }

    /// Ends all conversations, after giving the server time for the messages that the recorded
    /// server sent.
    pub async fn finish(mut self) -> ReplaySummary {
        let deadline = Instant::now() + self.settings.settle.min(self.settings.timeout);
        let is_behind =
            |talk: &ConversationState| talk.ended.is_none() && talk.messages[1] < talk.messages[0];
        while self.talks.values().any(is_behind) && self.listen(deadline).await {}
        let peers: Vec<_> = self.talks.values().map(|talk| talk.peer.clone()).collect();
        let heard = &mut self.heard;
        let close = async {
            for peer in peers {
                peer.close().await;
            }
        };
        tokio::pin!(close);
        loop {
            tokio::select! {
                () = &mut close => break,
                // Keep reading, so that no server blocks while it ends.
                _ = heard.recv() => {}
            }
        }
        self.played
    }

    async fn send(
        &mut self,
        conversation: usize,
        exchange: Option<u64>,
        text: Bytes,
    ) -> Result<(), ReplayError> {
        self.open(conversation)?;
        let Some(outline) = Outline::at(&text, self.limits) else {
            self.say(conversation, text).await;
            return Ok(());
        };
        let mut parts = self.tokens(conversation, &text);
        for response in outline.responses() {
            let Some(located) = &response.id else { continue };
            let reply =
                self.talk(conversation).map_or(Reply::Unknown, |talk| talk.reply(&located.id));
            match reply {
                Reply::Skip if !outline.is_batch => return Ok(()),
                Reply::Skip | Reply::Unknown => {}
                Reply::To(asked) => {
                    self.wait(conversation, |talk| talk.is_asked(asked)).await;
                    let id = self.talk(conversation).and_then(|talk| talk.take_asked(asked));
                    match id {
                        Some(id) => parts.push((located.span, id)),
                        None if outline.is_batch => {}
                        None => {
                            self.played.unsent += 1;
                            return Ok(());
                        }
                    }
                }
            }
        }
        let original = text;
        let text = if parts.is_empty() { original.clone() } else { with_parts(&original, parts) };
        for request in outline.requests() {
            let Some(located) = &request.id else { continue };
            if let Some(talk) = self.talk(conversation) {
                talk.note_sent(&located.id);
            }
            let json = part(&original, located.span);
            if let Some(exchange) = exchange
                && self.exchanges.len() < MAX_EXCHANGES
                && json.len() <= MAX_ID
            {
                let json = Bytes::copy_from_slice(&json);
                let recorded = Recorded { id: located.id.clone(), json };
                self.exchanges.insert((conversation, exchange), recorded);
            }
        }
        self.say(conversation, text).await;
        let single = outline.single().and_then(|message| message.reference.as_ref());
        if let Some(Reference::Cancelled(located)) = single {
            self.forget(conversation, &located.id);
        }
        Ok(())
    }

    /// Waits for the message that corresponds to this one of the recorded server.
    async fn hear(&mut self, conversation: usize, exchange: Option<u64>, text: &Bytes) {
        let Some(outline) = Outline::at(text, self.limits) else { return };
        if let Some(talk) = self.talk(conversation) {
            talk.messages[0] += outline.messages.len() as u64;
        }
        for message in &outline.messages {
            match (message.kind, &message.id, &message.method) {
                (Some(MessageKind::Response), Some(located), _) => {
                    let named = read(text, self.limits, Named::in_answer).unwrap_or_default();
                    self.await_answer(conversation, &located.id, &named).await;
                    self.request_of(conversation, exchange);
                }
                (Some(MessageKind::Request), Some(located), Some(method)) => {
                    if let Some(talk) = self.talk(conversation) {
                        talk.note_asked_then(&located.id, method);
                    }
                }
                _ => {}
            }
        }
    }

    async fn await_answer(&mut self, conversation: usize, id: &JsonRpcId, then: &Named) {
        let mut has_come = self.wait(conversation, |talk| talk.is_answered(id)).await;
        if !has_come {
            // The server may be waiting for an answer that the recording does not have.
            let asked =
                self.talk(conversation).map(ConversationState::take_all_asked).unwrap_or_default();
            if !asked.is_empty() {
                for id in asked {
                    self.say(conversation, no_answer(&id)).await;
                }
                has_come = self.wait(conversation, |talk| talk.is_answered(id)).await;
            }
        }
        self.played.unanswered += u64::from(!has_come);
        if let Some(talk) = self.talk(conversation)
            && let Some(now) = talk.take_answer(id)
        {
            talk.tokens.learn(then, &now);
        }
    }

    /// Waits until `is_so`; `false` on timeout.
    async fn wait(
        &mut self,
        conversation: usize,
        is_so: impl Fn(&ConversationState) -> bool,
    ) -> bool {
        let ReplaySettings { timeout, settle, .. } = self.settings;
        let misses = self.talks.get(&conversation).map_or(0, |talk| talk.misses);
        // After a timeout, later waits are shorter.
        let patience = if misses == 0 { timeout } else { settle.min(timeout) };
        let is_so = self.wait_until(conversation, Instant::now() + patience, is_so).await;
        if let Some(talk) = self.talk(conversation) {
            talk.misses = if is_so { 0 } else { talk.misses + 1 };
            if talk.misses == MAX_MISSES && talk.ended.is_none() {
                let reason = "the server does not answer any more";
                talk.ended = Some(reason.to_owned());
                self.played.ended.get_or_insert_with(|| reason.to_owned());
            }
        }
        is_so
    }

    async fn wait_until(
        &mut self,
        conversation: usize,
        deadline: Instant,
        is_so: impl Fn(&ConversationState) -> bool,
    ) -> bool {
        loop {
            let Some(talk) = self.talks.get(&conversation) else { return true };
            if is_so(talk) {
                return true;
            }
            if talk.ended.is_some() || !self.listen(deadline).await {
                return false;
            }
        }
    }

    /// Handles the next event of a server; `false` on timeout.
    async fn listen(&mut self, deadline: Instant) -> bool {
        let Ok(Some(heard)) = timeout_at(deadline, self.heard.recv()).await else { return false };
        for (conversation, answer) in self.take(heard) {
            self.say(conversation, answer).await;
        }
        true
    }

    /// Handles an event of a server; returns messages to send at once.
    fn take(&mut self, heard: Heard) -> Vec<(usize, Bytes)> {
        let Heard { conversation, what } = heard;
        let mut answers = Vec::new();
        let Some(talk) = self.talks.get_mut(&conversation) else { return answers };
        let line = match what {
            Said::Line(line) => line,
            Said::Ended(reason) => {
                self.played.ended.get_or_insert_with(|| reason.clone());
                talk.ended = Some(reason);
                return answers;
            }
        };
        let Some(outline) = Outline::at(&line, self.limits) else { return answers };
        for message in &outline.messages {
            match (message.kind, &message.id, message.method.as_deref()) {
                (Some(MessageKind::Response), Some(located), _) => {
                    let named = read(&line, self.limits, Named::in_answer).unwrap_or_default();
                    talk.note_answer(&located.id, named);
                }
                (Some(MessageKind::Request), Some(located), Some("ping")) => {
                    talk.messages[1] += 1;
                    answers.push((conversation, pong(&part(&line, located.span))));
                }
                (Some(MessageKind::Request), Some(located), Some(method)) => {
                    talk.note_asked_now(&part(&line, located.span), method);
                }
                _ => talk.messages[1] += 1,
            }
        }
        answers
    }

    /// Sends a text while listening, since a server that cannot write may not read.
    async fn say(&mut self, conversation: usize, text: Bytes) {
        let mut waiting = VecDeque::from([(conversation, text)]);
        while let Some((conversation, text)) = waiting.pop_front() {
            let talk = self.talks.get(&conversation).filter(|talk| talk.ended.is_none());
            let Some(peer) = talk.map(|talk| talk.peer.clone()) else {
                self.played.unsent += 1;
                continue;
            };
            let sending = peer.send(text);
            tokio::pin!(sending);
            loop {
                tokio::select! {
                    () = &mut sending => break,
                    Some(heard) = self.heard.recv() => waiting.extend(self.take(heard)),
                }
            }
            self.played.sent += 1;
        }
    }

    /// Opens a conversation unless it is open; another one may be closed to make room.
    fn open(&mut self, conversation: usize) -> Result<(), ReplayError> {
        if self.talks.contains_key(&conversation) {
            if self.silence.back() != Some(&conversation) {
                self.silence.retain(|other| *other != conversation);
                self.silence.push_back(conversation);
            }
            return Ok(());
        }
        if self.closed.contains(&conversation) {
            return Ok(());
        }
        if self.talks.len() >= self.settings.max_conversations.max(1)
            && let Some(oldest) = self.silence.pop_front()
            && let Some(talk) = self.talks.remove(&oldest)
        {
            self.closed.insert(oldest);
            // It ends in the background; its last messages are not needed.
            tokio::spawn(async move { talk.peer.close().await });
        }
        let peer = self.target.connect(conversation, &self.tap, &self.sender);
        let peer = peer.map_err(ReplayError::Start)?;
        self.talks.insert(conversation, ConversationState::new(peer));
        self.silence.push_back(conversation);
        self.played.conversations += 1;
        Ok(())
    }

    fn tokens(&self, conversation: usize, text: &Bytes) -> Vec<(Span, Bytes)> {
        let Some(talk) = self.talks.get(&conversation) else { return Vec::new() };
        read(text, self.limits, |root| talk.tokens.replacements(root)).unwrap_or_default()
    }

    fn talk(&mut self, conversation: usize) -> Option<&mut ConversationState> {
        self.talks.get_mut(&conversation)
    }

    /// Takes the request of a finished exchange of the recording.
    fn request_of(&mut self, conversation: usize, exchange: Option<u64>) -> Option<Recorded> {
        self.exchanges.remove(&(conversation, exchange?))
    }

    /// Stops waiting for the answer to this request.
    fn forget(&mut self, conversation: usize, id: &JsonRpcId) {
        if let Some(talk) = self.talk(conversation) {
            talk.take_answer(id);
        }
    }
}

/// A part of a text.
fn part(text: &Bytes, span: Span) -> Bytes {
    let start = span.start.min(text.len());
    text.slice(start..span.end.clamp(start, text.len()))
}

/// Ids keep their spelling, canonical or not.
fn with_id(before: &str, id: &[u8], after: &str) -> Bytes {
    [before.as_bytes(), id, after.as_bytes()].concat().into()
}

fn cancelled(id: &[u8]) -> Bytes {
    let before = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"#;
    with_id(before, id, "}}")
}

fn pong(id: &[u8]) -> Bytes {
    with_id(r#"{"jsonrpc":"2.0","id":"#, id, r#","result":{}}"#)
}

/// The error for a request that the recording has no answer to.
fn no_answer(id: &[u8]) -> Bytes {
    let after = format!(
        r#","error":{{"code":{},"message":"the recording has no answer to this request"}}}}"#,
        ErrorCode::InternalError.code()
    );
    with_id(r#"{"jsonrpc":"2.0","id":"#, id, &after)
}
