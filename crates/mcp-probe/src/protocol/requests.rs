//! Probes with unusual or invalid requests and notifications.

use mcp_core::{Era, Revision, Revisions};
use mcp_rules::behaviour;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{codes, probe};
use crate::{ConversationError, Kind, Probe, Stage, Stop, WireKind, foreign_file};

const WITHOUT_BATCHES: Revisions = Revisions::from(Revision::V2025_06_18);
const STREAMS: &[WireKind] = &[WireKind::Stdio, WireKind::WebSocket];

pub(super) static PROBES: &[Probe] = &[
    probe("requests/unknown-method", "an unknown method is refused", unknown_method).everywhere(),
    probe("requests/unknown-notification", "an unknown notification is ignored", unknown_notice),
    probe("requests/no-params", "a list can be requested without params", no_params)
        .needing("/tools"),
    probe("requests/unknown-tool", "a call of an unknown tool is refused", unknown_tool)
        .needing("/tools"),
    probe("requests/tool-without-name", "a call without a name is refused", nameless)
        .needing("/tools"),
    probe("requests/tool-name-type", "a call with a number for a name is refused", numbered)
        .needing("/tools"),
    probe("requests/params-array", "params that are an array are handled", array_params),
    probe("requests/resource-without-uri", "reading without a URI is refused", uriless)
        .needing("/resources"),
    probe("requests/unknown-resource", "reading an unknown resource is refused", unknown_resource)
        .needing("/resources"),
    probe("requests/foreign-file", "a file that is not listed cannot be read", foreign)
        .needing("/resources"),
    probe("requests/unknown-prompt", "getting an unknown prompt is refused", unknown_prompt)
        .needing("/prompts"),
    probe("requests/removed-method", "a removed method is refused", removed)
        .at(Revisions::from(Revision::V2026_07_28)),
    probe("requests/without-id", "a request without an id gets no answer", without_id),
    probe("envelope/version", "`jsonrpc` must be \"2.0\"", old_version),
    probe("envelope/no-version", "`jsonrpc` must be present", no_version),
    probe("envelope/method-type", "a method that is not a string is handled", method_type),
    probe("envelope/null-id", "the id null is handled", null_id),
    probe("envelope/object-id", "an id that is an object is handled", object_id),
    probe("envelope/stray-response", "an answer to no request is ignored", stray_response),
    probe("envelope/scalar", "a message that is not an object is handled", scalar),
    probe("text/not-json", "text that is not JSON is handled", not_json),
    probe("text/cut-off", "a truncated message is handled", cut_off),
    probe("text/not-utf8", "bytes that are not UTF-8 are handled", not_utf8)
        .over(&[WireKind::Stdio]),
    probe("text/blank-lines", "blank lines are ignored", blank).over(&[WireKind::Stdio]),
    probe("text/deep", "deep nesting is handled", deep),
    probe("batch/answered", "a batch is answered", batch)
        .at(Revisions::only(Revision::V2025_03_26))
        .everywhere(),
    probe("batch/where-none-exist", "a batch is handled where batches do not exist", no_batch)
        .at(WITHOUT_BATCHES),
    probe("batch/empty", "an empty batch is handled", empty_batch),
    probe("cancel/unknown", "cancelling an unknown request is ignored", cancel_unknown),
    probe("cancel/twice", "cancelling an answered request is ignored", cancel_late).over(STREAMS),
];

steps!(unknown_method, stage => {
    let talk = stage.shared().await?;
    let reply = talk.request("plumb/no-such-method", json!({})).await?;
    if !reply.is_error() {
        let message = "a request with an unknown method was answered with a result";
        let help = "answer with the error -32601";
        stage.fail(&behaviour::UNKNOWN_METHOD_ACCEPTED, &talk, reply.line(), message, help);
    } else if reply.error_code() != Some(-32601) {
        let message = format!("an unknown method was refused with {}", reply.error_text());
        let help = "answer with the error -32601";
        stage.fail(&behaviour::UNKNOWN_METHOD_CODE, &talk, reply.line(), message, help);
    }
});

steps!(unknown_notice, stage => {
    let talk = stage.shared().await?;
    talk.notify("notifications/plumb/unknown", json!({ "a": 1 })).await?;
});

