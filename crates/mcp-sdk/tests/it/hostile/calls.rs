//! Calls that cross, repeat, are cancelled or never end.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use mcp_sdk::{
    CallOptions, Client, ClientError, Finding, Validation,
    core::{Era, PeerError, Revision},
    transport::memory,
};
use serde_json::json;
use tokio::{io::AsyncWriteExt as _, net::TcpStream, sync::watch};

use super::{
    http::{post, written},
    server::{Seen, server},
    wire::{Checks, Kind, Wire, child, http_server, serve_http},
    within,
};

/// Waits until the counter reaches `count`.
async fn reaches(counter: &watch::Sender<usize>, count: usize) {
    within(counter.subscribe().wait_for(|now| *now >= count)).await.unwrap();
}

#[tokio::test]
async fn unexpected_responses_are_ignored() {
    for kind in Kind::ALL {
        for checks in Checks::ALL {
            let mut wire = Wire::open(kind, checks).await;
            for answer in [
                r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
                r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
                r#"{"jsonrpc":"2.0","id":"x","error":{"code":1,"message":"no"}}"#,
                r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"no"}}"#,
            ] {
                wire.send(answer).await;
            }
            within(wire.still_works()).await;
        }
    }
}

#[tokio::test]
async fn two_requests_with_one_id_are_both_answered() {
    for kind in Kind::ALL {
        for checks in Checks::ALL {
            let mut wire = Wire::open(kind, checks).await;
            // Rejected requests do not wait for others.
            let count = if checks == Checks::Off { 2 } else { 1 };
            let call = wire.call(7, "together", json!({ "count": count }));
            wire.send(&call).await;
            wire.send(&call).await;
            for _ in 0..2 {
                let answer = within(wire.next()).await;
                assert_eq!(answer["id"], 7, "{kind:?} {checks:?}: {answer}");
            }
        }
    }
}

#[tokio::test]
async fn a_cancelled_call_ends_without_a_response() {
    for kind in [Kind::Memory, Kind::WebSocket, Kind::HttpSession] {
        for checks in Checks::ALL {
            let mut wire = Wire::open(kind, checks).await;
            wire.send(&wire.call(1, "never", json!({}))).await;
            reaches(&wire.seen.started, 1).await;
            let cancelled = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled",
                "params": { "requestId": 1 } });
            wire.send(&cancelled.to_string()).await;
            reaches(&wire.seen.dropped, 1).await;
            within(wire.still_works()).await;
        }
    }
}

#[tokio::test]
async fn invalid_cancellations_change_nothing() {
    for kind in [Kind::Memory, Kind::Child, Kind::WebSocket, Kind::HttpSession] {
        let mut wire = Wire::open(kind, Checks::Off).await;
        for id in [json!(99), json!(null), json!({}), json!([1]), json!("x")] {
            let params = json!({ "requestId": id });
            let method = "notifications/cancelled";
            wire.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string())
                .await;
        }
        within(wire.still_works()).await;
    }
}

#[tokio::test]
async fn disconnecting_cancels_a_call_only_without_a_session() {
    for kind in [Kind::HttpSession, Kind::HttpStateless] {
        let mut wire = Wire::open(kind, Checks::Enforce).await;
        let call = wire.call(1, "never", json!({}));
        let text = written(&wire.headers(&call), &call);
        let mut stream = TcpStream::connect(wire.address()).await.unwrap();
        stream.write_all(text.as_bytes()).await.unwrap();
        reaches(&wire.seen.started, 1).await;
        drop(stream);
        if kind == Kind::HttpStateless {
            reaches(&wire.seen.dropped, 1).await;
        } else {
            // Time to notice it.
            tokio::time::sleep(Duration::from_millis(200)).await;
            within(wire.still_works()).await;
            assert_eq!(*wire.seen.dropped.borrow(), 0);
        }
    }
}

async fn client(revision: Revision) -> (Client, Seen) {
    let seen = Seen::default();
    let (near, far) = memory::pair(16);
    let server = server(Validation::enforce(), &seen);
    tokio::spawn(async move { server.serve(far).await });
    let client = Client::builder("client", "1").revision(revision).connect(near).await.unwrap();
    (client, seen)
}

async fn http_client(revision: Revision) -> (Client, Seen) {
    let seen = Seen::default();
    let to = http_server(Checks::Enforce, &seen).await;
    let client = Client::builder("client", "1").revision(revision);
    (client.connect_http(&format!("http://{to}/mcp")).await.unwrap(), seen)
}

