//! Servers that fail, and clients that may not ask.

use std::time::Duration;

use mcp_proxy::{Access, Policy, ProxiedServerSettings, http::Upstream};
use serde_json::Value;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};

use crate::support::{Proxy, parts, post, raw_client, raw_server};

const PING: &str = r#"{"jsonrpc":"2.0","id":"a","method":"ping"}"#;

#[tokio::test]
async fn a_server_that_cannot_be_reached_is_named_in_the_answer() {
    let gone = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    for policy in [Policy::observe(), Policy::enforce()] {
        let proxy = Proxy::start(gone, policy).await;
        let (status, text) = parts(&raw_client(proxy.address, &post(PING, "")).await);
        let answer: Value = serde_json::from_str(&text).unwrap();
        assert_eq!((status, &answer["id"]), (502, &"a".into()));
        assert_eq!(answer["error"]["code"], -32603);
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.starts_with("the server cannot be reached: "), "{message}");
        proxy.stop().await;
    }
}

#[tokio::test]
async fn a_server_that_hangs_up_is_named_too() {
    let (upstream, _) = raw_server(1, Vec::new()).await;
    let proxy = Proxy::start(upstream, Policy::observe()).await;
    let (status, text) = parts(&raw_client(proxy.address, &post(PING, "")).await);
    assert_eq!(status, 502);
    assert!(text.contains("the connection to the server broke"), "{text}");
    proxy.stop().await;
}

#[tokio::test]
async fn a_client_that_breaks_off_is_not_the_servers_fault() {
    let head = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
    for (policy, body) in [
        (Policy::observe(), "Content-Length: 100\r\n\r\n{"),
        (Policy::observe(), "Transfer-Encoding: chunked\r\n\r\nzz\r\n{\r\n0\r\n\r\n"),
        (Policy::enforce(), "Transfer-Encoding: chunked\r\n\r\nzz\r\n{\r\n0\r\n\r\n"),
    ] {
        let (upstream, serving) = raw_server(usize::MAX, Vec::new()).await;
        let proxy = Proxy::start(upstream, policy).await;
        let mut client = TcpStream::connect(proxy.address).await.unwrap();
        client.write_all(format!("{head}{body}").as_bytes()).await.unwrap();
        client.shutdown().await.unwrap();
        let mut answer = Vec::new();
        client.read_to_end(&mut answer).await.unwrap();
        let (status, text) = parts(&answer);
        assert_eq!(status, 400, "{text}");
        assert!(text.contains("the body is incomplete") && text.contains("-32700"), "{text}");
        proxy.stop().await;
        serving.abort();
    }
}

#[tokio::test]
async fn a_client_that_stalls_in_the_middle_of_a_body_is_not_waited_for() {
    let mut settings = ProxiedServerSettings::default();
    settings.body_stall = Duration::from_millis(50);
    let head = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
    for policy in [Policy::observe(), Policy::enforce()] {
        for body in ["Content-Length: 100\r\n\r\n{", "Transfer-Encoding: chunked\r\n\r\n5\r\n{"] {
            let (upstream, serving) = raw_server(usize::MAX, Vec::new()).await;
            let proxy = Proxy::with(upstream, policy.clone(), &settings).await;
            let (status, text) =
                parts(&raw_client(proxy.address, format!("{head}{body}").as_bytes()).await);
            assert_eq!(status, 400, "{text}");
            assert!(text.contains("the body is incomplete"), "{text}");
            proxy.stop().await;
            serving.abort();
        }
    }
}

#[tokio::test]
async fn each_side_is_talked_to_in_our_version_of_http() {
    let answer = "HTTP/1.0 202 Accepted\r\n\r\n";
    let old = String::from_utf8(post(PING, "")).unwrap().replace("HTTP/1.1", "HTTP/1.0");
    for (request, expected) in [(post(PING, ""), "HTTP/1.1 202"), (old.into(), "HTTP/1.0 202")] {
        let (upstream, serving) = raw_server(request.len() - 60, answer.into()).await;
        let proxy = Proxy::start(upstream, Policy::observe()).await;
        let got = raw_client(proxy.address, &request).await;
        assert!(got.starts_with(expected.as_bytes()), "{}", String::from_utf8_lossy(&got));
        let received = serving.await.unwrap();
        assert!(received.starts_with(b"POST /mcp HTTP/1.1\r\n"));
        proxy.stop().await;
    }
}

#[tokio::test]
async fn a_server_that_switches_protocols_unasked_is_not_followed() {
    let answer = "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\nhi";
    for policy in [Policy::observe(), Policy::enforce()] {
        let (upstream, _) = raw_server(1, answer.into()).await;
        let proxy = Proxy::start(upstream, policy).await;
        let (status, text) = parts(&raw_client(proxy.address, &post(PING, "")).await);
        assert_eq!(status, 502, "{text}");
        assert!(text.contains("nobody has asked"), "{text}");
        proxy.stop().await;
    }
}

#[tokio::test]
async fn foreign_hosts_and_pages_and_wrong_tokens_are_refused() {
    let (upstream, serving) = raw_server(1, Vec::new()).await;
    let mut settings = ProxiedServerSettings::default();
    settings.token = Some("right".into());
    let proxy = Proxy::with(upstream, Policy::observe(), &settings).await;
    for (headers, expected) in [
        ("Origin: http://evil.example\r\nAuthorization: Bearer right\r\n", 403),
        ("Host: evil.example\r\nAuthorization: Bearer right\r\n", 403),
        ("", 401),
        ("Authorization: Bearer wrong\r\n", 401),
        ("Authorization: right\r\n", 401),
    ] {
        let (status, _) = parts(&raw_client(proxy.address, &post(PING, headers)).await);
        assert_eq!(status, expected, "{headers}");
    }
    assert!(!serving.is_finished());
    raw_client(proxy.address, &post(PING, "Authorization: bearer right\r\n")).await;
    let received = String::from_utf8(serving.await.unwrap()).unwrap();
    assert!(!received.contains("right"), "the token was passed on: {received}");
    proxy.stop().await;
}

#[test]
fn upstream_urls_are_checked() {
    for url in ["", "mcp", "ftp://a/", "http://", "http://user:secret@a/", "//a/b"] {
        let error = Upstream::new(url, &Access::default()).unwrap_err().to_string();
        assert!(!error.contains("secret"), "{error}");
    }
    assert!(Upstream::new("http://127.0.0.1:1/mcp", &Access::default()).is_ok());
}
