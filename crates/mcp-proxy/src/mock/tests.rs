//! A script, played over a channel.

use std::{sync::Arc, time::Duration};

use mcp_core::{Inbound, Outbound, OutboundRole, Transport};
use mcp_rules::{Limits, LineReader};
use mcp_transport::{MemoryTransport, memory};
use serde_json::{Value, json};

use super::*;

fn script(lines: &[Value], limit: usize) -> Result<Script, ScriptError> {
    let mut builder = ScriptBuilder::new(limit);
    let mut reader = LineReader::new(&Limits::default());
    for line in lines {
        reader.read(line.to_string().as_bytes(), |line| builder.add(line))?;
    }
    builder.finish()
}

#[expect(clippy::needless_pass_by_value, reason = "calls are shorter")]
fn client(message: Value) -> Value {
    json!({ "from": "client", "msg": message })
}

#[expect(clippy::needless_pass_by_value, reason = "calls are shorter")]
fn server(message: Value) -> Value {
    json!({ "from": "server", "msg": message })
}

fn call(id: u32, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
}

fn result(id: u32, text: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "result": { "text": text } })
}

/// A client of a script.
struct Client {
    transport: MemoryTransport,
    played: tokio::task::JoinHandle<Result<(), mcp_core::TransportError>>,
}

impl Client {
    fn of(lines: &[Value]) -> Client {
        Client::patient(lines, Duration::from_secs(600))
    }

    fn patient(lines: &[Value], patience: Duration) -> Client {
        let playback = Playback::new(Arc::new(script(lines, 2 << 20).unwrap()));
        Client::playing(Arc::new(playback), patience)
    }

    fn playing(playback: Arc<Playback>, patience: Duration) -> Client {
        let (transport, other) = memory::pair(16);
        let played = tokio::spawn(converse(Arc::new(other), playback, patience));
        Client { transport, played }
    }

    async fn send(&self, message: &Value) {
        let role = OutboundRole::Notification;
        let bytes = message.to_string().into();
        let outbound = Outbound { bytes, role, ticket: None, headers: None, parsed: None };
        self.transport.send(outbound).await.unwrap();
    }

    async fn receive(&self) -> Value {
        match self.transport.receive().await.unwrap() {
            Some(Inbound::Message { bytes, .. }) => serde_json::from_slice(&bytes).unwrap(),
            other => panic!("{other:?}"),
        }
    }

    async fn ask(&self, message: Value) -> Value {
        self.send(&message).await;
        self.receive().await
    }

    async fn error(&self, message: Value) -> String {
        let answer = self.ask(message).await;
        assert_eq!(answer["error"]["code"], -32603, "{answer}");
        answer["error"]["message"].as_str().unwrap().to_owned()
    }

    async fn leave(self) {
        self.transport.close().await;
        self.played.await.unwrap().unwrap();
    }
}

#[tokio::test]
async fn equal_requests_get_the_recorded_answers_in_their_order() {
    let params = json!({ "name": "x", "arguments": { "a": 1, "b": [2] } });
    // The second was answered first.
    let client = Client::of(&[
        client(call(1, &params)),
        client(call(2, &params)),
        server(result(2, "second")),
        server(result(1, "first")),
    ]);
    let same = json!({ "arguments": { "b": [2], "a": 1.0 }, "name": "x", "_meta": { "progressToken": 9 } });
    for (id, expected) in [(7, "first"), (8, "second"), (9, "second")] {
        assert_eq!(client.ask(call(id, &same)).await, result(id, expected));
    }
    client.leave().await;
}

