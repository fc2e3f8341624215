//! Servers that respond with garbage, or not at all: calls of our client fail and never hang.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use mcp_sdk::{
    CallOptions, Client, ClientError, Validation,
    core::{Inbound, Outbound, OutboundRole, PeerError, Revision, Transport},
    transport::{ChildCommand, MemoryTransport, memory},
};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
};

use super::{wire::Checks, within};

/// A server in memory that sends what `answer` returns for each request after the handshake.
async fn served(checks: Checks, answer: impl Fn(&Value) -> Vec<String> + Send + 'static) -> Client {
    let (near, far) = memory::pair(64);
    tokio::spawn(async move {
        while let Ok(Some(Inbound::Message { bytes, .. })) = far.receive().await {
            let request: Value = serde_json::from_slice(&bytes).unwrap();
            let answers = if request["method"] == "initialize" {
                vec![opened(&request)]
            } else if request.get("id").is_some() || request["method"] == "initialize" {
                answer(&request)
            } else {
                Vec::new()
            };
            for answer in answers {
                send_text(&far, answer).await;
            }
        }
    });
    Client::builder("client", "1")
        .validation(checks.validation())
        .revision(Revision::LATEST_LEGACY)
        .timeout(Duration::from_secs(20))
        .connect(near)
        .await
        .unwrap()
}

async fn send_text(transport: &MemoryTransport, text: String) {
    let role = OutboundRole::Notification;
    let outbound = Outbound { bytes: text.into(), role, ticket: None, headers: None, parsed: None };
    transport.send(outbound).await.unwrap();
}

fn opened(request: &Value) -> String {
    json!({ "jsonrpc": "2.0", "id": request["id"], "result": {
        "protocolVersion": "2025-11-25", "capabilities": { "tools": {} },
        "serverInfo": { "name": "liar", "version": "1" },
    }})
    .to_string()
}

fn is_invalid(error: &ClientError) -> bool {
    matches!(error, ClientError::Call { cause: PeerError::InvalidResponse { .. }, .. })
}

fn good(request: &Value) -> String {
    let result = json!({ "content": [{ "type": "text", "text": "good" }] });
    json!({ "jsonrpc": "2.0", "id": request["id"], "result": result }).to_string()
}

/// An invalid response with a readable id fails its call.
#[tokio::test]
async fn an_invalid_response_fails_its_call() {
    for wrong in [
        r#"{"jsonrpc":"2.0","id":ID}"#,
        r#"{"jsonrpc":"1.0","id":ID,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":ID,"result":{},"error":{"code":1,"message":"x"}}"#,
        r#"{"jsonrpc":"2.0","id":ID,"error":7}"#,
        r#"{"jsonrpc":"2.0","id":ID,"error":{"code":"x","message":1}}"#,
        r#"[{"jsonrpc":"2.0","id":ID,"result":{"content":[]}}]"#,
    ] {
        for checks in Checks::ALL {
            let client = served(checks, move |request| {
                vec![wrong.replace("ID", &request["id"].to_string())]
            })
            .await;
            let error = within(client.call_tool("any", json!({}))).await.unwrap_err();
            assert!(is_invalid(&error), "{wrong} {checks:?}: {error}");
        }
    }
}

#[tokio::test]
async fn a_result_of_the_wrong_shape_is_invalid_or_unreadable() {
    for result in ["null", "7", r#"{"content":7}"#, r#"{"content":[{"type":"text"}]}"#] {
        for checks in Checks::ALL {
            let client = served(checks, move |request| {
                vec![format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, request["id"])]
            })
            .await;
            let error = within(client.call_tool("any", json!({}))).await.unwrap_err();
            let unreadable = matches!(error, ClientError::Unreadable { .. });
            assert_eq!(is_invalid(&error), checks == Checks::Enforce, "{result}: {error}");
            assert_eq!(unreadable, checks == Checks::Off, "{result}: {error}");
        }
    }
}

