use mcp_core::{RequestId, Revision};
use mcp_json::Node;
use mcp_jsonrpc::JsonRpcId;
use mcp_schema::Method;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use super::{Capabilities, Moment, asked::Remembered, digest::kept};

/// A request that awaits its answer.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts, none of them a state")]
pub(crate) struct Request {
    pub(crate) at: Moment,
    /// Position among the requests of its side.
    pub(crate) number: u64,
    pub(crate) name: Name,
    /// The revision that governs it and its answer.
    pub(crate) revision: Revision,
    pub(crate) settled: bool,
    /// Whether it declared an unknown revision, and `revision` is only the closest.
    #[serde(default)]
    pub(crate) approximate: bool,
    /// Whether it asked to run as a task.
    pub(crate) task: bool,
    /// Whether it declared extensions, whose result types no revision lists.
    pub(crate) extensions: bool,
    pub(crate) cancelled: Option<Box<Moment>>,
    /// Whether it was reported that the answer did not arrive where it should have.
    pub(crate) lost: bool,
    /// Whether it was delivered more than once, and may be answered as often.
    pub(crate) repeated: bool,
    /// Whether another message had the same id, so that it is unknown which of them an answer is
    /// for.
    #[serde(default)]
    pub(crate) ambiguous: bool,
    /// Digest of the client's name, where requests of several clients may mix (2026-07-28).
    pub(crate) sender: Option<u64>,
    /// What the client declared in the request itself (2026-07-28).
    pub(crate) declared: Option<Capabilities>,
    pub(crate) asked: Remembered,
}

impl Request {
    pub(crate) fn method(&self) -> Option<&'static Method> {
        match &self.name {
            Name::Known(method) => Some(method.get()),
            Name::Other(_) => None,
        }
    }

    pub(crate) fn name(&self) -> &str {
        self.name.as_str()
    }
}

/// The method of a request.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Name {
    /// A method that the revision defines.
    Known(MethodRef),
    Other(Box<str>),
}

impl Name {
    pub(crate) fn as_str(&self) -> &str {
        match self {
            Name::Known(method) => method.get().name,
            Name::Other(name) => name,
        }
    }
}

/// An entry of a revision's method table, saved by name.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MethodRef {
    revision: Revision,
    method: &'static Method,
}

impl MethodRef {
    pub(crate) fn new(revision: Revision, method: &'static Method) -> MethodRef {
        MethodRef { revision, method }
    }

    pub(crate) fn get(self) -> &'static Method {
        self.method
    }
}

impl Serialize for MethodRef {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (self.revision, self.method.name).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for MethodRef {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (revision, name) = <(Revision, String)>::deserialize(deserializer)?;
        mcp_schema::method(revision, name.as_bytes())
            .map(|method| MethodRef { revision, method })
            .ok_or_else(|| D::Error::custom(format!("{revision} has no method `{name}`")))
    }
}

/// The id in `node`, if it is one that requests may have.
pub(crate) fn request_id(node: Node<'_>) -> Option<RequestId> {
    // Fast path for the two usual kinds.
    if let Some(number) = node.as_i64() {
        return Some(RequestId::from(number));
    }
    match node.as_str() {
        Some(text) => Some(RequestId::from(&*kept(text))),
        None => JsonRpcId::read(node)?.to_request_id(),
    }
}

/// Whether `id` is one that a counter starts with, so that the session is observed from its start.
pub(crate) fn looks_like_the_first(id: &RequestId) -> bool {
    match (id.as_i64(), id.as_str()) {
        (Some(number), _) => matches!(number, 0 | 1),
        (None, Some(text)) => {
            let digits = text.trim_start_matches(|character: char| !character.is_ascii_digit());
            digits.is_empty() || matches!(digits, "0" | "1" | "00" | "01" | "001" | "0001")
        }
        (None, None) => false,
    }
}
