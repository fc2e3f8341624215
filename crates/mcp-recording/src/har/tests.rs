//! Captures as traces.

use serde_json::{Value, json};

use super::*;

fn entry(start: &str, time: f64, method: &str, body: Option<&Value>, response: &Value) -> Value {
    let mut request = json!({
        "method": method,
        "url": "https://h.example/mcp?x=1",
        "headers": [
            { "name": ":authority", "value": "h.example" },
            { "name": "Content-Type", "value": "application/json" },
            { "name": "Accept", "value": "application/json, text/event-stream" },
        ],
    });
    if let Some(body) = body {
        request["postData"] = json!({ "mimeType": "application/json", "text": body.to_string() });
    }
    let started = format!("2025-11-25T10:00:{start}Z");
    json!({ "startedDateTime": started, "time": time, "request": request, "response": response })
}

fn response(status: u16, kind: &str, content: &Value) -> Value {
    json!({ "status": status, "headers": [{ "name": "content-type", "value": kind }], "content": content })
}

fn trace(entries: &[Value]) -> (HarTrace, Vec<Value>) {
    let text =
        serde_json::to_string_pretty(&json!({ "log": { "version": "1.2", "entries": entries } }));
    let trace = read(text.unwrap().as_bytes(), 1 << 20).unwrap();
    let lines = String::from_utf8(trace.text.clone()).unwrap();
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), trace.lines.len());
    (trace, lines)
}

fn call(id: u32) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": "x" } })
}

#[test]
fn an_exchange_becomes_a_request_and_a_response() {
    let answer = json!({ "jsonrpc": "2.0", "id": 1, "result": {} });
    let content = json!({ "text": answer.to_string() });
    let (trace, lines) = trace(&[
        entry(
            "00.000",
            5.0,
            "POST",
            Some(&call(1)),
            &response(200, "application/json; charset=utf-8", &content),
        ),
        json!({ "request": { "method": "GET", "url": "https://h.example/logo.png" }, "response": {} }),
        json!("no entry"),
    ]);
    assert_eq!((trace.entries, trace.skipped), (3, 2));
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[0]["msg"], call(1));
    assert_eq!(lines[0]["ts"], "2025-11-25T10:00:00.000Z");
    assert_eq!(lines[0]["http"]["method"], "POST");
    assert_eq!(lines[0]["http"]["url"], "https://h.example/mcp?x=1");
    assert!(lines[0]["http"]["headers"].get(":authority").is_none());
    assert_eq!(lines[1]["msg"], answer);
    assert_eq!(lines[1]["http"]["status"], 200);
    assert!(trace.lines[0] < trace.lines[1]);
}

#[test]
fn a_stream_becomes_events_in_plausible_order() {
    let question = r#"{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{}}"#;
    let result = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
    let stream =
        format!("id: 7\ndata:\n\nevent: message\ndata: {question}\n\n: ping\n\ndata: {result}\n\n");
    // In Base64, as some proxies write it.
    let stream = base64::Engine::encode(&base64::prelude::BASE64_STANDARD, stream);
    let content = json!({ "text": stream, "encoding": "base64" });
    let answer = json!({ "jsonrpc": "2.0", "id": "q", "result": {} });
    let (_, lines) = trace(&[
        entry(
            "00.000",
            4000.0,
            "POST",
            Some(&call(1)),
            &response(200, "text/event-stream", &content),
        ),
        entry("02.000", 10.0, "POST", Some(&answer), &response(202, "text/plain", &json!({}))),
    ]);
    let seen: Vec<String> = lines
        .iter()
        .map(|line| {
            let message = &line["msg"];
            let name = message["method"].as_str().unwrap_or(if message.is_null() {
                "-"
            } else {
                "result"
            });
            format!("{} {} {name}", line["from"].as_str().unwrap(), line["http"]["exchange"])
        })
        .collect();
    let expected = [
        "client 1 tools/call",
        "server 1 -",
        "server 1 -",
        "server 1 elicitation/create",
        "client 2 result",
        "server 2 -",
        "server 1 result",
    ];
    assert_eq!(seen, expected);
    assert_eq!(lines[2]["http"]["sse"], json!({ "id": "7", "data": "" }));
}

#[test]
fn bodies_that_are_no_messages_stay_text() {
    let (_, lines) = trace(&[
        entry(
            "00.000",
            1.0,
            "POST",
            Some(&call(1)),
            &response(502, "text/html", &json!({ "text": "<h1>no" })),
        ),
        entry(
            "01.000",
            1.0,
            "POST",
            Some(&call(2)),
            &response(200, "application/json", &json!({ "text": "{\"a\":" })),
        ),
        entry("02.000", 1.0, "OPTIONS", None, &response(204, "text/plain", &json!({}))),
        entry("03.000", 1.0, "GET", None, &json!({ "status": 0 })),
    ]);
    assert_eq!(lines[1]["http"]["body"], "<h1>no");
    assert_eq!(lines[3]["raw"], "{\"a\":");
    assert_eq!(lines.len(), 5, "nothing of the preflight, and no response to the last");
}

#[test]
fn other_protocols_on_json_rpc_are_not_mcp() {
    let other = json!({ "jsonrpc": "2.0", "id": 1, "method": "eth_call", "params": [] });
    let (trace, lines) = trace(&[entry(
        "00.000",
        1.0,
        "POST",
        Some(&other),
        &response(200, "application/json", &json!({})),
    )]);
    assert_eq!((lines.len(), trace.skipped), (0, 1));
}

#[test]
fn what_is_broken_is_an_error() {
    for (text, expected) in [
        ("{\"log\":{\n\"entries\":[}", "on line 2, column 12"),
        ("{\"log\":{}}", "`log.entries`"),
        ("{\"log\":{\"entries\":{}}}", "`log.entries`"),
        ("", "not a HAR capture"),
    ] {
        let error = read(text.as_bytes(), 1000).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn a_capture_beyond_the_limit_is_not_read() {
    let text = "{\"log\":{\"entries\":[]}}";
    assert!(read(text.as_bytes(), text.len()).is_ok());
    assert!(matches!(read(text.as_bytes(), text.len() - 1), Err(HarError::TooLarge(_))));
}
