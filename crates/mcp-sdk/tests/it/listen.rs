//! Servers over the network, from the first connection to the shutdown.

use std::time::Duration;

use mcp_sdk::{
    Client, NoArguments, Server, Validation,
    core::{Context, Inbound, Json, Outbound, OutboundRole, Revision, Tool, Transport},
    transport::{
        WsListener,
        http::server::HttpSettings,
        memory,
        ws::{self, WsClientSettings, WsServerSettings},
    },
};
use serde_json::{Value, json};
use tokio::sync::oneshot;

/// Its tool `slow` signals its start and ends a moment later.
fn server(begun: tokio::sync::mpsc::Sender<()>) -> Server {
    Server::builder("test", "1.0.0")
        .tool("quick", "Is quick", async |_: NoArguments, _| Ok("quick"))
        .tool("slow", "Takes a moment", move |_: NoArguments, _: Context| {
            let begun = begun.clone();
            async move {
                begun.send(()).await?;
                tokio::time::sleep(Duration::from_millis(100)).await;
                Ok("slow")
            }
        })
        .build()
        .unwrap()
}

/// A shutdown lets requests in flight finish, and then ends the server.
async fn shut_down_during_a_call(
    client: Client,
    mut begun: tokio::sync::mpsc::Receiver<()>,
    stop: oneshot::Sender<()>,
    serving: tokio::task::JoinHandle<()>,
) {
    assert_eq!(client.call_tool("quick", json!({})).await.unwrap().all_text(), "quick");
    let calling = tokio::spawn(async move { client.call_tool("slow", json!({})).await });
    begun.recv().await.unwrap();
    stop.send(()).unwrap();
    assert_eq!(calling.await.unwrap().unwrap().all_text(), "slow");
    tokio::time::timeout(Duration::from_secs(30), serving).await.unwrap().unwrap();
}

#[tokio::test]
async fn http_in_both_eras() {
    for revision in [Revision::V2025_11_25, Revision::LATEST] {
        let (sender, begun) = tokio::sync::mpsc::channel(1);
        let (stop, stopped) = oneshot::channel();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let server = server(sender);
        let serving = tokio::spawn(async move {
            let stop = async { drop(stopped.await) };
            server.serve_http_on(listener, HttpSettings::default(), stop).await;
        });
        let builder = || Client::builder("test", "1.0.0").revision(revision);
        assert!(builder().connect_http(&format!("{url}/elsewhere")).await.is_err());
        let client = builder().connect_http(&format!("{url}/mcp")).await.unwrap();
        shut_down_during_a_call(client, begun, stop, serving).await;
    }
}

#[tokio::test]
async fn websocket_in_both_eras() {
    for revision in [Revision::V2025_11_25, Revision::LATEST] {
        let (sender, begun) = tokio::sync::mpsc::channel(1);
        let (stop, stopped) = oneshot::channel();
        let settings = WsServerSettings::default();
        let listener = WsListener::bind("127.0.0.1:0", settings).await.unwrap();
        let url = format!("ws://{}", listener.local_addr());
        let server = server(sender);
        let serving = tokio::spawn(async move {
            server.serve_ws_on(listener, async { drop(stopped.await) }).await;
        });
        let builder = Client::builder("test", "1.0.0").revision(revision);
        let client = builder.connect_ws(&url).await.unwrap();
        shut_down_during_a_call(client, begun, stop, serving).await;
    }
}

#[tokio::test]
async fn dropping_a_server_disconnects_its_client() {
    let (near, far) = memory::pair(16);
    let server = server(tokio::sync::mpsc::channel(1).0);
    let serving = tokio::spawn(async move { server.serve(far).await });
    let client = Client::builder("test", "1.0.0").connect(near).await.unwrap();
    let mut events = client.events();
    serving.abort();
    let event = tokio::time::timeout(Duration::from_secs(20), events.recv()).await;
    assert!(matches!(event, Ok(Ok(mcp_sdk::ClientEvent::Closed))), "{event:?}");
    assert!(client.call_tool("quick", json!({})).await.is_err());
}

#[tokio::test]
async fn a_port_in_use_is_an_error() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = server(tokio::sync::mpsc::channel(1).0);
    let http = server.serve_http(port, std::future::pending()).await;
    let ws = server.serve_ws(port, std::future::pending()).await;
    for outcome in [http, ws] {
        let message = outcome.unwrap_err().to_string();
        assert!(message.contains(&format!("could not listen on 127.0.0.1:{port}: ")), "{message}");
    }
}

