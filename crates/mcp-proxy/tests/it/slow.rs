//! Peers that are silent or do not read: nobody else is held up by them.

use std::{net::SocketAddr, time::Duration};

use mcp_proxy::{Policy, ProxiedServerSettings};
use serde_json::Value;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};

use crate::support::{Proxy, json_response, parts, post, raw_client};

fn ping(id: usize) -> Vec<u8> {
    post(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#), "")
}

fn pong(id: usize) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_accepts_and_says_nothing_is_given_up_on() {
    // Its connections are established, but nobody reads from them.
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut settings = ProxiedServerSettings::default();
    settings.answer_timeout = Duration::from_millis(200);
    for policy in [Policy::observe(), Policy::enforce()] {
        let proxy = Proxy::with(silent.local_addr().unwrap(), policy, &settings).await;
        let (status, text) = parts(&raw_client(proxy.address, &ping(1)).await);
        let answer: Value = serde_json::from_str(&text).unwrap();
        assert_eq!((status, &answer["id"]), (504, &1.into()), "{text}");
        assert_eq!(answer["error"]["code"], -32603, "{text}");
        proxy.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_does_not_read_holds_up_nobody() {
    let server = endless_server().await;
    for policy in [Policy::observe(), Policy::enforce()] {
        let proxy = Proxy::start(server, policy).await;
        let mut unread = Vec::new();
        for id in 100..108 {
            let mut client = TcpStream::connect(proxy.address).await.unwrap();
            let call = format!(
                r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"x"}}}}"#
            );
            client.write_all(&post(&call, "")).await.unwrap();
            client.readable().await.unwrap();
            unread.push(client);
        }
        for id in 0..20 {
            let answer = parts(&raw_client(proxy.address, &ping(id)).await);
            assert_eq!(answer, (200, pong(id)));
        }
        drop(unread);
        proxy.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_sends_slowly_holds_up_nobody() {
    let server = endless_server().await;
    for policy in [Policy::observe(), Policy::enforce()] {
        let proxy = Proxy::start(server, policy).await;
        let mut slow = Vec::new();
        for id in 100..108 {
            let mut client = TcpStream::connect(proxy.address).await.unwrap();
            let request = ping(id);
            client.write_all(&request[..request.len() - 1]).await.unwrap();
            slow.push((id, client));
        }
        for id in 0..20 {
            let answer = parts(&raw_client(proxy.address, &ping(id)).await);
            assert_eq!(answer, (200, pong(id)));
        }
        // In the end they are served as well.
        for (id, client) in &mut slow {
            client.write_all(b"}").await.unwrap();
            let mut answer = Vec::new();
            client.read_to_end(&mut answer).await.unwrap();
            assert_eq!(parts(&answer), (200, pong(*id)));
        }
        proxy.stop().await;
    }
}

/// Answers a ping, and everything else with a stream of events that never ends.
async fn endless_server() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            tokio::spawn(serve(stream));
        }
    });
    address
}

async fn serve(mut stream: TcpStream) {
    let (mut text, mut part) = (String::new(), vec![0; 1 << 16]);
    while !text.contains("ping\"}") && !text.contains("\"x\"}}") {
        match stream.read(&mut part).await {
            Ok(count @ 1..) => text.push_str(std::str::from_utf8(&part[..count]).unwrap()),
            _ => return,
        }
    }
    if let Some((before, _)) = text.split_once(",\"method\":\"ping") {
        let (_, id) = before.rsplit_once(':').unwrap();
        let answer = json_response("", &pong(id.parse().unwrap()));
        stream.write_all(answer.as_bytes()).await.unwrap();
        return;
    }
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
    let comment = format!(": {}\n\n", "x".repeat(1 << 15));
    let mut written = stream.write_all(head.as_bytes()).await;
    while written.is_ok() {
        written = stream.write_all(comment.as_bytes()).await;
    }
}
