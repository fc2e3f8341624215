//! The revisions with a handshake.

use anyhow::bail;
use serde_json::{Value, json};

use crate::client::Client;

const NEWEST: &str = "2025-11-25";
const KNOWN: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", NEWEST];

pub(crate) fn run(client: &mut Client) -> anyhow::Result<()> {
    let offers = open(client)?;
    if client.has("initialized-never") {
        return Ok(());
    }
    if offers.get("tools").is_none() && !client.has("capabilities-ignored") {
        return Ok(());
    }
    match tools(client) {
        Err(_) if client.wire().has_lost_session() => {
            if client.has("session-lost") {
                return Ok(());
            }
            if !client.has("session-kept") {
                open(client)?;
            }
            tools(client)
        }
        other => other,
    }
}

fn open(client: &mut Client) -> anyhow::Result<Value> {
    if client.has("initialize-late") {
        client.request("tools/list", json!({}))?;
    }
    let params = json!({
        "protocolVersion": NEWEST,
        "capabilities": {},
        "clientInfo": { "name": "faulty-client", "version": "1.0.0" },
    });
    let id = json!(client.next_id());
    let mut message = json!({ "jsonrpc": "2.0", "id": id, "method": "initialize" });
    message["params"] = params;
    client.wire().send(&message)?;
    if client.has("request-early") {
        let early = json!({ "jsonrpc": "2.0", "id": "early", "method": "tools/list" });
        client.wire().send(&early)?;
    }
    if client.has("cancels-initialize") {
        client.notify("notifications/cancelled", Some(json!({ "requestId": id })))?;
    }
    let result = client.answer_to(&id, "initialize")?;
    let version = result["protocolVersion"].as_str().unwrap_or_default().to_owned();
    if !KNOWN.contains(&version.as_str()) && !client.has("version-ignored") {
        bail!("the server speaks {version}");
    }
    if client.has("members-strict") && result.get("plumbExtra").is_some() {
        bail!("unknown member");
    }
    client.wire().agree(&version);
    client.speaks_batches = version == "2025-03-26" && !client.has("batch-unknown");
    if !client.has("initialized-left-out") && !client.has("initialized-never") {
        client.notify("notifications/initialized", None)?;
    }
    client.wire().open()?;
    Ok(result["capabilities"].clone())
}

fn tools(client: &mut Client) -> anyhow::Result<()> {
    if client.has("not-json") {
        client.wire().send_text("hello")?;
    }
    let mut cursor = None;
    loop {
        let result = list(client, cursor.take())?;
        let is_list = result["tools"].is_array();
        assert!(is_list || !client.has("invalid-result-panics"), "tools are a list");
        if !result["tools"].is_array() {
            bail!("the server lists no tools");
        }
        match result["nextCursor"].as_str() {
            Some(next) if !client.has("first-page") => cursor = Some(next.to_owned()),
            _ => break,
        }
    }
    let mut params = json!({ "name": "echo", "arguments": { "text": "hello" } });
    if client.has("params-wrong") {
        params = json!({ "arguments": {} });
    }
    let result = client.request("tools/call", params);
    if client.has("params-wrong") {
        return Ok(());
    }
    if !result?["content"].is_array() {
        bail!("the tool says nothing");
    }
    Ok(())
}

fn list(client: &mut Client, cursor: Option<String>) -> anyhow::Result<Value> {
    let id = match () {
        () if client.has("id-null") => Value::Null,
        () if client.has("id-fraction") => json!(1.5),
        () => json!(client.next_id()),
    };
    let mut params = json!({ "_meta": { "progressToken": format!("token-{id}") } });
    if let Some(cursor) = cursor {
        params["cursor"] = json!(cursor);
    } else if client.has("params-array") {
        params = json!([]);
    }
    client.request_as(&id, "tools/list", params)
}
