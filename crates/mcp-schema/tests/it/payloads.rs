//! Realistic payloads, valid and invalid, for every family of methods.

use mcp_core::Revision::{self, V2024_11_05, V2025_03_26, V2025_06_18, V2025_11_25, V2026_07_28};
use mcp_json::{Limits, Tape};
use mcp_schema::{Definition, definition, method};

#[track_caller]
fn verdict(definition: &Definition, text: &str) -> bool {
    let mut tape = Tape::new();
    let document = tape.parse(text.as_bytes(), Limits::default()).unwrap();
    definition.accepts(document.root())
}

#[track_caller]
fn params(revision: Revision, name: &str, good: &[&str], bad: &[&str]) {
    check(method(revision, name.as_bytes()).unwrap().params.unwrap(), good, bad);
}

#[track_caller]
fn result(revision: Revision, name: &str, good: &[&str], bad: &[&str]) {
    check(method(revision, name.as_bytes()).unwrap().result.unwrap(), good, bad);
}

#[track_caller]
fn check(definition: &Definition, good: &[&str], bad: &[&str]) {
    for text in good {
        assert!(verdict(definition, text), "{definition:?} refuses {text}");
    }
    for text in bad {
        assert!(!verdict(definition, text), "{definition:?} accepts {text}");
    }
}

