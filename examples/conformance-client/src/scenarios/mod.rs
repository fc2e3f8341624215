//! What to do in each scenario.

mod headers;
mod questions;
mod schemas;

use anyhow::bail;
use mcp_sdk::{
    Client,
    core::{Content, CreateMessageResult, Root},
};
use serde_json::json;

use crate::task::Task;

/// An unknown scenario is a failure: doing something else would prove nothing.
pub(crate) async fn play(task: &Task) -> anyhow::Result<()> {
    let client = match &*task.scenario {
        "initialize" => connect(task).await,
        "tools_call" => call_tool(task).await,
        "sse-retry" => resume_stream(task).await,
        "request-metadata" => introduce(task).await,
        "elicitation-sep1034-client-defaults" => questions::accept_defaults(task).await,
        "sep-2322-client-request-state" => questions::carry_state(task).await,
        "http-standard-headers" => headers::use_everything(task).await,
        "http-custom-headers" => headers::show_arguments(task).await,
        "http-invalid-tool-headers" => headers::leave_out_bad_tools(task).await,
        "json-schema-2020-12-preservation" => schemas::echo(task).await,
        "json-schema-ref-no-deref" => list_tools(task).await,
        unknown => bail!("unknown scenario `{unknown}`"),
    }?;
    client.close().await;
    Ok(())
}

/// A server that declares no tools is not asked for them.
async fn connect(task: &Task) -> anyhow::Result<Client> {
    let client = task.connect().await?;
    if client.server_capabilities().is_some_and(|server| server.tools.is_some()) {
        client.all_tools().await?;
    }
    Ok(client)
}

async fn list_tools(task: &Task) -> anyhow::Result<Client> {
    let client = task.connect().await?;
    client.all_tools().await?;
    Ok(client)
}

async fn call_tool(task: &Task) -> anyhow::Result<Client> {
    let client = list_tools(task).await?;
    client.call_tool("add_numbers", json!({ "a": 2, "b": 3 })).await?;
    Ok(client)
}

/// The server closes the stream before the answer; the transport resumes it in time.
async fn resume_stream(task: &Task) -> anyhow::Result<Client> {
    let client = list_tools(task).await?;
    client.call_tool("test_reconnection", json!({})).await?;
    Ok(client)
}

/// Declares everything a client can, with every request.
async fn introduce(task: &Task) -> anyhow::Result<Client> {
    let offering = task
        .client()
        .on_sampling(async |_| Ok(CreateMessageResult::new("none", Content::text(""))))
        .on_elicitation(questions::accept)
        .roots([Root::new("file:///")]);
    let client = task.connect_with(offering).await?;
    client.all_tools().await?;
    Ok(client)
}
