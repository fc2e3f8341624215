use std::borrow::Cow;

use crate::{Error, Json, RequestId, Revision};

/// A call that wants an answer.
///
/// What the method is called and what its params mean is MCP's business; how both are written on
/// a wire is the adapter's.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
#[expect(clippy::exhaustive_structs, reason = "built by adapters")]
pub struct Request {
    pub id: RequestId,
    pub method: Cow<'static, str>,
    pub params: Option<Json>,
}

/// A call that wants none.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
#[expect(clippy::exhaustive_structs, reason = "built by adapters")]
pub struct Notification {
    pub method: Cow<'static, str>,
    pub params: Option<Json>,
}

/// The answer to a request.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "built by adapters")]
pub struct Response {
    /// The request.
    pub id: RequestId,
    /// The revision in which the answer is written.
    pub revision: Revision,
    /// What came of it.
    pub outcome: Result<Json, Error>,
}
