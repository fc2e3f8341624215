//! A client controlled by the user.
//!
//! The [`InspectorClient`] opens conversations, assigns ids, matches answers and requests lists; otherwise
//! it sends exactly what the user wants. Its traffic passes a [`Tap`] like that of any client, so
//! it is listed and judged in the same way.

mod conversation;
mod http_gateway;
mod listing;
mod negotiation;
mod offer;
mod refusal;
mod suggestion;
mod target;
mod text;
pub(crate) mod view;
pub(crate) mod wire;

use std::{
    borrow::Cow,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use mcp_core::Revision;
use mcp_proxy::{Observation, Tap, TapEvent, TapSettings, Watcher};
use mcp_rules::Engine;
use serde_json::json;
use tokio::sync::{oneshot, watch};

pub(crate) use self::refusal::{Refusal, RefusalKind};
pub use self::target::{Launch, Target};
use self::{
    conversation::{Conversation, Facts},
    negotiation::RequestedRevision,
    target::Taps,
    view::{Composed, Offer, Sent, SpeakState, Status},
};
use crate::{
    Log,
    service::{text_of, with_line},
};

/// Maximum length of a line from a server.
const LONGEST: usize = 16 << 20;
/// How long the API waits for a conversation to open before it reports the state as connecting.
const OPENING: Duration = Duration::from_secs(5);

const BY_HAND: &str = "disconnected by hand";

/// A client that the page controls. Cheap to clone.
#[derive(Clone)]
pub struct InspectorClient(Arc<Inner>);

struct Inner {
    log: Log,
    engine: Arc<Engine>,
    targets: Vec<Target>,
    /// The revision to request unless the page chooses one.
    requested: RequestedRevision,
    state: Mutex<State>,
    /// Incremented with every change.
    version: watch::Sender<u64>,
    /// The number of servers still running.
    running: watch::Sender<usize>,
}

#[derive(Default)]
struct State {
    /// Counts conversations.
    generation: u64,
    status: Status,
    reason: Option<String>,
    target: usize,
    conversation: Option<Conversation>,
    is_listing: bool,
    /// Whether a list changed while it was being read.
    must_list_again: bool,
}

/// Whether an event belongs to no HTTP exchange: text that is not sent because it is not a message,
/// and answers of plumb on behalf of the server.
fn is_seen_nowhere_else(event: &TapEvent<'_>) -> bool {
    let is_ours = event.observation.is_some_and(Observation::is_by_proxy);
    is_ours || event.observation.is_some() && event.messages.is_empty()
}

impl std::fmt::Debug for InspectorClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("InspectorClient").field("targets", &self.0.targets).finish_non_exhaustive()
    }
}

impl InspectorClient {
    /// Connects to one of `targets`, by default the first. All traffic is added to `log` and judged
    /// with `engine`.
    pub fn new(log: Log, engine: Arc<Engine>, targets: Vec<Target>) -> InspectorClient {
        let (state, version, running) =
            (Mutex::default(), watch::Sender::new(0), watch::Sender::new(0));
        InspectorClient(Arc::new(Inner {
            log,
            engine,
            targets,
            requested: RequestedRevision::Any,
            state,
            version,
            running,
        }))
    }

    /// Requests this revision, unless the page chooses another one.
    #[must_use]
    pub fn with_revision(self, revision: Option<Revision>) -> InspectorClient {
        let requested = revision.map_or(RequestedRevision::Any, RequestedRevision::Exactly);
        let Inner { log, engine, targets, .. } = &*self.0;
        let (log, engine, targets) = (log.clone(), Arc::clone(engine), targets.clone());
        let (state, version, running) =
            (Mutex::default(), watch::Sender::new(0), watch::Sender::new(0));
        InspectorClient(Arc::new(Inner {
            log,
            engine,
            targets,
            requested,
            state,
            version,
            running,
        }))
    }

    /// Opens a conversation with the first server. Needs a runtime.
    pub fn begin(&self) {
        // Errors are shown on the page.
        let _ = self.start(None, self.0.requested);
    }

    /// Ends the conversation, and waits for the server to go.
    pub async fn finish(&self) {
        self.disconnect();
        let mut running = self.0.running.subscribe();
        let _ = tokio::time::timeout(OPENING, running.wait_for(|count| *count == 0)).await;
    }

