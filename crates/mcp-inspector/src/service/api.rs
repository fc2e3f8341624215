//! The JSON API of the page.

use axum::{
    Json,
    extract::{Path, Query, State},
    http::{StatusCode, header::CONTENT_TYPE},
    response::{IntoResponse, Response},
};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use mcp_json::Node;
use mcp_rules::{Content, Finding, Limits, LineReader, ProcessRecord, ReadLine};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::State as Served;
use crate::{Frame, Problem, Row, log::Summary, schemas, session::SessionView, text::excerpt};

/// The target of the page, and the extent of the log.
#[derive(Debug, Serialize)]
pub(super) struct AboutView {
    #[serde(flatten)]
    about: super::About,
    #[serde(flatten)]
    log: Summary,
}

pub(super) async fn about(State(served): State<Served>) -> Json<AboutView> {
    Json(AboutView { about: (*served.about).clone(), log: served.log.summary() })
}

/// Everything about one frame.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Detail {
    row: Row,
    findings: Vec<FindingView>,
    /// The text on the wire, if it is UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// The text on the wire, if it is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    base64: Option<String>,
    /// The full length of the text, if it was truncated.
    #[serde(skip_serializing_if = "Option::is_none")]
    cut_from: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    http: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pair: Option<Row>,
}

/// A finding, and the subject it is about.
#[derive(Debug, Serialize)]
struct FindingView {
    #[serde(flatten)]
    finding: Finding,
    /// The name of the list entry that it points into, such as a tool name.
    #[serde(skip_serializing_if = "Option::is_none")]
    subject: Option<String>,
}

impl FindingView {
    fn new(finding: Finding, message: Option<Node<'_>>) -> FindingView {
        let subject = finding.pointer.as_deref().and_then(|pointer| subject(message?, pointer));
        FindingView { finding, subject }
    }
}

/// The name of the innermost entry of a list on the way to a place.
fn subject(message: Node<'_>, pointer: &str) -> Option<String> {
    let mut node = message;
    let mut name = None;
    for step in pointer.split('/').skip(1) {
        let step = step.replace("~1", "/").replace("~0", "~");
        let is_entry = node.is_array();
        node = if is_entry {
            node.elements().nth(step.parse().ok()?)?
        } else {
            let Some(member) = node.get(&step) else { break };
            member
        };
        if is_entry {
            name = node.get("name").and_then(Node::str_bytes).or(name);
        }
    }
    name.map(|name| excerpt(&name, NAME))
}

/// Longest name of a subject, in characters.
const NAME: usize = 120;

/// The HTTP part of a frame as recorded, with all headers.
#[derive(Debug, Deserialize)]
struct HttpSide {
    http: Option<Box<RawValue>>,
}

/// Longer texts are truncated; the page offers the full text as a download.
const SHOWN: usize = 1 << 20;

pub(super) async fn frame(
    State(served): State<Served>,
    Path((_, number)): Path<(String, u64)>,
) -> Response {
    let Some(frame) = served.log.frame(number, Frame::clone) else { return gone() };
    let pair = frame.row.pair.and_then(|pair| served.log.frame(pair, |frame| frame.row.clone()));
    let detail = with_line(&frame.line, |line| {
        let text = text_of(line);
        let cut_from = (text.len() > SHOWN).then_some(text.len());
        let (text, base64) = shown(&text[..text.len().min(SHOWN)], cut_from.is_some());
        let http = serde_json::from_slice(line.text()).ok().and_then(|side: HttpSide| side.http);
        let row = frame.row.clone();
        let findings = frame.findings.iter().cloned();
        let findings = findings.map(|it| FindingView::new(it, line.message())).collect();
        Detail { row, findings, text, base64, cut_from, http, pair }
    });
    Json(detail).into_response()
}

/// The exact bytes on the wire.
pub(super) async fn text(
    State(served): State<Served>,
    Path((_, number)): Path<(String, u64)>,
) -> Response {
    let Some(line) = served.log.frame(number, |frame| frame.line.clone()) else { return gone() };
    let text = with_line(&line, |line| text_of(line).to_vec());
    ([(CONTENT_TYPE, "application/octet-stream")], text).into_response()
}

