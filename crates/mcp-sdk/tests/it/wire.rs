//! A client that writes its messages by hand.

use mcp_sdk::{
    core::{Inbound, Outbound, OutboundRole, Transport as _},
    transport::memory::MemoryTransport,
};
use serde_json::{Value, json};

/// Sends a request of the newest revision and gives what comes first.
pub(crate) async fn ask(near: &MemoryTransport, method: &str, mut params: Value) -> Value {
    let meta = &mut params["_meta"];
    meta["io.modelcontextprotocol/protocolVersion"] = "2026-07-28".into();
    meta["io.modelcontextprotocol/clientInfo"] = json!({ "name": "test", "version": "1" });
    meta["io.modelcontextprotocol/clientCapabilities"] = json!({ "elicitation": {} });
    send(near, &json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params })).await;
    hear(near).await
}

pub(crate) async fn send(near: &MemoryTransport, message: &Value) {
    let (bytes, role) = (message.to_string().into(), OutboundRole::Request);
    near.send(Outbound { bytes, role, ticket: None, labels: None }).await.unwrap();
}

pub(crate) async fn hear(near: &MemoryTransport) -> Value {
    match near.receive().await.unwrap() {
        Some(Inbound::Message { bytes, .. }) => serde_json::from_slice(&bytes).unwrap(),
        other => panic!("no message: {other:?}"),
    }
}
