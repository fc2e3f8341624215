use mcp_inspector::Target;
use serde_json::{Value, json};

use crate::api::Page;

fn message(detail: &Value) -> Value {
    serde_json::from_str(detail["text"].as_str().unwrap()).unwrap()
}

#[tokio::test]
async fn a_conversation_opens_in_every_revision_without_findings() {
    let page = Page::about(Target::demo()).await;
    let revisions = page.get("speak").await["revisions"].clone();
    let best = json!("best");
    let chosen = revisions.as_array().unwrap().iter().chain([&best]).map(Some).chain([None]);
    for revision in chosen {
        let revision = revision.and_then(Value::as_str);
        let state = page.connect(revision).await;
        assert_eq!(state["status"], "connected", "{state:#}");
        let expected = match revision {
            None => "2025-11-25",
            Some("best") => "2026-07-28",
            Some(revision) => revision,
        };
        assert_eq!(state["revision"], expected);
        assert_eq!(state["serverInfo"]["name"], "plumb-demo");
        let sent = page.call("text_statistics", json!({ "text": "a b a" })).await;
        let call = page.answered(&sent).await;
        let answer = message(&page.frame(&call["answer"]).await);
        assert!(answer["result"]["content"][0]["text"].as_str().unwrap().contains('3'), "{answer}");
    }
    let problems = page.get("problems").await;
    assert_eq!(problems, json!([]), "{problems:#}");
}

#[tokio::test]
async fn what_is_offered_is_listed() {
    let page = Page::about(Target::demo()).await;
    page.connect(Some("2025-11-25")).await;
    let offer = page.post("speak/refresh", json!({})).await;
    let names = |list: &str| -> Vec<String> {
        let list = offer[list].as_array().unwrap().iter();
        list.map(|entry| entry["name"].as_str().unwrap().to_owned()).collect()
    };
    assert!(names("tools").contains(&"convert_length".to_owned()), "{offer:#}");
    assert_eq!(names("resources"), ["demo://readme"]);
    assert_eq!(names("templates"), ["demo://cities/{city}"]);
    assert_eq!(names("prompts"), ["visit"]);
    assert_eq!(offer["problems"], json!([]));
    assert!(offer["tools"].as_array().unwrap().iter().all(|tool| tool["usable"] == true));
}

#[tokio::test]
async fn what_is_composed_is_checked_with_the_tools_own_schema() {
    let page = Page::about(Target::demo()).await;
    page.connect(Some("2025-11-25")).await;
    page.post("speak/refresh", json!({})).await;
    let compose = async |params: &str| {
        page.post("speak/compose", json!({ "method": "tools/call", "params": params })).await
    };
    let wrong = r#"{"name":"convert_length","arguments":{"value":"x","from":"mile","to":"inch"}}"#;
    let composed = compose(wrong).await;
    let findings = composed["findings"].as_array().unwrap();
    let rules: Vec<&Value> = findings.iter().map(|finding| &finding["rule"]).collect();
    assert_eq!(rules, ["tool-arguments-invalid"; 2], "{composed:#}");
    let text = composed["text"].as_str().unwrap();
    let span = &findings[0]["span"];
    let at = |index: usize| usize::try_from(span[index].as_u64().unwrap()).unwrap();
    assert!(["\"x\"", "\"inch\""].contains(&&text[at(0)..at(1)]), "{composed:#}");
    let right = r#"{"name":"convert_length","arguments":{"value":1,"from":"mile","to":"foot"}}"#;
    assert_eq!(compose(right).await["findings"], json!([]));
    let broken = compose("{not json").await;
    assert_eq!(broken["findings"].as_array().unwrap().len(), 1, "{broken:#}");
    assert!(broken["text"].as_str().unwrap().contains("{not json"));
}

#[tokio::test]
async fn invalid_arguments_come_back_in_either_form() {
    let page = Page::about(Target::demo()).await;
    page.connect(Some("2025-11-25")).await;
    let wrong = json!({ "value": "x", "from": "mile", "to": "inch" });
    let call = page.answered(&page.call("convert_length", wrong.clone()).await).await;
    let answer = message(&page.frame(&call["answer"]).await);
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    assert_eq!(answer["error"]["data"].as_array().unwrap().len(), 2);
    let state = page.post("speak/demo", json!({ "toolResults": true })).await;
    assert_eq!(state["demo"]["toolResults"], true);
    let call = page.answered(&page.call("convert_length", wrong).await).await;
    let answer = message(&page.frame(&call["answer"]).await);
    assert_eq!(answer["result"]["isError"], true, "{answer}");
}

