//! What a peer sends does not reach the logs of a program with default settings.

use std::{
    fmt,
    future::pending,
    sync::{Arc, Mutex},
    time::Duration,
};

use mcp_sdk::{
    Client, Failure, NoArguments, Server, Validation,
    core::{Inbound, Outbound, OutboundRole, Transport},
    schemars::JsonSchema,
    transport::{LineSettings, LineTransport, http::server::HttpSettings, memory},
};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};
use tracing::{
    Event, Level, Metadata, Subscriber,
    field::{Field, Visit},
    span,
};

/// Part of every value that a peer chooses here.
const CANARY: &str = "canary7351";

/// Everything that is logged at the usual level.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    #[track_caller]
    fn check(&self, place: &str) {
        for line in self.0.lock().unwrap().iter() {
            assert!(!line.contains(CANARY), "{place}: {line}");
        }
    }
}

impl Subscriber for Log {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= Level::INFO
    }

    fn new_span(&self, attributes: &span::Attributes<'_>) -> span::Id {
        let mut line = String::new();
        attributes.record(&mut Line(&mut line));
        self.0.lock().unwrap().push(line);
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, values: &span::Record<'_>) {
        let mut line = String::new();
        values.record(&mut Line(&mut line));
        self.0.lock().unwrap().push(line);
    }

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut line = String::new();
        event.record(&mut Line(&mut line));
        self.0.lock().unwrap().push(line);
    }

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}

struct Line<'l>(&'l mut String);

impl Visit for Line<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        use fmt::Write as _;
        let _ = write!(self.0, "{field}={value:?} ");
    }
}

#[derive(Deserialize, JsonSchema)]
struct Text {
    text: String,
}

fn server() -> Server {
    Server::builder("test", "1.0.0")
        .validation(Validation::enforce())
        .tool("echo", "", async |text: Text, _| Ok(text.text))
        .tool("fail", "", async |text: Text, _| Err::<String, _>(Failure::new(text.text)))
        .tool("panic", "", async |text: Text, _| -> Result<String, Failure> {
            panic!("{}", text.text)
        })
        .tool("nothing", "", async |_: NoArguments, _| Ok("nothing"))
        .build()
        .unwrap()
}

/// Messages with the canary in every place that comes to mind.
fn messages() -> Vec<String> {
    let open = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": { "experimental": { CANARY: {} } },
        "clientInfo": { "name": CANARY, "version": CANARY }
    });
    let request = |id: Value, method: &str, params: Value| json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
    let call = |name: &str, arguments: Value| {
        let meta = json!({ "progressToken": CANARY, CANARY: CANARY });
        let params = json!({ "name": name, "arguments": arguments, "_meta": meta });
        request(CANARY.into(), "tools/call", params)
    };
    let mut messages = vec![
        request(1.into(), "initialize", open),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        call(CANARY, json!({})),
        call("echo", json!({ "text": CANARY })),
        call("echo", json!({ "text": 7, CANARY: CANARY })),
        call("echo", json!(CANARY)),
        call("fail", json!({ "text": CANARY })),
        call("panic", json!({ "text": CANARY })),
        call("nothing", json!({ CANARY: { CANARY: [CANARY] } })),
        request(2.into(), CANARY, json!({ CANARY: CANARY })),
        request(3.into(), "prompts/get", json!({ "name": CANARY })),
        request(4.into(), "resources/read", json!({ "uri": format!("{CANARY}:x") })),
        request(5.into(), "tools/list", json!({ "cursor": CANARY })),
        request(6.into(), "logging/setLevel", json!({ "level": CANARY })),
        request(7.into(), "completion/complete", json!({ "ref": CANARY, "argument": CANARY })),
        request(CANARY.repeat(500).into(), "ping", json!({})),
        request(json!({ CANARY: CANARY }), "ping", json!({})),
        json!({ "jsonrpc": CANARY, "id": CANARY, "method": CANARY, CANARY: CANARY }),
        json!({ "jsonrpc": "2.0", "method": CANARY, "params": { CANARY: CANARY } }),
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": CANARY, "reason": CANARY } }),
        json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": { "progressToken": CANARY, "progress": CANARY } }),
        json!({ "jsonrpc": "2.0", "id": CANARY, "result": { CANARY: CANARY } }),
        json!({ "jsonrpc": "2.0", "id": 99, "error": { "code": CANARY, "message": CANARY } }),
        json!([CANARY, { CANARY: CANARY }]),
    ]
    .iter()
    .map(Value::to_string)
    .collect::<Vec<_>>();
    messages.extend([
        CANARY.to_owned(),
        format!("{{\"{CANARY}\":"),
        format!("{{\"a\":1}} {CANARY}"),
    ]);
    messages
}