    /// Why the first server could not be started, if it failed.
    pub fn start_failure(&self) -> Option<String> {
        let state = self.lock();
        // If there are other servers to choose from, the page shows the error.
        let is_only = state.generation == 1 && self.0.targets.len() == 1;
        let reason = state.reason.clone().filter(|_| is_only);
        reason.filter(|reason| reason.starts_with("cannot start"))
    }

    pub(crate) fn is_demo(&self) -> bool {
        self.0.targets.iter().any(|target| target.as_demo().is_some())
    }

    pub(crate) fn subscribe(&self) -> watch::Receiver<u64> {
        self.0.version.subscribe()
    }

    /// Replaces the current conversation with a new one, and waits a moment for it to open.
    pub(crate) async fn connect(
        &self,
        server: Option<&str>,
        revision: Option<&str>,
    ) -> Result<SpeakState, Refusal> {
        let requested = match revision.filter(|name| !name.is_empty()) {
            None => self.0.requested,
            Some("any") => RequestedRevision::Any,
            Some("best") => RequestedRevision::Best,
            Some(name) => RequestedRevision::Exactly(name.parse().map_err(|_| {
                let help = "choose `any`, `best` or one of `revisions`";
                Refusal::invalid("unknown revision", help)
            })?),
        };
        let mut version = self.subscribe();
        self.start(server, requested)?;
        let opened = version.wait_for(|_| self.lock().status != Status::Connecting);
        let _ = tokio::time::timeout(OPENING, opened).await;
        Ok(self.view())
    }

    fn start(&self, server: Option<&str>, requested: RequestedRevision) -> Result<(), Refusal> {
        let (near, ends) = wire::pair();
        let (generation, how) = {
            let mut state = self.lock();
            if let Some(name) = server {
                let place = self.0.targets.iter().position(|target| target.name == name);
                state.target = place
                    .ok_or_else(|| Refusal::unknown("unknown server", "choose one of `servers`"))?;
            }
            let target = self.0.targets.get(state.target).ok_or_else(Refusal::not_connected)?;
            state.generation += 1;
            let generation = state.generation;
            let session: Arc<str> = generation.to_string().into();
            let taps = Taps {
                shown: self.tap(generation, |_| true).for_session(Arc::clone(&session)),
                aside: self.tap(generation, is_seen_nowhere_else).for_session(Arc::clone(&session)),
            };
            let (ending, how) = target.begin(ends, taps, LONGEST);
            self.0.running.send_modify(|count| *count += 1);
            let engine = Arc::clone(&self.0.engine);
            let conversation = Conversation::new(engine, session, near.sender, ending);
            state.conversation = Some(conversation);
            (state.status, state.reason) = (Status::Connecting, None);
            (state.is_listing, state.must_list_again) = (false, false);
            (generation, how)
        };
        self.tell();
        tokio::spawn(self.clone().listen(generation, near.lines, how));
        let client = self.clone();
        tokio::spawn(async move {
            match negotiation::open(&client, generation, requested).await {
                Ok(()) => client.list(generation).await,
                Err(reason) => client.fail(generation, reason),
            }
        });
        Ok(())
    }

    /// Makes a tap that adds traffic to the log, and tells the conversation the frame numbers.
    fn tap(&self, generation: u64, shows: fn(&TapEvent<'_>) -> bool) -> Tap {
        let limits = &self.0.engine.settings().limits;
        let client = self.clone();
        let mut watcher = self.0.log.watcher_telling(limits, move |row| {
            client.with(generation, |conversation| conversation.place(row));
            client.tell();
        });
        let watcher: Watcher = Box::new(move |event: &TapEvent<'_>| {
            if shows(event) {
                watcher(event);
            }
        });
        let settings = TapSettings { watchers: vec![watcher], ..TapSettings::default() };
        Tap::new(Arc::clone(&self.0.engine), settings)
    }

