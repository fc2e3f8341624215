//! Clients and servers over WebSocket, in every pairing.

use std::{ffi::OsString, io::Write as _, net::SocketAddr, os::unix::net::UnixStream};

use mcp_core::{Inbound, Outbound, OutboundRole, Transport as _, TransportError};
use mcp_proxy::{
    Access, Policy, ProxiedServerSettings,
    bridge::remote::{Remote, RemoteSettings, run_over},
};
use mcp_sdk::{
    Client, ClientBuilder, NoArguments, Server,
    core::{ElicitForm, ElicitRequest, ElicitResult, Revision},
    transport::{
        LineSettings, LineTransport, WsListener, WsTransport,
        http::server::{HttpSettings, ServeSettings, serve},
        ws::{self, WsClientSettings, WsServerSettings},
    },
};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{
        TcpListener, TcpStream,
        unix::{OwnedReadHalf, OwnedWriteHalf},
    },
    task::JoinHandle,
};

use crate::{
    children::program,
    support::{Outcome, Proxy, Recording, parts, post, raw_client},
};

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
const PING: &str = r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#;
const BAD_CURSOR: &str = r#"{"jsonrpc":"2.0","id":5,"method":"tools/list","params":{"cursor":7}}"#;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Echo {
    text: String,
}

fn sdk_server() -> Server {
    Server::builder("server", "1")
        .tool("echo", "Repeats", async |echo: Echo, _| Ok(echo.text))
        .tool("ask", "Asks the user", async |_: NoArguments, context| {
            let form = ElicitForm::new().required("name", ElicitForm::string());
            let answer = context.elicit("who", &ElicitRequest::form("Who?", form)).await?;
            Ok(serde_json::to_string(&answer.content)?)
        })
        .build()
        .unwrap()
}

/// A server over WebSocket; returns its URL.
async fn ws_server() -> String {
    let listener = WsListener::bind("127.0.0.1:0", WsServerSettings::default()).await.unwrap();
    let address = listener.local_addr();
    tokio::spawn(async move { sdk_server().serve_ws_on(listener, std::future::pending()).await });
    format!("ws://{address}/mcp")
}

/// A server over HTTP; returns its URL.
async fn http_server() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let service = sdk_server().http_service(HttpSettings::default());
    tokio::spawn(serve(listener, service, ServeSettings::default(), std::future::pending()));
    format!("http://{address}/mcp")
}

/// A server that shows what it receives, message by message, and says what it is told to.
async fn manual_server() -> (String, JoinHandle<WsTransport>) {
    let listener = WsListener::bind("127.0.0.1:0", WsServerSettings::default()).await.unwrap();
    let url = format!("ws://{}/", listener.local_addr());
    (url, tokio::spawn(async move { listener.accept().await.unwrap() }))
}

async fn open(address: SocketAddr) -> WsTransport {
    ws::connect(&format!("ws://{address}/mcp"), &WsClientSettings::default()).await.unwrap()
}

async fn say(socket: &WsTransport, text: &str) {
    let (bytes, role) = (text.to_owned().into(), OutboundRole::Notification);
    socket.send(Outbound { bytes, role, ticket: None, headers: None, parsed: None }).await.unwrap();
}

async fn hear_text(socket: &WsTransport) -> String {
    match socket.receive().await.unwrap() {
        Some(Inbound::Message { bytes, .. }) => String::from_utf8(bytes.to_vec()).unwrap(),
        other => panic!("{other:?}"),
    }
}

async fn hear(socket: &WsTransport) -> Value {
    serde_json::from_str(&hear_text(socket).await).unwrap()
}

fn builder(revision: Revision) -> ClientBuilder {
    Client::builder("client", "1").revision(revision).on_elicitation(async |_| {
        let name = [("name".to_owned(), json!("Ann"))];
        Ok(ElicitResult::accept(name.into_iter().collect()))
    })
}

async fn use_it(client: &Client) {
    assert!(client.list_tools(None).await.unwrap().tools.len() >= 2);
    let echo = client.call_tool("echo", json!({ "text": "héllo\n\u{2028}" })).await.unwrap();
    assert!(format!("{echo:?}").contains("héllo"), "{echo:?}");
    let asked = client.call_tool("ask", json!({})).await.unwrap();
    assert!(format!("{asked:?}").contains("Ann"), "{asked:?}");
}

