//! What happens at the limit on what is held of all messages: just below it, at it and above it.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
};

use mcp_core::MemoryBudget;
use mcp_proxy::{Policy, ProxiedServerSettings};
use serde_json::Value;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    sync::Notify,
};

use crate::support::{Proxy, json_response, parts, post, raw_client, scripted_server};

const ROOM: usize = 4000;

fn pong(id: usize) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#)
}

/// Answers pings with the ids 1 to 5.
async fn ping_server() -> (SocketAddr, Arc<Mutex<Vec<String>>>) {
    let needles = ["\"id\":1,", "\"id\":2,", "\"id\":3,", "\"id\":4,", "\"id\":5,"];
    let answers = (1..).zip(needles).map(|(id, needle)| (needle, json_response("", &pong(id))));
    scripted_server(answers.collect()).await
}

fn settings() -> ProxiedServerSettings {
    let mut settings = ProxiedServerSettings::default();
    settings.room = MemoryBudget::new(ROOM);
    settings
}

/// A ping of so many bytes.
fn ping(id: usize, length: usize) -> String {
    let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping","params":{{"#);
    format!("{text}{}}}}}", " ".repeat(length - text.len() - 2))
}

/// A client that has sent all of a request but the last so many bytes, and the proxy holds it.
async fn unfinished(proxy: &Proxy, room: &MemoryBudget, length: usize, held: usize) -> TcpStream {
    let mut client = TcpStream::connect(proxy.address).await.unwrap();
    let request = post(&ping(77, length), "");
    client.write_all(&request[..request.len() - (length - held)]).await.unwrap();
    while room.used() < held {
        tokio::task::yield_now().await;
    }
    client
}

