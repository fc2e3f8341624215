//! 2026-07-28.

use anyhow::bail;
use serde_json::{Value, json};

use crate::client::Client;

const VERSION: &str = "2026-07-28";

pub(crate) fn run(client: &mut Client) -> anyhow::Result<()> {
    let discover = json!({ "_meta": meta(client) });
    let mut found = client.request("server/discover", discover.clone());
    if found.is_err() && client.has("version-insisted") {
        found = client.request("server/discover", discover);
    }
    found?;
    client.wire().agree(VERSION);
    client.wire().open()?;
    let mut cursor = Value::Null;
    loop {
        let mut params = json!({ "_meta": meta(client) });
        if client.has("meta-left-out") {
            params = json!({});
        }
        if cursor.is_string() {
            params["cursor"] = cursor;
        }
        let mut result = client.request("tools/list", params)?;
        if !result["tools"].is_array() {
            bail!("the server lists no tools");
        }
        cursor = result["nextCursor"].take();
        if !cursor.is_string() {
            break;
        }
    }
    let mut params =
        json!({ "name": "echo", "arguments": { "text": "hello" }, "_meta": meta(client) });
    let mut result = client.request("tools/call", params.clone())?;
    if result["resultType"] == "input_required" {
        if client.has("input-ignored") {
            return Ok(());
        }
        params["inputResponses"] = json!({ "consent": { "action": "decline" } });
        if !client.has("input-state-lost") {
            params["requestState"] = result["requestState"].take();
        }
        let id = if client.has("input-same-id") { client.last_id() } else { client.next_id() };
        result = client.request_as(&json!(id), "tools/call", params)?;
    }
    if !result["content"].is_array() {
        bail!("the tool says nothing");
    }
    Ok(())
}

fn meta(client: &Client) -> Value {
    let mut meta = json!({
        "io.modelcontextprotocol/protocolVersion": VERSION,
        "io.modelcontextprotocol/clientCapabilities": { "elicitation": {} },
    });
    if !client.has("client-info-left-out") {
        meta["io.modelcontextprotocol/clientInfo"] =
            json!({ "name": "faulty-client", "version": "1.0.0" });
    }
    meta
}
