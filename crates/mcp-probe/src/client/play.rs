//! One conversation with the client: its messages, and the reactions to them.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use mcp_core::{Era, Revision, Side};
use mcp_rules::{Engine, TraceEntry};
use serde_json::{Value, json};
use tokio::{sync::Notify, time::Instant};

use super::{
    act::{Act, Ask},
    cue::Cue,
    listeners::Outlet,
    offer,
    scenario::Scenario,
};
use crate::{Incoming, Kind, Limits, Recording, WireKind};

/// The conversations of one run. Over HTTP there is one; a client may start a command several
/// times.
#[derive(Debug)]
pub(crate) struct Plays {
    pub(crate) scenario: &'static Scenario,
    pub(crate) revision: Revision,
    pub(crate) engine: Arc<Engine>,
    pub(crate) limits: Limits,
    /// Whether the client is known to send no requests after the opening.
    pub(crate) is_quiet: bool,
    /// All recordings of the run.
    pub(crate) recordings: Arc<Mutex<Vec<Arc<Recording>>>>,
    pub(crate) list: Mutex<Vec<Arc<Play>>>,
    pub(crate) changed: Arc<Notify>,
}

/// Maximum number of messages of the client per conversation.
const MESSAGES: usize = 1_000;
/// Maximum number of conversations per run.
const MOST: usize = 64;

impl Plays {
    /// Begins a conversation.
    pub(crate) fn begin(&self, wire: WireKind) -> Arc<Play> {
        self.begin_in(&mut self.lock(), wire)
    }

    /// The conversation over HTTP, created with its first request.
    pub(crate) fn over_http(&self) -> Arc<Play> {
        let mut list = self.lock();
        let known = list.iter().find(|play| play.wire == WireKind::Http).cloned();
        known.unwrap_or_else(|| self.begin_in(&mut list, WireKind::Http))
    }

    pub(crate) fn all(&self) -> Vec<Arc<Play>> {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Arc<Play>>> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin_in(&self, list: &mut Vec<Arc<Play>>, wire: WireKind) -> Arc<Play> {
        let recording = {
            let mut recordings = self.recordings.lock().unwrap_or_else(PoisonError::into_inner);
            let name = self.scenario.name.replace('/', "-");
            let name = format!("{:03}-{name}-{}", recordings.len() + 1, self.revision);
            let recording = Arc::new(Recording::of(Side::Client, name, Arc::clone(&self.engine)));
            recordings.push(Arc::clone(&recording));
            recording
        };
        let play = Arc::new(Play {
            scenario: self.scenario,
            revision: self.revision,
            wire,
            recording,
            limits: self.limits,
            is_quiet: self.is_quiet,
            state: Mutex::default(),
            busy: AtomicUsize::new(0),
            changed: Arc::clone(&self.changed),
        });
        if list.len() < MOST {
            list.push(Arc::clone(&play));
        }
        self.changed.notify_waiters();
        play
    }
}

/// One conversation.
#[derive(Debug)]
pub(crate) struct Play {
    pub(crate) scenario: &'static Scenario,
    pub(crate) revision: Revision,
    pub(crate) wire: WireKind,
    pub(crate) recording: Arc<Recording>,
    pub(crate) limits: Limits,
    is_quiet: bool,
    state: Mutex<State>,
    busy: AtomicUsize,
    changed: Arc<Notify>,
}

/// The state of a conversation.
#[derive(Debug, Default)]
pub(crate) struct State {
    /// All messages of the client.
    pub(crate) heard: Vec<Incoming>,
    /// All requests of the server.
    pub(crate) asked: Vec<Asked>,
    /// The version in the client's last `initialize`.
    pub(crate) requested: Option<String>,
    /// The capabilities of the client.
    pub(crate) capabilities: Value,
    /// The `clientInfo` of the client.
    pub(crate) client: Value,
    /// Whether the handshake is complete; without a handshake, whether a request at the revision
    /// has arrived.
    pub(crate) is_open: bool,
    /// The line of the first message that a plain server would not have sent.
    pub(crate) twist: Option<u64>,
    /// The line of the first message that the server sent after that.
    pub(crate) answered: Option<u64>,
    /// How the conversation ended, if it has.
    pub(crate) closed: Option<Closed>,
    /// Observations about HTTP besides messages.
    pub(crate) http: HttpNotes,
    is_cut: bool,
    answers_initialize: bool,
    uses: BTreeMap<String, usize>,
    after_opening: usize,
    last: Option<Instant>,
}

/// How a conversation ended.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Closed {
    /// Whether the server's process was killed while its input was open.
    pub(crate) killed: bool,
}

/// What a client did over HTTP besides sending messages.
#[derive(Debug, Default)]
pub(crate) struct HttpNotes {
    pub(crate) gets: usize,
    pub(crate) resumed: bool,
    /// Sessions that were assigned.
    pub(crate) sessions: usize,
    /// Whether the last of them was ended by the client.
    pub(crate) is_deleted: bool,
    /// For a stream that was cut: the id of the last event, and the message that was not sent.
    pub(crate) owed: Option<(String, Value)>,
    /// Number of event ids used.
    pub(crate) events: usize,
}

