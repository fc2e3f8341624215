//! How a tool's schema passes through the client.

use anyhow::Context as _;
use mcp_sdk::Client;
use serde_json::json;

use crate::task::Task;

/// Sends a schema back unchanged.
pub(super) async fn echo(task: &Task) -> anyhow::Result<Client> {
    let client = task.connect().await?;
    let tools = client.all_tools().await?;
    let rich = tools.iter().find(|tool| tool.name == "json_schema_2020_12_tool");
    let schema = &rich.context("the tool with the schema is not listed")?.input_schema;
    client.call_tool("json_schema_echo", json!({ "schema": schema })).await?;
    Ok(client)
}