    /// Handles the server's messages until the conversation ends.
    async fn listen(
        self,
        generation: u64,
        mut lines: tokio::sync::mpsc::Receiver<Bytes>,
        mut how: oneshot::Receiver<String>,
    ) {
        let reason = loop {
            tokio::select! {
                biased;
                Some(line) = lines.recv() => {
                    let has_news = self.with(generation, |conversation| {
                        conversation.hear(&line);
                        std::mem::take(&mut conversation.has_news)
                    });
                    self.tell();
                    if has_news == Some(true) {
                        tokio::spawn(self.clone().list_again(generation));
                    }
                }
                reason = &mut how => break reason.unwrap_or_else(|_| "the server has disconnected".into()),
            }
        };
        self.0.running.send_modify(|count| *count = count.saturating_sub(1));
        let last = self.with(generation, |conversation| conversation.last_error.clone()).flatten();
        let reason = match last.filter(|_| !self.is_hung_up(generation)) {
            Some(last) => format!("{reason}: {last}"),
            None => reason,
        };
        self.fail(generation, reason);
    }

    fn is_hung_up(&self, generation: u64) -> bool {
        self.with(generation, |conversation| !conversation.is_open()) != Some(false)
    }

    /// Ends a conversation, keeping the first known reason.
    fn fail(&self, generation: u64, reason: String) {
        let mut state = self.lock();
        if state.generation != generation {
            return;
        }
        if let Some(conversation) = &mut state.conversation {
            conversation.end(&reason);
        }
        if state.status != Status::Ended {
            state.status = Status::Ended;
        }
        // The exit of the process explains more than a missing answer.
        let is_told = state.reason.as_deref() == Some(BY_HAND);
        let is_better = state.reason.is_none() || !is_told && reason.starts_with("the server ");
        if is_better {
            state.reason = Some(reason);
        }
        drop(state);
        self.tell();
    }

    /// Ends the conversation.
    pub(crate) fn disconnect(&self) {
        let mut state = self.lock();
        let was_open = matches!(state.status, Status::Connected | Status::Connecting);
        if let Some(conversation) = state.conversation.as_mut().filter(|_| was_open) {
            conversation.end(BY_HAND);
            state.status = Status::Ended;
            state.reason = Some(BY_HAND.to_owned());
        }
        drop(state);
        self.tell();
    }

    pub(crate) fn set_demo(&self, misbehave: Option<bool>, tool_results: Option<bool>) -> bool {
        let mut is_demo = false;
        for demo in self.0.targets.iter().filter_map(Target::as_demo) {
            demo.switch(misbehave, tool_results);
            is_demo = true;
        }
        self.tell();
        if misbehave.is_some() {
            // The demonstration server offers other tools then.
            let generation = self.lock().generation;
            tokio::spawn(self.clone().list_again(generation));
        }
        is_demo
    }

    pub(crate) fn compose(&self, method: &str, params: Option<&str>) -> Result<Composed, Refusal> {
        self.speaking(|conversation| {
            let (_, text) = conversation.compose(method, params);
            let findings = conversation.judge(&text);
            Ok(Composed { text, findings })
        })
    }

    pub(crate) fn request(&self, method: &str, params: Option<&str>) -> Result<Sent, Refusal> {
        self.speaking(|conversation| {
            let (id, text) = conversation.request(method, params)?;
            Ok(Sent { id, text, warning: None })
        })
    }

    pub(crate) fn send_raw(&self, text: &str) -> Result<Sent, Refusal> {
        self.speaking(|conversation| {
            let id = conversation.send(text, None)?;
            Ok(Sent { id, text: text.to_owned(), warning: None })
        })
    }

    pub(crate) fn answer(
        &self,
        id: &str,
        result: Option<&str>,
        error: Option<&str>,
    ) -> Result<Sent, Refusal> {
        self.speaking(|conversation| {
            let (id, text) = conversation.answer(id, result, error)?;
            Ok(Sent { id, text, warning: None })
        })
    }

    pub(crate) fn cancel(&self, id: &str) -> Result<Sent, Refusal> {
        self.speaking(|conversation| {
            let text = conversation.cancel(id)?;
            Ok(Sent { id: None, text, warning: None })
        })
    }

