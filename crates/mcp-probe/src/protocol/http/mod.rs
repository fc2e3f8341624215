//! Probes of HTTP: headers, bodies, methods, sessions and streams.

pub(super) mod sessions;
pub(super) mod streams;

use mcp_core::{Era, Revision, Revisions};
use mcp_rules::behaviour;
use serde_json::{Value, json};

use super::{codes, probe};
use crate::{Conversation, HttpReply, HttpRequest, Probe, Stage, Stop, Target, WireKind};

const HTTP: &[WireKind] = &[WireKind::Http];
/// Revisions with sessions and GET streams over Streamable HTTP.
pub(crate) const SESSIONS: Revisions =
    Revisions::between(Revision::V2025_03_26, Revision::V2025_11_25);
const VERSION_HEADER: Revisions = Revisions::from(Revision::V2025_06_18);
const MODERN: Revisions = Revisions::from(Revision::V2026_07_28);

pub(super) static PROBES: &[Probe] = &[
    probe("http/origin", "a foreign Origin is refused", origin).over(HTTP),
    probe("http/host", "a foreign Host is not a server error", host).over(HTTP),
    probe("http/broken-body", "a body that is not JSON is refused", broken_body).over(HTTP),
    probe("http/empty-body", "an empty body is refused", empty_body).over(HTTP),
    probe("http/content-type", "a wrong Content-Type is not a server error", content_type)
        .over(HTTP),
    probe("http/equivalent-headers", "headers may be spelled in an equivalent way", equivalent)
        .over(HTTP),
    probe("http/accept", "a wrong Accept is not a server error", accept).over(HTTP),
    probe("http/version-header", "an unknown version is refused", version_header)
        .over(HTTP)
        .at(VERSION_HEADER),
    probe("http/unknown-verb", "other HTTP methods are not server errors", verb).over(HTTP),
    probe("http/method-header", "a wrong Mcp-Method is refused", method_header)
        .over(HTTP)
        .at(MODERN),
    probe("http/method-header-missing", "a missing Mcp-Method is refused", no_method_header)
        .over(HTTP)
        .at(MODERN),
    probe(
        "http/version-header-mismatch",
        "a version that differs from the body is refused",
        mismatch,
    )
    .over(HTTP)
    .at(MODERN),
    probe("http/name-header", "a wrong Mcp-Name is refused", name_header)
        .over(HTTP)
        .at(MODERN)
        .needing("/tools"),
    probe("http/name-header-missing", "a missing Mcp-Name is refused", no_name_header)
        .over(HTTP)
        .at(MODERN)
        .needing("/tools"),
    probe("http/name-header-encoded", "an Mcp-Name in base64 is decoded", name_header_encoded)
        .over(HTTP)
        .at(MODERN)
        .needing("/tools"),
];

/// A correct POST of a request that every server supports.
fn request(talk: &Conversation) -> Option<HttpRequest> {
    let http = talk.wire().as_http()?;
    let method = match talk.revision().era() {
        Era::Legacy => "ping",
        Era::Modern => "server/discover",
    };
    let text = talk.request_message(&json!(talk.next_id()), method, Value::Null).to_string();
    Some(http.post(text.as_bytes()))
}

fn built(talk: &Conversation) -> Result<HttpRequest, Stop> {
    request(talk).ok_or_else(|| Stop::Skip("this is not HTTP".to_owned()))
}

/// Reports a status of 500 or above, since the fault is the client's.
fn not_ours(stage: &mut Stage, talk: &Conversation, reply: &HttpReply, what: &str) {
    // 501 means that a method is not implemented.
    if reply.status >= 500 && reply.status != 501 {
        let message = format!("{what} got the status {}", reply.status);
        let help = "answer with a status of 400 to 499";
        stage.fail(&behaviour::HTTP_SERVER_ERROR, talk, reply.line, message, help);
    }
}

steps!(origin, stage => {
    let is_local = match stage.target() {
        Target::Http { url, .. } => is_loopback(url.host().unwrap_or_default()),
        _ => false,
    };
    if !is_local {
        return Err(Stop::Skip("a public server may accept any origin".to_owned()));
    }
    let talk = stage.shared().await?;
    // The second begins like an address of this machine.
    for origin in ["https://plumb.invalid", "http://localhost.plumb.invalid"] {
        let reply = talk.http(built(&talk)?.with("Origin", origin)).await?;
        not_ours(stage, &talk, &reply, "a foreign Origin");
        let message = format!("a request from {origin} gets the status {}", reply.status);
        let help = "check `Origin` on every request, and answer with 403";
        let rule = match reply.status {
            ..300 => &behaviour::FOREIGN_ORIGIN_ACCEPTED,
            // It may want credentials first.
            401 | 403 => continue,
            300..500 => &behaviour::FOREIGN_ORIGIN_STATUS,
            _ => continue,
        };
        stage.fail(rule, &talk, reply.line, message, help);
        break;
    }
});