/// The rules in the error response to a message that is not JSON.
async fn rules_against(transport: &impl Transport, text: &'static str) -> Vec<String> {
    let (bytes, role) = (text.into(), OutboundRole::Request);
    transport
        .send(Outbound { bytes, role, ticket: None, headers: None, parsed: None })
        .await
        .unwrap();
    let answer = transport.receive().await.unwrap();
    let Some(Inbound::Message { bytes, .. }) = answer else { panic!("no answer: {answer:?}") };
    let answer: Value = serde_json::from_slice(&bytes).unwrap();
    let findings = answer["error"]["data"].as_array().cloned().unwrap_or_default();
    findings.iter().map(|finding| finding["rule"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn every_way_to_open_a_websocket_uses_the_same_rules() {
    let pretty = "{\n  \"jsonrpc\": \"2.0\",\r\n  \"id\": 1,\n  \"method\": \"ping\"\n}\n";
    let server = server(tokio::sync::mpsc::channel(1).0);
    let bind = || WsListener::bind("127.0.0.1:0", WsServerSettings::default());
    let (accepting, listening) = (bind().await.unwrap(), bind().await.unwrap());
    let addresses = [accepting.local_addr(), listening.local_addr()];
    let other = server.clone();
    tokio::spawn(async move { other.serve(accepting.accept().await.unwrap()).await });
    tokio::spawn(async move { server.serve_ws_on(listening, std::future::pending()).await });
    for address in addresses {
        let url = format!("ws://{address}");
        let transport = ws::connect(&url, &WsClientSettings::default()).await.unwrap();
        assert_eq!(rules_against(&transport, "hello").await, ["message-not-json"]);
        assert!(rules_against(&transport, pretty).await.is_empty());
    }
}

#[tokio::test]
async fn tools_with_invalid_header_marks_are_omitted_only_over_http() {
    let schema = r#"{"type":"object","properties":{"a":{"type":"number","x-mcp-header":"A"}}}"#;
    let server = Server::builder("test", "1.0.0")
        .validation(Validation::off())
        .tool("plain", "Has no marks", async |_: NoArguments, _| Ok("plain"))
        .raw_tool(Tool::new("marked", Json::parse(schema).unwrap()), async |_, _| Ok("marked"))
        .build()
        .unwrap();
    let (near, far) = memory::pair(16);
    let other = server.clone();
    tokio::spawn(async move { other.serve(far).await });
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    tokio::spawn(async move {
        server.serve_http_on(listener, HttpSettings::default(), std::future::pending()).await;
    });
    let builder = || Client::builder("test", "1.0.0").revision(Revision::LATEST);
    let names = async |client: Client| {
        let tools = client.all_tools().await.unwrap();
        tools.into_iter().map(|tool| tool.name).collect::<Vec<_>>()
    };
    let piped = builder().connect(near).await.unwrap();
    assert_eq!(names(piped.clone()).await, ["plain", "marked"]);
    let called = piped.call_tool("marked", json!({ "a": 1.5 })).await.unwrap();
    assert_eq!(called.all_text(), "marked");
    assert_eq!(names(builder().connect_http(&url).await.unwrap()).await, ["plain"]);
}

/// A subscription is open-ended; a server that shuts down ends it with a result.
#[tokio::test]
async fn a_shutdown_answers_subscriptions() {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    let (stop, stopped) = oneshot::channel();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let server = server(tokio::sync::mpsc::channel(1).0);
    let serving = tokio::spawn(async move {
        let stop = async { drop(stopped.await) };
        server.serve_http_on(listener, HttpSettings::default(), stop).await;
    });
    let params = json!({ "notifications": { "toolsListChanged": true } });
    let request = crate::wire::http_request(&address, "subscriptions/listen", &[], params);
    let mut stream = tokio::net::TcpStream::connect(&address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let (mut received, mut buffer) = (String::new(), [0; 4096]);
    while !received.contains("notifications/subscriptions/acknowledged") {
        let count = stream.read(&mut buffer).await.unwrap();
        assert_ne!(count, 0, "{received}");
        received.push_str(std::str::from_utf8(&buffer[..count]).unwrap());
    }
    stop.send(()).unwrap();
    let rest = stream.read_to_string(&mut received);
    tokio::time::timeout(Duration::from_secs(30), rest).await.unwrap().unwrap();
    let last = received.lines().rev().find_map(|line| line.strip_prefix("data: ")).unwrap();
    let answer: serde_json::Value = serde_json::from_str(last).unwrap();
    assert_eq!(answer["id"], 1, "{answer}");
    assert_eq!(answer["result"]["_meta"]["io.modelcontextprotocol/subscriptionId"], 1, "{answer}");
    serving.await.unwrap();
}
