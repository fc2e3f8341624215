//! Servers whose messages arrive distorted: our server, and an interfering proxy.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use mcp_sdk::{
    CallOptions, Client, Severity, Validation,
    core::{
        CompleteRequest, CompletionReference, Content, CreateMessageResult, ElicitResult, Inbound,
        LogLevel, Outbound, OutboundRole, Revision, Root, Side, Transport as _,
    },
    transport::memory::{self, MemoryTransport},
};
use proptest::prelude::*;
use serde_json::{Value, json};
use tokio::sync::Mutex;

use super::{Record, UNDECIDED, is_faultless, script::Slip, server};

async fn forward(to: &MemoryTransport, bytes: Vec<u8>) {
    let role = OutboundRole::Request;
    // The receiver may have disconnected.
    let _ = to
        .send(Outbound { bytes: bytes.into(), role, ticket: None, headers: None, parsed: None })
        .await;
}

/// Messages that a server has no reason to send.
fn uncalled_for() -> Vec<Value> {
    vec![
        json!({ "jsonrpc": "2.0", "id": 900, "method": "ping" }),
        json!({ "jsonrpc": "2.0", "id": 901, "method": "roots/list" }),
        json!({ "jsonrpc": "2.0", "id": "902", "method": "no/such/method", "params": {} }),
        json!({ "jsonrpc": "2.0", "id": 903, "method": "elicitation/create", "params": {
            "message": "Who?", "requestedSchema": { "type": "object", "properties": {} } } }),
        json!({ "jsonrpc": "2.0", "id": 904, "method": "elicitation/create", "params": {} }),
        json!({ "jsonrpc": "2.0", "id": 905, "method": "sampling/createMessage", "params": {
            "messages": [], "maxTokens": 1 } }),
        json!({ "jsonrpc": "2.0", "id": null, "method": "ping" }),
        json!({ "jsonrpc": "2.0", "id": 0.5, "method": "ping" }),
        json!({ "jsonrpc": "2.0", "id": 1, "result": {} }),
        json!({ "jsonrpc": "2.0", "id": 999, "result": {} }),
        json!({ "jsonrpc": "2.0", "error": { "code": -32700, "message": "what?" } }),
        json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" }),
        json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": {
            "progressToken": 1, "progress": 0 } }),
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": {
            "requestId": 1 } }),
        json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": 7 }),
        json!([]),
        json!([{ "jsonrpc": "2.0", "id": 906, "method": "ping" }]),
        json!("a line for the log"),
    ]
}

/// Slips from this number on insert something before a message.
const INTRUDES: u8 = 238;

/// The message as it arrives.
fn distorted(slip: Slip, mut message: Value) -> Vec<Value> {
    let part = if message.get("result").is_some() { "result" } else { "params" };
    match slip.kind {
        0..150 => {}
        150..190 => slip.distort(&mut message[part]),
        190..205 => slip.impair(&mut message[part]),
        205..215 => return Vec::new(),
        215..225 => return vec![message.clone(), message],
        225..232 => message[part] = slip.odd_value(),
        232..INTRUDES => slip.distort(&mut message),
        INTRUDES.. => return vec![slip.choice(&uncalled_for()), message],
    }
    vec![message]
}

/// Relays between client and server until the client disconnects.
async fn interfere(
    client: MemoryTransport,
    server: MemoryTransport,
    slips: Vec<Slip>,
    record: Arc<Mutex<Record>>,
    connected: Arc<AtomicBool>,
) {
    // A client that gets a request before it knows the era cannot know whether it may respond.
    let is_fair = |slip: &Slip| slip.kind < INTRUDES || connected.load(Ordering::Relaxed);
    let mut slips = slips.into_iter();
    loop {
        tokio::select! {
            biased;
            received = server.receive() => {
                let Ok(Some(Inbound::Message { bytes, .. })) = received else { break };
                let message = serde_json::from_slice(&bytes).unwrap();
                let slip = slips.next().filter(is_fair).unwrap_or_default();
                for message in distorted(slip, message) {
                    let bytes = message.to_string().into_bytes();
                    record.lock().await.push((Side::Server, bytes.clone()));
                    forward(&client, bytes).await;
                }
            }
            received = client.receive() => {
                let Ok(Some(Inbound::Message { bytes, .. })) = received else { break };
                record.lock().await.push((Side::Client, bytes.to_vec()));
                forward(&server, bytes.to_vec()).await;
            }
        }
    }
    server.close().await;
}

