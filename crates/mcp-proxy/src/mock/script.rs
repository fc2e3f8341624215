//! What a server said in a recording, by what it was asked.

use std::collections::{BTreeMap, HashMap, HashSet};

use mcp_core::{ResponseStatus, Revision};

use super::{key::Keyer, template::Template};

/// Why a recording cannot be served.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ScriptError {
    /// There is more to remember than is allowed.
    #[error("what the server sent takes more than {limit} bytes")]
    TooLarge {
        /// The limit.
        limit: usize,
    },
    /// There is nothing to serve.
    #[error("it has no request of a client that is answered")]
    Empty,
    /// The messages have no `from`.
    #[error("it does not say who sent the messages")]
    SendersUnknown,
}

/// A request that was recorded, with what it led to.
#[derive(Debug)]
pub(super) struct Take {
    /// What the server sent before the answer.
    pub(super) steps: Vec<Step>,
    /// `None` if it was never answered.
    pub(super) answer: Option<Template>,
    pub(super) status: ResponseStatus,
    /// The revision that an answer to `initialize` settles.
    pub(super) revision: Option<Revision>,
    pub(super) sketch: Sketch,
}

/// What the server sent before an answer.
#[derive(Debug)]
pub(super) enum Step {
    Notification(Template),
    /// Its answer is awaited.
    Request {
        method: String,
        message: Template,
    },
}

/// A request as it is shown in errors.
#[derive(Debug, Default)]
pub(super) struct Sketch {
    /// The beginning of the params.
    pub(super) params: String,
    /// Digests of the first params.
    pub(super) members: Vec<u64>,
}

/// A recording, ready to be played.
#[derive(Debug)]
pub struct Script {
    pub(super) keyer: Keyer,
    pub(super) takes: Vec<Take>,
    /// Indices of takes, in the order of the requests.
    pub(super) exact: HashMap<u64, Vec<usize>>,
    pub(super) alike: HashMap<u64, Vec<usize>>,
    pub(super) methods: BTreeMap<String, Vec<usize>>,
    /// Requests that never got an answer.
    pub(super) unanswered: HashSet<u64>,
}

impl Script {
    /// How many answers there are.
    pub fn answers(&self) -> usize {
        self.takes.iter().filter(|take| take.answer.is_some()).count()
    }
}
