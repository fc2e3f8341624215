//! A conversation with the server under test.

pub(crate) mod answering;
mod incoming;
mod opening;

use std::{
    borrow::Cow,
    collections::BTreeSet,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use mcp_core::{Era, Revision};
use serde_json::{Value, json};
use tokio::{sync::Notify, time::Instant};

pub use self::{
    incoming::{Incoming, Kind, Reply},
    opening::Opening,
};
use crate::{
    Limits, Recording,
    wire::{HttpReply, HttpRequest, Wire},
};

/// Why a conversation failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConversationError {
    /// There was no answer in time.
    #[error("{} was not answered within {} ms", named(what), within.as_millis())]
    Unanswered {
        /// What was not answered.
        what: String,
        /// The time limit.
        within: Duration,
        /// The line of the request.
        line: u64,
    },
    /// The HTTP exchange has ended without an answer.
    #[error("{} was not answered: {how}", named(what))]
    Exchange {
        /// What was not answered.
        what: String,
        /// How it ended.
        how: String,
        /// The line of the response, or of the request if there was none.
        line: u64,
    },
    /// The conversation is over.
    #[error("the server ended the conversation: {0}")]
    Ended(String),
    /// It cannot be started or reached.
    #[error("the server cannot be reached: {0}")]
    Unreachable(String),
    /// It refuses the revision, or to be opened at all.
    #[error("the server did not open the conversation: {0}")]
    Refused(String),
}

/// Formats the name of a method as code, and leaves phrases as they are.
fn named(what: &str) -> Cow<'_, str> {
    if what.contains(' ') { what.into() } else { format!("`{what}`").into() }
}

/// A conversation with the server. Cheap to clone; clones can be used concurrently.
#[derive(Debug, Clone)]
pub struct Conversation {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    wire: Wire,
    inbox: Arc<Inbox>,
    recording: Arc<Recording>,
    revision: Revision,
    limits: Limits,
    capabilities: Value,
    next_id: AtomicI64,
    /// The result of the handshake.
    opened: Mutex<Option<Value>>,
    /// Checks that need not be repeated in this conversation.
    visited: Mutex<BTreeSet<&'static str>>,
    /// Number of messages searched for leaks.
    read: AtomicUsize,
    closed: AtomicBool,
    disregarded: AtomicBool,
    /// Whether another probe may continue with it.
    handed_on: AtomicBool,
    /// Whether an unanswered call was left behind, which may just be slow.
    has_slow_call: AtomicBool,
}

/// Messages from the server, in order.
#[derive(Debug, Default)]
pub(crate) struct Inbox {
    arrived: Mutex<Arrived>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct Arrived {
    messages: Vec<Arc<Incoming>>,
    ended: Option<String>,
}

impl Inbox {
    /// Adds a text: a message, or each entry of a batch.
    pub(crate) fn add(&self, line: u64, text: &[u8], exchange: Option<u64>) -> Vec<Arc<Incoming>> {
        let new: Vec<_> = Incoming::of(line, text, exchange).into_iter().map(Arc::new).collect();
        self.lock().messages.extend(new.iter().cloned());
        self.changed.notify_waiters();
        new
    }

    /// Notes that the HTTP exchange whose request is on line `closes` has ended.
    pub(crate) fn close_exchange(&self, line: u64, closes: u64, note: &str) {
        self.lock().messages.push(Arc::new(Incoming::end_of_exchange(line, closes, note)));
        self.changed.notify_waiters();
    }

    /// Whether a request with this id, as it is spelled in JSON, was answered.
    pub(crate) fn has_answer(&self, id: &str) -> bool {
        self.lock().messages.iter().any(|message| message.answers(id))
    }

    pub(crate) fn end(&self, reason: impl Into<String>) {
        self.lock().ended.get_or_insert(reason.into());
        self.changed.notify_waiters();
    }

