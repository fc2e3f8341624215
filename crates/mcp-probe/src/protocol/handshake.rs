//! Probes of the handshake, and of `_meta` in revisions without one.

use mcp_core::{Revision, Revisions};
use mcp_rules::behaviour;
use serde_json::{Value, json};

use super::{codes, probe};
use crate::{Opening, Probe};

const MODERN: Revisions = Revisions::from(Revision::V2026_07_28);

pub(super) static PROBES: &[Probe] = &[
    probe("handshake/again", "a second conversation opens like the first", again).everywhere(),
    probe("handshake/unknown-version", "an unknown version is not agreed to", nonsense)
        .at(Revisions::LEGACY),
    probe("handshake/newer-version", "a version from the future is not agreed to", future)
        .at(Revisions::LEGACY),
    probe("handshake/incomplete", "an `initialize` without params is refused", incomplete)
        .at(Revisions::LEGACY),
    probe("handshake/no-params", "an `initialize` without any params is refused", paramless)
        .at(Revisions::LEGACY),
    probe("handshake/request-before", "a request before the handshake is handled", before)
        .at(Revisions::LEGACY),
    probe("handshake/ping-before", "a ping is answered before the handshake", ping_before)
        .at(Revisions::LEGACY),
    probe("handshake/ping", "a ping is answered", ping).at(Revisions::LEGACY),
    probe("handshake/twice", "a second `initialize` is handled", twice).at(Revisions::LEGACY),
    probe("handshake/extra-members", "unknown members are ignored", extra).at(Revisions::LEGACY),
    probe("meta/missing", "a request without its `_meta` is refused", meta_missing).at(MODERN),
    probe("meta/no-version", "a request without its version is refused", meta_no_version)
        .at(MODERN),
    probe(
        "meta/no-capabilities",
        "a request without capabilities is refused",
        meta_no_capabilities,
    )
    .at(MODERN),
    probe("meta/unknown-version", "an unknown version is refused", meta_version).at(MODERN),
    probe("meta/extra", "foreign `_meta` keys are ignored", meta_extra).at(MODERN),
];

steps!(again, stage => {
    stage.fresh().await?;
});

steps!(nonsense, stage => {
    ask_for(stage, "1999-01-01").await?;
});

steps!(future, stage => {
    ask_for(stage, "2999-12-31").await?;
});

async fn ask_for(stage: &mut crate::Stage, version: &str) -> Result<(), crate::Stop> {
    let opening = Opening::at(stage.revision());
    let talk = stage.connect(&opening).await?;
    let mut params = opening.initialize_params();
    params["protocolVersion"] = json!(version);
    let reply = talk.request_first("initialize", params).await?;
    let Some(result) = reply.result() else { return Ok(()) };
    if result["protocolVersion"] == version {
        let message = format!("the server agreed to version {version}, which does not exist");
        let help = "answer with the newest version that you support";
        stage.fail(&behaviour::UNKNOWN_VERSION_ACCEPTED, &talk, reply.line(), message, help);
    }
    Ok(())
}

steps!(incomplete, stage => {
    let what = "an `initialize` without version and capabilities";
    refuse_opening(stage, json!({}), what).await?;
});

steps!(paramless, stage => {
    refuse_opening(stage, Value::Null, "an `initialize` without params").await?;
});

async fn refuse_opening(
    stage: &mut crate::Stage,
    params: Value,
    what: &str,
) -> Result<(), crate::Stop> {
    let talk = stage.connect(&Opening::at(stage.revision())).await?;
    let answer = talk.request_first("initialize", params).await;
    let Some(reply) = codes::refusable(answer)? else { return Ok(()) };
    if !reply.is_error() {
        let message = format!("{what} was answered with a result");
        let help = "answer with the error -32602";
        stage.fail(&behaviour::MALFORMED_REQUEST_ACCEPTED, &talk, reply.line(), message, help);
    }
    Ok(())
}

steps!(before, stage => {
    let opening = Opening::at(stage.revision());
    let talk = stage.connect(&opening).await?;
    // The server may answer anything, but must still be able to open the conversation.
    let id = talk.next_id();
    let text = talk.request_message(&json!(id), "tools/list", Value::Null).to_string();
    let within = talk.limits().quiet;
    let _ = talk.exchange(&text, &id.to_string(), "tools/list", within).await;
    talk.open(&opening).await?;
});

steps!(ping_before, stage => {
    let opening = Opening::at(stage.revision());
    let talk = stage.connect(&opening).await?;
    let id = talk.next_id();
    let text = talk.request_message(&json!(id), "ping", Value::Null).to_string();
    let within = talk.limits().answer;
    let reply = talk.exchange(&text, &id.to_string(), "ping", within).await;
    // Over HTTP the request belongs to no session.
    if talk.wire().as_http().is_none()
        && let Ok(reply) = reply
    {
        answered(stage, &talk, &reply);
    }
    talk.open(&opening).await?;
});

