//! Servers that are lost while callers wait.

use std::time::Duration;

use mcp_core::{Inbound, Outbound, OutboundRole, Transport as _};
use mcp_proxy::{
    Access, Policy, ProxiedServerSettings,
    bridge::remote::{Remote, RemoteSettings, run_over},
};
use mcp_transport::{
    WsListener, WsTransport,
    ws::{self, WsClientSettings, WsServerSettings},
};
use serde_json::Value;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
};

use crate::support::{Proxy, Recording, parts, post, raw_client};

const PING: &str = r#"{"jsonrpc":"2.0","id":"a","method":"ping"}"#;
const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":"a","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;

/// What a server does with every request that it has read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Conduct {
    HangUp,
    /// Ends the connection with a reset.
    Reset,
    /// Ends the connection in the middle of its answer.
    BreakOff,
    /// Says nothing, and stays connected.
    Silence,
}

async fn http_server(conduct: Conduct) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let mut kept = Vec::new();
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut text = Vec::new();
            let is_whole = |text: &[u8]| text.ends_with(b"}") || text.ends_with(b"]");
            while !is_whole(&text) && stream.read_buf(&mut text).await.unwrap() > 0 {}
            match conduct {
                Conduct::HangUp => {}
                Conduct::Reset => stream.set_zero_linger().unwrap(),
                Conduct::BreakOff => {
                    let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n";
                    let answer = format!("{head}Content-Length: 100\r\n\r\n{{\"jsonrpc\"");
                    stream.write_all(answer.as_bytes()).await.unwrap();
                }
                Conduct::Silence => kept.push(stream),
            }
        }
    });
    format!("http://{address}/mcp")
}

#[track_caller]
fn assert_told(answer: &str, conduct: Conduct) {
    let answer: Value = serde_json::from_str(answer).unwrap();
    assert_eq!(answer["id"], "a", "{conduct:?}: {answer}");
    assert_eq!(answer["error"]["code"], -32603, "{conduct:?}: {answer}");
    assert!(answer["error"]["message"].as_str().is_some_and(|text| !text.is_empty()));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_http_client_of_an_http_server_is_told() {
    let mut settings = ProxiedServerSettings::default();
    settings.answer_timeout = Duration::from_millis(50);
    for conduct in [Conduct::HangUp, Conduct::Reset, Conduct::BreakOff, Conduct::Silence] {
        for policy in [Policy::observe(), Policy::enforce()] {
            // What has begun to pass cannot be taken back: the client sees that it is incomplete.
            let begun = conduct == Conduct::BreakOff && policy == Policy::observe();
            let url = http_server(conduct).await;
            let proxy = Proxy::to(&url, policy, &settings).await;
            let answer = raw_client(proxy.address, &post(PING, "")).await;
            let (status, text) = parts(&answer);
            if begun {
                assert_eq!((status, text.len()), (200, 10));
            } else {
                assert_eq!(status, if conduct == Conduct::Silence { 504 } else { 502 });
                assert_told(&text, conduct);
            }
            let outcome = proxy.stop().await;
            outcome.assert_same();
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_request_of_a_batch_is_told() {
    let url = http_server(Conduct::HangUp).await;
    let proxy = Proxy::to(&url, Policy::observe(), &ProxiedServerSettings::default()).await;
    let notification = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    let batch = format!("[{PING},{notification},{}]", PING.replace(r#""a""#, "7"));
    let (status, text) = parts(&raw_client(proxy.address, &post(&batch, "")).await);
    assert_eq!(status, 502);
    let answers: Value = serde_json::from_str(&text).unwrap();
    let ids: Vec<Value> =
        answers.as_array().unwrap().iter().map(|answer| answer["id"].clone()).collect();
    assert_eq!(ids, [Value::from("a"), Value::from(7)]);
    proxy.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_on_standard_streams_of_an_http_server_is_told() {
    for conduct in [Conduct::HangUp, Conduct::Reset, Conduct::BreakOff, Conduct::Silence] {
        let url = http_server(conduct).await;
        let remote = Remote::new(&url, 1 << 20, &Access::default()).unwrap();
        let recording = Recording::new(Policy::observe());
        let mut settings = RemoteSettings::default();
        // A client that leaves does not wait for ever for a server that is silent.
        settings.exit_wait = Duration::from_millis(50);
        if conduct != Conduct::Silence {
            settings.exit_wait = Duration::from_secs(60);
        }
        let input = std::io::Cursor::new(format!("{PING}\n"));
        run_over(remote, (input, std::io::sink()), &recording.tap, &settings).await;
        let outcome = recording.finish().await;
        let last: Value = serde_json::from_str(outcome.record.lines().last().unwrap()).unwrap();
        assert_eq!(last["by"], "proxy", "{conduct:?}: {}", outcome.record);
        assert_told(&last["msg"].to_string(), conduct);
        outcome.assert_same();
    }
}

async fn open(proxy: &Proxy) -> WsTransport {
    let url = format!("ws://{}/", proxy.address);
    ws::connect(&url, &WsClientSettings::default()).await.unwrap()
}

async fn say(socket: &WsTransport, text: &str) {
    let (bytes, role) = (text.to_owned().into(), OutboundRole::Notification);
    let message = Outbound { bytes, role, ticket: None, headers: None, parsed: None };
    socket.send(message).await.unwrap();
}

async fn hear(socket: &WsTransport) -> String {
    match socket.receive().await.unwrap() {
        Some(Inbound::Message { bytes, .. }) => String::from_utf8(bytes.to_vec()).unwrap(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_web_socket_client_of_an_http_server_is_told_and_may_go_on() {
    for conduct in [Conduct::HangUp, Conduct::Reset, Conduct::BreakOff] {
        let url = http_server(conduct).await;
        let proxy = Proxy::to(&url, Policy::observe(), &ProxiedServerSettings::default()).await;
        let client = open(&proxy).await;
        for _ in 0..2 {
            say(&client, PING).await;
            assert_told(&hear(&client).await, conduct);
        }
        drop(client);
        proxy.stop().await.assert_same();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_of_a_web_socket_server_are_told_or_disconnected() {
    let listener = WsListener::bind("127.0.0.1:0", WsServerSettings::default()).await.unwrap();
    let url = format!("ws://{}/", listener.local_addr());
    let proxy = Proxy::to(&url, Policy::observe(), &ProxiedServerSettings::default()).await;
    // Over HTTP.
    let request = post(INITIALIZE, "");
    let asking = raw_client(proxy.address, &request);
    let serving = async {
        let server = listener.accept().await.unwrap();
        assert_eq!(hear(&server).await, INITIALIZE);
    };
    let (answer, ()) = tokio::join!(asking, serving);
    assert_told(&parts(&answer).1, Conduct::HangUp);
    // Over WebSocket they see the end of the connection, as they would without a proxy.
    let client = open(&proxy).await;
    let server = listener.accept().await.unwrap();
    say(&client, PING).await;
    assert_eq!(hear(&server).await, PING);
    drop(server);
    assert!(!matches!(client.receive().await, Ok(Some(_))));
    proxy.stop().await.assert_same();
}
