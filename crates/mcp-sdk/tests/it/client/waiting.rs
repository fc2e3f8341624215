use std::time::Duration;

use mcp_sdk::{
    CallOptions, ClientError,
    core::{ElicitResult, PeerError, Revision},
};
use serde_json::json;
use tokio::time::{Instant, sleep};

use super::{builder, connected};

fn tools() -> serde_json::Value {
    json!({ "tools": {} })
}

fn done() -> serde_json::Value {
    json!({ "content": [{ "type": "text", "text": "done" }] })
}

#[tokio::test(start_paused = true)]
async fn progress_extends_the_timeout_up_to_a_maximum() {
    let (client, script) = connected(builder(), Revision::LATEST_LEGACY, tools()).await;
    let reports = async |count: u32| {
        let request = script.expect("tools/call").await;
        let token = &request["params"]["_meta"]["progressToken"];
        for number in 1..=count {
            sleep(Duration::from_secs(50)).await;
            let params = json!({ "progressToken": token, "progress": number });
            script.notify("notifications/progress", params).await;
        }
        request
    };
    let options = CallOptions::new().on_progress(|_| {});
    let serving = async {
        let request = reports(5).await;
        script.answer(&request, done()).await;
    };
    let (called, ()) = tokio::join!(client.call_tool_with("slow", (), &options), serving);
    assert_eq!(called.unwrap().all_text(), "done");

    let begun = Instant::now();
    let options = options.max_timeout(Duration::from_secs(120));
    let call = client.call_tool_with("slow", (), &options);
    let called = tokio::select! { called = call => called, _ = reports(5) => panic!() };
    assert_eq!(begun.elapsed().as_secs(), 120);
    let error = called.unwrap_err().to_string();
    assert_eq!(error, "`tools/call` of `slow`: no response within 120s");
}

#[tokio::test(start_paused = true)]
async fn without_progress_the_timeout_is_unchanged() {
    let (client, script) = connected(builder(), Revision::LATEST_LEGACY, tools()).await;
    let begun = Instant::now();
    let (called, request) = tokio::join!(client.call_tool("slow", ()), script.expect("tools/call"));
    assert_eq!(begun.elapsed().as_secs(), 60);
    let timed_out =
        matches!(called, Err(ClientError::Call { cause: PeerError::TimedOut { .. }, .. }));
    assert!(timed_out);
    let cancelled = script.expect("notifications/cancelled").await;
    assert_eq!(cancelled["params"]["requestId"], request["id"]);
}

#[tokio::test(start_paused = true)]
async fn waiting_for_the_user_does_not_count() {
    let asking = builder().on_elicitation(async |_| {
        sleep(Duration::from_secs(600)).await;
        Ok(ElicitResult::decline())
    });
    let (client, script) = connected(asking, Revision::LATEST_LEGACY, tools()).await;
    let question = json!({ "jsonrpc": "2.0", "id": "q", "method": "elicitation/create", "params": {
        "message": "Who?", "requestedSchema": { "type": "object", "properties": {} } } });
    let begun = Instant::now();
    let serving = async {
        script.expect("tools/call").await;
        sleep(Duration::from_secs(30)).await;
        script.send(question).await;
        let answer = crate::wire::receive(&script.0).await;
        assert_eq!(answer["result"]["action"], "decline", "{answer}");
    };
    let (called, ()) = tokio::join!(client.call_tool("slow", ()), serving);
    assert!(called.is_err());
    assert_eq!(begun.elapsed().as_secs(), 600 + 60);
}
