use mcp_sdk::{
    Client, ClientError, ClientEvent, ListenError, Server,
    core::{Mcp, Revision},
    transport::memory,
};
use serde_json::{Value, json};

use super::{Script, builder, connected, within};

const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

fn offered() -> Value {
    json!({ "tools": { "listChanged": true }, "resources": { "subscribe": true } })
}

fn tagged(request: &Value, mut params: Value) -> Value {
    params["_meta"] = json!({ (SUBSCRIPTION): request["id"] });
    params
}

async fn acknowledge(script: &Script, request: &Value, granted: Value) {
    let params = tagged(request, json!({ "notifications": granted }));
    script.notify("notifications/subscriptions/acknowledged", params).await;
}

#[tokio::test]
async fn a_subscription_opens_once_acknowledged_and_misses_nothing() {
    let (client, script) = connected(builder(), Revision::LATEST, offered()).await;
    let mut all = client.events();
    let subscribing = tokio::spawn({
        let client = client.clone();
        async move { client.subscribe(&["test://one", "test://two"]).await }
    });
    let request = script.expect("subscriptions/listen").await;
    tokio::task::yield_now().await;
    assert!(!subscribing.is_finished());
    let granted = json!({ "toolsListChanged": true, "resourceSubscriptions": ["test://one"] });
    acknowledge(&script, &request, granted).await;
    let updated = tagged(&request, json!({ "uri": "test://one" }));
    script.notify("notifications/resources/updated", updated).await;
    let mut subscription = within(subscribing).await.unwrap().unwrap();
    let granted = subscription.granted();
    assert!(granted.tools && !granted.prompts && !granted.resources, "{granted:?}");
    assert_eq!(granted.uris.iter().collect::<Vec<_>>(), ["test://one"]);
    assert_eq!(subscription.missing().iter().collect::<Vec<_>>(), ["test://two"]);
    let first = within(subscription.recv()).await.unwrap();
    assert!(matches!(&first, ClientEvent::ResourceUpdated { uri } if uri == "test://one"));
    let first = within(all.recv()).await.unwrap();
    assert!(matches!(first, ClientEvent::ResourceUpdated { .. }), "{first:?}");
    assert!(subscription.is_open());
    drop(subscription);
    let cancelled = script.expect("notifications/cancelled").await;
    assert_eq!(cancelled["params"]["requestId"], request["id"]);
}

#[tokio::test]
async fn a_reader_is_notified_when_the_server_ends_the_subscription() {
    let (client, script) = connected(builder(), Revision::LATEST, offered()).await;
    let ending = async {
        let request = script.expect("subscriptions/listen").await;
        acknowledge(&script, &request, json!({ "toolsListChanged": true })).await;
        script.notify("notifications/tools/list_changed", tagged(&request, json!({}))).await;
        let result = tagged(&request, json!({ "resultType": "complete" }));
        script.answer(&request, result).await;
    };
    let (subscription, ()) = tokio::join!(client.subscribe(&[]), ending);
    let mut subscription = subscription.unwrap();
    let event = within(subscription.recv()).await;
    assert!(matches!(event, Ok(ClientEvent::ToolsChanged)), "{event:?}");
    assert_eq!(within(subscription.recv()).await.unwrap_err(), ListenError::Closed);
    assert!(!subscription.is_open());
}

#[tokio::test]
async fn a_rejected_subscription_is_an_error() {
    let (client, script) = connected(builder(), Revision::LATEST, offered()).await;
    let refusing = async {
        let request = script.expect("subscriptions/listen").await;
        script.refuse(&request, -32000, "too many").await;
    };
    let (refused, ()) = tokio::join!(client.subscribe(&[]), refusing);
    assert_eq!(refused.unwrap_err().to_string(), "`subscriptions/listen`: too many (-32000)");
}

