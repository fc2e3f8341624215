//! Servers that ask the user something.

use std::sync::{Arc, OnceLock};

use mcp_sdk::{
    Client, Failure,
    core::{ElicitRequest, ElicitResult},
};
use serde_json::json;

use crate::task::Task;

/// A user who accepts every form unchanged.
pub(super) async fn accept(request: ElicitRequest) -> Result<ElicitResult, Failure> {
    Ok(ElicitResult::accept(request.defaults()))
}

pub(super) async fn accept_defaults(task: &Task) -> anyhow::Result<Client> {
    let client = task.connect_with(task.client().on_elicitation(accept)).await?;
    client.all_tools().await?;
    client.call_tool("test_client_elicitation_defaults", json!({})).await?;
    Ok(client)
}

/// While the user is being asked, another call is made; it must not carry the state of the waiting
/// one.
pub(super) async fn carry_state(task: &Task) -> anyhow::Result<Client> {
    let connected: Arc<OnceLock<Client>> = Arc::default();
    let meanwhile = Arc::clone(&connected);
    let asking = task.client().on_elicitation(move |request| {
        let client = meanwhile.get().cloned();
        async move {
            if let Some(client) = client {
                client.call_tool("test_mrtr_unrelated", json!({})).await?;
            }
            accept(request).await
        }
    });
    let client = task.connect_with(asking).await?;
    let client = connected.get_or_init(|| client).clone();
    client.all_tools().await?;
    for tool in ["test_mrtr_echo_state", "test_mrtr_no_state", "test_mrtr_no_result_type"] {
        client.call_tool(tool, json!({})).await?;
    }
    Ok(client)
}
