//! High load, and peers that stop in the middle of it.

use std::{sync::Arc, time::Duration};

use mcp_sdk::{
    Client, Validation,
    core::{Outbound, OutboundRole, Revision, Transport},
    transport::{ChildCommand, LineSettings, LineTransport, memory},
};
use serde_json::json;

use super::{
    server::{Seen, server},
    wire::{Checks, Kind, Wire, child, http_server},
    within,
};

/// Fewer over connections, which use file descriptors.
fn crowd(kind: Kind) -> usize {
    match kind {
        Kind::Memory | Kind::Child | Kind::WebSocket => 10_000,
        Kind::HttpSession | Kind::HttpStateless => 1_000,
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ten_thousand_requests_are_in_flight_and_all_are_answered() {
    for kind in Kind::ALL {
        for checks in Checks::ALL {
            let answered = tokio::time::timeout(Duration::from_secs(60), async {
                let count = crowd(kind);
                let mut wire = Wire::open(kind, checks).await;
                for id in 0..count {
                    wire.send(&wire.call(id, "together", json!({ "count": count }))).await;
                }
                let mut missing: std::collections::HashSet<_> = (0..count).collect();
                while !missing.is_empty() {
                    let answer = wire.next().await;
                    let text = &answer["result"]["content"][0]["text"];
                    assert_eq!(text, "together", "{kind:?} {checks:?}: {answer}");
                    let id = usize::try_from(answer["id"].as_u64().unwrap()).unwrap();
                    assert!(missing.remove(&id), "{id} was answered twice");
                }
            });
            assert!(answered.await.is_ok(), "{kind:?} {checks:?}: answers are missing");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn our_clients_get_all_their_responses() {
    let seen = Seen::default();
    let address = http_server(Checks::Enforce, &seen).await;
    let url = format!("http://{address}/mcp");
    for revision in [Revision::LATEST_LEGACY, Revision::LATEST] {
        let builder = || Client::builder("client", "1").revision(revision);
        let (near, far) = memory::pair(16);
        let server = server(Validation::enforce(), &seen);
        tokio::spawn(async move { server.serve(far).await });
        for (count, client) in [
            (2_000, builder().connect(near).await.unwrap()),
            (2_000, builder().connect_child(&child(Checks::Enforce)).await.unwrap()),
            (500, builder().connect_http(&url).await.unwrap()),
        ] {
            let calls: Vec<_> = (0..count)
                .map(|number| {
                    let (client, text) = (client.clone(), number.to_string());
                    tokio::spawn(async move {
                        let result =
                            client.call_tool("echo", json!({ "text": text })).await.unwrap();
                        assert_eq!(result.all_text(), text);
                    })
                })
                .collect();
            for call in calls {
                within(call).await.unwrap();
            }
            within(client.close()).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flood_of_garbage_is_answered_completely() {
    for kind in [Kind::Memory, Kind::Child, Kind::WebSocket] {
        for checks in Checks::ALL {
            within(async {
                let mut wire = Wire::open(kind, checks).await;
                for _ in 0..5_000 {
                    wire.send("garbage").await;
                }
                for _ in 0..5_000 {
                    assert_eq!(wire.next().await["error"]["code"], -32700);
                }
                wire.still_works().await;
            })
            .await;
        }
    }
}

/// A client that does not read is disconnected, and the server's task ends.
#[tokio::test]
async fn a_client_that_never_reads_does_not_hold_the_server() {
    let (near, far) = tokio::io::duplex(4096);
    let (input, output) = tokio::io::split(far);
    let mut settings = LineSettings::default();
    settings.stall_timeout = Duration::from_millis(100);
    let transport = LineTransport::new(input, output, &settings);
    let serving = tokio::spawn({
        let server = server(Validation::enforce(), &Seen::default());
        async move { server.serve(transport).await }
    });
    let (_unread, mut writing) = tokio::io::split(near);
    let flood = async {
        let line = format!("{}\n", "x".repeat(100));
        while tokio::io::AsyncWriteExt::write_all(&mut writing, line.as_bytes()).await.is_ok() {}
        std::future::pending::<()>().await;
    };
    let ended = within(async {
        tokio::select! {
            ended = serving => ended.unwrap(),
            () = flood => unreachable!(),
        }
    });
    assert!(ended.await.is_err());
}

#[tokio::test]
async fn a_client_in_memory_that_never_reads_blocks_only_itself() {
    let (near, far) = memory::pair(4);
    let server = server(Validation::enforce(), &Seen::default());
    let serving = tokio::spawn(async move { server.serve(far).await });
    let flood = async {
        loop {
            let outbound = Outbound {
                bytes: "garbage".into(),
                role: OutboundRole::Notification,
                ticket: None,
                headers: None,
                parsed: None,
            };
            near.send(outbound).await.unwrap();
        }
    };
    // At some point the server stops receiving.
    let stopped = tokio::time::timeout(Duration::from_secs(3), flood).await;
    assert!(stopped.is_err());
    near.close().await;
    within(serving).await.unwrap().ok();
}

#[tokio::test]
async fn pending_calls_fail_when_a_server_dies() {
    let script = r#"read line; echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25",
        "capabilities":{"tools":{}},"serverInfo":{"name":"mortal","version":"1"}}}' | tr -d '\n'; echo;
        i=0; while [ $i -lt 1001 ]; do read line; i=$((i+1)); done; exit 3"#;
    let command = ChildCommand::new("sh").arg("-c").arg(script);
    let builder = Client::builder("client", "1").revision(Revision::LATEST_LEGACY);
    let client = within(builder.connect_child(&command)).await.unwrap();
    let calls: Vec<_> = (0..1_000)
        .map(|_| {
            let client = client.clone();
            tokio::spawn(async move { client.call_tool("any", json!({})).await })
        })
        .collect();
    for call in calls {
        let error = within(call).await.unwrap().unwrap_err();
        assert!(error.to_string().contains("exited with status 3"), "{error}");
    }
    let error = within(client.call_tool("any", json!({}))).await.unwrap_err();
    assert!(error.to_string().contains("over"), "{error}");
}

#[tokio::test]
async fn pending_calls_fail_when_the_task_of_a_server_is_dropped() {
    let seen = Seen::default();
    let (near, far) = memory::pair(16);
    let served = server(Validation::enforce(), &seen);
    let serving = tokio::spawn(async move { served.serve(far).await });
    let client = Client::builder("client", "1").connect(near).await.unwrap();
    let calls: Vec<_> = (0..1_000)
        .map(|_| {
            let client = client.clone();
            tokio::spawn(async move { client.call_tool("never", json!({})).await })
        })
        .collect();
    within(seen.started.subscribe().wait_for(|count| *count == 1_000)).await.unwrap();
    serving.abort();
    for call in calls {
        assert!(within(call).await.unwrap().is_err());
    }
    reaches_all(&seen).await;
}

async fn reaches_all(seen: &Seen) {
    let dropped = Arc::clone(&seen.dropped);
    within(dropped.subscribe().wait_for(|count| *count == 1_000)).await.unwrap();
}