/// Uses the server as `wish` says, and ignores the outcome.
async fn make_use(client: &Client, wish: u8) {
    match wish % 12 {
        0 => drop(client.all_tools().await),
        1 => drop(client.call_tool("sum", json!({ "numbers": [1, 2] })).await),
        2 => {
            let options = CallOptions::new().on_progress(|_| {});
            drop(client.call_tool_with("work", json!({}), &options).await);
        }
        3 => drop(client.call_tool("ask", json!({})).await),
        4 => drop(client.list_prompts(None).await),
        5 => {
            let arguments = BTreeMap::from([("name".to_owned(), "Ada".to_owned())]);
            drop(client.get_prompt("greet", &arguments).await);
        }
        6 => drop(client.list_resources(None).await),
        7 => drop(client.read_resource("test://one").await),
        8 => drop(client.subscribe(&["test://one"]).await),
        9 => {
            let prompt = CompletionReference::Prompt { name: "greet".to_owned() };
            drop(client.complete(&CompleteRequest::new(prompt, "name", "A")).await);
        }
        10 => drop(client.set_log_level(LogLevel::Debug).await),
        _ => drop(client.ping().await),
    }
}

async fn converse(revision: Option<Revision>, slips: Vec<Slip>, wishes: Vec<u8>) -> Record {
    let (client_end, near) = memory::pair(64);
    let (far, server_end) = memory::pair(64);
    let server = server(Validation::enforce());
    tokio::spawn(async move { server.serve(server_end).await });
    let record = Arc::<Mutex<Record>>::default();
    let is_connected = Arc::<AtomicBool>::default();
    let between =
        tokio::spawn(interfere(near, far, slips, Arc::clone(&record), Arc::clone(&is_connected)));
    let mut builder = Client::builder("test", "1.0.0")
        .validation(Validation::enforce().on_finding(|_| {}))
        .on_elicitation(async |_| {
            Ok(ElicitResult::accept(json!({ "name": "Ada" }).as_object().unwrap().clone()))
        })
        .on_sampling(async |_| Ok(CreateMessageResult::new("model", Content::text("Hi"))))
        .roots([Root::new("file:///home")]);
    if let Some(revision) = revision {
        builder = builder.revision(revision);
    }
    // Two hours of paused time: nothing may wait forever.
    let patience = Duration::from_secs(2 * 60 * 60);
    let connected = tokio::time::timeout(patience, builder.connect(client_end)).await;
    if let Ok(client) = connected.expect("connecting ends") {
        is_connected.store(true, Ordering::Relaxed);
        for pair in wishes.chunks(2) {
            let uses = pair.iter().map(|wish| make_use(&client, *wish));
            let all = futures_util::future::join_all(uses);
            tokio::time::timeout(patience, all).await.expect("every call ends");
        }
        tokio::time::timeout(patience, client.close()).await.expect("closing ends");
        drop(client);
    }
    tokio::time::timeout(patience, between).await.expect("the client disconnects").unwrap();
    Arc::into_inner(record).unwrap().into_inner()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn an_enforcing_client_is_never_at_fault_and_every_call_ends(
        revision in prop::option::of(prop::sample::select(Revision::ALL.to_vec())),
        slips in prop::collection::vec(Slip::any(), 0..12),
        wishes in prop::collection::vec(any::<u8>(), 0..8),
    ) {
        let record = super::play(converse(revision, slips, wishes));
        // Warnings are about requests that the user of the client makes although the server did not
        // appear to support them.
        is_faultless(Side::Client, Severity::Error, &record, &UNDECIDED)?;
    }
}