#[tokio::test]
async fn garbage_before_the_response_does_not_matter() {
    for checks in Checks::ALL {
        let client = served(checks, |request| {
            vec![
                "stray line".to_owned(),
                "{".to_owned(),
                "[]".to_owned(),
                r#"{"jsonrpc":"2.0","id":"unknown","result":{}}"#.to_owned(),
                r#"{"jsonrpc":"2.0","id":999,"result":{}}"#.to_owned(),
                r#"{"jsonrpc":"2.0","method":"notifications/nobody/knows"}"#.to_owned(),
                r#"{"jsonrpc":"2.0","id":1,"method":"no/such"}"#.to_owned(),
                good(request),
                good(request),
            ]
        })
        .await;
        for _ in 0..3 {
            let answer = within(client.call_tool("any", json!({}))).await.unwrap();
            assert_eq!(answer.all_text(), "good");
        }
    }
}

#[tokio::test]
async fn silence_times_out() {
    let client = served(Checks::Enforce, |_| Vec::new()).await;
    let options = CallOptions::new().timeout(Duration::from_millis(50));
    let error = within(client.call_tool_with("any", json!({}), &options)).await.unwrap_err();
    assert!(
        matches!(error, ClientError::Call { cause: PeerError::TimedOut { .. }, .. }),
        "{error}"
    );
}

#[tokio::test]
async fn a_cyclic_list_ends() {
    let client = served(Checks::Off, |request| {
        let result = json!({ "tools": [], "nextCursor": "again" });
        vec![json!({ "jsonrpc": "2.0", "id": request["id"], "result": result }).to_string()]
    })
    .await;
    assert_eq!(within(client.all_tools()).await.unwrap().len(), 0);
}

#[tokio::test]
async fn an_endless_list_is_given_up() {
    let client = served(Checks::Off, |request| {
        // Every page names another one.
        let result = json!({ "tools": [], "nextCursor": request["id"].to_string() });
        vec![json!({ "jsonrpc": "2.0", "id": request["id"], "result": result }).to_string()]
    })
    .await;
    let error = within(client.all_tools()).await.unwrap_err();
    assert!(matches!(error, ClientError::TooManyPages { .. }), "{error}");
}

/// The handshake follows when the probe was not understood, in whichever way.
#[tokio::test]
async fn servers_that_do_not_know_the_probe_get_a_handshake() {
    for probed in [
        "true",
        r#"echo '{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}'"#,
        r#"echo '{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no"}}'"#,
        r#"echo '{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no"}}'"#,
        "echo garbage",
    ] {
        let script = format!(
            r#"echo 'listening on standard input' ; read line; {probed}; read line; case "$line" in *initialize*) ;; *) exit 9;; esac
            echo '{{"jsonrpc":"2.0","id":2,"result":{{"protocolVersion":"2025-06-18","capabilities":{{}},"serverInfo":{{"name":"old","version":"1"}}}}}}'
            read line; read line; echo '{{"jsonrpc":"2.0","id":3,"result":{{}}}}'; cat >/dev/null"#
        );
        let command = ChildCommand::new("sh").arg("-c").arg(script);
        let findings = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&findings);
        let validation = Validation::enforce().on_finding(move |finding| {
            let side = finding.at_fault.or(finding.from).map(|side| side.to_string());
            seen.lock().unwrap().push((finding.rule.name, side));
        });
        let builder = Client::builder("client", "1").validation(validation);
        let builder = builder.probe_timeout(Duration::from_millis(300));
        let client = within(builder.connect_child(&command)).await.unwrap();
        assert_eq!(client.revision(), Revision::V2025_06_18, "{probed}");
        within(client.ping()).await.unwrap();
        within(client.close()).await;
        let findings = findings.lock().unwrap();
        assert!(!findings.is_empty(), "the stray line is a finding");
        assert!(
            findings.iter().all(|(_, side)| side.as_deref() == Some("server")),
            "{probed}: {findings:?}"
        );
    }
}

