//! The server's messages in a recording, by request.

use std::collections::{BTreeMap, HashMap, HashSet};

use mcp_core::{ResponseStatus, Revision};

use super::{key::Keyer, template::Template};

/// Why a recording cannot be served.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ScriptError {
    /// The script exceeds the limit.
    #[error("the messages of the server take more than {limit} bytes")]
    TooLarge {
        /// The limit.
        limit: usize,
    },
    /// There is nothing to serve.
    #[error("it has no answered request of a client")]
    Empty,
    /// The messages have no `from`.
    #[error("it does not say who sent the messages")]
    SendersUnknown,
}

/// A recorded request, with the messages it led to.
#[derive(Debug)]
pub(super) struct Take {
    /// The server's messages before the answer.
    pub(super) steps: Vec<Step>,
    /// `None` if it was never answered.
    pub(super) answer: Option<Template>,
    pub(super) status: ResponseStatus,
    /// The revision in an answer to `initialize`.
    pub(super) revision: Option<Revision>,
    pub(super) sketch: Sketch,
}

/// A message of the server before an answer.
#[derive(Debug)]
pub(super) enum Step {
    Notification(Template),
    /// A request, whose answer is awaited.
    Request {
        method: String,
        message: Template,
    },
}

/// A request as shown in errors.
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
    /// The number of answers.
    pub fn answers(&self) -> usize {
        self.takes.iter().filter(|take| take.answer.is_some()).count()
    }
}
