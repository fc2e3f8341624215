//! What surrounds messages over HTTP: sessions, headers, methods.

use mcp_core::{Era, Revision, Revisions};
use mcp_rules::behaviour;
use serde_json::{Value, json};

use super::probe;
use crate::{Conversation, HttpReply, HttpRequest, Probe, Stage, Stop, Target, WireKind};

const HTTP: &[WireKind] = &[WireKind::Http];
const SESSIONS: Revisions = Revisions::between(Revision::V2025_03_26, Revision::V2025_11_25);
const VERSION_HEADER: Revisions = Revisions::from(Revision::V2025_06_18);
const MODERN: Revisions = Revisions::from(Revision::V2026_07_28);

pub(super) static PROBES: &[Probe] = &[
    probe("http/session-invented", "an invented session is refused", invented)
        .over(HTTP)
        .at(SESSIONS),
    probe("http/session-missing", "a request without its session is refused", missing)
        .over(HTTP)
        .at(SESSIONS),
    probe("http/session-ended", "a session that has ended is refused", ended)
        .over(HTTP)
        .at(SESSIONS),
    probe("http/origin", "a foreign web page is refused", origin).over(HTTP),
    probe("http/broken-body", "a body that is not JSON is refused", broken_body).over(HTTP),
    probe("http/empty-body", "an empty body is refused", empty_body).over(HTTP),
    probe("http/content-type", "a wrong Content-Type is the client's mistake", content_type)
        .over(HTTP),
    probe("http/accept", "a wrong Accept is the client's mistake", accept).over(HTTP),
    probe("http/version-header", "a version that does not exist is refused", version_header)
        .over(HTTP)
        .at(VERSION_HEADER),
    probe("http/get", "GET gives an event stream or nothing", get).over(HTTP),
    probe("http/get-resume", "resuming what never was does no harm", resume)
        .over(HTTP)
        .at(SESSIONS),
    probe("http/unknown-verb", "other methods are the client's mistake", verb).over(HTTP),
    probe("http/method-header", "a wrong Mcp-Method is refused", method_header)
        .over(HTTP)
        .at(MODERN),
    probe("http/method-header-missing", "a missing Mcp-Method is refused", no_method_header)
        .over(HTTP)
        .at(MODERN),
    probe(
        "http/version-header-mismatch",
        "a version that is not that of the body is refused",
        mismatch,
    )
    .over(HTTP)
    .at(MODERN),
    probe("http/name-header", "a wrong Mcp-Name is refused", name_header)
        .over(HTTP)
        .at(MODERN)
        .needing("/tools"),
];

/// A request that every server answers, as it should be posted.
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

/// Reports a status of 500 or more.
fn not_ours(stage: &mut Stage, talk: &Conversation, reply: &HttpReply, what: &str) {
    // 501 says that a method is not implemented.
    if reply.status >= 500 && reply.status != 501 {
        let message = format!("{what} gets the status {}", reply.status);
        let help = "answer with a status of 400 to 499";
        stage.fail(&behaviour::HTTP_SERVER_ERROR, talk, reply.line, message, help);
    }
}

/// Opens a conversation that has a session.
async fn in_session(stage: &mut Stage) -> Result<Conversation, Stop> {
    let talk = stage.fresh().await?;
    if talk.wire().as_http().is_some_and(|http| http.session().is_some()) {
        Ok(talk)
    } else {
        Err(Stop::Skip("the server gives no session ids".to_owned()))
    }
}

steps!(invented, stage => {
    let talk = in_session(stage).await?;
    let request = built(&talk)?.with("Mcp-Session-Id", "plumb-invented-0000");
    let reply = talk.http(request).await?;
    not_ours(stage, &talk, &reply, "an invented session id");
    if reply.status < 300 {
        let message = format!("an invented session id gets the status {}", reply.status);
        let help = "answer with 404 to session ids that you did not give";
        stage.fail(&behaviour::INVENTED_SESSION_ACCEPTED, &talk, reply.line, message, help);
    }
});

