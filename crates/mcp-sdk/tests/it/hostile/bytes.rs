//! Bytes that arrive late, in pieces, or not at all.

use std::{process::Stdio, time::Duration};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines},
    net::TcpStream,
    process::{Child, ChildStdin, ChildStdout, Command},
};

use super::{
    http::{read, written},
    wire::{Checks, Kind, Wire, program},
    within,
};

const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
const PING_AGAIN: &str = r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#;

/// The server as a child process, with raw access to its streams.
struct Raw {
    child: Child,
    input: Option<ChildStdin>,
    output: Lines<BufReader<ChildStdout>>,
}

impl Raw {
    fn start() -> Raw {
        let mut command = Command::new(program());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap()).lines();
        Raw { input: child.stdin.take(), output, child }
    }

    async fn write(&mut self, text: &str) {
        let input = self.input.as_mut().unwrap();
        input.write_all(text.as_bytes()).await.unwrap();
        input.flush().await.unwrap();
    }

    async fn next(&mut self) -> Option<Value> {
        let line = within(self.output.next_line()).await.unwrap()?;
        Some(serde_json::from_str(&line).unwrap())
    }

    /// Closes its input and waits for it to exit.
    async fn end(&mut self) -> std::process::ExitStatus {
        self.input.take();
        within(self.child.wait()).await.unwrap()
    }
}

#[tokio::test]
async fn half_a_line_is_not_a_message() {
    let mut server = Raw::start();
    let (first, second) = PING.split_at(20);
    server.write(first).await;
    server.write(&format!("{second}\r\n\n\n{PING_AGAIN}\n")).await;
    assert_eq!(server.next().await.unwrap()["result"], json!({}));
    assert_eq!(server.next().await.unwrap()["result"], json!({}));
    assert!(server.end().await.success());
}

#[tokio::test]
async fn a_line_truncated_by_the_end_gets_an_error() {
    let mut server = Raw::start();
    server.write(&PING[..20]).await;
    assert!(server.end().await.success());
    assert_eq!(server.next().await.unwrap()["error"]["code"], -32700);
    assert!(server.next().await.is_none());
}

#[tokio::test]
async fn a_last_line_without_a_newline_is_served() {
    let mut server = Raw::start();
    server.write(PING).await;
    assert!(server.end().await.success());
    assert_eq!(server.next().await.unwrap()["result"], json!({}));
}

#[tokio::test]
async fn a_child_accepts_input_byte_by_byte() {
    let mut server = Raw::start();
    for byte in format!("{PING}\n").chars() {
        server.write(&byte.to_string()).await;
        tokio::task::yield_now().await;
    }
    assert_eq!(server.next().await.unwrap()["result"], json!({}));
}

#[tokio::test]
async fn invalid_utf8_gets_an_error() {
    let mut server = Raw::start();
    server.input.as_mut().unwrap().write_all(b"{\"id\":\"\xff\"}\n\0\0\n").await.unwrap();
    for _ in 0..2 {
        assert_eq!(server.next().await.unwrap()["error"]["code"], -32700);
    }
    server.write(&format!("{PING}\n")).await;
    assert_eq!(server.next().await.unwrap()["result"], json!({}));
}

#[tokio::test]
async fn a_line_over_the_limit_gets_an_error_and_the_next_is_served() {
    let mut server = Raw::start();
    let long = "x".repeat(1 << 20);
    for _ in 0..17 {
        server.write(&long).await;
    }
    server.write("\n").await;
    let answer = server.next().await.unwrap();
    assert_eq!(answer["error"]["code"], -32600, "{answer}");
    server.write(&format!("{PING}\n")).await;
    assert_eq!(server.next().await.unwrap()["result"], json!({}));
}

#[tokio::test]
async fn requests_in_flight_are_answered_after_the_input_ends() {
    let mut server = Raw::start();
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": { "name": "raw", "version": "1" },
    });
    for id in 0..100 {
        let arguments = json!({ "count": 100 });
        let params = json!({ "name": "together", "arguments": arguments, "_meta": meta });
        let call = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
        server.write(&format!("{call}\n")).await;
    }
    server.input.take();
    for _ in 0..100 {
        let answer = server.next().await.unwrap();
        assert_eq!(answer["result"]["content"][0]["text"], "together", "{answer}");
    }
    assert!(server.end().await.success());
}