    pub(crate) fn ended(&self) -> Option<String> {
        self.lock().ended.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Arrived> {
        self.arrived.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn len(&self) -> usize {
        self.lock().messages.len()
    }

    /// Waits for the first message that `fits`, from position `from` on.
    async fn wait(
        &self,
        mut from: usize,
        deadline: Instant,
        fits: impl Fn(&Incoming) -> bool,
    ) -> Result<Arc<Incoming>, Option<String>> {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            {
                let arrived = self.lock();
                if let Some(message) = arrived.messages[from..].iter().find(|m| fits(m)) {
                    return Ok(Arc::clone(message));
                }
                from = arrived.messages.len();
                if let Some(reason) = &arrived.ended {
                    return Err(Some(reason.clone()));
                }
            }
            if tokio::time::timeout_at(deadline, changed).await.is_err() {
                return Err(None);
            }
        }
    }
}

impl Conversation {
    pub(crate) fn new(
        wire: Wire,
        inbox: Arc<Inbox>,
        recording: Arc<Recording>,
        opening: &Opening,
        limits: Limits,
    ) -> Conversation {
        Conversation {
            inner: Arc::new(Inner {
                wire,
                inbox,
                recording,
                revision: opening.revision,
                limits,
                capabilities: opening.capabilities.clone(),
                next_id: AtomicI64::new(1),
                opened: Mutex::new(None),
                visited: Mutex::default(),
                read: AtomicUsize::new(0),
                closed: AtomicBool::new(false),
                disregarded: AtomicBool::new(false),
                handed_on: AtomicBool::new(false),
                has_slow_call: AtomicBool::new(false),
            }),
        }
    }

    /// The revision it was opened at.
    pub fn revision(&self) -> Revision {
        self.inner.revision
    }

    /// The recording of the conversation.
    pub fn recording(&self) -> &Arc<Recording> {
        &self.inner.recording
    }

    /// Its limits.
    pub fn limits(&self) -> &Limits {
        &self.inner.limits
    }

    /// The result of `initialize` or `server/discover`; null if not open.
    pub fn opened(&self) -> Value {
        self.inner.opened.lock().unwrap_or_else(PoisonError::into_inner).clone().unwrap_or_default()
    }

    pub(crate) fn wire(&self) -> &Wire {
        &self.inner.wire
    }

    /// Why it ended, if it has.
    pub fn ended(&self) -> Option<String> {
        self.inner.inbox.ended()
    }

    /// The last lines of standard error.
    pub fn stderr(&self) -> String {
        self.inner.wire.stderr()
    }

    /// The current position in the received messages, for [`Conversation::wait_from`].
    pub fn mark(&self) -> usize {
        self.inner.inbox.len()
    }

    /// The messages received since `mark`.
    pub fn since(&self, mark: usize) -> Vec<Arc<Incoming>> {
        self.inner.inbox.lock().messages.get(mark..).map(<[_]>::to_vec).unwrap_or_default()
    }

    /// Whether this is the first call with this `what`.
    pub(crate) fn is_first_visit(&self, what: &'static str) -> bool {
        self.inner.visited.lock().unwrap_or_else(PoisonError::into_inner).insert(what)
    }

    /// The messages received since the last call.
    pub(crate) fn unread(&self) -> Vec<Arc<Incoming>> {
        let messages = self.since(self.inner.read.load(Ordering::Relaxed));
        self.inner.read.fetch_add(messages.len(), Ordering::Relaxed);
        messages
    }

    /// An unused request id.
    pub fn next_id(&self) -> i64 {
        self.inner.next_id.fetch_add(1, Ordering::Relaxed)
    }

    /// Builds a request for the revision, including its `_meta`.
    pub fn request_message(&self, id: &Value, method: &str, params: Value) -> Value {
        let params = self.with_meta(params);
        match params {
            Value::Null => json!({ "jsonrpc": "2.0", "id": id, "method": method }),
            params => json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }),
        }
    }

    /// Adds the `_meta` that the revision requires on every request.
    pub fn with_meta(&self, mut params: Value) -> Value {
        if self.revision().era() == Era::Legacy {
            return params;
        }
        if params.is_null() {
            params = json!({});
        }
        if let Some(params) = params.as_object_mut() {
            let meta = params.entry("_meta").or_insert_with(|| json!({}));
            if let Some(meta) = meta.as_object_mut() {
                let revision = self.revision().as_str();
                for (name, value) in [
                    ("protocolVersion", json!(revision)),
                    ("clientInfo", opening::client_info()),
                    ("clientCapabilities", self.inner.capabilities.clone()),
                ] {
                    meta.entry(format!("io.modelcontextprotocol/{name}")).or_insert(value);
                }
            }
        }
        params
    }

    /// Sends a request and waits for its answer.
    ///
    /// # Errors
    ///
    /// If there is no answer in time, or the server is gone.
    pub async fn request(&self, method: &str, params: Value) -> Result<Reply, ConversationError> {
        let id = json!(self.next_id());
        self.request_as(&id, method, params).await
    }

