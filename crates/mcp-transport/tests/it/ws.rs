use std::time::Duration;

use bytes::Bytes;
use futures_util::{SinkExt, StreamExt};
use mcp_core::{Transport, TransportError};
use mcp_transport::ws::{
    WsClientSettings, WsCloseReason, WsListener, WsServerSettings, WsTransport, accept, connect,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};
use tokio_tungstenite::{
    WebSocketStream, client_async,
    tungstenite::{
        Message,
        client::IntoClientRequest,
        protocol::{
            CloseFrame,
            frame::{
                Frame,
                coding::{CloseCode, Data, OpCode},
            },
        },
    },
};

use crate::support::{message, next, rest, send_until_error, within_a_minute};

/// The upgrade request of a well-behaved client.
const UPGRADE: &str = "GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n\
    Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n\
    Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: mcp\r\n\r\n";

fn settings() -> WsServerSettings {
    let mut settings = WsServerSettings::default();
    settings.connection.max_message = 100_000;
    settings
}

async fn tcp_pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
    (listener.accept().await.unwrap().0, client)
}

pub(crate) async fn pair() -> (WsTransport, WsTransport) {
    let listener = WsListener::bind("127.0.0.1:0", WsServerSettings::default()).await.unwrap();
    let url = format!("ws://{}/mcp", listener.local_addr());
    let client = connect(&url, &WsClientSettings::default()).await.unwrap();
    (client, listener.accept().await.unwrap())
}

/// Our server and a client that sends individual WebSocket frames.
async fn with_raw_client(settings: &WsServerSettings) -> (WsTransport, WebSocketStream<TcpStream>) {
    let (server, client) = tcp_pair().await;
    let mut request = "ws://localhost/".into_client_request().unwrap();
    request.headers_mut().insert("sec-websocket-protocol", "other, mcp".parse().unwrap());
    let (server, client) = tokio::join!(accept(server, settings), client_async(request, client));
    let (client, response) = client.unwrap();
    assert_eq!(response.headers()["sec-websocket-protocol"], "mcp");
    (server.unwrap(), client)
}

/// Our server and a client that sends raw bytes.
async fn with_tcp_client(settings: &WsServerSettings) -> (WsTransport, TcpStream) {
    let (server, mut client) = tcp_pair().await;
    client.write_all(UPGRADE.as_bytes()).await.unwrap();
    let server = accept(server, settings).await.unwrap();
    let mut answer = Vec::new();
    while !answer.ends_with(b"\r\n\r\n") {
        answer.push(client.read_u8().await.unwrap());
    }
    assert!(answer.starts_with(b"HTTP/1.1 101"));
    (server, client)
}

async fn close_code(client: &mut WebSocketStream<TcpStream>) -> CloseCode {
    within_a_minute(async {
        loop {
            match client.next().await {
                Some(Ok(Message::Close(Some(frame)))) => return frame.code,
                Some(Ok(_)) => {}
                other => panic!("{other:?}"),
            }
        }
    })
    .await
}

/// The server's response to an upgrade request, and the error it returns.
async fn answer_to(upgrade: &str) -> (String, TransportError) {
    let (server, mut client) = tcp_pair().await;
    client.write_all(upgrade.as_bytes()).await.unwrap();
    let error = within_a_minute(accept(server, &settings())).await.unwrap_err();
    let mut answer = String::new();
    client.read_to_string(&mut answer).await.unwrap();
    (answer.lines().next().unwrap_or_default().to_owned(), error)
}

#[tokio::test]
async fn a_message_may_come_in_fragments_with_pings_between() {
    let (server, mut client) = with_raw_client(&settings()).await;
    let parts = [("{\"a\"", Data::Text, false), (":", Data::Continue, false)];
    for (text, code, is_last) in parts {
        let frame = Frame::message(Bytes::from(text), OpCode::Data(code), is_last);
        client.send(Message::Frame(frame)).await.unwrap();
    }
    client.send(Message::Ping(Bytes::from_static(b"there?"))).await.unwrap();
    let frame = Frame::message(Bytes::from("1}"), OpCode::Data(Data::Continue), true);
    client.send(Message::Frame(frame)).await.unwrap();
    assert_eq!(next(&server).await, Ok(Some("{\"a\":1}".into())));
    let Some(Ok(Message::Pong(echo))) = within_a_minute(client.next()).await else { panic!() };
    assert_eq!(echo, "there?");
}

