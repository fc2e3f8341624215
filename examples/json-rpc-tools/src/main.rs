//! How do I serve tools over plain JSON-RPC, without the rest of MCP?
//!
//! ```sh
//! cargo run -p example-json-rpc-tools -- 8766
//! npx wscat -c ws://127.0.0.1:8766
//! > {"jsonrpc":"2.0","id":1,"method":"echo","params":{"text":"hello"}}
//! ```
//!
//! The method is the name of a tool. Any WebSocket client will do. Port 0, the default, is any free
//! one.
#![expect(clippy::print_stdout, reason = "says where it listens, and what to send")]

use std::{env, net::Ipv4Addr};

use mcp_core::{BoxFuture, CallToolResult, Context, Error, Json, ToolHandler, ToolRegistry};
use mcp_jsonrpc::{JsonRpcProcessor, JsonRpcRequest};
use mcp_transport::ws::{WsListener, WsServerSettings};
use serde_json::{Value, json};

/// Returns its arguments.
struct EchoTool;

impl ToolHandler for EchoTool {
    fn call(&self, arguments: Json, _: Context) -> BoxFuture<'_, Result<CallToolResult, Error>> {
        Box::pin(async move { Ok(CallToolResult::structured(arguments)) })
    }
}

/// Adds numbers.
struct SumTool;

impl ToolHandler for SumTool {
    fn call(&self, arguments: Json, _: Context) -> BoxFuture<'_, Result<CallToolResult, Error>> {
        Box::pin(async move {
            let arguments = arguments.to_value().map_err(|error| {
                Error::invalid_params(format!("the arguments cannot be read: {error}"))
            })?;
            let numbers: Option<Vec<f64>> = arguments["numbers"]
                .as_array()
                .and_then(|list| list.iter().map(Value::as_f64).collect());
            let numbers = numbers
                .ok_or_else(|| Error::invalid_params("`numbers` must be a list of numbers"))?;
            let sum: f64 = numbers.iter().sum();
            Ok(CallToolResult::structured(json!({ "sum": sum }).into()))
        })
    }
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let port: u16 = env::args().nth(1).as_deref().unwrap_or("0").parse()?;
    let tools = ToolRegistry::new();
    tools.insert("echo", Box::new(EchoTool));
    tools.insert("sum", Box::new(SumTool));

    let listener =
        WsListener::bind((Ipv4Addr::LOCALHOST, port), WsServerSettings::default()).await?;
    println!("ws://{}", listener.local_addr());
    // The wire types are written and read with `serde_json`.
    let request = JsonRpcRequest::new(1, "sum", Some(json!({ "numbers": [1, 2.5] })));
    println!("try {}", serde_json::to_string(&request)?);
    loop {
        let socket = listener.accept().await?;
        // All clones are the same registry.
        tokio::spawn(JsonRpcProcessor::new(socket, tools.clone()).run());
    }
}
