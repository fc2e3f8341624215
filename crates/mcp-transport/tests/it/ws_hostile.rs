//! WebSocket peers that want memory or time rather than answers.

use std::time::Duration;

use mcp_core::{MemoryBudget, TransportError};
use mcp_transport::ws::{WsClientSettings, WsServerSettings, WsTransport, accept, connect};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex},
    net::TcpListener,
};

use crate::support::{next, within_a_minute};

const UPGRADE: &str = "GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n\
    Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n\
    Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: mcp\r\n\r\n";
/// What the connection itself holds in each direction.
const PIPE: usize = 1024;

/// A client that writes bytes, and the server's side of its conversation.
async fn client(settings: &WsServerSettings) -> (WsTransport, DuplexStream) {
    let (server, mut client) = duplex(PIPE);
    client.write_all(UPGRADE.as_bytes()).await.unwrap();
    let server = accept(server, settings).await.unwrap();
    let mut answer = Vec::new();
    while !answer.ends_with(b"\r\n\r\n") {
        answer.push(client.read_u8().await.unwrap());
    }
    (server, client)
}

/// A server that sends no pings, so that nothing disturbs what is expected.
fn quiet() -> WsServerSettings {
    let mut settings = WsServerSettings::default();
    settings.connection.ping_interval = None;
    settings
}

/// The beginning of a text message of `length` bytes, as a client sends it; the mask is zero.
fn head(length: u16) -> Vec<u8> {
    let mut head = vec![0x81, 0xfe];
    head.extend(length.to_be_bytes());
    head.extend([0; 4]);
    head
}

fn ping_of_client() -> Vec<u8> {
    let mut ping = vec![0x89, 0xfd, 0, 0, 0, 0];
    ping.extend([b'x'; 125]);
    ping
}

/// The code of the close frame that ends `stream`.
async fn close_code(stream: &mut DuplexStream) -> u16 {
    let mut bytes = Vec::new();
    within_a_minute(stream.read_to_end(&mut bytes)).await.unwrap();
    assert_eq!(bytes[0], 0x88, "{bytes:?}");
    u16::from_be_bytes([bytes[2], bytes[3]])
}

#[tokio::test(start_paused = true)]
async fn a_client_that_pings_and_never_reads_is_not_read_and_then_disconnected() {
    // Without pings of our own, only the pongs can tell.
    let mut settings = quiet();
    settings.message_timeout = Duration::MAX;
    let (server, mut client) = client(&settings).await;
    let received = tokio::spawn(async move { next(&server).await });
    let ping = ping_of_client();
    let mut accepted = 0;
    while client.write_all(&ping).await.is_ok() {
        accepted += ping.len();
    }
    // The pongs that wait, what was read ahead, and what the pipe holds both ways.
    assert!(accepted < 16 * 1024 + 32 * 1024 + 4 * PIPE, "{accepted}");
    let stuck = TransportError::Stalled { seconds: 30 };
    assert_eq!(received.await.unwrap(), Err(stuck));
}

#[tokio::test]
async fn a_client_that_pings_and_reads_is_answered_every_time() {
    let (server, client) = client(&WsServerSettings::default()).await;
    let receiving = tokio::spawn(async move { next(&server).await });
    let (mut reader, mut writer) = tokio::io::split(client);
    let ping = ping_of_client();
    let mut answer = [0; 127];
    for _ in 0..1000 {
        writer.write_all(&ping).await.unwrap();
        within_a_minute(reader.read_exact(&mut answer)).await.unwrap();
        assert_eq!((answer[0], answer[1]), (0x8a, 125));
    }
    writer.write_all(&[head(2), b"{}".to_vec()].concat()).await.unwrap();
    assert_eq!(receiving.await.unwrap(), Ok(Some("{}".into())));
}