/// An HTTP server that opens a session and then answers every POST with the same bytes.
async fn http_served(reply: &'static [u8]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut text = Vec::new();
                let mut buffer = [0; 4096];
                let mut whole = false;
                while !whole {
                    let Ok(length @ 1..) = stream.read(&mut buffer).await else { return };
                    text.extend_from_slice(&buffer[..length]);
                    let text = String::from_utf8_lossy(&text);
                    whole = text.starts_with("GET") || text.ends_with('}');
                }
                let text = String::from_utf8_lossy(&text);
                let body = text.split("\r\n\r\n").nth(1).unwrap_or_default();
                let request: Value = serde_json::from_str(body).unwrap_or_default();
                let opening = opened(&request);
                let head =
                    "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n";
                let refused = b"HTTP/1.1 405 No\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
                let taken = b"HTTP/1.1 202 Yes\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
                let _ = match (&text[..3], request["method"].as_str(), request.get("id")) {
                    ("GET", ..) => stream.write_all(refused).await,
                    (_, Some("initialize"), _) => {
                        let length = opening.len();
                        let text = format!("{head}content-length: {length}\r\n\r\n{opening}");
                        stream.write_all(text.as_bytes()).await
                    }
                    (_, _, None) => stream.write_all(taken).await,
                    _ => stream.write_all(reply).await,
                };
            });
        }
    });
    url
}

#[tokio::test]
async fn garbage_over_http_fails_the_call() {
    for reply in [
        &b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\ngarbage"[..],
        b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n[]",
        b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n7",
        b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n{\"jsonrpc\":\"2.0\",\"id\":99,\"result\":{}}",
        b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\ndata: garbage\n\n",
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nconnection: close\r\n\r\n<html>",
        b"HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
        b"HTTP/1.1 500 Oops\r\ncontent-length: 4\r\nconnection: close\r\n\r\noops",
        b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100\r\nconnection: close\r\n\r\n{",
        b"no HTTP at all\r\n\r\n",
        b"",
    ] {
        let url = http_served(reply).await;
        let builder = Client::builder("client", "1")
            .revision(Revision::LATEST_LEGACY)
            .timeout(Duration::from_secs(30));
        let client = within(builder.connect_http(&url)).await.unwrap();
        let error = within(client.call_tool("any", json!({}))).await.unwrap_err();
        let shown = String::from_utf8_lossy(reply);
        let timed_out = matches!(&error, ClientError::Call { cause: PeerError::TimedOut { .. }, .. });
        assert!(!timed_out, "{shown}: {error}");
        within(client.close()).await;
    }
}

#[tokio::test]
async fn progress_functions_may_panic_or_end_other_calls() {
    let client = served(Checks::Off, |request| {
        let token = &request["params"]["_meta"]["progressToken"];
        let params = json!({ "progressToken": token, "progress": 1 });
        let progress =
            json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": params });
        vec![progress.to_string(), good(request)]
    })
    .await;
    let options = CallOptions::new().on_progress(|_| panic!("on purpose"));
    let answer = within(client.call_tool_with("any", json!({}), &options)).await.unwrap();
    assert_eq!(answer.all_text(), "good");

    let other = client.clone();
    let options = CallOptions::new().on_progress(move |_| {
        let options = CallOptions::new().on_progress(|_| {});
        // Started and dropped meanwhile.
        drop(futures_now(other.call_tool_with("any", json!({}), &options)));
    });
    let answer = within(client.call_tool_with("any", json!({}), &options)).await.unwrap();
    assert_eq!(answer.all_text(), "good");
}

/// Polls once.
fn futures_now<T>(future: impl Future<Output = T>) -> Option<T> {
    let mut future = std::pin::pin!(future);
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    match future.as_mut().poll(&mut context) {
        std::task::Poll::Ready(value) => Some(value),
        std::task::Poll::Pending => None,
    }
}
