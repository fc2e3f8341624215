//! Servers that clients reach over the network, from the first connection to the shutdown.

use std::time::Duration;

use mcp_sdk::{
    Client, NoArguments, Server,
    core::{Context, Revision},
    transport::{WsListener, http::server::HttpSettings, memory, ws::WsServerSettings},
};
use serde_json::json;
use tokio::sync::oneshot;

/// Its tool `slow` says that it has begun, and ends a moment later.
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

/// A shutdown lets what is in work finish, and then ends the server.
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
async fn a_server_that_is_dropped_leaves_its_client() {
    let (near, far) = memory::pair(16);
    let server = server(tokio::sync::mpsc::channel(1).0);
    let serving = tokio::spawn(async move { server.serve(far).await });
    let client = Client::builder("test", "1.0.0").connect(near).await.unwrap();
    let mut events = client.events();
    serving.abort();
    let told = tokio::time::timeout(Duration::from_secs(20), events.recv()).await;
    assert!(matches!(told, Ok(Ok(mcp_sdk::ClientEvent::Closed))), "{told:?}");
    assert!(client.call_tool("quick", json!({})).await.is_err());
}

#[tokio::test]
async fn a_port_that_is_taken_is_told() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = server(tokio::sync::mpsc::channel(1).0);
    assert!(server.serve_http(port, std::future::pending()).await.is_err());
    assert!(server.serve_ws(port, std::future::pending()).await.is_err());
}

/// A subscription has no end of its own; a server that goes says that it is over, and how.
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
    let (mut heard, mut buffer) = (String::new(), [0; 4096]);
    while !heard.contains("notifications/subscriptions/acknowledged") {
        let count = stream.read(&mut buffer).await.unwrap();
        assert_ne!(count, 0, "{heard}");
        heard.push_str(std::str::from_utf8(&buffer[..count]).unwrap());
    }
    stop.send(()).unwrap();
    let rest = stream.read_to_string(&mut heard);
    tokio::time::timeout(Duration::from_secs(30), rest).await.unwrap().unwrap();
    let last = heard.lines().rev().find_map(|line| line.strip_prefix("data: ")).unwrap();
    let answer: serde_json::Value = serde_json::from_str(last).unwrap();
    assert_eq!(answer["id"], 1, "{answer}");
    assert_eq!(answer["result"]["_meta"]["io.modelcontextprotocol/subscriptionId"], 1, "{answer}");
    serving.await.unwrap();
}