/// Reads what still comes for a moment.
async fn drain(stream: &mut (impl tokio::io::AsyncRead + Unpin)) {
    let mut bytes = Vec::new();
    let _ = tokio::time::timeout(Duration::from_millis(300), stream.read_to_end(&mut bytes)).await;
}

#[tokio::test]
async fn lines_reach_no_log() {
    let log = Log::default();
    let _logging = tracing::subscriber::set_default(log.clone());
    let (mut near, far) = tokio::io::duplex(1 << 20);
    let (input, output) = tokio::io::split(far);
    let mut settings = LineSettings::default();
    settings.max_message = 1 << 16;
    let serving =
        tokio::spawn(
            async move { server().serve(LineTransport::new(input, output, &settings)).await },
        );
    for message in messages() {
        near.write_all(message.as_bytes()).await.unwrap();
        near.write_all(b"\n").await.unwrap();
    }
    near.write_all(CANARY.repeat(1 << 14).as_bytes()).await.unwrap();
    near.write_all(b"\n\xff").await.unwrap();
    near.write_all(CANARY.as_bytes()).await.unwrap();
    drain(&mut near).await;
    drop(near);
    let _ = serving.await.unwrap();
    assert!(!log.0.lock().unwrap().is_empty(), "something is logged");
    log.check("lines");
}

#[tokio::test]
async fn http_requests_reach_no_log() {
    let log = Log::default();
    let _logging = tracing::subscriber::set_default(log.clone());
    let listener = mcp_sdk::transport::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let server = server();
    let serving = tokio::spawn(async move {
        server.serve_http_on(listener, HttpSettings::default(), pending()).await;
    });
    let send = async |text: String| {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(text.as_bytes()).await.unwrap();
        let mut reply = Vec::new();
        let read = stream.read_to_end(&mut reply);
        let _ = tokio::time::timeout(Duration::from_secs(2), read).await;
        String::from_utf8_lossy(&reply).into_owned()
    };
    let post = |headers: &str, body: &str| {
        format!(
            "POST /mcp HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\
             content-type: application/json\r\naccept: application/json, text/event-stream\r\n\
             content-length: {}\r\n{headers}\r\n{body}",
            body.len()
        )
    };
    let messages = messages();
    let opened = send(post("", &messages[0])).await;
    let session = opened.lines().find(|line| line.starts_with("mcp-session-id")).unwrap();
    for message in &messages {
        for headers in ["mcp-protocol-version: 2026-07-28\r\n".into(), format!("{session}\r\n")] {
            send(post(&headers, message)).await;
        }
    }
    log.check("bodies");
    for name in [
        "mcp-session-id",
        "mcp-protocol-version",
        "mcp-method",
        "mcp-name",
        "mcp-param-x",
        "origin",
        "accept",
        "content-type",
        "content-encoding",
        "last-event-id",
        "authorization",
        "transfer-encoding",
        CANARY,
    ] {
        send(post(&format!("{name}: {CANARY}\r\n"), &messages[1])).await;
        let get = format!(
            "GET /mcp HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\
             accept: text/event-stream\r\n{session}\r\n{name}: {CANARY}\r\n\r\n"
        );
        if name == "last-event-id" || name == "origin" {
            send(get).await;
        }
    }
    for head in [
        format!("GET /{CANARY}?{CANARY} HTTP/1.1\r\nhost: {CANARY}\r\nconnection: close\r\n\r\n"),
        format!("{CANARY} /mcp HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n"),
        format!("POST /mcp HTTP/1.1\r\nhost: {CANARY}\r\nconnection: close\r\n\r\n"),
        format!("{CANARY}\r\n\r\n"),
        format!("POST /mcp {CANARY}\r\n\r\n"),
        format!("POST /mcp HTTP/1.1\r\nhost: localhost\r\n{CANARY}\r\n\r\n"),
    ] {
        send(head).await;
    }
    serving.abort();
    log.check("heads");
}

