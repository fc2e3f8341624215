//! Subscriptions of stateless revisions.

use std::time::Duration;

use mcp_sdk::{
    Server,
    core::Transport as _,
    transport::memory::{self, MemoryTransport},
};
use serde_json::{Value, json};

use crate::wire::{ask, receive};

fn server() -> Server {
    Server::builder("test", "1.0.0").offers_everything().build().unwrap()
}

async fn listen(near: &MemoryTransport, notifications: Value) -> Value {
    ask(near, "subscriptions/listen", json!({ "notifications": notifications })).await
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
async fn a_blocked_notification_does_not_stop_later_ones() {
    let (near, far) = memory::pair(16);
    let server = server();
    let mcp = server.mcp().clone();
    tokio::spawn(async move { server.serve(far).await });
    let first = listen(&near, json!({ "resourceSubscriptions": ["test://one"] })).await;
    assert_eq!(first["method"], "notifications/subscriptions/acknowledged", "{first}");
    mcp.resource_updated("test://one/no uri %");
    mcp.resource_updated("test://one");
    let notification = receive(&near).await;
    assert_eq!(notification["method"], "notifications/resources/updated", "{notification}");
    assert_eq!(notification["params"]["uri"], "test://one", "{notification}");
}

#[tokio::test]
async fn a_slow_client_misses_no_updated_resource() {
    let (near, far) = memory::pair(16);
    let server = server();
    let serving = server.clone();
    tokio::spawn(async move { serving.serve(far).await });
    let first = listen(&near, json!({ "resourceSubscriptions": ["test://all"] })).await;
    assert_eq!(first["method"], "notifications/subscriptions/acknowledged", "{first}");
    let mut missing = std::collections::BTreeSet::new();
    for number in 0..5000 {
        let uri = format!("test://all/{number}");
        server.resource_updated(&uri);
        missing.insert(uri);
    }
    while !missing.is_empty() {
        let notification = receive(&near).await;
        assert!(missing.remove(notification["params"]["uri"].as_str().unwrap()), "{notification}");
    }
}