    /// Sends an earlier frame again, possibly edited.
    pub(crate) fn replay(&self, frame: u64, edited: Option<&str>) -> Result<Sent, Refusal> {
        let original = self.0.log.frame(frame, |frame| {
            let text = with_line(&frame.line, |line| text_of(line).to_vec());
            (frame.row.from, frame.row.pair, String::from_utf8_lossy(&text).into_owned())
        });
        let (from, pair, text) = original.ok_or_else(|| {
            Refusal::unknown("unknown frame", "it was dropped to make room for later ones")
        })?;
        if from != Some(mcp_core::Side::Client) {
            let help = "choose a frame sent by the client";
            return Err(Refusal::invalid("only frames sent by the client can be sent again", help));
        }
        let text = edited.unwrap_or(&text);
        let tool = text::read(text, |root| {
            let method = root.get("method").filter(|method| method.str_eq("tools/call"));
            let name = method.and_then(|_| root.get("params")?.get("name")?.as_str());
            name.map(Cow::into_owned)
        });
        self.speaking(|conversation| {
            let warning = tool.flatten().and_then(|tool| {
                let reads = conversation.offering.is_read_only(&tool) == Some(true);
                (!reads).then(|| "the tool is not annotated as read-only; it ran again".to_owned())
            });
            let (id, text) = conversation.replay(text, (frame, pair))?;
            Ok(Sent { id, text, warning })
        })
    }

    /// Lists everything again.
    pub(crate) async fn refresh(&self) -> Result<Offer, Refusal> {
        let generation = self.lock().generation;
        self.speaking(|_| Ok(()))?;
        self.list(generation).await;
        Ok(self.offer())
    }

    pub(crate) fn offer(&self) -> Offer {
        let state = self.lock();
        let offering = state.conversation.as_ref().map(|it| it.offering.view(&self.0.log));
        offering.unwrap_or_default()
    }

    fn ask(
        &self,
        generation: u64,
        method: &str,
        params: Option<&str>,
    ) -> Result<(String, oneshot::Receiver<Bytes>), String> {
        let asked = self.with(generation, |conversation| conversation.ask(method, params));
        self.tell();
        asked.ok_or("the conversation has ended")?.map_err(|refusal| refusal.error)
    }

    fn notify(&self, generation: u64, method: &str) -> Result<(), String> {
        let sent = self.with(generation, |conversation| conversation.request(method, None));
        sent.ok_or("the conversation has ended")?.map(drop).map_err(|refusal| refusal.error)
    }

    fn is_current(&self, generation: u64) -> bool {
        self.with(generation, |conversation| conversation.is_open()) == Some(true)
    }

    fn set_revision(&self, generation: u64, revision: Option<Revision>) {
        self.with(generation, |conversation| conversation.revision = revision);
    }

    fn establish(&self, generation: u64, revision: Revision, facts: Facts) {
        let mut state = self.lock();
        if state.generation == generation
            && state.status == Status::Connecting
            && let Some(conversation) = &mut state.conversation
        {
            (conversation.revision, conversation.facts) = (Some(revision), facts);
            state.status = Status::Connected;
        }
        drop(state);
        self.tell();
    }

    /// The current state.
    pub(crate) fn view(&self) -> SpeakState {
        SpeakState::of(&self.lock(), &self.0.targets, &self.0.log)
    }

    /// Runs `speak` on the conversation; fails if there is none.
    fn speaking<R>(
        &self,
        speak: impl FnOnce(&mut Conversation) -> Result<R, Refusal>,
    ) -> Result<R, Refusal> {
        let mut state = self.lock();
        let status = state.status;
        let conversation = state.conversation.as_mut();
        let open = conversation.filter(|it| it.is_open() && status == Status::Connected);
        let done = open.ok_or_else(Refusal::not_connected).and_then(speak);
        drop(state);
        self.tell();
        done
    }

    fn with<R>(&self, generation: u64, act: impl FnOnce(&mut Conversation) -> R) -> Option<R> {
        let mut state = self.lock();
        if state.generation != generation {
            return None;
        }
        state.conversation.as_mut().map(act)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self) {
        self.0.version.send_modify(|version| *version += 1);
    }
}

/// The error that the page shows.
pub(crate) fn shown(refusal: &Refusal) -> serde_json::Value {
    json!({ "error": refusal.error, "help": refusal.help })
}