#[tokio::test]
async fn bytes_may_come_one_by_one() {
    let (server, mut client) = with_tcp_client(&settings()).await;
    let writing = tokio::spawn(async move {
        // Masked with zeros, which changes nothing.
        for byte in b"\x81\x82\0\0\0\0{}\x88\x82\0\0\0\0\x03\xe8" {
            client.write_all(&[*byte]).await.unwrap();
            tokio::task::yield_now().await;
        }
        client
    });
    assert_eq!(rest(&server).await, ["{}"]);
    writing.await.unwrap();
}

#[tokio::test]
async fn a_client_that_breaks_off_within_a_message_is_lost() {
    let (server, mut client) = with_tcp_client(&settings()).await;
    client.write_all(b"\x81\x82\0\0\0\0{}\x81\x85\0\0\0\0{").await.unwrap();
    drop(client);
    assert_eq!(next(&server).await, Ok(Some("{}".into())));
    let lost = next(&server).await.unwrap_err();
    assert!(matches!(lost, TransportError::Lost(_)), "{lost:?}");
    assert_eq!(next(&server).await, Err(lost.clone()), "an error is final");
    assert_eq!(send_until_error(&server, "{}").await, lost);
    within_a_minute(server.close()).await;
}

#[tokio::test]
async fn a_message_that_is_too_long_ends_the_conversation() {
    let (server, mut client) = with_raw_client(&settings()).await;
    client.send(Message::text("x".repeat(100_000))).await.unwrap();
    assert_eq!(next(&server).await.unwrap().unwrap().len(), 100_000);
    client.send(Message::text("x".repeat(100_001))).await.unwrap();
    let error = next(&server).await.unwrap_err();
    assert_eq!(error, TransportError::TooLong { length: 100_001, limit: 100_000 });
    assert_eq!(close_code(&mut client).await, CloseCode::Size);
}

#[tokio::test]
async fn a_message_that_is_too_long_in_sum_ends_the_conversation() {
    let (server, mut client) = with_raw_client(&settings()).await;
    for code in [Data::Text, Data::Continue, Data::Continue] {
        let frame = Frame::message(Bytes::from(vec![b'x'; 40_000]), OpCode::Data(code), false);
        client.send(Message::Frame(frame)).await.unwrap();
    }
    assert!(matches!(next(&server).await, Err(TransportError::TooLong { .. })));
    assert_eq!(close_code(&mut client).await, CloseCode::Size);
}

#[tokio::test]
async fn a_binary_message_is_refused() {
    let (server, mut client) = with_raw_client(&settings()).await;
    client.send(Message::binary("{}")).await.unwrap();
    assert!(matches!(next(&server).await, Err(TransportError::Framing(_))));
    assert_eq!(close_code(&mut client).await, CloseCode::Unsupported);
}

