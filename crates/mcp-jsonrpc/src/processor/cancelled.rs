//! Cancellation, the one MCP notification that concerns requests as such.

use mcp_core::{Json, Notification};
use serde_json::json;

use crate::{JsonRpcId, JsonRpcNotification};

pub(super) const METHOD: &str = "notifications/cancelled";

/// Requests that open a conversation and are never cancelled: MCP forbids it for `initialize`, and a
/// server that does not respond to `server/discover` probably expects `initialize` next.
pub(super) const OPENINGS: [&str; 2] = [INITIALIZE, "server/discover"];

/// The request that negotiates a revision.
pub(super) const INITIALIZE: &str = "initialize";

/// The id of the request that `notification` cancels.
pub(super) fn cancelled_id(notification: &JsonRpcNotification) -> Option<JsonRpcId> {
    if notification.method != METHOD {
        return None;
    }
    let params = notification.params.as_ref()?.to_parsed().ok()?;
    JsonRpcId::read(params.document().root().get("requestId")?)
}

/// The notification that cancels our request `id`.
pub(super) fn cancel(id: i64) -> Notification {
    let params =
        json!({ "requestId": id, "reason": "the caller no longer waits for the response" });
    Notification { method: METHOD.into(), params: Json::of(&params).ok() }
}
