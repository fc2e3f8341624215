//! Compressed bodies pass as they are and are judged by their text.

use std::io::Write as _;

use flate2::{Compression, write::GzEncoder};
use mcp_proxy::{Policy, ProxiedServerSettings};
use tokio::task::JoinHandle;

use crate::support::{Outcome, Proxy, raw_client, raw_server};

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

fn message(head: &str, body: &[u8]) -> Vec<u8> {
    let length = format!("Content-Encoding: gzip\r\nContent-Length: {}\r\n\r\n", body.len());
    [head.as_bytes(), length.as_bytes(), body].concat()
}

const REQUEST: &str = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
    Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n";
const RESPONSE: &str = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n";

struct Exchanged {
    status: String,
    answer: Vec<u8>,
    got: JoinHandle<Vec<u8>>,
    outcome: Outcome,
}

/// Passes a request and a response.
async fn exchange(request: &[u8], response: Vec<u8>, policy: Policy) -> Exchanged {
    let (upstream, got) = raw_server(request.len() - 30, response).await;
    let mut settings = ProxiedServerSettings::default();
    settings.max_message = 10_000;
    let proxy = Proxy::with(upstream, policy, &settings).await;
    let answer = raw_client(proxy.address, request).await;
    let outcome = proxy.stop().await;
    let status = String::from_utf8_lossy(&answer[9..12]).into_owned();
    Exchanged { status, answer, got, outcome }
}

#[tokio::test(flavor = "multi_thread")]
async fn bodies_are_judged_and_recorded_by_their_text() {
    let ping = gzip(br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
    let wrong = gzip(br#"{"jsonrpc":"2.0","id":1,"result":7}"#);
    let request = message(REQUEST, &ping);
    let passed = exchange(&request, message(RESPONSE, &wrong), Policy::observe()).await;
    assert!(passed.answer.ends_with(&wrong), "the body was changed");
    assert!(passed.got.await.unwrap().ends_with(&ping), "the body was changed");
    let Outcome { record, live, .. } = &passed.outcome;
    assert!(record.contains(r#""method":"ping""#) && record.contains("gzip"), "{record}");
    assert_eq!(live.len(), 1, "{live:?}");
    assert!(live[0].contains("result-not-object"), "{live:?}");
    passed.outcome.assert_same();
    // The same is held back.
    let held = exchange(&request, message(RESPONSE, &wrong), Policy::enforce()).await;
    assert!(String::from_utf8_lossy(&held.answer).contains("-32603"));
    held.outcome.assert_same();
    let bad = message(REQUEST, &gzip(br#"{"jsonrpc":"2.0","id":1,"method":7}"#));
    let held = exchange(&bad, message(RESPONSE, &wrong), Policy::enforce()).await;
    assert_eq!(held.status, "400");
    assert!(!held.got.is_finished());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_too_long_when_decoded_is_not_judged() {
    let bomb = gzip(&vec![b' '; 1 << 20]);
    let answer = gzip(br#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    let request = message(REQUEST, &bomb);
    let passed = exchange(&request, message(RESPONSE, &answer), Policy::observe()).await;
    assert!(passed.got.await.unwrap().ends_with(&bomb), "the body was changed");
    assert!(passed.outcome.record.len() < 10_000, "{}", passed.outcome.record);
    passed.outcome.assert_same();
    let held = exchange(&request, message(RESPONSE, &answer), Policy::enforce()).await;
    assert_eq!(held.status, "413");
    assert!(!held.got.is_finished());
    held.outcome.assert_same();
    let ping = message(REQUEST, &gzip(br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#));
    let held = exchange(&ping, message(RESPONSE, &bomb), Policy::enforce()).await;
    assert_eq!(held.status, "502");
    held.outcome.assert_same();
}

#[tokio::test(flavor = "multi_thread")]
async fn events_of_a_compressed_stream_are_judged() {
    let events = gzip(b"data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":7}\n\n");
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n";
    let ping = message(REQUEST, &gzip(br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#));
    let passed = exchange(&ping, message(head, &events), Policy::observe()).await;
    assert!(passed.answer.ends_with(&events), "the stream was changed");
    let live = &passed.outcome.live;
    assert!(live.iter().any(|found| found.contains("result-not-object")), "{live:?}");
    passed.outcome.assert_same();
    // Broken ones pass all the same.
    let passed = exchange(&ping, message(head, b"no gzip"), Policy::observe()).await;
    assert!(passed.answer.ends_with(b"no gzip"), "the stream was changed");
    let refused = exchange(&ping, message(head, &events), Policy::enforce()).await;
    assert_eq!(refused.status, "502");
}
