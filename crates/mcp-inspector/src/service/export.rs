//! Exports frames as files. Secrets are masked unless everything is requested.

use std::{collections::hash_map::RandomState, io::Cursor};

use axum::{
    body::Body,
    extract::{Query, State},
    http::{
        HeaderValue, StatusCode,
        header::{CONTENT_DISPOSITION, CONTENT_TYPE},
    },
    response::{IntoResponse, Response},
};
use mcp_recording::har::HarWriter;
use mcp_rules::{Limits, LineReader, redact::Redactor};
use serde::Deserialize;

use super::State as Served;
use crate::{Log, LogLimits, import, report};

/// The query of an export.
#[derive(Debug, Deserialize)]
pub(super) struct ExportQuery {
    /// Whether to keep secrets.
    #[serde(default)]
    everything: bool,
}

impl ExportQuery {
    /// All lines in the log.
    fn lines(&self, log: &Log) -> impl Iterator<Item = Vec<u8>> + Send + use<> {
        // Its random keys are dropped with it, so the masking cannot be undone.
        let redactor = (!self.everything).then(|| Redactor::new(RandomState::new()));
        log.lines().into_iter().map(move |mut line| {
            if let Some(redactor) = &redactor {
                redactor.line(&mut line);
            }
            line
        })
    }
}

/// Exports a recording.
pub(super) async fn recording(
    State(served): State<Served>,
    Query(saving): Query<ExportQuery>,
) -> Response {
    let lines = saving.lines(&served.log).map(|mut line| {
        line.push(b'\n');
        Ok::<_, std::convert::Infallible>(bytes::Bytes::from(line))
    });
    let body = Body::from_stream(futures_util::stream::iter(lines));
    ([(CONTENT_TYPE, "application/jsonl")], body).into_response()
}

/// Exports the HTTP exchanges as a HAR capture.
pub(super) async fn har(
    State(served): State<Served>,
    Query(saving): Query<ExportQuery>,
) -> Response {
    let writing = move || {
        let mut writer = HarWriter::new();
        let mut reader = LineReader::new(&Limits::default());
        for line in saving.lines(&served.log) {
            reader.read(&line, |line| writer.add(line));
        }
        (!writer.is_empty()).then(|| writer.finish("plumb", served.about.version))
    };
    match tokio::task::spawn_blocking(writing).await {
        Ok(Some(har)) => ([(CONTENT_TYPE, "application/json")], har).into_response(),
        Ok(None) => (StatusCode::NOT_FOUND, "there are no HTTP exchanges to save").into_response(),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

/// Exports a self-contained HTML report.
pub(super) async fn report(
    State(served): State<Served>,
    Query(saving): Query<ExportQuery>,
) -> Response {
    let writing = move || {
        let target = &served.about.target;
        if saving.everything {
            return report::html(&served.log, target, 0);
        }
        // Check the masked lines again, so that findings do not quote secrets.
        let before = served.log.summary().first - 1;
        let mut text = Vec::new();
        for line in saving.lines(&served.log) {
            text.extend_from_slice(&line);
            text.push(b'\n');
        }
        let masked = Log::new(LogLimits::default());
        // A log that is empty, or has only text, still gets a report.
        let _ = import::follow(&masked, &served.engine, Cursor::new(text));
        report::html(&masked, target, before)
    };
    let Ok(report) = tokio::task::spawn_blocking(writing).await else {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    let mut response = ([(CONTENT_TYPE, "text/html; charset=utf-8")], report).into_response();
    // Always a download: text from peers must not become a page of this origin.
    let file = HeaderValue::from_static("attachment; filename=\"plumb-report.html\"");
    response.headers_mut().insert(CONTENT_DISPOSITION, file);
    response
}
