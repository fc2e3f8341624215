//! Restarted servers and reconnecting clients.

use mcp_sdk::{
    Client, ClientError, NoArguments, Server,
    core::Revision,
    transport::{http::server::HttpSettings, memory},
};
use tokio::{net::TcpListener, sync::oneshot, task::JoinHandle};

fn server(answer: &'static str) -> Server {
    Server::builder("test", "1.0.0")
        .tool("who", "Says who it is", move |_: NoArguments, _| async move { Ok(answer) })
        .build()
        .unwrap()
}

fn start(listener: TcpListener, answer: &'static str) -> (oneshot::Sender<()>, JoinHandle<()>) {
    let (stop, stopped) = oneshot::channel();
    let shutdown = async { drop(stopped.await) };
    let serving = tokio::spawn(async move {
        server(answer).serve_http_on(listener, HttpSettings::default(), shutdown).await;
    });
    (stop, serving)
}

#[tokio::test]
async fn a_client_reconnects_to_a_restarted_server() {
    for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
        // Kept open between the two servers to reserve the port.
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        port.set_nonblocking(true).unwrap();
        let listener = || TcpListener::from_std(port.try_clone().unwrap()).unwrap();
        let address = port.local_addr().unwrap();
        let (stop, serving) = start(listener(), "the first");
        let url = format!("http://{address}/mcp");
        let builder = Client::builder("test", "1.0.0").revision(revision);
        let mut client = builder.connect_http(&url).await.unwrap();
        assert_eq!(client.call_tool("who", ()).await.unwrap().all_text(), "the first");
        stop.send(()).unwrap();
        serving.await.unwrap();

        let (stop, serving) = start(listener(), "the second");
        let answer = match client.call_tool("who", ()).await {
            Err(error) => {
                assert_eq!(revision, Revision::V2025_11_25, "nothing was forgotten: {error}");
                assert!(error.is_disconnected(), "{error:?}");
                client = client.reconnect().await.unwrap();
                client.call_tool("who", ()).await
            }
            answer => answer,
        };
        assert_eq!(answer.unwrap().all_text(), "the second");
        client.close().await;
        stop.send(()).unwrap();
        serving.await.unwrap();
    }
}

#[tokio::test]
async fn a_client_with_a_custom_transport_cannot_reconnect() {
    let (near, far) = memory::pair(16);
    tokio::spawn(async move { server("x").serve(far).await });
    let client = Client::builder("test", "1.0.0").connect(near).await.unwrap();
    client.close().await;
    let error = client.call_tool("who", ()).await.unwrap_err();
    assert!(error.is_disconnected(), "{error:?}");
    assert!(matches!(client.reconnect().await, Err(ClientError::CannotReconnect)));
}
