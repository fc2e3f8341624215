//! News that clients of a stateless revision ask for.

use std::time::Duration;

use mcp_sdk::{
    Server,
    core::{Inbound, Outbound, OutboundRole, Transport as _},
    transport::memory::{self, MemoryTransport},
};
use serde_json::{Value, json};

fn server() -> Server {
    Server::builder("test", "1.0.0").offers_everything().build().unwrap()
}

async fn listen(near: &MemoryTransport, notifications: Value) -> Value {
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": {
        "notifications": notifications,
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {},
        },
    }});
    let (bytes, role) = (message.to_string().into(), OutboundRole::Request);
    near.send(Outbound { bytes, role, ticket: None, labels: None }).await.unwrap();
    hear(near).await
}

async fn hear(near: &MemoryTransport) -> Value {
    match near.receive().await.unwrap() {
        Some(Inbound::Message { bytes, .. }) => serde_json::from_slice(&bytes).unwrap(),
        other => panic!("no message: {other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn a_subscription_does_not_outlive_its_conversation() {
    let (near, far) = memory::pair(16);
    let served = tokio::spawn(async move { server().serve(far).await });
    let first = listen(&near, json!({ "toolsListChanged": true })).await;
    assert_eq!(first["method"], "notifications/subscriptions/acknowledged");
    let left = tokio::time::Instant::now();
    near.close().await;
    served.await.unwrap().unwrap();
    assert!(left.elapsed() < Duration::from_secs(1), "it waited for {:?}", left.elapsed());
}

#[tokio::test]
async fn news_that_may_not_be_sent_hold_back_no_others() {
    let (near, far) = memory::pair(16);
    let server = server();
    let mcp = server.mcp().clone();
    tokio::spawn(async move { server.serve(far).await });
    let uris = ["no uri", "test://one"];
    listen(&near, json!({ "resourceSubscriptions": uris })).await;
    uris.into_iter().for_each(|uri| mcp.resource_updated(uri));
    loop {
        let news = hear(&near).await;
        assert_eq!(news["method"], "notifications/resources/updated");
        if news["params"]["uri"] == uris[1] {
            break;
        }
    }
}
