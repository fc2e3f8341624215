//! Single invalid messages, and the responses to them.

use mcp_sdk::core::{Meta, Revision};
use serde_json::{Value, json};

use super::{
    wire::{Checks, Kind, Wire},
    within,
};

/// Sends `text` and checks the code of the error response.
async fn refused(wire: &mut Wire, text: &str, code: i64) -> Value {
    let answer = within(wire.ask(text)).await;
    assert_eq!(answer["error"]["code"], code, "{:?} {text:.200}: {answer}", wire.kind);
    answer
}

async fn everywhere(test: impl AsyncFn(Wire, Checks)) {
    for kind in Kind::ALL {
        for checks in Checks::ALL {
            within(async { test(Wire::open(kind, checks).await, checks).await }).await;
        }
    }
}

#[tokio::test]
async fn invalid_json_gets_an_error_and_the_conversation_continues() {
    everywhere(async |mut wire, checks| {
        for text in
            ["{", "hello", r#"{"jsonrpc":"2.0","id":1,"method""#, "\u{feff}{}", "nul", "{}{}"]
        {
            let answer = refused(&mut wire, text, -32700).await;
            assert!(answer["id"].is_null(), "{answer}");
            let findings = &answer["error"]["data"];
            assert_eq!(findings.is_array(), checks == Checks::Enforce, "{answer}");
        }
        wire.still_works().await;
    })
    .await;
}

#[tokio::test]
async fn a_byte_order_mark_before_a_valid_message_is_named() {
    everywhere(async |mut wire, checks| {
        let marked = format!("\u{feff}{}", wire.call(1, "echo", json!({ "text": "x" })));
        let answer = refused(&mut wire, &marked, -32700).await;
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.contains("byte order mark"), "{:?} {checks:?}: {answer}", wire.kind);
        if checks == Checks::Enforce {
            let finding = answer["error"]["data"][0]["message"].as_str().unwrap();
            assert!(finding.contains("byte order mark"), "{:?}: {answer}", wire.kind);
        }
        wire.still_works().await;
    })
    .await;
}

#[tokio::test]
async fn json_that_is_not_a_message_gets_an_error() {
    everywhere(async |mut wire, checks| {
        for text in [
            "7",
            "null",
            "\"text\"",
            "{}",
            r#"{"jsonrpc":"2.0"}"#,
            r#"{"id":1,"method":"tools/list"}"#,
            r#"{"jsonrpc":"1.0","id":1,"method":"tools/list"}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":7}"#,
            r#"{"jsonrpc":"2.0","id":{},"method":"tools/list"}"#,
            r#"{"jsonrpc":"2.0","id":true,"method":"tools/list"}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":7}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","result":{}}"#,
            "[]",
        ] {
            let answer = refused(&mut wire, text, -32600).await;
            let findings = &answer["error"]["data"];
            assert_eq!(findings.is_array(), checks == Checks::Enforce, "{answer}");
        }
        wire.still_works().await;
    })
    .await;
}

#[tokio::test]
async fn a_readable_id_is_used_in_the_error() {
    everywhere(async |mut wire, _| {
        let text = r#"{"jsonrpc":"1.0","id":"mine","method":"tools/list"}"#;
        assert_eq!(refused(&mut wire, text, -32600).await["id"], "mine");
    })
    .await;
}

#[tokio::test]
async fn unknown_methods_tools_and_params_have_their_codes() {
    everywhere(async |mut wire, _| {
        let unknown = wire.request(1, "no/such", json!({}));
        refused(&mut wire, &unknown, -32601).await;
        let tool = wire.call(2, "no-such", json!({}));
        let answer = refused(&mut wire, &tool, -32602).await;
        assert_eq!(answer["error"]["data"]["error_type"], "tool_not_found", "{answer}");
        let nameless = wire.request(3, "tools/call", json!({ "name": 7 }));
        refused(&mut wire, &nameless, -32602).await;
        let arguments = wire.request(4, "tools/call", json!({ "name": "echo", "arguments": 7 }));
        refused(&mut wire, &arguments, -32602).await;
        let level = wire.request(5, "tools/list", json!({ "cursor": 7 }));
        refused(&mut wire, &level, -32602).await;
        wire.still_works().await;
    })
    .await;
}

