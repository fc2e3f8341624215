//! Credentials that the proxy sends to servers.

use mcp_proxy::{
    Access, Policy, ProxiedServerSettings,
    bridge::remote::{Remote, RemoteSettings, run_over},
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
    task::JoinHandle,
};

use crate::support::{Proxy, Recording, post, raw_client};

const CANARY: &str = "canary-8d1f";
const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;

fn access() -> Access {
    let bearer = format!("Bearer {CANARY}").parse().unwrap();
    let access = Access::default().header("authorization".parse().unwrap(), bearer).unwrap();
    access.header("x-key".parse().unwrap(), CANARY.parse().unwrap()).unwrap()
}

/// A server that refuses a request; returns its head.
async fn refusing() -> (String, JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let serving = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(stream.read_u8().await.unwrap());
        }
        let answer = "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
        stream.write_all(answer.as_bytes()).await.unwrap();
        String::from_utf8(head).unwrap().to_lowercase()
    });
    (address.to_string(), serving)
}

#[track_caller]
fn assert_sent(head: &str) {
    assert!(head.contains(&format!("authorization: bearer {CANARY}\r\n")), "{head}");
    assert!(head.contains(&format!("x-key: {CANARY}\r\n")), "{head}");
    assert!(!head.contains("of-the-client"), "{head}");
}

#[tokio::test(flavor = "multi_thread")]
async fn they_are_sent_in_every_pairing_and_neither_recorded_nor_shown() {
    assert!(!format!("{:?}", access()).contains(CANARY));
    let settings = ProxiedServerSettings::default();
    let request = post(INITIALIZE, "X-Key: of-the-client\r\n");
    for scheme in ["http", "ws"] {
        for policy in [Policy::observe(), Policy::enforce()] {
            // Clients over HTTP.
            let (address, got) = refusing().await;
            let url = format!("{scheme}://{address}/");
            let proxy = Proxy::reaching(&url, &access(), policy.clone(), &settings).await;
            let answer = raw_client(proxy.address, &request).await;
            assert!(!String::from_utf8_lossy(&answer).contains(CANARY));
            assert_sent(&got.await.unwrap());
            let outcome = proxy.stop().await;
            assert!(!outcome.record.contains(CANARY), "{}", outcome.record);
            // A client on standard streams.
            let (address, got) = refusing().await;
            let url = format!("{scheme}://{address}/");
            let remote = Remote::new(&url, 1 << 20, &access()).unwrap();
            assert!(!format!("{remote:?}").contains(CANARY), "{remote:?}");
            let recording = Recording::new(policy.clone());
            let input = std::io::Cursor::new(format!("{INITIALIZE}\n"));
            let output = std::io::sink();
            let talking = RemoteSettings::default();
            run_over(remote, (input, output), &recording.tap, &talking).await;
            assert_sent(&got.await.unwrap());
            let outcome = recording.finish().await;
            assert!(outcome.record.contains("-32603"), "{}", outcome.record);
            assert!(!outcome.record.contains(CANARY), "{}", outcome.record);
        }
    }
    // A WebSocket client of a WebSocket server.
    let (address, got) = refusing().await;
    let url = format!("ws://{address}/");
    let proxy = Proxy::reaching(&url, &access(), Policy::observe(), &settings).await;
    let mut stream = tokio::net::TcpStream::connect(proxy.address).await.unwrap();
    let upgrade = "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
                   Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\
                   X-Key: of-the-client\r\n\r\n";
    stream.write_all(upgrade.as_bytes()).await.unwrap();
    let mut answer = vec![0; 12];
    stream.read_exact(&mut answer).await.unwrap();
    assert_eq!(answer, b"HTTP/1.1 403");
    assert_sent(&got.await.unwrap());
    proxy.stop().await;
}

#[test]
fn headers_of_the_protocol_cannot_be_set() {
    for name in ["host", "content-length", "mcp-session-id", "connection", "sec-websocket-key"] {
        let set = Access::default().header(name.parse().unwrap(), "1".parse().unwrap());
        assert!(set.is_err(), "{name}");
    }
}