#[tokio::test]
async fn broken_frames_are_refused() {
    const LONG_PING: [u8; 8 + 126] = {
        let mut ping = [b'p'; 8 + 126];
        let (head, _) = ping.split_at_mut(8);
        head.copy_from_slice(b"\x89\xfe\0\x7e\0\0\0\0");
        ping
    };
    for (frame, code) in [
        (&b"\x81\x02{}"[..], 1002_u16),                 // not masked
        (b"\xf1\x82\0\0\0\0{}", 1002),                  // reserved bits
        (b"\x80\x82\0\0\0\0{}", 1002),                  // continues nothing
        (b"\x81\x82\0\0\0\0\xff\xfe", 1007),            // not UTF-8
        (b"\x83\x80\0\0\0\0", 1002),                    // a kind that nobody has defined
        (b"\x8b\x80\0\0\0\0", 1002),                    // the same, as control
        (b"\x09\x80\0\0\0\0", 1002),                    // a ping in parts
        (&LONG_PING, 1002),                             // a ping of 126 bytes
        (b"\x01\x81\0\0\0\0{\x81\x82\0\0\0\0{}", 1002), // one message within another
        (b"\x88\x81\0\0\0\0x", 1002),                   // half a close code
        (b"\x88\x82\0\0\0\0\x03\xed", 1002),            // a close code that is never sent
        (b"\x88\x84\0\0\0\0\x03\xe8\xff\xfe", 1007),    // a reason that is not UTF-8
        (b"\x81\xff\xff\xff\xff\xff\xff\xff\xff\xff\0\0\0\0", 1009), // more than there is
        (b"\x81\xff\0\0\0\0\x10\0\0\0\0\0\0\0", 1009),  // 256 MiB announced
    ] {
        let (server, mut client) = with_tcp_client(&settings()).await;
        client.write_all(frame).await.unwrap();
        let error = next(&server).await.unwrap_err();
        assert!(
            matches!(
                error,
                // A broken close frame closes too.
                TransportError::Framing(_)
                    | TransportError::TooLong { .. }
                    | TransportError::Lost(_)
            ),
            "{frame:?}: {error:?}"
        );
        let mut answer = [0; 4];
        within_a_minute(client.read_exact(&mut answer)).await.unwrap();
        assert_eq!(answer[0], 0x88, "a close frame");
        assert_eq!(u16::from_be_bytes([answer[2], answer[3]]), code, "{frame:?}");
        drop(client);
        within_a_minute(server.close()).await;
    }
}

#[tokio::test]
async fn both_sides_can_say_why_they_close() {
    let (client, server) = pair().await;
    let (end, ()) = tokio::join!(next(&server), client.close_with(WsCloseReason::GoingAway));
    assert_eq!(end, Ok(None));
    let (client, server) = pair().await;
    let (end, ()) = tokio::join!(next(&client), server.close_with(WsCloseReason::InternalError));
    let Err(TransportError::Lost(text)) = end else { panic!("{end:?}") };
    assert!(text.contains("1011"), "{text}");
}

#[tokio::test]
async fn the_reason_of_a_close_is_passed_on() {
    let (server, mut client) = with_raw_client(&settings()).await;
    let frame = CloseFrame { code: CloseCode::Policy, reason: "no more".into() };
    client.send(Message::Close(Some(frame))).await.unwrap();
    let Err(TransportError::Lost(text)) = next(&server).await else { panic!() };
    assert!(text.contains("1008: no more"), "{text}");
    assert!(matches!(close_code(&mut client).await, CloseCode::Policy));
}

#[tokio::test]
async fn a_message_that_is_too_long_is_not_sent_and_ends_nothing() {
    let (client, server) = pair().await;
    let limit = 16 << 20;
    let refused = client.send(message("x".repeat(limit + 1))).await;
    let (length, limit) = (limit as u64 + 1, limit as u64);
    assert_eq!(refused, Err(TransportError::TooLong { length, limit }));
    client.send(message("{}")).await.unwrap();
    assert_eq!(next(&server).await, Ok(Some("{}".into())));
}

#[tokio::test]
async fn a_client_that_never_reads_is_stuck() {
    let mut settings = settings();
    settings.connection.stall_timeout = Duration::from_millis(200);
    let (server, client) = with_raw_client(&settings).await;
    let error = send_until_error(&server, &"x".repeat(100_000)).await;
    assert!(matches!(error, TransportError::Stalled { .. }), "{error:?}");
    assert!(matches!(next(&server).await, Err(TransportError::Stalled { .. })));
    within_a_minute(server.close()).await;
    drop(client);
}

