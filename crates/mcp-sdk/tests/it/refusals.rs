//! The table of rejected messages in the guide to validation, over HTTP.

use mcp_sdk::{Server, schemars::JsonSchema, transport::http::server::HttpSettings};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};

#[derive(Deserialize, JsonSchema)]
struct Sum {
    numbers: Vec<f64>,
}

async fn start() -> String {
    let server = Server::builder("test", "1.0.0")
        .tool("sum", "Adds", async |sum: Sum, _| Ok(sum.numbers.iter().sum::<f64>().to_string()))
        .build()
        .unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    tokio::spawn(async move {
        server.serve_http_on(listener, HttpSettings::default(), std::future::pending()).await;
    });
    address
}

/// The status and the code of the error.
async fn post(address: &str, method: &str, name: &str, body: &str) -> (u16, Option<i64>) {
    let version = if body.contains("2099-01-01") { "2099-01-01" } else { "2026-07-28" };
    let request = format!(
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\
         Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
         MCP-Protocol-Version: {version}\r\nMcp-Method: {method}\r\nMcp-Name: {name}\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    let status = answer[9..12].parse().unwrap();
    let (start, end) = (answer.find('{').unwrap(), answer.rfind('}').unwrap());
    let message: Value = serde_json::from_str(&answer[start..=end]).unwrap();
    (status, message["error"]["code"].as_i64())
}

fn call(version: &str, method: &str, mut params: Value) -> String {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string()
}

#[tokio::test]
async fn every_rejection_has_its_code_and_status() {
    let address = start().await;
    let v = "2026-07-28";
    let good = json!({ "name": "sum", "arguments": { "numbers": [1, 2] } });
    let bad = json!({ "name": "sum", "arguments": { "numbers": "x" } });
    for (what, method, name, body, expected) in [
        ("not JSON", "tools/call", "sum", "{".to_owned(), (400, Some(-32700))),
        (
            "no message",
            "tools/call",
            "sum",
            r#"{"jsonrpc":"2.0","id":1}"#.to_owned(),
            (400, Some(-32600)),
        ),
        ("no method", "nope", "sum", call(v, "nope", json!({})), (404, Some(-32601))),
        (
            "bad params",
            "tools/list",
            "sum",
            call(v, "tools/list", json!({ "cursor": 7 })),
            (400, Some(-32602)),
        ),
        // In this revision, a result for models to read.
        ("bad arguments", "tools/call", "sum", call(v, "tools/call", bad), (200, None)),
        (
            "other header",
            "tools/call",
            "product",
            call(v, "tools/call", good.clone()),
            (400, Some(-32020)),
        ),
        (
            "other revision",
            "tools/call",
            "sum",
            call("2099-01-01", "tools/call", good.clone()),
            (400, Some(-32022)),
        ),
        ("nothing wrong", "tools/call", "sum", call(v, "tools/call", good), (200, None)),
    ] {
        assert_eq!(post(&address, method, name, &body).await, expected, "{what}");
    }
}
