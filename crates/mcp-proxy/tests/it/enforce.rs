//! What breaks the protocol does not pass under enforcement.

use mcp_proxy::{Policy, ProxiedServerSettings};
use serde_json::Value;

use crate::support::{Proxy, parts, post, raw_client, raw_server};

const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

#[tokio::test]
async fn an_invalid_request_never_reaches_the_server() {
    let (upstream, serving) = raw_server(1, Vec::new()).await;
    let proxy = Proxy::start(upstream, Policy::enforce()).await;
    for (body, status, code) in [
        (r#"{"jsonrpc":"2.0","id":5,"method":"tools/list","params":{"cursor":7}}"#, 200, -32602),
        (r#"{"jsonrpc":"2.0","id":5,"metod":"ping"}"#, 400, -32600),
        ("{", 400, -32700),
        (r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{}}"#, 400, -32600),
    ] {
        let answer = raw_client(proxy.address, &post(body, "")).await;
        let (answered, text) = parts(&answer);
        let answer: Value = serde_json::from_str(&text).unwrap();
        assert_eq!((answered, answer["error"]["code"].as_i64()), (status, Some(code)), "{text}");
    }
    assert!(!serving.is_finished(), "the server was asked");
    let outcome = proxy.stop().await;
    assert_eq!(outcome.counts.rejected, 4);
    serving.abort();
}

#[tokio::test]
async fn a_version_that_nobody_published_never_reaches_the_server() {
    let (upstream, serving) = raw_server(1, Vec::new()).await;
    let proxy = Proxy::start(upstream, Policy::enforce()).await;
    let version = "Mcp-Session-Id: abc\r\nMCP-Protocol-Version: 2099-01-01\r\n";
    let (status, text) = parts(&raw_client(proxy.address, &post(PING, version)).await);
    let answer: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        (status, &answer["id"], &answer["error"]["code"]),
        (400, &1.into(), &(-32022).into())
    );
    assert_eq!(answer["error"]["data"]["requested"], "2099-01-01");
    let get = format!(
        "GET /mcp HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAccept: text/event-stream\r\n{version}\r\n"
    );
    assert_eq!(parts(&raw_client(proxy.address, get.as_bytes()).await).0, 400);
    assert!(!serving.is_finished(), "the server was asked");
    let outcome = proxy.stop().await;
    assert_eq!((outcome.counts.rejected, outcome.live.len()), (2, 0), "{:?}", outcome.live);
    serving.abort();
}

#[tokio::test]
async fn a_version_that_nobody_published_passes_where_nothing_is_enforced() {
    let sound = json(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    let version = "Mcp-Session-Id: abc\r\nMCP-Protocol-Version: 2099-01-01\r\n";
    let request = post(PING, version);
    let (upstream, _) = raw_server(request.len() - 30, sound.into_bytes()).await;
    let proxy = Proxy::start(upstream, Policy::observe()).await;
    assert_eq!(parts(&raw_client(proxy.address, &request).await).0, 200);
    let outcome = proxy.stop().await;
    assert_eq!(outcome.counts.rejected, 0);
    outcome.assert_same();
}

#[tokio::test]
async fn what_the_server_does_not_get_makes_no_request_valid() {
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"a","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}"#;
    let headers = "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/list\r\n";
    let request = String::from_utf8(post(body, headers)).unwrap();
    let (upstream, serving) = raw_server(1, json("{}").into()).await;
    let proxy = Proxy::start(upstream, Policy::enforce()).await;
    // It names headers that apply to this connection only.
    let hidden = request.replace("Connection: close", "Connection: close, mcp-method");
    let (status, text) = parts(&raw_client(proxy.address, hidden.as_bytes()).await);
    assert_eq!(status, 400, "{text}");
    assert!(!serving.is_finished(), "the server was asked");
    raw_client(proxy.address, request.as_bytes()).await;
    assert!(!serving.await.unwrap().is_empty(), "the server was not asked");
    proxy.stop().await.assert_same();
}

async fn answered_with(answer: String) -> (u16, String) {
    let request = post(PING, "MCP-Protocol-Version: 2025-06-18\r\n");
    let (upstream, _) = raw_server(request.len() - 30, answer.into_bytes()).await;
    let proxy = Proxy::start(upstream, Policy::enforce()).await;
    let answer = parts(&raw_client(proxy.address, &request).await);
    proxy.stop().await;
    answer
}

fn json(body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
    )
}

#[tokio::test]
async fn an_invalid_response_becomes_an_error() {
    let sound = r#"{"jsonrpc":"2.0", "id":1,"result":{} }"#;
    assert_eq!(answered_with(json(sound)).await, (200, sound.to_owned()));
    let (status, text) = answered_with(json(r#"{"jsonrpc":"2.0","id":1,"result":7}"#)).await;
    let answer: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        (status, &answer["id"], &answer["error"]["code"]),
        (200, &1.into(), &(-32603).into())
    );
    let (status, _) = answered_with(json("<p>")).await;
    assert_eq!(status, 502);
}

#[tokio::test]
async fn an_invalid_event_is_replaced_and_the_others_pass() {
    let note =
        r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}"#;
    let bad = r#"{"jsonrpc":"2.0","id":1,"result":7}"#;
    let (status, text) = answered_with(format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n\
         : hi\n\ndata:  {note}\n\nid: 7\ndata: {bad}\n\n"
    ))
    .await;
    assert_eq!(status, 200);
    assert!(text.contains(": hi\n\n"), "{text}");
    assert!(text.contains(&format!("data:  {note}\n\n")), "{text}");
    assert!(!text.contains(bad) && text.contains("-32603") && text.contains("id: 7\n"), "{text}");
}