fn assert_clean(outcome: &Outcome) {
    assert_eq!(outcome.live, [""; 0], "{}", outcome.record);
    assert!(outcome.counts.messages >= 6, "{:?}", outcome.counts);
    outcome.assert_same();
}

const ERAS: [Revision; 2] = [Revision::LATEST_LEGACY, Revision::LATEST];

fn policies() -> [Policy; 2] {
    [Policy::observe(), Policy::enforce()]
}

#[tokio::test(flavor = "multi_thread")]
async fn a_web_socket_client_reaches_every_kind_of_server() {
    for revision in ERAS {
        for policy in policies() {
            let settings = ProxiedServerSettings::default();
            let command: [OsString; 1] = [program().into()];
            for (proxy, wire) in [
                (Proxy::to(&ws_server().await, policy.clone(), &settings).await, "ws"),
                (Proxy::to(&http_server().await, policy.clone(), &settings).await, "ws"),
                (Proxy::starting(&command, policy.clone(), &settings).await, "stdio"),
            ] {
                let url = format!("ws://{}/mcp", proxy.address);
                let client = builder(revision).connect_ws(&url).await.unwrap();
                use_it(&client).await;
                client.close().await;
                let outcome = proxy.stop().await;
                assert_clean(&outcome);
                assert!(outcome.record.contains(r#""session":"socket-1""#), "{}", outcome.record);
                let is_ws = outcome.record.contains(r#""transport":"ws""#);
                assert_eq!(is_ws, wire == "ws", "{}", outcome.record);
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_http_client_reaches_a_web_socket_server() {
    for revision in ERAS {
        for policy in policies() {
            let proxy =
                Proxy::to(&ws_server().await, policy.clone(), &ProxiedServerSettings::default())
                    .await;
            let url = format!("http://{}/mcp", proxy.address);
            let client = builder(revision).connect_http(&url).await.unwrap();
            client.list_tools(None).await.unwrap();
            client.call_tool("echo", json!({ "text": "a" })).await.unwrap();
            client.close().await;
            let outcome = proxy.stop().await;
            assert_eq!(outcome.live, [""; 0], "{}", outcome.record);
            assert!(outcome.record.contains(r#""transport":"ws""#), "{}", outcome.record);
            outcome.assert_same();
        }
    }
}

/// A client on standard streams, and a server at `url`.
fn bridge(url: &str, policy: Policy) -> (UnixStream, Recording, JoinHandle<()>) {
    let recording = Recording::new(policy);
    let (stream, other) = UnixStream::pair().unwrap();
    let input = other.try_clone().unwrap();
    let remote = Remote::new(url, 16 << 20, &Access::default()).unwrap();
    let tap = recording.tap.clone();
    let running = tokio::spawn(async move {
        let settings = RemoteSettings::default();
        run_over(remote, (input, other), &tap, &settings).await;
    });
    (stream, recording, running)
}

fn lines(stream: UnixStream) -> LineTransport<OwnedReadHalf, OwnedWriteHalf> {
    stream.set_nonblocking(true).unwrap();
    let (input, output) = tokio::net::UnixStream::from_std(stream).unwrap().into_split();
    LineTransport::new(input, output, &LineSettings::default())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_on_standard_streams_reaches_a_web_socket_server() {
    for revision in ERAS {
        for policy in policies() {
            let (stream, recording, running) = bridge(&ws_server().await, policy);
            let client = builder(revision).connect(lines(stream)).await.unwrap();
            use_it(&client).await;
            client.close().await;
            running.await.unwrap();
            assert_clean(&recording.finish().await);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_web_socket_fails_who_waits_and_is_opened_again() {
    let listener = WsListener::bind("127.0.0.1:0", WsServerSettings::default()).await.unwrap();
    let url = format!("ws://{}/", listener.local_addr());
    let (stream, recording, running) = bridge(&url, Policy::observe());
    let client = lines(stream.try_clone().unwrap());
    let hear = async || match client.receive().await.unwrap() {
        Some(Inbound::Message { bytes, .. }) => serde_json::from_slice::<Value>(&bytes).unwrap(),
        other => panic!("{other:?}"),
    };
    let say = |text: &str| (&stream).write_all(format!("{text}\n").as_bytes());
    let agreed = INITIALIZE_RESULT;
    say(INITIALIZE).unwrap();
    let server = listener.accept().await.unwrap();
    hear_text(&server).await;
    self::say(&server, agreed).await;
    assert_eq!(hear().await["id"], 1);
    say(PING).unwrap();
    assert_eq!(hear_text(&server).await, PING);
    drop(server);
    let answer = hear().await;
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(2), &json!(-32603)));
    // The conversation is gone with the connection.
    say(PING).unwrap();
    let answer = hear().await;
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(message.contains("start a new conversation"), "{message}");
    say(INITIALIZE).unwrap();
    let server = listener.accept().await.unwrap();
    assert_eq!(hear_text(&server).await, INITIALIZE);
    self::say(&server, agreed).await;
    assert_eq!(hear().await["id"], 1);
    // Without a conversation, a connection is as good as another.
    drop(server);
    let modern = PING.replace(
        r#""ping""#,
        r#""tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}"#,
    );
    let server = loop {
        say(&modern).unwrap();
        tokio::select! {
            server = listener.accept() => break server.unwrap(),
            // It may have been sent before the loss was noticed.
            answer = hear() => assert_eq!(answer["error"]["code"], -32603),
        }
    };
    assert_eq!(hear_text(&server).await, modern);
    stream.shutdown(std::net::Shutdown::Both).unwrap();
    running.await.unwrap();
    recording.finish().await.assert_same();
}

const INITIALIZE_RESULT: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}"#;

const LAST_WORD: &str = r#"{"jsonrpc":"2.0","id":"last","method":"ping"}"#;

#[tokio::test(flavor = "multi_thread")]
async fn faults_are_found_live_as_in_the_record() {
    for policy in policies() {
        let (url, server) = manual_server().await;
        let proxy = Proxy::to(&url, policy, &ProxiedServerSettings::default()).await;
        let client = open(proxy.address).await;
        let server = server.await.unwrap();
        say(&client, INITIALIZE).await;
        assert_eq!(hear_text(&server).await, INITIALIZE);
        say(&server, INITIALIZE_RESULT).await;
        assert_eq!(hear_text(&client).await, INITIALIZE_RESULT);
        for bad in ["{", "[]", "no message", BAD_CURSOR, r#"{"jsonrpc":"1.0"}"#] {
            say(&client, bad).await;
            say(&server, bad).await;
        }
        say(&client, INITIALIZED).await;
        say(&server, LAST_WORD).await;
        while hear_text(&server).await != INITIALIZED {}
        while hear_text(&client).await != LAST_WORD {}
        let outcome = proxy.stop().await;
        assert!(outcome.live.len() >= 8, "{:?}", outcome.live);
        outcome.assert_same();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_breaks_the_protocol_does_not_pass_under_enforcement() {
    let (url, server) = manual_server().await;
    let mut settings = ProxiedServerSettings::default();
    settings.max_message = 1000;
    let proxy = Proxy::to(&url, Policy::enforce(), &settings).await;
    let client = open(proxy.address).await;
    let server = server.await.unwrap();
    say(&client, INITIALIZE).await;
    hear_text(&server).await;
    say(&server, INITIALIZE_RESULT).await;
    hear_text(&client).await;
    say(&client, INITIALIZED).await;
    hear_text(&server).await;
    // A request is answered in the server's place.
    say(&client, BAD_CURSOR).await;
    let answer = hear(&client).await;
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(5), &json!(-32602)));
    say(&client, &"x".repeat(2000)).await;
    assert!(hear_text(&client).await.contains("too long to be judged"));
    // If the ends of an overlong message show its id, the caller gets an error with that id.
    let long = "x".repeat(2000);
    say(&client, &format!(r#"{{"method":"a","params":{{"b":"{long}"}},"id":7}}"#)).await;
    let answer = hear(&client).await;
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(7), &json!(-32600)));
    say(&client, r#"{"jsonrpc":"2.0","id":8,"method":"ping"}"#).await;
    hear_text(&server).await;
    say(&server, &format!(r#"{{"result":{{"b":"{long}"}},"jsonrpc":"2.0","id":8}}"#)).await;
    let answer = hear(&client).await;
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(8), &json!(-32603)));
    // An answer that is wrong becomes an error for whoever waits.
    say(&client, r#"{"jsonrpc":"2.0","id":6,"method":"tools/list"}"#).await;
    assert!(hear_text(&server).await.contains(r#""id":6"#));
    say(&server, r#"{"jsonrpc":"2.0","id":6,"result":{"tools":7}}"#).await;
    let answer = hear(&client).await;
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(6), &json!(-32603)));
    say(&client, PING).await;
    assert_eq!(hear_text(&server).await, PING);
    let outcome = proxy.stop().await;
    assert_eq!(outcome.counts.rejected, 2);
    outcome.assert_same();
}

/// Opens a WebSocket by hand; returns the response, too.
async fn raw_open(address: SocketAddr, headers: &str) -> (TcpStream, String) {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = format!(
        "GET /a?b HTTP/1.1\r\nHost: {address}\r\nConnection: keep-alive, Upgrade\r\n\
         Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
         Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n{headers}\r\n"
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let head = read_head(&mut stream).await;
    (stream, head)
}

async fn read_head(stream: &mut TcpStream) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.unwrap());
    }
    String::from_utf8(head).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn observed_frames_pass_as_they_are() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let url = format!("ws://{address}/path");
    let proxy = Proxy::to(&url, Policy::observe(), &ProxiedServerSettings::default()).await;
    let accepting = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let head = read_head(&mut stream).await;
        let answer = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\
                      Connection: Upgrade\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n";
        stream.write_all(answer.as_bytes()).await.unwrap();
        (stream, head)
    });
    let extension = "Sec-WebSocket-Extensions: permessage-deflate\r\nX-Mine: 1\r\n";
    let (mut client, answer) = raw_open(proxy.address, extension).await;
    assert!(answer.contains("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="), "{answer}");
    let (mut server, head) = accepting.await.unwrap();
    let head = head.to_lowercase();
    assert!(head.starts_with("get /a?b http/1.1\r\n"), "{head}");
    assert!(head.contains(&format!("host: {address}\r\n")) && head.contains("x-mine: 1"), "{head}");
    assert!(!head.contains("deflate"), "{head}");
    // A message in three masked frames with a ping between them; odd masks; nonsense.
    let sent: &[&[u8]] = &[
        b"\x01\x83\x01\x02\x03\x04zcc",
        b"\x89\x81\x00\x00\x00\x00!",
        b"\x00\x80\xff\xff\xff\xff",
        b"\x80\x81\x00\x00\x00\x00}",
        b"\x82\x82\x00\x00\x00\x00\xff\x00",
        b"\xf3\x05wrong",
        b"\x88\x80\x00\x00\x00\x00",
    ];
    for bytes in sent {
        client.write_all(bytes).await.unwrap();
    }
    let mut received = vec![0; sent.concat().len()];
    server.read_exact(&mut received).await.unwrap();
    assert_eq!(received, sent.concat());
    let answer: &[u8] = b"\x01\x01{\x8a\x00\x80\x01}\x81\x7e\x00\x02{}\x88\x02\x03\xe8";
    server.write_all(answer).await.unwrap();
    let mut received = vec![0; answer.len()];
    client.read_exact(&mut received).await.unwrap();
    assert_eq!(received, answer);
    // The end of a side is the end of the other.
    client.shutdown().await.unwrap();
    assert_eq!(server.read(&mut [0]).await.unwrap(), 0);
    drop(server);
    assert_eq!(client.read(&mut [0]).await.unwrap(), 0);
    let outcome = proxy.stop().await;
    let texts: Vec<&str> = outcome.record.lines().collect();
    let messages = r#""transport":"ws""#;
    assert_eq!(outcome.record.matches(messages).count(), 5, "{texts:?}");
    assert!(outcome.record.contains(r#""msg":{}"#), "{texts:?}");
    outcome.assert_same();
}

#[tokio::test(flavor = "multi_thread")]
async fn broken_frames_end_the_connection_under_enforcement() {
    let (url, server) = manual_server().await;
    let proxy = Proxy::to(&url, Policy::enforce(), &ProxiedServerSettings::default()).await;
    let (mut client, _) = raw_open(proxy.address, "").await;
    let server = server.await.unwrap();
    // Not masked.
    client.write_all(b"\x81\x02{}").await.unwrap();
    let mut received = Vec::new();
    client.read_to_end(&mut received).await.unwrap();
    assert_eq!(received[2..4], 1002_u16.to_be_bytes());
    assert!(matches!(server.receive().await, Err(TransportError::Lost(_))));
    proxy.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_that_may_not_connect_are_refused() {
    let gone = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let mut settings = ProxiedServerSettings::default();
    settings.token = Some("right".into());
    let command: [OsString; 1] = ["cat".into()];
    for proxy in [
        Proxy::to(&format!("ws://{gone}/"), Policy::observe(), &settings).await,
        Proxy::starting(&command, Policy::observe(), &settings).await,
    ] {
        let right = "Authorization: Bearer right\r\n";
        for (headers, expected) in [
            (String::new(), " 401 "),
            ("Authorization: Bearer wrong\r\n".to_owned(), " 401 "),
            (format!("{right}Origin: http://evil.example\r\n"), " 403 "),
        ] {
            let (_, head) = raw_open(proxy.address, &headers).await;
            assert!(head[..20].contains(expected), "{head}");
        }
        proxy.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_web_socket_server_that_cannot_be_reached_is_named() {
    let gone = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let url = format!("ws://{gone}/");
    let proxy = Proxy::to(&url, Policy::observe(), &ProxiedServerSettings::default()).await;
    let (mut stream, head) = raw_open(proxy.address, "Connection: close\r\n").await;
    assert!(head.starts_with("HTTP/1.1 502"), "{head}");
    let mut body = Vec::new();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
    body.resize(length.trim().parse().unwrap(), 0);
    stream.read_exact(&mut body).await.unwrap();
    assert!(String::from_utf8(body).unwrap().contains("the server cannot be reached"));
    let (status, text) = parts(&raw_client(proxy.address, &post(INITIALIZE, "")).await);
    let answer: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((status, &answer["id"], &answer["error"]["code"]), (200, &json!(1), &json!(-32603)));
    proxy.stop().await;
    let (stream, recording, running) = bridge(&url, Policy::observe());
    let client = lines(stream.try_clone().unwrap());
    for _ in 0..2 {
        (&stream).write_all(format!("{INITIALIZE}\n").as_bytes()).unwrap();
        let Some(Inbound::Message { bytes, .. }) = client.receive().await.unwrap() else {
            panic!()
        };
        let answer: Value = serde_json::from_slice(&bytes).unwrap();
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.starts_with("the server cannot be reached: "), "{message}");
    }
    stream.shutdown(std::net::Shutdown::Both).unwrap();
    running.await.unwrap();
    recording.finish().await.assert_same();
}

#[tokio::test(flavor = "multi_thread")]
async fn each_connection_has_a_child_that_ends_with_it() {
    let command: [OsString; 1] = [program().into()];
    let mut settings = ProxiedServerSettings::default();
    settings.max_children = 2;
    let proxy = Proxy::starting(&command, Policy::observe(), &settings).await;
    let (first, second) = (open(proxy.address).await, open(proxy.address).await);
    for socket in [&first, &second] {
        say(socket, INITIALIZE).await;
        assert_eq!(hear(socket).await["id"], 1);
    }
    let url = format!("ws://{}/", proxy.address);
    let refused = ws::connect(&url, &WsClientSettings::default()).await.unwrap_err();
    assert!(matches!(refused, TransportError::Status { status: 503, .. }), "{refused}");
    // A server that exits is the end of its connection, and whoever waits is told.
    say(&first, INITIALIZED).await;
    say(
        &first,
        r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"exit","arguments":{}}}"#,
    )
    .await;
    let answer = hear(&first).await;
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(2), &json!(-32603)));
    assert!(first.receive().await.is_err());
    say(&second, PING).await;
    assert_eq!(hear(&second).await["result"], json!({}));
    let outcome = proxy.stop().await;
    assert!(outcome.record.contains(r#""session":"socket-2""#), "{}", outcome.record);
    outcome.assert_same();
}
