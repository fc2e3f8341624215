use mcp_sdk::{
    ClientError,
    core::{Revision, Root},
};
use serde_json::json;

use super::{Script, builder, connected, within};

#[tokio::test]
async fn changeable_roots_are_declared_and_changes_notified() {
    let (near, script) = Script::new();
    let builder = builder()
        .roots([Root::new("file:///a")])
        .roots_may_change()
        .revision(Revision::LATEST_LEGACY);
    let connecting = builder.clone().connect(near);
    let opening = async {
        let request = script.expect("initialize").await;
        let declared = &request["params"]["capabilities"]["roots"];
        assert_eq!(*declared, json!({ "listChanged": true }));
        script.answer(&request, super::initialized("2025-11-25", json!({}))).await;
        script.expect("notifications/initialized").await;
    };
    let (client, ()) = tokio::join!(connecting, opening);
    let client = client.unwrap();
    within(client.set_roots([Root::new("file:///b")])).await.unwrap();
    script.expect("notifications/roots/list_changed").await;
    script.send(json!({ "jsonrpc": "2.0", "id": 7, "method": "roots/list" })).await;
    let answer = crate::wire::receive(&script.0).await;
    assert_eq!(answer["result"]["roots"], json!([{ "uri": "file:///b" }]));
    // Another client from the same builder has its own roots.
    let (other, script) = connected(builder, Revision::LATEST_LEGACY, json!({})).await;
    script.send(json!({ "jsonrpc": "2.0", "id": 7, "method": "roots/list" })).await;
    let answer = crate::wire::receive(&script.0).await;
    assert_eq!(answer["result"]["roots"], json!([{ "uri": "file:///a" }]));
    drop(other);
}

#[tokio::test]
async fn fixed_roots_cannot_be_changed() {
    let fixed = builder().roots([Root::new("file:///a")]);
    let (client, _script) = connected(fixed, Revision::LATEST_LEGACY, json!({})).await;
    let changed = client.set_roots([]).await;
    assert!(matches!(changed, Err(ClientError::RootsFixed)), "{changed:?}");
}

#[tokio::test]
async fn in_the_stateless_era_root_changes_are_neither_declared_nor_notified() {
    let (near, script) = Script::new();
    let connecting = builder().roots_may_change().connect(near);
    let opening = async {
        let request = script.expect("server/discover").await;
        let meta = &request["params"]["_meta"];
        assert_eq!(meta["io.modelcontextprotocol/clientCapabilities"]["roots"], json!({}));
        script.answer(&request, super::discovered(json!({}))).await;
    };
    let (client, ()) = tokio::join!(connecting, opening);
    let client = client.unwrap();
    client.set_roots([Root::new("file:///b")]).await.unwrap();
    let (_, next) = tokio::join!(client.ping(), script.discovered(json!({})));
    let () = next;
}

#[tokio::test]
async fn a_root_that_is_not_a_file_uri_is_rejected() {
    let (near, _script) = Script::new();
    let connected = within(builder().roots([Root::new("https://a.example")]).connect(near)).await;
    assert!(matches!(connected, Err(ClientError::BadRoot { .. })), "{connected:?}");
    let changing = builder().roots_may_change();
    let (client, _script) = connected_legacy(changing).await;
    let changed = client.set_roots([Root::new("file:///a"), Root::new("/b")]).await;
    let error = changed.unwrap_err();
    assert_eq!(error.to_string(), "`/b` cannot be a root: it does not begin with file://");
}

async fn connected_legacy(builder: mcp_sdk::ClientBuilder) -> (mcp_sdk::Client, Script) {
    connected(builder, Revision::LATEST_LEGACY, json!({})).await
}