#[tokio::test]
async fn what_is_too_long_to_be_judged_does_not_pass() {
    let mut settings = ProxiedServerSettings::default();
    settings.max_message = PING.len();
    let long = format!("{PING} ");
    let (upstream, serving) = raw_server(1, json("{}").into()).await;
    let proxy = Proxy::with(upstream, Policy::enforce(), &settings).await;
    let (status, _) = parts(&raw_client(proxy.address, &post(&long, "")).await);
    assert_eq!(status, 413);
    assert!(!serving.is_finished());
    proxy.stop().await;
    // The same passes where nothing is held back, and is reported.
    let proxy = Proxy::with(upstream, Policy::observe(), &settings).await;
    let (status, _) = parts(&raw_client(proxy.address, &post(&long, "")).await);
    assert_eq!(status, 200);
    let outcome = proxy.stop().await;
    assert!(
        outcome.live.iter().any(|found| found.contains("message-size-limit")),
        "{:?}",
        outcome.live
    );
}

#[tokio::test]
async fn an_event_too_long_to_be_judged_does_not_pass() {
    let mut settings = ProxiedServerSettings::default();
    settings.max_message = 500;
    // Whether or not it comes in one piece with its end, and however little it is too long.
    for length in [501, 600, 5000, 500_000] {
        let long = |id: u8| {
            let start = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":""#);
            format!("{start}{}\"}}", "x".repeat(length - start.len() - 2))
        };
        let answer = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n\
             data: {}\n\ndata: {}\n\n: end\n\n",
            long(7),
            long(1)
        );
        let request = post(PING, "MCP-Protocol-Version: 2025-06-18\r\n");
        let (upstream, _) = raw_server(request.len() - 30, answer.into_bytes()).await;
        let proxy = Proxy::with(upstream, Policy::enforce(), &settings).await;
        let (status, text) = parts(&raw_client(proxy.address, &request).await);
        assert_eq!(status, 200);
        assert!(!text.contains("xxx"), "{length}: {text}");
        assert!(text.ends_with(": end\n\n\r\n0\r\n\r\n"), "{length}: {text}");
        // Whoever waits is told.
        assert_eq!(text.matches("-32603").count(), 1, "{length}: {text}");
        assert!(text.contains("\"id\":1,\"error\""), "{length}: {text}");
        let outcome = proxy.stop().await;
        assert!(outcome.live.iter().any(|found| found.contains("message-size-limit")));
    }
}