#[tokio::test]
async fn a_client_that_answers_no_ping_is_given_up() {
    let mut settings = settings();
    settings.connection.ping_interval = Some(Duration::from_millis(50));
    let (server, mut client) = with_tcp_client(&settings).await;
    let error = next(&server).await.unwrap_err();
    assert!(matches!(error, TransportError::Lost(_)), "{error:?}");
    let mut ping = [0; 2];
    client.read_exact(&mut ping).await.unwrap();
    assert_eq!(ping, [0x89, 0]);
}

#[tokio::test]
async fn a_silent_client_that_answers_pings_is_kept() {
    let mut settings = settings();
    settings.connection.ping_interval = Some(Duration::from_millis(20));
    let (server, mut client) = with_raw_client(&settings).await;
    let receiving = tokio::spawn(async move { next(&server).await });
    for _ in 0..10 {
        assert!(matches!(within_a_minute(client.next()).await, Some(Ok(Message::Ping(_)))));
    }
    client.send(Message::text("{}")).await.unwrap();
    assert_eq!(receiving.await.unwrap(), Ok(Some("{}".into())));
}

#[tokio::test]
async fn pings_may_be_as_rare_as_can_be() {
    let mut settings = settings();
    settings.connection.ping_interval = Some(Duration::MAX);
    let (server, mut client) = with_raw_client(&settings).await;
    client.send(Message::text("{}")).await.unwrap();
    assert_eq!(next(&server).await, Ok(Some("{}".into())));
}

#[tokio::test]
async fn who_may_not_come_in_is_told() {
    for (from, to, status) in [
        ("Host: localhost", "Host: localhost\r\nOrigin: https://evil.example", 403),
        ("Host: localhost", "Host: localhost\r\nOrigin: null", 403),
        ("Host: localhost", "Host: rebound.example:80", 403),
        ("Host: localhost", "Host: localhost\r\nHost: rebound.example", 400),
        ("Host: localhost\r\n", "", 400),
    ] {
        let (answer, error) = answer_to(&UPGRADE.replace(from, to)).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{to}: {answer}");
        assert!(matches!(error, TransportError::Status { status: told, .. } if told == status));
    }
}

#[tokio::test]
async fn what_is_no_upgrade_is_not_let_in() {
    for text in
        ["GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", "{}\n\r\n\r\n", "\x16\x03\x01\r\n\r\n"]
    {
        let (server, mut client) = tcp_pair().await;
        client.write_all(text.as_bytes()).await.unwrap();
        let error = within_a_minute(accept(server, &settings())).await.unwrap_err();
        assert!(matches!(error, TransportError::Connect(_)), "{error:?}");
    }
}

#[tokio::test]
async fn a_client_that_is_slow_to_open_the_conversation_is_given_up() {
    let mut settings = settings();
    settings.handshake_timeout = Duration::from_millis(50);
    let (server, mut client) = tcp_pair().await;
    client.write_all(b"GET / HTTP/1.1\r\n").await.unwrap();
    let error = within_a_minute(accept(server, &settings)).await.unwrap_err();
    assert!(matches!(error, TransportError::Connect(_)), "{error:?}");
}