/// The line of the recording, unchanged.
pub(super) async fn line(
    State(served): State<Served>,
    Path((_, number)): Path<(String, u64)>,
) -> Response {
    let Some(line) = served.log.frame(number, |frame| frame.line.clone()) else { return gone() };
    ([(CONTENT_TYPE, "application/octet-stream")], line).into_response()
}

/// The schemas that a frame is checked against.
pub(super) async fn schemas(
    State(served): State<Served>,
    Path((_, number)): Path<(String, u64)>,
) -> Response {
    let reading = move || schemas::schemas(&served.log, number);
    match tokio::task::spawn_blocking(reading).await {
        Ok(Some(schemas)) => Json(schemas).into_response(),
        Ok(None) => gone(),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

pub(super) async fn problems(State(served): State<Served>) -> Json<Vec<Problem>> {
    Json(served.log.problems())
}

/// The overview of the conversation.
pub(super) async fn session(State(served): State<Served>) -> Response {
    match tokio::task::spawn_blocking(move || SessionView::of(&served.log)).await {
        Ok(view) => Json(view).into_response(),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

/// The query of a search.
#[derive(Debug, Deserialize)]
pub(super) struct SearchQuery {
    /// A list of strings, as JSON.
    words: String,
    /// `any`, or all of them.
    how: String,
}

/// The frames whose text contains some words.
pub(super) async fn search(
    State(served): State<Served>,
    Query(sought): Query<SearchQuery>,
) -> Response {
    let Ok(words) = serde_json::from_str::<Vec<String>>(&sought.words) else {
        return (StatusCode::BAD_REQUEST, "`words` must be a list of strings").into_response();
    };
    let search = move || served.log.search(&words, sought.how == "any");
    match tokio::task::spawn_blocking(search).await {
        Ok(found) => Json(found).into_response(),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

/// The documentation of a rule.
#[derive(Debug, Serialize)]
struct RuleView {
    name: &'static str,
    layer: &'static str,
    level: String,
    revisions: Vec<&'static str>,
    /// The clause of the specification.
    spec: &'static str,
    /// Markdown.
    docs: &'static str,
}

pub(super) async fn rule(Path((_, name)): Path<(String, String)>) -> Response {
    let Some(rule) = mcp_rules::rule(&name) else {
        return (StatusCode::NOT_FOUND, "there is no such rule").into_response();
    };
    let revisions = mcp_core::Revision::ALL.iter().filter(|it| rule.applies.contains(**it));
    Json(RuleView {
        name: rule.name,
        layer: rule.layer.as_str(),
        level: rule.level.to_string(),
        revisions: revisions.map(|revision| revision.as_str()).collect(),
        spec: rule.clause,
        docs: rule.docs,
    })
    .into_response()
}

fn gone() -> Response {
    let reason = "there is no such frame, or it was dropped to make room for later ones";
    (StatusCode::NOT_FOUND, reason).into_response()
}

pub(crate) fn with_line<R>(line: &[u8], visit: impl FnOnce(&ReadLine<'_>) -> R) -> R {
    LineReader::new(&Limits::default()).read(line, visit)
}

/// The bytes that were sent.
pub(crate) fn text_of<'a>(line: &ReadLine<'a>) -> &'a [u8] {
    let Some(record) = line.record() else { return line.text() };
    if let Some(ProcessRecord::Stderr(text)) = &record.process {
        return text;
    }
    if let Content::Message(message) = &record.content {
        return message.raw();
    }
    let body = record.http.as_ref().and_then(|http| http.body.as_deref());
    record.text().or(body).unwrap_or_default()
}

/// As text, or as Base64 if it is not UTF-8.
fn shown(text: &[u8], is_cut: bool) -> (Option<String>, Option<String>) {
    match std::str::from_utf8(text) {
        Ok(text) => (Some(text.to_owned()), None),
        // The cut may have gone through a character.
        Err(error) if is_cut && error.error_len().is_none() => {
            let whole = &text[..error.valid_up_to()];
            (Some(String::from_utf8_lossy(whole).into_owned()), None)
        }
        Err(_) => (None, Some(BASE64_STANDARD.encode(text))),
    }
}