#[tokio::test]
async fn what_was_never_recorded_is_an_error_that_names_the_nearest() {
    let client = Client::of(&[
        client(call(1, &json!({ "name": "y", "arguments": {} }))),
        server(result(1, "y")),
        client(call(2, &json!({ "name": "x", "arguments": { "a": 1 } }))),
        server(result(2, "x")),
        client(json!({ "jsonrpc": "2.0", "id": 3, "method": "ping" })),
    ]);
    let error = client.error(call(1, &json!({ "name": "x", "arguments": { "a": 2 } }))).await;
    assert!(error.contains("no `tools/call` with these params"), "{error}");
    assert!(error.contains(r#""arguments":{"a":1}"#), "{error}");
    let error = client.error(json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" })).await;
    assert_eq!(error, "the recording has no `tools/list`, only tools/call");
    let error = client.error(json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" })).await;
    assert_eq!(error, "the recording has this `ping`, but no answer to it");
    client.leave().await;
}

#[tokio::test]
async fn any_client_may_initialize() {
    let initialize = |id: u32, version: &str, name: &str| {
        let params = json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": { "name": name } });
        json!({ "jsonrpc": "2.0", "id": id, "method": "initialize", "params": params })
    };
    let client = Client::of(&[
        client(initialize(1, "2025-06-18", "a")),
        server(result(1, "older")),
        client(initialize(2, "2025-11-25", "a")),
        server(result(2, "newer")),
    ]);
    assert_eq!(client.ask(initialize(5, "2025-11-25", "b")).await, result(5, "newer"));
    assert_eq!(client.ask(initialize(6, "2024-11-05", "c")).await, result(6, "older"));
    client.leave().await;
}

#[tokio::test]
async fn progress_has_the_token_of_the_new_request() {
    let progress = |token: &Value| json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": { "progressToken": token, "progress": 1 } });
    let log =
        json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": { "data": 1 } });
    let with_token = |token: &Value| json!({ "name": "x", "_meta": { "progressToken": token } });
    let client = Client::of(&[
        client(call(1, &with_token(&json!("old")))),
        server(log.clone()),
        server(progress(&json!("old"))),
        server(result(1, "done")),
    ]);
    let token = json!("a longer one");
    client.send(&call(2, &with_token(&token))).await;
    assert_eq!(client.receive().await, log);
    assert_eq!(client.receive().await, progress(&token));
    assert_eq!(client.receive().await, result(2, "done"));
    // Nobody may report progress to a client that did not ask for it.
    client.send(&call(3, &json!({ "name": "x" }))).await;
    assert_eq!(client.receive().await, log);
    assert_eq!(client.receive().await, result(3, "done"));
    client.leave().await;
}

fn with_server_request() -> [Value; 4] {
    let roots = json!({ "jsonrpc": "2.0", "id": "r-1", "method": "roots/list" });
    [
        client(call(1, &json!({ "name": "x" }))),
        server(roots),
        client(json!({ "jsonrpc": "2.0", "id": "r-1", "result": { "roots": [] } })),
        server(result(1, "done")),
    ]
}

#[tokio::test]
async fn the_answer_waits_for_what_the_client_was_asked() {
    let client = Client::of(&with_server_request());
    let asked = client.ask(call(4, &json!({ "name": "x" }))).await;
    assert_eq!(asked["method"], "roots/list");
    // Others do not have to wait.
    let other = client.ask(call(5, &json!({ "name": "y" }))).await;
    assert_eq!(other["id"], 5);
    let answer = json!({ "jsonrpc": "2.0", "id": asked["id"], "result": { "roots": [] } });
    assert_eq!(client.ask(answer).await, result(4, "done"));
    client.leave().await;
}

#[tokio::test]
async fn a_client_that_does_not_answer_gets_an_error() {
    let client = Client::patient(&with_server_request(), Duration::ZERO);
    client.ask(call(4, &json!({ "name": "x" }))).await;
    let error = client.receive().await;
    assert_eq!(error["id"], 4);
    assert_eq!(error["error"]["message"], "the client has not answered `roots/list`");
    client.leave().await;
}

#[tokio::test]
async fn a_batch_is_answered_with_a_batch() {
    let client = Client::of(&[
        client(json!([call(1, &json!({ "n": 1 })), call(2, &json!({ "n": 2 }))])),
        server(json!([result(2, "two"), result(1, "one")])),
    ]);
    let batch = json!([call(8, &json!({ "n": 2 })), call(9, &json!({ "n": 1 }))]);
    assert_eq!(client.ask(batch).await, json!([result(8, "two"), result(9, "one")]));
    assert_eq!(client.ask(call(3, &json!({ "n": 1 }))).await, result(3, "one"));
    assert_eq!(client.ask(json!([])).await["error"]["code"], -32600);
    client.leave().await;
}

#[tokio::test]
async fn clients_of_http_may_use_the_same_ids() {
    let on = |exchange: u32, mut line: Value| {
        line["http"] = json!({ "exchange": exchange });
        line
    };
    let client = Client::of(&[
        on(1, client(call(1, &json!({ "n": 1 })))),
        on(2, client(call(1, &json!({ "n": 2 })))),
        on(1, server(result(1, "one"))),
        on(2, server(result(1, "two"))),
    ]);
    assert_eq!(client.ask(call(1, &json!({ "n": 1 }))).await, result(1, "one"));
    assert_eq!(client.ask(call(1, &json!({ "n": 2 }))).await, result(1, "two"));
    client.leave().await;
}

#[test]
fn only_so_much_is_kept() {
    let lines = [client(call(1, &json!({}))), server(result(1, &"x".repeat(10_000)))];
    assert_eq!(script(&lines, 10_000).unwrap_err(), ScriptError::TooLarge { limit: 10_000 });
    assert_eq!(script(&lines, 12_000).unwrap().answers(), 1);
}

#[test]
fn a_recording_without_answers_cannot_be_served() {
    assert_eq!(script(&[], 100).unwrap_err(), ScriptError::Empty);
    let bare = [call(1, &json!({})), result(1, "x")];
    assert_eq!(script(&bare, 100).unwrap_err(), ScriptError::SendersUnknown);
}

#[tokio::test]
async fn the_answers_to_a_batch_are_limited() {
    let long = "x".repeat(600 << 10);
    let client = Client::of(&[client(call(1, &json!({}))), server(result(1, &long))]);
    let batch = |count: u32| (1..=count).map(|id| call(id, &json!({}))).collect::<Value>();
    let answers = client.ask(batch(50)).await;
    assert_eq!(answers.as_array().unwrap().len(), 50);
    let refused = client.ask(batch(80)).await;
    let message = "the answers to the batch are too long";
    assert_eq!(refused[0]["error"]["message"], message, "{} bytes", refused.to_string().len());
    client.leave().await;
}

/// Lets everything run that can.
async fn settle() {
    for _ in 0..10_000 {
        tokio::task::yield_now().await;
    }
}

const LONG: usize = 1 << 20;

fn long_answer() -> Arc<Script> {
    let lines = [client(call(1, &json!({}))), server(result(1, &"x".repeat(LONG)))];
    Arc::new(script(&lines, 2 * LONG).unwrap())
}

#[tokio::test]
async fn only_so_much_waits_for_a_client_that_does_not_read() {
    let playback = Arc::new(Playback::new(long_answer()));
    let client = Client::playing(Arc::clone(&playback), Duration::from_secs(600));
    for id in 0..100 {
        client.send(&call(id, &json!({}))).await;
    }
    settle().await;
    let waiting = playback.waiting().used();
    assert!(
        waiting <= client_budget::PER_CLIENT + LONG && waiting > client_budget::PER_CLIENT / 2,
        "{waiting}"
    );
    // Nothing is lost.
    let mut answered = std::collections::BTreeSet::new();
    for _ in 0..100 {
        let answer = client.receive().await;
        assert_eq!(answer["result"]["text"].as_str().unwrap().len(), LONG);
        answered.insert(answer["id"].as_u64().unwrap());
    }
    assert_eq!(answered.len(), 100);
    client.leave().await;
    assert_eq!(playback.waiting().used(), 0);
}

#[tokio::test]
async fn clients_that_do_not_read_leave_room_for_small_answers_to_others() {
    let ping = || json!({ "jsonrpc": "2.0", "id": 9, "method": "ping" });
    let lines = [
        client(call(1, &json!({}))),
        server(result(1, &"x".repeat(LONG))),
        client(ping()),
        server(result(9, "pong")),
    ];
    let budget = mcp_core::MemoryBudget::new(8 * LONG);
    let first = Playback::within(budget, Arc::new(script(&lines, 2 * LONG).unwrap()));
    let other = Client::playing(Arc::new(first.afresh()), Duration::from_secs(600));
    let deaf = Client::playing(Arc::new(first), Duration::from_secs(600));
    for id in 0..30 {
        deaf.send(&call(id, &json!({}))).await;
    }
    settle().await;
    let error = other.error(call(5, &json!({}))).await;
    assert_eq!(error, "too many answers wait for clients that do not read them");
    assert_eq!(other.ask(ping()).await, result(9, "pong"));
    drop(deaf.transport);
    let _ = deaf.played.await.unwrap();
    assert_eq!(other.ask(call(5, &json!({}))).await["id"], 5);
    other.leave().await;
}

#[tokio::test]
async fn what_is_kept_of_requests_is_limited() {
    let client = Client::of(&with_server_request());
    let mut long = call(1, &json!({ "name": "x" }));
    long["id"] = "x".repeat(5000).into();
    assert_eq!(client.ask(long).await["error"]["code"], -32600);
    let batch: Value = (0..1001).map(|id| call(id, &json!({}))).collect();
    assert_eq!(client.ask(batch).await["error"]["code"], -32600);
    // These wait for the client, which is asked something for each and answers nothing.
    let batch = |id: &str| -> Value {
        let entry = |mut call: Value| {
            call["id"] = id.repeat(4000).into();
            call
        };
        (0..1000).map(|_| entry(call(0, &json!({ "name": "x" })))).collect()
    };
    let mut refused = 0;
    for id in ["a", "b", "c", "d", "e", "f"] {
        let answer = client.ask(batch(id)).await;
        refused += usize::from(answer["error"]["message"] == "too many requests at once");
    }
    assert_eq!(refused, 2, "each takes 4 MB");
    drop(client.transport);
    let _ = client.played.await.unwrap();
}

#[tokio::test]
async fn a_cancelled_request_is_not_answered() {
    let client = Client::of(&with_server_request());
    let asked = client.ask(call(4, &json!({ "name": "x" }))).await;
    let params = json!({ "requestId": 4 });
    let cancelled = "notifications/cancelled";
    client.send(&json!({ "jsonrpc": "2.0", "method": cancelled, "params": params })).await;
    client.send(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": {} })).await;
    assert_eq!(client.ask(call(5, &json!({ "name": "y" }))).await["id"], 5);
    client.leave().await;
}

#[tokio::test]
async fn a_subscription_that_was_never_answered_stays_open() {
    let listen = |id: &Value| json!({ "jsonrpc": "2.0", "id": id, "method": "subscriptions/listen", "params": {} });
    let changed = |id: &Value| {
        let meta = json!({ "io.modelcontextprotocol/subscriptionId": id });
        json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed", "params": { "_meta": meta } })
    };
    let client = Client::of(&[client(listen(&json!(1))), server(changed(&json!(1)))]);
    assert_eq!(client.ask(listen(&json!("mine"))).await, changed(&json!("mine")));
    client.leave().await;
}