steps!(missing, stage => {
    let talk = in_session(stage).await?;
    let request = built(&talk)?.without("Mcp-Session-Id");
    let reply = talk.http(request).await?;
    not_ours(stage, &talk, &reply, "a request without its session id");
    if reply.status < 300 {
        let message = format!("a request without its session id gets the status {}", reply.status);
        let help = "answer with 400 to requests without a session id, other than `initialize`";
        stage.fail(&behaviour::MISSING_SESSION_ACCEPTED, &talk, reply.line, message, help);
    }
});

steps!(ended, stage => {
    let talk = in_session(stage).await?;
    let Some(http) = talk.wire().as_http() else { return Ok(()) };
    let delete = HttpRequest { method: "DELETE", headers: Vec::new(), body: Vec::new() };
    let reply = talk.http(http.in_session(delete)).await?;
    talk.expect_end();
    if reply.status >= 300 {
        return Err(Stop::Skip(format!("ending a session gets the status {}", reply.status)));
    }
    let reply = talk.http(built(&talk)?).await?;
    if reply.status < 300 {
        let message = format!("a session that has ended gets the status {}", reply.status);
        let help = "answer with 404 once a session has ended";
        stage.fail(&behaviour::ENDED_SESSION_ACCEPTED, &talk, reply.line, message, help);
    }
});

steps!(origin, stage => {
    let is_local = match stage.target() {
        Target::Http { url, .. } => is_loopback(url.host().unwrap_or_default()),
        _ => false,
    };
    if !is_local {
        return Err(Stop::Skip("a public server may serve any web page".to_owned()));
    }
    let talk = stage.shared().await?;
    let reply = talk.http(built(&talk)?.with("Origin", "https://plumb.invalid")).await?;
    not_ours(stage, &talk, &reply, "a foreign Origin");
    if reply.status < 300 {
        let message = format!("a request from https://plumb.invalid gets the status {}", reply.status);
        let help = "check `Origin` on every request, and answer with 403";
        stage.fail(&behaviour::FOREIGN_ORIGIN_ACCEPTED, &talk, reply.line, message, help);
    }
});

fn is_loopback(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost"
        || address.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

steps!(broken_body, stage => {
    let talk = stage.shared().await?;
    let mut request = built(&talk)?;
    request.body = br#"{"jsonrpc":"2.0","id":1,"meth"#.to_vec();
    body(stage, &talk, request, "a body that breaks off").await?;
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
    // Some servers report it in the body alone.
    if reply.status < 300 && reply.json().get("error").is_none() {
        let message = format!("{what} gets the status {}", reply.status);
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

steps!(accept, stage => {
    let talk = stage.shared().await?;
    let reply = talk.http(built(&talk)?.with("Accept", "image/png")).await?;
    not_ours(stage, &talk, &reply, "a client that only accepts images");
});

// The rule `protocol-version-header-not-rejected` judges the status.
steps!(version_header, stage => {
    let talk = stage.shared().await?;
    let reply = talk.http(built(&talk)?.with("MCP-Protocol-Version", "1999-01-01")).await?;
    not_ours(stage, &talk, &reply, "a version that does not exist");
});

steps!(get, stage => {
    let talk = stage.fresh().await?;
    let Some(http) = talk.wire().as_http() else { return Ok(()) };
    let get = HttpRequest { method: "GET", headers: Vec::new(), body: Vec::new() };
    let get = http.in_session(get.with("Accept", "text/event-stream"));
    let reply = talk.http(get).await?;
    not_ours(stage, &talk, &reply, "GET");
});

steps!(resume, stage => {
    let talk = stage.fresh().await?;
    let Some(http) = talk.wire().as_http() else { return Ok(()) };
    let get = HttpRequest { method: "GET", headers: Vec::new(), body: Vec::new() };
    let get = get.with("Accept", "text/event-stream").with("Last-Event-ID", "plumb-never-sent");
    let reply = talk.http(http.in_session(get)).await?;
    not_ours(stage, &talk, &reply, "an event id that was never given");
});

steps!(verb, stage => {
    let talk = stage.shared().await?;
    let mut request = built(&talk)?;
    request.method = "PUT";
    let reply = talk.http(request).await?;
    not_ours(stage, &talk, &reply, "PUT");
});

// The rule `header-mismatch-not-rejected` judges the answers to these.
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
