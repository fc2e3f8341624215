#![cfg(unix)]

use mcp_inspector::{Launch, Target};
use serde_json::json;

use crate::api::Page;

fn shell(script: &str) -> Target {
    let arguments = vec!["-c".into(), script.into()];
    Target::command(Launch { program: "sh".into(), arguments, ..Launch::default() })
}

const HELLO: &str = r#"read line
echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}'
read line
"#;

#[tokio::test]
async fn a_crash_is_explained_and_the_rows_stay() {
    let script = format!("{HELLO}\necho 'about to die' >&2\nread line\necho 'dying' >&2\nexit 3");
    let page = Page::about(shell(&script)).await;
    let state = page.connect(Some("2025-11-25")).await;
    assert_eq!(state["status"], "connected", "{state:#}");
    page.post("speak/request", json!({ "method": "ping" })).await;
    let state = page.until(|state| state["status"] == "ended").await;
    assert_eq!(state["reason"], "the server exited with code 3: dying");
    let lost = state["calls"].as_array().unwrap().last().unwrap().clone();
    assert_eq!((&lost["state"], &lost["reason"]), (&json!("lost"), &state["reason"]));
    let mut kinds = Vec::new();
    for number in 1..=6 {
        kinds.push(page.frame(&json!(number)).await["row"]["kind"].as_str().unwrap().to_owned());
    }
    kinds.sort_unstable();
    let all = ["notification", "request", "request", "result", "stderr", "stderr"];
    assert_eq!(kinds, all);
    assert_eq!(page.frame(&json!(7)).await["row"]["kind"], "exit");
}

#[tokio::test]
async fn text_that_is_no_json_reaches_the_server() {
    let script = format!("{HELLO}\nread -r line\necho \"got $line\" >&2\nread line");
    let page = Page::about(shell(&script)).await;
    page.connect(Some("2025-11-25")).await;
    let sent = page.post("speak/raw", json!({ "text": "{not json" })).await;
    assert_eq!(sent["text"], "{not json");
    let mut number = 1;
    loop {
        let known = page.log.frame(number, |frame| frame.row.preview.clone());
        match known {
            Some(preview) if preview == "got {not json" => break,
            Some(_) => number += 1,
            None => tokio::time::sleep(std::time::Duration::from_millis(10)).await,
        }
    }
    page.post("speak/disconnect", json!({})).await;
    let state = page.get("speak").await;
    assert_eq!(state["reason"], "disconnected by hand");
}

#[tokio::test]
async fn a_program_that_does_not_exist_is_named() {
    let program = "no-such-program-here".into();
    let target = Target::command(Launch { program, ..Launch::default() });
    let page = Page::about(target).await;
    page.connect(None).await;
    let state = page.until(|state| state["status"] == "ended").await;
    assert!(state["reason"].as_str().unwrap().contains("no-such-program-here"), "{state:#}");
}

#[tokio::test]
async fn a_server_without_a_handshake_is_asked_what_it_knows() {
    let script = r#"read line
echo '{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}}'
read line
echo '{"jsonrpc":"2.0","id":2,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{},"ttlMs":0,"cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}}}}'
read line"#;
    let page = Page::about(shell(script)).await;
    let state = page.connect(None).await;
    assert_eq!((&state["status"], &state["revision"]), (&json!("connected"), &json!("2026-07-28")));
    let method = page.frame(&json!(1)).await["row"]["method"].clone();
    assert_eq!(method, "initialize");
    let problems = page.get("problems").await;
    assert_eq!(problems, json!([]), "{problems:#}");
}

#[tokio::test]
async fn what_changes_while_it_is_listed_is_listed_again() {
    let result = r#"{"tools":[{"name":"a","inputSchema":{"type":"object","properties":{"n":{"type":"number"}}}}]}"#;
    let script = format!(
        r#"read line
echo '{{"jsonrpc":"2.0","id":1,"result":{{"protocolVersion":"2025-11-25","capabilities":{{"tools":{{"listChanged":true}}}},"serverInfo":{{"name":"s","version":"1"}}}}}}'
read line
read line
echo '{{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}}'
echo '{{"jsonrpc":"2.0","id":2,"result":{result}}}'
read line
echo '{{"jsonrpc":"2.0","id":3,"result":{result}}}'
read line"#
    );
    let page = Page::about(shell(&script)).await;
    page.connect(None).await;
    let listed = |state: &serde_json::Value| {
        let calls = state["calls"].as_array().unwrap();
        calls.iter().any(|call| call["id"] == "3" && call["state"] == "answered")
    };
    page.until(listed).await;
    let wrong = json!({ "name": "a", "arguments": { "n": "x" } }).to_string();
    let composed = json!({ "method": "tools/call", "params": wrong });
    let composed = page.post("speak/compose", composed).await;
    assert_eq!(composed["findings"][0]["rule"], "tool-arguments-invalid", "{composed:#}");
}
