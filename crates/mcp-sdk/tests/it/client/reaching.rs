//! Connecting over HTTP.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use mcp_sdk::ClientError;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
};

use super::{builder, within};

type Heads = Arc<Mutex<Vec<String>>>;

/// Answers everything with `reply`, or never; returns its URL and the received heads.
async fn answering(reply: Option<&'static str>) -> (String, Heads) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let heads = Heads::default();
    let seen = Arc::clone(&heads);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let seen = Arc::clone(&seen);
            tokio::spawn(async move {
                let mut buffer = [0; 8192];
                let length = stream.read(&mut buffer).await.unwrap();
                seen.lock().unwrap().push(String::from_utf8_lossy(&buffer[..length]).into_owned());
                match reply {
                    Some(reply) => stream.write_all(reply.as_bytes()).await.unwrap(),
                    None => std::future::pending().await,
                }
            });
        }
    });
    (url, heads)
}

#[tokio::test]
async fn a_token_is_sent_and_never_shown() {
    let (url, heads) =
        answering(Some("HTTP/1.1 401 Unauthorized\r\nconnection: close\r\n\r\n")).await;
    let builder = builder().header("Authorization", "Bearer secret");
    assert!(!format!("{builder:?}").contains("secret"), "{builder:?}");
    let error = within(builder.connect_http(&url)).await.unwrap_err();
    assert!(!format!("{error:?}").contains("secret"), "{error:?}");
    let heads = heads.lock().unwrap().clone();
    assert!(heads[0].contains("authorization: Bearer secret\r\n"), "{heads:?}");
}

#[tokio::test]
async fn a_header_that_cannot_be_sent_is_an_error() {
    for (name, value) in [("no name", "x"), ("x-key", "secret\n"), ("Mcp-Session-Id", "secret")] {
        let connecting = builder().header(name, value).connect_http("http://127.0.0.1:1/mcp");
        let error = within(connecting).await.unwrap_err().to_string();
        let named = error.to_ascii_lowercase().contains(&name.to_ascii_lowercase());
        assert!(named && !error.contains("secret"), "{error}");
    }
}

#[tokio::test]
async fn an_unauthorized_client_fails_with_the_url_and_does_not_retry() {
    for reply in [
        "HTTP/1.1 401 Unauthorized\r\nconnection: close\r\ncontent-type: application/json\r\n\r\n{\"error\":\"no token\"}",
        "HTTP/1.1 403 Forbidden\r\nconnection: close\r\ncontent-type: text/html\r\n\r\n<html>\n<title>Go away</title>",
    ] {
        let (url, heads) = answering(Some(reply)).await;
        let error = within(builder().connect_http(&url)).await.unwrap_err();
        assert!(matches!(error, ClientError::AccessDenied { .. }), "{error:?}");
        let error = error.to_string();
        let reason = error.contains("no token") || error.contains("Go away");
        assert!(error.contains(&url) && error.contains("credentials") && reason, "{error}");
        assert!(!error.contains('\n'), "{error}");
        assert_eq!(heads.lock().unwrap().len(), 1);
    }
}

#[tokio::test]
async fn a_silent_server_is_named_with_the_timeout() {
    let (url, _heads) = answering(None).await;
    let connecting = builder().connect_timeout(Duration::from_millis(500)).connect_http(&url);
    let error = within(connecting).await.unwrap_err().to_string();
    assert!(error.contains(&url) && error.contains("no response within 500ms"), "{error}");
}

#[tokio::test]
async fn there_is_no_hint_if_the_usual_path_was_used() {
    let (url, _heads) =
        answering(Some("HTTP/1.1 404 Not Found\r\nconnection: close\r\n\r\n")).await;
    let error = within(builder().connect_http(&url)).await.unwrap_err().to_string();
    assert_eq!(error, format!("there is nothing at {url} (HTTP status 404)"));
}

#[tokio::test]
async fn a_url_without_a_scheme_fails_with_the_reason() {
    let error = within(builder().connect_http("127.0.0.1:1/mcp")).await.unwrap_err().to_string();
    assert!(error.contains("127.0.0.1:1/mcp") && error.contains("begin with http://"), "{error}");
    let error = within(builder().connect_http("")).await.unwrap_err().to_string();
    assert_eq!(error, "could not connect: the URL cannot be used: it is empty");
}

#[tokio::test]
async fn the_end_is_reported_once() {
    let (client, _script) =
        super::connected(builder(), mcp_sdk::core::Revision::LATEST_LEGACY, serde_json::json!({}))
            .await;
    client.close().await;
    let error = within(client.ping()).await.unwrap_err().to_string();
    assert_eq!(error, "`ping`: the conversation is over: it was closed");
}
