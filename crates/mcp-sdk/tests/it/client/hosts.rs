use mcp_sdk::{Host, core::Revision};
use serde_json::{Value, json};

use super::{Script, builder, connected, within};
use crate::wire::receive;

fn list() -> Value {
    json!({ "resultType": "complete", "ttlMs": 0, "cacheScope": "private", "tools": [] })
}

/// Answers list requests until `method` arrives, and counts them.
async fn serve_until(script: &Script, method: &str) -> (Value, usize) {
    let mut lists = 0;
    loop {
        let message = receive(&script.0).await;
        if message["method"] == method {
            return (message, lists);
        }
        assert_eq!(message["method"], "tools/list", "{message}");
        script.answer(&message, list()).await;
        lists += 1;
    }
}

/// A change between listing and the start of the subscription is not notified.
#[tokio::test]
async fn a_list_from_before_the_subscription_is_fetched_again() {
    let offered = json!({ "tools": { "listChanged": true } });
    let (client, script) = connected(builder(), Revision::LATEST, offered.clone()).await;
    let host = Host::builder().server("one", client.clone()).build().unwrap();
    let (listen, _) = within(serve_until(&script, "subscriptions/listen")).await;
    let ping = async {
        // Listed before the acknowledgement.
        host.tools().await;
        host.tools().await;
        client.discover().await
    };
    let serving = async {
        let (request, lists) = serve_until(&script, "server/discover").await;
        assert_eq!(lists, 2, "a change could have been missed");
        let meta = json!({ "io.modelcontextprotocol/subscriptionId": listen["id"] });
        let params = json!({ "_meta": meta, "notifications": { "toolsListChanged": true } });
        script.notify("notifications/subscriptions/acknowledged", params).await;
        script.answer(&request, super::discovered(offered)).await;
    };
    let (pinged, ()) = within(async { tokio::join!(ping, serving) }).await;
    pinged.unwrap();
    // The host processes the acknowledgement in its own task.
    for _ in 0..10 {
        tokio::task::yield_now().await;
    }
    let listing = async {
        host.tools().await;
        host.tools().await;
        client.discover().await
    };
    let serving = async {
        let (request, lists) = serve_until(&script, "server/discover").await;
        assert_eq!(lists, 1, "once more, after which changes are notified");
        script.answer(&request, super::discovered(json!({}))).await;
    };
    let (pinged, ()) = within(async { tokio::join!(listing, serving) }).await;
    pinged.unwrap();
}