#[tokio::test]
async fn a_subscription_to_nothing_is_an_error() {
    let (client, script) = connected(builder(), Revision::LATEST, json!({})).await;
    let granting = async {
        let request = script.expect("subscriptions/listen").await;
        acknowledge(&script, &request, json!({})).await;
        script.expect("notifications/cancelled").await;
    };
    let (subscribed, ()) = tokio::join!(client.subscribe(&["test://one"]), granting);
    assert!(matches!(subscribed, Err(ClientError::NotGranted { .. })), "{subscribed:?}");
}

#[tokio::test(start_paused = true)]
async fn an_unacknowledged_subscription_times_out() {
    let (client, script) = connected(builder(), Revision::LATEST, offered()).await;
    let silence = async {
        script.expect("subscriptions/listen").await;
        script.expect("notifications/cancelled").await;
    };
    let (subscribed, ()) = tokio::join!(client.subscribe(&[]), silence);
    let error = subscribed.unwrap_err().to_string();
    assert_eq!(error, "`subscriptions/listen`: no response within 60s");
}

#[tokio::test]
async fn the_last_subscriber_unsubscribes_in_the_handshake_era() {
    let (client, script) = connected(builder(), Revision::LATEST_LEGACY, offered()).await;
    let agree = async |method: &str| {
        let request = script.expect(method).await;
        script.answer(&request, json!({})).await;
        request["params"]["uri"].clone()
    };
    let (first, uri) =
        tokio::join!(client.subscribe(&["test://one"]), agree("resources/subscribe"));
    assert_eq!(uri, "test://one");
    // The server is not asked twice.
    let second = within(client.subscribe(&["test://one"])).await.unwrap();
    assert!(second.granted().tools);
    drop(first.unwrap());
    let (pinged, _) = tokio::join!(client.ping(), agree("ping"));
    pinged.unwrap();
    drop(second);
    assert_eq!(agree("resources/unsubscribe").await, "test://one");
    let (again, _) = tokio::join!(client.subscribe(&["test://one"]), agree("resources/subscribe"));
    assert!(again.unwrap().is_open());
}

#[tokio::test]
async fn earlier_subscriptions_are_undone_after_a_rejection() {
    let (client, script) = connected(builder(), Revision::LATEST_LEGACY, offered()).await;
    let serving = async {
        let request = script.expect("resources/subscribe").await;
        script.answer(&request, json!({})).await;
        let request = script.expect("resources/subscribe").await;
        script.refuse(&request, -32002, "no such resource").await;
        let request = script.expect("resources/unsubscribe").await;
        assert_eq!(request["params"]["uri"], "test://one");
    };
    let (subscribed, ()) =
        within(async { tokio::join!(client.subscribe(&["test://one", "test://two"]), serving) })
            .await;
    assert_eq!(subscribed.unwrap_err().code(), Some(-32002));
}

#[tokio::test(start_paused = true)]
async fn a_timed_out_subscription_is_undone() {
    let (client, script) = connected(builder(), Revision::LATEST_LEGACY, offered()).await;
    let too_slow = async {
        let request = script.expect("resources/subscribe").await;
        let cancelled = script.expect("notifications/cancelled").await;
        assert_eq!(cancelled["params"]["requestId"], request["id"]);
        // The cancellation may have come too late.
        let request = script.expect("resources/unsubscribe").await;
        assert_eq!(request["params"]["uri"], "test://one");
        script.answer(&request, json!({})).await;
    };
    let (subscribed, ()) = tokio::join!(client.subscribe(&["test://one"]), too_slow);
    subscribed.unwrap_err();
    // The server is asked again, whatever happened to the first request.
    let agreeing = async {
        let request = script.expect("resources/subscribe").await;
        script.answer(&request, json!({})).await;
    };
    let (subscribed, ()) = tokio::join!(client.subscribe(&["test://one"]), agreeing);
    assert!(subscribed.unwrap().is_open());
}

