//! The message size limit: one setting for every transport.

use mcp_sdk::{
    Client, NoArguments, Server, Validation,
    core::Revision,
    schemars::JsonSchema,
    transport::{http::server::HttpSettings, memory},
};
use serde::Deserialize;
use serde_json::json;

#[derive(Deserialize, JsonSchema)]
struct Echo {
    text: String,
}

const MEBIBYTE: usize = 1 << 20;

fn server(limit: usize, validation: Validation) -> Server {
    Server::builder("test", "1.0.0")
        .max_message_bytes(limit)
        .validation(validation)
        .tool("length", "Counts", async |echo: Echo, _| Ok(echo.text.len().to_string()))
        .tool("long", "Says much", async |_: NoArguments, _| Ok("x".repeat(2000)))
        .build()
        .unwrap()
}

fn client(limit: usize) -> mcp_sdk::ClientBuilder {
    Client::builder("test", "1.0.0")
        .max_message_bytes(limit)
        .validation(Validation::off())
        .revision(Revision::LATEST)
}

/// Starts the server over HTTP and returns its address.
async fn start(server: Server) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let settings = HttpSettings::default();
        server.serve_http_on(listener, settings, std::future::pending()).await;
    });
    url
}

#[tokio::test]
async fn long_messages_pass_if_both_sides_raise_the_limit() {
    let text = "x".repeat(17 * MEBIBYTE);
    for validation in [Validation::off(), Validation::enforce()] {
        let server = server(20 * MEBIBYTE, validation);
        let url = start(server.clone()).await;
        let (near, far) = memory::pair(16);
        tokio::spawn(async move { server.serve(far).await });
        for client in [
            client(20 * MEBIBYTE).connect(near).await.unwrap(),
            client(20 * MEBIBYTE).connect_http(&url).await.unwrap(),
        ] {
            let length = client.call_tool("length", json!({ "text": text })).await.unwrap();
            assert_eq!(length.all_text(), text.len().to_string());
        }
    }
}

#[tokio::test]
async fn messages_over_the_limit_of_the_server_are_rejected() {
    let text = "x".repeat(2000);
    for validation in [Validation::off(), Validation::enforce()] {
        let server = server(1500, validation);
        let url = start(server.clone()).await;
        let (near, far) = memory::pair(16);
        tokio::spawn(async move { server.serve(far).await });
        for client in [
            client(MEBIBYTE).connect(near).await.unwrap(),
            client(MEBIBYTE).connect_http(&url).await.unwrap(),
        ] {
            let options = mcp_sdk::CallOptions::new().timeout(std::time::Duration::from_secs(2));
            let called = client.call_tool_with("length", json!({ "text": text }), &options).await;
            assert!(called.is_err(), "{called:?}");
            let called = client.call_tool("length", json!({ "text": "short" })).await;
            assert_eq!(called.unwrap().all_text(), "5");
        }
    }
}

#[tokio::test]
async fn responses_over_the_limit_of_the_client_fail_the_call() {
    let server = server(MEBIBYTE, Validation::enforce());
    let url = start(server).await;
    let client = client(1500).connect_http(&url).await.unwrap();
    assert!(client.call_tool("long", json!({})).await.is_err());
    assert!(client.call_tool("length", json!({ "text": "short" })).await.is_ok());
}
