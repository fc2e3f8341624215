use std::borrow::Cow;

use crate::{Error, Json, RequestId, Revision};

/// A call that expects a response.
///
/// MCP defines the method names and params; the adapter defines how they are written on the wire.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "self-explanatory")]
#[expect(clippy::exhaustive_structs, reason = "built by adapters")]
pub struct Request {
    pub id: RequestId,
    pub method: Cow<'static, str>,
    pub params: Option<Json>,
}

/// A call that expects no response.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "self-explanatory")]
#[expect(clippy::exhaustive_structs, reason = "built by adapters")]
pub struct Notification {
    pub method: Cow<'static, str>,
    pub params: Option<Json>,
}

/// The response to a request.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "built by adapters")]
pub struct Response {
    /// The id of the request.
    pub id: RequestId,
    /// The revision in which the response is written.
    pub revision: Revision,
    /// The result or the error.
    pub outcome: Result<Json, Error>,
}