#[tokio::test]
async fn http_accepts_input_byte_by_byte() {
    for kind in [Kind::HttpSession, Kind::HttpStateless] {
        let wire = Wire::open(kind, Checks::Enforce).await;
        let call = wire.call(1, "echo", json!({ "text": "slow" }));
        let text = written(&wire.headers(&call), &call);
        let mut stream = TcpStream::connect(wire.address()).await.unwrap();
        stream.set_nodelay(true).unwrap();
        within(async {
            for byte in text.as_bytes() {
                stream.write_all(&[*byte]).await.unwrap();
                tokio::task::yield_now().await;
            }
            let answer = &read(&mut stream).await.messages()[0];
            assert_eq!(answer["result"]["content"][0]["text"], "slow", "{answer}");
        })
        .await;
    }
}

#[tokio::test]
async fn truncated_http_does_no_harm() {
    for kind in [Kind::HttpSession, Kind::HttpStateless] {
        let mut wire = Wire::open(kind, Checks::Enforce).await;
        let call = wire.call(1, "echo", json!({ "text": "cut" }));
        let text = written(&wire.headers(&call), &call);
        for end in (0..text.len()).step_by(40) {
            let mut stream = TcpStream::connect(wire.address()).await.unwrap();
            stream.write_all(&text.as_bytes()[..end]).await.unwrap();
        }
        within(wire.still_works()).await;
    }
}

#[tokio::test]
async fn a_body_over_the_limit_is_rejected() {
    for kind in [Kind::HttpSession, Kind::HttpStateless] {
        let mut wire = Wire::open(kind, Checks::Enforce).await;
        let call = wire.call(1, "echo", json!({ "text": "x".repeat(17 << 20) }));
        let reply = within(super::http::post(wire.address(), &wire.headers(&call), &call)).await;
        assert_eq!(reply.status, 413, "{kind:?}");
        within(wire.still_works()).await;
    }
}

#[tokio::test]
async fn a_websocket_accepts_fragments_and_survives_a_truncated_frame() {
    let wire = Wire::open(Kind::WebSocket, Checks::Enforce).await;
    let mut whole = WebSocket::open(wire.address()).await;
    let (first, second) = PING.split_at(11);
    for piece in [frame(0x01, first), frame(0x80, second)] {
        for byte in piece {
            whole.0.write_all(&[byte]).await.unwrap();
        }
    }
    let answer = within(whole.next()).await;
    assert_eq!(answer["result"], json!({}), "{answer}");
    let mut cut = WebSocket::open(wire.address()).await;
    cut.0.write_all(&frame(0x81, PING)[..30]).await.unwrap();
    drop(cut);
    whole.0.write_all(&frame(0x81, PING_AGAIN)).await.unwrap();
    assert_eq!(within(whole.next()).await["result"], json!({}));
}

/// A handwritten WebSocket.
struct WebSocket(BufReader<TcpStream>);

impl WebSocket {
    async fn open(to: std::net::SocketAddr) -> WebSocket {
        let mut stream = BufReader::new(TcpStream::connect(to).await.unwrap());
        let head = format!(
            "GET / HTTP/1.1\r\nhost: {to}\r\nupgrade: websocket\r\nconnection: upgrade\r\n\
             sec-websocket-version: 13\r\nsec-websocket-protocol: mcp\r\n\
             sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut line = String::new();
        while line != "\r\n" {
            line.clear();
            within(stream.read_line(&mut line)).await.unwrap();
        }
        WebSocket(stream)
    }

    /// The next short message.
    async fn next(&mut self) -> Value {
        use tokio::io::AsyncReadExt as _;
        let mut head = [0; 2];
        self.0.read_exact(&mut head).await.unwrap();
        assert!(head[1] < 126, "a short frame without a mask");
        let mut text = vec![0; usize::from(head[1])];
        self.0.read_exact(&mut text).await.unwrap();
        serde_json::from_slice(&text).unwrap()
    }
}

/// A short client frame with a zero mask.
fn frame(opening: u8, text: &str) -> Vec<u8> {
    let mut frame = vec![opening, 0x80 | u8::try_from(text.len()).unwrap(), 0, 0, 0, 0];
    frame.extend_from_slice(text.as_bytes());
    frame
}

#[tokio::test]
async fn a_peer_that_dies_in_mid_request_is_disconnected() {
    let mut server = Raw::start();
    server.write(&PING[..10]).await;
    let _ = tokio::time::timeout(Duration::from_millis(50), server.next()).await;
    assert!(server.end().await.success());
}
