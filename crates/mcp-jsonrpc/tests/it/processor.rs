use std::time::Duration;

use mcp_core::{MemoryBudget, OutgoingRequest, Peer as _, PeerError, Revision, Side};
use serde_json::json;

use crate::rig::Rig;

fn request(id: u32, method: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}"}}"#)
}

#[tokio::test(start_paused = true)]
async fn requests_beyond_the_limit_get_an_error_and_the_others_continue() {
    let mut rig = Rig::new(Revision::LATEST, |settings| settings.max_in_flight = 2);
    rig.send(&request(1, "second"));
    rig.send(&request(2, "second"));
    let refused = rig.ask(&request(3, "second")).await;
    assert_eq!(refused["id"], 3);
    assert_eq!(refused["error"]["code"], -32603);
    assert_eq!(refused["error"]["data"]["error_type"], "busy");
    assert_eq!(rig.next().await["result"], json!({}));
    assert_eq!(rig.next().await["result"], json!({}));
    assert_eq!(rig.ask(&request(4, "now")).await["result"], json!({}));
}

#[tokio::test(start_paused = true)]
async fn an_id_must_not_be_too_long() {
    let mut rig = Rig::new(Revision::LATEST, |_| {});
    let with_id = |id: &str| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"now"}}"#);
    let longest = format!("{:?}", "x".repeat(4094));
    assert_eq!(rig.ask(&with_id(&longest)).await["result"], json!({}));
    for length in [4095, 1 << 20] {
        let id = "x".repeat(length);
        let request = with_id(&format!("{id:?}"));
        let answer = rig.ask(&request).await;
        assert_eq!(answer["error"]["code"], -32600, "{length}");
        assert_eq!(answer["id"], id);
        let answer = rig.ask(&format!("[{request}]")).await;
        assert_eq!(answer["error"]["code"], -32600, "{length}");
        assert_eq!(answer.get("id"), None);
    }
}