steps!(ping, stage => {
    let talk = stage.shared().await?;
    let reply = talk.request("ping", Value::Null).await?;
    answered(stage, &talk, &reply);
});

fn answered(stage: &mut crate::Stage, talk: &crate::Conversation, reply: &crate::Reply) {
    if reply.is_error() {
        let message = format!("a ping was refused: {}", reply.error_text());
        let help = "answer `ping` with an empty result, at any time";
        stage.fail(&behaviour::PING_REFUSED, talk, reply.line(), message, help);
    }
}

steps!(twice, stage => {
    let opening = Opening::at(stage.revision());
    let talk = stage.fresh_as(&opening).await?;
    talk.request("initialize", opening.initialize_params()).await?;
});

steps!(extra, stage => {
    let opening = Opening::at(stage.revision());
    let talk = stage.connect(&opening).await?;
    let mut params = opening.initialize_params();
    params["plumbExtra"] = json!({ "a": [1, null] });
    params["capabilities"]["experimental"] = json!({ "plumb": {} });
    params["clientInfo"]["plumbExtra"] = json!(true);
    let reply = talk.request_first("initialize", params).await?;
    if let Some(result) = reply.result() {
        talk.remember(result.clone());
        talk.notify("notifications/initialized", Value::Null).await?;
    } else {
        let message = format!("unknown members were refused: {}", reply.error_text());
        let help = "ignore unknown members; later revisions add some";
        stage.fail(&behaviour::OPENING_REFUSED, &talk, reply.line(), message, help);
    }
});

// The rule `request-meta-not-rejected` judges the answers.
steps!(meta_missing, stage => {
    with_meta(stage, |params| *params = json!({})).await?;
});

steps!(meta_no_version, stage => {
    without(stage, "protocolVersion").await?;
});

steps!(meta_no_capabilities, stage => {
    without(stage, "clientCapabilities").await?;
});

async fn without(stage: &mut crate::Stage, name: &str) -> Result<(), crate::Stop> {
    let name = format!("io.modelcontextprotocol/{name}");
    with_meta(stage, |params| {
        if let Some(meta) = params["_meta"].as_object_mut() {
            meta.remove(&name);
        }
    })
    .await
}

/// Sends a request with modified params.
async fn with_meta(
    stage: &mut crate::Stage,
    spoil: impl FnOnce(&mut Value),
) -> Result<(), crate::Stop> {
    let talk = stage.shared().await?;
    let mut params = talk.with_meta(json!({}));
    spoil(&mut params);
    let id = talk.next_id();
    let method = if stage.offer().has("/tools") { "tools/list" } else { "server/discover" };
    let text = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
    let within = talk.limits().answer;
    talk.exchange(&text.to_string(), &id.to_string(), method, within).await?;
    Ok(())
}

steps!(meta_version, stage => {
    let talk = stage.shared().await?;
    let mut params = talk.with_meta(json!({}));
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("1999-01-01");
    let id = talk.next_id();
    let text = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/list", "params": params });
    let within = talk.limits().answer;
    let (mark, id_text) = (talk.mark(), id.to_string());
    let line = match talk.wire().as_http() {
        // The header names the same version.
        Some(http) => {
            let request = http.post(text.to_string().as_bytes());
            let answer = talk.http(request.with("MCP-Protocol-Version", "1999-01-01")).await?;
            if answer.json().is_null() && !answer.is_stream() {
                // The rules about the header judge the answer.
                return Ok(());
            }
            answer.asked
        }
        None => talk.send(&text.to_string()).await?,
    };
    let reply = talk.answer(mark, line, &id_text, "tools/list", within).await?;
    if !reply.is_error() {
        let message = "a request at an unknown version was answered with a result";
        let help = "answer with the error -32022 and the versions that you support";
        stage.fail(&behaviour::UNSUPPORTED_VERSION_ACCEPTED, &talk, reply.line(), message, help);
    } else if reply.error_code() != Some(-32022) {
        let error = reply.error_text();
        let message = format!("an unknown version was refused with {error}");
        let help = "answer with the error -32022 and the versions that you support";
        stage.fail(&behaviour::UNSUPPORTED_VERSION_CODE, &talk, reply.line(), message, help);
    }
});

steps!(meta_extra, stage => {
    let talk = stage.shared().await?;
    let params = json!({ "_meta": { "com.example/plumb": { "a": [1, null] } } });
    let reply = talk.request("server/discover", params).await?;
    if reply.is_error() {
        let message = format!("a foreign `_meta` key was refused: {}", reply.error_text());
        let help = "ignore unknown `_meta` keys";
        stage.fail(&behaviour::OPENING_REFUSED, &talk, reply.line(), message, help);
    }
});
