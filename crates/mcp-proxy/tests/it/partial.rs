//! Under enforcement, what is sound in a message passes without what is not.

use mcp_proxy::{BadTools, Policy};
use serde_json::{Value, json};

use crate::support::{
    Outcome, Proxy, event_response, json_response, parts, post, raw_client, scripted_server,
};

const LIST: &str = r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#;
const GOOD_TOOL: &str = r#"{"name":"good", "inputSchema":{"type":"object"} }"#;

fn listed(tools: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0", "id":2,"result":{{"tools":[{tools}], "_meta":{{"a":1.0}}}}}}"#)
}

/// A list in which the first and the last tool are bad.
fn mixed() -> String {
    listed(&format!(r#"{{"name":"a"}} , {GOOD_TOOL},{{"name":7}}"#))
}

fn sound() -> String {
    listed(GOOD_TOOL)
}

async fn asked(policy: Policy, answer: String) -> (String, Outcome) {
    let (upstream, _) = scripted_server(vec![("tools/list", answer)]).await;
    let proxy = Proxy::start(upstream, policy).await;
    let request = post(LIST, "MCP-Protocol-Version: 2025-06-18\r\n");
    let answer = raw_client(proxy.address, &request).await;
    (String::from_utf8(answer).unwrap(), proxy.stop().await)
}

#[tokio::test]
async fn bad_tools_are_cut_out_of_a_json_response() {
    let answer = json_response("X-Kept: 1\r\n", &mixed());
    let (answer, outcome) = asked(Policy::enforce(), answer).await;
    let (status, body) = parts(answer.as_bytes());
    assert_eq!((status, &*body), (200, &*sound()));
    assert!(answer.contains("x-kept: 1\r\n"), "{answer}");
    let lines: Vec<Value> =
        outcome.record.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines[1]["by"], Value::Null);
    assert_eq!((&lines[2]["by"], &lines[2]["replaces"]), (&json!("proxy"), &json!(2)));
    assert!(lines[1].to_string().contains("inputSchema") && lines[2].to_string().contains("good"));
    assert!(outcome.live.len() >= 2, "{:?}", outcome.live);
    outcome.assert_same();
}

#[tokio::test]
async fn bad_tools_are_cut_out_of_an_event() {
    let note =
        r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}"#;
    let (answer, outcome) = asked(Policy::enforce(), event_response(&[note, &mixed()])).await;
    let (_, body) = parts(answer.as_bytes());
    assert!(body.contains(&format!("data: {note}\n\n")), "{body}");
    assert!(body.contains(&format!("data: {}\n\n", sound())), "{body}");
    assert!(outcome.record.contains(r#""by":"proxy","replaces":4"#), "{}", outcome.record);
    outcome.assert_same();
}

#[tokio::test]
async fn lists_with_bad_tools_can_be_rejected_or_passed() {
    let policy = Policy::enforce().with_bad_tools(BadTools::Reject);
    let (answer, _) = asked(policy, json_response("", &mixed())).await;
    assert!(answer.contains("-32603") && !answer.contains("good"), "{answer}");
    let policy = Policy::enforce().with_bad_tools(BadTools::Pass);
    let (answer, outcome) = asked(policy, json_response("", &mixed())).await;
    assert!(answer.ends_with(&mixed()), "{answer}");
    assert!(outcome.live.len() >= 2 && outcome.counts.rejected == 0, "{:?}", outcome.live);
}

#[tokio::test]
async fn a_list_that_is_bad_itself_does_not_pass() {
    for bad in [
        mixed().replace("\"_meta\":{\"a\":1.0}", "\"nextCursor\":7"),
        mixed().replace("\"2.0\"", "\"1.0\""),
        listed("").replace("[]", "7"),
    ] {
        let (answer, _) = asked(Policy::enforce(), json_response("", &bad)).await;
        assert!(answer.contains("-32603") && !answer.contains("good"), "{answer}");
    }
}

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;
const AGREED: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-03-26","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
const PING: &str = r#"{"jsonrpc":"2.0", "id":3,"method":"ping"}"#;
const PONG: &str = r#"{"jsonrpc":"2.0","id":3,"result":{} }"#;
const BAD_CALL: &str = r#"{"jsonrpc":"2.0","id":4,"method":"tools/list","params":{"cursor":7}}"#;

/// Sends a batch with a bad entry; returns the answer, and the body that reached the server.
async fn batched(batch: &str, answer: String) -> ((u16, String), String, Outcome) {
    let accepted = "HTTP/1.1 202 Ok\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".to_owned();
    let answers = vec![
        ("\"initialize\"", json_response("Mcp-Session-Id: a\r\n", AGREED)),
        ("notifications/initialized\"}\r\n", accepted.clone()),
        ("[", answer),
        ("notifications", accepted),
    ];
    let (upstream, received) = scripted_server(answers).await;
    let proxy = Proxy::start(upstream, Policy::enforce()).await;
    let mut answered = (0, String::new());
    for body in [INITIALIZE, INITIALIZED, batch] {
        let session = if body == INITIALIZE { "" } else { "Mcp-Session-Id: a\r\n" };
        answered = parts(&raw_client(proxy.address, &post(body, session)).await);
    }
    let reached = received.lock().unwrap().last().unwrap().clone();
    let (_, reached) = reached.split_once("\r\n\r\n").unwrap();
    (answered, reached.to_owned(), proxy.stop().await)
}

#[tokio::test]
async fn only_the_bad_entry_of_a_batch_is_answered_here() {
    let batch = format!("[{BAD_CALL}, {PING} ]");
    for answer in [format!("[{PONG}]"), PONG.to_owned()] {
        let ((status, body), reached, outcome) = batched(&batch, json_response("", &answer)).await;
        assert_eq!(reached, format!("[{PING} ]"));
        assert_eq!(status, 200);
        assert!(body.starts_with(&format!("[{PONG},")), "{body}");
        let answers: Value = serde_json::from_str(&body).unwrap();
        assert_eq!(answers.as_array().unwrap().len(), 2);
        assert_eq!((&answers[1]["id"], &answers[1]["error"]["code"]), (&json!(4), &json!(-32602)));
        let rules: Vec<&String> =
            outcome.live.iter().filter(|found| !found.contains("params-invalid")).collect();
        assert_eq!(rules, [""; 0], "{}", outcome.record);
        outcome.assert_same();
    }
}

#[tokio::test]
async fn a_stream_begins_with_the_answers_to_bad_entries() {
    let batch = format!("[{PING},{BAD_CALL}]");
    let ((status, body), reached, outcome) = batched(&batch, event_response(&[PONG])).await;
    assert_eq!((status, reached), (200, format!("[{PING}]")));
    let events: Vec<&str> = body.split("data: ").skip(1).map(str::trim_end).collect();
    let [errors, pong] = events[..] else { panic!("{body}") };
    assert!(pong.starts_with(PONG), "{body}");
    let errors: Value = serde_json::from_str(errors.lines().next().unwrap().trim()).unwrap();
    assert_eq!(errors[0]["id"], 4, "{body}");
    outcome.assert_same();
}

#[tokio::test]
async fn a_batch_without_sound_requests_is_answered_here() {
    let note = r#"{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}"#;
    let accepted = "HTTP/1.1 202 Ok\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".to_owned();
    let ((status, body), reached, _) = batched(&format!("[{BAD_CALL},{note}]"), accepted).await;
    assert_eq!((status, reached), (200, format!("[{note}]")));
    let answers: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(answers[0]["error"]["code"], -32602, "{body}");
}

#[cfg(unix)]
mod bridges {
    use std::io::{BufRead as _, BufReader, Write as _};

    use mcp_proxy::bridge::{children::ChildrenSettings, remote::RemoteSettings};

    use super::*;
    use crate::{children, remote};

    /// A server on standard streams that answers by what is in a line.
    fn script(answers: &[(&str, &str)]) -> String {
        let cases: Vec<String> = answers
            .iter()
            .map(|(needle, answer)| format!("*{needle}*) printf '%s\\n' '{answer}';; "))
            .collect();
        let cases = cases.concat();
        format!(r#"while read -r line; do case "$line" in {cases} esac; done"#)
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn bad_tools_and_entries_are_held_back_from_http_clients() {
        let (mixed, pong) = (mixed(), format!("[{PONG}]"));
        let script = script(&[("\\\"initialize", AGREED), ("tools/list", &mixed), ("ping", &pong)]);
        let settings = ChildrenSettings::default();
        let bridge = children::Bridge::of_script(&script, Policy::enforce(), settings).await;
        let answer = raw_client(bridge.address, &post(INITIALIZE, "")).await;
        let answer = String::from_utf8(answer).unwrap();
        let id = answer.lines().find_map(|line| line.strip_prefix("mcp-session-id: ")).unwrap();
        let session = format!("Mcp-Session-Id: {}\r\n", id.trim());
        bridge.post(INITIALIZED, &session).await;
        let (_, body) = bridge.post(LIST, &session).await;
        assert!(body.contains(&sound()), "{body}");
        let (status, body) = bridge.post(&format!("[{BAD_CALL},{PING}]"), &session).await;
        assert_eq!(status, 200);
        assert!(body.contains(PONG) && body.contains("-32602"), "{body}");
        let outcome = bridge.stop().await;
        assert!(outcome.record.contains(r#""replaces":"#), "{}", outcome.record);
        outcome.assert_same();
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn bad_tools_and_entries_are_held_back_between_streams_and_http() {
        let accepted = "HTTP/1.1 202 Ok\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
        let answers = vec![
            ("\"initialize\"", json_response("", AGREED)),
            ("notifications/initialized", accepted.to_owned()),
            ("tools/list", json_response("", &mixed())),
            ("ping", json_response("", &format!("[{PONG}]"))),
        ];
        let (upstream, _) = scripted_server(answers).await;
        let mut bridge =
            remote::Bridge::start(upstream, Policy::enforce(), RemoteSettings::default());
        let mut lines = BufReader::new(bridge.stream.try_clone().unwrap()).lines();
        let mut ask = move |line: &str| {
            writeln!(bridge.stream, "{line}").unwrap();
            bridge.stream.flush().unwrap();
        };
        ask(INITIALIZE);
        assert_eq!(lines.next().unwrap().unwrap(), AGREED);
        ask(INITIALIZED);
        ask(LIST);
        assert_eq!(lines.next().unwrap().unwrap(), sound());
        ask(&format!("[{BAD_CALL},{PING}]"));
        let refused: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
        assert_eq!(refused[0]["error"]["code"], -32602);
        assert_eq!(lines.next().unwrap().unwrap(), format!("[{PONG}]"));
    }
}