#[tokio::test(start_paused = true)]
async fn ids_count_as_memory_of_requests_in_flight() {
    let mut rig = Rig::new(Revision::LATEST, |settings| settings.max_in_flight_bytes = 10_000);
    let request = |letter: &str, length| {
        let id = letter.repeat(length);
        format!(r#"{{"jsonrpc":"2.0","id":"{id}","method":"second"}}"#)
    };
    rig.send(&request("a", 3000));
    assert_eq!(rig.ask(&request("b", 400)).await["error"]["data"]["error_type"], "busy");
    rig.send(&request("c", 300));
    assert_eq!(rig.next().await["result"], json!({}));
    assert_eq!(rig.next().await["result"], json!({}));
}

#[tokio::test(start_paused = true)]
async fn conversations_share_the_memory_of_requests_in_flight() {
    let budget = MemoryBudget::new(10_000);
    let rig = || Rig::new(Revision::LATEST, |settings| settings.in_flight_memory = budget.clone());
    let (mut one, mut other) = (rig(), rig());
    let request = |length: usize| {
        let text = "x".repeat(length);
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"second","params":{{"text":"{text}"}}}}"#)
    };
    one.send(&request(6000));
    tokio::task::yield_now().await;
    assert!((6000..9000).contains(&budget.used()), "{}", budget.used());
    assert_eq!(other.ask(&request(4000)).await["error"]["data"]["error_type"], "busy");
    other.send(&request(100));
    assert_eq!(one.next().await["result"], json!({}));
    assert_eq!(other.next().await["result"], json!({}));
    assert_eq!(budget.used(), 0);
    assert_eq!(other.ask(&request(9000)).await["result"], json!({}));
    // Hanging up frees everything at once, whatever the handler does.
    one.send(
        &r#"{"jsonrpc":"2.0","id":1,"method":"never","params":{}}"#.replace("{}", &request(5000)),
    );
    tokio::task::yield_now().await;
    assert!(budget.used() > 5000);
    one.running.abort();
    let _ = one.running.await;
    assert_eq!(budget.used(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_batch_gets_one_response_when_all_requests_are_done() {
    let mut rig = Rig::new(Revision::V2025_03_26, |_| {});
    let batch = format!(
        r#"[{},{{"jsonrpc":"2.0","method":"told"}},{},7,{{"jsonrpc":"2.0","id":99,"result":{{}}}}]"#,
        request(1, "second"),
        request(2, "panic"),
    );
    let answer = rig.ask(&batch).await;
    let answers = answer.as_array().unwrap();
    assert_eq!(answers.len(), 3);
    assert_eq!((&answers[0]["id"], &answers[0]["result"]), (&json!(1), &json!({})));
    assert_eq!((&answers[1]["id"], &answers[1]["error"]["code"]), (&json!(2), &json!(-32603)));
    assert_eq!((&answers[2]["id"], &answers[2]["error"]["code"]), (&json!(null), &json!(-32600)));
}

#[tokio::test(start_paused = true)]
async fn a_batch_of_notifications_gets_no_response() {
    let mut rig = Rig::new(Revision::V2025_03_26, |_| {});
    rig.send(r#"[{"jsonrpc":"2.0","method":"told"},{"jsonrpc":"2.0","method":"panic"}]"#);
    assert_eq!(rig.ask(&request(1, "now")).await["id"], 1);
}

#[tokio::test(start_paused = true)]
async fn cancelled_requests_are_omitted_from_the_response_to_a_batch() {
    let mut rig = Rig::new(Revision::V2025_03_26, |_| {});
    rig.send(&format!("[{},{}]", request(1, "never"), request(2, "second")));
    rig.send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#);
    let answer = rig.next().await;
    assert_eq!(answer.as_array().unwrap().len(), 1);
    assert_eq!(answer[0]["id"], 2);
}

#[tokio::test(start_paused = true)]
async fn batches_are_rejected_in_other_revisions() {
    for revision in Revision::ALL {
        if revision == Revision::V2025_03_26 {
            continue;
        }
        let mut rig = Rig::new(revision, |_| {});
        let answer = rig.ask(&format!("[{}]", request(1, "now"))).await;
        assert_eq!(answer["error"]["code"], -32600, "{revision}");
        let finding = &answer["error"]["data"][0];
        assert_eq!(finding["keyword"], "type", "{revision}: {answer}");
        assert_eq!(finding["params"], json!({ "type": "object" }), "{revision}: {answer}");
        assert_eq!(answer.get("id").is_some(), revision < Revision::V2025_11_25, "{revision}");
    }
}

#[tokio::test(start_paused = true)]
async fn requests_in_flight_at_the_end_get_time_to_finish() {
    let mut rig = Rig::new(Revision::LATEST, |settings| {
        settings.grace = Duration::from_secs(5);
    });
    rig.send(&request(1, "second"));
    rig.send(&request(2, "never"));
    rig.wire.to.take();
    assert_eq!(rig.next().await["id"], 1);
    rig.running.await.unwrap().unwrap();
    assert!(rig.wire.from.try_recv().is_err());
}

#[tokio::test(start_paused = true)]
async fn a_handler_waiting_for_the_peer_at_the_end_fails_and_responds() {
    let mut rig = Rig::new(Revision::LATEST_LEGACY, |_| {});
    rig.send(&request(1, "ask"));
    assert_eq!(rig.next().await["method"], "question");
    rig.wire.to.take();
    let answer = rig.next().await;
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(1), &json!(-32603)));
}

#[tokio::test(start_paused = true)]
async fn an_invalid_request_is_not_mistaken_for_our_response() {
    let mut rig = Rig::new(Revision::LATEST_LEGACY, |_| {});
    rig.send(&request(7, "ask"));
    let question = rig.next().await;
    let id = &question["id"];
    let broken = rig.ask(&format!(r#"{{"jsonrpc":"1.0","id":{id},"method":"now"}}"#)).await;
    assert_eq!((&broken["id"], &broken["error"]["code"]), (id, &json!(-32600)));
    let answer = rig.ask(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"n":1}}}}"#)).await;
    assert_eq!((&answer["id"], &answer["result"]["n"]), (&json!(7), &json!(1)));
}