steps!(no_params, stage => {
    let talk = stage.shared().await?;
    if stage.revision().era() == Era::Legacy {
        let reply = talk.request("tools/list", Value::Null).await?;
        if reply.is_error() {
            let message = format!("`tools/list` was refused without params: {}", reply.error_text());
            let help = "params are optional for this method";
            let rule = &behaviour::DECLARED_FEATURE_REFUSED;
            stage.fail(rule, &talk, reply.line(), message, help);
        }
    }
});

steps!(unknown_tool, stage => {
    let params = json!({ "name": "plumb-no-such-tool", "arguments": {} });
    let what = "a call of an unknown tool";
    refused(stage, "tools/call", params, &behaviour::UNKNOWN_TOOL_ACCEPTED, what).await?;
});

steps!(nameless, stage => {
    let what = "a call without a name";
    let rule = &behaviour::MALFORMED_REQUEST_ACCEPTED;
    refused(stage, "tools/call", json!({ "arguments": {} }), rule, what).await?;
});

steps!(numbered, stage => {
    let what = "a call with a number for a name";
    let rule = &behaviour::MALFORMED_REQUEST_ACCEPTED;
    refused(stage, "tools/call", json!({ "name": 7, "arguments": {} }), rule, what).await?;
});

steps!(array_params, stage => {
    let talk = stage.clean().await?;
    let id = talk.next_id();
    let text = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/list", "params": [1, 2] });
    let within = talk.limits().quiet;
    match talk.exchange(&text.to_string(), &id.to_string(), "it", within).await {
        Ok(_) => {}
        // It is not a valid MCP message, so no answer is required.
        Err(ConversationError::Unanswered { .. } | ConversationError::Exchange { .. }) => talk.disregard(),
        Err(error) => return Err(error.into()),
    }
});

steps!(uriless, stage => {
    let what = "a `resources/read` without a URI";
    let rule = &behaviour::MALFORMED_REQUEST_ACCEPTED;
    refused(stage, "resources/read", json!({}), rule, what).await?;
});

steps!(unknown_resource, stage => {
    let uri = "plumb://no-such-resource/at/all";
    // Up to its first expression, a template shows which URIs it covers.
    let fits = |template: &Value| {
        let template = template["uriTemplate"].as_str().unwrap_or_default();
        uri.starts_with(template.split('{').next().unwrap_or_default())
    };
    if stage.offer().templates.iter().any(fits) {
        return Err(Stop::Skip("a resource template may match any URI".to_owned()));
    }
    let talk = stage.shared().await?;
    let reply = talk.request("resources/read", json!({ "uri": uri })).await?;
    let wanted = match stage.revision().era() {
        Era::Legacy => "answer with the error -32002",
        Era::Modern => "answer with the error -32602",
    };
    if !reply.is_error() {
        let message = "an unknown resource was answered with a result";
        stage.fail(&behaviour::UNKNOWN_RESOURCE_ACCEPTED, &talk, reply.line(), message, wanted);
    } else if matches!(reply.error_code(), Some(-32603 | -32601)) {
        let message = format!("an unknown resource was refused with {}", reply.error_text());
        stage.fail(&behaviour::UNKNOWN_RESOURCE_CODE, &talk, reply.line(), message, wanted);
    }
});

steps!(foreign, stage => {
    let offer = stage.offer();
    if offer.resources.iter().chain(&offer.templates).any(foreign_file::is_about_files) {
        return Err(Stop::Skip("the server serves files".to_owned()));
    }
    let talk = stage.shared().await?;
    let reply = talk.request("resources/read", json!({ "uri": foreign_file::URI })).await?;
    if foreign_file::is_shown(&reply) {
        let message = format!("`{}`, which is not listed, can be read", foreign_file::URI);
        let help = "serve only what you list, or what your templates are about";
        stage.fail(&behaviour::FOREIGN_FILE_SERVED, &talk, reply.line(), message, help);
    }
});

steps!(removed, stage => {
    let talk = stage.shared().await?;
    for (method, params) in [
        ("ping", Value::Null),
        ("logging/setLevel", json!({ "level": "error" })),
        ("resources/subscribe", json!({ "uri": "plumb://no-such-resource" })),
    ] {
        let reply = talk.request(method, params).await?;
        if !reply.is_error() {
            let message = format!("`{method}`, which was removed in this revision, is supported");
            let help = "answer with the error -32601";
            stage.fail(&behaviour::REMOVED_METHOD_SERVED, &talk, reply.line(), message, help);
        }
    }
});