    /// Like [`Conversation::request`], with the longer time limit for a server that is starting.
    ///
    /// # Errors
    ///
    /// If there is no answer in time, or the server is gone.
    pub async fn request_first(
        &self,
        method: &str,
        params: Value,
    ) -> Result<Reply, ConversationError> {
        let id = json!(self.next_id());
        let message = self.request_message(&id, method, params).to_string();
        self.exchange(&message, &id.to_string(), method, self.inner.limits.start).await
    }

    /// Like [`Conversation::request`], with a given id.
    ///
    /// # Errors
    ///
    /// If there is no answer in time, or the server is gone.
    pub async fn request_as(
        &self,
        id: &Value,
        method: &str,
        params: Value,
    ) -> Result<Reply, ConversationError> {
        let message = self.request_message(id, method, params);
        self.exchange(&message.to_string(), &id.to_string(), method, self.inner.limits.answer).await
    }

    /// Sends a raw text and waits for the answer with this id, given as JSON.
    ///
    /// # Errors
    ///
    /// If there is no answer in time, or the server is gone.
    pub async fn exchange(
        &self,
        text: &str,
        id: &str,
        what: &str,
        within: Duration,
    ) -> Result<Reply, ConversationError> {
        let mark = self.mark();
        let line = self.send(text).await?;
        self.answer(mark, line, id, what, within).await
    }

    /// Waits for the answer with this id, given as JSON, from `mark` on.
    ///
    /// # Errors
    ///
    /// If there is no answer in time, or the server is gone.
    pub async fn answer(
        &self,
        mark: usize,
        line: u64,
        id: &str,
        what: &str,
        within: Duration,
    ) -> Result<Reply, ConversationError> {
        let is_answer = |message: &Incoming| message.answers(id) || message.closes == Some(line);
        match self.inner.inbox.wait(mark, Instant::now() + within, is_answer).await {
            Ok(message) if message.closes.is_some() => Err(ConversationError::Exchange {
                what: what.to_owned(),
                how: message.note.clone(),
                line: message.line,
            }),
            Ok(message) => Ok(Reply { message, asked: line }),
            Err(Some(reason)) => Err(ConversationError::Ended(reason)),
            Err(None) => Err(ConversationError::Unanswered { what: what.to_owned(), within, line }),
        }
    }

    /// Sends a notification.
    ///
    /// # Errors
    ///
    /// If the server is gone.
    pub async fn notify(&self, method: &str, params: Value) -> Result<u64, ConversationError> {
        let message = match params {
            Value::Null => json!({ "jsonrpc": "2.0", "method": method }),
            params => json!({ "jsonrpc": "2.0", "method": method, "params": params }),
        };
        let mark = self.mark();
        let line = self.send(&message.to_string()).await?;
        if self.inner.wire.as_http().is_some() {
            // The next message must not overtake it.
            let is_over = |message: &Incoming| message.closes == Some(line);
            let _ = self.wait_from(mark, self.inner.limits.answer, method, is_over).await;
        }
        Ok(line)
    }

    /// Sends a raw text as one message: a line, the body of a POST with the usual headers, or a
    /// frame. Returns the line of the recording.
    ///
    /// # Errors
    ///
    /// If the server is gone.
    pub async fn send(&self, text: &str) -> Result<u64, ConversationError> {
        self.send_bytes(text.as_bytes()).await
    }

    /// Like [`Conversation::send`], with bytes that need not be UTF-8.
    ///
    /// # Errors
    ///
    /// If the server is gone.
    pub async fn send_bytes(&self, text: &[u8]) -> Result<u64, ConversationError> {
        self.inner.wire.send(text, self).await
    }

    /// Sends a custom HTTP request and waits for the response, or for its head if it is an event
    /// stream. Only over HTTP.
    ///
    /// # Errors
    ///
    /// If there is no answer in time, or the server is gone.
    pub async fn http(&self, request: HttpRequest) -> Result<HttpReply, ConversationError> {
        self.inner.wire.http(request, self).await
    }

    /// Cancels a request, in the way of the revision: over HTTP since 2026-07-28, by closing the
    /// connection.
    ///
    /// # Errors
    ///
    /// If the server is gone.
    pub(crate) async fn give_up(&self, id: i64, line: u64) -> Result<(), ConversationError> {
        if self.revision().era() == Era::Modern && self.inner.wire.as_http().is_some() {
            self.hang_up(line).await;
        } else {
            let params = json!({ "requestId": id, "reason": "a test" });
            self.notify("notifications/cancelled", params).await?;
        }
        Ok(())
    }

