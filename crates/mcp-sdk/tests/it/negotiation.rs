//! How a client finds a revision that both sides support.

use std::sync::{Arc, Mutex};

use mcp_sdk::{
    Client, ClientBuilder, ClientError, NoArguments, Server, Validation,
    core::{Revision, Revisions},
    transport::memory,
};
use serde_json::json;

fn server(revisions: Revisions) -> Server {
    Server::builder("test", "1.0.0")
        .revisions(revisions)
        .tool("hello", "Says hello", async |_: NoArguments, _| Ok("hello"))
        .build()
        .unwrap()
}

/// A client that collects every finding.
fn client() -> (ClientBuilder, Arc<Mutex<Vec<String>>>) {
    let findings: Arc<Mutex<Vec<String>>> = Arc::default();
    let seen = Arc::clone(&findings);
    let validation = Validation::enforce().on_finding(move |finding| {
        seen.lock().unwrap().push(format!("{}: {}", finding.rule.name, finding.message));
    });
    (Client::builder("test-client", "1.0.0").validation(validation), findings)
}

async fn in_memory(server: Server, client: ClientBuilder) -> Result<Client, ClientError> {
    let (near, far) = memory::pair(16);
    tokio::spawn(async move { server.serve(far).await });
    client.connect(near).await
}

#[cfg(feature = "http")]
async fn over_http(server: Server, client: ClientBuilder) -> Result<Client, ClientError> {
    use mcp_sdk::transport::http::server::HttpSettings;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    tokio::spawn(async move {
        server.serve_http_on(listener, HttpSettings::default(), std::future::pending()).await;
    });
    client.connect_http(&url).await
}

#[track_caller]
fn check_speaks(
    client: &Client,
    revision: Revision,
    findings: &Mutex<Vec<String>>,
) -> impl Future<Output = ()> {
    assert_eq!(client.revision(), revision);
    assert_eq!(*findings.lock().unwrap(), Vec::<String>::new());
    let client = client.clone();
    async move {
        let result = client.call_tool("hello", json!({})).await.unwrap();
        assert_eq!(result.all_text(), "hello");
        client.close().await;
    }
}

#[tokio::test]
async fn a_server_of_the_handshake_era_is_detected() {
    for newest in Revision::ALL.into_iter().filter(|revision| *revision != Revision::LATEST) {
        let (builder, findings) = client();
        let client = in_memory(server(Revisions::up_to(newest)), builder).await.unwrap();
        check_speaks(&client, newest, &findings).await;
    }
}

#[cfg(feature = "http")]
#[tokio::test]
async fn a_server_of_the_handshake_era_is_detected_over_http() {
    for newest in [Revision::V2025_03_26, Revision::V2025_06_18, Revision::V2025_11_25] {
        let (builder, findings) = client();
        let client = over_http(server(Revisions::up_to(newest)), builder).await.unwrap();
        check_speaks(&client, newest, &findings).await;
    }
    let (builder, findings) = client();
    let client = over_http(server(Revisions::ALL), builder).await.unwrap();
    check_speaks(&client, Revision::LATEST, &findings).await;
}

#[tokio::test]
async fn a_server_of_the_newest_revision_alone_rejects_an_older_client() {
    let (builder, _) = client();
    let builder = builder.revision(Revision::V2025_06_18);
    let error = in_memory(server(Revisions::only(Revision::LATEST)), builder).await.unwrap_err();
    let result = std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default();
    assert!(format!("{error} {result}").contains("2025-06-18"), "{error} {result}");
}

#[tokio::test]
async fn a_client_of_the_newest_revision_alone_learns_what_the_server_supports() {
    let (builder, _) = client();
    let builder = builder.revision(Revision::LATEST);
    let error = in_memory(server(Revisions::LEGACY), builder).await.unwrap_err();
    assert!(matches!(error, ClientError::NoCommonRevision { .. }), "{error}");
}