#[tokio::test]
async fn invalid_arguments_are_findings() {
    everywhere(async |mut wire, checks| {
        let wrong = wire.call(1, "echo", json!({ "text": 7 }));
        let answer = within(wire.ask(&wrong)).await;
        assert_eq!(answer["result"]["isError"], true, "{answer}");
        let findings = &answer["result"]["_meta"][Meta::FINDINGS];
        assert_eq!(findings[0]["rule"], "tool-arguments-invalid", "{answer}");
        if checks == Checks::Enforce {
            assert_eq!(findings[0]["pointer"], "/params/arguments/text", "{answer}");
            assert_eq!(findings[0]["instancePath"], "/text", "{answer}");
        }
        wire.still_works().await;
    })
    .await;
}

#[tokio::test]
async fn tools_that_fail_panic_or_violate_their_schema_are_distinguished() {
    everywhere(async |mut wire, checks| {
        let failed = wire.ask(&wire.call(1, "fail", json!({}))).await;
        assert_eq!(failed["result"]["isError"], true, "{failed}");
        assert_eq!(failed["result"]["content"][0]["text"], "no luck");
        let panicked = wire.ask(&wire.call(2, "panic", json!({}))).await;
        assert_eq!(panicked["result"]["isError"], true, "{panicked}");
        assert!(!panicked.to_string().contains("on purpose"), "{panicked}");
        let lie = wire.ask(&wire.call(3, "lie", json!({}))).await;
        if checks == Checks::Enforce {
            assert_eq!(lie["error"]["code"], -32603, "{lie}");
            let finding = &lie["error"]["data"][0];
            assert_eq!(finding["rule"], "tool-structured-content-invalid", "{lie}");
            assert_eq!(finding["pointer"], "/result/structuredContent/total", "{lie}");
        } else {
            assert_eq!(lie["result"]["structuredContent"]["total"], "secret", "{lie}");
        }
        wire.still_works().await;
    })
    .await;
}