#[tokio::test]
async fn a_server_that_pings_and_never_reads_is_left() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("ws://{}", listener.local_addr().unwrap());
    let pinging = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut request = Vec::new();
        while !request.ends_with(b"\r\n\r\n") {
            request.push(stream.read_u8().await.unwrap());
        }
        let request = String::from_utf8(request).unwrap();
        let key = request.lines().find_map(|line| {
            let (name, value) = line.split_once(": ")?;
            name.eq_ignore_ascii_case("sec-websocket-key").then(|| value.to_owned())
        });
        let accept =
            tokio_tungstenite::tungstenite::handshake::derive_accept_key(key.unwrap().as_bytes());
        let answer = format!(
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
             Sec-WebSocket-Accept: {accept}\r\n\r\n"
        );
        stream.write_all(answer.as_bytes()).await.unwrap();
        let pings = [[0x89, 125].as_slice(), &[b'x'; 125]].concat().repeat(500);
        let mut accepted = 0;
        while let Ok(count) = stream.write(&pings[accepted % pings.len()..]).await {
            accepted += count;
        }
        accepted
    });
    let mut settings = WsClientSettings::default();
    settings.connection.ping_interval = None;
    settings.connection.stall_timeout = Duration::from_millis(200);
    let client = connect(&url, &settings).await.unwrap();
    let stuck = TransportError::Stalled { seconds: 0 };
    assert_eq!(within_a_minute(next(&client)).await, Err(stuck));
    // The buffers of the sockets, which the system may let grow.
    let accepted = within_a_minute(pinging).await.unwrap();
    assert!(accepted < 64 << 20, "{accepted}");
}

#[tokio::test]
async fn unfinished_messages_of_all_clients_share_a_budget() {
    let mut settings = WsServerSettings::default();
    settings.unfinished = MemoryBudget::new(10_000);
    let budget = settings.unfinished.clone();
    let piece = [head(9_000), vec![b' '; 4_992]].concat();
    let mut clients = Vec::new();
    for _ in 0..2 {
        let (server, mut client) = client(&settings).await;
        let receiving = tokio::spawn(async move { (next(&server).await, server) });
        client.write_all(&piece).await.unwrap();
        clients.push((client, receiving));
    }
    within_a_minute(async {
        while budget.used() < 10_000 {
            tokio::task::yield_now().await;
        }
    })
    .await;
    // At the limit nobody is disturbed; a byte beyond it is too much.
    let (mut late, server) = {
        let (server, late) = client(&settings).await;
        (late, tokio::spawn(async move { (next(&server).await, server) }))
    };
    late.write_all(&head(10)[..1]).await.unwrap();
    assert_eq!(close_code(&mut late).await, 1013);
    drop(server);
    // Room is made when a message is complete.
    let (mut first, receiving) = clients.remove(0);
    let (second, other) = clients.remove(0);
    drop((second, other));
    within_a_minute(async {
        while budget.used() > 5_000 {
            tokio::task::yield_now().await;
        }
    })
    .await;
    first.write_all(&vec![b' '; 9_000 - 4_992]).await.unwrap();
    let (received, _server) = within_a_minute(receiving).await.unwrap();
    assert_eq!(received.map(|text| text.unwrap().len()), Ok(9_000));
    assert_eq!(budget.used(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_message_that_trickles_in_has_a_deadline() {
    let (server, mut client) = client(&quiet()).await;
    let receiving = tokio::spawn(async move { next(&server).await });
    // The first of the fragments names the kind.
    for kind in [0x01, 0, 0] {
        client.write_all(&[kind, 0x80 | 1, 0, 0, 0, 0, b' ']).await.unwrap();
        // Pings are no progress.
        client.write_all(&ping_of_client()).await.unwrap();
        tokio::time::sleep(Duration::from_secs(9)).await;
        assert!(!receiving.is_finished());
        let mut answer = [0; 127];
        client.read_exact(&mut answer).await.unwrap();
    }
    let error = receiving.await.unwrap().unwrap_err();
    assert_eq!(error, TransportError::Lost("a message did not arrive within 30 seconds".into()));
    assert_eq!(close_code(&mut client).await, 1008);
}

#[tokio::test(start_paused = true)]
async fn a_client_that_never_says_anything_is_disconnected() {
    let (server, mut client) = client(&quiet()).await;
    let receiving = tokio::spawn(async move { next(&server).await });
    assert!(receiving.await.unwrap().is_err());
    assert_eq!(close_code(&mut client).await, 1008);
}

#[tokio::test(start_paused = true)]
async fn a_client_may_be_silent_between_messages() {
    let (server, mut client) = client(&quiet()).await;
    for _ in 0..2 {
        client.write_all(&[head(2), b"{}".to_vec()].concat()).await.unwrap();
        assert_eq!(next(&server).await, Ok(Some("{}".into())));
        let silence = tokio::time::timeout(Duration::from_secs(50), next(&server));
        assert!(silence.await.is_err());
    }
}