#[tokio::test]
async fn a_listener_holds_so_many_connections_and_no_more() {
    let mut settings = settings();
    settings.max_connections = 1;
    let listener = WsListener::bind("127.0.0.1:0", settings).await.unwrap();
    let url = format!("ws://{}", listener.local_addr());
    let first = connect(&url, &WsClientSettings::default()).await.unwrap();
    let server = listener.accept().await.unwrap();
    let error = connect(&url, &WsClientSettings::default()).await.unwrap_err();
    assert!(
        matches!(error, TransportError::Status { status: 503, .. } | TransportError::Connect(_)),
        "{error:?}"
    );
    let (end, ()) = tokio::join!(next(&server), first.close());
    assert_eq!(end, Ok(None));
    within_a_minute(server.close()).await;
    within_a_minute(async {
        while connect(&url, &WsClientSettings::default()).await.is_err() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
}

#[tokio::test]
async fn an_idle_conversation_gives_way_to_a_new_client() {
    let mut settings = settings();
    settings.max_connections = 2;
    settings.idle_after = Duration::ZERO;
    settings.connection.close_wait = Duration::from_millis(10);
    let listener = WsListener::bind("127.0.0.1:0", settings).await.unwrap();
    let url = format!("ws://{}", listener.local_addr());
    let first = connect(&url, &WsClientSettings::default()).await.unwrap();
    let first_server = listener.accept().await.unwrap();
    first.send(message("1")).await.unwrap();
    assert_eq!(next(&first_server).await, Ok(Some("1".to_owned())));
    let mut silent = TcpStream::connect(listener.local_addr()).await.unwrap();
    // The silent one gives way first, then the one that was used longest ago.
    let mut others = Vec::new();
    for number in ["2", "3"] {
        let client = within_a_minute(async {
            loop {
                if let Ok(client) = connect(&url, &WsClientSettings::default()).await {
                    return client;
                }
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        })
        .await;
        let server = within_a_minute(listener.accept()).await.unwrap();
        client.send(message(number)).await.unwrap();
        assert_eq!(next(&server).await, Ok(Some(number.to_owned())));
        others.push((client, server));
    }
    let mut answer = Vec::new();
    let _ = within_a_minute(silent.read_to_end(&mut answer)).await;
    assert_eq!(answer, b"");
    let lost = next(&first).await.unwrap_err();
    assert!(matches!(&lost, TransportError::Lost(why) if why.contains("1013")), "{lost:?}");
    let lost = next(&first_server).await.unwrap_err();
    assert!(matches!(&lost, TransportError::Lost(why) if why.contains("make room")), "{lost:?}");
    for (client, server) in others {
        client.send(message("still here")).await.unwrap();
        assert_eq!(next(&server).await, Ok(Some("still here".to_owned())));
    }
}

#[tokio::test]
async fn a_client_says_why_it_could_not_connect() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    for url in [&format!("ws://{address}"), "http://localhost", "nonsense", "wss://127.0.0.1:9"] {
        let error = connect(url, &WsClientSettings::default()).await.unwrap_err();
        assert!(matches!(error, TransportError::Connect(_)), "{url}: {error:?}");
    }
}

/// The server's response to an upgrade request without the subprotocol.
async fn answer_without_subprotocol(instead: &str, settings: &WsServerSettings) -> String {
    let (server, mut client) = tcp_pair().await;
    let upgrade = UPGRADE.replace("Sec-WebSocket-Protocol: mcp\r\n", instead);
    client.write_all(upgrade.as_bytes()).await.unwrap();
    let accepting = within_a_minute(accept(server, settings)).await;
    let mut answer = vec![0; 1000];
    let length = client.read(&mut answer).await.unwrap();
    drop(accepting);
    String::from_utf8_lossy(&answer[..length]).to_lowercase()
}

#[tokio::test]
async fn a_plain_client_is_let_in_unless_the_subprotocol_is_required() {
    let mut strict = settings();
    strict.require_subprotocol = true;
    for instead in ["", "Sec-WebSocket-Protocol: mcpx, soap\r\n"] {
        let answer = answer_without_subprotocol(instead, &settings()).await;
        assert!(answer.starts_with("http/1.1 101"), "{answer}");
        assert!(!answer.contains("sec-websocket-protocol"), "{answer}");
        let answer = answer_without_subprotocol(instead, &strict).await;
        assert!(answer.starts_with("http/1.1 400"), "{answer}");
    }
    // A client that offers it gets it, required or not.
    with_raw_client(&strict).await;
    with_raw_client(&settings()).await;
}

/// A plain WebSocket echo server.
async fn plain_server() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("ws://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        let mut socket = tokio_tungstenite::accept_async(stream).await.unwrap();
        while let Some(Ok(message)) = socket.next().await {
            if message.is_text() {
                socket.send(message).await.unwrap();
            }
        }
    });
    url
}

