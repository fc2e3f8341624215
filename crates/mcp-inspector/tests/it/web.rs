//! A server over Streamable HTTP.

use axum::{
    Router,
    body::Bytes,
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode},
    response::{IntoResponse as _, Response},
    routing::post,
};
use mcp_inspector::Target;
use mcp_proxy::Access;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::api::Page;

/// Answers a few requests, some as JSON and some as a stream.
async fn answer(headers: HeaderMap, body: Bytes) -> Response {
    let Ok(message) = serde_json::from_slice::<Value>(&body) else {
        let error = json!({ "code": -32700, "message": String::from_utf8_lossy(&body) });
        let text = json!({ "jsonrpc": "2.0", "id": null, "error": error }).to_string();
        let headers = [("content-type", "application/json")];
        return (StatusCode::BAD_REQUEST, headers, text).into_response();
    };
    let id = &message["id"];
    let as_json = |result: Value| {
        let text = json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string();
        ([("content-type", "application/json"), ("mcp-session-id", "s-1")], text).into_response()
    };
    assert!(
        !headers.contains_key("authorization"),
        "the way through the gateway is our own business"
    );
    match message["method"].as_str().unwrap_or_default() {
        "initialize" => as_json(json!({
            "protocolVersion": message["params"]["protocolVersion"],
            "capabilities": { "tools": {}, "logging": {} },
            "serverInfo": { "name": "web", "version": "1" },
        })),
        "tools/list" => {
            as_json(json!({ "tools": [{ "name": "add", "inputSchema": { "type": "object" } }] }))
        }
        "tools/call" => {
            let note = json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": { "level": "info", "data": "adding" } });
            let result = json!({ "jsonrpc": "2.0", "id": id, "result": { "content": [{ "type": "text", "text": "3" }] } });
            let events = format!("id: 0\ndata:\n\ndata: {note}\n\ndata: {result}\n\n");
            ([("content-type", "text/event-stream")], events).into_response()
        }
        "team" => as_json(json!({ "team": headers["x-team"].to_str().unwrap() })),
        _ if id.is_null() => StatusCode::ACCEPTED.into_response(),
        _ => (StatusCode::IM_A_TEAPOT, "short and stout").into_response(),
    }
}

async fn page() -> (Page, String) {
    page_with(Access::default()).await
}

async fn page_with(access: Access) -> (Page, String) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp?x=1", listener.local_addr().unwrap());
    let router = Router::new().route("/mcp", post(answer));
    let service = axum::serve(listener, router);
    tokio::spawn(async move { service.await.unwrap() });
    (Page::about(Target::url(&url, access).unwrap()).await, url)
}

#[tokio::test]
async fn exchanges_are_shown_with_status_and_headers_as_they_reach_the_server() {
    let (page, url) = page().await;
    let state = page.connect(None).await;
    assert_eq!(state["status"], "connected", "{state:#}");
    let call = page.answered(&page.call("add", json!({})).await).await;
    let first = page.frame(&json!(1)).await;
    assert_eq!(first["row"]["method"], "initialize", "{first:#}");
    assert_eq!(first["row"]["http"], format!("POST {url}"));
    let host = url.trim_start_matches("http://").split('/').next().unwrap();
    assert_eq!(first["http"]["headers"]["host"], host);
    assert!(first["http"]["headers"].get("authorization").is_none(), "{first:#}");
    let asked = page.frame(&call["frame"]).await;
    assert_eq!(asked["http"]["headers"]["mcp-session-id"], "s-1");
    let answer = page.frame(&call["answer"]).await;
    assert!(answer["http"]["sse"].is_object(), "{answer:#}");
    assert_eq!(answer["row"]["session"], "1");
    let (status, har) = page.fetch("GET", "api/har", b"").await;
    let har: Value = serde_json::from_slice(&har).unwrap();
    assert_eq!(status, 200);
    assert_eq!(har["log"]["entries"][0]["request"]["url"], url);
    let problems = page.get("problems").await;
    assert_eq!(problems, json!([]), "{problems:#}");
}

#[tokio::test]
async fn headers_of_ones_own_are_sent_and_not_shown() {
    let value = HeaderValue::from_static("for the server alone");
    let access = Access::default().header(HeaderName::from_static("x-team"), value).unwrap();
    let (page, _) = page_with(access).await;
    page.connect(None).await;
    let sent = page.post("speak/request", json!({ "method": "team" })).await;
    let call = page.answered(&sent).await;
    let asked = page.frame(&call["frame"]).await;
    assert!(!asked.to_string().contains("x-team"), "{asked:#}");
    let answer = page.frame(&call["answer"]).await;
    assert!(answer.to_string().contains("for the server alone"), "{answer:#}");
}

#[tokio::test]
async fn what_is_no_answer_is_told_in_the_servers_place() {
    let (page, _) = page().await;
    page.connect(None).await;
    let sent = page.post("speak/request", json!({ "method": "ping" })).await;
    let call = page.answered(&sent).await;
    let answer = page.frame(&call["answer"]).await;
    assert_eq!(answer["row"]["byProxy"], true, "{answer:#}");
}

#[tokio::test]
async fn text_that_is_not_json_reaches_the_server_and_its_answer_comes_back() {
    let (page, _) = page().await;
    page.connect(None).await;
    let sent = page.post("speak/raw", json!({ "text": "{not json" })).await;
    assert_eq!(sent["warning"], Value::Null, "{sent:#}");
    page.shown_refusal("{not json").await;
}

#[tokio::test]
async fn a_server_that_is_not_there_is_named() {
    let page = Page::about(Target::url("http://127.0.0.1:9/mcp", Access::default()).unwrap()).await;
    let state = page.connect(None).await;
    assert_eq!(state["status"], "ended", "{state:#}");
    assert!(!state["reason"].as_str().unwrap().is_empty());
}