#[test]
fn initialize() {
    for revision in mcp_core::Revisions::LEGACY.iter() {
        params(
            revision,
            "initialize",
            &[
                r#"{"protocolVersion":"1","capabilities":{},"clientInfo":{"name":"a","version":"1"}}"#,
                r#"{"protocolVersion":"1","capabilities":{"roots":{"listChanged":true},"new":3},
                    "clientInfo":{"name":"a","version":"1"},"_meta":{"progressToken":7}}"#,
            ],
            &[
                r#"{"capabilities":{},"clientInfo":{"name":"a","version":"1"}}"#,
                r#"{"protocolVersion":"1","capabilities":[],"clientInfo":{"name":"a","version":"1"}}"#,
                r#"{"protocolVersion":"1","capabilities":{},"clientInfo":{"name":"a"}}"#,
                r#"{"protocolVersion":"1","capabilities":{},"clientInfo":{"name":"a","version":"1"},"_meta":{"progressToken":1.5}}"#,
            ],
        );
        result(
            revision,
            "initialize",
            &[
                r#"{"protocolVersion":"1","capabilities":{"tools":{}},"serverInfo":{"name":"a","version":"1"}}"#,
            ],
            &[
                r#"{"protocolVersion":"1","capabilities":{"tools":true},"serverInfo":{"name":"a","version":"1"}}"#,
            ],
        );
        params(revision, "ping", &["{}", r#"{"_meta":{}}"#], &["[]", r#"{"_meta":1}"#]);
        result(revision, "ping", &["{}"], &["null", "[]", r#""pong""#]);
    }
}

#[test]
fn tools() {
    let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
    params(
        V2025_11_25,
        "tools/call",
        &[r#"{"name":"a"}"#, r#"{"name":"a","arguments":{"x":null},"task":{"ttl":1.0}}"#],
        &[
            "{}",
            r#"{"name":1}"#,
            r#"{"name":"a","arguments":[]}"#,
            r#"{"name":"a","task":{"ttl":1.5}}"#,
        ],
    );
    params(
        V2026_07_28,
        "tools/call",
        &[&format!(r#"{{"name":"a",{meta}}}"#)],
        &[r#"{"name":"a"}"#, r#"{"name":"a","_meta":{}}"#],
    );
    // Boolean subschemas are schemas in every revision.
    for revision in Revision::ALL {
        check(
            definition(revision, "Tool").unwrap(),
            &[r#"{"name":"a","inputSchema":{"type":"object","properties":{"x":true,"y":{}}}}"#],
            &[
                r#"{"name":"a"}"#,
                r#"{"name":"a","inputSchema":{}}"#,
                r#"{"name":"a","inputSchema":{"type":"string"}}"#,
            ],
        );
    }
    result(
        V2025_06_18,
        "tools/call",
        &[
            r#"{"content":[{"type":"resource_link","uri":"a:b","name":"n"}],"structuredContent":{}}"#,
        ],
        &[r#"{"content":[],"structuredContent":[]}"#, r#"{"structuredContent":{}}"#],
    );
    result(
        V2026_07_28,
        "tools/call",
        &[r#"{"resultType":"complete","content":[],"structuredContent":[]}"#],
        &[r#"{"content":[]}"#],
    );
}

#[test]
fn content_came_in_step_by_step() {
    let text = r#"{"content":[{"type":"text","text":"a"},{"text":"b","type":"text"}]}"#;
    let audio = r#"{"content":[{"type":"audio","data":"","mimeType":"a/b"}]}"#;
    let link = r#"{"content":[{"type":"resource_link","uri":"a:b","name":"n"}]}"#;
    let untyped = r#"{"content":[{"text":"a"}]}"#;
    let mistyped = r#"{"content":[{"type":"image","text":"a"}]}"#;
    let escaped = r#"{"\u0063ontent":[{"ty\u0070e":"te\u0078t","text":"a"}]}"#;
    result(V2024_11_05, "tools/call", &[text, escaped], &[audio, link, untyped, mistyped]);
    result(V2025_03_26, "tools/call", &[text, escaped, audio], &[link, untyped, mistyped]);
    result(V2025_06_18, "tools/call", &[text, escaped, audio, link], &[untyped, mistyped]);
    result(V2025_11_25, "tools/call", &[text, escaped, audio, link], &[untyped, mistyped]);
}

#[test]
fn lists() {
    for revision in mcp_core::Revisions::LEGACY.iter() {
        params(revision, "tools/list", &["{}", r#"{"cursor":""}"#], &[r#"{"cursor":null}"#, "3"]);
        result(
            revision,
            "resources/list",
            &[r#"{"resources":[{"uri":"a:b","name":"n","size":3}],"nextCursor":""}"#],
            &[r#"{"resources":[],"nextCursor":null}"#, r#"{"resources":[{"uri":"a:b"}]}"#, "{}"],
        );
    }
    result(
        V2026_07_28,
        "tools/list",
        &[r#"{"resultType":"complete","tools":[],"ttlMs":0,"cacheScope":"public"}"#],
        &[
            r#"{"resultType":"complete","tools":[],"ttlMs":-1,"cacheScope":"public"}"#,
            r#"{"resultType":"complete","tools":[],"ttlMs":0.5,"cacheScope":"public"}"#,
            r#"{"resultType":"complete","tools":[],"ttlMs":0,"cacheScope":"shared"}"#,
            r#"{"resultType":"complete","tools":[]}"#,
        ],
    );
}

#[test]
fn resources_and_prompts() {
    for revision in mcp_core::Revisions::LEGACY.iter() {
        params(revision, "resources/read", &[r#"{"uri":"a:b"}"#], &["{}", r#"{"uri":7}"#]);
        result(
            revision,
            "resources/read",
            &[r#"{"contents":[{"uri":"a:b","text":"t"},{"uri":"a:b","blob":"AA=="}]}"#],
            &[r#"{"contents":[{"uri":"a:b"}]}"#, r#"{"contents":{}}"#],
        );
        params(
            revision,
            "prompts/get",
            &[r#"{"name":"a","arguments":{"x":"1"}}"#],
            &[r#"{"name":"a","arguments":{"x":1}}"#],
        );
        result(
            revision,
            "prompts/get",
            &[r#"{"messages":[{"role":"user","content":{"type":"text","text":"a"}}]}"#],
            &[r#"{"messages":[{"role":"system","content":{"type":"text","text":"a"}}]}"#],
        );
        params(
            revision,
            "completion/complete",
            &[r#"{"ref":{"type":"ref/prompt","name":"a"},"argument":{"name":"x","value":""}}"#],
            &[
                r#"{"ref":{"type":"ref/tool","name":"a"},"argument":{"name":"x","value":""}}"#,
                r#"{"ref":{"type":"ref/resource","name":"a"},"argument":{"name":"x","value":""}}"#,
            ],
        );
    }
}

#[test]
fn completions_are_limited_in_the_newest_revision_only() {
    let values = vec!["\"a\""; 101].join(",");
    let long = format!(r#"{{"resultType":"complete","completion":{{"values":[{values}]}}}}"#);
    result(V2025_11_25, "completion/complete", &[&long], &[]);
    result(V2026_07_28, "completion/complete", &[&long.replacen("\"a\",", "", 1)], &[&long]);
}

#[test]
fn elicitation() {
    let form = r#"{"message":"m","requestedSchema":{"type":"object","properties":{"x":{"type":"number"}}}}"#;
    let url = r#"{"mode":"url","message":"m","url":"https://a.example/","elicitationId":"1"}"#;
    let neither =
        r#"{"mode":"voice","message":"m","requestedSchema":{"type":"object","properties":{}}}"#;
    let mixed =
        r#"{"mode":"url","message":"m","requestedSchema":{"type":"object","properties":{}}}"#;
    let nested = r#"{"message":"m","requestedSchema":{"type":"object","properties":{"x":{"type":"object"}}}}"#;
    let number = r#"{"mode":1,"message":"m","requestedSchema":{"type":"object","properties":{}}}"#;
    params(V2025_06_18, "elicitation/create", &[form, mixed], &[url, nested]);
    params(
        V2025_11_25,
        "elicitation/create",
        &[form, url],
        &[neither, mixed, nested, number, "[]"],
    );
    params(
        V2026_07_28,
        "elicitation/create",
        &[form, url],
        &[neither, mixed, nested, number, "[]"],
    );
    for revision in [V2025_06_18, V2025_11_25, V2026_07_28] {
        result(
            revision,
            "elicitation/create",
            &[r#"{"action":"accept","content":{"x":1.5}}"#, r#"{"action":"cancel"}"#],
            &[r#"{"action":"accept","content":{"x":{}}}"#, r#"{"action":"ok"}"#, "{}"],
        );
    }
}

#[test]
fn sampling_and_roots() {
    let one =
        r#"{"maxTokens":1,"messages":[{"role":"user","content":{"type":"text","text":"a"}}]}"#;
    let many =
        r#"{"maxTokens":1,"messages":[{"role":"user","content":[{"type":"text","text":"a"}]}]}"#;
    let loud = r#"{"maxTokens":1,"messages":[],"modelPreferences":{"costPriority":1.01}}"#;
    params(V2025_06_18, "sampling/createMessage", &[one], &[many, loud, "{}"]);
    params(V2025_11_25, "sampling/createMessage", &[one, many], &[loud, "{}"]);
    params(V2026_07_28, "sampling/createMessage", &[one, many], &[loud, "{}"]);
    result(
        V2024_11_05,
        "roots/list",
        &[r#"{"roots":[{"uri":"file:///a"}]}"#],
        &[r#"{"roots":[{}]}"#],
    );
}

#[test]
fn tasks() {
    let task =
        r#"{"taskId":"1","status":"working","createdAt":"t","lastUpdatedAt":"t","ttl":null}"#;
    params(V2025_11_25, "tasks/get", &[r#"{"taskId":"1"}"#], &["{}", r#"{"taskId":1}"#]);
    result(V2025_11_25, "tasks/get", &[task], &[&task.replace("working", "busy"), "{}"]);
    params(V2025_11_25, "notifications/tasks/status", &[task], &[&task.replace("null", "true")]);
    let call = method(V2025_11_25, b"tools/call").unwrap();
    check(call.task_result.unwrap(), &[&format!(r#"{{"task":{task}}}"#)], &[task, "{}"]);
}

#[test]
fn notifications() {
    params(
        V2025_06_18,
        "notifications/cancelled",
        &[r#"{"requestId":"a"}"#, r#"{"requestId":10000000000000000001}"#, r#"{"requestId":1.0}"#],
        &["{}", r#"{"requestId":null}"#, r#"{"requestId":1.5}"#],
    );
    // The request may be a task there, which is cancelled in another way.
    params(V2025_11_25, "notifications/cancelled", &["{}"], &[r#"{"requestId":null}"#]);
    params(
        V2025_11_25,
        "notifications/progress",
        &[r#"{"progressToken":1,"progress":-0.5,"total":3}"#],
        &[r#"{"progress":1}"#, r#"{"progressToken":1,"progress":"1"}"#],
    );
    params(
        V2025_11_25,
        "notifications/message",
        &[r#"{"level":"info","data":null}"#],
        &[r#"{"level":"info"}"#, r#"{"level":"loud","data":1}"#],
    );
}

#[test]
fn input_required() {
    let call = method(V2026_07_28, b"tools/call").unwrap();
    check(
        call.input_required.unwrap(),
        &[
            r#"{"resultType":"input_required","requestState":""}"#,
            r#"{"resultType":"input_required","inputRequests":{"a":{"method":"roots/list"}}}"#,
        ],
        &[
            r#"{"resultType":"input_required"}"#,
            r#"{"resultType":"complete","requestState":""}"#,
            r#"{"resultType":"input_required","inputRequests":{"a":{"method":"tools/list"}}}"#,
            r#"{"resultType":"input_required","inputRequests":{"a":{"method":"sampling/createMessage"}}}"#,
        ],
    );
}

#[test]
fn error_data() {
    let data = |revision, name| definition(revision, name).unwrap();
    check(
        data(V2025_11_25, "UrlElicitationRequiredErrorData"),
        &[r#"{"elicitations":[]}"#],
        &["{}", r#"{"elicitations":[{"mode":"form"}]}"#],
    );
    check(
        data(V2026_07_28, "UnsupportedProtocolVersionErrorData"),
        &[r#"{"supported":["2026-07-28"],"requested":"1"}"#],
        &[r#"{"supported":"2026-07-28","requested":"1"}"#, "null"],
    );
    check(
        data(V2026_07_28, "MissingRequiredClientCapabilityErrorData"),
        &[r#"{"requiredCapabilities":{"extensions":{"a/b":{"x":null,"y":0.5}}}}"#],
        &["{}"],
    );
}

#[test]
fn of_repeated_members_the_last_counts() {
    params(
        V2025_11_25,
        "tools/call",
        &[r#"{"name":1,"name":"a"}"#, r#"{"name":"b","name":"a"}"#],
        &[r#"{"name":"a","name":1}"#, r#"{"arguments":{},"arguments":{}}"#],
    );
    check(
        definition(V2025_11_25, "ContentBlock").unwrap(),
        &[r#"{"type":"image","type":"text","text":"a"}"#],
        &[r#"{"type":"text","type":"image","text":"a"}"#],
    );
}
