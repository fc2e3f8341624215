//! Requests whose parts are mirrored in HTTP headers.

use std::collections::BTreeMap;

use anyhow::ensure;
use mcp_sdk::{Client, Validation};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::task::Task;

/// Each kind of request that names its subject.
pub(super) async fn use_everything(task: &Task) -> anyhow::Result<Client> {
    let client = task.connect().await?;
    for tool in client.all_tools().await? {
        client.call_tool(&tool.name, json!({})).await?;
    }
    for resource in client.list_resources(None).await?.resources {
        client.read_resource(&resource.uri).await?;
    }
    for prompt in client.list_prompts(None).await?.prompts {
        client.get_prompt(&prompt.name, &BTreeMap::new()).await?;
    }
    Ok(client)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Calls {
    tool_calls: Vec<Call>,
}

#[derive(Deserialize)]
struct Call {
    name: String,
    arguments: Value,
}

/// Arguments that are mirrored in headers. One of them violates the tool's schema on purpose: a
/// client that enforces schemas would never send it.
pub(super) async fn show_arguments(task: &Task) -> anyhow::Result<Client> {
    let calls: Calls = task.context()?;
    let client = task.connect_with(task.client().validation(Validation::observe())).await?;
    client.all_tools().await?;
    for call in calls.tool_calls {
        client.call_tool(&call.name, call.arguments).await?;
    }
    Ok(client)
}

/// Tools with invalid header annotations.
pub(super) async fn leave_out_bad_tools(task: &Task) -> anyhow::Result<Client> {
    let client = task.connect().await?;
    let tools = client.all_tools().await?;
    let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
    ensure!(names == ["valid_tool"], "unexpected usable tools: {names:?}");
    client.call_tool("valid_tool", json!({ "region": "us-west1" })).await?;
    Ok(client)
}