#[tokio::test]
async fn resources_are_subscribed_concurrently() {
    let (client, script) = connected(builder(), Revision::LATEST_LEGACY, offered()).await;
    let uris = ["test://one", "test://two"];
    let subscribing =
        async { tokio::join!(client.subscribe(&uris[..1]), client.subscribe(&uris[1..])) };
    let agreeing = async {
        let first = script.expect("resources/subscribe").await;
        let second = script.expect("resources/subscribe").await;
        script.answer(&second, json!({})).await;
        script.answer(&first, json!({})).await;
    };
    let ((one, two), ()) = Box::pin(within(async { tokio::join!(subscribing, agreeing) })).await;
    assert!(one.unwrap().is_open() && two.unwrap().is_open());
}

#[tokio::test]
async fn a_reader_is_notified_when_the_server_is_gone() {
    for revision in [Revision::LATEST, Revision::LATEST_LEGACY] {
        let (client, script) = connected(builder(), revision, offered()).await;
        let mut all = client.events();
        let agreeing = async {
            if revision == Revision::LATEST {
                let request = script.expect("subscriptions/listen").await;
                acknowledge(&script, &request, json!({ "toolsListChanged": true })).await;
            }
        };
        let (subscription, ()) = tokio::join!(client.subscribe(&[]), agreeing);
        let mut subscription = subscription.unwrap();
        drop(script);
        let drained = within(async { while subscription.recv().await.is_ok() {} });
        drained.await;
        assert!(!subscription.is_open(), "{revision}");
        let event = within(all.recv()).await;
        assert!(matches!(event, Ok(ClientEvent::Closed)), "{revision}: {event:?}");
        assert_eq!(within(all.recv()).await.unwrap_err(), ListenError::Closed, "{revision}");
        let late = within(client.events().recv()).await;
        assert_eq!(late.unwrap_err(), ListenError::Closed, "{revision}");
    }
}

/// End to end, with a server of this crate.
async fn check_news(client: Client, mcp: &Mcp) {
    let revision = client.revision();
    let mut subscription = within(client.subscribe(&["test://one"])).await.unwrap();
    assert!(subscription.granted().tools, "{revision}");
    mcp.resource_updated("test://one");
    let event = within(subscription.recv()).await.unwrap();
    let updated = matches!(&event, ClientEvent::ResourceUpdated { uri } if uri == "test://one");
    assert!(updated, "{revision}: {event:?}");
    assert!(subscription.is_open());
    drop(subscription);
    within(client.ping()).await.unwrap();
    within(client.close()).await;
}

#[tokio::test]
async fn notifications_arrive_in_memory_in_both_eras() {
    for revision in Revision::ALL {
        let server = Server::builder("test", "1.0.0").offers_everything().build().unwrap();
        let mcp = server.mcp().clone();
        let (near, far) = memory::pair(16);
        tokio::spawn(async move { server.serve(far).await });
        let client = builder().revision(revision).connect(near).await.unwrap();
        check_news(client, &mcp).await;
    }
}

#[cfg(feature = "http")]
#[tokio::test]
async fn notifications_arrive_over_http_without_a_session() {
    use mcp_sdk::transport::http::server::HttpSettings;
    let server = Server::builder("test", "1.0.0").offers_everything().build().unwrap();
    let mcp = server.mcp().clone();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    tokio::spawn(async move {
        server.serve_http_on(listener, HttpSettings::default(), std::future::pending()).await;
    });
    let client = builder().connect_http(&url).await.unwrap();
    assert_eq!(client.revision(), Revision::LATEST);
    check_news(client, &mcp).await;
}

#[tokio::test]
async fn a_server_that_offers_no_resources_grants_none() {
    for revision in Revision::ALL {
        let server = Server::builder("test", "1.0.0").build().unwrap();
        let (near, far) = memory::pair(16);
        tokio::spawn(async move { server.serve(far).await });
        let client = builder().revision(revision).connect(near).await.unwrap();
        assert!(within(client.subscribe(&["test://one"])).await.is_err(), "{revision}");
        within(client.close()).await;
    }
}