#[tokio::test(flavor = "multi_thread")]
async fn what_finds_no_room_passes_unjudged_and_is_counted() {
    let (server, _) = ping_server().await;
    for (length, lost) in [(999, 0), (1000, 0), (1001, 1)] {
        let settings = settings();
        let proxy = Proxy::with(server, Policy::observe(), &settings).await;
        let others = unfinished(&proxy, &settings.room, 5000, ROOM - 1000).await;
        let answer = raw_client(proxy.address, &post(&ping(1, length), "")).await;
        assert_eq!(parts(&answer), (200, pong(1)), "{length}");
        proxy.settled().await;
        drop(others);
        while settings.room.used() > 0 {
            tokio::task::yield_now().await;
        }
        let outcome = proxy.stop().await;
        assert_eq!(outcome.counts.lost, lost, "{length}: {}", outcome.record);
        assert!(outcome.live.is_empty(), "nobody is to blame: {:?}", outcome.live);
        outcome.assert_same();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_finds_no_room_is_refused_under_enforcement_and_may_come_again() {
    let (server, seen) = ping_server().await;
    let settings = settings();
    let proxy = Proxy::with(server, Policy::enforce(), &settings).await;
    let others = unfinished(&proxy, &settings.room, 5000, ROOM - 1000).await;
    for (id, length) in [(1, 999), (2, 1000)] {
        let answer = raw_client(proxy.address, &post(&ping(id, length), "")).await;
        assert_eq!(parts(&answer), (200, pong(id)), "{length}");
        while settings.room.used() > ROOM - 1000 {
            tokio::task::yield_now().await;
        }
    }
    let answer = raw_client(proxy.address, &post(&ping(3, 1001), "")).await;
    let (status, text) = parts(&answer);
    let error: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((status, &error["error"]["code"]), (503, &(-32603).into()), "{text}");
    assert!(text.contains("try again"), "{text}");
    assert!(String::from_utf8_lossy(&answer).to_lowercase().contains("retry-after: 1\r\n"));
    assert_eq!(seen.lock().unwrap().len(), 2, "it has not reached the server");
    drop(others);
    while settings.room.used() > 0 {
        tokio::task::yield_now().await;
    }
    let answer = raw_client(proxy.address, &post(&ping(4, 1001), "")).await;
    assert_eq!(parts(&answer), (200, pong(4)));
    let outcome = proxy.stop().await;
    assert_eq!(outcome.counts.lost, 1);
    outcome.assert_same();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_response_without_room_is_told_to_whoever_waits_for_it() {
    let large = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"x":"{}"}}}}"#, "x".repeat(1000));
    let (server, _) = scripted_server(vec![("ping", json_response("", &large))]).await;
    let settings = settings();
    let proxy = Proxy::with(server, Policy::enforce(), &settings).await;
    let others = unfinished(&proxy, &settings.room, 5000, ROOM - 1000).await;
    let (status, text) = parts(&raw_client(proxy.address, &post(&ping(1, 60), "")).await);
    let error: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((status, &error["id"]), (503, &1.into()), "{text}");
    assert_eq!(error["error"]["code"], -32603, "{text}");
    drop(others);
    proxy.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_without_room_passes_unjudged_or_ends_its_stream() {
    for (policy, passes) in [(Policy::observe(), true), (Policy::enforce(), false)] {
        let (server, go_on) = halting_server().await;
        let settings = settings();
        let proxy = Proxy::with(server, policy, &settings).await;
        // Each stream has begun an event of which 1,500 bytes have come: there is room for two.
        let mut streams = Vec::new();
        for number in 1..=3_usize {
            let mut client = TcpStream::connect(proxy.address).await.unwrap();
            client.write_all(&post(&ping(number, 60), "")).await.unwrap();
            if number < 3 {
                while settings.room.used() < number * 1500 {
                    tokio::task::yield_now().await;
                }
            }
            streams.push(client);
        }
        if passes {
            // The third has passed as far as it has come, and is not held.
            let mut text = String::new();
            while !text.contains("xxx") {
                let mut part = vec![0; 4096];
                let count = streams[2].read(&mut part).await.unwrap();
                assert!(count > 0, "{text}");
                text.push_str(std::str::from_utf8(&part[..count]).unwrap());
            }
        } else {
            let mut text = Vec::new();
            let _ = streams[2].read_to_end(&mut text).await;
            assert!(!String::from_utf8_lossy(&text).contains("xxx"), "nothing of it may pass");
        }
        go_on.notify_waiters();
        // The third counts as lost when its event is over.
        for client in streams.iter_mut().take(if passes { 3 } else { 2 }) {
            let mut text = String::new();
            client.read_to_string(&mut text).await.unwrap();
            assert!(text.contains("\"end\""), "{text}");
        }
        while settings.room.used() > 0 {
            tokio::task::yield_now().await;
        }
        drop(streams);
        let outcome = proxy.stop().await;
        assert_eq!(outcome.counts.lost, 1, "{}", outcome.record);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_breaks_off_is_not_judged_by_half_a_message() {
    let (server, _) = ping_server().await;
    let settings = settings();
    let proxy = Proxy::with(server, Policy::observe(), &settings).await;
    drop(unfinished(&proxy, &settings.room, 2000, 1000).await);
    while settings.room.used() > 0 {
        tokio::task::yield_now().await;
    }
    let outcome = proxy.stop().await;
    assert!(outcome.live.is_empty(), "{:?}", outcome.live);
    outcome.assert_same();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_beyond_a_small_limit_on_messages_passes_whole() {
    let (server, seen) = ping_server().await;
    let mut settings = ProxiedServerSettings::default();
    settings.max_message = 100;
    let proxy = Proxy::with(server, Policy::observe(), &settings).await;
    // In several pieces, so that the limit is reached before the end.
    let mut client = TcpStream::connect(proxy.address).await.unwrap();
    let request = post(&ping(1, 20_000), "");
    let (first, rest) = request.split_at(request.len() - 10_000);
    client.write_all(first).await.unwrap();
    client.write_all(rest).await.unwrap();
    let mut answer = Vec::new();
    client.read_to_end(&mut answer).await.unwrap();
    assert_eq!(parts(&answer), (200, pong(1)));
    assert!(seen.lock().unwrap()[0].ends_with(&ping(1, 20_000)));
    proxy.stop().await;
}

/// Answers every request with an event stream: half an event, and the rest when it is told to.
async fn halting_server() -> (SocketAddr, Arc<Notify>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let go_on = Arc::new(Notify::new());
    let told = Arc::clone(&go_on);
    tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let told = Arc::clone(&told);
            tokio::spawn(async move {
                let (mut text, mut part) = (String::new(), vec![0; 1 << 16]);
                while !text.contains("ping") {
                    match stream.read(&mut part).await {
                        Ok(count @ 1..) => text.push_str(&String::from_utf8_lossy(&part[..count])),
                        _ => return,
                    }
                }
                let told = told.notified();
                tokio::pin!(told);
                told.as_mut().enable();
                let (_, id) = text.split_once("\"id\":").unwrap();
                let id = &id[..1];
                let begun = format!(r#"data: {{"jsonrpc":"2.0","id":{id},"result":{{"a":""#);
                let text = format!(
                    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n\
                     {begun}{}",
                    "x".repeat(1500 - begun.len())
                );
                let _ = stream.write_all(text.as_bytes()).await;
                told.await;
                let _ = stream.write_all(b"\",\"b\":\"end\"}}\n\n").await;
            });
        }
    });
    (address, go_on)
}
