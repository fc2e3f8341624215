use http::{HeaderMap, HeaderValue};
use mcp_core::{MessageHeaders, Outbound, Revision, Ticket, Transport, TransportError};
use mcp_transport::http::client::{HttpSettings, HttpSetupError, HttpTransport};

use super::{client, client_with, next, notification, request, server::Server};

fn modern(headers: MessageHeaders) -> Outbound {
    let headers = MessageHeaders { revision: Some(Revision::V2026_07_28), ..headers };
    Outbound { headers: Some(Box::new(headers)), ..request(1, "{}") }
}

async fn echo() -> Server {
    Server::start(|_, peer| Box::pin(async move { peer.json("{}").await })).await
}

#[tokio::test]
async fn labels_stand_in_the_head() {
    let server = echo().await;
    let client = client(&server);
    let headers = MessageHeaders {
        method: Some("tools/call".to_owned()),
        name: Some("get weather".to_owned()),
        arguments: [("Region", "us-west1"), ("Empty", ""), ("Text", "世界"), ("Blank", " x")]
            .map(|(label, value)| (label.to_owned(), value.to_owned()))
            .into(),
        ..MessageHeaders::default()
    };
    client.send(modern(headers)).await.unwrap();
    assert_eq!(next(&client).await, "1: {}");
    let request = &server.requests()[0];
    for (name, value) in [
        ("MCP-Protocol-Version", "2026-07-28"),
        ("Mcp-Method", "tools/call"),
        ("Mcp-Name", "get weather"),
        ("Mcp-Param-Region", "us-west1"),
        ("Mcp-Param-Empty", ""),
        ("Mcp-Param-Text", "=?base64?5LiW55WM?="),
        ("Mcp-Param-Blank", "=?base64?IHg=?="),
    ] {
        assert_eq!(request.header(name), Some(value), "{name}");
    }
}

#[tokio::test]
async fn nothing_escapes_from_its_line() {
    let server = echo().await;
    let client = client(&server);
    let evil = "x\r\nX-Evil: 1\r\n\r\nGET /evil HTTP/1.1";
    let headers = MessageHeaders {
        name: Some(evil.to_owned()),
        arguments: vec![("A".to_owned(), evil.to_owned())],
        ..MessageHeaders::default()
    };
    client.send(modern(headers)).await.unwrap();
    assert_eq!(next(&client).await, "1: {}");
    assert_eq!(next(&client).await, "1 over");
    for headers in [
        MessageHeaders { method: Some(evil.to_owned()), ..MessageHeaders::default() },
        MessageHeaders {
            arguments: vec![(evil.to_owned(), "1".to_owned())],
            ..MessageHeaders::default()
        },
        MessageHeaders {
            arguments: vec![(String::new(), "1".to_owned())],
            ..MessageHeaders::default()
        },
    ] {
        let error = client.send(modern(headers)).await.unwrap_err();
        assert!(matches!(error, TransportError::Framing(_)), "{error}");
    }
    let requests = server.requests();
    assert_eq!(requests.len(), 1);
    assert_eq!(requests[0].header("x-evil"), None);
    assert!(requests[0].header("mcp-name").unwrap().starts_with("=?base64?"));
}

#[tokio::test]
async fn a_stateless_request_is_cancelled_by_the_end_of_its_exchange_alone() {
    let server = echo().await;
    let client = client(&server);
    client.established(Revision::V2026_07_28);
    client.send(Outbound { ticket: Some(Ticket(1)), ..notification("{}") }).await.unwrap();
    client.send(request(2, "{}")).await.unwrap();
    assert_eq!(next(&client).await, "2: {}");
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn headers_of_the_caller_are_sent_and_never_shown() {
    let server = echo().await;
    let client = client_with(&server, |settings| {
        settings.headers.insert("authorization", HeaderValue::from_static("Bearer hush"));
        settings.headers.append("x-tenant", HeaderValue::from_static("hush-too"));
    });
    client.send(request(1, "{}")).await.unwrap();
    assert_eq!(next(&client).await, "1: {}");
    let request = &server.requests()[0];
    assert_eq!(request.header("authorization"), Some("Bearer hush"));
    assert_eq!(request.header("x-tenant"), Some("hush-too"));
    let shown = format!("{client:#?}");
    assert!(shown.contains("authorization") && shown.contains("/mcp"), "{shown}");
    assert!(!shown.contains("hush") && !shown.contains("secret"), "{shown}");
}

#[test]
fn headers_of_the_protocol_are_not_for_the_caller() {
    for name in ["content-length", "mcp-session-id", "accept", "transfer-encoding"] {
        let mut headers = HeaderMap::new();
        headers.insert(name, HeaderValue::from_static("1"));
        let settings = HttpSettings { headers, ..HttpSettings::default() };
        let error = HttpTransport::new("http://localhost/", settings).unwrap_err();
        assert_eq!(error, HttpSetupError::ReservedHeader(name.to_owned()));
    }
}

#[test]
fn a_url_that_is_none_is_refused() {
    for url in [
        "",
        "localhost",
        "/mcp",
        "ftp://localhost/",
        "http://",
        "http://a:b@localhost/",
        "http://a b/",
    ] {
        let error = HttpTransport::new(url, HttpSettings::default()).unwrap_err();
        assert!(matches!(error, HttpSetupError::Url(_)), "{url}: {error}");
    }
}

#[test]
fn https_needs_tls() {
    let made = HttpTransport::new("https://localhost/mcp", HttpSettings::default());
    if cfg!(feature = "tls") {
        // Whether there are certificates depends on the system.
        assert!(matches!(made, Ok(_) | Err(HttpSetupError::Tls(_))));
    } else {
        assert_eq!(made.unwrap_err(), HttpSetupError::NoTls);
    }
}
