//! Recordings that leave the page and come back.

use mcp_inspector::Target;
use serde_json::{Value, json};

use crate::api::Page;

/// A conversation with a secret in it and a few faults.
async fn misbehaved() -> Page {
    let page = Page::about(Target::demo()).await;
    page.connect(Some("2025-11-25")).await;
    page.post("speak/demo", json!({ "misbehave": true })).await;
    for fault in ["log-line", "wrong-id", "no-content"] {
        page.call("break_rules", json!({ "fault": fault })).await;
    }
    let params = r#"{"name":"text_statistics","arguments":{"text":"a"},"_meta":{"password":"hunter2hunter2"}}"#;
    let request = json!({ "method": "tools/call", "params": params });
    let sent = page.post("speak/request", request).await;
    page.answered(&sent).await;
    page
}

/// All rows of a page, in order.
async fn rows(page: &Page, base: &str) -> Vec<Value> {
    let mut rows = Vec::new();
    loop {
        let (status, detail) =
            page.fetch("GET", &format!("{base}api/frames/{}", rows.len() + 1), b"").await;
        if status != 200 {
            return rows;
        }
        rows.push(serde_json::from_slice::<Value>(&detail).unwrap()["row"].clone());
    }
}

#[tokio::test]
async fn what_is_exported_and_imported_has_the_same_rows() {
    let page = misbehaved().await;
    let before = rows(&page, "").await;
    assert!(before.len() > 10);
    for query in ["?everything=true", ""] {
        let (_, recording) = page.fetch("GET", &format!("api/recording{query}"), b"").await;
        let is_masked = query.is_empty();
        let secret = recording.windows(14).any(|part| part == b"hunter2hunter2");
        assert_eq!(secret, !is_masked);
        let (status, import) =
            page.fetch("POST", "api/import?name=a%20trace.jsonl", &recording).await;
        let import: Value = serde_json::from_slice(&import).unwrap();
        assert_eq!(status, 200, "{import}");
        assert_eq!(import["frames"], before.len());
        let address = import["address"].as_str().unwrap().trim_start_matches("/token/").to_owned();
        let mut after = rows(&page, &address).await;
        let mut before = before.clone();
        if is_masked {
            // Masked values are seen in previews alone: not even lengths differ.
            for row in before.iter_mut().chain(&mut after) {
                row["preview"].take();
            }
        }
        assert_eq!(before, after);
        let (_, about) = page.fetch("GET", &format!("{address}api/about"), b"").await;
        let about: Value = serde_json::from_slice(&about).unwrap();
        assert_eq!((&about["target"], &about["imported"]), (&json!("a trace.jsonl"), &json!(true)));
        assert_eq!(about["canSpeak"], false);
        let (status, _) = page.fetch("GET", &address, b"").await;
        assert_eq!(status, 200);
    }
    // What is looked at has not changed.
    assert_eq!(rows(&page, "").await, before);
}

#[tokio::test]
async fn a_broken_file_says_what_is_wrong_and_old_imports_give_way() {
    let page = misbehaved().await;
    for (file, expected) in [
        (&b"\x89PNG\r\n"[..], "neither a recording nor a HAR capture"),
        (b"", "the file is empty"),
        (br#"{"log":{"entries":[{]}}"#, "not a HAR capture"),
        (br#"{"log":{"entries":[]}}"#, "no MCP traffic"),
    ] {
        let (status, refusal) = page.fetch("POST", "api/import?name=x", file).await;
        let refusal: Value = serde_json::from_slice(&refusal).unwrap();
        assert_eq!(status, 422);
        assert!(refusal["error"].as_str().unwrap().contains(expected), "{refusal}");
        assert!(refusal["help"].is_string());
    }
    for _ in 0..9 {
        let line = br#"{"from":"client","msg":{"jsonrpc":"2.0","id":1,"method":"ping"}}"#;
        assert_eq!(page.fetch("POST", "api/import", line).await.0, 200);
    }
    assert_eq!(page.fetch("GET", "imports/1/api/about", b"").await.0, 404);
    assert_eq!(page.fetch("GET", "imports/9/api/about", b"").await.0, 200);
    assert_eq!(page.fetch("POST", "imports/9/api/import", b"{}").await.0, 422);
}

#[tokio::test]
async fn http_exchanges_are_saved_as_a_capture_and_read_again() {
    let page = misbehaved().await;
    let (status, _) = page.fetch("GET", "api/har", b"").await;
    assert_eq!(status, 404, "there is no HTTP in it");
    let recording = concat!(
        r#"{"ts":"2026-01-01T10:00:00Z","from":"client","http":{"exchange":1,"method":"POST","url":"/mcp","headers":{"host":"h","content-type":"application/json","accept":"application/json, text/event-stream","authorization":"Bearer abcdefghijkl"}},"msg":{"jsonrpc":"2.0","id":1,"method":"tools/list"}}"#,
        "\n",
        r#"{"ts":"2026-01-01T10:00:01Z","from":"server","http":{"exchange":1,"status":200,"headers":{"content-type":"application/json"}},"msg":{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}}"#,
        "\n",
    );
    page.fetch("POST", "api/import?name=http", recording.as_bytes()).await;
    let (status, har) = page.fetch("GET", "imports/1/api/har", b"").await;
    assert_eq!(status, 200);
    let text = String::from_utf8(har.clone()).unwrap();
    assert!(!text.contains("abcdefghijkl") && text.contains("Bearer"), "{text}");
    page.fetch("POST", "api/import?name=har", &har).await;
    let names = |rows: Vec<Value>| -> Vec<Value> {
        rows.iter()
            .map(|row| json!([row["kind"], row["method"], row["id"], row["status"], row["pair"]]))
            .collect()
    };
    assert_eq!(names(rows(&page, "imports/1/").await), names(rows(&page, "imports/2/").await));
}

#[tokio::test]
async fn a_report_needs_nothing_else_and_names_no_secret() {
    let page = misbehaved().await;
    let (status, report) = page.fetch("GET", "api/report", b"").await;
    assert_eq!(status, 200);
    let report = String::from_utf8(report).unwrap();
    assert!(!report.contains("hunter2hunter2"));
    assert!(report.contains("stdout-non-json") && report.contains("id=\"frame-1\""));
    assert!(!report.contains("<script") && !report.contains("src="));
    let (_, everything) = page.fetch("GET", "api/report?everything=true", b"").await;
    assert!(String::from_utf8(everything).unwrap().contains("hunter2hunter2"));
}