#[tokio::test]
async fn a_question_is_answered_by_hand_in_both_eras() {
    for revision in ["2025-11-25", "2026-07-28"] {
        let page = Page::about(Target::demo()).await;
        page.connect(Some(revision)).await;
        page.call("greet", json!({})).await;
        let state = page.until(|state| state["questions"][0].is_object()).await;
        let question = &state["questions"][0];
        assert_eq!(question["method"], "elicitation/create", "{revision}");
        let suggestion = question["suggestion"].as_str().unwrap();
        assert!(suggestion.contains("accept"), "{suggestion}");
        let result = json!({ "action": "accept", "content": { "name": "Ada" } }).to_string();
        let answer = json!({ "id": question["id"], "result": result });
        page.post("speak/answer", answer).await;
        let hello = |state: &Value| {
            let calls = state["calls"].as_array().unwrap();
            let last = calls.iter().rev().find(|call| call["target"] == "greet").unwrap();
            last["state"] == "answered"
                && last.get("answer").is_some()
                && state["questions"] == json!([])
        };
        let state = page.until(hello).await;
        let calls = state["calls"].as_array().unwrap();
        let last = calls.iter().rev().find(|call| call["target"] == "greet").unwrap();
        let answer = message(&page.frame(&last["answer"]).await);
        assert_eq!(answer["result"]["content"][0]["text"], "Hello Ada!", "{revision}");
    }
}

#[tokio::test]
async fn a_call_is_cancelled_and_others_do_not_wait() {
    let page = Page::about(Target::demo()).await;
    page.connect(Some("2025-11-25")).await;
    let slow = page.call("count_slowly", json!({ "to": 100, "pause": 10_000 })).await;
    let quick =
        page.call("days_between", json!({ "from": "2026-01-01", "to": "2026-01-03" })).await;
    let call = page.answered(&quick).await;
    let answer = message(&page.frame(&call["answer"]).await);
    assert_eq!(answer["result"]["content"][0]["text"], "2 days");
    let sent = page.post("speak/cancel", json!({ "id": slow["id"] })).await;
    assert!(sent["text"].as_str().unwrap().contains("notifications/cancelled"));
    let state = page.get("speak").await;
    let calls = state["calls"].as_array().unwrap();
    let cancelled = calls.iter().find(|call| call["id"] == slow["id"]).unwrap();
    assert_eq!(cancelled["state"], "cancelled");
}

#[tokio::test]
async fn a_replay_keeps_meta_and_tells_what_it_repeats() {
    let page = Page::about(Target::demo()).await;
    page.connect(Some("2025-11-25")).await;
    let raw = r#"{"jsonrpc":"2.0","id":50,"method":"tools/call","params":{"name":"break_rules","arguments":{"fault":"stderr"},"_meta":{"progressToken":"t","mine":1.0}}}"#;
    let sent = page.post("speak/raw", json!({ "text": raw })).await;
    let first = page.answered(&sent).await;
    let again = page.post("speak/replay", json!({ "frame": first["frame"] })).await;
    assert_eq!(again["text"], raw.replace("\"id\":50", "\"id\":51").replace("\"t\"", "51"));
    assert!(again["warning"].is_string());
    let second = page.answered(&again).await;
    assert_eq!(second["replayOf"], first["frame"]);
    assert_eq!(second["firstAnswer"], first["answer"]);
}

#[tokio::test]
async fn faults_are_found_when_it_misbehaves() {
    let page = Page::about(Target::demo()).await;
    page.connect(Some("2025-11-25")).await;
    page.post("speak/demo", json!({ "misbehave": true })).await;
    let offer = page.post("speak/refresh", json!({})).await;
    let has_bad = |offer: &Value| {
        offer["tools"].as_array().unwrap().iter().any(|tool| tool["usable"] == false)
    };
    let mut offer = offer;
    while !has_bad(&offer) {
        offer = page.post("speak/refresh", json!({})).await;
    }
    let faults = [
        "log-line",
        "wrong-id",
        "no-content",
        "no-jsonrpc",
        "result-and-error",
        "truncated",
        "output-mismatch",
    ];
    for fault in faults {
        page.call("break_rules", json!({ "fault": fault })).await;
    }
    let crash = page.call("break_rules", json!({ "fault": "crash" })).await;
    let state = page.until(|state| state["status"] == "ended").await;
    let reason = state["reason"].as_str().unwrap();
    assert!(reason.contains("code 3") && reason.contains("this is a simulated crash"), "{reason}");
    let calls = state["calls"].as_array().unwrap();
    let lost = calls.iter().find(|call| call["id"] == crash["id"]).unwrap();
    assert_eq!((&lost["state"], &lost["reason"]), (&json!("lost"), &state["reason"]));
    let problems = page.get("problems").await;
    let rules: Vec<&str> =
        problems.as_array().unwrap().iter().map(|it| it["rule"].as_str().unwrap()).collect();
    for rule in ["stdout-non-json", "jsonrpc-version-invalid", "response-result-and-error"] {
        assert!(rules.contains(&rule), "{rules:?}");
    }
    let (status, refusal) = page.refused("speak/request", json!({ "method": "ping" })).await;
    assert_eq!(status, 409);
    assert_eq!(refusal["help"], "connect first");
    assert_eq!(page.connect(None).await["status"], "connected");
}
