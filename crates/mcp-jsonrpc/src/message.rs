use mcp_core::Json;

use crate::JsonRpcId;

/// A message that owns its data.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the names say it")]
#[expect(clippy::exhaustive_enums, reason = "JSON-RPC 2.0 is finished")]
pub enum JsonRpcMessage {
    Request(JsonRpcRequest),
    Notification(JsonRpcNotification),
    Response(JsonRpcResponse),
}

/// A call that wants an answer.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the members of the wire object")]
#[expect(clippy::exhaustive_structs, reason = "JSON-RPC 2.0 is finished")]
pub struct JsonRpcRequest {
    pub id: JsonRpcId,
    pub method: String,
    pub params: Option<Json>,
}

/// A call that wants none.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the members of the wire object")]
#[expect(clippy::exhaustive_structs, reason = "JSON-RPC 2.0 is finished")]
pub struct JsonRpcNotification {
    pub method: String,
    pub params: Option<Json>,
}

/// The answer to a request: exactly one of `result` and `error`.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "JSON-RPC 2.0 is finished")]
pub struct JsonRpcResponse {
    /// The id of the request. JSON-RPC wants null where it could not be read; MCP has no null ids
    /// and leaves the member out, which is `None`.
    pub id: Option<JsonRpcId>,
    /// What came of it.
    pub outcome: Result<Json, JsonRpcError>,
}

/// Why a request failed.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the members of the wire object")]
#[expect(clippy::exhaustive_structs, reason = "JSON-RPC 2.0 is finished")]
pub struct JsonRpcError {
    pub code: i64,
    pub message: String,
    pub data: Option<Json>,
}
