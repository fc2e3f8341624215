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

#[tokio::test]
async fn what_is_kept_of_a_client_is_limited() {
    use crate::wire::{receive, send};

    let server = Server::builder("test", "1.0.0")
        .tool("who", "Tells the length of the client's name", async |_: NoArguments, context| {
            let length = context.client_info().map_or(0, |info| info.name.len());
            Ok(length.to_string())
        })
        .build()
        .unwrap();
    let initialize = |name: usize, capabilities: usize| {
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": { "experimental": { "x": { "y": "x".repeat(capabilities) } } },
            "clientInfo": { "name": "x".repeat(name), "version": "1" }
        } })
    };
    let connect = || {
        let (near, far) = memory::pair(16);
        let server = server.clone();
        tokio::spawn(async move { server.serve(far).await });
        near
    };
    let envelope = json!({ "experimental": { "x": { "y": "" } } }).to_string().len();
    let near = connect();
    send(&near, &initialize(1, (64 << 10) - envelope + 1)).await;
    assert_eq!(receive(&near).await["error"]["code"], -32602);
    let near = connect();
    send(&near, &initialize(MEBIBYTE, (64 << 10) - envelope)).await;
    assert_eq!(receive(&near).await["result"]["protocolVersion"], "2025-11-25");
    send(&near, &json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
    let call = json!({ "name": "who", "arguments": {} });
    send(&near, &json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call }))
        .await;
    let length = receive(&near).await["result"]["content"][0]["text"].as_str().unwrap().to_owned();
    assert!(length.parse::<usize>().unwrap() < 1100, "{length}");
}

#[tokio::test]
async fn an_unknown_name_of_any_length_gives_a_short_error() {
    use crate::wire::ask;

    let server = server(20 * MEBIBYTE, Validation::enforce());
    let (near, far) = memory::pair(16);
    tokio::spawn(async move { server.serve(far).await });
    let long = "x".repeat(15 * MEBIBYTE);
    for (method, params) in [
        ("tools/call", json!({ "name": long })),
        ("prompts/get", json!({ "name": long })),
        ("resources/read", json!({ "uri": format!("x:{long}") })),
        ("tools/list", json!({ "cursor": long })),
        (long.as_str(), json!({})),
    ] {
        let answer = ask(&near, method, params).await;
        let length = answer.to_string().len();
        assert!(answer.get("error").is_some() && length < 10_000, "{length}");
    }
}

#[tokio::test]
async fn a_long_id_is_refused_and_nobody_is_blamed_for_the_refusal() {
    use crate::wire::{receive, send};
    use std::sync::{Arc, Mutex};

    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "c", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {}
    });
    for validation in [Validation::observe(), Validation::enforce()] {
        let found = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&found);
        let validation = validation.on_finding(move |finding| {
            seen.lock().expect("no thread panicked").push(finding.rule.name);
        });
        let server = server(20 * MEBIBYTE, validation);
        let (near, far) = memory::pair(16);
        tokio::spawn(async move { server.serve(far).await });
        let id = "x".repeat(5000);
        let params = json!({ "_meta": meta });
        send(
            &near,
            &json!({ "jsonrpc": "2.0", "id": id, "method": "tools/list", "params": params }),
        )
        .await;
        let answer = receive(&near).await;
        assert_eq!(answer["error"]["code"], -32600, "{answer}");
        assert_eq!(answer["id"], id);
        assert_eq!(*found.lock().unwrap(), [""; 0]);
    }
}