#[tokio::test(start_paused = true)]
async fn an_invalid_response_fails_its_request() {
    for broken in [r#"{"id":1,"result":{}}"#, r#"{"jsonrpc":"2.0","id":1,"error":7}"#] {
        let mut rig = Rig::on(Side::Client, Revision::LATEST_LEGACY, |_| {});
        let peer = rig.peer.clone();
        let asking =
            tokio::spawn(async move { peer.request(OutgoingRequest::new("now", None)).await });
        assert_eq!(rig.next().await["id"], 1);
        rig.send(broken);
        let error = asking.await.unwrap().unwrap_err();
        assert!(matches!(error, PeerError::InvalidResponse { .. }), "{broken}: {error}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_response_without_an_id_fails_the_only_pending_request() {
    let nameless = r#"{"jsonrpc":"2.0","result":{}}"#;
    let mut rig = Rig::on(Side::Client, Revision::LATEST_LEGACY, |_| {});
    let peer = rig.peer.clone();
    let asking = tokio::spawn(async move { peer.request(OutgoingRequest::new("now", None)).await });
    rig.next().await;
    rig.send(nameless);
    let error = asking.await.unwrap().unwrap_err();
    assert!(matches!(error, PeerError::InvalidResponse { .. }), "{error}");

    // If several are pending, it is unknown which of them it answers.
    let (one, other) = (rig.peer.clone(), rig.peer.clone());
    let first = tokio::spawn(async move { one.request(OutgoingRequest::new("now", None)).await });
    let second =
        tokio::spawn(async move { other.request(OutgoingRequest::new("now", None)).await });
    let ids = [rig.next().await["id"].clone(), rig.next().await["id"].clone()];
    rig.send(nameless);
    for id in ids {
        rig.send(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#));
    }
    assert!(first.await.unwrap().is_ok() && second.await.unwrap().is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_second_response_to_a_request_is_ignored() {
    let mut rig = Rig::on(Side::Client, Revision::LATEST_LEGACY, |_| {});
    let peer = rig.peer.clone();
    let asking = tokio::spawn(async move { peer.request(OutgoingRequest::new("now", None)).await });
    rig.next().await;
    rig.send(r#"{"jsonrpc":"2.0","id":1,"result":{"n":1}}"#);
    rig.send(r#"{"jsonrpc":"2.0","id":1,"result":{"n":2}}"#);
    assert_eq!(asking.await.unwrap().unwrap().to_string(), r#"{"n":1}"#);
    assert_eq!(rig.ask(&request(5, "now")).await["id"], 5);
}

#[tokio::test(start_paused = true)]
async fn pending_requests_fail_when_the_conversation_stops_running() {
    let mut rig = Rig::on(Side::Client, Revision::LATEST_LEGACY, |_| {});
    let peer = rig.peer.clone();
    let asking = tokio::spawn(async move { peer.request(OutgoingRequest::new("now", None)).await });
    rig.next().await;
    rig.running.abort();
    assert!(matches!(asking.await.unwrap(), Err(PeerError::Closed(_))));
    let late = rig.peer.request(OutgoingRequest::new("now", None)).await;
    assert!(matches!(late, Err(PeerError::Closed(_))));
}

#[tokio::test(start_paused = true)]
async fn our_requests_beyond_the_limit_are_not_sent() {
    let mut rig = Rig::on(Side::Client, Revision::LATEST, |settings| settings.max_pending = 1);
    let peer = rig.peer.clone();
    let asking = tokio::spawn(async move { peer.request(OutgoingRequest::new("now", None)).await });
    rig.next().await;
    let refused = rig.peer.request(OutgoingRequest::new("now", None)).await;
    assert!(matches!(refused, Err(PeerError::NotSent { .. })));
    asking.abort();
    assert_eq!(rig.next().await["method"], "notifications/cancelled");
}