/// A request of the server.
#[derive(Debug, Clone)]
pub(crate) struct Asked {
    pub(crate) ask: Ask,
    pub(crate) id: Value,
    pub(crate) line: u64,
    pub(crate) answer: Option<Incoming>,
    /// Whether the client had the full time for an answer, on an open connection.
    pub(crate) waited: bool,
}

impl Play {
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the client may send more messages.
    pub(crate) fn has_room(&self) -> bool {
        self.recording.bytes() < self.limits.recording_bytes && self.state().heard.len() < MESSAGES
    }

    /// Whether the server is still performing acts.
    pub(crate) fn is_busy(&self) -> bool {
        self.busy.load(Ordering::Acquire) > 0
    }

    /// When a message was last seen.
    pub(crate) fn last_activity(&self) -> Option<Instant> {
        self.state().last
    }

    /// Notes that a message was seen.
    pub(crate) fn touch(&self) {
        self.state().last = Some(Instant::now());
        self.changed.notify_waiters();
    }

    /// Records a line that was too long to keep.
    pub(crate) fn skip(&self, length: u64) {
        self.recording.add(&TraceEntry::stdio(Side::Client, b"").skipping(length));
        self.touch();
    }

    /// Handles a line of the client, and performs the reaction.
    pub(crate) fn hear_line(self: &Arc<Self>, text: &[u8], is_last: bool, outlet: &Outlet) {
        let entry = if is_last {
            TraceEntry::unterminated(Side::Client, text)
        } else {
            TraceEntry::stdio(Side::Client, text)
        };
        let line = self.recording.add(&entry);
        let acts: Vec<Vec<Act>> =
            self.hear(line, text, None).iter().map(|message| self.acts(message)).collect();
        for acts in acts {
            self.start(acts, outlet.clone());
        }
    }

    /// Records a message of the client, and updates the state.
    pub(crate) fn hear(&self, line: u64, text: &[u8], exchange: Option<u64>) -> Vec<Incoming> {
        let messages = Incoming::of(line, text, exchange);
        let mut state = self.state();
        for message in &messages {
            if matches!(message.kind, Kind::Result | Kind::Error) {
                let id = message.id.as_deref().unwrap_or_default();
                let asked = state
                    .asked
                    .iter_mut()
                    .find(|asked| asked.answer.is_none() && same_id(&asked.id, id));
                if let Some(asked) = asked {
                    asked.answer = Some(message.clone());
                }
            }
            state.learn(message, self.revision);
            state.heard.push(message.clone());
        }
        drop(state);
        self.touch();
        messages
    }

    /// The acts in reaction to a message.
    pub(crate) fn acts(&self, message: &Incoming) -> Vec<Act> {
        let Some(method) = message.method() else { return Vec::new() };
        let is_ready = method == "notifications/initialized";
        if message.kind != Kind::Request && !is_ready {
            return Vec::new();
        }
        let id = message.value.get("id").cloned().unwrap_or_default();
        let params = message.value.get("params").cloned().unwrap_or_default();
        let mut state = self.state();
        let nth = state.uses.entry(method.to_owned()).or_default();
        *nth += 1;
        let nth = *nth;
        let is_opening = matches!(method, "initialize" | "server/discover");
        let is_era = self.revision.era();
        if era_of(method, &params) == Some(Era::Modern)
            && is_era == Era::Legacy
            && !state.answers_initialize
        {
            // A server that only knows revisions with a handshake.
            return match self.wire {
                WireKind::Http => vec![Act::Status(400)],
                _ => vec![Act::Tell(json!({
                    "jsonrpc": "2.0",
                    "id": id,
                    "error": { "code": -32601, "message": format!("Method not found: {method}") },
                }))],
            };
        }
        if method == "initialize" {
            state.answers_initialize = true;
        } else if !is_opening
            && message.kind == Kind::Request
            && (state.answers_initialize || is_era == Era::Modern)
        {
            state.after_opening += 1;
        }
        let capabilities = state.capabilities.clone();
        let cue = Cue {
            method,
            params: &params,
            id: &id,
            nth,
            after_opening: state.after_opening,
            revision: self.revision,
            wire: self.wire,
            is_quiet: self.is_quiet,
            capabilities: &capabilities,
        };
        match (self.scenario.script)(&cue) {
            Some(acts) => {
                state.twist.get_or_insert(message.line);
                acts
            }
            None => cue.plain(),
        }
    }

    /// Performs acts in order, in the background.
    pub(crate) fn start(self: &Arc<Self>, acts: Vec<Act>, outlet: Outlet) {
        if acts.is_empty() {
            return;
        }
        let play = Arc::clone(self);
        tokio::spawn(async move { play.perform(acts, &outlet).await });
    }

