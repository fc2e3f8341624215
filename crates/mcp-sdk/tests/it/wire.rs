//! A client that sends handwritten messages.

use mcp_sdk::{
    core::{Inbound, Outbound, OutboundRole, Transport as _},
    transport::memory::MemoryTransport,
};
use serde_json::{Value, json};

/// Sends a request of the newest revision and returns the next message.
pub(crate) async fn ask(near: &MemoryTransport, method: &str, params: Value) -> Value {
    send(near, &request(1, method, params)).await;
    receive(near).await
}

/// A request of the newest revision.
pub(crate) fn request(id: i64, method: &str, mut params: Value) -> Value {
    let meta = &mut params["_meta"];
    meta["io.modelcontextprotocol/protocolVersion"] = "2026-07-28".into();
    meta["io.modelcontextprotocol/clientInfo"] = json!({ "name": "test", "version": "1" });
    meta["io.modelcontextprotocol/clientCapabilities"] = json!({ "elicitation": {} });
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

/// Posts a request of the newest revision over HTTP and returns the response.
#[cfg(feature = "http")]
pub(crate) async fn post(
    address: &str,
    method: &str,
    headers: &[(&str, &str)],
    params: Value,
) -> Value {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    let request = http_request(address, method, headers, params);
    let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).await.unwrap();
    let (_, body) = response.split_once("\r\n\r\n").unwrap();
    serde_json::from_str(body).unwrap()
}

/// A request of the newest revision with its HTTP headers.
#[cfg(feature = "http")]
pub(crate) fn http_request(
    address: &str,
    method: &str,
    headers: &[(&str, &str)],
    params: Value,
) -> String {
    let name = params["name"].as_str().map(str::to_owned);
    let body = request(1, method, params).to_string();
    let mut head = format!(
        "POST /mcp HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncontent-length: {}\r\n\
         content-type: application/json\r\naccept: application/json, text/event-stream\r\n\
         mcp-protocol-version: 2026-07-28\r\nmcp-method: {method}\r\n",
        body.len()
    );
    let name = name.as_deref().map(|name| ("mcp-name", name));
    for (header, value) in headers.iter().copied().chain(name) {
        head = format!("{head}{header}: {value}\r\n");
    }
    format!("{head}\r\n{body}")
}

pub(crate) async fn send(near: &MemoryTransport, message: &Value) {
    send_text(near, &message.to_string()).await;
}

/// Sends a message verbatim.
pub(crate) async fn send_text(near: &MemoryTransport, message: &str) {
    let (bytes, role) = (message.to_owned().into(), OutboundRole::Request);
    near.send(Outbound { bytes, role, ticket: None, headers: None, parsed: None }).await.unwrap();
}

pub(crate) async fn receive(near: &MemoryTransport) -> Value {
    match near.receive().await.unwrap() {
        Some(Inbound::Message { bytes, .. }) => serde_json::from_slice(&bytes).unwrap(),
        other => panic!("no message: {other:?}"),
    }
}
