//! The progress of the handshake.

use mcp_core::{RequestId, Side};
use serde::{Deserialize, Serialize};

use super::{Event, Moment, What, request::looks_like_the_first};

/// Maximum messages before the handshake that are kept in case one follows. More than this means
/// that the observer joined a running session.
const MAX_EARLY: usize = 16;

/// The progress of the handshake, and what was observed of it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Lifecycle {
    pub(crate) phase: Phase,
    pub(crate) start: Start,
    /// Whether only one side is recorded, so that it is unknown when the other answered.
    #[serde(default)]
    pub(crate) one_sided: bool,
    /// Messages before any `initialize`; they are known to be too early only if one follows.
    pub(crate) early: Vec<Early>,
    /// The last `initialize`.
    pub(crate) initialize: Option<Box<(RequestId, Moment)>>,
    /// When `notifications/initialized` was sent, even if too early.
    pub(crate) initialized: Option<Box<Moment>>,
    /// Whether it was too early, or sent for an earlier handshake, so that repeating it is right.
    pub(crate) may_repeat: bool,
    /// The phase to return to if a second handshake fails.
    pub(crate) before: Phase,
    /// The first request of the client after the `initialize` result, while `initialized` is
    /// missing.
    pub(crate) unannounced: Option<Box<Moment>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) enum Phase {
    /// No `initialize` was observed.
    #[default]
    Unknown,
    /// It was sent.
    Initializing,
    /// It was answered with an error.
    Failed,
    /// It was answered with a result.
    Answered,
    /// `notifications/initialized` was sent.
    Ready,
}

/// Whether the start of the session was observed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) enum Start {
    #[default]
    Unknown,
    Seen,
    Missed,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Early {
    pub(crate) at: Moment,
    pub(crate) from: Side,
    pub(crate) name: Box<str>,
}

impl Lifecycle {
    /// Creates the state at a known start.
    pub(crate) fn from_start() -> Lifecycle {
        Lifecycle { start: Start::Seen, ..Lifecycle::default() }
    }

    /// From now on, treats one side as not recorded, so that its silence proves nothing.
    pub(crate) fn hear_one_side(&mut self) {
        self.one_sided = true;
    }

    /// From now on, behaves as if the start had been missed.
    pub(crate) fn lose_track(&mut self) {
        let one_sided = self.one_sided;
        *self = Lifecycle { start: Start::Missed, one_sided, ..Lifecycle::default() };
    }

    /// The line of the last `initialize`.
    pub(crate) fn initialize_line(&self) -> Option<u64> {
        self.initialize.as_ref().and_then(|initialize| initialize.1.line())
    }

    pub(crate) fn phase(&self) -> Phase {
        self.phase
    }

    /// Whether a session is running, whether or not its start was observed.
    pub(crate) fn has_begun(&self) -> bool {
        self.phase != Phase::Unknown || self.start == Start::Missed
    }

    /// Whether the start of the session was observed.
    pub(crate) fn is_from_start(&self) -> bool {
        self.start == Start::Seen
    }

    /// Whether `id` is that of the last `initialize`.
    pub(crate) fn is_initialize(&self, id: &RequestId) -> bool {
        self.initialize.as_ref().is_some_and(|initialize| initialize.0 == *id)
    }

    /// Records the message after it was judged. `in_session` tells whether it was carried in a
    /// session that began earlier.
    pub(crate) fn take_in(&mut self, event: &Event<'_>, in_session: bool) {
        self.note_start(event, in_session);
        if event.is_modern() {
            return;
        }
        match (event.what, event.from) {
            (What::Request(id), Side::Client) if event.name == "initialize" => {
                if matches!(self.phase, Phase::Answered | Phase::Ready) {
                    self.before = self.phase;
                }
                self.phase = Phase::Initializing;
                self.initialize = Some(Box::new((id.clone(), event.at)));
                self.may_repeat = self.before == Phase::Ready;
                if !self.may_repeat {
                    self.initialized = None;
                }
                self.unannounced = None;
                self.early.clear();
            }
            (What::Request(_), Side::Client)
                if self.phase == Phase::Answered && event.name != "ping" =>
            {
                self.unannounced.get_or_insert_with(|| Box::new(event.at));
            }
            (What::Notification, Side::Client) if event.name == "notifications/initialized" => {
                self.may_repeat = matches!(self.phase, Phase::Initializing | Phase::Failed);
                self.initialized.get_or_insert_with(|| Box::new(event.at));
                if self.phase == Phase::Answered {
                    self.phase = Phase::Ready;
                }
            }
            (What::Answer(_), Side::Server)
                if self.phase == Phase::Initializing && event.name == "initialize" =>
            {
                self.phase = match (event.result(), self.before, &self.initialized) {
                    (None, Phase::Unknown, _) => Phase::Failed,
                    (None, before, _) => before,
                    (Some(_), _, None) => Phase::Answered,
                    (Some(_), _, Some(_)) => Phase::Ready,
                };
            }
            _ => {}
        }
    }

    fn note_start(&mut self, event: &Event<'_>, in_session: bool) {
        match (event.what, event.from) {
            (What::Request(_), Side::Client) if event.name == "initialize" => {
                self.start = Start::Seen;
            }
            _ if self.start == Start::Seen || self.phase != Phase::Unknown => {}
            (What::Request(id), Side::Client) if event.is_modern() => {
                let first = self.start == Start::Unknown
                    && self.early.is_empty()
                    && looks_like_the_first(id);
                self.start = if first { Start::Seen } else { Start::Missed };
                self.early.clear();
            }
            (What::Answer(_), Side::Server) if self.early.is_empty() => self.start = Start::Missed,
            (What::Answer(_), _) => {}
            _ if event.name == "ping" => {}
            // Without a handshake a server sends nothing before a request.
            _ if event.is_modern() => {
                if event.from == Side::Server {
                    self.start = Start::Missed;
                }
            }
            _ if in_session => {
                self.start = Start::Missed;
                self.early.clear();
            }
            _ => self.note_early(event),
        }
    }

    fn note_early(&mut self, event: &Event<'_>) {
        if self.early.len() >= MAX_EARLY {
            self.start = Start::Missed;
            self.early.clear();
        } else if self.start == Start::Unknown {
            let (at, from) = (event.at, event.from);
            self.early.push(Early { at, from, name: event.name.into() });
        }
    }
}