    /// Performs acts in order.
    pub(crate) async fn perform(self: &Arc<Self>, acts: Vec<Act>, outlet: &Outlet) {
        let busy = Busy::new(self);
        for act in acts {
            match act {
                Act::Tell(message) | Act::Owe(message) => {
                    let line = outlet.send(self, &message.to_string()).await;
                    self.note_answer(line);
                }
                Act::Text(text) => {
                    outlet.send(self, &text).await;
                }
                Act::Pieces(message) => {
                    outlet.send_in_pieces(self, &message).await;
                }
                Act::Together(messages) => {
                    outlet.send_together(self, &messages).await;
                }
                Act::Ask(ask) => self.ask(ask, outlet).await,
                Act::Stderr(text) => outlet.complain(self, text).await,
                Act::AwaitCancel(id) => {
                    let cancelled = self.until(|state| state.cancels(&id));
                    // The client may take its time.
                    let _ = tokio::time::timeout(self.limits.answer, cancelled).await;
                }
                Act::Pause(time) => tokio::time::sleep(time).await,
                Act::Hold => {
                    drop(busy);
                    self.until(|state| state.closed.is_some()).await;
                    return;
                }
                Act::Cut => {
                    self.state().is_cut = true;
                    self.changed.notify_waiters();
                    return;
                }
                Act::Status(_) => {}
            }
            self.touch();
        }
    }

    /// Notes that the server sent a message on this line.
    pub(crate) fn note_answer(&self, line: u64) {
        let mut state = self.state();
        if state.twist.is_some() {
            state.answered.get_or_insert(line);
        }
    }

    /// Waits until the server has cut the conversation.
    pub(crate) async fn cut(&self) {
        self.until(|state| state.is_cut).await;
    }

    /// Notes that the conversation has ended.
    pub(crate) fn close(&self, killed: bool) {
        let mut state = self.state();
        state.closed.get_or_insert(Closed { killed });
        drop(state);
        self.touch();
    }

    async fn ask(&self, ask: Ask, outlet: &Outlet) {
        let id = {
            let mut state = self.state();
            let id =
                ask.id.clone().unwrap_or_else(|| json!(format!("plumb-{}", state.asked.len() + 1)));
            let asked =
                Asked { ask: ask.clone(), id: id.clone(), line: 0, answer: None, waited: false };
            state.asked.push(asked);
            id
        };
        let mut message = json!({ "jsonrpc": "2.0", "id": id, "method": ask.method });
        if let Some(params) = ask.params {
            message["params"] = params;
        }
        let line = outlet.send(self, &message.to_string()).await;
        let is_it = |asked: &&mut Asked| asked.id == id && asked.line == 0;
        if let Some(asked) = self.state().asked.iter_mut().find(is_it) {
            asked.line = line;
        }
        let answered = self.until(|state| {
            state.closed.is_some()
                || state.asked.iter().any(|asked| asked.line == line && asked.answer.is_some())
        });
        let in_time = tokio::time::timeout(self.limits.answer, answered).await.is_ok();
        if !in_time
            && let Some(asked) = self.state().asked.iter_mut().find(|asked| asked.line == line)
        {
            asked.waited = true;
        }
    }

    async fn until(&self, condition: impl Fn(&State) -> bool) {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            // Register before checking the state, so that no change is missed.
            changed.as_mut().enable();
            if condition(&self.state()) {
                return;
            }
            changed.await;
        }
    }
}

impl State {
    /// Whether a request was cancelled, or no longer can be.
    fn cancels(&self, id: &Value) -> bool {
        let is_of_it = |message: &Incoming| {
            message.method() == Some("notifications/cancelled")
                && message.value.pointer("/params/requestId") == Some(id)
        };
        self.closed.is_some() || self.heard.iter().any(is_of_it)
    }

    fn learn(&mut self, message: &Incoming, revision: Revision) {
        let params = &message.value["params"];
        match (message.kind, message.method()) {
            (Kind::Request, Some("initialize")) => {
                self.requested = params["protocolVersion"].as_str().map(str::to_owned);
                self.capabilities = params["capabilities"].clone();
                self.client = params["clientInfo"].clone();
            }
            (Kind::Notification, Some("notifications/initialized")) => self.is_open = true,
            (Kind::Request, Some(_)) if revision.era() == Era::Modern => {
                let meta = &params["_meta"];
                if offer::declared_version(params) == Some(revision.as_str()) {
                    self.is_open = true;
                    self.capabilities = meta["io.modelcontextprotocol/clientCapabilities"].clone();
                    self.client = meta["io.modelcontextprotocol/clientInfo"].clone();
                }
            }
            _ => {}
        }
    }
}

fn era_of(method: &str, params: &Value) -> Option<Era> {
    match method {
        "initialize" => Some(Era::Legacy),
        "server/discover" => Some(Era::Modern),
        _ => offer::declared_version(params).map(|_| Era::Modern),
    }
}

fn same_id(id: &Value, spelled: &str) -> bool {
    serde_json::from_str::<Value>(spelled).is_ok_and(|spelled| spelled == *id)
}

/// Marks the play as busy while it lives.
struct Busy<'a>(&'a Play);

impl<'a> Busy<'a> {
    fn new(play: &'a Play) -> Busy<'a> {
        play.busy.fetch_add(1, Ordering::AcqRel);
        Busy(play)
    }
}

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.0.busy.fetch_sub(1, Ordering::AcqRel);
        self.0.changed.notify_waiters();
    }
}
