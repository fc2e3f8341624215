//! Speaking to a server oneself.
//!
//! The [`Speaker`] is a client without opinions: it opens conversations, counts ids, pairs answers
//! and asks for lists, and otherwise sends what it is told. Its lines pass a [`Tap`] like those of
//! any client, so that what it says and hears is listed and judged in the same way.

mod conversation;
mod door;
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
use mcp_proxy::{Observation, Passage, Tap, TapSettings, Watcher};
use mcp_rules::Engine;
use serde_json::json;
use tokio::sync::{oneshot, watch};

pub(crate) use self::refusal::{Refusal, RefusalKind};
pub use self::target::{Launch, Target};
use self::{
    conversation::{Conversation, Facts},
    negotiation::Wish,
    target::Taps,
    view::{Composed, Offer, Sent, SpeakState, Status},
};
use crate::{
    Log,
    service::{text_of, with_line},
};

/// The longest line of a server.
const LONGEST: usize = 16 << 20;
/// How long to wait before telling that a server has not opened yet.
const OPENING: Duration = Duration::from_secs(5);

const BY_HAND: &str = "disconnected by hand";

/// Speaks to servers. Cheap to clone.
#[derive(Clone)]
pub struct Speaker(Arc<Inner>);

struct Inner {
    log: Log,
    engine: Arc<Engine>,
    targets: Vec<Target>,
    /// What to ask for if the page does not say.
    wish: Wish,
    state: Mutex<State>,
    /// Grows with every change.
    version: watch::Sender<u64>,
    /// How many servers have not ended yet.
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
    /// Whether something has changed while it was listed.
    must_list_again: bool,
}

/// Whether something is in no HTTP exchange: what is not sent since it is no message, and what plumb
/// says in the server's place.
fn is_seen_nowhere_else(passage: &Passage<'_>) -> bool {
    let is_ours = passage.observation.is_some_and(Observation::is_by_proxy);
    is_ours || passage.observation.is_some() && passage.messages.is_empty()
}

impl std::fmt::Debug for Speaker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Speaker").field("targets", &self.0.targets).finish_non_exhaustive()
    }
}

impl Speaker {
    /// Speaks to one of `targets`, the first unless told otherwise. Everything is shown in `log` and
    /// judged with `engine`.
    pub fn new(log: Log, engine: Arc<Engine>, targets: Vec<Target>) -> Speaker {
        let (state, version, running) =
            (Mutex::default(), watch::Sender::new(0), watch::Sender::new(0));
        Speaker(Arc::new(Inner { log, engine, targets, wish: Wish::Any, state, version, running }))
    }

    /// Asks for this revision, unless the page says otherwise.
    #[must_use]
    pub fn with_revision(self, revision: Option<Revision>) -> Speaker {
        let wish = revision.map_or(Wish::Any, Wish::Exactly);
        let Inner { log, engine, targets, .. } = &*self.0;
        let (log, engine, targets) = (log.clone(), Arc::clone(engine), targets.clone());
        let (state, version, running) =
            (Mutex::default(), watch::Sender::new(0), watch::Sender::new(0));
        Speaker(Arc::new(Inner { log, engine, targets, wish, state, version, running }))
    }

    /// Opens a conversation with the first server. Needs a runtime.
    pub fn begin(&self) {
        // Whatever goes wrong is shown.
        let _ = self.start(None, self.0.wish);
    }

    /// Ends the conversation, and waits for the server to go.
    pub async fn finish(&self) {
        self.disconnect();
        let mut running = self.0.running.subscribe();
        let _ = tokio::time::timeout(OPENING, running.wait_for(|count| *count == 0)).await;
    }

    /// Why the first server could not even be started, if so.
    pub fn start_failure(&self) -> Option<String> {
        let state = self.lock();
        // With others to choose from, the page shows it.
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

    /// Opens a conversation instead of the current one, and waits a moment for it.
    pub(crate) async fn connect(
        &self,
        server: Option<&str>,
        revision: Option<&str>,
    ) -> Result<SpeakState, Refusal> {
        let wish = match revision.filter(|name| !name.is_empty()) {
            None => self.0.wish,
            Some("any") => Wish::Any,
            Some("best") => Wish::Best,
            Some(name) => Wish::Exactly(name.parse().map_err(|_| {
                let help = "choose `any`, `best` or one of `revisions`";
                Refusal::invalid("there is no such revision", help)
            })?),
        };
        let mut version = self.subscribe();
        self.start(server, wish)?;
        let opened = version.wait_for(|_| self.lock().status != Status::Connecting);
        let _ = tokio::time::timeout(OPENING, opened).await;
        Ok(self.view())
    }

    fn start(&self, server: Option<&str>, wish: Wish) -> Result<(), Refusal> {
        let (near, ends) = wire::pair();
        let (generation, how) = {
            let mut state = self.lock();
            if let Some(name) = server {
                let place = self.0.targets.iter().position(|target| target.name == name);
                state.target = place.ok_or_else(|| {
                    Refusal::unknown("there is no such server", "choose one of `servers`")
                })?;
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
        let speaker = self.clone();
        tokio::spawn(async move {
            match negotiation::open(&speaker, generation, wish).await {
                Ok(()) => speaker.list(generation).await,
                Err(reason) => speaker.fail(generation, reason),
            }
        });
        Ok(())
    }

    /// Shows what passes in the log, and its places to the conversation.
    fn tap(&self, generation: u64, shows: fn(&Passage<'_>) -> bool) -> Tap {
        let limits = &self.0.engine.settings().limits;
        let speaker = self.clone();
        let mut watcher = self.0.log.watcher_telling(limits, move |row| {
            speaker.with(generation, |conversation| conversation.place(row));
            speaker.tell();
        });
        let watcher: Watcher = Box::new(move |passage: &Passage<'_>| {
            if shows(passage) {
                watcher(passage);
            }
        });
        let settings = TapSettings { watchers: vec![watcher], ..TapSettings::default() };
        Tap::new(Arc::clone(&self.0.engine), settings)
    }

    /// Takes everything that the server says until it ends.
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
                reason = &mut how => break reason.unwrap_or_else(|_| "the server has gone".into()),
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

    /// Ends a conversation, for the first reason that is known.
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
        // Why the process ended says more than that there was no answer.
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
            // It offers other tools then.
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

    /// Sends an earlier frame again, or what was made of it.
    pub(crate) fn replay(&self, frame: u64, edited: Option<&str>) -> Result<Sent, Refusal> {
        let original = self.0.log.frame(frame, |frame| {
            let text = with_line(&frame.line, |line| text_of(line).to_vec());
            (frame.row.from, frame.row.pair, String::from_utf8_lossy(&text).into_owned())
        });
        let (from, pair, text) = original.ok_or_else(|| {
            Refusal::unknown("there is no such frame", "it was dropped to make room for later ones")
        })?;
        if from != Some(mcp_core::Side::Client) {
            let help = "choose a frame that a client has sent";
            return Err(Refusal::invalid("only a client's frames can be sent again", help));
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
                (!reads)
                    .then(|| "the tool does not say that it only reads; it ran again".to_owned())
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

    /// Where everything stands.
    pub(crate) fn view(&self) -> SpeakState {
        SpeakState::of(&self.lock(), &self.0.targets, &self.0.log)
    }

    /// Does something in the conversation, if there is one.
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