steps!(without_id, stage => {
    harmless(stage, br#"{"jsonrpc":"2.0","method":"tools/list"}"#).await?;
});

steps!(unknown_prompt, stage => {
    let params = json!({ "name": "plumb-no-such-prompt" });
    let what = "an unknown prompt";
    refused(stage, "prompts/get", params, &behaviour::UNKNOWN_PROMPT_ACCEPTED, what).await?;
});

/// Sends a request that must not succeed.
async fn refused(
    stage: &mut Stage,
    method: &str,
    params: Value,
    rule: &'static mcp_rules::RuleMeta,
    what: &str,
) -> Result<(), Stop> {
    let talk = stage.shared().await?;
    let answer = talk.request(method, params).await;
    let Some(reply) = codes::refusable(answer)? else { return Ok(()) };
    if let Some(result) = reply.result()
        && result["isError"] != true
    {
        let message = format!("{what} was answered with a result");
        stage.fail(rule, &talk, reply.line(), message, "answer with the error -32602");
    }
    codes::judge_params(stage, &talk, &reply, what);
    Ok(())
}

steps!(old_version, stage => {
    envelope(stage, |message| message["jsonrpc"] = json!("1.0")).await?;
});

steps!(no_version, stage => {
    envelope(stage, |message| {
        if let Some(members) = message.as_object_mut() {
            members.remove("jsonrpc");
        }
    })
    .await?;
});

/// Sends a request with an invalid envelope; an error or no answer is fine.
async fn envelope(stage: &mut Stage, spoil: impl FnOnce(&mut Value)) -> Result<(), Stop> {
    let talk = stage.clean().await?;
    let id = talk.next_id();
    let method = match stage.revision().era() {
        Era::Legacy => "ping",
        Era::Modern => "server/discover",
    };
    let mut message = talk.request_message(&json!(id), method, Value::Null);
    spoil(&mut message);
    let within = talk.limits().quiet;
    let reply = talk.exchange(&message.to_string(), &id.to_string(), method, within).await;
    if let Ok(reply) = reply
        && !reply.is_error()
    {
        let message = "a request without `\"jsonrpc\":\"2.0\"` was answered with a result";
        let help = "answer with the error -32600";
        stage.fail(&behaviour::WRONG_ENVELOPE_ACCEPTED, &talk, reply.line(), message, help);
    }
    Ok(())
}

steps!(method_type, stage => {
    harmless(stage, br#"{"jsonrpc":"2.0","id":901,"method":7}"#).await?;
});
steps!(null_id, stage => {
    harmless(stage, br#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#).await?;
});
steps!(object_id, stage => {
    harmless(stage, br#"{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}"#).await?;
});
steps!(stray_response, stage => {
    harmless(stage, br#"{"jsonrpc":"2.0","id":"plumb-never-asked","result":{}}"#).await?;
});
steps!(scalar, stage => { harmless(stage, b"42").await?; });
steps!(not_json, stage => {
    let talk = stage.clean().await?;
    let mark = talk.mark();
    let line = talk.send("this is not JSON").await?;
    talk.check_alive().await?;
    let since = talk.since(mark);
    let code = |message: &crate::Incoming| message.value.pointer("/error/code").and_then(Value::as_i64);
    let refusal = since.iter().find(|message| {
        message.kind == Kind::Error && message.id.as_deref().is_none_or(|id| id == "null")
    });
    match refusal {
        Some(refusal) if !matches!(code(refusal), None | Some(-32700 | -32600)) => {
            let code = code(refusal).unwrap_or_default();
            let message = format!("text that is not JSON was answered with the code {code}");
            let help = "answer with the error -32700";
            stage.fail(&behaviour::PARSE_ERROR_CODE, &talk, refusal.line, message, help);
        }
        None if talk.wire().as_http().is_none() => {
            let message = "text that is not JSON was not answered";
            let help = "answer with the error -32700";
            stage.fail(&behaviour::PARSE_ERROR_UNREPORTED, &talk, line, message, help);
        }
        _ => {}
    }
});
steps!(cut_off, stage => { harmless(stage, br#"{"jsonrpc":"2.0","id":902,"meth"#).await?; });
steps!(not_utf8, stage => {
    harmless(stage, b"{\"jsonrpc\":\"2.0\",\"id\":903,\"method\":\"ping\xff\xfe\"}").await?;
});
steps!(blank, stage => { harmless(stage, b"").await?; });
steps!(deep, stage => {
    let text = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
    harmless(stage, text.as_bytes()).await?;
});
steps!(
    /// No revision defines the answer to it.
    empty_batch, stage => {
    let talk = stage.clean().await?;
    talk.disregard();
    talk.send("[]").await?;
    talk.check_alive().await?;
});

/// Sends a message that needs no answer, in a conversation that must continue afterwards.
async fn harmless(stage: &mut Stage, text: &[u8]) -> Result<(), Stop> {
    let talk = stage.clean().await?;
    let mark = talk.mark();
    talk.send_bytes(text).await?;
    // The server may or may not answer; answers are judged.
    let _ = talk.wait_from(mark, talk.limits().quiet / 5, "", |_| true).await;
    Ok(())
}

steps!(batch, stage => {
    let talk = stage.clean().await?;
    let text = json!([
        { "jsonrpc": "2.0", "id": "batch-1", "method": "ping" },
        { "jsonrpc": "2.0", "id": "batch-2", "method": "ping" },
    ]);
    let mark = talk.mark();
    let begun = Instant::now();
    let line = talk.send(&text.to_string()).await?;
    let mut within = talk.limits().answer;
    // If a later request is answered, the batch was read, and its pings should have been answered
    // too.
    if talk.wire().as_http().is_none() && talk.check_alive().await.is_ok() {
        within = within.min(talk.limits().quiet * 4 + begun.elapsed() * 4);
    }
    for id in ["\"batch-1\"", "\"batch-2\""] {
        let answered = talk.answer(mark, line, id, "a batch", within).await;
        match answered {
            Ok(reply) if !reply.is_error() => {
                // Over HTTP, each may be an event of the same stream.
                if reply.message.index.is_none() && talk.wire().as_http().is_none() {
                    let message = "a request of a batch was answered separately";
                    let help = "answer a batch with one array";
                    let rule = &behaviour::BATCH_ANSWERS_SPLIT;
                    stage.fail(rule, &talk, reply.line(), message, help);
                    break;
                }
            }
            Ok(reply) => {
                let message = format!("a ping in a batch was refused: {}", reply.error_text());
                let help = "handle the requests of a batch like single requests";
                stage.fail(&behaviour::BATCH_REFUSED, &talk, reply.line(), message, help);
                break;
            }
            Err(ConversationError::Unanswered { .. } | ConversationError::Exchange { .. }) => {
                let message = "a batch of two pings was not answered";
                let help = "answer with an array of responses";
                stage.fail(&behaviour::BATCH_REFUSED, &talk, line, message, help);
                break;
            }
            Err(error) => return Err(error.into()),
        }
    }
});

steps!(no_batch, stage => {
    harmless(stage, br#"[{"jsonrpc":"2.0","id":"batch-1","method":"ping"}]"#).await?;
});

steps!(cancel_unknown, stage => {
    let talk = stage.clean().await?;
    let mark = talk.mark();
    let params = json!({ "requestId": "plumb-never-asked", "reason": "a test" });
    talk.notify("notifications/cancelled", params).await?;
    talk.check_alive().await?;
    let answers = talk.since(mark);
    let stray = answers.iter().find(|message| {
        matches!(message.kind, Kind::Result | Kind::Error)
            && message.value["id"] == "plumb-never-asked"
    });
    if let Some(stray) = stray {
        let message = "a cancellation was answered";
        let rule = &behaviour::MALFORMED_REQUEST_ACCEPTED;
        stage.fail(rule, &talk, stray.line, message, "ignore cancellations of unknown requests");
    }
});

steps!(cancel_late, stage => {
    let talk = stage.clean().await?;
    let method = match stage.revision().era() {
        Era::Legacy => "ping",
        Era::Modern => "server/discover",
    };
    let id = json!(talk.next_id());
    talk.request_as(&id, method, Value::Null).await?;
    talk.notify("notifications/cancelled", json!({ "requestId": id })).await?;
});
