//! A small client on rmcp: `client URL | CMD ARGS…`.

use std::env;

use rmcp::{
    ClientHandler, ClientLifecycleMode, ClientServiceExt,
    model::{ClientConfig, ProtocolVersion},
    transport::{StreamableHttpClientTransport, TokioChildProcess},
};
use serde_json::{from_value, json};
use tokio::process::Command;

type Failure = Box<dyn std::error::Error + Send + Sync>;

struct Me;

impl ClientHandler for Me {
    fn get_info(&self) -> ClientConfig {
        from_value(json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "rmcp-small", "version": "1.0.0"},
        }))
        .expect("a client's description")
    }
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let words: Vec<String> = env::args().skip(1).collect();
    let preferred_versions: Vec<ProtocolVersion> = vec![from_value(json!("2026-07-28"))?];
    let lifecycle = ClientLifecycleMode::Auto { preferred_versions, legacy_version: None };
    let client = if words[0].starts_with("http") {
        let transport = StreamableHttpClientTransport::from_uri(words[0].as_str());
        Me.serve_with_lifecycle(transport, lifecycle).await?
    } else {
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]);
        Me.serve_with_lifecycle(TokioChildProcess::new(command)?, lifecycle).await?
    };
    if client.peer_info().is_some_and(|info| info.capabilities.tools.is_some()) {
        client.list_all_tools().await?;
        let call = from_value(json!({"name": "echo", "arguments": {"text": "hello"}}))?;
        client.call_tool(call).await?;
    }
    client.cancel().await?;
    Ok(())
}