#[tokio::test]
async fn dropping_a_call_cancels_it() {
    for revision in Revision::ALL {
        for (client, seen) in [client(revision).await, http_client(revision).await] {
            let (calling, observed) = (client.clone(), seen.clone());
            let call = tokio::spawn(async move { calling.call_tool("never", json!({})).await });
            reaches(&observed.started, 1).await;
            call.abort();
            reaches(&observed.dropped, 1).await;
            let alive = within(client.call_tool("echo", json!({ "text": "x" }))).await.unwrap();
            assert_eq!(alive.all_text(), "x");
            within(client.close()).await;
        }
    }
}

#[tokio::test]
async fn cancelling_a_call_violates_no_rule() {
    for revision in Revision::ALL {
        let (seen, findings) = (Seen::default(), Arc::new(Mutex::new(Vec::new())));
        let sink = Arc::clone(&findings);
        let note = move |finding: &Finding| sink.lock().unwrap().push(finding.message.clone());
        let validation = Validation::enforce().on_finding(note);
        let to = serve_http(&server(validation.clone(), &seen)).await;
        let client = Client::builder("client", "1").revision(revision).validation(validation);
        let client = client.connect_http(&format!("http://{to}/mcp")).await.unwrap();
        let calling = client.clone();
        let call = tokio::spawn(async move { calling.call_tool("never", json!({})).await });
        reaches(&seen.started, 1).await;
        call.abort();
        reaches(&seen.dropped, 1).await;
        within(client.close()).await;
        assert_eq!(*findings.lock().unwrap(), Vec::<String>::new(), "{revision}");
    }
}

/// The request may have been made in another exchange.
#[tokio::test]
async fn a_cancellation_in_a_separate_exchange_violates_only_a_rule_of_http() {
    let findings = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&findings);
    let note = move |finding: &Finding| sink.lock().unwrap().push(finding.message.clone());
    let validation = Validation::enforce().on_finding(note);
    let to = serve_http(&server(validation, &Seen::default())).await;
    let headers = [("mcp-protocol-version", "2026-07-28".to_owned())];
    let text = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#;
    let reply = within(post(to, &headers, text)).await;
    assert_eq!(reply.status, 202, "{reply:?}");
    assert_eq!(*findings.lock().unwrap(), ["the client sends `notifications/cancelled` over HTTP"]);
}

#[tokio::test]
async fn a_call_without_a_response_times_out_and_is_cancelled() {
    for revision in [Revision::LATEST_LEGACY, Revision::LATEST] {
        let (client, seen) = client(revision).await;
        let options = CallOptions::new().timeout(Duration::from_millis(20));
        let error = within(client.call_tool_with("never", json!({}), &options)).await.unwrap_err();
        let timed_out = |error: &ClientError| {
            matches!(error, ClientError::Call { cause: PeerError::TimedOut { .. }, .. })
        };
        assert!(timed_out(&error), "{error}");
        reaches(&seen.dropped, 1).await;
    }
}

#[tokio::test]
async fn dropping_thousands_of_calls_cancels_all_of_them() {
    const COUNT: usize = 5_000;
    let (client, seen) = client(Revision::LATEST).await;
    let calls: Vec<_> = (0..COUNT)
        .map(|_| {
            let client = client.clone();
            tokio::spawn(async move { client.call_tool("never", json!({})).await })
        })
        .collect();
    reaches(&seen.started, COUNT).await;
    calls.iter().for_each(tokio::task::JoinHandle::abort);
    reaches(&seen.dropped, COUNT).await;
}

#[tokio::test]
async fn closing_a_client_fails_its_calls_and_disconnects() {
    for revision in [Revision::LATEST_LEGACY, Revision::LATEST] {
        for (client, seen) in [client(revision).await, http_client(revision).await] {
            let calling = client.clone();
            let call = tokio::spawn(async move { calling.call_tool("never", json!({})).await });
            reaches(&seen.started, 1).await;
            within(client.close()).await;
            assert!(within(call).await.unwrap().is_err());
            assert!(within(client.call_tool("echo", json!({ "text": "x" }))).await.is_err());
            if revision.era() == Era::Modern {
                reaches(&seen.dropped, 1).await;
            }
        }
    }
}

#[tokio::test]
async fn a_child_with_an_endless_call_can_be_closed() {
    let client = Client::builder("client", "1");
    let client = within(client.connect_child(&child(Checks::Enforce))).await.unwrap();
    let calling = client.clone();
    let call = tokio::spawn(async move { calling.call_tool("never", json!({})).await });
    tokio::task::yield_now().await;
    within(client.close()).await;
    assert!(within(call).await.unwrap().is_err());
}