#[tokio::test]
async fn ids_are_returned_unchanged() {
    everywhere(async |mut wire, _| {
        for id in [
            "1234567890123",
            "9007199254740993",
            "9223372036854775807",
            "18446744073709551616",
            "-9007199254740993",
            "1e30",
            "0",
            r#""""#,
            r#""\u0000\u001f\"\\""#,
            r#""😀""#,
        ] {
            let text = wire.call("ID", "echo", json!({ "text": "x" })).replace(r#""ID""#, id);
            let answer = within(wire.ask(&text)).await;
            assert!(answer["result"].is_object(), "{id}: {answer}");
            let sent: Value = serde_json::from_str(id).unwrap();
            assert_eq!(answer["id"], sent, "{answer}");
        }
    })
    .await;
}

#[tokio::test]
async fn ids_that_mcp_does_not_allow_get_a_response_too() {
    everywhere(async |mut wire, checks| {
        for id in ["null", "1.5", r#""\ud800""#] {
            let text = wire.call("ID", "echo", json!({ "text": "x" })).replace(r#""ID""#, id);
            wire.send(&text).await;
            let answer = within(wire.next()).await;
            if checks == Checks::Enforce {
                assert!(answer["error"].is_object(), "{id}: {answer}");
            }
        }
        wire.still_works().await;
    })
    .await;
}

#[tokio::test]
async fn text_that_is_not_unicode_is_rejected_or_passed_but_never_lost() {
    everywhere(async |mut wire, _| {
        let text = wire.call(1, "echo", json!({ "text": "TEXT" })).replace("TEXT", r"\ud800");
        let answer = within(wire.ask(&text)).await;
        assert_eq!(answer["id"], 1, "{answer}");
        let text = wire.call(2, "TEXT", json!({})).replace("TEXT", r"\ud800x");
        let answer = within(wire.ask(&text)).await;
        // Over HTTP no header can match it.
        let code = if wire.kind == Kind::HttpStateless { -32020 } else { -32602 };
        assert_eq!(answer["error"]["code"], code, "{answer}");
        wire.still_works().await;
    })
    .await;
}

#[tokio::test]
async fn nesting_is_limited() {
    everywhere(async |mut wire, _| {
        for depth in [60, 120, 200, 100_000] {
            let nested = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
            let text = wire.call(1, "echo", json!({ "text": "DEEP" }));
            let answer = within(wire.ask(&text.replace(r#""DEEP""#, &nested))).await;
            let is_refused = answer["error"].is_object() || answer["result"]["isError"] == true;
            assert!(is_refused, "{depth}: {answer}");
        }
        wire.still_works().await;
    })
    .await;
}

#[tokio::test]
async fn duplicate_members_are_handled() {
    everywhere(async |mut wire, _| {
        let text = wire.call(1, "echo", json!({ "text": "x" }));
        let answer = within(wire.ask(&text.replace(r#""id":1"#, r#""id":1,"id":2"#))).await;
        assert!(answer["error"].is_object() || answer["result"].is_object(), "{answer}");
        let twice = text.replace(r#""text":"x""#, r#""text":"x","text":"y""#);
        let answer = within(wire.ask(&twice)).await;
        assert_eq!(answer["id"], 1, "{answer}");
        wire.still_works().await;
    })
    .await;
}

#[tokio::test]
async fn batches_belong_to_one_revision() {
    for kind in [Kind::Memory, Kind::Child, Kind::WebSocket, Kind::HttpSession] {
        for checks in Checks::ALL {
            for revision in Revision::ALL {
                if revision == Revision::LATEST && kind == Kind::HttpSession {
                    continue;
                }
                within(batch(kind, checks, revision)).await;
            }
        }
    }
    for checks in Checks::ALL {
        within(batch(Kind::HttpStateless, checks, Revision::LATEST)).await;
    }
}

async fn batch(kind: Kind, checks: Checks, revision: Revision) {
    let mut wire = Wire::open_at(kind, checks, revision).await;
    let entries = [
        wire.call(1, "echo", json!({ "text": "one" })),
        r#"{"jsonrpc":"2.0","method":"notifications/nobody"}"#.to_owned(),
        "7".to_owned(),
        wire.call(2, "echo", json!({ "text": "two" })),
    ];
    let text = format!("[{}]", entries.join(","));
    let answer = wire.ask(&text).await;
    if revision != Revision::V2025_03_26 {
        assert_eq!(answer["error"]["code"], -32600, "{kind:?} {checks:?} {revision}: {answer}");
        let findings = answer["error"]["data"].as_array();
        let findings =
            findings.unwrap_or_else(|| panic!("{kind:?} {checks:?} {revision}: {answer}"));
        // The rules are silent if the revision allows it, or is not known yet.
        let is_settled = revision != Revision::LATEST || kind == Kind::HttpStateless;
        let is_judged =
            checks == Checks::Enforce && revision >= Revision::V2025_06_18 && is_settled;
        let rule = is_judged.then(|| json!("batch-not-supported"));
        assert_eq!(
            findings[0].get("rule"),
            rule.as_ref(),
            "{kind:?} {checks:?} {revision}: {answer}"
        );
        return wire.still_works().await;
    }
    let answers = answer.as_array().unwrap_or_else(|| panic!("{kind:?} {checks:?}: {answer}"));
    assert_eq!(answers.len(), 3, "{answer}");
    let by_id = |id: Value| answers.iter().find(|answer| answer["id"] == id).unwrap();
    assert_eq!(by_id(json!(1))["result"]["content"][0]["text"], "one");
    assert_eq!(by_id(json!(2))["result"]["content"][0]["text"], "two");
    assert_eq!(by_id(Value::Null)["error"]["code"], -32600);
    wire.send(r#"[{"jsonrpc":"2.0","method":"notifications/nobody"}]"#).await;
    wire.still_works().await;
}