#[tokio::test]
async fn websocket_messages_reach_no_log() {
    let log = Log::default();
    let _logging = tracing::subscriber::set_default(log.clone());
    let settings = mcp_sdk::transport::ws::WsServerSettings::default();
    let listener = mcp_sdk::transport::WsListener::bind("127.0.0.1:0", settings).await.unwrap();
    let address = listener.local_addr();
    let server = server();
    let serving = tokio::spawn(async move { server.serve_ws_on(listener, pending()).await });
    let upgrade = |headers: &str| {
        format!(
            "GET /{CANARY} HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n\
             Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n\
             Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n{headers}\r\n"
        )
    };
    let frame = |kind: u8, payload: &[u8]| {
        let mut frame = vec![0x80 | kind];
        if let Ok(length @ ..126) = u8::try_from(payload.len()) {
            frame.push(0x80 | length);
        } else {
            frame.push(0xfe);
            frame.extend(u16::try_from(payload.len()).unwrap().to_be_bytes());
        }
        // The mask is zero.
        frame.extend([0; 4]);
        frame.extend(payload);
        frame
    };
    for headers in
        [format!("Origin: {CANARY}\r\n"), format!("Sec-WebSocket-Protocol: {CANARY}\r\n")]
    {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(upgrade(&headers).as_bytes()).await.unwrap();
        drain(&mut stream).await;
    }
    let mut endings = vec![frame(2, CANARY.as_bytes())];
    endings.push(frame(8, &[&3000_u16.to_be_bytes()[..], CANARY.as_bytes()].concat()));
    endings.push(frame(0xb, CANARY.as_bytes()));
    endings.push(frame(1, &[CANARY.as_bytes(), &[0xff]].concat()));
    for ending in endings {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(upgrade("").as_bytes()).await.unwrap();
        for message in messages() {
            stream.write_all(&frame(1, message.as_bytes())).await.unwrap();
        }
        stream.write_all(&frame(9, CANARY.as_bytes())).await.unwrap();
        stream.write_all(&ending).await.unwrap();
        drain(&mut stream).await;
    }
    serving.abort();
    log.check("WebSocket");
}

/// A server that answers every request with each of `answers` in turn, its id in place of `ID`.
async fn hostile_server(transport: impl Transport, answers: Vec<String>) {
    let mut answers = answers.into_iter().cycle();
    let send = async |text: String| {
        let role = OutboundRole::Notification;
        let bytes = text.into();
        let outbound = Outbound { bytes, role, ticket: None, headers: None, parsed: None };
        let _ = transport.send(outbound).await;
    };
    while let Ok(Some(Inbound::Message { bytes, .. })) = transport.receive().await {
        let Ok(request) = serde_json::from_slice::<Value>(&bytes) else { continue };
        // Not the answers to what it sends itself.
        let (Some(id), Some(_)) = (request.get("id"), request.get("method")) else { continue };
        if request["method"] == "initialize" {
            let result = json!({
                "protocolVersion": "2025-11-25",
                "capabilities": { "tools": {} },
                "serverInfo": { "name": CANARY, "version": CANARY }
            });
            send(json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string()).await;
            continue;
        }
        for message in messages() {
            send(message).await;
        }
        send(answers.next().unwrap().replace("\"ID\"", &id.to_string())).await;
    }
}

#[tokio::test]
async fn what_a_server_sends_reaches_no_log_of_its_client() {
    let log = Log::default();
    let _logging = tracing::subscriber::set_default(log.clone());
    let answers = [
        json!({ "jsonrpc": "2.0", "id": "ID", "result": { CANARY: CANARY } }),
        json!({ "jsonrpc": "2.0", "id": "ID", "result": { "content": CANARY } }),
        json!({ "jsonrpc": "2.0", "id": "ID", "error": { "code": 1, "message": CANARY, "data": CANARY } }),
        json!({ "jsonrpc": "2.0", "id": "ID", "error": CANARY }),
        json!({ "jsonrpc": "2.0", "id": "ID", "result": { "tools": [{ "name": CANARY, "inputSchema": { "type": CANARY } }] } }),
    ];
    let (near, far) = memory::pair(64);
    let answers: Vec<_> = answers.iter().map(Value::to_string).collect();
    let count = answers.len();
    let serving = tokio::spawn(hostile_server(far, answers));
    let client = Client::builder("test", "1.0.0")
        .revision(mcp_sdk::core::Revision::V2025_11_25)
        .connect(near)
        .await
        .unwrap();
    for _ in 0..count {
        assert!(client.call_tool("x", json!({})).await.is_err());
        let _ = client.list_tools(None).await;
    }
    client.close().await;
    let _ = serving.await;
    assert!(!log.0.lock().unwrap().is_empty(), "something is logged");
    log.check("client");
}
