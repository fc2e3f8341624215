//! How the era of an HTTP request is determined.

use mcp_sdk::{
    NoArguments, Server, Validation,
    core::{Revision, Revisions},
    transport::http::server::{HttpSettings, ServeSettings, serve},
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};

/// Starts a server that supports `revisions` and returns its address.
async fn start(revisions: Revisions) -> String {
    start_with(revisions, Validation::enforce()).await
}

async fn start_with(revisions: Revisions, validation: Validation) -> String {
    let server = Server::builder("test", "1.0.0")
        .revisions(revisions)
        .validation(validation)
        .tool("nothing", "Does nothing", async |_: NoArguments, _| Ok(()))
        .build()
        .unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let service = server.http_service(HttpSettings::default());
    tokio::spawn(serve(listener, service, ServeSettings::default(), std::future::pending()));
    address
}

/// Status line, headers and body of the response.
async fn post(address: &str, headers: &[(&str, &str)], body: &str) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let headers: String =
        headers.iter().map(|(name, value)| [name, ": ", value, "\r\n"].concat()).collect();
    let request = format!(
        "POST /mcp HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncontent-length: {}\r\n\
         content-type: application/json\r\naccept: application/json, text/event-stream\r\n\
         {headers}\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).await.unwrap();
    response
}

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{
    "protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;

#[tokio::test]
async fn the_stateless_era_has_no_handshake() {
    let address = start(Revisions::ALL).await;
    let headers = [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "initialize")];
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"_meta":{
        "io.modelcontextprotocol/protocolVersion":"2026-07-28",
        "io.modelcontextprotocol/clientCapabilities":{}}}}"#;
    let response = post(&address, &headers, body).await;
    assert!(response.starts_with("HTTP/1.1 404"), "{response}");
    assert!(response.contains("-32601"), "{response}");

    let response = post(&address, &[("mcp-protocol-version", "2025-11-25")], INITIALIZE).await;
    assert!(response.starts_with("HTTP/1.1 200"), "{response}");
    assert!(response.contains(r#""protocolVersion":"2025-11-25""#), "{response}");
}

#[tokio::test]
async fn a_server_without_the_handshake_lists_its_revisions() {
    let address = start(Revisions::from(Revision::LATEST)).await;
    for headers in [&[][..], &[("mcp-protocol-version", "2025-11-25")]] {
        let response = post(&address, headers, INITIALIZE).await;
        assert!(response.starts_with("HTTP/1.1 400"), "{response}");
        assert!(response.contains(r#""supported":["2026-07-28"]"#), "{response}");
    }
}

#[tokio::test]
async fn a_handshake_is_one_whatever_its_meta_says() {
    let address = start(Revisions::ALL).await;
    let meta = r#""params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",
        "io.modelcontextprotocol/clientCapabilities":{}},"#;
    let response = post(&address, &[], &INITIALIZE.replace(r#""params":{"#, meta)).await;
    assert!(response.starts_with("HTTP/1.1 200"), "{response}");
    assert!(response.contains("mcp-session-id: "), "{response}");
}

#[tokio::test]
async fn a_handshake_that_fails_leaves_no_session() {
    for validation in [Validation::off(), Validation::observe(), Validation::enforce()] {
        let address = start_with(Revisions::ALL, validation).await;
        for part in [r#""protocolVersion":"2025-11-25","#, r#","version":"1""#] {
            let response = post(&address, &[], &INITIALIZE.replace(part, "")).await;
            assert!(response.starts_with("HTTP/1.1 200"), "{response}");
            assert!(response.contains("-32602"), "{response}");
            assert!(!response.contains("mcp-session-id"), "{response}");
        }
    }
}

#[tokio::test]
async fn a_handshake_that_expects_no_answer_does_not_wait_for_one() {
    for validation in [Validation::off(), Validation::enforce()] {
        let address = start_with(Revisions::ALL, validation).await;
        let response = post(&address, &[], &INITIALIZE.replace("\"id\":1,", "")).await;
        assert!(response.starts_with("HTTP/1.1 400"), "{response}");
        assert!(!response.contains("mcp-session-id"), "{response}");
    }
}

#[tokio::test]
async fn the_service_supports_the_revisions_of_the_server() {
    let address = start(Revisions::up_to(Revision::V2025_06_18)).await;
    let response = post(&address, &[], INITIALIZE).await;
    assert!(response.contains(r#""protocolVersion":"2025-06-18""#), "{response}");
    let session = response.lines().find_map(|line| line.strip_prefix("mcp-session-id: ")).unwrap();

    let ping = r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#;
    for (version, status) in [("2025-06-18", 200), ("2025-11-25", 400)] {
        let headers = [("mcp-session-id", session), ("mcp-protocol-version", version)];
        let response = post(&address, &headers, ping).await;
        assert!(response.starts_with(&format!("HTTP/1.1 {status}")), "{version}: {response}");
    }
}

#[tokio::test]
async fn a_request_before_the_initialized_notification_is_served() {
    let address = start(Revisions::ALL).await;
    let response = post(&address, &[], INITIALIZE).await;
    let session = response.lines().find_map(|line| line.strip_prefix("mcp-session-id: ")).unwrap();
    let headers = [("mcp-session-id", session), ("mcp-protocol-version", "2025-11-25")];
    let list = r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#;
    let response = post(&address, &headers, list).await;
    assert!(response.contains(r#""name":"nothing""#), "{response}");
    let initialized = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    let response = post(&address, &headers, initialized).await;
    assert!(response.starts_with("HTTP/1.1 202"), "{response}");
}

#[tokio::test]
async fn invalid_json_is_a_bad_request_even_in_a_session() {
    for revisions in [Revisions::ALL, Revisions::LEGACY] {
        let address = start(revisions).await;
        let response = post(&address, &[], INITIALIZE).await;
        let session =
            response.lines().find_map(|line| line.strip_prefix("mcp-session-id: ")).unwrap();
        let headers = [("mcp-session-id", session), ("mcp-protocol-version", "2025-11-25")];
        for headers in [&headers[..], &headers[..1], &[]] {
            for body in ["{", "", "{}{}", "\u{feff}"] {
                let response = post(&address, headers, body).await;
                assert!(response.starts_with("HTTP/1.1 400"), "{headers:?} {body}: {response}");
                assert!(response.contains("-32700"), "{headers:?} {body}: {response}");
            }
        }
        let ping = r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#;
        assert!(post(&address, &headers, ping).await.starts_with("HTTP/1.1 200"));
    }
}

#[tokio::test]
async fn a_missing_body_is_reported_as_empty() {
    let address = start(Revisions::ALL).await;
    for (headers, body) in [(&[][..], ""), (&[("mcp-protocol-version", "2026-07-28")], " \r\n")] {
        let response = post(&address, headers, body).await;
        assert!(response.starts_with("HTTP/1.1 400"), "{response}");
        assert!(response.contains("-32700"), "{response}");
        assert!(response.contains("the body is empty"), "{response}");
    }
}

#[tokio::test]
async fn a_request_without_params_gets_an_error_about_the_missing_metadata() {
    let address = start(Revisions::ALL).await;
    let headers = [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/list")];
    for params in ["", r#","params":{}"#] {
        let body = [r#"{"jsonrpc":"2.0","id":1,"method":"tools/list""#, params, "}"].concat();
        let response = post(&address, &headers, &body).await;
        for needed in ["_meta", "protocolVersion", "clientCapabilities", "clientInfo"] {
            assert!(response.contains(needed), "{needed}: {response}");
        }
    }
}