#[tokio::test]
async fn a_plain_server_will_do_unless_the_subprotocol_is_required() {
    let client = connect(&plain_server().await, &WsClientSettings::default()).await.unwrap();
    client.send(message("{}")).await.unwrap();
    assert_eq!(next(&client).await, Ok(Some("{}".into())));
    let mut strict = WsClientSettings::default();
    strict.require_subprotocol = true;
    let error = connect(&plain_server().await, &strict).await.unwrap_err();
    assert!(matches!(&error, TransportError::Connect(why) if why.contains("mcp")), "{error:?}");
    let listener = WsListener::bind("127.0.0.1:0", settings()).await.unwrap();
    connect(&format!("ws://{}", listener.local_addr()), &strict).await.unwrap();
}

/// The client's result with a server that answers the upgrade with `head`; `KEY` in it is replaced
/// by the correct answer to the client's key.
async fn opinion_on(head: &'static str) -> Result<WsTransport, TransportError> {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("ws://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut request = Vec::new();
        while !request.ends_with(b"\r\n\r\n") {
            request.push(stream.read_u8().await.unwrap());
        }
        let request = String::from_utf8(request).unwrap();
        assert!(request.contains("Sec-WebSocket-Protocol: mcp\r\n"), "{request}");
        let (_, key) = request.split_once("Sec-WebSocket-Key: ").unwrap();
        let key = key.lines().next().unwrap();
        let key = tokio_tungstenite::tungstenite::handshake::derive_accept_key(key.as_bytes());
        for byte in head.replace("KEY", &key).bytes() {
            // The client may have hung up.
            if stream.write_all(&[byte]).await.is_err() {
                return;
            }
        }
        // Sends a message directly after the head, and keeps the connection open.
        let _ = stream.write_all(b"\x81\x02{}").await;
        std::future::pending::<()>().await;
    });
    within_a_minute(connect(&url, &WsClientSettings::default())).await
}

const AGREED: &str = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: WebSocket\r\n\
    Connection: keep-alive, upgrade\r\nSec-WebSocket-Accept: KEY\r\n\r\n";

#[tokio::test]
async fn a_message_right_behind_the_upgrade_is_not_lost() {
    let client = opinion_on(AGREED).await.unwrap();
    assert_eq!(next(&client).await, Ok(Some("{}".into())));
}

#[tokio::test]
async fn a_server_that_upgrades_wrongly_is_not_trusted() {
    for (from, to) in [
        ("Upgrade: WebSocket\r\n", ""),
        ("Upgrade: WebSocket", "Upgrade: h2c"),
        ("Connection: keep-alive, upgrade\r\n", ""),
        ("KEY", "dGhlIHNhbXBsZSBub25jZQ=="),
        ("KEY", "KEY\r\nSec-WebSocket-Protocol: soap"),
        ("KEY", "KEY\r\nSec-WebSocket-Protocol: mcp\r\nSec-WebSocket-Protocol: mcp"),
        ("KEY", "KEY\r\nSec-WebSocket-Extensions: permessage-deflate"),
        ("HTTP/1.1 101", "HTTP/1.0 101"),
        ("HTTP/1.1 101 Switching", "nonsense"),
    ] {
        let head: &'static str = AGREED.replace(from, to).leak();
        let error = opinion_on(head).await.unwrap_err();
        assert!(matches!(error, TransportError::Connect(_)), "{to}: {error:?}");
    }
    let endless: &'static str = format!("HTTP/1.1 101 Yes\r\nX: {}", "x".repeat(1 << 17)).leak();
    let error = opinion_on(endless).await.unwrap_err();
    assert!(matches!(error, TransportError::Connect(_)), "{error:?}");
    let error = opinion_on("HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n").await.unwrap_err();
    assert!(matches!(error, TransportError::Status { status: 403, .. }), "{error:?}");
}

#[tokio::test]
async fn text_that_is_not_utf8_is_not_sent() {
    let (client, _server) = pair().await;
    let mut bad = message("");
    bad.bytes = Bytes::from_static(b"\xff");
    assert!(matches!(client.send(bad).await, Err(TransportError::Framing(_))));
    client.send(message("{}")).await.unwrap();
}