fn is_loopback(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost"
        || address.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

// The server may accept the host or not.
steps!(host, stage => {
    let talk = stage.shared().await?;
    let reply = talk.http(built(&talk)?.with("Host", "plumb.invalid")).await?;
    not_ours(stage, &talk, &reply, "a foreign Host");
});

steps!(broken_body, stage => {
    let talk = stage.shared().await?;
    let mut request = built(&talk)?;
    request.body = br#"{"jsonrpc":"2.0","id":1,"meth"#.to_vec();
    body(stage, &talk, request, "a truncated body").await?;
});

steps!(empty_body, stage => {
    let talk = stage.shared().await?;
    let mut request = built(&talk)?;
    request.body.clear();
    body(stage, &talk, request, "an empty body").await?;
});

async fn body(
    stage: &mut Stage,
    talk: &Conversation,
    request: HttpRequest,
    what: &str,
) -> Result<(), Stop> {
    let reply = talk.http(request).await?;
    not_ours(stage, talk, &reply, what);
    // Some servers only report it in the body.
    if reply.status < 300 && reply.json().get("error").is_none() {
        let message = format!("{what} got the status {}", reply.status);
        let help = "answer with 400, and with the error -32700 in the body";
        stage.fail(&behaviour::BROKEN_BODY_ACCEPTED, talk, reply.line, message, help);
    }
    Ok(())
}

steps!(content_type, stage => {
    let talk = stage.shared().await?;
    let reply = talk.http(built(&talk)?.with("Content-Type", "text/plain")).await?;
    not_ours(stage, &talk, &reply, "a body of type text/plain");
});

steps!(equivalent, stage => {
    let talk = stage.shared().await?;
    if talk.http(built(&talk)?).await?.status >= 300 {
        return Err(Stop::Skip("the usual spelling is not served either".to_owned()));
    }
    for (name, value) in [
        ("Content-Type", "application/json; charset=utf-8"),
        ("Accept", "text/event-stream, application/json"),
        ("Accept", "application/json;q=0.9, text/event-stream;q=0.8"),
    ] {
        let reply = talk.http(built(&talk)?.with(name, value)).await?;
        if matches!(reply.status, 400..=499) {
            let message = format!("`{name}: {value}` gets the status {}", reply.status);
            let help = "compare media types without their parameters, in any order";
            let rule = &behaviour::EQUIVALENT_HEADER_REFUSED;
            stage.fail(rule, &talk, reply.line, message, help);
            break;
        }
    }
});

steps!(accept, stage => {
    let talk = stage.shared().await?;
    let reply = talk.http(built(&talk)?.with("Accept", "image/png")).await?;
    not_ours(stage, &talk, &reply, "an Accept header that only allows images");
});

// The rule `protocol-version-header-not-rejected` judges the status.
steps!(version_header, stage => {
    let talk = stage.shared().await?;
    let reply = talk.http(built(&talk)?.with("MCP-Protocol-Version", "1999-01-01")).await?;
    not_ours(stage, &talk, &reply, "an unknown version");
});

steps!(verb, stage => {
    let talk = stage.shared().await?;
    let mut request = built(&talk)?;
    request.method = "PUT";
    let reply = talk.http(request).await?;
    not_ours(stage, &talk, &reply, "PUT");
});

// The rule `header-mismatch-not-rejected` judges the answers.
steps!(method_header, stage => {
    let talk = stage.shared().await?;
    talk.http(built(&talk)?.with("Mcp-Method", "prompts/list")).await?;
});

steps!(no_method_header, stage => {
    let talk = stage.shared().await?;
    talk.http(built(&talk)?.without("Mcp-Method")).await?;
});

steps!(mismatch, stage => {
    let talk = stage.shared().await?;
    talk.http(built(&talk)?.with("MCP-Protocol-Version", "2025-11-25")).await?;
});

steps!(name_header, stage => {
    let talk = stage.shared().await?;
    let Some(http) = talk.wire().as_http() else { return Ok(()) };
    let params = json!({ "name": "plumb-no-such-tool", "arguments": {} });
    let id = json!(talk.next_id());
    let text = talk.request_message(&id, "tools/call", params).to_string();
    talk.http(http.post(text.as_bytes()).with("Mcp-Name", "plumb-another-tool")).await?;
});

steps!(no_name_header, stage => {
    let talk = stage.shared().await?;
    let Some(http) = talk.wire().as_http() else { return Ok(()) };
    let params = json!({ "name": "plumb-no-such-tool", "arguments": {} });
    let id = json!(talk.next_id());
    let text = talk.request_message(&id, "tools/call", params).to_string();
    talk.http(http.post(text.as_bytes()).without("Mcp-Name")).await?;
});

steps!(name_header_encoded, stage => {
    let talk = stage.shared().await?;
    // A header can carry this name only in base64.
    let params = json!({ "name": "plumb-keine-größe", "arguments": {} });
    let answer = talk.request("tools/call", params).await;
    let Some(reply) = codes::refusable(answer)? else { return Ok(()) };
    if reply.error_code() == Some(-32020) {
        let message = "an Mcp-Name in base64 is not taken for the name in the body";
        let help = "decode values between `=?base64?` and `?=` before comparing them";
        let rule = &behaviour::EQUIVALENT_HEADER_REFUSED;
        stage.fail(rule, &talk, reply.line(), message, help);
    }
});