    /// Closes the HTTP connection of the request on this line, and waits until that is done. It may
    /// already be closed.
    pub(crate) async fn hang_up(&self, line: u64) {
        let Some(http) = self.inner.wire.as_http() else { return };
        http.hang_up(line);
        let is_over = |message: &Incoming| message.closes == Some(line);
        let _ = self.wait_from(0, self.inner.limits.answer, "the end", is_over).await;
    }

    /// Whether the HTTP exchange whose request is on this line has ended.
    pub(crate) fn is_over(&self, line: u64) -> bool {
        self.since(0).iter().any(|message| message.closes == Some(line))
    }

    /// Waits for a message from `mark` on.
    ///
    /// # Errors
    ///
    /// If there is no answer in time, or the server is gone.
    pub async fn wait_from(
        &self,
        mark: usize,
        within: Duration,
        what: &str,
        fits: impl Fn(&Incoming) -> bool,
    ) -> Result<Arc<Incoming>, ConversationError> {
        match self.inner.inbox.wait(mark, Instant::now() + within, fits).await {
            Ok(message) => Ok(message),
            Err(Some(reason)) => Err(ConversationError::Ended(reason)),
            Err(None) => {
                let line = self.recording().len() as u64;
                Err(ConversationError::Unanswered { what: what.to_owned(), within, line })
            }
        }
    }

    /// Waits a moment for unrequested messages, which the rules judge.
    pub(crate) async fn pause_for_more(&self) {
        let mark = self.mark();
        let _ = self.wait_from(mark, self.inner.limits.quiet, "more", |_| false).await;
    }

    /// Checks that the server still answers.
    ///
    /// # Errors
    ///
    /// If it does not.
    pub async fn check_alive(&self) -> Result<(), ConversationError> {
        match self.revision().era() {
            Era::Legacy => self.request("ping", Value::Null).await?,
            Era::Modern => self.request("server/discover", Value::Null).await?,
        };
        Ok(())
    }

    /// Whether it was closed by the test.
    pub fn is_closed(&self) -> bool {
        self.inner.closed.load(Ordering::Relaxed)
    }

    /// Whether it is open: the handshake or discovery succeeded.
    pub fn is_open(&self) -> bool {
        !self.opened().is_null()
    }

    /// Notes an unanswered call that is left behind. It may just be slow, so it is no fault.
    pub(crate) fn note_slow_call(&self) {
        self.inner.has_slow_call.store(true, Ordering::Relaxed);
    }

    /// Whether an unanswered call was left behind.
    pub(crate) fn has_slow_call(&self) -> bool {
        self.inner.has_slow_call.load(Ordering::Relaxed)
    }

    /// Lets another probe continue with it, if this one leaves it clean.
    pub(crate) fn hand_on(&self) {
        self.inner.handed_on.store(true, Ordering::Relaxed);
    }

    /// Whether another probe may continue with it: no requests are open, and there are no findings.
    pub(crate) fn may_be_handed_on(&self) -> bool {
        self.inner.handed_on.load(Ordering::Relaxed)
            && !self.is_closed()
            && !self.is_disregarded()
            && !self.has_slow_call()
            && self.ended().is_none()
            && self.recording().is_settled()
    }

    /// Ignores findings of the rules in this conversation: only the probe judges.
    pub fn disregard(&self) {
        self.inner.disregarded.store(true, Ordering::Relaxed);
    }

    /// Whether findings of the rules are ignored.
    pub fn is_disregarded(&self) -> bool {
        self.inner.disregarded.load(Ordering::Relaxed)
    }

    /// Notes that its end is expected.
    pub fn expect_end(&self) {
        self.inner.closed.store(true, Ordering::Relaxed);
    }

    /// Ends it quickly, and not after `until`. A server that still runs then is killed with the
    /// last handle.
    pub(crate) async fn close_until(&self, until: Instant) {
        if tokio::time::timeout_at(until, self.close_soon()).await.is_err() {
            self.inner.inbox.end("it was abandoned");
            self.recording().finish();
        }
    }

    /// Ends it without waiting long for the server.
    pub(crate) async fn close_soon(&self) {
        self.expect_end();
        self.inner.wire.close_soon().await;
        self.inner.inbox.end("it was closed");
        self.recording().finish();
    }

    /// Ends it: closes the server's input or session, and waits for the exit of a child process.
    /// Returns whether the child exited by itself in time; `None` if there is no child.
    pub async fn close(&self) -> Option<bool> {
        self.expect_end();
        let exited = self.inner.wire.close(self.inner.limits.exit).await;
        self.inner.inbox.end("it was closed");
        self.recording().finish();
        exited
    }
}
