//! The one notification that concerns requests rather than what they are about.

use mcp_core::{Json, Notification};
use serde_json::json;

use crate::{JsonRpcId, JsonRpcNotification};

pub(super) const METHOD: &str = "notifications/cancelled";

/// Requests that open a conversation: the one may not be cancelled, and whoever has not answered
/// the other probably does not know it and expects the one next.
pub(super) const OPENINGS: [&str; 2] = [INITIALIZE, "server/discover"];

/// The request with whose answer a revision is agreed on.
pub(super) const INITIALIZE: &str = "initialize";

/// The id of the request that `notification` cancels.
pub(super) fn cancelled_id(notification: &JsonRpcNotification) -> Option<JsonRpcId> {
    if notification.method != METHOD {
        return None;
    }
    let params = notification.params.as_ref()?.to_parsed().ok()?;
    JsonRpcId::read(params.document().root().get("requestId")?)
}

/// Tells the other side that nobody waits for request `id` any more.
pub(super) fn cancel(id: i64) -> Notification {
    let params = json!({ "requestId": id, "reason": "no longer waited for" });
    Notification { method: METHOD.into(), params: Json::of(&params).ok() }
}
