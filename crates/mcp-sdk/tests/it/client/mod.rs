//! The client with scripted servers.

mod errors;
mod hosts;
#[cfg(feature = "http")]
mod http;
mod listing;
#[cfg(feature = "http")]
mod losing;
mod opening;
#[cfg(feature = "http")]
mod reaching;
mod roots;
mod subscribing;
mod waiting;

use std::time::Duration;

use mcp_sdk::{
    Client, ClientBuilder,
    core::Revision,
    transport::memory::{self, MemoryTransport},
};
use serde_json::{Value, json};

use crate::wire::{receive, send};

/// The server's end of a conversation.
struct Script(MemoryTransport);

impl Script {
    fn new() -> (MemoryTransport, Script) {
        let (near, far) = memory::pair(64);
        (near, Script(far))
    }

    /// The next message, which must have this method.
    async fn expect(&self, method: &str) -> Value {
        let message = receive(&self.0).await;
        assert_eq!(message["method"], method, "{message}");
        message
    }

    async fn answer(&self, request: &Value, result: Value) {
        self.send(json!({ "jsonrpc": "2.0", "id": request["id"], "result": result })).await;
    }

    async fn refuse(&self, request: &Value, code: i64, message: &str) {
        let error = json!({ "code": code, "message": message });
        self.send(json!({ "jsonrpc": "2.0", "id": request["id"], "error": error })).await;
    }

    async fn notify(&self, method: &str, params: Value) {
        self.send(json!({ "jsonrpc": "2.0", "method": method, "params": params })).await;
    }

    async fn send(&self, message: Value) {
        send(&self.0, &message).await;
    }

    /// Answers `server/discover`.
    async fn discovered(&self, capabilities: Value) {
        let request = self.expect("server/discover").await;
        self.answer(&request, discovered(capabilities)).await;
    }

    /// Completes the handshake.
    async fn initialized(&self, capabilities: Value) {
        let request = self.expect("initialize").await;
        self.answer(&request, initialized("2025-11-25", capabilities)).await;
        self.expect("notifications/initialized").await;
    }
}

#[expect(clippy::needless_pass_by_value, reason = "callers pass literals")]
fn discovered(capabilities: Value) -> Value {
    json!({ "resultType": "complete", "ttlMs": 0, "cacheScope": "private",
        "supportedVersions": ["2026-07-28"], "capabilities": capabilities })
}

#[expect(clippy::needless_pass_by_value, reason = "callers pass literals")]
fn initialized(revision: &str, capabilities: Value) -> Value {
    json!({ "protocolVersion": revision, "capabilities": capabilities,
        "serverInfo": { "name": "script", "version": "1" } })
}

fn builder() -> ClientBuilder {
    Client::builder("client", "1.0.0")
}

/// A client at `revision`, and its scripted server.
async fn connected(
    builder: ClientBuilder,
    revision: Revision,
    capabilities: Value,
) -> (Client, Script) {
    let (near, script) = Script::new();
    let connecting = builder.revision(revision).connect(near);
    let opening = async {
        match revision {
            Revision::V2026_07_28 => script.discovered(capabilities).await,
            _ => script.initialized(capabilities).await,
        }
    };
    let (client, ()) = tokio::join!(connecting, opening);
    (client.unwrap(), script)
}

async fn within<T>(what: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(60), what).await.unwrap()
}
